/* SPDX-License-Identifier: BSD-3-Clause */
/* The record of a real run: complete, without repetition, in a possible order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tasks/exec/exec.h"
#include "testing/base.h"
#include "trace/trace.h"

enum { DATA = 16, BYTES = 256, WORKERS_MAX = 3, OPS = XYLEM_SANITIZED ? 300 : 3000 };
enum { ROUNDS = XYLEM_SANITIZED ? 1 : 3 };

typedef struct {
    xy_task_observer_t observer;
    xy_graph_t *graph;
    int count[OPS], wrong;
    double start[OPS], end[OPS];
    double last;                    /* end of the last thing told */
    double worker_end[WORKERS_MAX]; /* of the last thing told of a worker */
    double tasks, decisions;        /* seconds */
    uint64_t loads, stores, peers, most;
} watch_t;

static void at(watch_t *w, double start, double end)
{
    w->wrong += end < w->last || start > end || start < 0;
    w->last = end;
}

static void at_worker(watch_t *w, int32_t worker, double start, double end)
{
    assert_in_range(worker, 0, WORKERS_MAX - 1);
    w->wrong += start < w->worker_end[worker];
    w->worker_end[worker] = end;
    at(w, start, end);
}

static void on_task(void *arg, int32_t worker, xy_op_id_t op, double start, double end)
{
    watch_t *w = arg;

    assert_in_range(op, 0, OPS - 1);
    at_worker(w, worker, start, end);
    w->count[op]++;
    w->start[op] = start;
    w->end[op] = end;
    w->tasks += end - start;
}

static void on_pause(void *arg, int32_t worker, bool is_decision, double start, double end)
{
    watch_t *w = arg;

    at_worker(w, worker, start, end);
    w->decisions += is_decision ? end - start : 0;
}

static void on_transfer(void *arg, int32_t data, int32_t from, int32_t to, double start, double end)
{
    watch_t *w = arg;

    assert_in_range(data, 0, DATA - 1);
    at(w, start, end);
    w->loads += from == 0;
    w->stores += to == 0;
    w->peers += from != 0 && to != 0;
}

static void on_memory(void *arg, int32_t memory, double time, uint64_t used)
{
    watch_t *w = arg;

    (void)memory;
    at(w, time, time);
    w->most = used > w->most ? used : w->most;
}

static xy_graph_t *random_graph(uint64_t *seed)
{
    xy_graph_t *g;

    assert_int_equal(xy_graph_create(&g), XY_OK);
    for (int d = 0; d < DATA; d++)
        xy_graph_add_data(g, &(xy_data_t){.bytes = BYTES, .position = {d, 0, 0}});
    for (int i = 0; i < OPS; i++) {
        int32_t d = (int32_t)(testing_random(seed) >> 33) % DATA;
        xy_access_t a[2] = {{d, (xy_access_mode_t)(1 + i % 3)}, {(d + 3) % DATA, XY_ACCESS_READ}};

        xy_graph_add_task(g, &(xy_op_t){.kind = XY_OP_COMPUTE, .seconds = 1e-6}, a, 2);
    }
    assert_int_equal(xy_graph_finalize(g), XY_OK);
    return g;
}

/* Now and then a task is long, so that others have to wait for it. */
static void run_task(void *arg, const xy_task_turn_t *turn)
{
    volatile unsigned spin = turn->op % 50 == 0 ? 20000 : 50;

    (void)arg;
    while (spin > 0)
        spin = spin - 1;
}

static void assert_possible(const watch_t *w, const xy_task_result_t *r)
{
    assert_int_equal(w->wrong, 0);
    for (xy_op_id_t i = 0; i < OPS; i++) {
        const xy_op_id_t *after;

        assert_int_equal(w->count[i], 1);
        for (int32_t k = xy_graph_successors(w->graph, i, &after) - 1; k >= 0; k--)
            if (w->start[after[k]] < w->end[i])
                fail_msg("task %d begins before its predecessor %d is over", after[k], i);
    }
    assert_int_equal(w->loads, r->loads);
    assert_int_equal(w->stores, r->stores);
    assert_int_equal(w->peers, r->peers);
    assert_true(w->last <= r->makespan);
    assert_true(w->decisions > 0 && w->decisions <= r->scheduling_seconds);
    assert_true(w->tasks > 0 && w->most > 0);
}

static void watch(watch_t *w, xy_task_exec_t *how, uint64_t *seed)
{
    xy_task_result_t r;

    memset(w, 0, sizeof(*w));
    w->observer =
        (xy_task_observer_t){w, on_task, on_transfer, on_memory, on_pause, NULL, NULL, NULL};
    w->graph = random_graph(seed);
    how->observer = &w->observer;
    assert_int_equal(xy_task_execute(w->graph, how, &r), XY_OK);
    assert_possible(w, &r);
    if (how->store != NULL)
        assert_true(w->most <= how->capacity);
    xy_graph_destroy(w->graph);
}

static void test_told_in_core(void **state)
{
    static char memory[DATA][BYTES];
    static watch_t w;
    void *addresses[DATA];
    uint64_t seed = 3;

    (void)state;
    for (int d = 0; d < DATA; d++)
        addresses[d] = memory[d];
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; xy_task_policies[i] != NULL; i++) {
            xy_task_exec_t how = {.policy = xy_task_policies[i]->name,
                                  .workers = 1 + (round + i) % WORKERS_MAX,
                                  .capacity = 5 * BYTES,
                                  .addresses = addresses,
                                  .run = run_task};

            if (strcmp(how.policy, "cache-oblivious") != 0)
                watch(&w, &how, &seed);
        }
}

static int temporary_file(char path[32])
{
    int fd;

    strcpy(path, "/tmp/xylem-record-XXXXXX");
    fd = mkstemp(path);
    assert_true(fd >= 0);
    return fd;
}

static void test_told_out_of_core(void **state)
{
    uint64_t seed = 4, offset[DATA];
    xy_task_store_t store = {.path = "test", .offset = offset};
    static watch_t w;
    char path[32];

    (void)state;
    store.fd = temporary_file(path);
    unlink(path);
    assert_int_equal(ftruncate(store.fd, DATA * BYTES), 0);
    for (uint64_t d = 0; d < DATA; d++)
        offset[d] = d * BYTES;
    for (int i = 0; i < 3; i++) {
        static const char *const policies[] = {"closure", "eager", "lws"};
        xy_task_exec_t how = {.policy = policies[i],
                              .workers = 2,
                              .capacity = (uint64_t)BYTES * 6,
                              .store = &store,
                              .run = run_task};

        watch(&w, &how, &seed);
    }
    close(store.fd);
}

/* The same in the file: a row per worker, states that do not overlap, and no word of complaint. */
static void read_back(const char *path, const xy_task_result_t *r)
{
    uint64_t tasks = 0, moved = 0;
    xy_trace_log_t *log;

    testing_listen();
    assert_int_equal(xy_trace_read(path, &log), XY_OK);
    assert_int_equal(testing_said_count, 0);
    assert_int_equal(log->clock, XY_TRACE_REAL);
    assert_int_equal(log->damage.states_clipped, 0);
    for (size_t i = 0; i < log->state_count; i++) {
        const char *kind = log->kinds[log->states[i].kind].name;

        tasks += strcmp(kind, "task") == 0;
        moved += strcmp(kind, "load") == 0 || strcmp(kind, "store") == 0;
    }
    assert_int_equal(tasks, OPS);
    assert_int_equal(moved, r->loads + r->stores);
    xy_trace_log_free(log);
}

static void test_trace(void **state)
{
    uint64_t seed = 5, offset[DATA];
    xy_task_store_t store = {.path = "test", .offset = offset};
    xy_graph_t *g = random_graph(&seed);
    char path[32], trace[32];
    xy_task_result_t r;

    (void)state;
    store.fd = temporary_file(path);
    unlink(path);
    close(temporary_file(trace));
    assert_int_equal(ftruncate(store.fd, DATA * BYTES), 0);
    for (uint64_t d = 0; d < DATA; d++)
        offset[d] = d * BYTES;
    for (int i = 0; i < 2; i++) {
        xy_task_exec_t how = {.workers = 2,
                              .capacity = (uint64_t)BYTES * 6,
                              .store = i == 0 ? &store : NULL,
                              .run = run_task,
                              .trace = trace};

        assert_int_equal(xy_task_execute(g, &how, &r), XY_OK);
        read_back(trace, &r);
    }
    unlink(trace);
    close(store.fd);
    xy_graph_destroy(g);
}

static void ignore_task(void *arg, int32_t worker, xy_op_id_t op, double start, double end)
{
    (void)arg, (void)worker, (void)op, (void)start, (void)end;
}

/* A failed allocation is reported once; an observer gets only the records it asks for. */
static void test_memory_runs_out(void **state)
{
    static char memory[BYTES];
    xy_task_observer_t observer = {.task = ignore_task};
    uint64_t seed = 6;
    xy_graph_t *g = random_graph(&seed);
    void *addresses[DATA];
    xy_status_t st = XY_ENOMEM;
    char trace[32];

    (void)state;
    close(temporary_file(trace));
    for (int d = 0; d < DATA; d++)
        addresses[d] = memory;
    for (long k = 1; st != XY_OK; k++) {
        xy_task_exec_t how = {.workers = 2,
                              .policy = "eager",
                              .addresses = addresses,
                              .run = run_task,
                              .trace = k % 2 == 0 ? trace : NULL,
                              .observer = &observer};
        xy_task_result_t r;

        testing_listen();
        xy_memory_fail_at((k + 1) / 2);
        st = xy_task_execute(g, &how, &r);
        (void)xy_memory_fail_hit();
        xy_memory_fail_at(0);
        if (st != XY_OK)
            assert_int_equal(testing_said_count, 1);
        assert_true(st == XY_OK || st == XY_ENOMEM);
        st = k % 2 != 0 ? XY_ENOMEM : st; /* the trace needs most */
    }
    unlink(trace);
    xy_graph_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_told_in_core),
        cmocka_unit_test(test_told_out_of_core),
        cmocka_unit_test(test_trace),
        cmocka_unit_test(test_memory_runs_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
