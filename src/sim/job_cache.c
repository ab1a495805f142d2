/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Caches: what a copy takes more when its data has left the caches of its core since it was last
 * copied. Between two copies of the same data, a message from one process to another or a step of a
 * collective, the core has touched so many bytes of other data. Two processes of one core that send
 * each other messages of n bytes touch 4 n bytes, source and target of both ways, before they come
 * back to the same: so a copy takes, by its bytes, at least what their messages of a quarter of
 * those bytes take.
 *
 * Cores that leave their own caches at the same time share what is behind them. That was measured
 * with many processes on each of two cores, all of which send each other messages of
 * XY_MESSAGE_BULK bytes.
 *
 * Long copies find most of their lines fetched before they come to them. A short block does not:
 * its first lines, and the place of its page, come when they are asked for. That was measured with
 * blocks of XY_MESSAGE_BCAST bytes in no order.
 */
#include "sim/job_internal.h"

/* Smaller ones are not followed: what they take more is a part of what a process takes more that
 * gets the core among many. */
enum { LEAST = 256 };
/* Seconds per byte were measured of larger ones. */
enum { RATE_LEAST = 4096 };

/* Seconds per byte after so many bytes; those of messages that are eager, and copied twice, say
 * nothing. */
static double far_of(const xy_vjob_t *job, double between)
{
    const xy_message_model_t *m = job->core_model;
    double size = fmin(between / 4, m->samples[m->count - 1].bytes), least;

    if (size <= m->eager || size < RATE_LEAST)
        return 0;
    least = xy_message_value(m, NULL, XY_MESSAGE_BLOCKING, 0).seconds;
    return (xy_message_value(m, NULL, XY_MESSAGE_BLOCKING, size).seconds - least) / size;
}

/* Bytes that a core touches between two copies of the same, of so many processes in pairs. */
static double touched_by(double procs)
{
    return procs / 2 * 4 * XY_MESSAGE_BULK;
}

/* The ratio of the time of such a message beyond one of no bytes to its time alone; 1: not
 * measured. */
static double find_both(const xy_vjob_t *job, const xy_crowd_t *crowd, double procs)
{
    const xy_message_model_t *m = job->core_model;
    double least = xy_message_value(m, NULL, XY_MESSAGE_BLOCKING, 0).seconds;
    double alone = far_of(job, touched_by(procs)) * XY_MESSAGE_BULK;

    if (!(crowd->bulk > 0) || !(alone > 0))
        return 1;
    return fmax(1, (crowd->bulk - fmax(least, crowd->message)) / alone);
}

/* Bytes that a core touches between two copies of the same, where each of so many processes copies
 * so many blocks. */
static double touched_by_blocks(double procs, double blocks)
{
    return procs * 2 * blocks * XY_MESSAGE_BCAST;
}

/* How much longer where other cores do the same: in between by the logarithm of the bytes. */
static double both_of(const xy_vjob_t *job, double between)
{
    double few = touched_by(2), crowd = touched_by(XY_MESSAGE_CROWD);

    if (!(between > few))
        return 1;
    return 1 + (job->both[0] - 1) * job_part(between, few, crowd) +
           (job->both[1] - job->both[0]) * job_part(between, crowd, touched_by(XY_MESSAGE_THRONG));
}

/* The extra time of a block beyond that of as many bytes of a long copy. */
static double find_begin(const xy_vjob_t *job, double block, double between)
{
    if (!(block > 0))
        return 0;
    return fmax(0, block - far_of(job, between) * both_of(job, between) * XY_MESSAGE_BCAST);
}

/* Nothing before the second cache; where only many blocks were measured, nothing there either. */
static void find_begins(const xy_vjob_t *job, double block, double most, job_begin_t b[JOB_BEGINS])
{
    const xy_crowd_t *crowd = &job->core_model->crowd;
    const double touched[] = {touched_by_blocks(XY_MESSAGE_CROWD, XY_MESSAGE_FEW),
                              touched_by_blocks(XY_MESSAGE_CROWD, XY_MESSAGE_SOME),
                              touched_by_blocks(XY_MESSAGE_CROWD, XY_MESSAGE_BLOCKS),
                              touched_by_blocks(XY_MESSAGE_THRONG, XY_MESSAGE_BLOCKS)};
    const double seconds[] = {crowd->few, crowd->some, block, most};

    b[0] = (job_begin_t){touched[0] / 4, 0};
    for (int k = 1; k < JOB_BEGINS; k++)
        b[k] = (job_begin_t){touched[k - 1], find_begin(job, seconds[k - 1], touched[k - 1])};
    if (!(crowd->some > 0))
        b[2].seconds = (b[1].seconds + b[3].seconds) / 2;
    b[4].seconds = fmax(b[3].seconds, b[4].seconds);
}

/* In between by the logarithm of the bytes that were touched. */
static double begin_of(const job_begin_t b[JOB_BEGINS], double between)
{
    int k = 1;

    if (!(between > b[0].touched))
        return 0;
    while (k + 1 < JOB_BEGINS && between > b[k].touched)
        k++;
    return b[k - 1].seconds +
           (b[k].seconds - b[k - 1].seconds) * job_part(between, b[k - 1].touched, b[k].touched);
}

static double or_else(double seconds, double other)
{
    return seconds > 0 ? seconds : other;
}

void job_cache_find(xy_vjob_t *job)
{
    const xy_crowd_t *crowd, *throng;
    int cores = 0;

    job->both[0] = job->both[1] = 1;
    if (job->core_model == NULL)
        return;
    crowd = &job->core_model->crowd;
    throng = &job->core_model->throng;
    job->both[0] = find_both(job, crowd, XY_MESSAGE_CROWD);
    job->both[1] = fmax(job->both[0], find_both(job, throng, XY_MESSAGE_THRONG));
    find_begins(job, crowd->block, throng->block, job->begin[0]);
    find_begins(job, or_else(crowd->ordered, crowd->block), or_else(throng->ordered, throng->block),
                job->begin[1]);
    for (int c = 0; c < job->core_count; c++)
        cores += job->host_of[c] == job->procs[0].host && job->cores[c].procs > 0;
    if (cores < 2)
        job->both[0] = job->both[1] = 1;
}

/* Does another core of the node work, or has it just, when one begins to copy for so long? */
static bool has_both(const xy_vjob_t *job, int32_t core, double start, double seconds)
{
    for (int c = 0; c < job->core_count; c++)
        if (c != core && job->host_of[c] == job->host_of[core] &&
            job->cores[c].busy > start - seconds)
            return true;
    return false;
}

/* A copy of data that was last touched so many bytes ago. */
static double away_of(const xy_vjob_t *job, const job_copy_t *copy, double between)
{
    double far = far_of(job, between) * (double)copy->bytes;

    if (job->both[1] > 1 && has_both(job, copy->core, copy->start, 3 * far))
        far *= both_of(job, between);
    return far + copy->blocks * begin_of(job->begin[copy->is_ordered], between);
}

double job_cache_copy(xy_vjob_t *job, const job_copy_t *copy, double seconds, double *last)
{
    job_core_t *c = &job->cores[copy->core];
    double between, away;

    if (job->core_model == NULL || copy->bytes < (copy->is_step ? RATE_LEAST : LEAST))
        return seconds;
    between = *last > 0 ? c->touched - *last : 0;
    c->touched += (copy->is_shared ? 1 : 2) * (double)copy->bytes;
    *last = c->touched;
    away = away_of(job, copy, between);
    /* A source that was copied just before is still there: half of the bytes come from afar. */
    return fmax(seconds, copy->is_shared ? (seconds + away) / 2 : away);
}

double job_cache_blocks(uint64_t bytes)
{
    if (bytes < LEAST || bytes >= XY_MESSAGE_BULK)
        return 0;
    return fmin((double)bytes / XY_MESSAGE_BCAST, 1);
}

/* Inside a core: it was copied into memory of its own, and is copied once more from there. */
static double copied_again(xy_vjob_t *job, const xy_vmsg_t *m, double now)
{
    job_core_t *core = &job->cores[job->procs[m->to].core];
    const job_copy_t copy = {.core = job->procs[m->to].core,
                             .bytes = m->bytes,
                             .blocks = job_cache_blocks(m->bytes),
                             .start = now};
    double between = core->touched - m->left;

    core->touched += (double)m->bytes;
    return fmax(0, away_of(job, &copy, between) - job_way_copy(job, m->bytes, true));
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
        return copied_again(job, m, now);
    if (job->cores[job->procs[m->to].core].procs == 1 || !(waited > 0) || !(each > 0))
        return 0;
    many = waited / each;
    return many < 2 ? 0 : far_of(job, 4 * many * (double)m->bytes) * (double)m->bytes;
}

/* An eager message is work of both sides, and what it takes more is the receiver's. Most of that
 * work is none with the data, or waits for lines of another core, which brings no line sooner that
 * has left the caches. */
double job_cache_eager(xy_vjob_t *job, const xy_vmsg_t *m, double start)
{
    double data = m->send_busy + m->receive_busy - m->way->send - m->way->receive;

    if (m->bytes < LEAST || m->way->path != NULL)
        return m->receive_busy;
    if (m->way->is_same)
        data = fmin(data, job_way_copy(job, m->bytes, true) + m->crowd);
    else
        data = fmin(data - m->crowd, job_way_copy(job, m->bytes, true));
    return m->receive_busy + fmax(0, job_cache_message(job, m, start, data) - data);
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

double job_cache_message(xy_vjob_t *job, const xy_vmsg_t *m, double start, double seconds)
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
                      .bytes = m->bytes,
                      .blocks = job_cache_blocks(m->bytes),
                      .start = start},
        seconds, last);
}
