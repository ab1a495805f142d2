/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking collectives between processes whose algorithm is reconsidered while the job runs. Those
 * of one communicator come one after the other, so all processes count their calls alike: with the
 * last call of a window they also agree on its time, up a tree and down again, and decide the same.
 */
#include <math.h>

#include "mpi/coll/interprocess.h"
#include "mpi/runtime/runtime.h"

struct interprocess_adapted {
    xy_coll_reconsidered_t calls; /* first */
    double start;                 /* of the call under way */
    double median; /* of a window here, then of the processes below as well, then of all */
    double heard[INTERPROCESS_CHILDREN]; /* ... of each child */
    int children;
    bool is_first; /* of the processes: it tells of changes */
};

/* The calls of this kind from now on. */
static interprocess_adapted_t *know(const interprocess_part_t *part,
                                    const xy_coll_reconsider_t *how, xy_coll_pick_t pick,
                                    uint64_t bytes)
{
    coll_interprocess_t *interprocess = part->call->comm->coll->interprocess;
    interprocess_adapted_t *a = xy_calloc(1, sizeof(*a));
    const xy_coll_algorithm_t *algorithms[XY_COLL_CANDIDATES_MAX];
    double seconds[XY_COLL_CANDIDATES_MAX];
    xy_coll_candidate_t list[XY_COLL_CANDIDATES_MAX];
    int n = coll_interprocess_ways(pick.collective, pick.procs, part->layout->parts, bytes,
                                   algorithms, seconds);

    if (a == NULL)
        coll_interprocess_out_of_memory();
    for (int i = 0; i < n; i++)
        list[i] = (xy_coll_candidate_t){algorithms[i], true, seconds[i]};
    if (pick.algorithm == NULL)
        pick.algorithm = algorithms[0];
    xy_coll_reconsidered_init(&a->calls, how, &pick, list, n);
    a->is_first = part->own == 0;
    a->calls.next = interprocess->reconsidered;
    interprocess->reconsidered = &a->calls;
    return a;
}

const xy_coll_algorithm_t *interprocess_adapt_begin(const interprocess_part_t *part,
                                                    const xy_coll_reconsider_t *how,
                                                    const xy_coll_pick_t *pick, uint64_t bytes)
{
    coll_interprocess_t *interprocess = part->call->comm->coll->interprocess;
    interprocess_adapted_t *a = (interprocess_adapted_t *)(void *)xy_coll_reconsidered_find(
        interprocess->reconsidered, pick->collective, bytes);

    if (a == NULL)
        a = know(part, how, *pick, bytes);
    interprocess->adapting = a;
    a->start = xy_now();
    return xy_coll_reconsidered_now(&a->calls);
}

void interprocess_adapt_cleanup(coll_interprocess_t *interprocess)
{
    for (xy_coll_reconsidered_t *r = interprocess->reconsidered, *next; r != NULL; r = next) {
        next = r->next;
        xy_free(r);
    }
}

/* ---- Behind the steps of a call ---- */

static void measure(void *arg)
{
    interprocess_adapted_t *a = arg;

    xy_coll_reconsidered_measure(&a->calls, xy_now() - a->start, &a->median);
}

/* Where all need the data of all, the last process to come waits for no other: the least time is
 * that of the messages. Where data goes one way, others leave early: the greatest is. */
static void combine(void *arg)
{
    interprocess_adapted_t *a = arg;
    xy_collective_t c = a->calls.pick.collective;
    bool is_mutual = c == XY_COLL_ALLREDUCE || c == XY_COLL_ALLGATHER;

    for (int i = 0; i < a->children; i++)
        a->median = is_mutual ? fmin(a->median, a->heard[i]) : fmax(a->median, a->heard[i]);
}

static void decide(void *arg)
{
    interprocess_adapted_t *a = arg;

    xy_coll_reconsidered_decide(&a->calls, a->median, a->is_first);
}

/* Add the exchange of medians, and the decision, to the schedule. */
static void agree(schedule_t *s, const interprocess_part_t *p, interprocess_adapted_t *a)
{
    const mpi_type_t *type = mpi_type_of(MPI_DOUBLE);
    interprocess_tree_t tree;

    interprocess_tree_parts(p->layout, p->own, 0, p->call->kind->is_rooted ? p->call->root : 0,
                            false, &tree);
    a->children = tree.children;
    for (int i = 0; i < tree.children; i++)
        schedule_receive(s, tree.child[i], &a->heard[i], 1, type);
    schedule_wait(s);
    schedule_do(s, combine, a);
    if (tree.parent >= 0) {
        schedule_send(s, tree.parent, &a->median, 1, type);
        schedule_wait(s);
        schedule_receive(s, tree.parent, &a->median, 1, type);
        schedule_wait(s);
    }
    for (int i = 0; i < tree.children; i++)
        schedule_send(s, tree.child[i], &a->median, 1, type);
    schedule_wait(s);
    schedule_do(s, decide, a);
}

void interprocess_adapt_end(schedule_t *s, const interprocess_part_t *p)
{
    coll_interprocess_t *interprocess = p->call->comm->coll->interprocess;
    interprocess_adapted_t *a = interprocess->adapting;

    if (a == NULL)
        return;
    interprocess->adapting = NULL;
    schedule_lane(s, 0);
    schedule_wait(s);
    schedule_do(s, measure, a);
    if (a->calls.measured + 1 == a->calls.choice.length)
        agree(s, p, a);
}
