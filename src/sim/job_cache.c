/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Caches: what a copy takes more when its data has left the cache of its core since it was last
 * copied. A core's cache keeps what it touched last. Between two copies of the same data, a message
 * from one process to another or a step of a collective, the core has touched so many bytes of
 * other data; beyond the size of its cache more and more of it must come from farther away, at the
 * rate that two processes of one core have with messages that no cache of theirs holds.
 */
#include "sim/job_internal.h"

/* Smaller ones are not followed: they take latencies, not bandwidth. */
enum { LEAST = 4096 };

/* Of the first core; the cache that it has for itself. */
static double cache_of(const xy_vjob_t *job)
{
    const xy_machine_t *m = job->config.machine;
    xy_obj_t above;

    if (m->leaves == 0)
        return 0;
    above = xy_machine_above(m, m->leaf[0], XY_OBJ_L2);
    return above != XY_OBJ_NONE ? (double)m->bytes[above] : 0;
}

void job_cache_init(xy_vjob_t *job)
{
    const xy_message_model_t *m = job->core_model;
    double size = cache_of(job), most, least;

    if (m == NULL || !(size > 0) || m->count == 0)
        return;
    /* Source and target of both ways. */
    most = m->samples[m->count - 1].bytes;
    if (4 * most < 2 * size)
        return;
    least = xy_message_value(m, NULL, XY_MESSAGE_BLOCKING, 0).seconds;
    job->cache = size;
    job->far = (xy_message_value(m, NULL, XY_MESSAGE_BLOCKING, most).seconds - least) / most;
}

double job_cache_copy(xy_vjob_t *job, int32_t core, uint64_t bytes, bool is_shared, double seconds,
                      double *last)
{
    job_core_t *c = &job->cores[core];
    double far = job->far * (double)bytes, between, part;

    if (!(job->cache > 0) || bytes < LEAST)
        return seconds;
    between = *last > 0 ? c->touched - *last : 0;
    c->touched += (is_shared ? 1 : 2) * (double)bytes;
    *last = c->touched;
    part = fmin(fmax((between - job->cache) / (2 * job->cache), 0), 1);
    return far > seconds ? seconds + part * (far - seconds) : seconds;
}

double job_cache_message(xy_vjob_t *job, const xy_vmsg_t *m, double seconds)
{
    uint64_t key = ((uint64_t)m->from << 32 | (uint32_t)m->to) + 1;
    double *last;

    if (!(job->cache > 0) || m->bytes < LEAST)
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
