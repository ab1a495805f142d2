/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the files of this component. */
#ifndef XY_NET_NET_PRIVATE_H
#define XY_NET_NET_PRIVATE_H

#include <stdatomic.h>
#include <unistd.h>

#include "net/net.h"

/* One transport. What it makes begins with xy_net_t. */
struct net_transport {
    const char *name, *describe;
    double latency, bandwidth; /* xy_net_cost where none was measured: seconds, bytes per second */
    /* Can it be used here at all? */
    bool (*is_there)(const xy_net_config_t *config);
    xy_status_t (*open)(const xy_net_config_t *config, xy_net_t **net_p);
    void (*send)(xy_net_t *net, int to, const void *head, size_t head_size, const void *data,
                 size_t size);
    void (*give)(xy_net_t *net, int to, uint64_t id, const void *buffer, size_t bytes, void *token);
    void (*take)(xy_net_t *net, int from, uint64_t id, void *buffer, size_t bytes, void *token);
    /* xy_net_gives_early; NULL: to nobody. */
    bool (*gives_early)(const xy_net_t *net, int to);
    /* The number of a process that is reached through shared memory; 0: it is not. NULL: none is.
     */
    long (*near_pid)(const xy_net_t *net, int process);
    /* Is there something to poll for? Any thread; NULL: who wants to know polls. */
    bool (*has_news)(xy_net_t *net);
    bool (*poll)(xy_net_t *net); /* by one thread at a time */
    void (*sleep)(xy_net_t *net, double seconds);
    void (*wake)(xy_net_t *net);
    /* Close the connection to a process, which `lost` tells; NULL: it cannot. Any thread. */
    void (*cut)(xy_net_t *net, int process);
    void (*close)(xy_net_t *net); /* and free */
    /* The sockets below it that its sleepers wait on, and how long one may wait there before it
     * looks again; NULL: it is sockets itself, and for ever. */
    xy_net_t *(*bell)(const xy_net_t *net);
    double (*rest)(const xy_net_t *net);
};

extern const net_transport_t net_mpi, net_mpi_only, net_shm, net_tcp;

struct xy_net {
    const net_transport_t *transport;
    const xy_net_events_t *events;
    void *context;
    int process, processes;
    size_t short_limit, eager_limit;
    int lanes; /* connections to each other process that share large buffers */
    double latency, bandwidth;
    atomic_bool is_polled; /* by some thread, now */
};

/* One thread at a time polls. False: another one does. */
static inline bool net_poll_begin(xy_net_t *net)
{
    return !atomic_exchange_explicit(&net->is_polled, true, memory_order_acquire);
}

static inline void net_poll_end(xy_net_t *net)
{
    atomic_store_explicit(&net->is_polled, false, memory_order_release);
}

/* Is the calling thread, which has come through xy_net_poll, to be told? Before listen: no. */
void net_init(xy_net_t *net, const net_transport_t *transport, const xy_net_config_t *config,
              size_t short_limit);

/* A connection, which owns both. */
typedef struct {
    int fd; /* -1: none */
    xy_seal_t *seal;
} net_wire_t;

static inline void net_wire_close(net_wire_t *wire)
{
    if (wire->fd >= 0)
        close(wire->fd);
    xy_seal_free(wire->seal);
    *wire = (net_wire_t){.fd = -1};
}

/* Connections to all other processes, [processes]; none to this one. With an interface (or NULL)
 * all go over it, and there are none at all where some process has no address there. */
xy_status_t net_mesh_open(const xy_net_config_t *config, const char *interface, net_wire_t *wires);

/* The tcp transport on connections that are there, [lanes * processes]: of meshes, or pairs. They
 * are its own from now on, also when it fails. */
xy_status_t net_tcp_make(const xy_net_config_t *config, net_wire_t *wires, int lanes,
                         xy_net_t **net_p);

/* Map memory that process `pid` of this machine has made under descriptor `there`; NULL: it has
 * none of this size there, or it cannot be opened. */
void *net_memory_open(long pid, int there, size_t bytes);

/* HMAC-SHA256 of a short text; keys have at most 64 bytes. */
void net_hmac(const uint8_t *key, size_t key_size, const void *bytes, size_t size, uint8_t mac[32]);

/* CLOCK_MONOTONIC in seconds. */
double net_now(void);
/* Wait for events of poll() on a descriptor until then. */
bool net_await(int fd, short events, double deadline);

#endif
