/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the pieces of direct collectives and the words between their cores cost, by what was
 * measured of collectives of two processes; and copies inside a process, of any library.
 */
#include "sim/job_internal.h"

#include "coll/coll.h"

/* What a core needs to copy so many bytes that the model's receiver copies once: what it says
 * beyond a message of no bytes. Small messages are copied twice and lie in other memory in between,
 * so of them the rate of the first larger ones counts. */
static double model_copy(const xy_message_model_t *model, double eager, double bytes)
{
    double least = xy_message_value(model, NULL, XY_MESSAGE_BLOCKING, 0).seconds;
    double size = fmax(bytes, 1.5 * eager);
    double seconds = xy_message_value(model, NULL, XY_MESSAGE_BLOCKING, size).seconds - least;

    return size > 0 ? fmax(0, seconds) * (bytes / size) : 0;
}

double job_way_copy(const xy_vjob_t *job, uint64_t bytes, bool is_same)
{
    const xy_message_model_t *model = job->copy_model;
    double eager = (double)job->costs.eager;

    if (is_same && job->core_model != NULL)
        model = job->core_model;
    if (model == NULL)
        return job->costs.copy > 0 ? (double)bytes / job->costs.copy : 0;
    if (is_same && job->core_model == NULL && model->copy > 0)
        return model->copy * (double)bytes / XY_MESSAGE_BCAST;
    return model_copy(model, model->eager > 0 ? model->eager : eager, (double)bytes);
}

/* A call of a collective of another library, beside its messages. Broadcasts of two processes, one
 * after the other, are a stream of messages; where that was not measured, a barrier is one message
 * each way at once, or two of them: half a message at most. */
static double find_call(const xy_message_model_t *m)
{
    double least = xy_message_value(m, NULL, XY_MESSAGE_BLOCKING, 0).seconds;
    double gap = job_way_gap(m, XY_MESSAGE_SMALL);

    if (m->small_bcast > 0 && gap > 0)
        return fmax(0, m->small_bcast - gap);
    return m->barrier > 0 ? fmin(fmax(0, m->barrier - least), least / 2) : 0;
}

/* A word of the two barriers around a direct reduction. Each core comes to both, reduces a half of
 * two vectors, block by block, and writes it twice. */
static double find_sum_word(const xy_vjob_t *job)
{
    const uint64_t half = XY_MESSAGE_BCAST / 2;
    int64_t block = xy_direct_block_elements(XY_MESSAGE_BCAST, sizeof(double), 2, false);
    double pieces = ceil((double)half / (double)(block * (int64_t)sizeof(double)));
    double there = job_way_copy(job, half, false), here = job_way_copy(job, half, true);

    return (job->copy_model->allreduce - (2 + pieces) * job->costs.task -
            (1 + XY_JOB_READ_ONLY) * there - here) /
           2;
}

/* What direct collectives of two cores were measured to take, beside coming there and copying. In a
 * barrier both cores write to each other at once and work all the time; in one with work they also
 * offer it to each other, which counts with the two barriers around it; to the first, to the piece
 * and to the second a core comes. A small broadcast has two words, to which a core comes, and a
 * piece. In a small allreduce each core comes twice, leaves its vector, and reads the other's. */
static void find_words(xy_vjob_t *job)
{
    const xy_message_model_t *m = job->copy_model;
    double copy = job_way_copy(job, XY_MESSAGE_BCAST, false), task = job->costs.task;

    if (m == NULL)
        return;
    job->line[0] = job->line[1] = fmax(0, m->loggp.latency);
    if (job->library->rules != NULL)
        job->call = find_call(m);
    if (job->library->rules != NULL || !(m->barrier > 0))
        return;
    job->word[JOB_WORD_MEET] = fmax(0, m->barrier - task);
    job->word[JOB_WORD_WORK] = fmax(job->word[JOB_WORD_MEET], (m->bcast - copy - 3 * task) / 2);
    job->word[JOB_WORD_ROOT] = job->word[JOB_WORD_MEET];
    if (m->small_bcast > 0)
        job->word[JOB_WORD_ROOT] =
            fmax(task, m->small_bcast - 2 * task - job_way_copy(job, XY_MESSAGE_SMALL, false));
    if (m->small_allreduce > 0)
        job->line[1] = fmax(job->line[0], m->small_allreduce - m->barrier - 2 * task);
    job->word[JOB_WORD_SUM] = fmax(job->word[JOB_WORD_WORK], find_sum_word(job));
}

/* The more processes share a core, the less of what each of them needs for a message is in its
 * first cache: measured with two and with XY_MESSAGE_CROWD, and in between by the logarithm. */
static void find_crowds(xy_vjob_t *job)
{
    for (int c = 0; c < job->core_count; c++) {
        double procs = fmax(job->cores[c].procs, 2);

        job->cores[c].crowd = fmin(log2(procs / 2) / log2((double)XY_MESSAGE_CROWD / 2), 1);
    }
}

/* A switch between processes of a core: what a message between two of them takes beyond one of a
 * process to itself, both nonblocking; where that was not measured, a third of a message. */
static double find_swap(const xy_message_model_t *m)
{
    double least = xy_message_value(m, NULL, XY_MESSAGE_BLOCKING, 0).seconds;
    double self = xy_message_self(m, 1);

    if (!(self > 0) || !xy_message_has(m, NULL, XY_MESSAGE_NONBLOCKING))
        return least / 3;
    self = xy_message_value(m, NULL, XY_MESSAGE_NONBLOCKING, 1).seconds - self;
    return fmin(fmax(self, least / 10), least / 2);
}

/* Two processes of a core: to come to a direct collective is what a barrier takes beside the
 * switch, or work like a send. */
void job_way_find_copy(xy_vjob_t *job)
{
    int32_t host = job->procs[0].host;
    double least;

    if (job->config.store == NULL)
        return;
    job->copy_model = job_way_model(job, host, host, false);
    job->core_model = job_way_model(job, host, host, true);
    if (job->core_model != NULL) {
        least = xy_message_value(job->core_model, NULL, XY_MESSAGE_BLOCKING, 0).seconds;
        job->costs.swap = fmin(job->costs.swap, find_swap(job->core_model));
        if (!(job->costs.task > 0))
            job->costs.task = fmax(least / 6, job->core_model->barrier / 2 - job->costs.swap);
        find_crowds(job);
    }
    find_words(job);
}

void job_way_word(const xy_vjob_t *job, xy_vmsg_t *m, job_word_t word)
{
    if (!(job->word[word] > 0) || m->way == NULL || m->way->path != NULL || m->way->is_same)
        return;
    m->send_busy = m->receive_busy = job->word[word] / 2;
    m->extra = -m->way->latency;
    m->cross = 0;
}

void xy_vjob_costs_default(xy_vjob_costs_t *costs)
{
    *costs = (xy_vjob_costs_t){
        .send = 100e-9,
        .receive = 100e-9,
        .latency = 100e-9,
        .copy = 8e9,
        .reduce = 16e9,
        .test = 1e-6,
        .swap = 100e-9,
        .eager = 4096,
        .eager_net = 65536,
        .packet = 65536,
        .socket = 1 << 20,
    };
}
