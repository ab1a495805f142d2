/* SPDX-License-Identifier: BSD-3-Clause */
/* The sends of one rank in a collective: found by walking the algorithm once, then remembered. */
#include "schedule.h"

#include <stdatomic.h>

/* The algorithm of each collective. Blocks are alike here, so that the variants with counts are
 * walked as those without. */
static const struct {
    xy_collective_t collective;
    const char *algorithm;
} assumed[XY_COLL_COUNT] = {
    [XY_COLL_BARRIER] = {XY_COLL_BARRIER, "dissemination"},
    [XY_COLL_BCAST] = {XY_COLL_BCAST, "binomial"},
    [XY_COLL_GATHER] = {XY_COLL_GATHER, "binomial"},
    [XY_COLL_GATHERV] = {XY_COLL_GATHER, "linear"},
    [XY_COLL_SCATTER] = {XY_COLL_SCATTER, "binomial"},
    [XY_COLL_SCATTERV] = {XY_COLL_SCATTER, "linear"},
    [XY_COLL_ALLGATHER] = {XY_COLL_ALLGATHER, "ring"},
    [XY_COLL_ALLGATHERV] = {XY_COLL_ALLGATHER, "ring"},
    [XY_COLL_ALLTOALL] = {XY_COLL_ALLTOALL, "pairwise"},
    [XY_COLL_ALLTOALLV] = {XY_COLL_ALLTOALL, "pairwise"},
    [XY_COLL_ALLTOALLW] = {XY_COLL_ALLTOALL, "pairwise"},
    [XY_COLL_REDUCE] = {XY_COLL_REDUCE, "binomial"},
    [XY_COLL_ALLREDUCE] = {XY_COLL_ALLREDUCE, "recursive-doubling"},
    [XY_COLL_REDUCE_SCATTER] = {XY_COLL_REDUCE_SCATTER_BLOCK, "pairwise"},
    [XY_COLL_REDUCE_SCATTER_BLOCK] = {XY_COLL_REDUCE_SCATTER_BLOCK, "pairwise"},
    [XY_COLL_SCAN] = {XY_COLL_SCAN, "chain"},
    [XY_COLL_EXSCAN] = {XY_COLL_EXSCAN, "chain"},
};

/* ---- From an algorithm to a schedule ---- */

typedef struct {
    monitor_schedule_t *schedule;
    int capacity;
    bool has_failed;
} walk_t;

/* Returns the next entry of a schedule; NULL without memory. */
static monitor_send_t *another(walk_t *w)
{
    if (w->schedule->count == w->capacity) {
        size_t capacity = 2 * (size_t)w->capacity;
        monitor_schedule_t *larger =
            xy_realloc(w->schedule, sizeof(*larger) + capacity * sizeof(monitor_send_t));

        if (larger == NULL) {
            w->has_failed = true;
            return NULL;
        }
        w->schedule = larger;
        w->capacity = (int)capacity;
    }
    return &w->schedule->sends[w->schedule->count++];
}

/* Messages that follow each other to the same rank are one entry: a ring has but one. */
static void visit(const xy_op_t *op, void *arg)
{
    walk_t *w = arg;
    const monitor_schedule_t *s = w->schedule;
    int to = op->to.rank;
    monitor_send_t *send;

    if (op->from.rank == op->to.rank || w->has_failed || op->from.rank != s->rank)
        return;
    if (s->count > 0 && s->sends[s->count - 1].to == to) {
        send = &w->schedule->sends[s->count - 1];
        send->messages++;
        send->blocks += op->bytes;
        return;
    }
    send = another(w);
    if (send != NULL)
        *send = (monitor_send_t){to, 1, op->bytes};
}

/* Returns the sends of a rank in a collective, by the assumed algorithm; NULL on failure. */
static monitor_schedule_t *make(xy_collective_t collective, int size, int rank)
{
    enum { FIRST = 8 };
    xy_coll_request_t q = {.collective = assumed[collective].collective,
                           .procs = size,
                           .count = 1,
                           .element = 1,
                           .is_commutative = true};
    const xy_coll_algorithm_t *algorithm;
    walk_t w = {.capacity = FIRST};

    w.schedule = xy_calloc(1, sizeof(*w.schedule) + FIRST * sizeof(monitor_send_t));
    if (w.schedule == NULL) {
        xy_fail_memory("counting a collective");
        return NULL;
    }
    w.schedule->collective = collective;
    w.schedule->size = size;
    w.schedule->rank = rank;
    if (xy_coll_choose(&q, &xy_coll_link_default, assumed[collective].algorithm, &algorithm) !=
            XY_OK ||
        xy_coll_walk(&q, &xy_coll_link_default, algorithm, visit, &w) != XY_OK || w.has_failed) {
        if (w.has_failed)
            xy_fail_memory("counting a collective");
        xy_free(w.schedule);
        return NULL;
    }
    return w.schedule;
}

/* ---- Remembered ---- */

/* Lists that only grow, at their head: reading takes no lock. Two threads may add the same one;
 * then the second is never found. */
enum { LISTS = 256 };
static _Atomic(monitor_schedule_t *) lists[LISTS];

const monitor_schedule_t *monitor_schedule(xy_collective_t collective, int size, int rank)
{
    unsigned hash = (unsigned)rank * 31u + (unsigned)size * 17u + (unsigned)collective;
    _Atomic(monitor_schedule_t *) *list = &lists[hash % LISTS];
    monitor_schedule_t *s = atomic_load_explicit(list, memory_order_acquire);

    for (; s != NULL; s = s->next)
        if (s->collective == collective && s->size == size && s->rank == rank)
            return s;
    s = make(collective, size, rank);
    if (s == NULL)
        return NULL;
    s->next = atomic_load_explicit(list, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(list, &s->next, s, memory_order_release,
                                                  memory_order_relaxed))
        continue;
    return s;
}
