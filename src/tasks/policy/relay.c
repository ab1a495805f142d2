/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * relay: memories take turns in time, and hand data on to each other.
 *                                          A decision costs O(1), the order O(tasks) per round
 *
 * The tasks are cut into bands by how far they advance their data (relay_order.c). The first memory
 * advances a window of data by its band and slides it over all data; the next one follows a few
 * data behind with the band above, and takes what the first has done from its memory; the last one
 * sends its results home, or, in another round, hands them to the first. Between the main memory
 * and the others data move once per round and not once per band, so several GPUs behind one link
 * load it no more than one.
 *
 *   data -> [ GPU 0: band 0 ] -> [ GPU 1: band 1 ] -> [ GPU 2: band 2 ] -> results
 *
 * Each memory knows the order of all its tasks in advance: it loads ahead in that order, as soon as
 * the last write before a use is complete, and gives up what it uses latest from now.
 */
#include "tasks/policy/relay.h"

enum { LOOKED_AT = 16, LOADED_AHEAD = 192 };
enum { TASK_WAITS, TASK_READY, TASK_PICKED };

typedef struct {
    int32_t next;   /* first of its order that is not picked */
    int32_t loaded; /* all before it have their data, or asked for them */
    int32_t held;
    int32_t *resident; /* data that were in the memory at some time, and may be gone */
    int32_t resident_count;
    bool *is_resident; /* [data] */
    size_t *cursor;    /* [data] next use, an index into uses */
    size_t *end;       /* [data] */
    int32_t wanted;    /* where in the order the prefetch is used that asks for room */
} lane_t;

typedef struct {
    const xy_task_view_t *view;
    relay_order_t order;
    lane_t *lanes;
    int32_t *uses;      /* places in the order that use a datum: datum after datum, by lane */
    uint8_t *state;     /* [ops] TASK_ */
    bool *is_over;      /* [ops] */
    size_t *first;      /* [ops + 1] of its accesses */
    xy_op_id_t *writer; /* [accesses] the last task before it that writes the datum; -1: none */
} relay_t;

/* Frees the policy; NULL is allowed. */
static void destroy(void *state)
{
    relay_t *r = state;

    if (r == NULL)
        return;
    for (int32_t i = 0; r->lanes != NULL && i < r->order.lanes; i++) {
        xy_free(r->lanes[i].resident);
        xy_free(r->lanes[i].is_resident);
        xy_free(r->lanes[i].cursor);
        xy_free(r->lanes[i].end);
    }
    relay_order_cleanup(&r->order);
    xy_free(r->lanes);
    xy_free(r->uses);
    xy_free(r->state);
    xy_free(r->is_over);
    xy_free(r->first);
    xy_free(r->writer);
    xy_free(r);
}

/* ---- Making ---- */

static xy_status_t init_lane(lane_t *l, int32_t data_count, int32_t start)
{
    size_t data = (size_t)data_count + 1;

    l->next = l->loaded = start;
    l->resident = xy_calloc(data, sizeof(*l->resident));
    l->is_resident = xy_calloc(data, sizeof(*l->is_resident));
    l->cursor = xy_calloc(data, sizeof(*l->cursor));
    l->end = xy_calloc(data, sizeof(*l->end));
    return l->resident != NULL && l->is_resident != NULL && l->cursor != NULL && l->end != NULL
               ? XY_OK
               : XY_ENOMEM;
}

/* Sets, for each access, the last earlier task that writes its datum. */
static xy_status_t init_writers(relay_t *r)
{
    int32_t ops = xy_graph_ops(r->view->graph), data = xy_graph_data_count(r->view->graph);
    xy_op_id_t *last = xy_malloc(((size_t)data + 1) * sizeof(*last));
    const xy_access_t *a;

    for (int32_t i = 0; i < ops; i++)
        r->first[i + 1] = r->first[i] + (size_t)xy_graph_accesses(r->view->graph, i, &a);
    r->writer = xy_malloc((r->first[ops] + 1) * sizeof(*r->writer));
    if (last == NULL || r->writer == NULL) {
        xy_free(last);
        return XY_ENOMEM;
    }
    for (int32_t d = 0; d < data; d++)
        last[d] = -1;
    for (int32_t i = 0; i < ops; i++) {
        int32_t n = xy_graph_accesses(r->view->graph, i, &a);

        for (int32_t k = 0; k < n; k++) {
            r->writer[r->first[i] + (size_t)k] = last[a[k].data];
            if (a[k].mode & XY_ACCESS_WRITE)
                last[a[k].data] = i;
        }
    }
    xy_free(last);
    return XY_OK;
}

/* The uses of each datum in the order of each lane. */
static xy_status_t init_uses(relay_t *r)
{
    const xy_graph_t *g = r->view->graph;
    size_t total = 0;
    const xy_access_t *a;

    r->uses = xy_malloc((r->first[xy_graph_ops(g)] + 1) * sizeof(*r->uses));
    if (r->uses == NULL)
        return XY_ENOMEM;
    for (int32_t lane = 0; lane < r->order.lanes; lane++)
        for (int32_t i = r->order.start[lane]; i < r->order.start[lane + 1]; i++)
            for (int32_t k = xy_graph_accesses(g, r->order.order[i], &a) - 1; k >= 0; k--)
                r->lanes[lane].end[a[k].data]++;
    for (int32_t d = 0; d < xy_graph_data_count(g); d++)
        for (int32_t lane = 0; lane < r->order.lanes; lane++) {
            size_t count = r->lanes[lane].end[d];

            r->lanes[lane].cursor[d] = r->lanes[lane].end[d] = total;
            total += count;
        }
    for (int32_t lane = 0; lane < r->order.lanes; lane++)
        for (int32_t i = r->order.start[lane]; i < r->order.start[lane + 1]; i++)
            for (int32_t k = xy_graph_accesses(g, r->order.order[i], &a) - 1; k >= 0; k--)
                r->uses[r->lanes[lane].end[a[k].data]++] = i;
    return XY_OK;
}

/* Makes the order of tasks and one lane per memory with workers; destroy() also frees a part of
 * them. */
static xy_status_t init(relay_t *r, int32_t extra_rounds)
{
    size_t ops = (size_t)xy_graph_ops(r->view->graph) + 1;

    if (relay_order_init(&r->order, r->view, extra_rounds) != XY_OK)
        return XY_ENOMEM;
    r->lanes = xy_calloc((size_t)r->order.lanes, sizeof(*r->lanes));
    r->state = xy_calloc(ops, sizeof(*r->state));
    r->is_over = xy_calloc(ops, sizeof(*r->is_over));
    r->first = xy_calloc(ops + 1, sizeof(*r->first));
    if (r->lanes == NULL || r->state == NULL || r->is_over == NULL || r->first == NULL)
        return XY_ENOMEM;
    for (int32_t i = 0; i < r->order.lanes; i++)
        if (init_lane(&r->lanes[i], xy_graph_data_count(r->view->graph), r->order.start[i]) !=
            XY_OK)
            return XY_ENOMEM;
    return init_writers(r) == XY_OK ? init_uses(r) : XY_ENOMEM;
}

static xy_status_t create(const xy_task_view_t *view, const xy_task_params_t *params,
                          void **state_p)
{
    relay_t *r = xy_calloc(1, sizeof(*r));

    if (r != NULL)
        r->view = view;
    if (r == NULL || init(r, params->extra_rounds) != XY_OK) {
        destroy(r);
        return xy_fail_memory("preparing the order of tasks");
    }
    *state_p = r;
    return XY_OK;
}

/* ---- Answering ---- */

static void ready(void *state, xy_op_id_t op)
{
    relay_t *r = state;

    r->state[op] = TASK_READY;
}

static bool is_complete(const relay_t *r, xy_op_id_t op, int32_t memory)
{
    const xy_access_t *a;

    for (int32_t k = xy_graph_accesses(r->view->graph, op, &a) - 1; k >= 0; k--)
        if ((a[k].mode & XY_ACCESS_READ) && r->view->copies[memory][a[k].data] != XY_TASK_HERE)
            return false;
    return true;
}

/* The first that can run at once; a lane without work also takes one that must wait for data. */
static xy_op_id_t pick(void *state, int32_t worker)
{
    relay_t *r = state;
    int32_t memory = r->view->memory_of[worker], lane = r->order.lane_of[memory];
    lane_t *l = &r->lanes[lane];
    int32_t end = r->order.start[lane + 1];
    xy_op_id_t found = -1;

    while (l->next < end && r->state[r->order.order[l->next]] == TASK_PICKED)
        l->next++;
    for (int32_t i = l->next; i < end && i < l->next + LOOKED_AT; i++) {
        xy_op_id_t op = r->order.order[i];

        if (r->state[op] != TASK_READY)
            continue;
        if (is_complete(r, op, memory)) {
            found = op;
            break;
        }
        if (found < 0 && l->held == 0)
            found = op;
    }
    if (found < 0)
        return -1;
    r->state[found] = TASK_PICKED;
    l->held++;
    return found;
}

static void done(void *state, int32_t worker, xy_op_id_t op)
{
    relay_t *r = state;

    r->is_over[op] = true;
    r->lanes[r->order.lane_of[r->view->memory_of[worker]]].held--;
}

static void arrived(void *state, int32_t memory, int32_t data)
{
    relay_t *r = state;
    int32_t lane = r->order.lane_of[memory];

    if (lane < 0 || r->lanes[lane].is_resident[data])
        return;
    r->lanes[lane].is_resident[data] = true;
    r->lanes[lane].resident[r->lanes[lane].resident_count++] = data;
}

static int64_t next_use(void *state, int32_t memory, int32_t data)
{
    relay_t *r = state;
    lane_t *l = &r->lanes[r->order.lane_of[memory]];

    while (l->cursor[data] < l->end[data] && r->uses[l->cursor[data]] < l->next)
        l->cursor[data]++;
    return l->cursor[data] < l->end[data] ? r->uses[l->cursor[data]] : INT64_MAX;
}

/* A datum that a task of the order lacks and can have: its last write is complete. */
static int32_t missing_of(const relay_t *r, xy_op_id_t op, int32_t memory, bool *is_waiting_p)
{
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(r->view->graph, op, &a);

    for (int32_t k = 0; k < n; k++) {
        xy_op_id_t writer = r->writer[r->first[op] + (size_t)k];

        if (!(a[k].mode & XY_ACCESS_READ) || r->view->copies[memory][a[k].data] != 0)
            continue;
        if (writer < 0 || r->is_over[writer])
            return a[k].data;
        *is_waiting_p = true;
    }
    return -1;
}

/* Returns the next datum that the lane of a memory needs, at most LOADED_AHEAD tasks ahead, or
 * -1. */
static int32_t prefetch(void *state, int32_t memory)
{
    relay_t *r = state;
    int32_t lane = r->order.lane_of[memory], end;
    bool is_waiting = false;
    lane_t *l;

    if (lane < 0)
        return -1;
    l = &r->lanes[lane];
    end = r->order.start[lane + 1];
    if (l->loaded < l->next)
        l->loaded = l->next;
    if (end > l->next + LOADED_AHEAD)
        end = l->next + LOADED_AHEAD;
    for (int32_t i = l->loaded; i < end; i++) {
        int32_t data = missing_of(r, r->order.order[i], memory, &is_waiting);

        if (data >= 0) {
            l->wanted = i;
            return data;
        }
        if (!is_waiting)
            l->loaded = i;
    }
    return -1;
}

/* Another memory holds it too: it can go at once. */
static bool is_elsewhere(const relay_t *r, int32_t memory, int32_t data)
{
    for (int32_t m = 0; m < r->view->memories; m++)
        if (m != memory && r->view->copies[m][data] == XY_TASK_HERE)
            return true;
    return false;
}

/* Another lane looks far enough ahead to take it over soon: then it need not go through the main
 * memory. */
static bool is_awaited(relay_t *r, int32_t memory, int32_t data)
{
    for (int32_t k = 0; k < r->order.lanes; k++) {
        int32_t other = r->order.memory_of[k];

        if (other != memory && r->view->copies[other][data] == 0 &&
            next_use(r, other, data) < r->lanes[k].next + LOADED_AHEAD)
            return true;
    }
    return false;
}

/* Removes data from the list of residents that have left the memory. */
static void forget_gone(const relay_t *r, lane_t *l, int32_t memory)
{
    int32_t kept = 0;

    for (int32_t i = 0; i < l->resident_count; i++) {
        int32_t d = l->resident[i];

        if (r->view->copies[memory][d] != 0)
            l->resident[kept++] = d;
        else
            l->is_resident[d] = false;
    }
    l->resident_count = kept;
}

/* Choose the datum that is used latest from now, among equals one that need not be written back. A
 * prefetch makes room only by data that is used later than itself and is not about to be handed on.
 */
static int32_t victim(void *state, int32_t memory, bool is_prefetch,
                      bool (*is_free)(const void *arg, int32_t data), const void *arg)
{
    relay_t *r = state;
    lane_t *l = &r->lanes[r->order.lane_of[memory]];
    int64_t latest = is_prefetch ? l->wanted : -1;
    bool is_best_clean = true;
    int32_t best = -1;

    forget_gone(r, l, memory);
    for (int32_t i = 0; i < l->resident_count; i++) {
        int32_t d = l->resident[i];
        int64_t use = next_use(r, memory, d);
        bool is_clean;

        if (use < latest || (use == latest && is_best_clean) || !is_free(arg, d))
            continue;
        is_clean = is_elsewhere(r, memory, d);
        if ((use == latest && !is_clean) || (is_prefetch && !is_clean && is_awaited(r, memory, d)))
            continue;
        latest = use;
        best = d;
        is_best_clean = is_clean;
    }
    return best;
}

const xy_task_policy_t policy_relay = {
    .name = "relay",
    .describe = "memories take turns in time, and hand data on to each other (Xylem's own)",
    .eviction = "belady-plan",
    .is_writing_early = true,
    .is_evicting_for_prefetch = true,
    .is_strict = true,
    .create = create,
    .destroy = destroy,
    .ready = ready,
    .pick = pick,
    .done = done,
    .arrived = arrived,
    .prefetch = prefetch,
    .victim = victim,
    .next_use = next_use,
};
