/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI that is installed on the cluster as transport: Open MPI or MPICH, with any network that it
 * drives. Alone (mpi-only) or, between processes of one machine, with shared memory of our own in
 * front of it (mpi, in shm.c), which has less to do. Its launcher has started the processes. The
 * library is opened at run time, hidden from the program; no headers are needed, for what differs
 * between the two is in a table (mpi_host.c).
 *
 * All calls are made under one lock by whichever thread polls or sends. Short messages go to
 * receives that are posted ahead, which are looked at in the order of their posting: the order of
 * messages. Buffers that are given travel under a tag of their own, in pieces that a count can
 * hold, as synchronous sends: the library keeps them until they are taken, and asks the receiver
 * itself.
 *
 * Such a library has nothing to sleep on. The sockets of the tcp transport are the doorbell: who
 * sends rings, but not more often than a sleeper needs nor to one that has just been heard of, and
 * who sleeps looks again after some milliseconds in any case. They also notice a process that is
 * gone, which the library does not.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "net/mpi_host.h"

enum {
    POSTED = 32, /* receives */
    TAG_SHORT = 1,
    TAG_FIRST = 16, /* of buffers */
    TAGS = 1 << 27,
    PIECE = 256 << 20, /* bytes */
    BELL_EVERY = 256,  /* polls between two looks at the sockets */
    BATCH = 16,        /* messages in one poll */
    OUTS = 16,       /* sends that are left to who polls: a look at one that is not over is dear */
    SPARE = 64,      /* buffers of sends that are kept */
    REAP_EVERY = 16, /* polls between two looks at sends */
};
#define LAST UINT32_MAX
/* Bytes of a short message, whatever was measured. */
enum { SHORT_LEAST = 1 << 10, SHORT_MOST = 64 << 10 };
#define BELL_PAUSE    300e-6 /* seconds between two rings for one process */
#define BELL_AWAKE    50e-6  /* a process that has sent something so recently is awake */
#define AWAKE_SECONDS 10e-3  /* after a message, a sleep is short */
/* The library moves a part of a large buffer with each poll: there is no sleep for so long after
 * one began or ended, and short ones later, as the other side may not be there. */
#define MOVE_SECONDS  100e-3
#define MOVE_SLEEP    50e-6
#define CLOSE_SECONDS 10.0

/* In front of every short message: so nothing is asked of the library about it. */
typedef struct {
    uint32_t from;  /* process */
    uint32_t bytes; /* behind it; LAST: there are none, nor others after it */
} short_head_t;

typedef struct out {
    struct out *next;
    uint64_t request;
    char bytes[];
} out_t;

typedef struct large {
    struct large *next; /* of those that are complete */
    void *token;
    int process; /* the other one */
    size_t left; /* pieces */
} large_t;

typedef struct {
    xy_net_t base;
    const host_mpi_t *host;
    void (*mark)(bool is_inside);
    xy_net_t *bell;
    pthread_mutex_t lock; /* of all up to `larges` */
    out_t *outs, **outs_end;
    int out_count;
    out_t *spare; /* buffers for any short message */
    int spares;
    host_set_t larges;    /* pieces of them */
    _Atomic int moving;   /* large buffers that are not complete */
    _Atomic double moved; /* when one began or ended */
    size_t room;          /* of one posted receive */
    char *buffers;        /* [POSTED] of them */
    uint64_t posted[POSTED];
    int *rank_of;             /* [processes]: in the library's world */
    double *rung;             /* [processes] */
    _Atomic double *heard_of; /* [processes]: when each has sent something */
    _Atomic bool *is_full;    /* [processes]: there was no memory for something to or from it */
    _Atomic bool has_full;    /* ... and the loss is not told yet */
    /* For the thread that polls. */
    int next;     /* the oldest of `posted` */
    int unposted; /* the last one read, to be posted with the next look; -1: none */
    unsigned polls;
    bool is_burst; /* the last poll has found something */
    int leaving;   /* processes that have sent their last message */
    bool is_closing;
    bool *is_lost; /* [processes] */
    _Atomic double heard;
} mpi_net_t;

static void enter(mpi_net_t *net)
{
    pthread_mutex_lock(&net->lock);
    if (net->mark != NULL)
        net->mark(true);
}

static void leave(mpi_net_t *net)
{
    if (net->mark != NULL)
        net->mark(false);
    pthread_mutex_unlock(&net->lock);
}

/* ---- Sending ---- */

static void ring(mpi_net_t *net, int to)
{
    double now = net_now();

    if (now - net->rung[to] < BELL_PAUSE ||
        now - atomic_load_explicit(&net->heard_of[to], memory_order_relaxed) < BELL_AWAKE)
        return;
    net->rung[to] = now;
    xy_net_send(net->bell, to, "", 0, "", 0);
}

/* Note that memory ran out for a message of `process`; the polling thread reports the loss. */
static void note_full(mpi_net_t *net, int process)
{
    atomic_store(&net->is_full[process], true);
    atomic_store(&net->has_full, true);
}

/* With the lock; NULL: memory ran out. */
static out_t *out_new(mpi_net_t *net)
{
    out_t *o = net->spare;

    if (o == NULL)
        return xy_malloc(sizeof(*o) + net->room);
    net->spare = o->next;
    net->spares--;
    return o;
}

static void out_free(mpi_net_t *net, out_t *o)
{
    if (net->spares == SPARE) {
        xy_free(o);
        return;
    }
    o->next = net->spare;
    net->spare = o;
    net->spares++;
}

/* They end in the order of their beginning, more or less. */
static void reap_sends(mpi_net_t *net)
{
    while (net->outs != NULL && host_test(net->host, &net->outs->request)) {
        out_t *o = net->outs;

        net->outs = o->next;
        if (net->outs == NULL)
            net->outs_end = &net->outs;
        net->out_count--;
        out_free(net, o);
    }
}

/* Send a short message, or the mark of the last one; if memory is short, it is dropped with an
 * error message. */
static void send_short(mpi_net_t *net, int to, bool is_last, const void *head, size_t head_size,
                       const void *data, size_t size)
{
    short_head_t first = {.from = (uint32_t)net->base.process,
                          .bytes = is_last ? LAST : (uint32_t)(head_size + size)};
    out_t *o;

    enter(net);
    o = out_new(net);
    if (o == NULL) {
        leave(net);
        xy_fail_memory("sending to another process");
        note_full(net, to);
        return;
    }
    memcpy(o->bytes, &first, sizeof(first));
    if (head_size > 0)
        memcpy(o->bytes + sizeof(first), head, head_size);
    if (size > 0)
        memcpy(o->bytes + sizeof(first) + head_size, data, size);
    host_send(net->host, o->bytes, sizeof(first) + head_size + size, net->rank_of[to], TAG_SHORT,
              &o->request);
    o->next = NULL;
    *net->outs_end = o;
    net->outs_end = &o->next;
    if (++net->out_count > OUTS)
        reap_sends(net);
    ring(net, to);
    leave(net);
}

static void send_mpi(xy_net_t *base, int to, const void *head, size_t head_size, const void *data,
                     size_t size)
{
    send_short((mpi_net_t *)base, to, false, head, head_size, data, size);
}

/* ---- Large buffers ---- */

static void note_move(mpi_net_t *net, int change)
{
    atomic_fetch_add_explicit(&net->moving, change, memory_order_relaxed);
    atomic_store_explicit(&net->moved, net_now(), memory_order_relaxed);
}

/* Start to send or receive a large buffer in pieces; `token` is reported when the last piece is
 * done. */
static void start_large(mpi_net_t *net, int process, uint64_t id, char *buffer, size_t bytes,
                        void *token, bool is_given)
{
    size_t pieces = (bytes + PIECE - 1) / PIECE;
    large_t *l = xy_calloc(1, sizeof(*l));
    xy_status_t st;
    int tag = TAG_FIRST + (int)(id % TAGS), rank = net->rank_of[process];

    enter(net);
    st = l != NULL ? host_set_reserve(&net->larges, (int)pieces) : XY_ENOMEM;
    if (st != XY_OK) {
        leave(net);
        xy_free(l);
        xy_fail_memory("moving a buffer between processes");
        note_full(net, process);
        return;
    }
    l->token = token;
    l->process = process;
    l->left = pieces;
    note_move(net, 1);
    for (size_t i = 0; i < pieces; i++) {
        size_t at = i * PIECE, n = bytes - at < PIECE ? bytes - at : PIECE;
        uint64_t request;

        if (is_given)
            host_send_matched(net->host, buffer + at, n, rank, tag, &request);
        else
            host_receive(net->host, buffer + at, n, rank, tag, &request);
        host_set_add(net->host, &net->larges, request, l);
    }
    if (is_given)
        ring(net, process);
    leave(net);
}

static bool gives_early_mpi(const xy_net_t *base, int to)
{
    (void)base, (void)to;
    return true;
}

static void give_mpi(xy_net_t *base, int to, uint64_t id, const void *buffer, size_t bytes,
                     void *token)
{
    start_large((mpi_net_t *)base, to, id, (char *)(uintptr_t)buffer, bytes, token, true);
}

static void take_mpi(xy_net_t *base, int from, uint64_t id, void *buffer, size_t bytes, void *token)
{
    start_large((mpi_net_t *)base, from, id, buffer, bytes, token, false);
}

static void piece_over(void *list, void *large)
{
    large_t **all = list, *l = large;

    if (--l->left > 0)
        return;
    l->next = *all;
    *all = l;
}

/* Take the large messages that are complete; with the lock. */
static large_t *reap_larges(mpi_net_t *net)
{
    large_t *all = NULL;

    host_set_test(net->host, &net->larges, piece_over, &all);
    return all;
}

/* Report and free a list of completed large buffers; true if there were any. Called without the
 * lock. */
static bool tell_larges(mpi_net_t *net, large_t *l)
{
    bool has_come = l != NULL;

    while (l != NULL) { /* the other one is awake */
        large_t *next = l->next;
        void *token = l->token;

        atomic_store_explicit(&net->heard_of[l->process], net_now(), memory_order_relaxed);
        note_move(net, -1);
        xy_free(l);
        net->base.events->done(net->base.context, token);
        l = next;
    }
    return has_come;
}

/* ---- Receiving ---- */

static char *buffer_of(const mpi_net_t *net, int i)
{
    return net->buffers + (size_t)i * net->room;
}

static void post(mpi_net_t *net, int i)
{
    host_receive(net->host, buffer_of(net, i), net->room, HOST_ANY, TAG_SHORT, &net->posted[i]);
}

/* Pass on the short message in the buffer `next`, or count the process as leaving. Called without
 * the lock. */
static void take_short(mpi_net_t *net)
{
    const char *bytes = buffer_of(net, net->next);
    double now = net_now();
    short_head_t head;

    memcpy(&head, bytes, sizeof(head));
    atomic_store_explicit(&net->heard, now, memory_order_relaxed);
    atomic_store_explicit(&net->heard_of[head.from], now, memory_order_relaxed);
    if (head.bytes == LAST)
        net->leaving++;
    else
        net->base.events->message(net->base.context, (int)head.from, bytes + sizeof(head),
                                  head.bytes);
}

/* Take at most one short message and all completed large buffers; true if there was any. */
static bool receive_one(mpi_net_t *net)
{
    large_t *done;
    bool has_come;

    enter(net);
    if (net->unposted >= 0)
        post(net, net->unposted);
    net->unposted = -1;
    has_come = host_test(net->host, &net->posted[net->next]);
    if (net->polls % REAP_EVERY == 0)
        reap_sends(net);
    done = reap_larges(net);
    leave(net);
    if (has_come) {
        take_short(net);
        /* The message may be answered before its receive is posted again. */
        net->unposted = net->next;
        net->next = (net->next + 1) % POSTED;
    }
    return tell_larges(net, done) || has_come;
}

/* ---- The doorbell ---- */

static void on_bell(void *context, int from, const void *bytes, size_t size)
{
    (void)context, (void)from, (void)bytes, (void)size;
}

static void on_done(void *context, void *token)
{
    (void)context, (void)token;
}

static void on_lost(void *context, int process, const char *why)
{
    mpi_net_t *net = context;

    if (net->is_lost[process])
        return;
    net->is_lost[process] = true;
    if (!net->is_closing)
        net->base.events->lost(net->base.context, process, why);
}

static const xy_net_events_t bell_events = {on_bell, on_done, on_lost};

static void tell_full(mpi_net_t *net)
{
    atomic_store(&net->has_full, false);
    for (int p = 0; p < net->base.processes; p++)
        if (atomic_load(&net->is_full[p]))
            on_lost(net, p, "out of memory for messages to it");
}

/* One that comes alone is handed on before the library looks for another. */
static bool poll_mpi(xy_net_t *base)
{
    mpi_net_t *net = (mpi_net_t *)base;
    int most = net->is_burst ? BATCH : 1;
    bool has_come = false;

    if (atomic_load_explicit(&net->has_full, memory_order_relaxed))
        tell_full(net);
    if (++net->polls % BELL_EVERY == 0)
        xy_net_poll(net->bell);
    for (int i = 0; i < most && receive_one(net); i++)
        has_come = true;
    net->is_burst = has_come;
    return has_come;
}

static xy_net_t *bell_mpi(const xy_net_t *base)
{
    return ((const mpi_net_t *)base)->bell;
}

/* The library has nothing to sleep on, and not everything rings. */
static double rest_mpi(const xy_net_t *base)
{
    const mpi_net_t *net = (const mpi_net_t *)base;
    bool is_busy =
        net_now() - atomic_load_explicit(&net->heard, memory_order_relaxed) < AWAKE_SECONDS;

    if (atomic_load_explicit(&net->moving, memory_order_relaxed) > 0)
        return net_now() - atomic_load_explicit(&net->moved, memory_order_relaxed) < MOVE_SECONDS
                   ? 0
                   : MOVE_SLEEP;
    return is_busy ? 1e-3 : 10e-3;
}

/* Wait for the bell, but only as long as the library needs no look. */
static void sleep_mpi(xy_net_t *base, double seconds)
{
    mpi_net_t *net = (mpi_net_t *)base;
    double most = rest_mpi(base);

    if (most <= 0) { /* a timer would take longer than the library for the next part */
        sched_yield();
        return;
    }
    xy_net_sleep(net->bell, seconds < most ? seconds : most);
    /* Clear the bell, or the next sleep would end at once. Events of a loss belong to the polling
     * thread. */
    if (net_poll_begin(base)) {
        xy_net_poll(net->bell);
        net_poll_end(base);
    }
}

static void wake_mpi(xy_net_t *base)
{
    xy_net_wake(((mpi_net_t *)base)->bell);
}

/* ---- Beginning and end ---- */

static bool is_there(const xy_net_config_t *config)
{
    (void)config;
    return false; /* chosen by name: where its launcher has started the job */
}

/* Free the transport and its spare buffers. */
static void destroy(mpi_net_t *net)
{
    while (net->spare != NULL) {
        out_t *o = net->spare;

        net->spare = o->next;
        xy_free(o);
    }
    host_set_cleanup(&net->larges);
    xy_free((void *)(uintptr_t)net->heard_of);
    xy_free((void *)(uintptr_t)net->is_full);
    xy_free(net->buffers);
    xy_free(net->rank_of);
    xy_free(net->rung);
    xy_free(net->is_lost);
    pthread_mutex_destroy(&net->lock);
    xy_free(net);
}

/* Use the measured values of the library's messages in place of the stated ones. */
static xy_net_config_t use_measured(const xy_net_config_t *config, const host_mpi_t *host,
                                    size_t *limit_p)
{
    xy_net_config_t used = *config;

    *limit_p = host_short_limit(host);
    for (int i = 0; i < config->measured_count; i++) {
        const xy_net_measured_t *m = &config->measured[i];

        if (strcmp(m->library, host_name(host)) != 0)
            continue;
        used.latency = m->latency;
        used.bandwidth = m->bandwidth;
        if (m->eager > 0)
            *limit_p = (m->eager < SHORT_LEAST  ? SHORT_LEAST
                        : m->eager > SHORT_MOST ? SHORT_MOST
                                                : m->eager) -
                       sizeof(short_head_t);
    }
    return used;
}

/* Allocate the arrays and receive buffers of the transport; destroy() frees them, also after a
 * failure. */
static xy_status_t allocate(const xy_net_config_t *config, const host_mpi_t *host, size_t limit,
                            mpi_net_t *net)
{
    size_t n = (size_t)config->processes;

    net->host = host;
    net->mark = config->mark;
    net->outs_end = &net->outs;
    net->unposted = -1;
    net->room = limit + sizeof(short_head_t);
    pthread_mutex_init(&net->lock, NULL);
    net->buffers = xy_malloc(POSTED * net->room);
    net->rank_of = xy_calloc(n, sizeof(int));
    net->rung = xy_calloc(n, sizeof(double));
    net->heard_of = xy_calloc(n, sizeof(*net->heard_of));
    net->is_full = xy_calloc(n, sizeof(*net->is_full));
    net->is_lost = xy_calloc(n, sizeof(bool));
    if (net->buffers != NULL && net->rank_of != NULL && net->rung != NULL &&
        net->heard_of != NULL && net->is_full != NULL && net->is_lost != NULL)
        return XY_OK;
    return xy_fail_memory("connecting the processes");
}

/* Find the rank of each process in the library's world. */
static xy_status_t find_ranks(const xy_net_config_t *config, mpi_net_t *net)
{
    char **cards = xy_calloc((size_t)config->processes, sizeof(char *)), own[16];
    xy_status_t st = cards != NULL ? XY_OK : xy_fail_memory("connecting the processes");

    snprintf(own, sizeof(own), "%d", host_rank(net->host));
    if (st == XY_OK)
        st = config->exchange(config->exchange_arg, own, cards);
    for (int p = 0; p < config->processes && st == XY_OK; p++) {
        long rank;

        if (!xy_parse_long(cards[p], &rank) || rank < 0 || rank >= config->processes)
            st = xy_fail(XY_EPARSE, "process %d: its rank in the host's MPI is '%s'", p, cards[p]);
        else
            net->rank_of[p] = (int)rank;
    }
    for (int p = 0; cards != NULL && p < config->processes; p++)
        xy_free(cards[p]);
    xy_free(cards);
    return st;
}

static xy_status_t open_bell(const xy_net_config_t *config, mpi_net_t *net)
{
    net_wire_t *wires = xy_malloc((size_t)config->processes * sizeof(*wires));
    xy_status_t st = wires == NULL ? xy_fail_memory("connecting the processes")
                                   : net_mesh_open(config, NULL, wires);

    if (st == XY_OK)
        st = net_tcp_make(config, wires, 1, &net->bell);
    xy_free(wires);
    if (st == XY_OK)
        xy_net_listen(net->bell, &bell_events, net);
    return st;
}

/* Open the transport over an installed MPI and post its receives; on failure the transport is
 * freed. */
static xy_status_t open_mpi(const xy_net_config_t *config, xy_net_t **net_p)
{
    const host_mpi_t *host;
    xy_net_config_t used;
    mpi_net_t *net;
    size_t limit;
    xy_status_t st;

    if (config->mark != NULL)
        config->mark(true);
    st = host_open(config->processes, config->library, &host);
    if (config->mark != NULL)
        config->mark(false);
    if (st != XY_OK)
        return st;
    net = xy_calloc(1, sizeof(*net));
    if (net == NULL)
        return xy_fail_memory("connecting the processes");
    used = use_measured(config, host, &limit);
    st = allocate(config, host, limit, net);
    net_init(&net->base, &net_mpi_only, &used, limit);
    if (st == XY_OK)
        st = find_ranks(config, net);
    if (st == XY_OK)
        st = open_bell(config, net);
    if (st != XY_OK) {
        destroy(net);
        return st;
    }
    enter(net);
    for (int i = 0; i < POSTED; i++)
        post(net, i);
    leave(net);
    *net_p = &net->base;
    return XY_OK;
}

static int missing(const mpi_net_t *net)
{
    int n = net->base.processes - 1 - net->leaving;

    for (int p = 0; p < net->base.processes; p++)
        n -= net->is_lost[p];
    return n;
}

static bool is_over(mpi_net_t *net)
{
    enter(net);
    reap_sends(net);
    leave(net);
    return missing(net) <= 0 && net->outs == NULL && net->larges.count == 0;
}

/* The last message of each process comes behind all others of it. */
static void close_mpi(xy_net_t *base)
{
    mpi_net_t *net = (mpi_net_t *)base;
    double deadline = net_now() + CLOSE_SECONDS;
    bool is_whole;

    for (int p = 0; p < base->processes; p++)
        if (p != base->process && !net->is_lost[p])
            send_short(net, p, true, NULL, 0, NULL, 0);
    while (!(is_whole = is_over(net)) && net_now() < deadline)
        if (!xy_net_poll(base))
            xy_net_sleep(base, 1e-3);
    for (int p = 0; p < base->processes; p++)
        is_whole = is_whole && !net->is_lost[p];
    net->is_closing = true;
    enter(net);
    for (int i = 0; i < POSTED && is_whole; i++)
        if (i != net->unposted)
            host_cancel(net->host, &net->posted[i]);
    leave(net);
    xy_net_close(net->bell); /* all others have got their messages, too */
    /* Without the others it would wait for ever. */
    if (is_whole)
        host_close(net->host, CLOSE_SECONDS);
    if (is_whole)
        destroy(net);
}

const net_transport_t net_mpi_only = {
    .name = "mpi-only",
    .describe = "the installed MPI also between processes of one machine",
    .latency = 2e-6,
    .bandwidth = 8e9,
    .is_there = is_there,
    .open = open_mpi,
    .send = send_mpi,
    .give = give_mpi,
    .take = take_mpi,
    .gives_early = gives_early_mpi,
    .poll = poll_mpi,
    .sleep = sleep_mpi,
    .wake = wake_mpi,
    .close = close_mpi,
    .bell = bell_mpi,
    .rest = rest_mpi,
};
