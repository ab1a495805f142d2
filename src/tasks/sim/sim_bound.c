/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A lower bound of all schedules, from the state of a simulation: the work that is left shared by
 * all workers without a gap, and the data that must still move over the links to the main memory. A
 * trial of a policy that cannot end before the best one known goes no further.
 *
 * What must move: every datum whose first use reads it, to wherever it is used; every datum that
 * is written, home. That holds as long as no worker computes in the main memory itself.
 */
#include <math.h>

#include "tasks/sim/task_sim_internal.h"

/* The rate at which data leave the main memory and come home together, at best; false: ways out
 * and ways home have no link in common, and only what comes home is counted. */
static bool find_rate(sim_tasks_t *s)
{
    const xy_task_platform_t *p = s->platform;
    int32_t n = p->memories, link = n > 1 ? p->shared[1] : -1;
    bool is_one = link >= 0;

    for (int32_t m = 1; m < n; m++) {
        is_one = is_one && p->shared[m] == link && p->shared[m * n] == link;
        s->must_rate += p->rate[m * n];
    }
    if (is_one)
        s->must_rate = p->shared_rate[link];
    return is_one;
}

/* States of must_load. */
enum { UNSEEN, MUST_LOAD, NO_LOAD };

/* Marks the data that must be loaded at least once: their first access reads them and their home is
 * main memory. */
static void count_loads(sim_tasks_t *s)
{
    const xy_access_t *a;

    for (int32_t i = 0; i < s->base.ops; i++)
        for (int32_t k = xy_graph_accesses(s->base.graph, i, &a) - 1; k >= 0; k--) {
            int32_t d = a[k].data;

            if (s->must_load[d] != UNSEEN)
                continue;
            s->must_load[d] = NO_LOAD;
            if ((a[k].mode & XY_ACCESS_READ) && xy_graph_data_at(s->base.graph, d)->home == 0) {
                s->must_load[d] = MUST_LOAD;
                s->must_move += (double)sim_bytes(s, d);
            }
        }
}

xy_status_t sim_bound_init(sim_tasks_t *s)
{
    bool is_both;

    s->must_move = s->must_rate = 0;
    for (int32_t w = 0; w < s->platform->workers; w++)
        if (s->platform->memory_of[w] == 0)
            return XY_OK; /* there nothing has to move */
    is_both = find_rate(s);
    if (s->must_rate <= 0)
        return XY_OK;
    s->must_load = xy_calloc((size_t)s->base.data_count + 1, sizeof(*s->must_load));
    if (s->must_load == NULL)
        return XY_ENOMEM;
    if (is_both)
        count_loads(s);
    for (int32_t d = 0; d < s->base.data_count; d++)
        if (s->base.writers_left[d] > 0 && xy_graph_data_at(s->base.graph, d)->home == 0)
            s->must_move += (double)sim_bytes(s, d);
    return XY_OK;
}

/* Transfers that have begun count as done, so that the bound holds for all data on its way. A datum
 * that comes home after its last write does not do so again. */
void sim_bound_moves(sim_tasks_t *s, const sim_transfer_t *t)
{
    if (s->must_load == NULL)
        return;
    if (t->from == 0 && s->must_load[t->data] == MUST_LOAD) {
        s->must_load[t->data] = NO_LOAD;
        s->must_move -= (double)sim_bytes(s, t->data);
    } else if (t->to == 0 && s->base.writers_left[t->data] == 0 &&
               xy_graph_data_at(s->base.graph, t->data)->home == 0) {
        s->must_move -= (double)sim_bytes(s, t->data);
    }
}

/* The fastest way from the main memory, or home: seconds for so many bytes. */
static double fastest(const sim_tasks_t *s, uint64_t bytes, bool is_home)
{
    const xy_task_platform_t *p = s->platform;
    double best = -1;

    for (int32_t m = 1; m < p->memories; m++) {
        int32_t way = is_home ? m * p->memories : m;
        double t;

        if (p->rate[way] <= 0)
            continue;
        t = p->latency[way] + (double)bytes / p->rate[way];
        best = best < 0 || t < best ? t : best;
    }
    return best > 0 ? best : 0;
}

static uint64_t largest_of(const sim_tasks_t *s, xy_op_id_t op, xy_access_mode_t mode)
{
    const xy_access_t *a;
    uint64_t most = 0;

    for (int32_t k = xy_graph_accesses(s->base.graph, op, &a) - 1; k >= 0; k--)
        if ((a[k].mode & mode) && xy_graph_data_at(s->base.graph, a[k].data)->home == 0 &&
            sim_bytes(s, a[k].data) > most)
            most = sim_bytes(s, a[k].data);
    return most;
}

/* Some task is the first: no worker computes before the largest datum that it reads has come. Some
 * task is the last, and what it wrote goes home after it. */
double sim_bound_start(const sim_tasks_t *s)
{
    double end = sim_bound_end(s), before = -1, after = -1;

    if (s->must_load == NULL)
        return end;
    for (int32_t i = 0; i < s->base.ops; i++) {
        const xy_op_id_t *list;

        if (xy_graph_predecessors(s->base.graph, i) == 0) {
            double t = fastest(s, largest_of(s, i, XY_ACCESS_READ), false);

            before = before < 0 || t < before ? t : before;
        }
        if (xy_graph_successors(s->base.graph, i, &list) == 0) {
            double t = fastest(s, largest_of(s, i, XY_ACCESS_WRITE), true);

            after = after < 0 || t < after ? t : after;
        }
    }
    before = fmax(before, 0) + s->work / s->speed + fmax(after, 0);
    return fmax(before, end);
}

double sim_bound_end(const sim_tasks_t *s)
{
    double work = s->work_left, seconds, moving;

    for (int32_t w = 0; w < s->platform->workers; w++)
        if (s->workers[w].running != NULL)
            work -= (s->clock.now - s->workers[w].start) * s->platform->speed[w];
    seconds = work / s->speed;
    moving = s->must_load != NULL ? s->must_move / s->must_rate : 0;
    return s->clock.now + (moving > seconds ? moving : seconds);
}
