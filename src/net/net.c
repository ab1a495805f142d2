/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of transports, and the way to the one that was chosen. */
#include <string.h>

#include "net/net_private.h"

const net_transport_t *const xy_net_transports[] = {&net_shm, &net_mpi, &net_mpi_only, &net_tcp,
                                                    NULL};

static const net_transport_t *choose(const xy_net_config_t *config)
{
    for (int i = 0; xy_net_transports[i] != NULL; i++)
        if (xy_net_transports[i]->is_there(config))
            return xy_net_transports[i];
    return NULL;
}

xy_status_t xy_net_open(const xy_net_config_t *config, xy_net_t **net_p)
{
    const net_transport_t *t = strcmp(config->transport, "auto") == 0
                                   ? choose(config)
                                   : xy_table_find(XY_TABLE(xy_net_transports), config->transport);

    if (t == NULL)
        return xy_table_fail(XY_TABLE(xy_net_transports), "transport", config->transport);
    return t->open(config, net_p);
}

static void ignore_message(void *context, int from, const void *bytes, size_t size)
{
    (void)context, (void)from, (void)bytes, (void)size;
}

static void ignore_done(void *context, void *token)
{
    (void)context, (void)token;
}

static void ignore_lost(void *context, int process, const char *why)
{
    (void)context, (void)process, (void)why;
}

static const xy_net_events_t deaf = {ignore_message, ignore_done, ignore_lost};

void net_init(xy_net_t *net, const net_transport_t *transport, const xy_net_config_t *config,
              size_t short_limit)
{
    net->transport = transport;
    net->events = &deaf;
    net->process = config->process;
    net->processes = config->processes;
    net->short_limit = net->eager_limit = short_limit;
    net->lanes = 1;
    net->latency = config->latency > 0 ? config->latency : transport->latency;
    net->bandwidth = config->bandwidth > 0 ? config->bandwidth : transport->bandwidth;
    atomic_init(&net->is_polled, false);
}

void xy_net_listen(xy_net_t *net, const xy_net_events_t *events, void *context)
{
    net->context = context;
    net->events = events;
}

const char *xy_net_name(const xy_net_t *net)
{
    return net->transport->name;
}

size_t xy_net_short_limit(const xy_net_t *net)
{
    return net->short_limit;
}

size_t xy_net_eager_limit(const xy_net_t *net)
{
    return net->eager_limit;
}

int xy_net_near(const xy_net_t *net)
{
    int count = 0;

    for (int p = 0; net->transport->near_pid != NULL && p < net->processes; p++)
        count += net->transport->near_pid(net, p) != 0;
    return count;
}

int xy_net_lanes(const xy_net_t *net)
{
    return net->lanes;
}

void xy_net_cost(const xy_net_t *net, double *latency_p, double *bandwidth_p)
{
    *latency_p = net->latency;
    *bandwidth_p = net->bandwidth;
}

void xy_net_send(xy_net_t *net, int to, const void *head, size_t head_size, const void *data,
                 size_t size)
{
    net->transport->send(net, to, head, head_size, data, size);
}

bool xy_net_gives_early(const xy_net_t *net, int to)
{
    return net->transport->gives_early != NULL && net->transport->gives_early(net, to);
}

void xy_net_give(xy_net_t *net, int to, uint64_t id, const void *buffer, size_t bytes, void *token)
{
    net->transport->give(net, to, id, buffer, bytes, token);
}

void xy_net_take(xy_net_t *net, int from, uint64_t id, void *buffer, size_t bytes, void *token)
{
    net->transport->take(net, from, id, buffer, bytes, token);
}

bool xy_net_poll(xy_net_t *net)
{
    bool has_come;

    if (net->transport->has_news != NULL && !net->transport->has_news(net))
        return false;
    if (!net_poll_begin(net))
        return false;
    has_come = net->transport->poll(net);
    net_poll_end(net);
    return has_come;
}

bool xy_net_is_polled(const xy_net_t *net)
{
    return atomic_load_explicit(&net->is_polled, memory_order_acquire);
}

void xy_net_sleep(xy_net_t *net, double seconds)
{
    net->transport->sleep(net, seconds);
}

void xy_net_wake(xy_net_t *net)
{
    net->transport->wake(net);
}

void xy_net_cut(xy_net_t *net, int process)
{
    if (net->transport->cut != NULL)
        net->transport->cut(net, process);
}

void xy_net_close(xy_net_t *net)
{
    if (net != NULL)
        net->transport->close(net);
}
