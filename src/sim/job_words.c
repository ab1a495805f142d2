/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The costs of the pieces of direct collectives and of the words between their cores, by measured
 * collectives of two processes; and copies inside a process, of any library.
 */
#include "sim/job_internal.h"

#include "coll/coll.h"

/* The time of a core to handle so many bytes that the model's receiver copies once: the model's
 * time beyond a message of no bytes. Small messages are copied twice and lie in
 * other memory in between; `small` is the time of XY_MESSAGE_BCAST bytes that are in the core's own
 * caches, and between them and larger ones it is a straight line. 0: the rate of larger ones
 * counts. */
static double model_bytes(const xy_message_model_t *model, double eager, double bytes, double small)
{
    double least = xy_message_value(model, NULL, XY_MESSAGE_BLOCKING, 0).seconds;
    double size = fmax(bytes, 1.5 * eager), part = bytes / size;
    double seconds = xy_message_value(model, NULL, XY_MESSAGE_BLOCKING, size).seconds - least;

    seconds = fmax(0, seconds);
    if (!(small > 0) || !(size > XY_MESSAGE_BCAST) || !(bytes < size))
        return seconds * part;
    if (bytes <= XY_MESSAGE_BCAST)
        return fmin(seconds * part, small * bytes / XY_MESSAGE_BCAST);
    small = fmin(small, seconds * XY_MESSAGE_BCAST / size);
    return small + (seconds - small) * (bytes - XY_MESSAGE_BCAST) / (size - XY_MESSAGE_BCAST);
}

static const xy_message_model_t *copy_model(const xy_vjob_t *job, bool is_same)
{
    return is_same && job->core_model != NULL ? job->core_model : job->copy_model;
}

static double eager_of(const xy_vjob_t *job, const xy_message_model_t *model)
{
    return model->eager > 0 ? model->eager : (double)job->costs.eager;
}

double job_way_copy(const xy_vjob_t *job, uint64_t bytes, bool is_same)
{
    const xy_message_model_t *model = copy_model(job, is_same);

    if (model == NULL)
        return job->costs.copy > 0 ? (double)bytes / job->costs.copy : 0;
    if (is_same && job->core_model == NULL && model->copy > 0)
        return model->copy * (double)bytes / XY_MESSAGE_BCAST;
    return model_bytes(model, eager_of(job, model), (double)bytes, 0);
}

/* A large message that is waited for is asked for and answered, which a copy is not. */
double job_way_rooted(const xy_vjob_t *job, uint64_t bytes, bool is_same)
{
    const xy_message_model_t *model = copy_model(job, is_same);
    double copy = job_way_copy(job, bytes, is_same), gap;

    if (model == NULL || (double)bytes <= eager_of(job, model))
        return copy;
    gap = job_way_gap(model, bytes) - model->loggp.overhead;
    return gap > 0 ? fmin(copy, gap) : copy;
}

double job_way_read(const xy_vjob_t *job, uint64_t bytes, bool is_same)
{
    const xy_message_model_t *model = copy_model(job, is_same);

    if (model == NULL || job->copy_model == NULL)
        return job_way_copy(job, bytes, is_same);
    return model_bytes(model, eager_of(job, model), (double)bytes,
                       is_same ? job->copy_model->reduce : 0);
}

/* Find the times of collective calls of another library beside their messages. Those of two
 * processes, one after the other, are a stream of messages, and an allreduce exchanges. Where no
 * broadcast was measured, a barrier is one message each way at once, or two of them: half a message
 * at most. */
static void find_calls(xy_vjob_t *job)
{
    const xy_message_model_t *m = job->copy_model;
    double least, gap, exchange;

    if (m == NULL)
        return;
    least = xy_message_value(m, NULL, XY_MESSAGE_BLOCKING, 0).seconds;
    gap = job_way_gap(m, XY_MESSAGE_SMALL);
    exchange = fmax(xy_message_curve(m, XY_MESSAGE_EXCHANGE, XY_MESSAGE_SMALL), least);
    const struct {
        xy_collective_t of;
        double measured, messages;
    } calls[] = {{XY_COLL_BCAST, m->small_bcast, gap},
                 {XY_COLL_REDUCE, m->small_reduce, gap},
                 {XY_COLL_SCATTER, m->small_scatter, gap},
                 {XY_COLL_GATHER, m->small_gather, gap},
                 {XY_COLL_ALLREDUCE, m->small_allreduce, exchange}};
    double any = m->barrier > 0 ? fmin(fmax(0, m->barrier - least), least / 2) : 0;

    if (m->small_bcast > 0 && gap > 0)
        any = fmax(0, m->small_bcast - gap);
    for (int c = 0; c < XY_COLL_COUNT; c++)
        job->call[c] = any;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (calls[i].measured > 0 && calls[i].messages > 0)
            job->call[calls[i].of] = fmax(0, calls[i].measured - calls[i].messages);
}

/* A word of the two barriers around a direct reduction. Each core comes to one, reduces a half of
 * two vectors, block by block, and writes it twice. */
static double find_sum_word(const xy_vjob_t *job)
{
    const uint64_t half = XY_MESSAGE_BCAST / 2;
    int64_t block = xy_direct_block_elements(XY_MESSAGE_BCAST, sizeof(double), 2, false);
    double pieces = ceil((double)half / (double)(block * (int64_t)sizeof(double)));
    double copies = job_way_copy(job, half, false) + job_way_copy(job, half, true);

    return (job->copy_model->allreduce - job->costs.task - pieces * job->piece - copies -
            job_way_read(job, half, false)) /
           2;
}

/* One more line of what another core has just written, behind the first: what messages of
 * XY_MESSAGE_BCAST bytes, written by one core and read by the other, take more for their bytes than
 * inside a core. Where that cannot be told, as long as the first. */
static double find_line(const xy_vjob_t *job, double first)
{
    const xy_message_model_t *models[2] = {job->copy_model, job->core_model};
    double more[2], lines = (double)(XY_MESSAGE_BCAST - XY_MESSAGE_SMALL) / XY_DIRECT_LINE;

    for (int i = 0; i < 2; i++) {
        if (models[i] == NULL || models[i]->eager < XY_MESSAGE_BCAST)
            return first;
        more[i] = xy_message_value(models[i], NULL, XY_MESSAGE_BLOCKING, XY_MESSAGE_BCAST).seconds -
                  xy_message_value(models[i], NULL, XY_MESSAGE_BLOCKING, XY_MESSAGE_SMALL).seconds;
    }
    return fmin(fmax(0, (more[0] - more[1]) / lines), first);
}

/* Find the costs of words from the measured direct collectives of two cores, without coming there
 * and copying. In a barrier both cores write to each other at once and work all the time. A small
 * broadcast has two words, to which a core comes, and a piece. In a small allreduce each core
 * comes, leaves its vector, and reads the other's: two pieces. */
static void find_words(xy_vjob_t *job)
{
    const xy_message_model_t *m = job->copy_model;
    double task = job->costs.task;

    if (m == NULL)
        return;
    job->line[1] = fmax(0, m->loggp.latency);
    job->line[0] = find_line(job, job->line[1]);
    if (job->library->rules != NULL || !(m->barrier > 0))
        return;
    job->word[JOB_WORD_MEET] = fmax(0, m->barrier - task);
    job->word[JOB_WORD_ROOT] = job->word[JOB_WORD_MEET];
    if (m->small_bcast > 0)
        job->word[JOB_WORD_ROOT] = fmax(task, m->small_bcast - task - job->piece - job->pass -
                                                  job_way_copy(job, XY_MESSAGE_SMALL, false));
    if (m->small_bcast > 0 && m->small_bcast_back > 0)
        job->far_root =
            fmax(0, m->small_bcast_back - m->small_bcast -
                        xy_message_value(m, NULL, XY_MESSAGE_BLOCKING, XY_MESSAGE_SMALL).seconds);
    if (m->small_allreduce > 0)
        job->line[1] = fmax(0, m->small_allreduce - m->barrier - 2 * job->piece);
    job->word[JOB_WORD_SUM] = fmax(job->word[JOB_WORD_MEET], find_sum_word(job));
}

/* A piece of work of a direct collective, beside its bytes. In a small allreduce of two processes
 * of a core, beyond a barrier, both leave a vector and take the sum; who comes last begins the
 * work, which is like coming once more. */
static double find_piece(const xy_vjob_t *job)
{
    const xy_message_model_t *m = job->core_model;
    double task = job->costs.task;

    if (!(m->small_allreduce > 0) || !(m->barrier > 0))
        return task;
    return fmin(task, fmax(0, m->small_allreduce - m->barrier - task) / 4);
}

/* A small piece of work of a core. */
static double piece_of(const xy_vjob_t *job)
{
    return job->piece + job_way_copy(job, XY_MESSAGE_SMALL, true);
}

/* To come to a small collective with a root takes longer than to a barrier. Of two processes of a
 * core the root comes and leaves its data, the other one comes and takes it in a piece of work;
 * none waits for the other for long, so switches do not count. */
static double find_pass(const xy_vjob_t *job)
{
    const xy_message_model_t *m = job->core_model;

    if (!(m->small_bcast > 0) || !(m->barrier > 0))
        return 0;
    return fmax(0, m->small_bcast - 2 * job->costs.task - piece_of(job)) / 2;
}

/* One more block in a piece of work. In an alltoall of XY_MESSAGE_CROWD processes on each of two
 * cores, each of them takes those of all between two barriers, in pieces of XY_DIRECT_TILE, half of
 * them from the other core. */
static double find_block(const xy_vjob_t *job)
{
    const double procs = XY_MESSAGE_CROWD, all = 2 * procs * procs, pieces = all / XY_DIRECT_TILE;
    double meet = 3 * job->word[JOB_WORD_MEET] + procs * (job->costs.task + job->costs.swap);
    double copy =
        (job_way_copy(job, XY_MESSAGE_SMALL, true) + job_way_copy(job, XY_MESSAGE_SMALL, false)) /
        2;

    if (!(job->core_model->alltoall > 0))
        return 0;
    return fmax(0, job->core_model->alltoall - meet - pieces * job->piece - all * copy) /
           (all - pieces);
}

/* Two processes of a core: to come to a direct collective is what a barrier takes beside the
 * switch, or work like a send. */
void job_way_find_copy(xy_vjob_t *job)
{
    int32_t host = job->procs[0].host;
    double least;

    job->piece = job->costs.task;
    if (job->config.store == NULL)
        return;
    job->copy_model = job_way_model(job, host, host, false);
    job->core_model = job_way_model(job, host, host, true);
    if (job->core_model != NULL) {
        least = xy_message_value(job->core_model, NULL, XY_MESSAGE_BLOCKING, 0).seconds;
        job->costs.swap = fmin(job->costs.swap, least / 3);
        if (!(job->costs.task > 0))
            job->costs.task = fmax(least / 6, (job->core_model->barrier - job->costs.swap) / 2);
        job->piece = find_piece(job);
        job->pass = job->library->rules == NULL ? find_pass(job) : 0;
    }
    find_words(job);
    if (job->library->rules != NULL)
        find_calls(job);
    else if (job->core_model != NULL && job->copy_model != NULL)
        job->block = find_block(job);
}

double xy_vjob_code_pace(const xy_vjob_t *job, int32_t proc)
{
    const job_proc_t *p = &job->procs[proc];
    const xy_message_model_t *model = NULL;
    bool has_others = false;

    for (int c = 0; c < job->core_count; c++)
        has_others =
            has_others || (c != p->core && job->host_of[c] == p->host && job->cores[c].procs > 0);
    if (has_others && job->config.store != NULL)
        model = job_way_model(job, p->host, p->host, false);
    return model != NULL && model->compute > 0 ? model->compute : 1;
}

void job_way_word(const xy_vjob_t *job, xy_vmsg_t *m, job_word_t word)
{
    if (!(job->word[word] > 0) || m->way == NULL || m->way->path != NULL || m->way->is_same)
        return;
    m->send_busy = m->receive_busy = job->word[word] / 2;
    m->extra = (word == JOB_WORD_ROOT ? job->far_root : 0) - m->way->latency;
    m->cross = 0;
}
