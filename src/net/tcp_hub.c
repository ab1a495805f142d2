/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hub: the tcp transport with peers that come and go. Peers are added and forgotten by the thread
 * that polls, or by one that keeps others from polling meanwhile, so that who polls looks at them
 * without a lock.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "net/tcp.h"

xy_status_t xy_net_hub_open(int most, const uint8_t secret[XY_SECRET_BYTES], xy_net_t **net_p)
{
    xy_net_config_t config = {.process = 0, .processes = most + 1};
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)most + 2};
    net_wire_t *wires = xy_malloc((size_t)config.processes * sizeof(*wires));
    xy_listener_t *listener = NULL;
    xy_net_t *base = NULL;
    xy_status_t st;

    if (wires == NULL)
        return xy_fail_memory("listening for other jobs");
    for (int i = 0; i < config.processes; i++)
        wires[i] = (net_wire_t){.fd = -1};
    st = xy_listener_open(secret, 0, 1, false, &listener);
    if (st == XY_OK)
        st = net_tcp_make(&config, wires, 1, &base);
    xy_free(wires);
    if (st != XY_OK) {
        xy_listener_close(listener);
        return st;
    }
    ((tcp_net_t *)base)->listener = listener;
    if (epoll_ctl(((tcp_net_t *)base)->epoll, EPOLL_CTL_ADD, xy_listener_fd(listener), &event) !=
        0) {
        st = xy_fail_errno(errno, "a port for other jobs", "watch");
        xy_net_close(base);
        return st;
    }
    *net_p = base;
    return XY_OK;
}

char *xy_net_hub_card(const xy_net_t *net)
{
    return xy_listener_card(((const tcp_net_t *)net)->listener, NULL);
}

/* As one that nothing was sent to yet, or (no wire) as nobody; with its lock held. */
static void reset(tcp_peer_t *p, net_wire_t wire)
{
    p->wire = wire;
    net_queue_init(&p->queue);
    p->piece_head_left = p->piece_left = 0;
    atomic_store_explicit(&p->has_output, false, memory_order_relaxed);
    p->is_used = wire.fd >= 0;
    p->is_broken = p->is_leaving = p->is_gone = wire.fd < 0;
    p->is_parting = false;
    p->buffer = NULL;
    p->sealed_in = p->sealed_out = NULL;
    p->sealed_begin = p->sealed_end = p->sealed_got = 0;
    p->begin = p->end = p->current_left = 0;
    p->current = NULL;
}

/* A number for the connection, which is closed if there is none. */
static int admit(tcp_net_t *net, net_wire_t wire)
{
    int process = 1;
    tcp_peer_t *p;

    while (process < net->base.processes && net->peers[process].is_used)
        process++;
    if (process == net->base.processes) {
        net_wire_close(&wire);
        return -1;
    }
    p = &net->peers[process];
    pthread_mutex_lock(&p->lock);
    reset(p, wire);
    pthread_mutex_unlock(&p->lock);
    if (tcp_start_peer(net, process) == XY_OK)
        return process;
    tcp_shut(net, process);
    pthread_mutex_lock(&p->lock);
    tcp_clear_peer(p);
    reset(p, (net_wire_t){.fd = -1});
    pthread_mutex_unlock(&p->lock);
    return -1;
}

bool tcp_hub_invite(tcp_net_t *net)
{
    bool has_come = false;
    net_wire_t wire = {0};
    int name;

    while ((wire.fd = xy_listener_accept(net->listener, &name, &wire.seal)) >= 0)
        has_come |= admit(net, wire) >= 0;
    return has_come;
}

void tcp_hub_tidy(tcp_net_t *net)
{
    for (int i = 1; i < net->base.processes; i++) {
        tcp_peer_t *p = &net->peers[i];
        bool is_over;

        if (!p->is_used)
            continue;
        pthread_mutex_lock(&p->lock);
        is_over =
            p->is_parting &&
            (p->is_gone || (p->is_leaving && p->queue.blocks == NULL && p->queue.gives == NULL));
        pthread_mutex_unlock(&p->lock);
        if (!is_over)
            continue;
        if (!p->is_gone)
            tcp_shut(net, i);
        pthread_mutex_lock(&p->lock);
        tcp_clear_peer(p);
        reset(p, (net_wire_t){.fd = -1});
        pthread_mutex_unlock(&p->lock);
    }
}

int xy_net_hub_connect(xy_net_t *net, const char *card, const uint8_t secret[XY_SECRET_BYTES],
                       double deadline, char why[XY_WHY_SIZE])
{
    const struct timespec pause = {.tv_nsec = 10000};
    net_wire_t wire = {0};
    int process;

    wire.fd = xy_card_connect(card, secret, 0, 0, deadline, &wire.seal, why);
    if (wire.fd < 0)
        return -1;
    while (!net_poll_begin(net))
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    process = admit((tcp_net_t *)net, wire);
    net_poll_end(net);
    if (process < 0)
        snprintf(why, XY_WHY_SIZE, "this job is connected to %d others already",
                 net->processes - 1);
    return process;
}

void xy_net_hub_part(xy_net_t *net, int process)
{
    tcp_peer_t *p = &((tcp_net_t *)net)->peers[process];
    bool is_new;

    pthread_mutex_lock(&p->lock);
    is_new = !p->is_parting;
    p->is_parting = true;
    pthread_mutex_unlock(&p->lock);
    if (is_new)
        tcp_send_bye((tcp_net_t *)net, process);
    xy_net_wake(net);
}
