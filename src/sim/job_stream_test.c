/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between nodes whose messages were measured: what waits behind data, and what does not.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing/sim_job.h"

/* Two clusters of two hosts; between them all share a line of a tenth of their own bandwidth. */
#define GRID                                                                                       \
    "<machine><cluster id=\"C1\" name=\"C1\"><node count=\"2\" latency=\"500us\" "                 \
    "bandwidth=\"10MB/s\"><core/></node></cluster>"                                                \
    "<cluster id=\"C2\" name=\"C2\"><node count=\"2\" latency=\"500us\" bandwidth=\"10MB/s\">"     \
    "<core/></node></cluster><route from=\"C1\" to=\"C2\" latency=\"2ms\" bandwidth=\"1MB/s\"/>"   \
    "</machine>"

enum { EAGER = 1000, LARGE = 100000, SMALL = 8 };

static const double inside = 1e-3, across = 2e-3; /* latencies */
static const double fast = 10e6, slow = 1e6;      /* bytes per second */

#define assert_about(a, b) assert_true(fabs((a) - (b)) <= 0.03 * fabs(b))

static double seconds_of(double bytes, double latency, double rate)
{
    return (bytes <= EAGER ? 1 : 3) * latency + bytes / rate;
}

static void add_model(xy_costs_t *costs, const char *a, const char *b, double latency, double rate)
{
    static const double sizes[] = {0,     8,     100,    500,    1000,  1001,
                                   10000, 50000, 100000, 200000, 400000};
    enum { COUNT = sizeof(sizes) / sizeof(sizes[0]) };
    xy_message_cost_t m = {
        .cluster1 = xy_strdup(a), .cluster2 = xy_strdup(b), .library = xy_strdup("test")};
    xy_message_sample_t samples[COUNT];

    for (int i = 0; i < COUNT; i++)
        samples[i] = (xy_message_sample_t){.bytes = sizes[i],
                                           .blocking = seconds_of(sizes[i], latency, rate),
                                           .send = 1e-6,
                                           .receive = 1e-6};
    assert_int_equal(xy_message_fit(samples, COUNT, &m.model), XY_OK);
    m.model.eager = EAGER;
    assert_int_equal(xy_costs_set_message(costs, &m), XY_OK);
}

/* The four processes follow the scripts, with collectives of the library; those without one do
 * nothing. */
static void run_with(testing_job_t *t, xy_costs_t *costs, const char *library,
                     const testing_act_t *acts[4])
{
    static const testing_act_t nothing[] = {{0}};
    char path[] = "/tmp/xylem-grid-XXXXXX";
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, GRID, strlen(GRID)), (ssize_t)strlen(GRID));
    close(fd);
    testing_job_init(t, path, 4);
    unlink(path);
    t->config.store = costs;
    t->config.library = library;
    for (int i = 0; i < 4; i++)
        t->procs[i].acts = acts[i] != NULL ? acts[i] : nothing;
    testing_job_run(t);
    assert_int_equal(t->status, XY_OK);
}

static void run(testing_job_t *t, xy_costs_t *costs, const testing_act_t *acts[4])
{
    run_with(t, costs, NULL, acts);
}

static xy_costs_t *make_store(void)
{
    xy_costs_t *costs;

    assert_int_equal(xy_costs_create("test", "test", &costs), XY_OK);
    add_model(costs, "C1", "C1", inside, fast);
    add_model(costs, "C1", "C2", across, slow);
    add_model(costs, "C2", "C2", inside, fast);
    return costs;
}

/* ---- Both send ---- */

/* The end of an exchange of two hosts of a cluster, the second of which comes later. */
static double exchange(uint64_t bytes, double later, bool has_store)
{
    testing_act_t both[2][5];
    const testing_act_t *acts[4] = {both[0], both[1]};
    xy_costs_t *costs = make_store();
    testing_job_t t;
    double end;

    for (int i = 0; i < 2; i++) {
        both[i][0] = (testing_act_t){.kind = DO_COMPUTE, .seconds = i * later};
        both[i][1] = (testing_act_t){.kind = DO_IRECV, .peer = !i, .bytes = bytes};
        both[i][2] = (testing_act_t){.kind = DO_ISEND, .peer = !i, .bytes = bytes};
        both[i][3] = (testing_act_t){.kind = DO_WAIT};
        both[i][4] = (testing_act_t){0};
    }
    run(&t, has_store ? costs : NULL, acts);
    end = xy_vjob_end(t.job);
    testing_job_cleanup(&t);
    xy_costs_destroy(costs);
    return end;
}

/* Questions that cross are answered before any data is written. If one host comes after the
 * question of the other, its answer is before its own question, so the other has written its data
 * before it answers. */
static void answers_wait_behind_data(void **state)
{
    double alone = seconds_of(LARGE, inside, fast), data = LARGE / fast;

    (void)state;
    assert_about(exchange(LARGE, 0, true), alone);
    assert_about(exchange(LARGE, 0.5 * inside, true), 0.5 * inside + alone);
    assert_about(exchange(LARGE, 1.5 * inside, true), 1.5 * inside + alone + data);
    /* Small ones are not asked for. */
    assert_about(exchange(EAGER, 1.5 * inside, true),
                 1.5 * inside + seconds_of(EAGER, inside, fast));
    /* Nothing is known of sockets. */
    assert_true(exchange(LARGE, 1.5 * inside, false) < 1.5 * inside + alone + 0.1 * data);
}

/* For any sizes and times between: at least a message, at most one after the other. */
static void exchanges_are_bounded(void **state)
{
    unsigned random = 7;

    (void)state;
    for (int i = 0; i < 200; i++) {
        uint64_t bytes = 1 + (uint64_t)rand_r(&random) % (4 * LARGE);
        double later = rand_r(&random) % 1000 * 1e-5;
        double alone = seconds_of((double)bytes, inside, fast), end = exchange(bytes, later, true);

        assert_true(end >= 0.97 * (later + alone));
        assert_true(end <= 1.03 * (later + 2 * alone));
    }
}

/* The end of a collective of Open MPI, or of an alltoall as messages: all receives, then all sends.
 * Processes from `late` on come later, with the clock or ahead of it. */
static double collective(const xy_vjob_coll_t *coll, int late, double later, bool is_with_clock,
                         bool is_messages)
{
    testing_act_t all[4][10] = {0};
    const testing_act_t *acts[4] = {all[0], all[1], all[2], all[3]};
    xy_costs_t *costs = make_store();
    testing_job_t t;
    double end;

    for (int i = 0; i < 4; i++) {
        int n = 0;

        all[i][n++] = (testing_act_t){.kind = DO_COMPUTE, .seconds = i < late ? 0 : later};
        if (is_with_clock)
            all[i][n++] = (testing_act_t){.kind = DO_SYNC};
        for (int k = 1; k < 4 && is_messages; k++, n++) {
            all[i][n] =
                (testing_act_t){.kind = DO_IRECV, .peer = (i + k) % 4, .bytes = coll->count};
            all[i][n + 3] =
                (testing_act_t){.kind = DO_ISEND, .peer = (i + 4 - k) % 4, .bytes = coll->count};
        }
        if (is_messages)
            all[i][n + 3] = (testing_act_t){.kind = DO_WAIT};
        else
            all[i][n] = (testing_act_t){.kind = DO_COLL, .coll = *coll};
    }
    run_with(&t, costs, "openmpi", acts);
    end = xy_vjob_end(t.job);
    testing_job_cleanup(&t);
    xy_costs_destroy(costs);
    return end;
}

/* A collective posts its receives before it sends, as programs do: it answers questions that are
 * there, so that others write their data before they answer. */
static void collectives_answer_first(void **state)
{
    xy_vjob_coll_t call = {.collective = XY_COLL_ALLTOALL, .count = LARGE, .element = 1};
    double all = 4 * LARGE / slow, later = 1.5 * across;
    unsigned random = 3;

    (void)state;
    assert_about(collective(&call, 2, 0, true, false), 3 * across + all);
    assert_about(collective(&call, 2, later, true, false), later + 3 * across + 2 * all);
    for (int i = 0; i < 40; i++) {
        call.count = EAGER + 1 + (uint64_t)rand_r(&random) % LARGE;
        later = rand_r(&random) % 1000 * 1e-5;
        assert_about(collective(&call, 2, later, i % 2, false),
                     collective(&call, 2, later, i % 2, true));
    }
}

/* So does each of its rounds: by recursive doubling, the third process is asked by the first while
 * it waits for the last. */
static void rounds_answer_first(void **state)
{
    xy_vjob_coll_t call = {.collective = XY_COLL_ALLREDUCE, .count = LARGE, .element = 1};
    double round = seconds_of(LARGE, inside, fast), both = 2 * LARGE / slow, later = 10 * across;

    (void)state;
    assert_about(collective(&call, 3, 0, true, false), round + 3 * across + both);
    assert_true(collective(&call, 3, later, true, false) > later + round + 1.9 * both);
}

/* ---- One sends ---- */

/* When `to` has a small message that process 0 starts while its data for process 1 is written. */
static double small_behind(int32_t to, double later)
{
    testing_act_t first[] = {{.kind = DO_SEND, .peer = 1, .bytes = LARGE},
                             {.kind = DO_COMPUTE, .seconds = later},
                             {.kind = DO_SEND, .peer = to, .tag = 1, .bytes = SMALL},
                             {0}};
    testing_act_t second[] = {{.kind = DO_IRECV, .peer = 0, .bytes = LARGE},
                              {.kind = DO_IRECV, .peer = 0, .tag = 1, .bytes = SMALL},
                              {.kind = DO_WAIT_ONE},
                              {.kind = DO_WAIT},
                              {0}};
    testing_act_t large[] = {{.kind = DO_RECV, .peer = 0, .bytes = LARGE}, {0}};
    testing_act_t small[] = {{.kind = DO_RECV, .peer = 0, .tag = 1, .bytes = SMALL}, {0}};
    const testing_act_t *acts[4] = {first, to == 1 ? second : large, small, small};
    xy_costs_t *costs = make_store();
    testing_job_t t;
    double end;

    acts[2] = to == 2 ? small : NULL;
    acts[3] = to == 3 ? small : NULL;
    run(&t, costs, acts);
    end = t.procs[to].times[to == 1 ? 3 : 0];
    assert_int_equal(t.procs[1].tags[0], 0);
    testing_job_cleanup(&t);
    xy_costs_destroy(costs);
    return end;
}

/* To the same process they follow the data. To another one they wait for what the system lets a
 * socket have in front of the host's own link: two packets, each 1/1024 s of twice what the
 * connection carries, and 64 KiB by eight, for a round trip of 2 ms. When less is left, they wait
 * for that. */
static void small_ones_follow_data(void **state)
{
    double asked = 2 * inside, data = 3 * inside + LARGE / fast;
    double packets = 2 * (2 * fast / 1024 + (1 << 16) / 8.);

    (void)state;
    assert_about(small_behind(1, 0), data);
    assert_about(small_behind(1, LARGE / fast), asked + LARGE / fast + inside);
    assert_about(small_behind(2, 0), asked + packets / fast + across);
    assert_about(small_behind(2, 0.25 * LARGE / fast),
                 asked + 0.25 * LARGE / fast + packets / fast + across);
    assert_about(small_behind(2, 0.8 * LARGE / fast), asked + LARGE / fast + across);
    assert_about(small_behind(2, 1.5 * LARGE / fast), asked + 1.5 * LARGE / fast + across);
}

/* ---- A line that many share ---- */

/* When process `to` has a message of `from`, started at `when`; process 0 has sent `bytes` to
 * process 2 over the line. */
static double beside(int32_t from, int32_t to, uint64_t bytes, double when)
{
    testing_act_t first[] = {{.kind = DO_SEND, .peer = 2, .bytes = bytes}, {0}};
    testing_act_t second[] = {{.kind = DO_RECV, .peer = 0, .bytes = bytes}, {0}};
    testing_act_t send[] = {{.kind = DO_COMPUTE, .seconds = when},
                            {.kind = DO_SEND, .peer = to, .tag = 1, .bytes = SMALL},
                            {0}};
    testing_act_t receive[] = {{.kind = DO_RECV, .peer = from, .tag = 1, .bytes = SMALL}, {0}};
    const testing_act_t *acts[4] = {first, NULL, second, NULL};
    xy_costs_t *costs = make_store();
    testing_job_t t;
    double end;

    acts[from] = send;
    acts[to] = receive;
    run(&t, costs, acts);
    end = t.procs[to].times[0];
    testing_job_cleanup(&t);
    xy_costs_destroy(costs);
    return end;
}

/* Data comes to the line ten times as fast as it leaves, and what comes later waits for it. In the
 * other direction nothing waits. */
static void slow_lines_have_queues(void **state)
{
    double asked = 2 * across, when = asked + LARGE / fast;

    (void)state;
    assert_about(beside(1, 3, 2000, 5 * across), 6 * across);
    /* All of the data has come to the line; nine tenths are still in front of it. */
    assert_about(beside(1, 3, LARGE, when), when + 0.9 * LARGE / slow + across);
    /* Half of it has come. */
    assert_about(beside(1, 3, LARGE, asked + 0.5 * LARGE / fast),
                 asked + 0.5 * LARGE / fast + 0.45 * LARGE / slow + across);
    assert_about(beside(1, 3, LARGE, asked + LARGE / slow), asked + LARGE / slow + across);
    assert_about(beside(3, 1, LARGE, when), when + across);
}

/* A waiting rank waits for data that comes: it is there in the order in which it was written. */
static void cancelled_and_probed(void **state)
{
    testing_act_t first[] = {{.kind = DO_SEND, .peer = 1, .bytes = LARGE},
                             {.kind = DO_ISEND, .peer = 1, .tag = 1, .bytes = LARGE},
                             {.kind = DO_CANCEL},
                             {.kind = DO_WAIT},
                             {.kind = DO_ISEND, .peer = 1, .tag = 2, .bytes = SMALL},
                             {.kind = DO_WAIT},
                             {0}};
    testing_act_t second[] = {{.kind = DO_RECV, .peer = 0, .bytes = LARGE},
                              {.kind = DO_PROBE, .peer = 0, .tag = 2},
                              {.kind = DO_RECV, .peer = 0, .tag = 2, .bytes = SMALL},
                              {0}};
    const testing_act_t *acts[4] = {first, second};
    xy_costs_t *costs = make_store();
    testing_job_t t;

    (void)state;
    run(&t, costs, acts);
    assert_true(t.procs[0].is_cancelled);
    assert_about(t.procs[1].times[2], 3 * inside + LARGE / fast);
    testing_job_cleanup(&t);
    xy_costs_destroy(costs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_wait_behind_data), cmocka_unit_test(exchanges_are_bounded),
        cmocka_unit_test(collectives_answer_first), cmocka_unit_test(rounds_answer_first),
        cmocka_unit_test(small_ones_follow_data),   cmocka_unit_test(slow_lines_have_queues),
        cmocka_unit_test(cancelled_and_probed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
