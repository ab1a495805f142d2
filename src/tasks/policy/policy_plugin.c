/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Policies of the user: shared objects with the table of include/xylem_plugin.h.
 *
 * Engines see an ordinary policy. Its functions pass calls on, and check the answers: a task must
 * be ready and not yet picked, a datum to give up must be free. The first answer that breaks a rule
 * is reported; from then on the policy picks nothing, and the run ends with an error.
 */
#include <stdatomic.h>
#include <string.h>
#include <xylem_plugin.h>

#include "tasks/policy/policy_internal.h"

_Static_assert((int)XYLEM_PLUGIN_READ == (int)XY_ACCESS_READ &&
                   (int)XYLEM_PLUGIN_WRITE == (int)XY_ACCESS_WRITE &&
                   (int)XYLEM_PLUGIN_HERE == (int)XY_TASK_HERE &&
                   (int)XYLEM_PLUGIN_COMING == (int)XY_TASK_COMING,
               "numbers are passed on as they are");
_Static_assert(sizeof(xylem_plugin_access) == sizeof(xy_access_t), "accesses are copied as one");

/* ---- A run ---- */

enum { WAITING, READY, PICKED }; /* a task */

typedef struct {
    const xylem_policy *table;
    const char *path;
    xylem_policy_view view;
    void *state; /* of the plug-in */
    bool is_created, is_faulty;
    uint8_t *stages; /* [tasks] */
    xylem_plugin_task *tasks;
    xylem_plugin_datum *data;
    xylem_plugin_access *accesses; /* of all tasks */
} run_t;

/* Frees the run and, if it was created, the state of the plug-in; NULL is allowed. */
static void destroy(void *state)
{
    run_t *r = state;

    if (r == NULL)
        return;
    if (r->is_created)
        r->table->destroy(r->state);
    xy_free(r->stages);
    xy_free(r->tasks);
    xy_free(r->data);
    xy_free(r->accesses);
    xy_free(r);
}

/* Copies a task into the form of the plug-in interface; its accesses start at `first`. */
static void copy_task(run_t *r, const xy_graph_t *graph, xy_op_id_t op, size_t first)
{
    const xy_op_t *o = xy_graph_op(graph, op);
    xylem_plugin_task *t = &r->tasks[op];
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(graph, op, &a);

    *t = (xylem_plugin_task){.seconds = o->seconds,
                             .priority = o->priority,
                             .iteration = o->iteration,
                             .accesses = r->accesses + first,
                             .access_count = n,
                             .predecessors = xy_graph_predecessors(graph, op)};
    memcpy(t->position, o->position, sizeof(t->position));
    t->successor_count = xy_graph_successors(graph, op, &t->successors);
    for (int32_t i = 0; i < n; i++)
        r->accesses[first + (size_t)i] = (xylem_plugin_access){a[i].data, (int32_t)a[i].mode};
}

static size_t count_accesses(const xy_graph_t *graph)
{
    const xy_access_t *a;
    size_t count = 0;

    for (xy_op_id_t i = 0; i < xy_graph_ops(graph); i++)
        count += (size_t)xy_graph_accesses(graph, i, &a);
    return count;
}

/* The graph as the plug-in sees it. ENOMEM in silence. */
static xy_status_t copy_graph(run_t *r, const xy_graph_t *graph)
{
    int32_t ops = xy_graph_ops(graph), data = xy_graph_data_count(graph);
    size_t first = 0;

    r->stages = xy_calloc((size_t)ops + 1, sizeof(*r->stages));
    r->tasks = xy_calloc((size_t)ops + 1, sizeof(*r->tasks));
    r->data = xy_calloc((size_t)data + 1, sizeof(*r->data));
    r->accesses = xy_calloc(count_accesses(graph) + 1, sizeof(*r->accesses));
    if (r->stages == NULL || r->tasks == NULL || r->data == NULL || r->accesses == NULL)
        return XY_ENOMEM;
    for (xy_op_id_t i = 0; i < ops; i++) {
        copy_task(r, graph, i, first);
        first += (size_t)r->tasks[i].access_count;
    }
    for (int32_t d = 0; d < data; d++) {
        const xy_data_t *datum = xy_graph_data_at(graph, d);

        r->data[d] = (xylem_plugin_datum){.bytes = datum->bytes, .home = datum->home};
        memcpy(r->data[d].position, datum->position, sizeof(r->data[d].position));
    }
    return XY_OK;
}

/* Copies the graph for the plug-in and creates its state; XY_EINVAL if it refuses. */
static xy_status_t create(const xy_task_view_t *view, const xy_task_params_t *params,
                          void **state_p)
{
    run_t *r = xy_calloc(1, sizeof(*r));
    int refusal;

    if (r == NULL || copy_graph(r, view->graph) != XY_OK) {
        destroy(r);
        return xy_fail_memory("preparing the policy");
    }
    r->table = params->policy->plugin;
    r->path = params->policy->name;
    r->view = (xylem_policy_view){.task_count = xy_graph_ops(view->graph),
                                  .data_count = xy_graph_data_count(view->graph),
                                  .workers = view->workers,
                                  .memories = view->memories,
                                  .tasks = r->tasks,
                                  .data = r->data,
                                  .memory_of = view->memory_of,
                                  .speed = view->speed,
                                  .capacity = view->capacity,
                                  .copies = view->copies,
                                  .latency = view->transfer_latency,
                                  .rate = view->transfer_rate,
                                  .now = view->now};
    refusal = r->table->create(&r->view, &r->state);
    if (refusal != 0) {
        xy_status_t st = xy_fail(XY_EINVAL, "policy %s refuses the graph: its 'create' returned %d",
                                 r->path, refusal);

        destroy(r);
        return st;
    }
    r->is_created = true;
    *state_p = r;
    return XY_OK;
}

/* ---- Faults ---- */

static bool is_faulty(const void *state)
{
    return ((const run_t *)state)->is_faulty;
}

bool policy_plugin_is_first(const char *path)
{
    static _Atomic(const char *) reported;
    const char *before = atomic_exchange(&reported, path);

    return before != path; /* names of plug-ins are made once, see policy_plugin_find */
}

static int32_t fault(run_t *r, const char *what, int32_t number, const char *why)
{
    r->is_faulty = true;
    if (policy_plugin_is_first(r->path))
        xy_fail(XY_EINVAL, "policy %s %s %d, which %s", r->path, what, number, why);
    return -1;
}

/* ---- Calls that are passed on ---- */

static void ready(void *state, xy_op_id_t op)
{
    run_t *r = state;

    r->stages[op] = READY;
    if (!r->is_faulty)
        r->table->ready(r->state, op);
}

/* Returns the task that the plug-in picks, or -1; an invalid one is reported as a fault. */
static xy_op_id_t pick(void *state, int32_t worker)
{
    run_t *r = state;
    int32_t op = r->is_faulty ? -1 : r->table->pick(r->state, worker);

    if (op == -1)
        return -1;
    if (op < 0 || op >= r->view.task_count)
        return fault(r, "picked task", op, "does not exist");
    if (r->stages[op] != READY)
        return fault(r, "picked task", op,
                     r->stages[op] == PICKED ? "was picked before" : "is not ready");
    r->stages[op] = PICKED;
    return op;
}

static void done(void *state, int32_t worker, xy_op_id_t op)
{
    run_t *r = state;

    if (!r->is_faulty)
        r->table->done(r->state, worker, op);
}

static void arrived(void *state, int32_t memory, int32_t data)
{
    run_t *r = state;

    if (!r->is_faulty)
        r->table->arrived(r->state, memory, data);
}

static int32_t prefetch(void *state, int32_t memory)
{
    run_t *r = state;
    int32_t data = r->is_faulty ? -1 : r->table->prefetch(r->state, memory);

    if (data < -1 || data >= r->view.data_count)
        return fault(r, "prefetches datum", data, "does not exist");
    return data;
}

typedef struct {
    bool (*is_free)(const void *arg, int32_t data);
    const void *arg;
    int32_t data_count;
} free_t;

static int may_go(const void *arg, int32_t data)
{
    const free_t *f = arg;

    return data >= 0 && data < f->data_count && f->is_free(f->arg, data);
}

static int32_t victim(void *state, int32_t memory, bool is_prefetch,
                      bool (*is_free)(const void *arg, int32_t data), const void *arg)
{
    run_t *r = state;
    free_t f = {is_free, arg, r->view.data_count};
    xylem_plugin_free allowed = {may_go, &f};
    int32_t data = r->is_faulty ? -1 : r->table->victim(r->state, memory, is_prefetch, &allowed);

    if (data == -1 || may_go(&f, data))
        return data;
    return fault(r, "evicts datum", data,
                 data < 0 || data >= r->view.data_count ? "does not exist"
                                                        : "is in use or not in that memory");
}

static int64_t next_use(void *state, int32_t memory, int32_t data)
{
    run_t *r = state;
    int64_t use = r->is_faulty ? INT64_MAX : r->table->next_use(r->state, memory, data);

    return use < 0 ? 0 : use;
}

/* ---- Loading ---- */

/* Checks the table of a plug-in for missing functions and wrong values. */
static xy_status_t check(const xylem_policy *t, const char *path)
{
    const char *missing = t->create == NULL    ? "create"
                          : t->destroy == NULL ? "destroy"
                          : t->ready == NULL   ? "ready"
                          : t->pick == NULL    ? "pick"
                                               : NULL;
    const xy_task_eviction_t *eviction;

    if (missing != NULL)
        return xy_fail(XY_EINVAL, "policy %s has no function '%s' in its table", path, missing);
    if (t->tasks_held < 0)
        return xy_fail(XY_EINVAL, "policy %s has %d tasks_held in its table", path, t->tasks_held);
    return t->eviction != NULL ? xy_task_eviction_find(t->eviction, &eviction) : XY_OK;
}

/* Loads the plug-in at `path` and makes a policy of its table; the caller owns it. */
static xy_status_t make(const char *path, void **object_p)
{
    const xylem_policy *t;
    const void *table;
    xy_task_policy_t *p;
    xy_status_t st = xy_plugin_load(path, "policy", "xylem_plugin_policy", &table);

    if (st != XY_OK)
        return st;
    t = table;
    st = check(t, path);
    if (st != XY_OK)
        return st;
    p = xy_malloc(sizeof(*p));
    if (p == NULL)
        return xy_fail_memory("loading a policy");
    *p = (xy_task_policy_t){.name = path,
                            .describe = "a plug-in",
                            .eviction = t->eviction != NULL ? t->eviction : "clean-first",
                            .pipeline = t->tasks_held,
                            .is_writing_early = t->is_writing_early != 0,
                            .is_strict = t->is_strict != 0,
                            .is_evicting_for_prefetch = t->is_evicting_for_prefetch != 0,
                            .create = create,
                            .destroy = destroy,
                            .ready = ready,
                            .pick = pick,
                            .done = t->done != NULL ? done : NULL,
                            .arrived = t->arrived != NULL ? arrived : NULL,
                            .prefetch = t->prefetch != NULL ? prefetch : NULL,
                            .victim = t->victim != NULL ? victim : NULL,
                            .next_use = t->next_use != NULL ? next_use : NULL,
                            .is_faulty = is_faulty,
                            .plugin = t};
    *object_p = p;
    return XY_OK;
}

xy_status_t policy_plugin_find(const char *path, const xy_task_policy_t **policy_p)
{
    static xy_plugin_objects_t policies = XY_PLUGIN_OBJECTS_INIT;
    void *found;
    xy_status_t st = xy_plugin_find(&policies, path, make, &found);

    if (st == XY_OK)
        *policy_p = found;
    return st;
}
