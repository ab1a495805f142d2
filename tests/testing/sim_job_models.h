/* SPDX-License-Identifier: BSD-3-Clause */
/* For the unit tests of simulated jobs: models of messages, and programs of processes on two cores.
 */
#ifndef XY_TESTING_SIM_JOB_MODELS_H
#define XY_TESTING_SIM_JOB_MODELS_H

#include <math.h>
#include <string.h>

#include "testing/sim_job.h"

#define NODE                     "node:1 core:2"
#define assert_close(a, b, part) assert_true(fabs((a) - (b)) <= (part)*fabs(b))

enum { ROUNDS = 40, MOST = 64 };

static const double work = 50e-9, gap = 80e-9, request = 60e-9;

/* A message takes `least` + n `each`, and ten times as long per byte above 100000 bytes. */
static inline xy_message_model_t *add_sloped(xy_costs_t *costs, const char *cluster,
                                             const char *library, double least, double each)
{
    xy_message_cost_t m = {.cluster1 = xy_strdup(cluster),
                           .cluster2 = xy_strdup(cluster),
                           .library = xy_strdup(library)};
    xy_message_sample_t samples[20];

    for (int i = 0; i < 20; i++) {
        double n = i == 0 ? 0 : 32 << i, seconds = least + n * (n > 1e5 ? 10 : 1) * each;

        samples[i] = (xy_message_sample_t){.bytes = n,
                                           .blocking = seconds,
                                           .nonblocking = seconds + request,
                                           .send = work,
                                           .receive = work,
                                           .gap = gap,
                                           .exchange = 1.2 * seconds};
    }
    assert_int_equal(xy_message_fit(samples, 20, &m.model), XY_OK);
    m.model.eager = 10000;
    assert_int_equal(xy_costs_set_message(costs, &m), XY_OK);
    return &XY_VEC_AT(&costs->messages, xy_message_cost_t, costs->messages.count - 1).model;
}

static inline xy_message_model_t *add_model(xy_costs_t *costs, const char *cluster,
                                            const char *library, double least)
{
    return add_sloped(costs, cluster, library, least, 0.1e-9);
}

/* A curve of samples that have changed. */
static inline void fit_again(xy_message_model_t *m, xy_message_kind_t kind)
{
    xy_free(m->kind[kind].time.line);
    m->kind[kind] = (xy_message_lines_t){0};
    assert_int_equal(xy_message_complete(m), XY_OK);
}

/* The end of `procs` processes that all do the same acts, on the first `count` cores. */
static inline double run_all(int procs, int count, const xy_costs_t *store, const char *library,
                             testing_act_t *acts[])
{
    int32_t cores[MOST];
    testing_job_t t;
    double end;

    for (int i = 0; i < procs; i++)
        cores[i] = i * count / procs;
    testing_job_init(&t, NODE, procs);
    t.config.core_of = cores;
    t.config.store = store;
    t.config.library = library;
    t.config.progress = XY_SIM_TASKS; /* without communication cores, as most runs */
    for (int i = 0; i < procs; i++)
        t.procs[i].acts = acts[i];
    end = testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    testing_job_cleanup(&t);
    return end;
}

/* Seconds of one collective of many, one after the other. */
static inline double collective(int procs, int count, const xy_costs_t *store, const char *library,
                                xy_collective_t which, uint64_t bytes)
{
    testing_act_t acts[ROUNDS + 1] = {{0}}, *all[MOST];

    for (int i = 0; i < ROUNDS; i++)
        acts[i] = (testing_act_t){
            .kind = DO_COLL,
            .coll = {
                .collective = which, .count = bytes / 8, .element = 8, .is_commutative = true}};
    for (int i = 0; i < procs; i++)
        all[i] = acts;
    return run_all(procs, count, store, library, all) / ROUNDS;
}

#endif
