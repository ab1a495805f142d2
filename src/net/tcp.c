/* SPDX-License-Identifier: BSD-3-Clause */
/* Plain sockets: on every machine, and what other transports are compared with. */
#include "net/tcp.h"
#include "net/greet.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FEW = 4, READY = 32 };
#define CLOSE_SECONDS 10.0

static bool is_there(const xy_net_config_t *config)
{
    (void)config;
    return true;
}

xy_status_t tcp_start_peer(tcp_net_t *net, int peer)
{
    tcp_peer_t *p = &net->peers[peer];
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)peer};

    if (p->wire.fd < 0) {
        p->is_gone = p->is_leaving = p->is_broken = true;
        return XY_OK;
    }
    p->buffer = xy_malloc(TCP_BUFFER);
    if (p->wire.seal != NULL) {
        p->sealed_in = xy_malloc(TCP_SEALED);
        p->sealed_out = xy_malloc(NET_SEAL_RECORD);
    }
    if (p->buffer == NULL ||
        (p->wire.seal != NULL && (p->sealed_in == NULL || p->sealed_out == NULL)))
        return xy_fail_memory("connecting the processes");
    if (epoll_ctl(net->epoll, EPOLL_CTL_ADD, p->wire.fd, &event) != 0)
        return xy_fail_errno(errno, "a connection to another process", "watch");
    return XY_OK;
}

void tcp_clear_peer(tcp_peer_t *p)
{
    net_wire_close(&p->wire);
    net_queue_free(&p->queue);
    xy_free(p->buffer);
    xy_free(p->sealed_in);
    xy_free(p->sealed_out);
}

static void free_peer(tcp_peer_t *p)
{
    tcp_clear_peer(p);
    pthread_mutex_destroy(&p->lock);
}

static void destroy(tcp_net_t *net)
{
    for (int i = 0; i < net->count; i++)
        free_peer(&net->peers[i]);
    if (net->epoll >= 0)
        close(net->epoll);
    if (net->event >= 0)
        close(net->event);
    net_finished_free(&net->finished);
    xy_listener_close(net->listener);
    xy_free(net);
}

xy_status_t net_tcp_make(const xy_net_config_t *config, net_wire_t *wires, int lanes,
                         xy_net_t **net_p)
{
    int n = lanes * config->processes;
    tcp_net_t *net = xy_calloc(1, sizeof(*net) + (size_t)n * sizeof(tcp_peer_t));
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)n};
    xy_status_t st = XY_OK;

    if (net == NULL) {
        for (int i = 0; i < n; i++)
            net_wire_close(&wires[i]);
        return xy_fail_memory("connecting the processes");
    }
    net_init(&net->base, &net_tcp, config, TCP_SHORT);
    net->base.lanes = lanes;
    net->count = n;
    net_finished_init(&net->finished);
    for (int i = 0; i < n; i++) {
        tcp_peer_t *p = &net->peers[i];

        p->wire = wires[i];
        p->first = &net->peers[i % config->processes];
        net_queue_init(&p->queue);
        pthread_mutex_init(&p->lock, NULL);
    }
    net->epoll = epoll_create1(EPOLL_CLOEXEC);
    net->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (net->epoll < 0 || net->event < 0 ||
        epoll_ctl(net->epoll, EPOLL_CTL_ADD, net->event, &event) != 0)
        st = xy_fail_errno(errno, "the connections of the processes", "watch");
    for (int i = 0; i < n && st == XY_OK; i++)
        st = tcp_start_peer(net, i);
    if (st != XY_OK) {
        destroy(net);
        return st;
    }
    *net_p = &net->base;
    return XY_OK;
}

/* The lanes over single interfaces, behind the first, over which all processes reach each other.
 * One that some process does not have is left out. */
static xy_status_t open_lanes(const xy_net_config_t *config, net_wire_t *wires, int *lanes_p)
{
    char interface[sizeof(net_rules()->interface)];
    xy_status_t st = net_mesh_open(config, NULL, wires);
    int lanes = 1;

    for (int i = 1;
         st == XY_OK && !config->is_local && lanes < TCP_LANES && net_rules_interface(i, interface);
         i++) {
        net_wire_t *next = wires + (size_t)lanes * (size_t)config->processes;
        bool is_open = false;

        st = net_mesh_open(config, interface, next);
        for (int p = 0; p < config->processes; p++)
            is_open = is_open || next[p].fd >= 0;
        lanes += is_open;
    }
    for (int i = 0; st != XY_OK && i < lanes * config->processes; i++)
        net_wire_close(&wires[i]);
    *lanes_p = lanes;
    return st;
}

static xy_status_t open_tcp(const xy_net_config_t *config, xy_net_t **net_p)
{
    net_wire_t *wires = xy_malloc(TCP_LANES * (size_t)config->processes * sizeof(*wires));
    int lanes = 0;
    xy_status_t st = wires == NULL ? xy_fail_memory("connecting the processes")
                                   : open_lanes(config, wires, &lanes);

    if (st == XY_OK)
        st = net_tcp_make(config, wires, lanes, net_p);
    xy_free(wires);
    return st;
}

/* ---- Progress ---- */

/* Asking each of a few sockets costs less than asking first which have something. */
static bool poll_tcp(xy_net_t *base)
{
    tcp_net_t *net = (tcp_net_t *)base;
    bool has_come = false;
    struct epoll_event events[READY];
    int n;

    if (net->count - base->lanes <= FEW && net->listener == NULL) {
        for (int i = 0; i < net->count; i++)
            has_come |= tcp_receive(net, i);
    } else {
        n = epoll_wait(net->epoll, events, READY, 0);
        for (int i = 0; i < n; i++)
            if (events[i].data.u32 < (uint32_t)net->count)
                has_come |= tcp_receive(net, (int)events[i].data.u32);
            else if (events[i].data.u32 > (uint32_t)net->count)
                has_come |= tcp_hub_invite(net);
    }
    tcp_flush_all(net);
    if (net->listener != NULL)
        tcp_hub_tidy(net);
    return net_finished_report(&net->finished, net->base.events, net->base.context) || has_come;
}

/* Wait until a socket is ready, the transport is woken or the time has passed; nothing is received.
 */
static void sleep_tcp(xy_net_t *base, double seconds)
{
    tcp_net_t *net = (tcp_net_t *)base;
    int milliseconds = seconds > 1e6 ? 1000000000 : seconds > 0 ? (int)ceil(seconds * 1e3) : 0;
    struct epoll_event events[READY];
    uint64_t count;
    int n;

    atomic_fetch_add(&net->sleeping, 1);
    n = epoll_wait(net->epoll, events, READY,
                   atomic_load(&net->finished.has_some) ? 0 : milliseconds);
    atomic_fetch_sub(&net->sleeping, 1);
    for (int i = 0; i < n; i++)
        if (events[i].data.u32 == (uint32_t)net->count)
            (void)!read(net->event, &count, sizeof(count));
}

void tcp_wake(xy_net_t *base)
{
    uint64_t one = 1;

    (void)!write(((tcp_net_t *)base)->event, &one, sizeof(one));
}

/* ---- The end ---- */

static bool is_quiet(const tcp_net_t *net)
{
    for (int i = 0; i < net->count; i++) {
        const tcp_peer_t *p = &net->peers[i];

        if (!p->is_gone && (!p->is_leaving || atomic_load(&p->has_output)))
            return false;
    }
    return true;
}

static void close_tcp(xy_net_t *base)
{
    tcp_net_t *net = (tcp_net_t *)base;
    double deadline = net_now() + CLOSE_SECONDS;

    for (int i = 0; i < net->count; i++)
        if (!net->peers[i].is_gone)
            tcp_send_bye(net, i);
    while (!is_quiet(net) && net_now() < deadline)
        if (!xy_net_poll(base))
            sleep_tcp(base, 0.1);
    destroy(net);
}

/* The thread that polls finds the end of the connection. */
static void cut_tcp(xy_net_t *base, int process)
{
    tcp_net_t *net = (tcp_net_t *)base;
    tcp_peer_t *first = &net->peers[process];

    pthread_mutex_lock(&first->lock);
    for (int peer = process; peer < net->count; peer += base->processes)
        if (net->peers[peer].wire.fd >= 0)
            shutdown(net->peers[peer].wire.fd, SHUT_RDWR);
    pthread_mutex_unlock(&first->lock);
    tcp_wake(base);
}

const net_transport_t net_tcp = {
    .name = "tcp",
    .describe = "sockets of the system; needs nothing else",
    .latency = 20e-6,
    .bandwidth = 1.2e9,
    .is_there = is_there,
    .open = open_tcp,
    .send = tcp_send,
    .give = tcp_give,
    .take = tcp_take,
    .poll = poll_tcp,
    .sleep = sleep_tcp,
    .wake = tcp_wake,
    .cut = cut_tcp,
    .close = close_tcp,
};
