/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a message costs between two nodes, or inside one: see job.h. Where the store has a model for
 * the clusters of both, the message takes in all what that says; overheads and latency are as
 * before (or the model's), at most what the model gives to a message of no bytes.
 */
#include "sim/job_internal.h"

#include <string.h>

#include "coll/coll.h"

/* The cluster of a host in the store: that of the host's name, else the name of a cluster above it,
 * else the machine alone. */
static const char *cluster_of(const xy_vjob_t *job, int32_t host)
{
    const xy_machine_t *m = job->config.machine;
    const char *name = xy_machine_object_name(m, job->hosts[host]);
    xy_obj_t above = xy_machine_above(m, job->hosts[host], XY_OBJ_CLUSTER);

    for (size_t i = 0; *name != '\0' && i < job->config.store->hosts.count; i++) {
        const xy_host_cost_t *h = &XY_VEC_AT(&job->config.store->hosts, xy_host_cost_t, i);

        if (strcmp(h->name, name) == 0)
            return h->cluster;
    }
    if (above != XY_OBJ_NONE && *xy_machine_object_name(m, above) != '\0')
        return xy_machine_object_name(m, above);
    return XY_COSTS_LOCAL;
}

/* How the library whose messages are simulated begins its own name. */
static const char *message_library(const xy_vjob_t *job)
{
    const char *library = job->config.library;

    return library != NULL && strcmp(library, "openmpi") == 0 ? "open mpi" : library;
}

/* The model between two clusters: of the library, or of whichever was measured. */
static const xy_message_cost_t *between(const xy_vjob_t *job, const char *a, const char *b)
{
    const xy_message_cost_t *cost =
        xy_costs_message_by(job->config.store, a, b, message_library(job));

    return cost != NULL ? cost : xy_costs_message(job->config.store, a, b);
}

/* Inside a node: what was measured in one of its cluster, or on the machine alone. What two nodes
 * of the cluster take is no model for it. */
static const xy_message_cost_t *inside(const xy_vjob_t *job, int32_t host)
{
    const xy_message_cost_t *cost = between(job, cluster_of(job, host), XY_COSTS_LOCAL);

    return cost != NULL ? cost : between(job, XY_COSTS_LOCAL, XY_COSTS_LOCAL);
}

/* Ranks of one core are Xylem's alone: processes of another library never run side by side. */
static const xy_message_cost_t *on_core(const xy_vjob_t *job)
{
    const char *library = message_library(job);

    return xy_costs_message_by(job->config.store, XY_COSTS_PU, XY_COSTS_PU,
                               library != NULL ? library : "xylem");
}

static const xy_message_model_t *find_model(const xy_vjob_t *job, int32_t from, int32_t to,
                                            bool is_same)
{
    const xy_message_cost_t *cost = NULL;

    if (job->config.store == NULL)
        return NULL;
    if (is_same)
        cost = on_core(job);
    else if (from == to)
        cost = inside(job, from);
    else
        cost = between(job, cluster_of(job, from), cluster_of(job, to));
    if (cost == NULL || !xy_message_has(&cost->model, NULL, XY_MESSAGE_BLOCKING))
        return NULL;
    return &cost->model;
}

static double model_seconds(const job_way_t *way, uint64_t bytes)
{
    return xy_message_value(way->model, NULL, XY_MESSAGE_BLOCKING, (double)bytes).seconds;
}

/* Overheads and latency that leave nothing negative of what the model says. On one core there is no
 * latency: the sender works, then the receiver, with a switch in between that is counted when it
 * happens. */
static void fit_model(const xy_vjob_t *job, job_way_t *way)
{
    double least = model_seconds(way, 0), sum;

    if (way->is_self) {
        way->latency = 0;
        way->send = way->receive = xy_message_self(way->model, 0) / 2;
        return;
    }
    if (way->is_same) {
        way->latency = 0;
        way->send = way->receive = fmax(0, least - job->costs.swap) / 2;
        return;
    }
    if (way->model->loggp.overhead > 0)
        way->send = way->receive = way->model->loggp.overhead;
    if (way->path == NULL && way->model->loggp.overhead > 0)
        way->latency = fmax(0, least - way->send - way->receive);
    sum = way->send + way->receive + way->latency;
    if (sum <= least || sum <= 0)
        return;
    way->send *= least / sum;
    way->receive *= least / sum;
    way->latency *= least / sum;
}

/* The limit that was measured there, or else between other nodes of the same kind: it belongs to
 * the library. */
static void set_eager(const xy_vjob_t *job, bool is_inside, job_way_t *way)
{
    const xy_costs_t *store = job->config.store;
    double eager = way->model != NULL ? way->model->eager : 0;

    for (size_t i = 0; store != NULL && i < store->messages.count && !(eager > 0); i++) {
        const xy_message_cost_t *m = &XY_VEC_AT(&store->messages, xy_message_cost_t, i);

        if ((strcmp(m->cluster2, XY_COSTS_LOCAL) == 0) == is_inside)
            eager = m->model.eager;
    }
    if (eager > 0)
        way->eager = (uint64_t)eager;
}

/* Where it was measured what a process needs for a message to itself. */
static void find_self(job_way_t *way)
{
    way->is_self = way->model != NULL && xy_message_self(way->model, 0) > 0;
    way->is_same = way->is_same && !way->is_self;
}

static job_way_t *make_way(xy_vjob_t *job, int32_t from, int32_t to, bool is_same, bool is_self)
{
    const xy_vjob_costs_t *c = &job->costs;
    job_way_t *way = xy_arena_alloc(job->arena, sizeof(*way));

    if (way == NULL) {
        job_fail(job, xy_fail_memory("simulating a job"));
        return NULL;
    }
    way->send = c->send;
    way->receive = c->receive;
    way->latency = c->latency;
    way->eager = from == to ? c->eager : c->eager_net;
    way->bytes = UINT64_MAX;
    if (from != to) {
        xy_status_t st = sim_net_path(&job->net, from, to, &way->path);

        if (st != XY_OK) {
            job_fail(job, st);
            return NULL;
        }
        way->latency = way->path->latency;
    }
    way->model = find_model(job, from, to, is_same);
    way->is_same = is_same && way->model != NULL;
    if (is_same && way->model == NULL)
        way->model = find_model(job, from, to, false);
    if (is_self)
        find_self(way);
    if (way->model != NULL)
        fit_model(job, way);
    if (!c->keeps_eager)
        set_eager(job, from == to, way);
    return way;
}

job_way_t *job_way(xy_vjob_t *job, int32_t from, int32_t to)
{
    int32_t a = job->procs[from].host, b = job->procs[to].host;
    bool is_same = job->procs[from].core == job->procs[to].core;
    uint64_t key = (uint64_t)a << 32 | (uint32_t)b;
    job_way_t **inside = from == to ? &job->host[a].self
                         : is_same  ? &job->host[a].same
                                    : &job->host[a].way,
              *way;

    if (a == b && *inside != NULL)
        return *inside;
    way = a != b ? xy_hash_get(&job->ways, key) : NULL;
    if (way != NULL)
        return way;
    way = make_way(job, a, b, is_same, from == to);
    if (way == NULL)
        return NULL;
    if (a == b) {
        *inside = way;
    } else if (xy_hash_set(&job->ways, key, way) != XY_OK) {
        job_fail(job, xy_fail_memory("simulating a job"));
        return NULL;
    }
    return way;
}

static double seconds_of(double bytes, double rate)
{
    return rate > 0 ? bytes / rate : 0;
}

/* What the model says beyond everything else; < 0: it says less. */
static double rest_of(const job_way_t *way, uint64_t bytes, bool is_eager)
{
    double rest = model_seconds(way, bytes) - way->send - way->receive - way->latency;

    if (way->is_same)
        rest -= model_seconds(way, 0) - way->send - way->receive; /* the switch */
    if (way->path == NULL)
        return fmax(0, rest);
    if (!is_eager)
        rest -= way->send + way->receive + 2 * way->latency;
    return rest - (double)bytes / way->path->bandwidth;
}

/* How far apart messages of a stream arrive, by the samples; 0: not measured. */
static double gap_of(const xy_message_model_t *model, uint64_t bytes)
{
    if (!xy_message_has(model, "plogp", XY_MESSAGE_BLOCKING))
        return 0;
    return xy_message_value(model, "plogp", XY_MESSAGE_BLOCKING, (double)bytes).seconds -
           model->plogp_latency;
}

/* A message that came before its receive lies where another core has just written; receiving it
 * takes as long as messages of a stream are apart, more or less than one that is waited for. */
static double late_of(const job_way_t *way, uint64_t bytes)
{
    double gap = gap_of(way->model, bytes);

    return gap > 0 ? gap - way->receive_busy : 0;
}

/* Several at once: what each takes of both cores behind the first, which is an exchange. On one
 * core all of them follow one another, with two switches. */
static double burst_of(const xy_vjob_t *job, const job_way_t *way, double bytes)
{
    double all = xy_message_burst(way->model, bytes);

    if (!(all > 0))
        return 0;
    if (way->is_same)
        return fmax(0, all - 2 * job->costs.swap) / (2 * XY_MESSAGE_BURST);
    return fmax(0, all - xy_message_exchange(way->model, bytes)) / (XY_MESSAGE_BURST - 1);
}

/* Of a message to itself, all of it is work. */
static void find_self_cost(job_way_t *way, uint64_t bytes, bool is_eager)
{
    double all = fmax(xy_message_self(way->model, (double)bytes), 2 * way->send);

    way->send_busy = is_eager ? all / 2 : way->send;
    way->receive_busy = all - way->send_busy;
}

/* What many processes of a core take more for a message of so many bytes than two of them. */
static double crowd_of(const xy_message_model_t *m, double bytes)
{
    double small = fmax(0, m->crowd - xy_message_value(m, NULL, XY_MESSAGE_BLOCKING, 0).seconds);
    double large =
        fmax(0, m->large_crowd -
                    xy_message_value(m, NULL, XY_MESSAGE_BLOCKING, XY_MESSAGE_BCAST).seconds);

    if (!(m->crowd > 0))
        return 0;
    return small + fmax(0, large - small) * fmin(bytes / XY_MESSAGE_BCAST, 1);
}

static void find_cost(const xy_vjob_t *job, job_way_t *way, uint64_t bytes, bool is_eager)
{
    double copy = seconds_of((double)bytes, job->costs.copy);

    way->bytes = bytes;
    way->was_eager = is_eager;
    way->send_busy = way->send;
    way->receive_busy = way->receive;
    way->extra = way->spared = way->late = way->cross = way->burst = way->crowd = 0;
    if (way->is_self) {
        find_self_cost(way, bytes, is_eager);
    } else if (way->model != NULL) {
        double rest = rest_of(way, bytes, is_eager);

        if (way->path != NULL) {
            way->extra = fmax(0, rest);
            /* Measured messages are asked for faster, or not at all. */
            way->spared = is_eager ? 0 : fmax(0, -rest);
        } else {
            double work = is_eager ? rest / 2 : rest;

            /* Where both cores move a large message, piece by piece, each works for less than it
             * takes: as far apart as those of a stream are. */
            if (!is_eager && !way->is_same && gap_of(way->model, bytes) > way->receive)
                work = fmin(work, gap_of(way->model, bytes) - way->receive);
            way->receive_busy += work;
            way->extra = is_eager ? 0 : rest - work;
        }
        way->send_busy += way->path == NULL && is_eager ? rest / 2 : 0;
        if (way->path == NULL && is_eager && !way->is_same)
            way->late = late_of(way, bytes);
        if (way->path == NULL && !way->is_same)
            way->cross =
                fmax(0, xy_message_exchange(way->model, (double)bytes) - model_seconds(way, bytes));
        if (way->path == NULL)
            way->burst = burst_of(job, way, (double)bytes);
        if (way->is_same) {
            way->crowd = crowd_of(way->model, (double)(bytes < way->eager ? bytes : way->eager));
            way->small_crowd = crowd_of(way->model, 0);
        }
    } else if (is_eager) {
        way->send_busy += copy;
        way->receive_busy += copy;
    } else if (way->path == NULL) {
        way->receive_busy += copy;
    }
}

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
        return seconds_of((double)bytes, job->costs.copy);
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
    double gap = gap_of(m, XY_MESSAGE_SMALL);

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
    job->copy_model = find_model(job, host, host, false);
    job->core_model = find_model(job, host, host, true);
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

/* Others that its sender has started with it are on their way: both sides work as long as for the
 * next one of several at once, the sender no longer than messages of a stream are apart. What is
 * received before it is asked for takes as long as it did. Those that are there already fill the
 * first cache, and so would those of other processes. */
static void set_burst(xy_vmsg_t *m)
{
    double gap = m->late != 0 ? m->receive_busy + m->late : INFINITY;
    double send = fmin(m->way->burst / 2, gap), receive = m->way->burst - send;

    if (m->late != 0)
        m->late += m->receive_busy - receive;
    m->send_busy = send;
    m->receive_busy = receive;
    m->cross = 0;
}

void job_way_cost(xy_vjob_t *job, xy_vmsg_t *m)
{
    job_way_t *way = m->way;
    bool is_burst;
    double crowd;

    if (job->has_link) {
        m->is_eager = true;
        m->extra = job->link.alpha + (double)m->bytes * job->link.beta;
        return;
    }
    m->is_eager = !m->is_synchronous && m->bytes <= way->eager;
    if (m->bytes != way->bytes || m->is_eager != way->was_eager)
        find_cost(job, way, m->bytes, m->is_eager);
    m->send_busy = way->send_busy;
    m->receive_busy = way->receive_busy;
    m->extra = way->extra;
    m->spared = way->spared;
    m->late = way->late;
    m->cross = way->cross;
    is_burst = way->burst > 0 && job->procs[m->from].flying > 0 && job->procs[m->from].started > 0;
    if (is_burst)
        set_burst(m);
    crowd = (is_burst ? way->small_crowd : way->crowd) / 2;
    m->send_busy += job->cores[job->procs[m->from].core].crowd * crowd;
    m->receive_busy += job->cores[job->procs[m->to].core].crowd * crowd;
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
