/* SPDX-License-Identifier: BSD-3-Clause */
/* For unit tests only: random task graphs and platforms, and a witness that checks the events. */
#ifndef XY_TESTING_TASKS_SIM_H
#define XY_TESTING_TASKS_SIM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tasks/sim/sim.h"
#include "testing/base.h"

enum { WITNESS_MEMORIES = 8, WITNESS_WORKERS = 16 };

typedef struct {
    xy_task_observer_t observer;
    const xy_graph_t *graph;
    const xy_task_platform_t *platform;
    double *start, *end;             /* [ops] < 0: did not run */
    int32_t *version;                /* [data] */
    int32_t *held[WITNESS_MEMORIES]; /* [data] version held; -1: none */
    double *written;                 /* [data] start of the last task that wrote it */
    double free_at[WITNESS_WORKERS];
    int32_t ran;
} witness_t;

/* Asserts that a task runs once, on a free worker, with current copies of its data. */
static inline void witness_task(void *arg, int32_t worker, xy_op_id_t op, double start, double end)
{
    witness_t *w = arg;
    int32_t memory = w->platform->memory_of[worker];
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(w->graph, op, &a);

    assert_true(w->start[op] < 0); /* once */
    assert_true(start >= w->free_at[worker]);
    w->free_at[worker] = end;
    w->start[op] = start;
    w->end[op] = end;
    w->ran++;
    for (int32_t i = 0; i < n; i++) {
        if (a[i].mode & XY_ACCESS_READ)
            assert_int_equal(w->held[memory][a[i].data], w->version[a[i].data]);
        if (a[i].mode & XY_ACCESS_WRITE) {
            w->held[memory][a[i].data] = ++w->version[a[i].data];
            w->written[a[i].data] = start;
        }
    }
}

static inline void witness_transfer(void *arg, int32_t data, int32_t from, int32_t to, double start,
                                    double end)
{
    witness_t *w = arg;
    int32_t way = from * w->platform->memories + to;
    double least = w->platform->latency[way] +
                   (double)xy_graph_data_at(w->graph, data)->bytes / w->platform->rate[way];

    assert_true(end - start >= least * (1 - 1e-6) - 1e-9);
    if (start > w->written[data] || w->version[data] == 0)
        w->held[to][data] = w->held[from][data];
}

static inline void witness_memory(void *arg, int32_t memory, double time, uint64_t used)
{
    const witness_t *w = arg;

    (void)time;
    if (w->platform->capacity[memory] != 0)
        assert_true(used <= w->platform->capacity[memory]);
}

/* Initializes a witness for a run, with all data at their homes. */
static inline void witness_start(witness_t *w, const xy_graph_t *graph,
                                 const xy_task_platform_t *platform)
{
    size_t ops = (size_t)xy_graph_ops(graph) + 1, data = (size_t)xy_graph_data_count(graph) + 1;

    *w = (witness_t){.graph = graph, .platform = platform};
    w->observer = (xy_task_observer_t){
        w, witness_task, witness_transfer, witness_memory, NULL, NULL, NULL, NULL};
    w->start = xy_malloc(ops * sizeof(double));
    w->end = xy_malloc(ops * sizeof(double));
    w->version = xy_calloc(data, sizeof(int32_t));
    w->written = xy_calloc(data, sizeof(double));
    for (size_t i = 0; i < ops; i++)
        w->start[i] = w->end[i] = -1;
    for (int32_t m = 0; m < platform->memories; m++) {
        w->held[m] = xy_calloc(data, sizeof(int32_t));
        for (size_t d = 0; d + 1 < data; d++)
            w->held[m][d] = xy_graph_data_at(graph, (int32_t)d)->home == m ? 0 : -1;
    }
}

/* All ran, after what they depend on; all data are home; no bound is beaten. */
static inline void witness_finish(witness_t *w, const xy_task_result_t *r)
{
    double moved = (double)(r->bytes_loaded + r->bytes_stored), rate = 0;

    assert_int_equal(w->ran, xy_graph_ops(w->graph));
    for (xy_op_id_t i = 0; i < xy_graph_ops(w->graph); i++) {
        const xy_op_id_t *after;

        for (int32_t k = xy_graph_successors(w->graph, i, &after) - 1; k >= 0; k--)
            assert_true(w->end[i] <= w->start[after[k]]);
    }
    for (int32_t d = 0; d < xy_graph_data_count(w->graph); d++)
        assert_int_equal(w->held[xy_graph_data_at(w->graph, d)->home][d], w->version[d]);
    for (int32_t i = 0; i < w->platform->shared_count; i++)
        rate += w->platform->shared_rate[i];
    assert_true(r->makespan >= r->compute_bound * (1 - 1e-9));
    assert_true(r->makespan >= r->tasks_end);
    if (rate > 0)
        assert_true(r->makespan >= moved / rate * (1 - 1e-6));
    xy_free(w->start);
    xy_free(w->end);
    xy_free(w->version);
    xy_free(w->written);
    for (int32_t m = 0; m < w->platform->memories; m++)
        xy_free(w->held[m]);
}

/* `ops` tasks on `data` data of 1 to 4 units, 1 to 4 accesses each; in one graph of two some data
 * live on the first GPU. */
static inline xy_graph_t *witness_graph(uint64_t *seed, int ops, int data)
{
    xy_graph_t *g;
    int guests;

    assert_int_equal(xy_graph_create(&g), XY_OK);
    guests = testing_random_below(seed, 2) * 4;
    for (int d = 0; d < data; d++)
        xy_graph_add_data(
            g, &(xy_data_t){.bytes = 1000 * (1 + (uint64_t)testing_random_below(seed, 4)),
                            .home = d < guests ? 1 : 0});
    for (int i = 0; i < ops; i++) {
        xy_access_t a[4];
        int n = 1 + testing_random_below(seed, 4), used = 0;

        for (int k = 0; k < n; k++) {
            int32_t d = testing_random_below(seed, data);
            bool is_there = false;

            for (int j = 0; j < used; j++)
                is_there = is_there || a[j].data == d;
            if (!is_there)
                a[used++] = (xy_access_t){d, (xy_access_mode_t)(1 + testing_random_below(seed, 3))};
        }
        xy_graph_add_task(g,
                          &(xy_op_t){.kind = XY_OP_COMPUTE,
                                     .seconds = 1e-6 * (1 + testing_random_below(seed, 20)),
                                     .priority = testing_random_below(seed, 5)},
                          a, used);
    }
    assert_int_equal(xy_graph_finalize(g), XY_OK);
    return g;
}

/* 1 to 4 GPUs of 16 to 40 units behind one link, some with ways between them, and some cores. */
static inline xy_task_platform_t *witness_platform(uint64_t *seed)
{
    static const char *const texts[] = {
        "<machine name='m' version='1'><node><core count='2'/><gpus bandwidth='3GB/s' "
        "peer-latency='1us' peer-bandwidth='2GB/s'><gpu count='4' memory='1MiB' in-latency='1us' "
        "in-bandwidth='2GB/s' out-latency='2us' out-bandwidth='3GB/s'/></gpus></node></machine>",
        "<machine name='m' version='1'><node><core count='2'/><gpus><gpu count='4' memory='1MiB' "
        "in-latency='1us' in-bandwidth='2GB/s' out-latency='2us' "
        "out-bandwidth='3GB/s'/></gpus></node></machine>"};
    const char *text = texts[testing_random_below(seed, 2)];
    xy_task_platform_options_t o = {.gpus = 1 + testing_random_below(seed, 4),
                                    .memory =
                                        16000 + 1000 * (uint64_t)testing_random_below(seed, 25),
                                    .cpus = testing_random_below(seed, 3)};
    xy_task_platform_t *p;
    xy_machine_t *m;

    assert_int_equal(xy_machine_parse(text, strlen(text), "test", &m), XY_OK);
    assert_int_equal(xy_task_platform_from(m, &o, &p), XY_OK);
    xy_machine_destroy(m);
    return p;
}

#endif
