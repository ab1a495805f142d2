/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Choose the algorithm between processes: the one that `mpiexec --adapt` has picked before the run
 * or in it, or that of least cost, by the formulas of src/coll, with processes for ranks and the
 * transport's figures for its messages. All processes know these numbers, so all find the same.
 */
#include <math.h>

#include "mpi/coll/interprocess.h"
#include "mpi/object/object.h"
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"
#include "net/net.h"
#include "sim/sim.h"

/* Bytes of a piece: above, the members of a process would wait for theirs while none is copied. */
enum { PIECE_LEAST = 16 << 10, PIECE_MOST = 256 << 10 };
/* The messages of a large one: announced, asked for, given. */
enum { LARGE_MESSAGES = 3 };

static const struct {
    xy_collective_t collective;
    interprocess_way_t way;
    const char *name; /* in src/coll */
} candidates[] = {
    {XY_COLL_BCAST, INTERPROCESS_BINOMIAL, "binomial"},
    {XY_COLL_BCAST, INTERPROCESS_CHAIN, "chain"},
    {XY_COLL_BCAST, INTERPROCESS_SCATTER, "scatter-doubling"},
    {XY_COLL_REDUCE, INTERPROCESS_BINOMIAL, "binomial"},
    {XY_COLL_REDUCE, INTERPROCESS_CHAIN, "chain"},
    {XY_COLL_ALLREDUCE, INTERPROCESS_DOUBLING, "recursive-doubling"},
    {XY_COLL_ALLREDUCE, INTERPROCESS_RING, "ring"},
    {XY_COLL_ALLREDUCE, INTERPROCESS_HALVING, "rabenseifner"},
    {XY_COLL_ALLGATHER, INTERPROCESS_LINEAR, "linear"},
    {XY_COLL_ALLGATHER, INTERPROCESS_BRUCK, "bruck"},
};
enum { CANDIDATES = sizeof(candidates) / sizeof(candidates[0]) };

/* Looked up by name once. */
static const xy_coll_algorithm_t *algorithm_of(int i)
{
    static _Atomic(const xy_coll_algorithm_t *) found[CANDIDATES];
    const xy_coll_algorithm_t *a = atomic_load_explicit(&found[i], memory_order_relaxed);

    if (a == NULL) {
        a = xy_coll_find(candidates[i].collective, candidates[i].name);
        atomic_store_explicit(&found[i], a, memory_order_relaxed);
    }
    return a;
}

/* The cost of a message of `bytes`. */
static xy_coll_link_t link_of(const interprocess_cost_t *cost, uint64_t bytes)
{
    xy_coll_link_t link = xy_coll_link_default;

    link.alpha = bytes > cost->eager ? LARGE_MESSAGES * cost->latency : cost->latency;
    link.beta = 1 / cost->bandwidth;
    return link;
}

static int levels(int parts)
{
    int n = 0;

    while (1 << n < parts)
        n++;
    return n;
}

/* While a piece is passed on, the next one comes: with small ones the last process begins early,
 * with large ones there are fewer messages. */
static int64_t piece_of(const interprocess_cost_t *cost, interprocess_way_t way, int parts,
                        uint64_t bytes)
{
    xy_coll_link_t link = link_of(cost, UINT64_MAX);
    int depth = way == INTERPROCESS_CHAIN ? parts - 1 : levels(parts);
    double best = PIECE_MOST;

    if (depth > 1)
        best = sqrt((double)bytes * link.alpha / (link.beta * (depth - 1)));
    return best < PIECE_LEAST ? PIECE_LEAST : best > PIECE_MOST ? PIECE_MOST : (int64_t)best;
}

/* Scattered down a tree and gathered in rounds that double what each has: here for any number of
 * processes, as src/coll has it for powers of two. */
static double scatter_cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double n = (double)(q->count * q->element);

    return 2 * (levels(q->procs) * l->alpha + (q->procs - 1.0) / q->procs * n * l->beta);
}

/* The expected seconds of a candidate for a vector of `bytes`. */
static interprocess_choice_t price(const interprocess_cost_t *cost, int i, int parts,
                                   uint64_t bytes)
{
    interprocess_way_t way = candidates[i].way;
    interprocess_choice_t one = {
        .way = way, .algorithm = algorithm_of(i), .piece = piece_of(cost, way, parts, bytes)};
    xy_coll_link_t link = link_of(cost, bytes);
    xy_coll_request_t q = {.collective = candidates[i].collective,
                           .procs = parts,
                           .count = bytes,
                           .element = 1,
                           .is_commutative = true,
                           .segment = (uint64_t)one.piece};

    one.seconds =
        way == INTERPROCESS_SCATTER ? scatter_cost(&q, &link) : one.algorithm->cost(&q, &link);
    return one;
}

interprocess_choice_t interprocess_choose_by(const interprocess_cost_t *cost,
                                             xy_collective_t collective, int parts, uint64_t bytes)
{
    interprocess_choice_t best = {.seconds = INFINITY};

    for (int i = 0; i < CANDIDATES; i++)
        if (candidates[i].collective == collective) {
            interprocess_choice_t one = price(cost, i, parts, bytes);

            if (one.seconds < best.seconds)
                best = one;
        }
    return best;
}

/* Another job may have another limit and another network, and both have to choose the same. */
static interprocess_cost_t cost_of_job(bool has_others)
{
    interprocess_cost_t cost = {.eager = has_others ? XMPI_EAGER_LIMIT : mpi_remote_eager_limit()};
    const xy_net_t *net = has_others ? mpi_job->hub : mpi_job->net;

    xy_net_cost(net, &cost.latency, &cost.bandwidth);
    if (xy_net_short_limit(net) < cost.eager)
        cost.eager = xy_net_short_limit(net);
    return cost;
}

/* ---- Picked ---- */

/* Two processes exchange their sums whatever is chosen. */
static bool has_choice(xy_collective_t collective, int parts)
{
    return collective != XY_COLL_ALLREDUCE || parts > 2;
}

/* The number of an algorithm; -1: it is no candidate. */
static int number_of(const xy_coll_algorithm_t *a)
{
    for (int i = 0; a != NULL && i < CANDIDATES; i++)
        if (algorithm_of(i) == a)
            return i;
    return -1;
}

/* The candidate that was picked for such calls; -1: none. */
static int picked_for(const coll_call_t *call, xy_collective_t collective, uint64_t bytes)
{
    const mpi_settings_t *settings = mpi_settings_of(call->comm);
    const xy_coll_algorithm_t *a = settings->algorithm[collective];
    static atomic_bool has_warned;

    if (a == NULL && settings->picks != NULL)
        a = xy_coll_picked(settings->picks, collective, call->comm->size, bytes);
    if (number_of(a) >= 0)
        return number_of(a);
    if (a != NULL && a->plugin != NULL && !atomic_exchange(&has_warned, true))
        xy_warn("algorithm %s is for ranks of one process; among several it is not used", a->name);
    return -1;
}

/* The candidate for a blocking call that is reconsidered; for others the one that was picked. */
static int reconsidered(const interprocess_part_t *part, xy_collective_t collective, uint64_t size,
                        int picked)
{
    const coll_call_t *call = part->call;
    const mpi_settings_t *settings = mpi_settings_of(call->comm);
    xy_coll_pick_t pick = {.collective = collective,
                           .procs = call->comm->size,
                           .step = xy_coll_step(size),
                           .algorithm = picked >= 0 ? algorithm_of(picked) : NULL};
    int now;

    if (settings->reconsider == NULL || call->how != COLL_BLOCKING ||
        call->kind->collective != collective || settings->algorithm[collective] != NULL ||
        !has_choice(collective, part->layout->parts))
        return picked;
    now = number_of(interprocess_adapt_begin(part, settings->reconsider, &pick, size));
    return now >= 0 ? now : picked;
}

/* ---- Chosen ---- */

/* Each process counts a call once. */
static void count_call(const coll_call_t *call, int parts, xy_collective_t collective,
                       uint64_t bytes, const xy_coll_algorithm_t *algorithm)
{
    xy_vjob_calls_t one = {.collective = collective,
                           .procs = call->comm->size,
                           .nodes = parts,
                           .bytes = bytes,
                           .is_nonblocking = call->how != COLL_BLOCKING,
                           .algorithm = algorithm,
                           .link = xy_coll_link_default};
    double bandwidth;

    xy_net_cost(mpi_job->net, &one.link.alpha, &bandwidth);
    one.link.beta = 1 / bandwidth;
    coll_tally_add(&one);
}

/* Parts of single members have no picks and are not counted: those are of processes of one job. */
interprocess_choice_t interprocess_choose(const interprocess_part_t *part,
                                          xy_collective_t collective, uint64_t bytes)
{
    const coll_call_t *call = part->call;
    const coll_interprocess_t *interprocess = call->comm->coll->interprocess;
    interprocess_cost_t cost = cost_of_job(interprocess->link > 0);
    int parts = part->layout->parts;
    /* The size of the call, as picks and counts have it: an allgather is given the block of a rank.
     */
    uint64_t size = collective == XY_COLL_ALLGATHER
                        ? bytes * (uint64_t)parts / (uint64_t)call->comm->size
                        : bytes;
    bool is_by_process = part->layout == &interprocess->layout;
    int picked = interprocess->link > 0 || !is_by_process ? -1 : picked_for(call, collective, size);
    interprocess_choice_t choice;

    if (interprocess->link == 0 && is_by_process)
        picked = reconsidered(part, collective, size, picked);
    choice = picked >= 0 ? price(&cost, picked, parts, bytes)
                         : interprocess_choose_by(&cost, collective, parts, bytes);
    if (__builtin_expect(mpi_job->measures, 0) && is_by_process)
        count_call(call, parts, collective, size, choice.algorithm);
    return choice;
}

int coll_interprocess_ways(xy_collective_t collective, int ranks, int parts, uint64_t bytes,
                           const xy_coll_algorithm_t **algorithms, double *seconds)
{
    interprocess_cost_t cost = cost_of_job(false);
    uint64_t block =
        collective == XY_COLL_ALLGATHER ? bytes * (uint64_t)ranks / (uint64_t)parts : bytes;
    interprocess_choice_t best = interprocess_choose_by(&cost, collective, parts, block);
    int n = 1;

    algorithms[0] = best.algorithm;
    seconds[0] = best.seconds;
    for (int i = 0; i < CANDIDATES && has_choice(collective, parts); i++)
        if (candidates[i].collective == collective && candidates[i].way != best.way) {
            algorithms[n] = algorithm_of(i);
            seconds[n++] = price(&cost, i, parts, block).seconds;
        }
    return n;
}
