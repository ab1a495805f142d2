/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of all algorithms, and the chooser. */
#include <string.h>

#include "coll/build.h"

const xy_coll_link_t xy_coll_link_default = {
    .alpha = 300e-9, .beta = 1.0 / 8e9, .gamma = 1.0 / 16e9, .copy = 1.0 / 8e9};

extern const xy_coll_algorithm_t coll_barrier_dissemination;
extern const xy_coll_algorithm_t coll_bcast_binomial, coll_bcast_scatter_allgather,
    coll_bcast_chain;
extern const xy_coll_algorithm_t coll_gather_binomial, coll_gather_linear;
extern const xy_coll_algorithm_t coll_scatter_binomial, coll_scatter_linear;
extern const xy_coll_algorithm_t coll_allgather_recursive_doubling, coll_allgather_bruck,
    coll_allgather_ring;
extern const xy_coll_algorithm_t coll_alltoall_pairwise, coll_alltoall_bruck;
extern const xy_coll_algorithm_t coll_reduce_binomial, coll_reduce_rabenseifner;
extern const xy_coll_algorithm_t coll_allreduce_recursive_doubling, coll_allreduce_rabenseifner,
    coll_allreduce_ring, coll_allreduce_reduce_bcast;
extern const xy_coll_algorithm_t coll_reduce_scatter_halving, coll_reduce_scatter_pairwise;
extern const xy_coll_algorithm_t coll_scan_binomial, coll_scan_chain;
extern const xy_coll_algorithm_t coll_exscan_binomial, coll_exscan_chain;
extern const xy_coll_algorithm_t coll_barrier_direct, coll_bcast_direct, coll_gather_direct,
    coll_scatter_direct, coll_allgather_direct, coll_alltoall_direct, coll_reduce_direct,
    coll_allreduce_direct, coll_reduce_scatter_direct, coll_scan_direct, coll_exscan_direct;

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

const xy_coll_algorithm_t *xy_coll_direct(xy_collective_t collective)
{
    for (size_t i = 0; algorithms[i] != NULL; i++)
        if (algorithms[i]->is_direct && (algorithms[i]->collectives >> collective & 1) != 0)
            return algorithms[i];
    return NULL;
}

bool xy_coll_is_applicable(const xy_coll_algorithm_t *a, const xy_coll_request_t *q)
{
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

static xy_status_t fail_unknown(const xy_coll_candidate_t *list, int n, const char *collective,
                                const char *name)
{
    const char *words[XY_COLL_CANDIDATES_MAX + 1] = {NULL};
    xy_text_t text = XY_TEXT_INIT;
    const char *nearest;
    xy_status_t st;

    for (int i = 0; i < n; i++) {
        words[i] = list[i].algorithm->name;
        xy_text_addf(&text, "%s%s", i > 0 ? ", " : "", words[i]);
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

xy_status_t xy_coll_choose(const xy_coll_request_t *q, const xy_coll_link_t *link, const char *name,
                           const xy_coll_algorithm_t **algorithm_p)
{
    xy_coll_candidate_t list[XY_COLL_CANDIDATES_MAX];
    int n = xy_coll_candidates(q, link, list), i = 0;

    while (i < n && (name != NULL ? strcmp(list[i].algorithm->name, name) != 0
                                  : list[i].algorithm->is_direct))
        i++;
    if (i == n)
        return fail_unknown(list, n, xy_coll_name(q->collective), name);
    if (!list[i].is_applicable)
        return xy_fail(XY_EINVAL, "the %s algorithm of %s needs %s", list[i].algorithm->name,
                       xy_coll_name(q->collective), list[i].algorithm->needs);
    *algorithm_p = list[i].algorithm;
    return XY_OK;
}
