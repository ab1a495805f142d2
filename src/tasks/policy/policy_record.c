/* SPDX-License-Identifier: BSD-3-Clause */
#include "tasks/policy/policy_record.h"

#include <stdio.h>

#include "trace/trace.h"

enum { LANES = 4 };

/* The states of a row must not overlap, so transfers at the same time on the same way have rows of
 * their own. */
typedef struct {
    xy_trace_row_t *rows[LANES]; /* NULL: not used so far */
    uint64_t ends[LANES];
} way_t;

struct xy_task_trace {
    xy_task_observer_t observer;
    const xy_task_observer_t *next;
    xy_trace_t *trace;
    xy_task_memories_t kind;
    const xy_graph_t *graph;
    int32_t memories;
    int32_t *worker_of;        /* [memories] the first that computes there; -1: none */
    xy_trace_row_t **workers;  /* [workers] */
    xy_trace_row_t **rooms;    /* [memories] */
    uint64_t *evictions;       /* [memories] */
    xy_trace_row_t *decisions; /* of GPUs in real time; NULL: there was none */
    way_t *ways;               /* [memories * memories + 2]: the last two from and to other ranks */
    uint32_t task, decision, wait, load, store, peer, message, used, evicted;
    xy_status_t status;
};

static uint64_t ns(double seconds)
{
    return (uint64_t)(seconds * 1e9 + 0.5);
}

static const char *memory_name(xy_task_memories_t kind, int32_t memory, char buffer[32])
{
    static const char *const names[] = {"GPU", "core", "memory", "GPU"};

    if (memory == 0)
        return kind == XY_TASK_FILE ? "file" : "main memory";
    if (kind == XY_TASK_FILE)
        return names[kind];
    snprintf(buffer, 32, "%s %d", names[kind], memory - 1);
    return buffer;
}

/* A core has one way from everywhere: what matters is whose cache it was loaded into. */
static int32_t way_of(const xy_task_trace_t *t, int32_t from, int32_t to)
{
    if (t->kind == XY_TASK_CACHES)
        from = to == 0 ? 1 : 0;
    return from * t->memories + to;
}

/* Creates the trace row of a transfer direction; `lane` counts concurrent transfers. */
static xy_status_t open_way(xy_task_trace_t *t, int32_t way, int lane)
{
    int32_t from = way / t->memories, to = way % t->memories;
    char name[96], more[16] = "", a[32], b[32];

    if (lane > 0)
        snprintf(more, sizeof(more), ", %d", lane + 1);
    if (way >= t->memories * t->memories)
        snprintf(name, sizeof(name), "%s other ranks%s",
                 way == t->memories * t->memories ? "from" : "to", more);
    else if (t->kind == XY_TASK_CACHES)
        snprintf(name, sizeof(name), "to %s%s", memory_name(t->kind, to, b), more);
    else
        snprintf(name, sizeof(name), "%s to %s%s", memory_name(t->kind, from, a),
                 memory_name(t->kind, to, b), more);
    return xy_trace_row_create(t->trace, name, "links", &t->ways[way].rows[lane]);
}

/* Transfers come in the order of their ends: the row that was busy last before this one begins
 * leaves the others free for those that began earlier. NULL: memory ran out. */
static xy_trace_row_t *find_lane(xy_task_trace_t *t, int32_t way, uint64_t start, uint64_t end)
{
    way_t *w = &t->ways[way];
    int best = -1;

    for (int i = 0; i < LANES; i++)
        if (w->ends[i] <= start && (best < 0 || w->ends[i] > w->ends[best]))
            best = i;
    if (best < 0)
        best = LANES - 1;
    if (w->rows[best] == NULL) {
        xy_status_t st = open_way(t, way, best);

        t->status = t->status == XY_OK ? st : t->status;
    }
    w->ends[best] = end;
    return w->rows[best];
}

static void on_task(void *arg, int32_t worker, xy_op_id_t op, double start, double end)
{
    const xy_task_trace_t *t = arg;

    xy_trace_state_at(t->workers[worker], ns(start), ns(end), t->task, op, XY_TRACE_NO_LABEL);
    if (t->next != NULL && t->next->task != NULL)
        t->next->task(t->next->arg, worker, op, start, end);
}

/* A transfer is a message of the GPUs at its ends, so that their overlap is how much of their
 * transfers was hidden. Caches are loaded by the tasks themselves, and a file by any worker. */
static void put_message(const xy_task_trace_t *t, int32_t data, int32_t from, int32_t to,
                        uint64_t start, uint64_t end)
{
    int32_t a = from != 0 ? t->worker_of[from] : t->worker_of[to];
    int32_t b = to != 0 ? t->worker_of[to] : t->worker_of[from];

    if ((t->kind != XY_TASK_GPUS && t->kind != XY_TASK_DEVICES) || a < 0 || b < 0)
        return;
    xy_trace_link_at(t->workers[b], xy_trace_row_number(t->workers[a]), start,
                     xy_trace_row_number(t->workers[b]), end,
                     xy_graph_data_at(t->graph, data)->bytes, XY_TRACE_NO_LABEL);
}

static void on_transfer(void *arg, int32_t data, int32_t from, int32_t to, double start, double end)
{
    xy_task_trace_t *t = arg;
    uint32_t kind = from == 0 ? t->load : to == 0 ? t->store : t->peer;

    xy_trace_state_at(find_lane(t, way_of(t, from, to), ns(start), ns(end)), ns(start), ns(end),
                      kind, data, XY_TRACE_NO_LABEL);
    put_message(t, data, from, to, ns(start), ns(end));
    if (t->next != NULL && t->next->transfer != NULL)
        t->next->transfer(t->next->arg, data, from, to, start, end);
}

static void on_memory(void *arg, int32_t memory, double time, uint64_t used)
{
    const xy_task_trace_t *t = arg;

    xy_trace_counter_at(t->rooms[memory], ns(time), t->used, (double)used);
    if (t->next != NULL && t->next->memory != NULL)
        t->next->memory(t->next->arg, memory, time, used);
}

static void on_pause(void *arg, int32_t worker, bool is_decision, double start, double end)
{
    const xy_task_trace_t *t = arg;

    xy_trace_state_at(t->workers[worker], ns(start), ns(end), is_decision ? t->decision : t->wait,
                      XY_TRACE_NO_ID, XY_TRACE_NO_LABEL);
    if (t->next != NULL && t->next->pause != NULL)
        t->next->pause(t->next->arg, worker, is_decision, start, end);
}

static void on_evict(void *arg, int32_t memory, int32_t data, double time)
{
    const xy_task_trace_t *t = arg;

    xy_trace_counter_at(t->rooms[memory], ns(time), t->evicted, (double)++t->evictions[memory]);
    if (t->next != NULL && t->next->evict != NULL)
        t->next->evict(t->next->arg, memory, data, time);
}

/* One thread decides for all GPUs, while they compute: it has a row of its own. */
static void on_decide(void *arg, int32_t worker, xy_op_id_t op, double start, double end)
{
    xy_task_trace_t *t = arg;

    if (t->decisions == NULL && t->status == XY_OK)
        t->status = xy_trace_row_create(t->trace, "decisions", "main memory", &t->decisions);
    if (t->decisions != NULL)
        xy_trace_state_at(t->decisions, ns(start), ns(end), t->decision, op, XY_TRACE_NO_LABEL);
    if (t->next != NULL && t->next->decide != NULL)
        t->next->decide(t->next->arg, worker, op, start, end);
}

/* More may be under way at once than there are rows: then a row has what is left of its time. */
static void on_message(void *arg, int32_t data, int32_t peer, bool is_send, double start,
                       double end)
{
    xy_task_trace_t *t = arg;
    way_t *way = &t->ways[t->memories * t->memories + is_send];
    uint64_t begin = ns(start), earliest = UINT64_MAX;

    for (int i = 0; i < LANES; i++)
        earliest = way->ends[i] < earliest ? way->ends[i] : earliest;
    begin = begin < earliest ? earliest : begin;
    begin = begin < ns(end) ? begin : ns(end);
    xy_trace_state_at(find_lane(t, t->memories * t->memories + is_send, begin, ns(end)), begin,
                      ns(end), t->message, data, XY_TRACE_NO_LABEL);
    if (t->next != NULL && t->next->message != NULL)
        t->next->message(t->next->arg, data, peer, is_send, start, end);
}

/* Creates the trace rows of workers, memories and links. */
static xy_status_t open_rows(xy_task_trace_t *t, const xy_task_view_t *view)
{
    char name[96], a[32];
    xy_status_t st = XY_OK;

    for (int32_t w = 0; w < view->workers && st == XY_OK; w++) {
        snprintf(name, sizeof(name), "worker %d", w);
        st = xy_trace_row_create(t->trace, name, memory_name(t->kind, view->memory_of[w], a),
                                 &t->workers[w]);
    }
    for (int32_t m = 1; m < view->memories && st == XY_OK; m++) {
        snprintf(name, sizeof(name), "%s%s", t->kind == XY_TASK_CACHES ? "cache of " : "memory of ",
                 memory_name(t->kind, m, a));
        st = xy_trace_row_create(t->trace, t->kind == XY_TASK_FILE ? "memory" : name,
                                 memory_name(t->kind, m, a), &t->rooms[m]);
    }
    for (int32_t i = 0; i < t->memories * t->memories && st == XY_OK; i++)
        if (view->transfer_rate[i] > 0 && way_of(t, i / t->memories, i % t->memories) == i)
            st = open_way(t, i, 0);
    return st;
}

static void find_workers(xy_task_trace_t *t, const xy_task_view_t *view)
{
    for (int32_t m = 0; m < t->memories; m++)
        t->worker_of[m] = -1;
    for (int32_t w = view->workers - 1; w >= 0; w--)
        t->worker_of[view->memory_of[w]] = w;
}

static void open_names(xy_task_trace_t *t)
{
    t->task = xy_trace_kind(t->trace, "task", XY_TRACE_COMPUTE, 0);
    t->decision = xy_trace_kind(t->trace, "decision", XY_TRACE_OTHER, 0);
    t->wait = xy_trace_kind(t->trace, "wait", XY_TRACE_WAIT, 0);
    t->load = xy_trace_kind(t->trace, "load", XY_TRACE_PROGRESS, 0);
    t->store = xy_trace_kind(t->trace, "store", XY_TRACE_PROGRESS, 0);
    t->peer = xy_trace_kind(t->trace, t->kind == XY_TASK_CACHES ? "between caches" : "between GPUs",
                            XY_TRACE_PROGRESS, 0);
    t->message = xy_trace_kind(t->trace, "message", XY_TRACE_PROGRESS, 0);
    t->used = xy_trace_counter_name(t->trace, "used", "bytes");
    t->evicted = xy_trace_counter_name(t->trace, "evictions", "");
}

xy_status_t xy_task_trace_open(const char *path, const xy_task_view_t *view,
                               xy_task_memories_t memories, const char *title,
                               const xy_task_observer_t *next, xy_task_trace_t **trace_p)
{
    xy_trace_options_t options = {.title = title, .clock = XY_TRACE_GIVEN};
    size_t n = (size_t)view->memories;
    xy_task_trace_t *t = xy_calloc(1, sizeof(*t));
    xy_status_t st;

    if (t == NULL)
        return xy_fail_memory("recording the tasks");
    if (memories == XY_TASK_GPUS)
        options.clock = XY_TRACE_VIRTUAL;
    t->observer = (xy_task_observer_t){.arg = t,
                                       .task = on_task,
                                       .transfer = on_transfer,
                                       .memory = on_memory,
                                       .pause = on_pause,
                                       .evict = on_evict,
                                       .decide = on_decide,
                                       .message = on_message};
    t->next = next;
    t->kind = memories;
    t->memories = view->memories;
    t->graph = view->graph;
    t->worker_of = xy_malloc(n * sizeof(*t->worker_of));
    t->workers = xy_calloc((size_t)view->workers, sizeof(*t->workers));
    t->ways = xy_calloc(n * n + 2, sizeof(*t->ways));
    t->rooms = xy_calloc(n, sizeof(*t->rooms));
    t->evictions = xy_calloc(n, sizeof(*t->evictions));
    st = t->workers != NULL && t->ways != NULL && t->rooms != NULL && t->worker_of != NULL &&
                 t->evictions != NULL
             ? xy_trace_create(path, &options, &t->trace)
             : xy_fail_memory("recording the tasks");
    if (st == XY_OK)
        st = open_rows(t, view);
    if (st != XY_OK) {
        (void)xy_task_trace_close(t);
        return st;
    }
    open_names(t);
    find_workers(t, view);
    *trace_p = t;
    return XY_OK;
}

const xy_task_observer_t *xy_task_trace_observer(const xy_task_trace_t *trace)
{
    return &trace->observer;
}

xy_status_t xy_task_trace_close(xy_task_trace_t *trace)
{
    xy_status_t st, opened;

    if (trace == NULL)
        return XY_OK;
    opened = trace->status;
    st = xy_trace_close(trace->trace);
    xy_free(trace->workers);
    xy_free(trace->ways);
    xy_free(trace->rooms);
    xy_free(trace->evictions);
    xy_free(trace->worker_of);
    xy_free(trace);
    return opened != XY_OK ? opened : st;
}
