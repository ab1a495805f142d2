/* SPDX-License-Identifier: BSD-3-Clause */
/* Recorded runs, replayed: traces that are made by hand, against descriptions of the same run. */
#include "testing/program.h"

#include <unistd.h>

typedef struct {
    char path[64];
    xy_trace_t *trace;
    xy_trace_row_t *row;
    uint32_t compute;
} made_t;

static void begin(made_t *m)
{
    snprintf(m->path, sizeof(m->path), "/tmp/xylem-replay-%d.xyt", (int)getpid());
    assert_int_equal(
        xy_trace_create(m->path, &(xy_trace_options_t){.clock = XY_TRACE_GIVEN}, &m->trace), XY_OK);
    assert_int_equal(xy_trace_row_create(m->trace, "core 0", NULL, &m->row), XY_OK);
    m->compute = xy_trace_kind(m->trace, "compute", XY_TRACE_COMPUTE, 0);
}

static void compute(made_t *m, uint64_t from, uint64_t to, int rank)
{
    xy_trace_state_at(m->row, from, to, m->compute, rank, 0);
}

static void call(made_t *m, uint64_t time, uint32_t rank, const char *name)
{
    xy_trace_call_at(m->row, time, rank, xy_trace_label(m->trace, name), 0);
}

static void message(made_t *m, bool is_sent, uint64_t time, uint32_t rank, uint32_t peer,
                    uint64_t bytes)
{
    xy_trace_message_t half = {.bytes = bytes, .rank = rank, .peer = peer};

    half.key = is_sent ? 100 * rank + peer : 100 * peer + rank;
    if (is_sent)
        xy_trace_put_sent(m->row, time, &half);
    else
        xy_trace_put_received(m->row, time, &half);
}

static void collective(made_t *m, uint64_t time, uint32_t rank, xy_collective_t c, uint64_t count)
{
    xy_trace_put_collective(m->row, time,
                            &(xy_trace_collective_t){.rank = rank,
                                                     .collective = (uint32_t)c,
                                                     .context = 3,
                                                     .members = 2,
                                                     .member = rank,
                                                     .count = count,
                                                     .element = 8});
}

static xy_status_t finish(made_t *m, xy_replay_t **replay_p)
{
    xy_trace_log_t *log;
    xy_status_t st;

    assert_int_equal(xy_trace_close(m->trace), XY_OK);
    assert_int_equal(xy_trace_read(m->path, &log), XY_OK);
    unlink(m->path);
    testing_listen();
    st = xy_replay_from_trace(log, replay_p);
    xy_trace_log_free(log);
    return st;
}

static const int32_t cores[] = {0, 1, 2, 3};

static double seconds_of(const xy_replay_t *replay, const char *machine, const int32_t *core_of,
                         double speed)
{
    xy_vjob_config_t c = {.core_of = core_of, .progress = XY_SIM_TASKS, .has_matrix = true};
    xy_replay_result_t r;
    xy_machine_t *m;
    double seconds;

    assert_int_equal(xy_machine_load(machine, &m), XY_OK);
    c.machine = m;
    xy_vjob_costs_default(&c.costs);
    testing_listen();
    if (xy_replay_run(replay, &c, speed, &r) != XY_OK)
        fail_msg("%s", testing_said);
    seconds = r.seconds;
    xy_replay_result_cleanup(&r);
    xy_machine_destroy(m);
    return seconds;
}

/* The same run as a description, whose loops "one" and "two" take 1 and 2 ms. */
static double predicted(const char *body, int32_t procs)
{
    static const char *const argv[] = {"prog"};
    static const xy_predict_given_t costs[] = {{"one", "1ms"}, {"two", "2ms"}};
    char *text = xy_sprintf("<program version='1'><function name='main' type='int' file='a.c' "
                            "line='1'><variable name='rank' type='int'/>"
                            "<mpi call='MPI_Init'/><mpi call='MPI_Comm_rank' "
                            "comm='MPI_COMM_WORLD' rank='&amp;rank'/>%s</function></program>",
                            body);
    xy_predict_config_t c = {.argc = 1, .argv = argv, .loop_costs = costs, .loop_cost_count = 2};
    xy_prediction_t *p;
    xy_program_t *program;
    xy_machine_t *m;
    double seconds;

    assert_int_equal(xy_program_parse(text, strlen(text), "p.xml", &program), XY_OK);
    assert_int_equal(xy_machine_load("package:1 core:16", &m), XY_OK);
    c.job = (xy_vjob_config_t){
        .machine = m, .procs = procs, .core_of = cores, .progress = XY_SIM_TASKS};
    xy_vjob_costs_default(&c.job.costs);
    testing_listen();
    if (xy_predict(program, &c, &p) != XY_OK)
        fail_msg("%s", testing_said);
    seconds = p->seconds;
    xy_prediction_destroy(p);
    xy_program_destroy(program);
    xy_machine_destroy(m);
    xy_free(text);
    return seconds;
}

#define WORLD "comm='MPI_COMM_WORLD'"

/* Two ranks compute, exchange a large and a small message and agree on a sum. */
static void record_pair(made_t *m)
{
    begin(m);
    for (uint32_t r = 0; r < 2; r++) {
        uint64_t end = r == 0 ? 2000000 : 3000000;

        compute(m, 1000000, end, (int)r);
        call(m, end, r, "MPI_Sendrecv");
        message(m, true, end, r, 1 - r, r == 0 ? 100000 : 100);
        message(m, false, 3000100 + r, r, 1 - r, 0);
        call(m, 3000200, r, "MPI_Allreduce");
        collective(m, 3000200, r, XY_COLL_ALLREDUCE, 1);
    }
}

static void test_trace(void **state)
{
    made_t m;
    xy_replay_t *replay;
    double seconds;

    (void)state;
    record_pair(&m);
    assert_int_equal(finish(&m, &replay), XY_OK);
    assert_int_equal(xy_replay_procs(replay), 2);
    assert_true(xy_replay_has_computation(replay));
    seconds = predicted(
        "<if c='rank == 0'><compute name='one' count='1'/><else><compute name='two' count='1'/>"
        "</else></if><mpi call='MPI_Sendrecv' sendcount='rank == 0 ? 100000 : 100' "
        "sendtype='MPI_CHAR' dest='1 - rank' sendtag='0' recvcount='100000' recvtype='MPI_CHAR' "
        "source='1 - rank' recvtag='0' " WORLD " status='MPI_STATUS_IGNORE'/>"
        "<mpi call='MPI_Allreduce' count='1' datatype='MPI_DOUBLE' op='MPI_SUM' " WORLD "/>",
        2);
    assert_true(seconds > 2e-3);
    assert_memory_equal(&(double){seconds_of(replay, "package:1 core:16", cores, 1)}, &seconds,
                        sizeof(seconds));
    /* Computation is twice as fast, the rest as it was. */
    assert_true(seconds_of(replay, "package:1 core:16", cores, 2) < seconds - 0.9e-3);
    assert_true(seconds_of(replay, "package:1 core:16", cores, 2) > seconds - 1.1e-3);
    xy_replay_destroy(replay);
}

/* A nonblocking receive is waited for where the program waits: computation in between hides it. */
static void test_nonblocking(void **state)
{
    made_t m;
    xy_replay_t *replay;
    double seconds;

    (void)state;
    begin(&m);
    call(&m, 100, 0, "MPI_Isend");
    message(&m, true, 110, 0, 1, 50000000);
    compute(&m, 1000, 1001000, 0);
    call(&m, 1001000, 0, "MPI_Wait");
    call(&m, 200, 1, "MPI_Irecv");
    message(&m, false, 220, 1, 0, 0);
    compute(&m, 1000, 2001000, 1);
    call(&m, 2001000, 1, "MPI_Wait");
    assert_int_equal(finish(&m, &replay), XY_OK);
    seconds = predicted(
        "<variable name='q' type='MPI_Request'/><if c='rank == 0'>"
        "<mpi call='MPI_Isend' count='50000000' datatype='MPI_CHAR' dest='1' tag='0' " WORLD
        " request='&amp;q'/><compute name='one' count='1'/><else>"
        "<mpi call='MPI_Irecv' count='50000000' datatype='MPI_CHAR' source='0' tag='0' " WORLD
        " request='&amp;q'/><compute name='two' count='1'/></else></if>"
        "<mpi call='MPI_Wait' request='&amp;q' status='MPI_STATUS_IGNORE'/>",
        2);
    assert_memory_equal(&(double){seconds_of(replay, "package:1 core:16", cores, 1)}, &seconds,
                        sizeof(seconds));
    xy_replay_destroy(replay);
}

/* Both send first: that ended when messages of that size were eager, and ends where they are not.
 */
static void test_eager_then(void **state)
{
    made_t m;
    xy_replay_t *replay;

    (void)state;
    begin(&m);
    for (uint32_t r = 0; r < 2; r++) {
        call(&m, 100 + r, r, "MPI_Send");
        message(&m, true, 110 + r, r, 1 - r, 1000000);
    }
    for (uint32_t r = 0; r < 2; r++) {
        call(&m, 200 + r, r, "MPI_Recv");
        message(&m, false, 210 + r, r, 1 - r, 0);
    }
    assert_int_equal(finish(&m, &replay), XY_OK);
    assert_false(xy_replay_has_computation(replay));
    assert_true(seconds_of(replay, "package:1 core:16", cores, 1) > 0);
    xy_replay_destroy(replay);
}

static void test_matrix(void **state)
{
    /* 0 <-> 1 and 2 <-> 3, 1000 messages each way, 100 MB in all; 0 -> 2 one. */
    xy_matrix_entry_t entries[] = {
        {0, 1, 1e8, 1000}, {1, 0, 1e8, 1000}, {2, 3, 1e8, 1000}, {3, 2, 1e8, 1000}, {0, 2, 8, 1}};
    xy_matrix_t *matrix;
    xy_replay_t *replay;
    double near, far;

    (void)state;
    assert_int_equal(xy_matrix_build(4, entries, 5, true, &matrix), XY_OK);
    assert_int_equal(xy_replay_from_matrix(matrix, &replay), XY_OK);
    assert_false(xy_replay_has_computation(replay));
    near = seconds_of(replay, "haswell8x32", cores, 1);
    /* Copies of 100 MB out and in at 8 GB/s, one after the other. */
    assert_true(near > 0.0125 && near < 0.1);
    far = seconds_of(replay, "haswell8x32", (const int32_t[]){0, 32, 64, 96}, 1);
    assert_true(far > near);
    xy_replay_destroy(replay);
    xy_matrix_destroy(matrix);
}

/* Of very many messages a part stands for all. */
static void test_many(void **state)
{
    xy_matrix_entry_t few[] = {{0, 1, 1e9, 1000}}, many[] = {{0, 1, 1e12, 1e6}};
    xy_matrix_t *matrix;
    xy_replay_t *replay;
    double a, b;

    (void)state;
    assert_int_equal(xy_matrix_build(2, few, 1, true, &matrix), XY_OK);
    assert_int_equal(xy_replay_from_matrix(matrix, &replay), XY_OK);
    a = seconds_of(replay, "package:1 core:16", cores, 1);
    xy_replay_destroy(replay);
    xy_matrix_destroy(matrix);
    assert_int_equal(xy_matrix_build(2, many, 1, true, &matrix), XY_OK);
    assert_int_equal(xy_replay_from_matrix(matrix, &replay), XY_OK);
    b = seconds_of(replay, "package:1 core:16", cores, 1);
    assert_true(b > 999 * a && b < 1001 * a);
    xy_replay_destroy(replay);
    xy_matrix_destroy(matrix);
}

static void test_wrong(void **state)
{
    made_t m;
    xy_replay_t *replay = NULL;

    (void)state;
    begin(&m);
    compute(&m, 0, 100, 0);
    assert_int_equal(finish(&m, &replay), XY_EINVAL);
    assert_non_null(strstr(testing_said, "no calls of ranks"));
    begin(&m);
    call(&m, 100, 1, "MPI_Send");
    assert_int_equal(finish(&m, &replay), XY_EINVAL);
    assert_non_null(strstr(testing_said, "rank 0 made no call"));
    begin(&m);
    call(&m, 100, 0, "MPI_Send");
    message(&m, true, 110, 0, 5, 100);
    assert_int_equal(finish(&m, &replay), XY_EINVAL);
    assert_non_null(strstr(testing_said, "rank 5 made no call"));
    begin(&m);
    call(&m, 100, 0, "MPI_Barrier");
    call(&m, 100, 1, "MPI_Barrier");
    collective(&m, 100, 0, XY_COLL_BARRIER, 0);
    assert_int_equal(finish(&m, &replay), XY_EINVAL);
    assert_non_null(strstr(testing_said, "lacks some of them"));
    assert_null(replay);
}

static void test_memory(void **state)
{
    made_t m;
    xy_trace_log_t *log;

    (void)state;
    record_pair(&m);
    assert_int_equal(xy_trace_close(m.trace), XY_OK);
    assert_int_equal(xy_trace_read(m.path, &log), XY_OK);
    unlink(m.path);
    for (long k = 1;; k++) {
        xy_replay_t *replay = NULL;
        xy_status_t st;

        testing_listen();
        xy_memory_fail_at(k);
        st = xy_replay_from_trace(log, &replay);
        xy_memory_fail_at(0);
        xy_replay_destroy(replay);
        if (st == XY_OK)
            break;
        assert_int_equal(st, XY_ENOMEM);
        assert_int_equal(testing_said_count, 1);
    }
    xy_trace_log_free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trace),      cmocka_unit_test(test_nonblocking),
        cmocka_unit_test(test_eager_then), cmocka_unit_test(test_matrix),
        cmocka_unit_test(test_many),       cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
