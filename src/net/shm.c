/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared memory between processes of one machine; those of other machines are reached through
 * sockets (shm) or an installed MPI (mpi).
 *
 * A process that cannot open the segment of another one (another machine, another PID namespace, no
 * /proc) sends the other way. So does one with another host name: network namespaces are used as
 * hosts.
 */
#include "net/shm.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

enum {
    RING_MOST = 256 << 10, /* bytes */
    RING_LEAST = 64 << 10,
    ALL_RINGS = 2 << 20,               /* of one segment, about */
    BELL_EVERY = 256,                  /* polls between two looks at the sockets */
    EAGER = (16 << 10) + XY_NET_HEADS, /* more is copied by both sides at the same time */
    HOST = 256,
    CARD = HOST + 64
};
#define FULL_SECONDS  1e-3 /* a sleep while something waits for room */
#define CLOSE_SECONDS 10.0

static bool is_there(const xy_net_config_t *config)
{
    return config->is_local;
}

static bool is_named(const xy_net_config_t *config)
{
    (void)config;
    return false; /* chosen by name: where its launcher has started the job */
}

/* The same in all processes. */
static uint64_t ring_size(int processes)
{
    uint64_t size = RING_MOST;

    while (size > RING_LEAST && size * (uint64_t)processes > ALL_RINGS)
        size /= 2;
    return size;
}

static size_t ring_place(const shm_net_t *net, int from)
{
    return (size_t)from * (sizeof(shm_ring_t) + (size_t)net->ring_size);
}

static shm_ring_t *ring_of(const shm_net_t *net, shm_segment_t *segment, int from)
{
    return (shm_ring_t *)(void *)(segment->rings + ring_place(net, from));
}

/* ---- Segments ---- */

/* The own one. */
static xy_status_t make_segment(shm_net_t *net)
{
    int error = xy_net_memory_make(net->segment_size, &net->memory);

    if (error != 0)
        return xy_fail_errno(error, "memory that processes share", "make");
    net->segment = net->memory.base;
    if (getrandom(&net->segment->token, sizeof(net->segment->token), 0) !=
        (ssize_t)sizeof(net->segment->token))
        return xy_fail_errno(errno, "a random number", "make");
    return XY_OK;
}

static void make_card(const shm_net_t *net, char card[CARD])
{
    char host[HOST] = "";

    if (gethostname(host, sizeof(host) - 1) != 0)
        host[0] = '\0';
    snprintf(card, CARD, "%d %d %" PRIx64 " %s", (int)getpid(), net->memory.fd, net->segment->token,
             host);
}

/* "PID DESCRIPTOR TOKEN HOST"; false: it is none, or of another host. */
static bool read_card(const char *card, const char *own, long *pid_p, long *fd_p, uint64_t *token_p)
{
    char *pid_end, *fd_end, *end;
    const char *host = strrchr(own, ' ');

    *pid_p = strtol(card, &pid_end, 10);
    *fd_p = strtol(pid_end, &fd_end, 10);
    *token_p = strtoull(fd_end, &end, 16);
    return pid_end > card && fd_end > pid_end && end > fd_end && *pid_p > 0 && *fd_p >= 0 &&
           host != NULL && strcmp(end, host) == 0;
}

/* Open the segment of another process, by its card and the own one; without one it is not reached
 * this way. */
static void open_segment(shm_net_t *net, shm_peer_t *peer, const char *card, const char *own)
{
    uint64_t token;
    long there;

    if (!read_card(card, own, &peer->pid, &there, &token) || there > INT_MAX)
        return;
    peer->segment = net_memory_open(peer->pid, (int)there, net->segment_size);
    if (peer->segment != NULL && peer->segment->token != token) {
        munmap(peer->segment, net->segment_size);
        peer->segment = NULL;
    }
}

static void free_cards(char **cards, int count)
{
    for (int p = 0; cards != NULL && p < count; p++)
        xy_free(cards[p]);
    xy_free(cards);
}

/* Has process `p` of `n`, whose answer this is, opened the segments of all others? */
static bool reaches_all(const char *reached, int p, int n)
{
    for (int i = 0; i < n; i++)
        if (i != p && reached[i] != '1')
            return false; /* also at an early end */
    return true;
}

/* Everyone opens the segments of the others, and says which it could. */
static xy_status_t meet(const xy_net_config_t *config, shm_net_t *net)
{
    int n = config->processes;
    char **cards = xy_calloc((size_t)n, sizeof(char *)), own[CARD];
    char *reached = xy_calloc((size_t)n + 1, 1);
    xy_status_t st =
        cards != NULL && reached != NULL ? XY_OK : xy_fail_memory("connecting the processes");

    make_card(net, own);
    if (st == XY_OK)
        st = config->exchange(config->exchange_arg, own, cards);
    for (int p = 0; p < n && st == XY_OK; p++) {
        shm_peer_t *peer = &net->peers[p];

        if (p != config->process)
            open_segment(net, peer, cards[p], own);
        if (peer->segment != NULL)
            peer->out = (shm_end_t){.ring = ring_of(net, peer->segment, config->process),
                                    .size = net->ring_size};
        reached[p] = peer->segment != NULL ? '1' : '0';
        xy_free(cards[p]);
        cards[p] = NULL;
    }
    if (st == XY_OK)
        st = config->exchange(config->exchange_arg, reached, cards);
    for (int p = 0; p < n && st == XY_OK; p++) {
        shm_peer_t *peer = &net->peers[p];

        peer->writes_here = p != config->process && strlen(cards[p]) == (size_t)n &&
                            cards[p][config->process] == '1';
        net->has_far |= p != config->process && (!peer->writes_here || peer->segment == NULL);
        net->is_all_near &= reaches_all(cards[p], p, n);
        peer->in = (shm_end_t){.ring = ring_of(net, net->segment, p), .size = net->ring_size};
    }
    free_cards(cards, n);
    xy_free(reached);
    return st;
}

/* ---- What comes the other way ---- */

static void on_far(void *context, int from, const void *bytes, size_t size)
{
    shm_net_t *net = context;

    if (!net->peers[from].writes_here && size > 0)
        net->base.events->message(net->base.context, from, bytes, size);
}

static void on_done(void *context, void *token)
{
    shm_net_t *net = context;

    net->base.events->done(net->base.context, token);
}

static void on_lost(void *context, int process, const char *why)
{
    shm_net_t *net = context;

    while (net->peers[process].writes_here && !net->peers[process].is_gone &&
           shm_receive(net, process))
        ;
    shm_lose(net, process, why);
}

static const xy_net_events_t far_events = {on_far, on_done, on_lost};

/* ---- Beginning ---- */

static void destroy(shm_net_t *net)
{
    for (int p = 0; p < net->base.processes; p++) {
        if (net->peers[p].segment != NULL)
            munmap(net->peers[p].segment, net->segment_size);
        shm_free_peer(&net->peers[p]);
    }
    xy_net_memory_free(&net->memory);
    net_finished_free(&net->finished);
    xy_free(net);
}

/* It carries what goes to processes that are not near; the one whose messages cost more is what to
 * reckon with where there are some. */
static xy_status_t open_far(const xy_net_config_t *config, const net_transport_t *far,
                            shm_net_t *net)
{
    xy_status_t st = far->open(config, &net->far);
    const xy_net_t *limits;

    if (st != XY_OK)
        return st;
    xy_net_listen(net->far, &far_events, net);
    net->bell = far->bell != NULL ? far->bell(net->far) : net->far;
    limits = net->is_all_near ? net->bell : net->far;
    net->base.lanes = net->far->lanes;
    if (net->base.short_limit > xy_net_short_limit(limits))
        net->base.short_limit = xy_net_short_limit(limits);
    net->base.eager_limit = net->is_all_near ? EAGER : xy_net_eager_limit(net->far);
    if (net->base.eager_limit > net->base.short_limit)
        net->base.eager_limit = net->base.short_limit;
    if (!net->is_all_near)
        xy_net_cost(net->far, &net->base.latency, &net->base.bandwidth);
    return XY_OK;
}

/* Open shared memory between the processes of one machine, with `far` as the transport to all
 * others. */
static xy_status_t open_over(const xy_net_config_t *config, const net_transport_t *transport,
                             const net_transport_t *far, xy_net_t **net_p)
{
    int n = config->processes;
    shm_net_t *net = xy_calloc(1, sizeof(*net) + (size_t)n * sizeof(shm_peer_t));
    xy_status_t st;

    if (net == NULL)
        return xy_fail_memory("connecting the processes");
    net->is_all_near = true;
    net->ring_size = ring_size(n);
    net->segment_size = sizeof(shm_segment_t) + ring_place(net, n);
    net_init(&net->base, transport, config, shm_most(net->ring_size));
    net_finished_init(&net->finished);
    for (int p = 0; p < n; p++) {
        pthread_mutex_init(&net->peers[p].lock, NULL);
        net_queue_init(&net->peers[p].queue);
    }
    st = make_segment(net);
    if (st == XY_OK)
        st = meet(config, net);
    xy_net_memory_seal(&net->memory);
    if (st == XY_OK)
        st = open_far(config, far, net);
    if (st != XY_OK) {
        destroy(net);
        return st;
    }
    *net_p = &net->base;
    return XY_OK;
}

static xy_status_t open_shm(const xy_net_config_t *config, xy_net_t **net_p)
{
    return open_over(config, &net_shm, &net_tcp, net_p);
}

static xy_status_t open_mpi(const xy_net_config_t *config, xy_net_t **net_p)
{
    return open_over(config, &net_mpi, &net_mpi_only, net_p);
}

/* ---- Progress ---- */

static long near_pid(const xy_net_t *base, int process)
{
    const shm_peer_t *peer = &((const shm_net_t *)base)->peers[process];

    return peer->segment != NULL ? peer->pid : 0;
}

/* A ring takes only what is asked for. */
static bool gives_early(const xy_net_t *base, int to)
{
    const shm_net_t *net = (const shm_net_t *)base;

    return net->peers[to].segment == NULL && xy_net_gives_early(net->far, to);
}

/* Receive from all near processes, poll the far transport, and write what waits for room; true if
 * anything came. */
static bool poll_shm(xy_net_t *base)
{
    shm_net_t *net = (shm_net_t *)base;
    bool has_come = false;

    if (net->has_far && net->far != net->bell)
        has_come |= xy_net_poll(net->far);
    if ((net->has_far && net->far == net->bell) ||
        atomic_load_explicit(&net->is_rung, memory_order_relaxed)) {
        atomic_store_explicit(&net->is_rung, false, memory_order_relaxed);
        has_come |= xy_net_poll(net->bell);
        atomic_store(&net->segment->rung, 0); /* another thread may sleep on */
        atomic_thread_fence(memory_order_seq_cst);
    }
    for (int p = 0; p < base->processes; p++) {
        shm_peer_t *peer = &net->peers[p];

        if (peer->writes_here && !peer->is_gone)
            has_come |= shm_receive(net, p);
        if (atomic_load_explicit(&peer->is_full, memory_order_relaxed))
            shm_lose(net, p, "out of memory for messages to it");
    }
    shm_flush_all(net);
    return net_finished_report(&net->finished, net->base.events, net->base.context) || has_come;
}

/* Any thread. Now and then the sockets are looked at, whether or not something is known of them. */
static bool has_news(xy_net_t *base)
{
    shm_net_t *net = (shm_net_t *)base;
    unsigned looks = atomic_load_explicit(&net->looks, memory_order_relaxed) + 1;

    atomic_store_explicit(&net->looks, looks, memory_order_relaxed);
    if (looks % BELL_EVERY == 0)
        atomic_store_explicit(&net->is_rung, true, memory_order_relaxed);
    for (int p = 0; p < base->processes; p++) {
        const shm_peer_t *peer = &net->peers[p];

        if ((peer->writes_here && shm_is_filled(peer->in.ring, net->ring_size)) ||
            atomic_load_explicit(&peer->has_output, memory_order_relaxed))
            return true;
    }
    return net->has_far || atomic_load_explicit(&net->is_rung, memory_order_relaxed) ||
           atomic_load_explicit(&net->finished.has_some, memory_order_relaxed);
}

/* May a sleep begin? *seconds_p: how long. */
static bool is_idle(const shm_net_t *net, double *seconds_p)
{
    if (atomic_load(&net->finished.has_some))
        return false;
    for (int p = 0; p < net->base.processes; p++) {
        const shm_peer_t *peer = &net->peers[p];

        if (peer->writes_here && shm_is_filled(peer->in.ring, net->ring_size))
            return false;
        if (atomic_load_explicit(&peer->has_output, memory_order_relaxed) &&
            *seconds_p > FULL_SECONDS)
            *seconds_p = FULL_SECONDS;
    }
    return true;
}

/* Sleep until a message, a wake or the time limit; returns at once if something has come meanwhile.
 */
static void sleep_shm(xy_net_t *base, double seconds)
{
    shm_net_t *net = (shm_net_t *)base;
    shm_segment_t *own = net->segment;
    double (*rest)(const xy_net_t *) = net->far->transport->rest;

    if (net->has_far && rest != NULL)
        seconds = fmin(seconds, rest(net->far));

    atomic_fetch_add(&own->sleepers, 1);
    atomic_store(&own->rung, 0);
    atomic_thread_fence(memory_order_seq_cst);
    if (is_idle(net, &seconds))
        xy_net_sleep(net->bell, seconds);
    atomic_fetch_sub(&own->sleepers, 1);
    atomic_store_explicit(&net->is_rung, true, memory_order_relaxed);
}

static void wake_shm(xy_net_t *base)
{
    xy_net_wake(((shm_net_t *)base)->bell);
}

static void cut_shm(xy_net_t *base, int process)
{
    shm_net_t *net = (shm_net_t *)base;

    atomic_store_explicit(&net->is_rung, true, memory_order_relaxed);
    xy_net_cut(net->bell, process);
}

/* ---- The end ---- */

static bool is_quiet(const shm_net_t *net)
{
    for (int p = 0; p < net->base.processes; p++) {
        const shm_peer_t *peer = &net->peers[p];

        if (p == net->base.process || peer->is_gone)
            continue;
        if ((peer->writes_here && !peer->is_leaving) || (peer->segment != NULL && !peer->is_broken))
            return false;
    }
    return true;
}

/* The last record of each process comes behind all others of it. */
static void close_shm(xy_net_t *base)
{
    shm_net_t *net = (shm_net_t *)base;
    double deadline = net_now() + CLOSE_SECONDS;

    while (net_now() < deadline) {
        for (int p = 0; p < base->processes; p++) {
            shm_peer_t *peer = &net->peers[p];

            if (peer->segment != NULL && !peer->is_broken && !atomic_load(&peer->has_output))
                shm_send_bye(net, p);
        }
        if (is_quiet(net))
            break;
        if (!xy_net_poll(base))
            xy_net_sleep(base, 1e-3);
    }
    net->is_closing = true;
    xy_net_close(net->far);
    destroy(net);
}

const net_transport_t net_shm = {
    .name = "shm",
    .describe = "shared memory of processes of one machine, and sockets to others",
    .latency = 0.5e-6,
    .bandwidth = 8e9,
    .is_there = is_there,
    .open = open_shm,
    .send = shm_send,
    .give = shm_give,
    .take = shm_take,
    .near_pid = near_pid,
    .has_news = has_news,
    .poll = poll_shm,
    .sleep = sleep_shm,
    .wake = wake_shm,
    .cut = cut_shm,
    .close = close_shm,
};

const net_transport_t net_mpi = {
    .name = "mpi",
    .describe = "an installed Open MPI or MPICH, whose launcher starts the job, between machines",
    .latency = 0.5e-6,
    .bandwidth = 8e9,
    .is_there = is_named,
    .open = open_mpi,
    .send = shm_send,
    .give = shm_give,
    .take = shm_take,
    .near_pid = near_pid,
    .gives_early = gives_early,
    .has_news = has_news,
    .poll = poll_shm,
    .sleep = sleep_shm,
    .wake = wake_shm,
    .close = close_shm,
};
