/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking collectives of several nodes whose algorithm is reconsidered while the job runs. They
 * are known from their first call on. A call that began before the last decision is not measured.
 */
#include "sim/job_internal.h"

struct job_adapted {
    xy_coll_reconsidered_t calls; /* first */
    uint64_t decision;            /* number of the last one */
};

static job_adapted_t *find(const xy_vcoll_t *coll)
{
    return (job_adapted_t *)(void *)xy_coll_reconsidered_find(
        coll->comm->reconsidered, coll->call.collective, coll->call.count * coll->call.element);
}

void job_adapt_begin(xy_vcoll_t *coll)
{
    const xy_vjob_coll_t *c = &coll->call;

    coll->wanted = NULL;
    coll->adapted = c->is_nonblocking || c->is_agreement || c->is_user_op ? NULL : find(coll);
    if (coll->adapted == NULL)
        return;
    coll->decision = coll->adapted->decision;
    coll->wanted = xy_coll_reconsidered_now(&coll->adapted->calls);
}

/* All algorithms of the collective with their costs; how many. */
static int list_candidates(const xy_vjob_t *job, const xy_vcoll_t *coll,
                           xy_coll_candidate_t list[XY_COLL_CANDIDATES_MAX])
{
    const xy_vjob_coll_t *c = &coll->call;
    xy_coll_request_t q = {.collective = c->collective,
                           .procs = coll->comm->count,
                           .root = c->root,
                           .count = c->count,
                           .element = c->element,
                           .is_commutative = c->is_commutative,
                           .nodes = coll->comm->nodes,
                           .groups = job->has_link ? NULL : coll->comm->groups};

    return xy_coll_candidates(&q, &coll->comm->link, list);
}

void job_adapt_know(xy_vjob_t *job, xy_vcoll_t *coll)
{
    xy_coll_candidate_t list[XY_COLL_CANDIDATES_MAX];
    xy_coll_pick_t pick = {.collective = coll->call.collective,
                           .procs = coll->comm->count,
                           .step = xy_coll_step(coll->call.count * coll->call.element),
                           .algorithm = coll->shape->algorithm};
    job_adapted_t *a;

    if (job->config.reconsider == NULL || job->config.algorithm != NULL || coll->adapted != NULL ||
        coll->call.is_nonblocking || !coll->shape->has_choice)
        return;
    a = xy_arena_alloc(job->arena, sizeof(*a));
    if (a == NULL) {
        job_fail(job, xy_fail_memory("simulating a collective"));
        return;
    }
    xy_coll_reconsidered_init(&a->calls, job->config.reconsider, &pick, list,
                              list_candidates(job, coll, list));
    a->calls.next = coll->comm->reconsidered;
    coll->comm->reconsidered = &a->calls;
    coll->adapted = a;
    coll->decision = 0;
}

void job_adapt_end(xy_vcoll_t *coll)
{
    job_adapted_t *a = coll->adapted;
    double median;

    if (a != NULL && coll->decision == a->decision &&
        xy_coll_reconsidered_measure(&a->calls, coll->last_out - coll->last_in, &median))
        a->decision += xy_coll_reconsidered_decide(&a->calls, median, true);
}
