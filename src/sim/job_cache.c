/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Caches: what a copy takes more when its data has left the caches of its core since it was last
 * copied. Between two copies of the same data, a message from one process to another or a step of a
 * collective, the core has touched so many bytes of other data. Two processes of one core that send
 * each other messages of n bytes touch 4 n bytes, source and target of both ways, before they come
 * back to the same: so a copy takes, by its bytes, at least what their messages of a quarter of
 * those bytes take.
 */
#include "sim/job_internal.h"

/* Smaller ones are not followed: they take latencies, not bandwidth. */
enum { LEAST = 4096 };

/* Seconds per byte after so many bytes; those of messages that are eager, and copied twice, say
 * nothing. */
static double far_of(const xy_vjob_t *job, double between)
{
    const xy_message_model_t *m = job->core_model;
    double size = fmin(between / 4, m->samples[m->count - 1].bytes), least;

    if (size <= m->eager || size < LEAST)
        return 0;
    least = xy_message_value(m, NULL, XY_MESSAGE_BLOCKING, 0).seconds;
    return (xy_message_value(m, NULL, XY_MESSAGE_BLOCKING, size).seconds - least) / size;
}

double job_cache_copy(xy_vjob_t *job, int32_t core, uint64_t bytes, bool is_shared, double seconds,
                      double *last)
{
    job_core_t *c = &job->cores[core];
    double between;

    if (job->core_model == NULL || bytes < LEAST)
        return seconds;
    between = *last > 0 ? c->touched - *last : 0;
    c->touched += (is_shared ? 1 : 2) * (double)bytes;
    *last = c->touched;
    return fmax(seconds, far_of(job, between) * (double)bytes);
}

/* While it waited others came, as far apart as the receiver needs for one: they lie in front of it,
 * each in memory of its own. Only where another process of the core takes them off the line to it:
 * else their sender waits. */
double job_cache_late(const xy_vjob_t *job, const xy_vmsg_t *m, double now)
{
    double waited = now - m->data_at, each = m->receive_busy + m->late, many;

    if (job->core_model == NULL || m->way->path != NULL || !m->is_eager || m->bytes < LEAST ||
        job->cores[job->procs[m->to].core].procs == 1 || !(waited > 0) || !(each > 0))
        return 0;
    many = waited / each;
    return many < 2 ? 0 : far_of(job, 4 * many * (double)m->bytes) * (double)m->bytes;
}

double job_cache_message(xy_vjob_t *job, const xy_vmsg_t *m, double seconds)
{
    uint64_t key = ((uint64_t)m->from << 32 | (uint32_t)m->to) + 1;
    double *last;

    if (job->core_model == NULL || m->bytes < LEAST)
        return seconds;
    last = xy_hash_get(&job->streams, key);
    if (last == NULL) {
        last = xy_arena_alloc(job->arena, sizeof(*last));
        if (last == NULL || xy_hash_set(&job->streams, key, last) != XY_OK) {
            job_fail(job, xy_fail_memory("simulating a job"));
            return seconds;
        }
    }
    return job_cache_copy(job, job->procs[m->to].core, m->bytes, false, seconds, last);
}
