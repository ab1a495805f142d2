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

/* Smaller ones are not followed: what they take more is a part of what a process takes more that
 * gets the core among many. */
enum { LEAST = 65 };
/* Seconds per byte were measured of larger ones. */
enum { RATE_LEAST = 4096 };

/* Seconds per byte after so many bytes; those of small messages say nothing. */
static double far_of(const xy_vjob_t *job, double between)
{
    const xy_message_model_t *m = job->core_model;
    double size = fmin(between / 4, m->samples[m->count - 1].bytes), least;

    if (size < RATE_LEAST)
        return 0;
    least = xy_message_value(m, NULL, XY_MESSAGE_BLOCKING, 0).seconds;
    return (xy_message_value(m, NULL, XY_MESSAGE_BLOCKING, size).seconds - least) / size;
}

/* A copy of data that was last touched so many bytes ago. */
static double away_of(const xy_vjob_t *job, uint64_t bytes, double between)
{
    return far_of(job, between) * (double)bytes;
}

double job_cache_copy(xy_vjob_t *job, const job_copy_t *copy, double seconds, double *last)
{
    job_core_t *c = &job->cores[copy->core];
    double between, away;

    if (job->core_model == NULL || copy->bytes < LEAST)
        return seconds;
    between = *last > 0 ? c->touched - *last : 0;
    c->touched += (copy->is_shared ? 1 : 2) * (double)copy->bytes;
    *last = c->touched;
    away = away_of(job, copy->bytes, between);
    /* A source that was copied just before is still there. What is written is fetched and written
     * back: two thirds of what moves. */
    return fmax(seconds, copy->is_shared ? (seconds + 2 * away) / 3 : away);
}

/* Inside a core: it was copied into memory of its own, and is copied once more from there. */
static double copied_again(xy_vjob_t *job, const xy_vmsg_t *m)
{
    job_core_t *core = &job->cores[job->procs[m->to].core];
    double between = core->touched - m->left;

    core->touched += (double)m->bytes;
    return fmax(0, away_of(job, m->bytes, between) - job_way_copy(job, m->bytes, true));
}

/* While it waited others came, as far apart as the receiver needs for one: they lie in front of it,
 * each in memory of its own. Only where another process of the core takes them off the line to it:
 * else their sender waits. */
double job_cache_late(xy_vjob_t *job, const xy_vmsg_t *m, double now)
{
    double waited = now - m->data_at, each = m->receive_busy + m->late, many;

    if (job->core_model == NULL || m->way == NULL || m->way->path != NULL || !m->is_eager ||
        m->bytes < LEAST)
        return 0;
    if (m->way->is_same)
        return copied_again(job, m);
    if (job->cores[job->procs[m->to].core].procs == 1 || !(waited > 0) || !(each > 0))
        return 0;
    many = waited / each;
    return many < 2 ? 0 : far_of(job, 4 * many * (double)m->bytes) * (double)m->bytes;
}

/* An eager message is work of both sides, and what it takes more is the receiver's. Most of that
 * work is none with the data, or waits for lines of another core, which brings no line sooner that
 * has left the caches. */
double job_cache_eager(xy_vjob_t *job, const xy_vmsg_t *m)
{
    double data = m->send_busy + m->receive_busy - m->way->send - m->way->receive;

    if (m->bytes < LEAST || m->way->path != NULL)
        return m->receive_busy;
    data = fmin(data, job_way_copy(job, m->bytes, true));
    return m->receive_busy + fmax(0, job_cache_message(job, m, data) - data);
}

/* Is the source of a message that is copied once the one that the core has read last? A root that
 * sends one buffer to many: all of them read the same. */
static bool is_read_again(job_core_t *core, const xy_vmsg_t *m)
{
    bool is_read = !m->is_eager || m->way->is_same;
    bool is_again =
        is_read && m->buffer != 0 && core->buffer == m->buffer && core->buffer_of == m->from;

    core->buffer = is_read ? m->buffer : 0;
    core->buffer_of = m->from;
    return is_again;
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
    return job_cache_copy(
        job,
        &(job_copy_t){.core = job->procs[m->to].core,
                      .is_shared = is_read_again(&job->cores[job->procs[m->to].core], m),
                      .bytes = m->bytes},
        seconds, last);
}
