/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The costs of the pieces of direct collectives and of the words between their cores, by measured
 * collectives of two processes; and copies inside a process, of any library.
 */
#include "sim/job_internal.h"

#include "coll/coll.h"

/* The time of a core to handle so many bytes that the model's receiver copies once: the model's
 * time beyond a message of no bytes, times `times`. Small messages are copied twice and lie in
 * other memory in between; `small` is the time of XY_MESSAGE_BCAST bytes that are in the core's own
 * caches, and between them and larger ones it is a straight line. 0: the rate of larger ones
 * counts. */
static double model_bytes(const xy_message_model_t *model, double eager, double bytes, double small,
                          double times)
{
    double least = xy_message_value(model, NULL, XY_MESSAGE_BLOCKING, 0).seconds;
    double size = fmax(bytes, 1.5 * eager), part = bytes / size;
    double seconds = xy_message_value(model, NULL, XY_MESSAGE_BLOCKING, size).seconds - least;

    seconds = fmax(0, seconds) * times;
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
    return model_bytes(model, eager_of(job, model), (double)bytes, is_same ? model->copy : 0, 1);
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

    if (model == NULL)
        return job_way_copy(job, bytes, is_same);
    return model_bytes(model, eager_of(job, model), (double)bytes, is_same ? model->reduce : 0,
                       model->read > 0 ? model->read : 1);
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
 * and copying. In a barrier both cores write to each other at once and work all the time; in one
 * with work they also offer it to each other, which counts with the two barriers around it; to the
 * first a core comes, and does a piece of work. A small broadcast has two words, to which a core
 * comes, and a piece. In a small allreduce each core comes, leaves its vector, and reads the
 * other's: two pieces. */
static void find_words(xy_vjob_t *job)
{
    const xy_message_model_t *m = job->copy_model;
    double copy = job_way_copy(job, XY_MESSAGE_BCAST, false), task = job->costs.task;

    if (m == NULL)
        return;
    job->line[1] = fmax(0, m->loggp.latency);
    job->line[0] = find_line(job, job->line[1]);
    if (job->library->rules != NULL)
        job->call = find_call(m);
    if (job->library->rules != NULL || !(m->barrier > 0))
        return;
    job->word[JOB_WORD_MEET] = fmax(0, m->barrier - task);
    job->word[JOB_WORD_WORK] =
        fmax(job->word[JOB_WORD_MEET], (m->bcast - copy - task - job->piece) / 2);
    job->word[JOB_WORD_ROOT] = job->word[JOB_WORD_MEET];
    if (m->small_bcast > 0)
        job->word[JOB_WORD_ROOT] = fmax(task, m->small_bcast - task - job->piece - job->pass -
                                                  job_way_copy(job, XY_MESSAGE_SMALL, false));
    if (m->small_allreduce > 0)
        job->line[1] = fmax(0, m->small_allreduce - m->barrier - 2 * job->piece);
    job->word[JOB_WORD_SUM] = fmax(job->word[JOB_WORD_MEET], find_sum_word(job));
}

double job_part(double n, double a, double b)
{
    return fmin(fmax(log2(n / a) / log2(b / a), 0), 1);
}

/* The more processes share a core, the less of what each of them needs is in its first cache:
 * measured with two, with XY_MESSAGE_CROWD and with XY_MESSAGE_THRONG. The first few still fit, so
 * in between it is a straight line up to the former, and the logarithm from there on. */
void job_way_crowd(xy_vjob_t *job, int32_t core)
{
    job_core_t *c = &job->cores[core];
    double procs = fmax(c->procs, 2), throng = 0;

    if (job->core_model == NULL)
        return;
    if (job->core_model->throng.message > 0)
        throng = job_part(procs, XY_MESSAGE_CROWD, XY_MESSAGE_THRONG);
    c->crowd[0] = fmin((procs - 2) / (XY_MESSAGE_CROWD - 2), 1) - throng;
    c->crowd[1] = throng;
}

static void find_crowds(xy_vjob_t *job)
{
    for (int c = 0; c < job->core_count; c++)
        job_way_crowd(job, c);
}

/* Find the extra time of XY_MESSAGE_BCAST bytes in a crowd, besides the switch to another process:
 * they are not in the first cache any more. */
static void find_aways(xy_vjob_t *job)
{
    const xy_message_model_t *m = job->core_model;
    const xy_crowd_t *crowds[JOB_CROWDS] = {&m->crowd, &m->throng};
    double least = xy_message_value(m, NULL, XY_MESSAGE_BLOCKING, 0).seconds;
    double data = xy_message_value(m, NULL, XY_MESSAGE_BLOCKING, XY_MESSAGE_BCAST).seconds - least;

    for (int k = 0; k < JOB_CROWDS; k++)
        if (crowds[k]->message > 0) {
            job->away[k] = fmax(0, crowds[k]->large - crowds[k]->message - data);
            job->swap[k] = fmax(0, crowds[k]->message - least);
        }
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

/* Find the extra time of each process of a crowd to come to a direct collective, compared with two
 * on a core. A barrier of n on each core takes one of two cores, a switch more, and for each other
 * process a switch and to come there; a broadcast, for each other one, also a piece of work. */
static void find_comes(xy_vjob_t *job)
{
    const xy_message_model_t *m = job->copy_model;
    const xy_crowd_t *crowds[JOB_CROWDS] = {&job->core_model->crowd, &job->core_model->throng};
    static const double procs[JOB_CROWDS] = {XY_MESSAGE_CROWD, XY_MESSAGE_THRONG};
    double task = job->costs.task, swap = job->costs.swap;
    double piece = piece_of(job);

    for (int k = 0; k < JOB_CROWDS; k++) {
        double others = procs[k] - 1;
        double wait = m->barrier + swap + others * (task + swap);
        double pass = m->small_bcast + others * (task + job->pass + piece);

        if (crowds[k]->barrier > 0)
            job->come[JOB_COME_WAIT][k] = fmax(0, crowds[k]->barrier - wait) / procs[k];
        if (crowds[k]->bcast > 0 && m->small_bcast > 0)
            job->come[JOB_COME_PASS][k] = fmax(0, crowds[k]->bcast - pass) / procs[k];
    }
}

/* One more block in a piece of work. In an alltoall of so many processes on each of two cores, each
 * of them takes those of all between two barriers, in pieces of XY_DIRECT_TILE, half of them from
 * the other core. */
static double find_block(const xy_vjob_t *job, int k, double procs)
{
    const xy_crowd_t *crowd = k == 0 ? &job->core_model->crowd : &job->core_model->throng;
    double all = 2 * procs * procs, pieces = all / XY_DIRECT_TILE;
    double meet = crowd->barrier + 2 * job->word[JOB_WORD_WORK] - job->word[JOB_WORD_MEET];
    double copy =
        (job_way_copy(job, XY_MESSAGE_SMALL, true) + job_way_copy(job, XY_MESSAGE_SMALL, false)) /
        2;

    copy += job->away[k] * XY_MESSAGE_SMALL / XY_MESSAGE_BCAST;
    if (!(crowd->alltoall > 0) || !(crowd->barrier > 0))
        return 0;
    return fmax(0, crowd->alltoall - meet - pieces * job->piece - all * copy) / (all - pieces);
}

/* One more block of those that were left for others. In an alltoall of XY_MESSAGE_CROWD processes
 * on each of two cores, each of them leaves all of its blocks and, after a barrier, takes those of
 * all in one piece, half of them from the other core. */
static double find_left(const xy_vjob_t *job, const xy_crowd_t *crowd)
{
    const double procs = XY_MESSAGE_CROWD, blocks = 2 * procs * procs;
    double piece = job->piece + job->line[1] + (procs - 1) * job->line[0];
    double copies = 2 * blocks * job_way_copy(job, XY_MESSAGE_WORD, true);

    return fmax(0, crowd->left - crowd->barrier - procs * piece - copies) / blocks;
}

static void find_blocks(xy_vjob_t *job)
{
    const xy_message_model_t *m = job->core_model;

    job->block[0] = job->block[1] = find_block(job, 0, XY_MESSAGE_CROWD);
    if (m->throng.alltoall > 0)
        job->block[1] = find_block(job, 1, XY_MESSAGE_THRONG);
    job->left_block = job->block[0];
    if (m->crowd.left > 0 && m->crowd.barrier > 0)
        job->left_block = fmin(job->block[0], find_left(job, &m->crowd));
}

double job_way_block(const xy_vjob_t *job, const job_core_t *core)
{
    return job->block[0] + core->crowd[1] * (job->block[1] - job->block[0]);
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

    job->piece = job->costs.task;
    if (job->config.store == NULL)
        return;
    job->copy_model = job_way_model(job, host, host, false);
    job->core_model = job_way_model(job, host, host, true);
    if (job->core_model != NULL) {
        least = xy_message_value(job->core_model, NULL, XY_MESSAGE_BLOCKING, 0).seconds;
        job->costs.swap = fmin(job->costs.swap, find_swap(job->core_model));
        if (!(job->costs.task > 0))
            job->costs.task = fmax(least / 6, (job->core_model->barrier - job->costs.swap) / 2);
        job->piece = find_piece(job);
        find_aways(job);
        find_crowds(job);
        job->pass = job->library->rules == NULL ? find_pass(job) : 0;
    }
    find_words(job);
    job_cache_find(job);
    job_trade_find(job);
    if (job->core_model != NULL && job->copy_model != NULL && job->library->rules == NULL) {
        find_comes(job);
        find_blocks(job);
    }
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
        .numa = 256e9,
        .link = 32e9,
        .test = 1e-6,
        .swap = 100e-9,
        .start = 30e-6,
        .eager = 4096,
        .eager_net = 65536,
        .packet = 65536,
        .socket = 1 << 20,
    };
}
