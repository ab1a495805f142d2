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

/* The links and the paths in use that hang together with a link. */
static void find_group(xy_flows_t *net, int32_t link)
{
    net->near_link_count = 0;
    net->near_count = 0;
    reach_link(net, link);
    for (int32_t i = 0; i < net->near_link_count; i++) {
        const xy_flow_link_t *l = &net->links[net->near_links[i]];

        for (int32_t k = 0; k < l->count; k++) {
            xy_flow_path_t *path = l->paths[k];

            if (path->link_count > 1 && path->pass == net->pass)
                continue;
            path->pass = net->pass;
            net->near[net->near_count++] = path;
            for (int32_t j = 0; j < path->link_count && path->link_count > 1; j++)
                reach_link(net, path->links[j]);
        }
    }
    net->steps += (uint64_t)net->near_count + (uint64_t)net->near_link_count;
}

static void advance(xy_flow_path_t *path)
{
    double now = path->net->clock->now;

    path->left -= path->rate * (now - path->since);
    path->since = now;
}

static void advance_group(xy_flows_t *net)
{
    for (int32_t i = 0; i < net->near_count; i++)
        advance(net->near[i]);
}

/* ---- Rates ---- */

static void give(xy_flows_t *net, xy_flow_path_t *path, double rate)
{
    int32_t flows = (int32_t)path->flows.count;

    path->rate = rate;
    for (int32_t j = 0; j < path->link_count; j++) {
        net->links[path->links[j]].room -= rate * flows;
        net->links[path->links[j]].open -= flows;
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

/* Flows that can use no more than `share` get what they can use. Returns how many paths did. */
static int32_t give_most(xy_flows_t *net, double share)
{
    int32_t n = 0;

    for (int32_t i = 0; i < net->near_count; i++) {
        xy_flow_path_t *path = net->near[i];

        if (path->rate >= 0 || path->most > share)
            continue;
        give(net, path, path->most);
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
            if (l->paths[k]->rate < 0) {
                give(net, l->paths[k], share);
                n++;
            }
    }
    return n;
}

/* Sets the max-min fair rates of all paths in the current group. */
static void find_rates(xy_flows_t *net)
{
    int32_t open = net->near_count;

    for (int32_t i = 0; i < net->near_link_count; i++) {
        xy_flow_link_t *l = &net->links[net->near_links[i]];

        l->room = l->rate;
        l->open = 0;
        for (int32_t k = 0; k < l->count; k++)
            l->open += (int32_t)l->paths[k]->flows.count;
    }
    for (int32_t i = 0; i < open; i++)
        net->near[i]->rate = -1;
    while (open > 0) {
        double share = least_share(net);
        int32_t given = give_most(net, share);

        net->steps += (uint64_t)net->near_count + (uint64_t)net->near_link_count;
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
        const xy_flow_path_t *path = net->near[i];

        next = fmin(next, now + fmax(0, path->left) / path->rate);
    }
    for (int32_t i = 0; i < net->near_link_count; i++) {
        int32_t link = net->near_links[i];

        first = link < first ? link : first;
        net->links[link].is_changed = false;
    }
    for (int32_t i = 0; i < net->near_link_count; i++)
        if (net->near_links[i] != first)
            xy_event_cancel(&net->links[net->near_links[i]].event);
    xy_vclock_set(net->clock, &net->links[first].event, next);
}

static void change_links(xy_flows_t *net, const xy_flow_path_t *path)
{
    for (int32_t j = 0; j < path->link_count; j++) {
        xy_flow_link_t *l = &net->links[path->links[j]];

        if (!l->is_changed)
            net->changed[net->changed_count++] = path->links[j];
        l->is_changed = true;
    }
    xy_vclock_set_last(net->clock, &net->event);
}

static void change_group(xy_flows_t *net, int32_t link)
{
    net->pass++;
    find_group(net, link);
    advance_group(net);
    find_rates(net);
    plan_group(net);
}

/* Does the link stand alone? Then no flow crosses it and another. */
static bool is_alone(const xy_flow_link_t *l)
{
    return l->count == 0 || (l->count == 1 && l->paths[0]->link_count == 1);
}

/* Do the work of change_group for a link that stands alone, in a tenth of the instructions: the
 * buses of GPUs do, most of the time. */
static void change_alone(xy_flows_t *net, xy_flow_link_t *l)
{
    xy_flow_path_t *path;

    l->is_changed = false;
    if (l->count == 0) {
        xy_event_cancel(&l->event);
        return;
    }
    path = l->paths[0];
    advance(path);
    path->rate = fmin(path->most, l->rate / (double)path->flows.count);
    xy_vclock_set(net->clock, &l->event, net->clock->now + fmax(0, path->left) / path->rate);
}

/* All changes of this moment. */
static void changed_due(xy_event_t *event)
{
    xy_flows_t *net = event->owner;

    for (int32_t i = 0; i < net->changed_count; i++) {
        xy_flow_link_t *l = &net->links[net->changed[i]];

        if (!l->is_changed)
            continue; /* with a group before it */
        if (is_alone(l))
            change_alone(net, l);
        else
            change_group(net, net->changed[i]);
    }
    net->changed_count = 0;
}

/* Paths without a flow leave the link. */
static void remove_unused(xy_flows_t *net, int32_t link)
{
    xy_flow_link_t *l = &net->links[link];
    int32_t kept = 0;

    for (int32_t k = 0; k < l->count; k++)
        if (l->paths[k]->flows.count > 0)
            l->paths[kept++] = l->paths[k];
    l->count = kept;
}

/* The flow has ended when the rest is rounding: less than a byte, or, after very long times, less
 * than the clock can tell. */
static bool is_over(const xy_flow_path_t *path, double now)
{
    return path->flows.count > 0 && (path->left <= 1 || now + path->left / path->rate <= now);
}

/* The first flow of a path has ended. */
static xy_flow_t *take_first(xy_flow_path_t *path)
{
    double end;
    xy_flow_t *flow = xy_heap_pop(&path->flows, &end);
    const xy_heap_item_t *first = xy_heap_peek(&path->flows);

    if (first != NULL)
        path->left += first->key - end;
    flow->is_moving = false;
    flow->next = NULL;
    return flow;
}

/* Ends the flows of a link's group whose bytes have moved, and calls `done` for each; an event of
 * the clock. */
static void link_due(xy_event_t *event)
{
    xy_flows_t *net = event->owner;
    xy_flow_t *over = NULL, **last = &over;

    net->pass++;
    find_group(net, event->index);
    advance_group(net);
    for (int32_t i = 0; i < net->near_count; i++) {
        xy_flow_path_t *path = net->near[i];

        if (!is_over(path, net->clock->now))
            continue;
        change_links(net, path);
        do {
            *last = take_first(path);
            last = &(*last)->next;
        } while (is_over(path, net->clock->now));
        net->used -= path->flows.count == 0;
    }
    if (over == NULL) /* rounding: not yet */
        change_links(net, net->near[0]);
    for (int32_t i = 0; i < net->near_link_count; i++)
        remove_unused(net, net->near_links[i]);
    while (over != NULL) {
        xy_flow_t *flow = over;

        over = flow->next;
        net->done(net->model, flow);
    }
}

/* ---- Beginning ---- */

/* Adds a path to a link; returns false without memory. */
static bool link_append(xy_flow_link_t *l, xy_flow_path_t *path)
{
    if (l->count == l->capacity) {
        int32_t capacity = l->capacity == 0 ? 8 : 2 * l->capacity;
        xy_flow_path_t **paths = xy_realloc_array(l->paths, (size_t)capacity, sizeof(*paths));

        if (paths == NULL)
            return false;
        l->paths = paths;
        l->capacity = capacity;
    }
    l->paths[l->count++] = path;
    return true;
}

/* The first flow of a path: it comes into use. */
static bool use(xy_flow_path_t *path)
{
    xy_flows_t *net = path->net;
    int32_t capacity = net->capacity == 0 ? 16 : 2 * net->capacity;
    xy_flow_path_t **list;
    bool is_in = true;

    path->rate = 0;
    if (net->used++ >= net->capacity) {
        list = xy_realloc_array(net->near, (size_t)capacity, sizeof(*list));
        if (list == NULL)
            return false;
        net->near = list;
        net->capacity = capacity;
    }
    for (int32_t j = 0; j < path->link_count; j++)
        is_in = is_in && link_append(&net->links[path->links[j]], path);
    return is_in;
}

/* Adds a flow to its path, whose flows share a rate, and marks the links as changed. */
static void join(xy_flow_t *flow)
{
    xy_flow_path_t *path = flow->path;
    const xy_heap_item_t *first = xy_heap_peek(&path->flows);
    double end;

    if (first == NULL) {
        path->left = flow->bytes;
        path->since = path->net->clock->now;
        end = 0;
    } else {
        advance(path);
        end = first->key + (flow->bytes - path->left);
        path->left = fmin(path->left, flow->bytes);
    }
    if ((first == NULL && !use(path)) || xy_heap_push(&path->flows, end, flow) != XY_OK)
        xy_vclock_out_of_memory(path->net->clock);
    change_links(path->net, path);
}

/* Starts the transfer of a flow after its latency, or ends it; an event of the clock. */
static void flow_due(xy_event_t *event)
{
    xy_flow_t *flow = event->owner;
    xy_flow_path_t *path = flow->path;

    if (flow->is_moving || flow->bytes <= 0) {
        flow->is_moving = false;
        path->net->done(path->net->model, flow);
        return;
    }
    flow->is_moving = true;
    if (path->link_count > 0)
        join(flow);
    else
        xy_vclock_set(path->net->clock, &flow->event,
                      path->net->clock->now + flow->bytes / path->most);
}

void xy_flow_path_init(xy_flow_path_t *path, xy_flows_t *net, const int32_t *links, int32_t count,
                       double most)
{
    *path = (xy_flow_path_t){.net = net, .links = links, .link_count = count};
    path->most = most > 0 ? most : INFINITY;
}

void xy_flow_path_cleanup(xy_flow_path_t *path)
{
    xy_heap_cleanup(&path->flows);
}

void xy_flow_path_reset(xy_flow_path_t *path)
{
    path->flows.count = 0;
}

void xy_flow_init(xy_flow_t *flow, xy_flow_path_t *path)
{
    *flow = (xy_flow_t){.path = path};
    xy_event_init(&flow->event, flow_due, flow, 0);
}

void xy_flow_start(xy_flow_t *flow, double latency, double bytes)
{
    xy_vclock_t *clock = flow->path->net->clock;

    flow->bytes = bytes;
    xy_vclock_set(clock, &flow->event, clock->now + latency);
}

xy_status_t xy_flows_init(xy_flows_t *net, xy_vclock_t *clock, const double *rates, int32_t count,
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
        xy_free(net->links[i].paths);
    xy_free(net->links);
    xy_free(net->changed);
    xy_free(net->near_links);
    xy_free(net->near);
}

void xy_flows_reset(xy_flows_t *net)
{
    for (int32_t i = 0; i < net->link_count; i++) {
        net->links[i].count = 0;
        net->links[i].is_changed = false;
    }
    net->changed_count = net->used = 0;
    net->steps = 0;
}
