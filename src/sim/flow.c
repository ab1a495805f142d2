/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Max-min fairness by filling: the link that has least for each flow without a rate decides. Flows
 * that cannot even use that much get what they can use; otherwise its flows get that much, and both
 * leave the rest of the other links to others.
 *
 * Links hang together when flows cross both. Of such a group one link has the event of the earliest
 * end, the first by number. A flow that joins two groups takes the event of one of them away; when
 * a flow that held a group together ends, each part gets its own.
 */
#include "sim/flow.h"

#include <string.h>

/* ---- Groups ---- */

static void reach_link(xy_flows_t *net, int32_t link)
{
    if (net->links[link].pass == net->pass)
        return;
    net->links[link].pass = net->pass;
    net->near_links[net->near_link_count++] = link;
}

/* The links and flows that hang together with a link. */
static void find_group(xy_flows_t *net, int32_t link)
{
    net->near_link_count = 0;
    net->near_count = 0;
    reach_link(net, link);
    for (int32_t i = 0; i < net->near_link_count; i++) {
        const xy_flow_link_t *l = &net->links[net->near_links[i]];

        for (int32_t k = 0; k < l->count; k++) {
            xy_flow_t *flow = l->flows[k];

            if (flow->pass == net->pass)
                continue;
            flow->pass = net->pass;
            net->near[net->near_count++] = flow;
            for (int32_t j = 0; j < flow->link_count; j++)
                reach_link(net, flow->links[j]);
        }
    }
}

static void advance_group(xy_flows_t *net)
{
    double now = net->clock->now;

    for (int32_t i = 0; i < net->near_count; i++) {
        xy_flow_t *flow = net->near[i];

        flow->left -= flow->rate * (now - flow->since);
        flow->since = now;
    }
}

/* ---- Rates ---- */

static void give(xy_flows_t *net, xy_flow_t *flow, double rate)
{
    flow->rate = rate;
    for (int32_t j = 0; j < flow->link_count; j++) {
        net->links[flow->links[j]].room -= rate;
        net->links[flow->links[j]].open--;
    }
}

static double least_share(const xy_flows_t *net)
{
    double least = INFINITY;

    for (int32_t i = 0; i < net->near_link_count; i++) {
        const xy_flow_link_t *l = &net->links[net->near_links[i]];

        if (l->open > 0)
            least = fmin(least, fmax(0, l->room) / l->open);
    }
    return least;
}

/* Flows that can use no more than `share` get what they can use. Returns how many. */
static int32_t give_most(xy_flows_t *net, double share)
{
    int32_t n = 0;

    for (int32_t i = 0; i < net->near_count; i++) {
        xy_flow_t *flow = net->near[i];

        if (flow->rate >= 0 || flow->most > share)
            continue;
        give(net, flow, flow->most);
        n++;
    }
    return n;
}

/* The flows of all links that have no more than `share` for each get it. */
static int32_t give_share(xy_flows_t *net, double share)
{
    int32_t n = 0;

    for (int32_t i = 0; i < net->near_link_count; i++) {
        const xy_flow_link_t *l = &net->links[net->near_links[i]];

        if (l->open == 0 || l->room / l->open > share * (1 + 1e-12))
            continue;
        for (int32_t k = 0; k < l->count; k++)
            if (l->flows[k]->rate < 0) {
                give(net, l->flows[k], share);
                n++;
            }
    }
    return n;
}

static void find_rates(xy_flows_t *net)
{
    int32_t open = net->near_count;

    for (int32_t i = 0; i < net->near_link_count; i++) {
        xy_flow_link_t *l = &net->links[net->near_links[i]];

        l->room = l->rate;
        l->open = l->count;
    }
    for (int32_t i = 0; i < open; i++)
        net->near[i]->rate = -1;
    while (open > 0) {
        double share = least_share(net);
        int32_t given = give_most(net, share);

        open -= given > 0 ? given : give_share(net, share);
    }
}

/* ---- Ends ---- */

/* One link of the group gets the event of the earliest end. */
static void plan_group(xy_flows_t *net)
{
    int32_t first = net->near_links[0];
    double now = net->clock->now, next = INFINITY;

    for (int32_t i = 0; i < net->near_count; i++) {
        const xy_flow_t *flow = net->near[i];

        next = fmin(next, now + fmax(0, flow->left) / flow->rate);
    }
    for (int32_t i = 0; i < net->near_link_count; i++) {
        int32_t link = net->near_links[i];

        first = link < first ? link : first;
        net->links[link].is_changed = false;
    }
    for (int32_t i = 0; i < net->near_link_count; i++)
        if (net->near_links[i] != first)
            xy_clock_cancel(net->clock, &net->links[net->near_links[i]].event);
    xy_clock_set(net->clock, &net->links[first].event, next);
}

static void change_links(xy_flows_t *net, const xy_flow_t *flow)
{
    for (int32_t j = 0; j < flow->link_count; j++) {
        xy_flow_link_t *l = &net->links[flow->links[j]];

        if (!l->is_changed)
            net->changed[net->changed_count++] = flow->links[j];
        l->is_changed = true;
    }
    xy_clock_set(net->clock, &net->event, net->clock->now);
}

/* All changes of this moment. */
static void changed_due(xy_event_t *event)
{
    xy_flows_t *net = event->owner;

    for (int32_t i = 0; i < net->changed_count; i++) {
        if (!net->links[net->changed[i]].is_changed)
            continue; /* with a group before it */
        net->pass++;
        find_group(net, net->changed[i]);
        advance_group(net);
        find_rates(net);
        plan_group(net);
    }
    net->changed_count = 0;
}

static void remove_over(xy_flows_t *net, int32_t link)
{
    xy_flow_link_t *l = &net->links[link];
    int32_t kept = 0;

    for (int32_t k = 0; k < l->count; k++)
        if (l->flows[k]->is_inside)
            l->flows[kept++] = l->flows[k];
    l->count = kept;
}

/* What is left at the planned end is rounding: less than a byte, or, after very long times, less
 * than the clock can tell. */
static bool is_over(const xy_flow_t *flow, double now)
{
    return flow->left <= 1 || now + flow->left / flow->rate <= now;
}

static void link_due(xy_event_t *event)
{
    xy_flows_t *net = event->owner;

    net->pass++;
    find_group(net, event->index);
    advance_group(net);
    net->over_count = 0;
    for (int32_t i = 0; i < net->near_count; i++) {
        xy_flow_t *flow = net->near[i];

        if (!is_over(flow, net->clock->now))
            continue;
        flow->is_inside = false;
        net->inside--;
        net->over[net->over_count++] = flow;
        change_links(net, flow);
    }
    if (net->over_count == 0) /* rounding: not yet */
        change_links(net, net->near[0]);
    for (int32_t i = 0; i < net->near_link_count; i++)
        remove_over(net, net->near_links[i]);
    for (int32_t i = 0; i < net->over_count; i++)
        net->done(net->model, net->over[i]);
}

/* ---- Beginning ---- */

static bool link_append(xy_flow_link_t *l, xy_flow_t *flow)
{
    if (l->count == l->capacity) {
        int32_t capacity = l->capacity == 0 ? 8 : 2 * l->capacity;
        xy_flow_t **flows = xy_realloc_array(l->flows, (size_t)capacity, sizeof(*flows));

        if (flows == NULL)
            return false;
        l->flows = flows;
        l->capacity = capacity;
    }
    l->flows[l->count++] = flow;
    return true;
}

/* Lists of flows have room for all that are on links. */
static bool count_in(xy_flows_t *net)
{
    int32_t capacity = net->capacity == 0 ? 16 : 2 * net->capacity;
    xy_flow_t **list;

    if (net->inside++ < net->capacity)
        return true;
    list = xy_realloc_array(net->near, (size_t)capacity, sizeof(*list));
    if (list == NULL)
        return false;
    net->near = list;
    list = xy_realloc_array(net->over, (size_t)capacity, sizeof(*list));
    if (list == NULL)
        return false;
    net->over = list;
    net->capacity = capacity;
    return true;
}

static void join(xy_flow_t *flow)
{
    xy_flows_t *net = flow->net;
    bool is_in = count_in(net);

    flow->rate = 0;
    flow->since = net->clock->now;
    flow->is_inside = true;
    for (int32_t j = 0; j < flow->link_count; j++)
        is_in = is_in && link_append(&net->links[flow->links[j]], flow);
    if (!is_in)
        xy_clock_out_of_memory(net->clock);
    change_links(net, flow);
}

static void flow_due(xy_event_t *event)
{
    xy_flow_t *flow = event->owner;
    xy_flows_t *net = flow->net;

    if (flow->is_inside || flow->left <= 0) {
        flow->is_inside = false;
        net->done(net->model, flow);
    } else if (flow->link_count > 0) {
        join(flow);
    } else {
        flow->is_inside = true;
        xy_clock_set(net->clock, &flow->event, net->clock->now + flow->left / flow->most);
    }
}

void xy_flow_init(xy_flow_t *flow, xy_flows_t *net, const int32_t *links, int32_t count,
                  double most)
{
    *flow = (xy_flow_t){.net = net, .links = links, .link_count = count};
    flow->most = most > 0 ? most : INFINITY;
    xy_event_init(&flow->event, flow_due, flow, 0);
}

void xy_flow_start(xy_flow_t *flow, double latency, double bytes)
{
    flow->left = bytes;
    xy_clock_set(flow->net->clock, &flow->event, flow->net->clock->now + latency);
}

xy_status_t xy_flows_init(xy_flows_t *net, xy_clock_t *clock, const double *rates, int32_t count,
                          void *model, xy_flow_fn done)
{
    size_t n = (size_t)count + 1;

    *net = (xy_flows_t){.clock = clock, .link_count = count, .model = model, .done = done};
    xy_event_init(&net->event, changed_due, net, 0);
    net->links = xy_calloc(n, sizeof(*net->links));
    net->changed = xy_calloc(n, sizeof(*net->changed));
    net->near_links = xy_calloc(n, sizeof(*net->near_links));
    if (net->links == NULL || net->changed == NULL || net->near_links == NULL)
        return XY_ENOMEM;
    for (int32_t i = 0; i < count; i++) {
        net->links[i].rate = rates[i];
        xy_event_init(&net->links[i].event, link_due, net, i);
    }
    return XY_OK;
}

void xy_flows_cleanup(xy_flows_t *net)
{
    for (int32_t i = 0; net->links != NULL && i < net->link_count; i++)
        xy_free(net->links[i].flows);
    xy_free(net->links);
    xy_free(net->changed);
    xy_free(net->near_links);
    xy_free(net->near);
    xy_free(net->over);
}

void xy_flows_reset(xy_flows_t *net)
{
    for (int32_t i = 0; i < net->link_count; i++) {
        net->links[i].count = 0;
        net->links[i].is_changed = false;
    }
    net->changed_count = net->inside = 0;
}
