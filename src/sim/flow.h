/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links and flows over them. A flow crosses some links at once, after a latency; the rates of all
 * flows are max-min fair: none can get more without taking it from one that has no more than it, as
 * fluids in pipes.
 *
 *   static const double rates[] = {12.5e9, 12.5e9, 100e9};        (bytes per second of each link)
 *   xy_flows_t net;
 *   st = xy_flows_init(&net, &clock, rates, 3, model, arrived);
 *   xy_flow_path_init(&path, &net, (int32_t[]){0, 2, 1}, 3, 0);    (the list stays the caller's)
 *   xy_flow_init(&message->flow, &path);
 *   xy_flow_start(&message->flow, 1e-6, 2 << 20);         (at its end arrived(model, flow))
 *   xy_flow_path_cleanup(&path);
 *   xy_flows_cleanup(&net);
 *
 * Flows that come or go change only the rates of those that they share links with, directly or
 * through others, and all changes of one moment are reckoned with once. Flows of one path have the
 * same rate, so that only the first of them to end is looked at. A change costs O(paths in use and
 * links concerned, times the different rates among them), and O(log flows of the path).
 */
#ifndef XY_SIM_FLOW_H
#define XY_SIM_FLOW_H

#include "sim/event.h"

typedef struct xy_flow xy_flow_t;
typedef struct xy_flows xy_flows_t;
typedef void (*xy_flow_fn)(void *model, xy_flow_t *flow);

/* A way through the network. */
typedef struct {
    xy_flows_t *net;
    const int32_t *links; /* that it crosses, each once */
    int32_t link_count;
    double most; /* bytes per second that each of its flows can use */
    /* The data of the network. */
    xy_heap_t flows;    /* by their ends: the bytes that each has more to go than another */
    double left;        /* bytes, of the first to end, at `since` */
    double rate, since; /* bytes per second of each flow from then on */
    uint32_t pass;
} xy_flow_path_t;

struct xy_flow {
    xy_flow_path_t *path;
    double bytes;
    xy_event_t event; /* the latency has passed; or all of it, where the path crosses no link */
    bool is_moving;   /* the latency has passed */
    xy_flow_t *next;  /* that ended at the same moment */
};

/* A link, and the paths in use on it by the time at which they came into use. */
typedef struct {
    double rate;
    xy_flow_path_t **paths;
    int32_t count, capacity;
    int32_t open; /* while rates are found: flows without one */
    double room;  /* ... and what is left for them */
    uint32_t pass;
    bool is_changed;
    xy_event_t event; /* the first flow ends of those that hang together with its flows */
} xy_flow_link_t;

struct xy_flows {
    xy_vclock_t *clock;
    void *model;
    xy_flow_fn done;
    xy_flow_link_t *links;
    int32_t link_count;
    /* The network's own data. */
    xy_event_t event; /* links changed in this moment */
    int32_t *changed, changed_count;
    uint32_t pass;
    int32_t *near_links, near_link_count; /* that hang together */
    xy_flow_path_t **near;                /* the paths in use on them */
    int32_t near_count;
    int32_t used, capacity; /* paths in use; of `near` */
    uint64_t steps;         /* links and paths looked at to find rates: what the simulation costs */
};

/* Silent XY_ENOMEM; the caller cleans up all the same. */
xy_status_t xy_flows_init(xy_flows_t *net, xy_vclock_t *clock, const double *rates, int32_t count,
                          void *model, xy_flow_fn done);
void xy_flows_cleanup(xy_flows_t *net);
/* Nothing flows, as in the beginning; the clock and all paths were reset. */
void xy_flows_reset(xy_flows_t *net);

/* most 0: flows use whatever they get. Without links there must be a `most`. */
void xy_flow_path_init(xy_flow_path_t *path, xy_flows_t *net, const int32_t *links, int32_t count,
                       double most);
void xy_flow_path_cleanup(xy_flow_path_t *path);
void xy_flow_path_reset(xy_flow_path_t *path);

void xy_flow_init(xy_flow_t *flow, xy_flow_path_t *path);
/* It may be started again when it is complete. Running out of memory is noted by the clock. */
void xy_flow_start(xy_flow_t *flow, double latency, double bytes);

#endif
