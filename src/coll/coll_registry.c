/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of all algorithms, and the chooser. */
#include <string.h>

#include "coll/build.h"
#include "coll/list.h"

const xy_coll_link_t xy_coll_link_default = {
    .alpha = 300e-9, .beta = 1.0 / 8e9, .gamma = 1.0 / 16e9, .copy = 1.0 / 8e9};

/* On equal costs the first one is chosen. */
static const xy_coll_algorithm_t *const algorithms[] = {
    &coll_barrier_dissemination,
    &coll_bcast_binomial,
    &coll_bcast_scatter_allgather,
    &coll_bcast_chain,
    &coll_gather_linear,
    &coll_gather_binomial,
    &coll_scatter_linear,
    &coll_scatter_binomial,
    &coll_allgather_recursive_doubling,
    &coll_allgather_ring,
    &coll_allgather_bruck,
    &coll_alltoall_pairwise,
    &coll_alltoall_bruck,
    &coll_reduce_binomial,
    &coll_reduce_rabenseifner,
    &coll_allreduce_recursive_doubling,
    &coll_allreduce_rabenseifner,
    &coll_allreduce_ring,
    &coll_allreduce_reduce_bcast,
    &coll_reduce_scatter_pairwise,
    &coll_reduce_scatter_halving,
    &coll_scan_chain,
    &coll_scan_binomial,
    &coll_exscan_chain,
    &coll_exscan_binomial,
    &coll_barrier_direct,
    &coll_bcast_direct,
    &coll_gather_direct,
    &coll_scatter_direct,
    &coll_allgather_direct,
    &coll_alltoall_direct,
    &coll_reduce_direct,
    &coll_allreduce_direct,
    &coll_reduce_scatter_direct,
    &coll_scan_direct,
    &coll_exscan_direct,
    /* Algorithms of other libraries. */
    &coll_barrier_linear,
    &coll_barrier_recursive_doubling,
    &coll_barrier_tree,
    &coll_barrier_two_level,
    &coll_bcast_binary,
    &coll_bcast_binomial_high,
    &coll_bcast_knomial,
    &coll_bcast_linear,
    &coll_bcast_scatter_doubling,
    &coll_bcast_scatter_ring,
    &coll_bcast_split_binary,
    &coll_bcast_two_level,
    &coll_bcast_two_level_root,
    &coll_gather_binomial_whole,
    &coll_gather_linear_sync,
    &coll_scatter_binomial_whole,
    &coll_allgather_gather_bcast,
    &coll_allgather_linear,
    &coll_allgather_neighbor,
    &coll_alltoall_linear,
    &coll_alltoall_pairwise_xor,
    &coll_reduce_binary,
    &coll_reduce_chain,
    &coll_reduce_in_order_binary,
    &coll_reduce_knomial,
    &coll_reduce_linear,
    &coll_reduce_rabenseifner_even,
    &coll_reduce_rabenseifner_halves,
    &coll_reduce_two_level,
    &coll_reduce_two_level_zero,
    &coll_allreduce_linear,
    &coll_allreduce_rabenseifner_halves,
    &coll_allreduce_reduce_bcast_high,
    &coll_allreduce_then,
    &coll_allreduce_two_level,
    &coll_reduce_scatter_butterfly,
    &coll_reduce_scatter_mirrored,
    &coll_reduce_scatter_recursive_doubling,
    &coll_reduce_scatter_ring,
    &coll_reduce_scatter_then,
    &coll_reduce_scatter_binomial,
    &coll_scan_recursive_doubling,
    &coll_scan_two_level,
    &coll_exscan_recursive_doubling,
    NULL,
};

const xy_coll_algorithm_t *const *xy_coll_algorithms(void)
{
    return algorithms;
}

static bool does(const xy_coll_algorithm_t *a, const xy_coll_request_t *q)
{
    return (a->collectives >> q->collective & 1) != 0;
}

const xy_coll_algorithm_t *xy_coll_find(xy_collective_t collective, const char *name)
{
    for (size_t i = 0; algorithms[i] != NULL; i++)
        if ((algorithms[i]->collectives >> collective & 1) != 0 &&
            strcmp(algorithms[i]->name, name) == 0)
            return algorithms[i];
    return NULL;
}

const xy_coll_algorithm_t *xy_coll_direct(xy_collective_t collective)
{
    for (size_t i = 0; algorithms[i] != NULL; i++)
        if (algorithms[i]->is_direct && (algorithms[i]->collectives >> collective & 1) != 0)
            return algorithms[i];
    return NULL;
}

static int count_nodes(const xy_coll_request_t *q)
{
    int last = 0;

    for (int i = 0; q->nodes != NULL && i < q->procs; i++)
        last = q->nodes[i] > last ? q->nodes[i] : last;
    return q->nodes != NULL ? last + 1 : q->procs;
}

const xy_coll_algorithm_t *xy_coll_levels(const xy_coll_request_t *q)
{
    static const char *const names[XY_COLL_COUNT] = {[XY_COLL_BCAST] = "two-level-root",
                                                     [XY_COLL_REDUCE] = "two-level",
                                                     [XY_COLL_ALLREDUCE] = "two-level",
                                                     [XY_COLL_BARRIER] = "two-level"};
    const xy_coll_algorithm_t *a;
    int nodes = count_nodes(q);

    if (names[q->collective] == NULL || nodes == 1 || nodes == q->procs)
        return NULL;
    a = xy_coll_find(q->collective, names[q->collective]);
    return xy_coll_is_applicable(a, q) ? a : NULL;
}

bool xy_coll_is_applicable(const xy_coll_algorithm_t *a, const xy_coll_request_t *q)
{
    if (a->plugin != NULL && !coll_plugin_applies(a, q))
        return false;
    return does(a, q) && (a->applicable == NULL || a->applicable(q));
}

/* Cheapest first; what is not applicable last. */
static bool comes_before(const xy_coll_candidate_t *a, const xy_coll_candidate_t *b)
{
    if (a->is_applicable != b->is_applicable)
        return a->is_applicable;
    return a->seconds < b->seconds;
}

int xy_coll_candidates(const xy_coll_request_t *q, const xy_coll_link_t *link,
                       xy_coll_candidate_t list[XY_COLL_CANDIDATES_MAX])
{
    int n = 0;

    for (size_t i = 0; algorithms[i] != NULL && n < XY_COLL_CANDIDATES_MAX; i++) {
        const xy_coll_algorithm_t *a = algorithms[i];
        xy_coll_candidate_t c = {a, xy_coll_is_applicable(a, q), 0.0};
        int at = n;

        if (!does(a, q))
            continue;
        if (c.is_applicable)
            c.seconds = a->cost(q, link);
        for (; at > 0 && comes_before(&c, &list[at - 1]); at--)
            list[at] = list[at - 1];
        list[at] = c;
        n++;
    }
    return n;
}

/* Report an unknown algorithm together with the most similar name, or with all names of the
 * collective. */
static xy_status_t fail_unknown(const xy_coll_request_t *q, const char *name)
{
    const char *words[XY_COLL_CANDIDATES_MAX + 1] = {NULL};
    const char *collective = xy_coll_name(q->collective), *nearest;
    xy_text_t text = XY_TEXT_INIT;
    xy_status_t st;
    int n = 0;

    for (size_t i = 0; algorithms[i] != NULL && n < XY_COLL_CANDIDATES_MAX; i++)
        if (does(algorithms[i], q)) {
            words[n] = algorithms[i]->name;
            xy_text_addf(&text, "%s%s", n > 0 ? ", " : "", words[n]);
            n++;
        }
    nearest = xy_nearest_word(name, words);
    if (nearest != NULL)
        st = xy_fail(XY_EINVAL, "%s has no algorithm '%s'; did you mean '%s'?", collective, name,
                     nearest);
    else
        st = xy_fail(XY_EINVAL, "%s has no algorithm '%s'; there are: %s", collective, name,
                     text.s != NULL ? text.s : "");
    xy_text_cleanup(&text);
    return st;
}

/* Find the algorithm with this name; an error if there is none or if it does not apply to the
 * request. */
static xy_status_t choose_named(const xy_coll_request_t *q, const char *name,
                                const xy_coll_algorithm_t **algorithm_p)
{
    const xy_coll_algorithm_t *const *a = algorithms;

    while (*a != NULL && (!does(*a, q) || strcmp((*a)->name, name) != 0))
        a++;
    if (*a == NULL)
        return fail_unknown(q, name);
    if (!xy_coll_is_applicable(*a, q))
        return xy_fail(XY_EINVAL, "the %s algorithm of %s needs %s", (*a)->name,
                       xy_coll_name(q->collective), (*a)->needs);
    *algorithm_p = *a;
    return XY_OK;
}

/* Every collective has a scheduled algorithm of its own that can do any call. */
xy_status_t xy_coll_choose(const xy_coll_request_t *q, const xy_coll_link_t *link, const char *name,
                           const xy_coll_algorithm_t **algorithm_p)
{
    const xy_coll_algorithm_t *best = NULL;
    double least = 0.0;

    if (name != NULL)
        return choose_named(q, name, algorithm_p);
    for (const xy_coll_algorithm_t *const *a = algorithms; *a != NULL; a++) {
        double seconds;

        if ((*a)->is_direct || (*a)->is_foreign || !xy_coll_is_applicable(*a, q))
            continue;
        seconds = (*a)->cost(q, link);
        if (best == NULL || seconds < least) {
            best = *a;
            least = seconds;
        }
    }
    *algorithm_p = best;
    return XY_OK;
}
