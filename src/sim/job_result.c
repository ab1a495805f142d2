/* SPDX-License-Identifier: BSD-3-Clause */
/* The results of a job: times of the processes, messages between them. */
#include <stdlib.h>

#include "sim/job_internal.h"

/* Counts a message between two processes. */
static void count_pair(xy_vjob_t *job, int32_t from, int32_t to, uint64_t bytes, bool is_coll)
{
    xy_hash_t *pairs = &job->procs[from].pairs;
    xy_vjob_pair_t *pair = xy_hash_get(pairs, (uint32_t)to);

    if (pair == NULL) {
        pair = xy_arena_alloc(job->arena, sizeof(*pair));
        if (pair == NULL || xy_hash_set(pairs, (uint32_t)to, pair) != XY_OK) {
            job_fail(job, xy_fail_memory("counting messages"));
            return;
        }
        pair->from = from;
        pair->to = to;
    }
    *(is_coll ? &pair->coll_messages : &pair->messages) += 1;
    *(is_coll ? &pair->coll_bytes : &pair->bytes) += bytes;
}

void job_count_pair(xy_vjob_t *job, int32_t from, int32_t to, uint64_t bytes)
{
    count_pair(job, from, to, bytes, true);
}

void job_count_message(xy_vjob_t *job, int32_t from, int32_t to, uint64_t bytes, bool is_coll)
{
    xy_vjob_totals_t *t = &job->totals;

    *(is_coll ? &t->coll_messages : &t->messages) += 1;
    *(is_coll ? &t->coll_bytes : &t->bytes) += bytes;
    job->procs[from].messages++;
    job->procs[from].bytes += bytes;
    if (job->config.has_matrix)
        count_pair(job, from, to, bytes, is_coll);
}

double xy_vjob_end(const xy_vjob_t *job)
{
    double end = 0;

    for (int32_t i = 0; i < job->known; i++)
        end = fmax(end, job->procs[i].end);
    return end;
}

void xy_vjob_proc(const xy_vjob_t *job, int32_t proc, xy_vjob_proc_t *result)
{
    const job_proc_t *p = &job->procs[proc];
    double end = p->state == JOB_FINISHED ? p->end : p->now;

    *result = (xy_vjob_proc_t){.end = end,
                               .compute = p->compute,
                               .slept = p->slept,
                               .communication = p->communication,
                               .messages = p->messages,
                               .bytes = p->bytes,
                               .is_waiting = p->state != JOB_FINISHED,
                               .line = p->line};
    for (int32_t t = p->first_thread; t >= 0; t = job->procs[t].next_thread) {
        result->compute += job->procs[t].compute;
        result->communication += job->procs[t].communication;
    }
    result->idle = fmax(0, end - p->absent - result->compute - result->communication);
}

void xy_vjob_totals(const xy_vjob_t *job, xy_vjob_totals_t *totals)
{
    *totals = job->totals;
}

static int by_receiver(const void *a, const void *b)
{
    const xy_vjob_pair_t *x = a, *y = b;

    return (x->to > y->to) - (x->to < y->to);
}

xy_status_t xy_vjob_matrix(const xy_vjob_t *job, xy_vec_t *pairs)
{
    for (int32_t i = 0; i < job->known; i++) {
        const xy_hash_t *of = &job->procs[i].pairs;
        size_t first = pairs->count;

        for (size_t k = 0; k < of->capacity; k++)
            if (of->slots[k].value != NULL && xy_vec_append(pairs, of->slots[k].value) != XY_OK)
                return xy_fail_memory("counting messages");
        if (pairs->count > first)
            qsort(&XY_VEC_AT(pairs, xy_vjob_pair_t, first), pairs->count - first,
                  sizeof(xy_vjob_pair_t), by_receiver);
    }
    return XY_OK;
}
