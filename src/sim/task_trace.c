/* SPDX-License-Identifier: BSD-3-Clause */
/* What the simulated task engine records: a row per worker and per way, the use of memories. */
#include "sim/task_internal.h"

struct sim_task_trace {
    xy_task_observer_t observer;
    const xy_task_observer_t *next;
    const xy_graph_t *graph;
    xy_trace_t *trace;
    int32_t memories;
    xy_trace_row_t **workers; /* [workers] */
    xy_trace_row_t **ways;    /* [memories * memories]; NULL: no such way */
    xy_trace_row_t **rooms;   /* [memories] */
    uint32_t task, load, store, peer, used;
};

static uint64_t ns(double seconds)
{
    return (uint64_t)(seconds * 1e9 + 0.5);
}

static void on_task(void *arg, int32_t worker, xy_op_id_t op, double start, double end)
{
    const sim_task_trace_t *t = arg;

    xy_trace_state_at(t->workers[worker], ns(start), ns(end), t->task, op, XY_TRACE_NO_LABEL);
    if (t->next != NULL && t->next->task != NULL)
        t->next->task(t->next->arg, worker, op, start, end);
}

static void on_transfer(void *arg, int32_t data, int32_t from, int32_t to, double start, double end)
{
    const sim_task_trace_t *t = arg;
    uint32_t kind = from == 0 ? t->load : to == 0 ? t->store : t->peer;

    xy_trace_state_at(t->ways[from * t->memories + to], ns(start), ns(end), kind, data,
                      XY_TRACE_NO_LABEL);
    if (t->next != NULL && t->next->transfer != NULL)
        t->next->transfer(t->next->arg, data, from, to, start, end);
}

static void on_memory(void *arg, int32_t memory, double time, uint64_t used)
{
    const sim_task_trace_t *t = arg;

    xy_trace_counter_at(t->rooms[memory], ns(time), t->used, (double)used);
    if (t->next != NULL && t->next->memory != NULL)
        t->next->memory(t->next->arg, memory, time, used);
}

static const char *memory_name(int32_t memory, char buffer[32])
{
    if (memory == 0)
        return "main memory";
    snprintf(buffer, 32, "GPU %d", memory - 1);
    return buffer;
}

static xy_status_t open_rows(sim_task_trace_t *t, const xy_task_platform_t *p)
{
    char name[96], a[32], b[32];
    xy_status_t st = XY_OK;

    for (int32_t w = 0; w < p->workers && st == XY_OK; w++) {
        snprintf(name, sizeof(name), "worker %d", w);
        st = xy_trace_row_create(t->trace, name, memory_name(p->memory_of[w], a), &t->workers[w]);
    }
    for (int32_t m = 1; m < p->memories && st == XY_OK; m++) {
        snprintf(name, sizeof(name), "memory of %s", memory_name(m, a));
        st = xy_trace_row_create(t->trace, name, memory_name(m, a), &t->rooms[m]);
    }
    for (int32_t i = 0; i < p->memories * p->memories && st == XY_OK; i++) {
        if (p->rate[i] <= 0)
            continue;
        snprintf(name, sizeof(name), "%s to %s", memory_name(i / p->memories, a),
                 memory_name(i % p->memories, b));
        st = xy_trace_row_create(t->trace, name, "links", &t->ways[i]);
    }
    return st;
}

xy_status_t sim_task_trace_open(const char *path, const xy_graph_t *graph,
                                const xy_task_platform_t *platform, const char *policy,
                                const xy_task_observer_t *next, sim_task_trace_t **trace_p)
{
    size_t memories = (size_t)platform->memories;
    sim_task_trace_t *t = xy_calloc(1, sizeof(*t));
    xy_status_t st;

    if (t == NULL)
        return xy_fail_memory("recording the simulation");
    t->observer = (xy_task_observer_t){t, on_task, on_transfer, on_memory};
    t->next = next;
    t->graph = graph;
    t->memories = platform->memories;
    t->workers = xy_calloc((size_t)platform->workers, sizeof(*t->workers));
    t->ways = xy_calloc(memories * memories, sizeof(*t->ways));
    t->rooms = xy_calloc(memories, sizeof(*t->rooms));
    st = t->workers != NULL && t->ways != NULL && t->rooms != NULL
             ? xy_trace_create(path,
                               &(xy_trace_options_t){.title = policy, .clock = XY_TRACE_VIRTUAL},
                               &t->trace)
             : xy_fail_memory("recording the simulation");
    if (st == XY_OK)
        st = open_rows(t, platform);
    if (st != XY_OK) {
        (void)sim_task_trace_close(t);
        return st;
    }
    t->task = xy_trace_kind(t->trace, "task", XY_TRACE_COMPUTE, 0);
    t->load = xy_trace_kind(t->trace, "load", XY_TRACE_PROGRESS, 0);
    t->store = xy_trace_kind(t->trace, "store", XY_TRACE_PROGRESS, 0);
    t->peer = xy_trace_kind(t->trace, "between GPUs", XY_TRACE_PROGRESS, 0);
    t->used = xy_trace_counter_name(t->trace, "used", "bytes");
    *trace_p = t;
    return XY_OK;
}

const xy_task_observer_t *sim_task_trace_observer(const sim_task_trace_t *trace)
{
    return &trace->observer;
}

xy_status_t sim_task_trace_close(sim_task_trace_t *trace)
{
    xy_status_t st = xy_trace_close(trace->trace);

    xy_free(trace->workers);
    xy_free(trace->ways);
    xy_free(trace->rooms);
    xy_free(trace);
    return st;
}
