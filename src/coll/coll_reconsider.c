/* SPDX-License-Identifier: BSD-3-Clause */
/* The algorithms of blocking calls, reconsidered while a job runs. */
#include "coll/coll.h"

xy_coll_reconsidered_t *xy_coll_reconsidered_find(xy_coll_reconsidered_t *list,
                                                  xy_collective_t collective, uint64_t bytes)
{
    int step = xy_coll_step(bytes);

    while (list != NULL && (list->pick.collective != collective || list->pick.step != step))
        list = list->next;
    return list;
}

void xy_coll_reconsidered_init(xy_coll_reconsidered_t *r, const xy_coll_reconsider_t *how,
                               const xy_coll_pick_t *pick, const xy_coll_candidate_t *list,
                               int count)
{
    double predicted[XY_RECONSIDER_MAX] = {0};
    int n = 1;

    *r = (xy_coll_reconsidered_t){.how = how, .pick = *pick, .candidate = {pick->algorithm}};
    for (int i = 0; i < count; i++) {
        if (!list[i].is_applicable || list[i].seconds <= 0)
            continue;
        if (list[i].algorithm == pick->algorithm) {
            predicted[0] = list[i].seconds;
        } else if (!list[i].algorithm->is_direct && n < XY_RECONSIDER_MAX) {
            r->candidate[n] = list[i].algorithm;
            predicted[n++] = list[i].seconds;
        }
    }
    if (predicted[0] <= 0) /* a plug-in, without a cost */
        predicted[0] = n > 1 ? predicted[1] : 1;
    xy_reconsider_init(&r->choice, predicted, n, how->loss);
}

const xy_coll_algorithm_t *xy_coll_reconsidered_now(const xy_coll_reconsidered_t *r)
{
    return r->choice.current > 0 ? r->candidate[r->choice.current] : NULL;
}

bool xy_coll_reconsidered_measure(xy_coll_reconsidered_t *r, double seconds, double *median_p)
{
    r->seconds[r->measured++] = seconds;
    if (r->measured < r->choice.length)
        return false;
    *median_p = xy_reconsider_median(r->seconds, r->measured);
    r->measured = 0;
    return true;
}

bool xy_coll_reconsidered_decide(xy_coll_reconsidered_t *r, double median, bool tells)
{
    int current = r->choice.current;
    double before = r->choice.now;

    if (xy_reconsider_add(&r->choice, median)) {
        r->pick.algorithm = r->candidate[r->choice.chosen];
        if (tells)
            r->how->changed(&r->pick, before, r->choice.now);
    }
    return r->choice.current != current;
}
