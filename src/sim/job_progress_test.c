/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated jobs: contention, and who makes progress while processes compute. */
#include <math.h>

#include "testing/sim_job.h"

#define FOUR_NODES "node:4(latency=1us bandwidth=10GB/s) core:4"

#define assert_close(a, b) assert_true(fabs((a) - (b)) <= 1e-9 * fabs(b))

static testing_job_t t;

static uint64_t packet_bytes; /* 0: as it is */

/* Processes 0 and 1 of node 0 send to one process of each of nodes 1 and 2 (or both to node 1). */
static double two_sends(uint64_t bytes, int32_t second_to)
{
    testing_act_t send[2][2] = {{{.kind = DO_SEND, .peer = 2, .bytes = bytes}, {0}},
                                {{.kind = DO_SEND, .peer = 3, .bytes = bytes}, {0}}};
    testing_act_t receive[2][2] = {{{.kind = DO_RECV, .peer = 0}, {0}},
                                   {{.kind = DO_RECV, .peer = 1}, {0}}};
    int32_t cores[] = {0, 1, 4, second_to};
    double end;

    testing_job_init(&t, FOUR_NODES, 4);
    if (packet_bytes > 0)
        t.config.costs.packet = packet_bytes;
    t.config.core_of = cores;
    for (int i = 0; i < 2; i++) {
        t.procs[i].acts = send[i];
        t.procs[2 + i].acts = receive[i];
    }
    end = testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    testing_job_cleanup(&t);
    return end;
}

static void messages_share_links(void **state)
{
    xy_vjob_costs_t c;
    double fixed, n = 1 << 24, packet = 8192;

    (void)state;
    xy_vjob_costs_default(&c);
    fixed = 2 * c.send + 6e-6 + 2 * c.receive;
    assert_close(two_sends(1 << 24, 8), fixed + 2 * n / 10e9); /* the way out of node 0 */
    assert_close(two_sends(1 << 24, 5), fixed + 2 * n / 10e9);
    fixed = c.send + 2e-6 + c.receive + 2 * packet / c.copy;
    assert_close(two_sends(8192, 8), fixed + 2 * packet / 10e9); /* one behind the other */
    n = 32768;
    fixed = c.send + 2e-6 + c.receive + 2 * n / c.copy;
    assert_close(two_sends(32768, 8), fixed + 2 * n / 10e9);
    packet_bytes = 1024;
    assert_close(two_sends(32768, 8), fixed + 2 * n / 10e9); /* an eager flow */
    packet_bytes = 0;
}

static void copies_share_the_memory(void **state)
{
    testing_act_t acts[8][2];
    double alone = 0;

    (void)state;
    for (int procs = 2; procs <= 8; procs += 6) {
        testing_job_init(&t, "core:8", procs);
        t.config.costs.numa = 2 * t.config.costs.copy;
        for (int i = 0; i < procs; i++) {
            acts[i][0] = (testing_act_t){
                .kind = i % 2 == 0 ? DO_SEND : DO_RECV, .peer = i ^ 1, .bytes = 8000000};
            acts[i][1] = (testing_act_t){.kind = DO_END};
            t.procs[i].acts = acts[i];
        }
        if (procs == 2)
            alone = testing_job_run(&t);
        else
            assert_true(testing_job_run(&t) > 1.9 * alone);
        testing_job_cleanup(&t);
    }
}

/* A collective of 64 KiB blocks by the processes of a node of so many cores: its end. */
static double alltoall(const char *machine, int cores, int procs, bool is_nonblocking,
                       bool has_tests)
{
    int32_t core_of[96];
    const xy_vjob_coll_t call = {.collective = XY_COLL_ALLTOALL,
                                 .count = 8192,
                                 .element = 8,
                                 .is_nonblocking = is_nonblocking};
    testing_act_t acts[] = {{.kind = is_nonblocking ? DO_ICOLL : DO_COLL, .coll = call},
                            {.kind = has_tests ? DO_POLL : DO_WAIT},
                            {0}};
    double end;

    testing_job_init(&t, machine, procs);
    t.config.core_of = core_of;
    for (int i = 0; i < procs; i++) {
        core_of[i] = i * cores / procs;
        t.procs[i].acts = acts;
    }
    end = testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    testing_job_cleanup(&t);
    return end;
}

/* 32 cores saturate the memory of a NUMA node, 4 the link from one to another; the collective has
 * two barriers. */
static void collectives_share_the_memory(void **state)
{
    const double block = 65536, copy = 8e9;

    (void)state;
    for (int n = 24; n <= 64; n += 8) {
        double expected = n * block / copy * fmax(1, n / 32.0);

        for (int how = 0; how < 3; how++) {
            double found = alltoall("core:64", 64, n, how > 0, how > 1);

            /* A test takes a microsecond, and copies at most one block. */
            assert_true(found > expected && found < 1.01 * expected + (how > 1 ? 2e-6 * n : 5e-6));
        }
    }
    assert_true(alltoall("core:48", 48, 96, true, false) > 96 * 3 * block / copy);
    assert_true(alltoall("core:48", 48, 96, true, false) < 96 * 3.1 * block / copy);
    for (int n = 4; n <= 24; n += 4) { /* half of each alltoall crosses the link */
        double half = n / 2 * block / copy;
        double found = alltoall("numa:2 core:12", 24, n, true, false);

        assert_true(found > half + half * fmax(1, n / 2 / 4.0) * 0.99);
        assert_true(found < 1.2 * half * (1 + fmax(1, n / 2 / 4.0)) + 5e-6);
    }
}

/* Threads copy while processes compute: each computation ends later by what its thread takes. */
static void threads_share_the_memory(void **state)
{
    const double seconds = 1e-3;
    xy_vjob_costs_t c;

    (void)state;
    xy_vjob_costs_default(&c);
    for (int procs = 2; procs <= 8; procs += 6) {
        testing_act_t acts[2][4] = {{{.kind = DO_ISEND}, {.kind = DO_COMPUTE}, {.kind = DO_WAIT}},
                                    {{.kind = DO_IRECV}, {.kind = DO_COMPUTE}, {.kind = DO_WAIT}}};
        double end, expected = seconds + procs / 8 * 2 * 8e6 / c.copy + (procs < 8) * 8e6 / c.copy;
        testing_act_t all[8][4];

        testing_job_init(&t, "core:8", procs);
        t.config.costs.numa = 2 * c.copy;
        t.config.progress = XY_SIM_THREADS;
        for (int i = 0; i < procs; i++) {
            memcpy(all[i], acts[i % 2], sizeof(all[i]));
            all[i][0].peer = i ^ 1;
            all[i][0].bytes = 8000000;
            all[i][1].seconds = seconds;
            t.procs[i].acts = all[i];
        }
        end = testing_job_run(&t);
        assert_int_equal(t.status, XY_OK);
        assert_true(end > expected && end < 1.01 * expected);
        testing_job_cleanup(&t);
    }
}

static void messages_of_a_process_keep_their_order(void **state)
{
    testing_act_t send[] = {{.kind = DO_ISEND, .peer = 1, .tag = 1, .bytes = 60000},
                            {.kind = DO_ISEND, .peer = 1, .tag = 2, .bytes = 1 << 20},
                            {.kind = DO_ISEND, .peer = 1, .tag = 3, .bytes = 8},
                            {.kind = DO_ISEND, .peer = 1, .tag = 4, .bytes = 60000},
                            {.kind = DO_ISEND, .peer = 1, .tag = 5, .bytes = 0},
                            {.kind = DO_WAIT},
                            {0}};
    testing_act_t receive[8] = {{0}};
    int32_t cores[] = {0, 4};

    (void)state;
    for (int i = 0; i < 5; i++)
        receive[i] = (testing_act_t){.kind = DO_IRECV, .peer = XY_VJOB_ANY, .tag = XY_VJOB_ANY};
    receive[5].kind = DO_WAIT;
    testing_job_init(&t, FOUR_NODES, 2);
    t.config.costs.packet = 8192; /* eager ones of both kinds */
    t.config.core_of = cores;
    t.procs[0].acts = send;
    t.procs[1].acts = receive;
    testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    for (int i = 0; i < 5; i++)
        assert_int_equal(t.procs[1].tags[i], i + 1);
    testing_job_cleanup(&t);
}

/* ---- Progress ---- */

/* 16 MiB from node to node while both compute `seconds`: when the receiver has it. */
static double overlapped(xy_sim_progress_t progress, double seconds)
{
    static const int32_t comm[] = {3, 7};
    testing_act_t send[] = {{.kind = DO_ISEND, .peer = 1, .bytes = 1 << 24},
                            {.kind = DO_COMPUTE, .seconds = seconds},
                            {.kind = DO_WAIT},
                            {0}};
    testing_act_t receive[] = {{.kind = DO_IRECV, .peer = 0, .bytes = 1 << 24},
                               {.kind = DO_COMPUTE, .seconds = seconds},
                               {.kind = DO_WAIT},
                               {0}};
    int32_t cores[] = {0, 4};
    double end;

    testing_job_init(&t, FOUR_NODES, 2);
    t.config.core_of = cores;
    t.config.progress = progress;
    t.config.comm_cores = comm;
    t.config.comm_core_count = progress == XY_SIM_TASKS ? 2 : 0;
    t.procs[0].acts = send;
    t.procs[1].acts = receive;
    end = testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    testing_job_cleanup(&t);
    return end;
}

static void large_messages_need_progress(void **state)
{
    double alone = overlapped(XY_SIM_NONE, 0), long_enough = 2 * alone;
    xy_vjob_costs_t c;

    (void)state;
    xy_vjob_costs_default(&c);
    assert_close(overlapped(XY_SIM_NONE, long_enough), long_enough + alone - c.send - 2e-6);
    assert_close(overlapped(XY_SIM_TASKS, long_enough), long_enough + c.send);
    assert_close(overlapped(XY_SIM_THREADS, long_enough), long_enough + 2 * c.receive);
    assert_close(overlapped(XY_SIM_TASKS, 0), alone);
    assert_close(overlapped(XY_SIM_THREADS, 0), alone);
}

/* A nonblocking collective by the first `procs` processes of a node while each computes. */
static double collective(const xy_vjob_coll_t *call, int procs, int comm_cores,
                         xy_sim_progress_t progress, const char *algorithm, double seconds)
{
    static const int32_t comm[] = {14, 15};
    testing_act_t acts[] = {{.kind = DO_ICOLL, .coll = *call},
                            {.kind = DO_COMPUTE, .seconds = seconds},
                            {.kind = DO_WAIT},
                            {0}};
    double end;

    testing_job_init(&t, "core:16", procs);
    t.config.progress = progress;
    t.config.comm_cores = comm;
    t.config.comm_core_count = comm_cores;
    t.config.algorithm = algorithm;
    for (int i = 0; i < procs; i++)
        t.procs[i].acts = acts;
    end = testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    testing_job_cleanup(&t);
    return end;
}

/* An allreduce of 1 MiB by 4 processes. */
static double allreduce(xy_sim_progress_t progress, const char *algorithm, double seconds)
{
    const xy_vjob_coll_t call = {.collective = XY_COLL_ALLREDUCE,
                                 .count = 131072,
                                 .element = 8,
                                 .is_commutative = true,
                                 .is_nonblocking = true};

    return collective(&call, 4, progress == XY_SIM_TASKS ? 2 : 0, progress, algorithm, seconds);
}

static void collectives_need_progress(void **state)
{
    static const char *const algorithms[] = {NULL, "recursive-doubling", "ring"};

    (void)state;
    for (int i = 0; i < 3; i++) {
        double alone = allreduce(XY_SIM_NONE, algorithms[i], 0), computing = 3 * alone;
        double none = allreduce(XY_SIM_NONE, algorithms[i], computing);
        double tasks = allreduce(XY_SIM_TASKS, algorithms[i], computing);
        double threads = allreduce(XY_SIM_THREADS, algorithms[i], computing);

        assert_true(none > computing + 0.7 * alone);
        assert_true(tasks < computing + 0.05 * alone);
        assert_true(threads >= computing && threads < none); /* cores without processes help */
    }
}

/* Two cores alone would take several times as long as those of the processes. */
static void processes_that_wait_help(void **state)
{
    static const xy_collective_t all[] = {XY_COLL_ALLREDUCE, XY_COLL_REDUCE, XY_COLL_BCAST,
                                          XY_COLL_ALLGATHER, XY_COLL_ALLTOALL};

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        for (uint64_t count = 1 << 14; count <= 1 << 18; count *= 4)
            for (double part = 0; part < 3; part++) {
                const xy_vjob_coll_t call = {.collective = all[i],
                                             .count = count,
                                             .element = 8,
                                             .is_commutative = true,
                                             .is_nonblocking = true};
                double alone = collective(&call, 14, 0, XY_SIM_TASKS, NULL, 0);
                double none = collective(&call, 14, 0, XY_SIM_TASKS, NULL, part * alone);
                double tasks = collective(&call, 14, 2, XY_SIM_TASKS, NULL, part * alone);

                assert_true(tasks < part * alone + 2.5 * (none - part * alone));
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_share_links),
        cmocka_unit_test(copies_share_the_memory),
        cmocka_unit_test(collectives_share_the_memory),
        cmocka_unit_test(threads_share_the_memory),
        cmocka_unit_test(messages_of_a_process_keep_their_order),
        cmocka_unit_test(large_messages_need_progress),
        cmocka_unit_test(collectives_need_progress),
        cmocka_unit_test(processes_that_wait_help),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
