/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * closure: run all tasks whose data are present, then load the data that enable most.
 *                                   A decision costs O(tasks that a load frees), spread over them
 *
 * Each memory has a plan, a little ahead of time: the data it will hold and the tasks it will run.
 * A task joins the plan as soon as the plan holds its data and all that comes before it, so the
 * plan advances as far as the data reach, through the graph: their closure. When nothing is left,
 * the tasks that wait for data only are compared: if the missing data of this one were there, how
 * much work could run, directly and in consequence, per byte loaded? The best one's data are
 * loaded; what the freed work uses least, and longest ago, goes. In the plan a load comes before
 * its tasks, so the engine brings the data while earlier tasks run.
 *
 *   a stencil of 3 points, 4 blocks held; numbers are iterations done      . not held
 *     [0 0 0 0] 0 0    closure        [. 1 2 1] 0 0    (what the neighbours allow)
 *     load block 5, which frees a diagonal of tasks; give up block 1, which serves one of them:
 *     . [1 2 1 0] 0                   . [2 3 2 1] 0    and so on: a window slides over the domain,
 *                                                      and each load pays for many tasks
 *
 * Nothing here knows of stencils: no position, no iteration, only tasks, data and sizes.
 *
 * Several memories: data are put in a line and cut (closure_parts.c), tasks follow the datum
 * they write. What lies across the border must be over, not only planned, before it counts; tasks
 * others wait for run first. Odd memories prefer the last of equals where even ones prefer the
 * first, so that neighbours come to their border together. A worker without work takes ready tasks
 * from the memory with the most, and the data they write with them.
 */
#include <math.h>

#include "tasks/policy/closure.h"

/* NARROW: tasks that share a launch while stores are late. */
enum { LOOKED_AT = 10, STOLEN_FROM = 16, NARROW = 2 };

static void memories_cleanup(closure_t *c)
{
    for (int32_t m = 0; c->memories != NULL && m < c->view->memories; m++) {
        xy_free(c->memories[m].copies);
        xy_free(c->memories[m].loads);
    }
    xy_free(c->memories);
}

/* Frees the policy; NULL is allowed. */
static void destroy(void *state)
{
    closure_t *c = state;

    if (c == NULL)
        return;
    memories_cleanup(c);
    xy_free(c->tasks);
    xy_free(c->data);
    xy_free(c->uses);
    xy_free(c->looks);
    xy_free(c->workers);
    xy_free(c->freed);
    xy_free(c);
}

/* ---- Making ---- */

static uint64_t all_bytes(const closure_t *c, uint64_t *largest_p)
{
    uint64_t sum = 0;

    *largest_p = 0;
    for (int32_t d = 0; d < c->data_count; d++) {
        uint64_t bytes = c->data[d].bytes;

        sum += bytes;
        *largest_p = bytes > *largest_p ? bytes : *largest_p;
    }
    return sum;
}

/* The plan leaves some room free, so that loads can begin before what they replace is gone. */
static uint64_t plan_capacity(const closure_t *c, uint64_t capacity)
{
    uint64_t largest, sum = all_bytes(c, &largest), spare, most;

    if (capacity == 0 || sum <= capacity)
        return 0;
    /* Room for four data, and as many for each that is loaded early; in a small memory, which has
     * none to spare, for fewer. */
    spare = capacity / 8 / largest;
    most = 4 * (uint64_t)c->ahead;
    return capacity - (spare < most ? spare : most) * largest;
}

/* Initializes the empty plan of one memory. */
static xy_status_t init_memory(closure_t *c, int32_t memory)
{
    closure_memory_t *m = &c->memories[memory];

    m->capacity = plan_capacity(c, c->view->capacity[memory]);
    m->spare = m->capacity > 0 ? c->view->capacity[memory] - m->capacity : 0;
    m->oldest = m->newest = m->out_head = m->out_tail = -1;
    for (int i = 0; i < CLOSURE_LISTS; i++)
        m->frontier[i] = XY_TASK_LIST_EMPTY;
    m->runnable[0] = m->runnable[1] = XY_TASK_LIST_EMPTY;
    m->load_room = 256;
    m->loads = xy_calloc((size_t)m->load_room, sizeof(*m->loads));
    m->copies = xy_calloc((size_t)c->data_count + 1, sizeof(*m->copies));
    return m->loads != NULL && m->copies != NULL ? XY_OK : XY_ENOMEM;
}

/* Each task and datum, and the uses of each datum in the order of submission. */
static xy_status_t init_graph(closure_t *c)
{
    size_t total = 0;

    for (int32_t i = 0; i < c->ops; i++) {
        closure_task_t *x = &c->tasks[i];

        x->access_count = xy_graph_accesses(c->graph, i, &x->accesses);
        x->successor_count = xy_graph_successors(c->graph, i, &x->successors);
        x->waits = xy_graph_predecessors(c->graph, i) +
                   (c->view->is_after != NULL && c->view->is_after[i] ? 1 : 0);
        x->seconds = xy_graph_op(c->graph, i)->seconds;
        total += (size_t)x->access_count;
        for (int32_t k = 0; k < x->access_count; k++) {
            c->data[x->accesses[k].data].use_count++;
            c->data[x->accesses[k].data].writers += (x->accesses[k].mode & XY_ACCESS_WRITE) != 0;
        }
    }
    c->uses = xy_malloc((total + 1) * sizeof(*c->uses));
    if (c->uses == NULL)
        return XY_ENOMEM;
    total = 0;
    for (int32_t d = 0; d < c->data_count; d++) {
        closure_datum_t *x = &c->data[d];

        x->bytes = xy_graph_data_at(c->graph, d)->bytes;
        x->moved = -1;
        if (x->writers > 0 && !xy_graph_data_at(c->graph, d)->is_scrap)
            c->unfinished += (double)x->bytes;
        x->first = x->cursor = x->end = c->uses + total;
        total += (size_t)x->use_count;
    }
    for (int32_t i = 0; i < c->ops; i++)
        for (int32_t k = c->tasks[i].access_count - 1; k >= 0; k--) {
            const xy_access_t *a = &c->tasks[i].accesses[k];

            *c->data[a->data].end++ =
                (closure_use_t){(uint32_t)i, (a->mode & XY_ACCESS_WRITE) != 0};
        }
    return XY_OK;
}

/* Allocates the plan; destroy() also frees a partial one. */
static xy_status_t init_arrays(closure_t *c)
{
    size_t ops = (size_t)c->ops + 1, data = (size_t)c->data_count + 1;

    c->memories = xy_calloc((size_t)c->view->memories, sizeof(*c->memories));
    c->tasks = xy_calloc(ops, sizeof(*c->tasks));
    c->data = xy_calloc(data, sizeof(*c->data));
    c->looks = xy_calloc(ops, sizeof(*c->looks));
    c->workers = xy_calloc((size_t)c->view->workers, sizeof(*c->workers));
    c->freed = xy_calloc(CLOSURE_LOOKAHEAD, sizeof(*c->freed));
    if (c->memories == NULL || c->tasks == NULL || c->data == NULL || c->looks == NULL ||
        c->workers == NULL || c->freed == NULL || init_graph(c) != XY_OK)
        return XY_ENOMEM;
    for (int32_t m = 0; m < c->view->memories; m++)
        if (init_memory(c, m) != XY_OK)
            return XY_ENOMEM;
    return XY_OK;
}

/* Long enough to hide a few loads and write-backs of the largest datum; longer where tasks share
 * launches, as those that a load frees are a chain: only what later loads free runs beside it. */
static double find_horizon(const closure_t *c)
{
    uint64_t largest;
    double longest = 0;

    (void)all_bytes(c, &largest);
    for (int32_t i = 0; i < c->view->memories * c->view->memories; i++)
        if (c->view->transfer_rate[i] > 0) {
            double t = c->view->transfer_latency[i] + (double)largest / c->view->transfer_rate[i];

            longest = t > longest ? t : longest;
        }
    return 8 * c->ahead * longest;
}

/* Sets the speed of each memory and the loads' rate; main memory holds all data. */
static void start(closure_t *c)
{
    for (int32_t w = 0; w < c->view->workers; w++)
        c->memories[c->view->memory_of[w]].speed += c->view->speed[w];
    c->horizon = find_horizon(c);
    for (int32_t m = 1; m < c->view->memories; m++)
        if (c->view->transfer_rate[m] > c->load_rate)
            c->load_rate = c->view->transfer_rate[m];
    for (int32_t d = 0; d < c->data_count; d++) {
        c->memories[0].copies[d].is_in = true;
        c->memories[0].planned += c->data[d].bytes;
        c->memories[0].resident++;
        c->memories[0].copies[d].prev = d - 1;
        c->memories[0].copies[d].next = d + 1 < c->data_count ? d + 1 : -1;
    }
    c->memories[0].oldest = c->data_count > 0 ? 0 : -1;
    c->memories[0].newest = c->data_count - 1;
    c->memories[0].capacity = 0;
}

/* Creates the policy and plans the tasks without predecessors as the first frontier. */
static xy_status_t create(const xy_task_view_t *view, const xy_task_params_t *params,
                          void **state_p)
{
    closure_t *c = xy_calloc(1, sizeof(*c));

    if (c == NULL)
        return xy_fail_memory("preparing the plan of tasks");
    c->ahead = params->look_ahead > 1 ? params->look_ahead : 1;
    c->is_far = params->look_ahead > 0;
    c->view = view;
    c->graph = view->graph;
    c->ops = xy_graph_ops(view->graph);
    c->data_count = xy_graph_data_count(view->graph);
    if (init_arrays(c) != XY_OK) {
        destroy(c);
        return xy_fail_memory("preparing the plan of tasks");
    }
    start(c);
    if (closure_parts(c) != XY_OK) {
        destroy(c);
        return xy_fail_memory("preparing the plan of tasks");
    }
    for (int32_t i = 0; i < c->ops; i++) {
        const closure_task_t *x = &c->tasks[i];

        c->memories[x->part].left += x->seconds;
        if (x->waits == 0)
            closure_frontier_add(c, i, x->part);
    }
    *state_p = c;
    return XY_OK;
}

/* ---- Answering ---- */

static void ready(void *state, xy_op_id_t op)
{
    closure_t *c = state;

    c->tasks[op].is_ready = true;
    if (c->view->is_after != NULL && c->view->is_after[op])
        closure_release(c, op);
    if (c->tasks[op].state == TASK_PLANNED)
        closure_set_runnable(c, op);
}

/* Is all data that the task reads there by now? */
static bool is_complete(const closure_t *c, xy_op_id_t op, int32_t memory)
{
    double comes = closure_comes(c, op, memory);

    return !isinf(comes) && comes <= c->memories[memory].clock;
}

static xy_op_id_t first_complete(const closure_t *c, int32_t memory, int queue)
{
    xy_op_id_t op = c->memories[memory].runnable[queue].head;

    for (int i = 0; op >= 0 && i < LOOKED_AT; i++, op = c->tasks[op].next)
        if (is_complete(c, op, memory))
            return op;
    return -1;
}

/* The last task that became ready, which follows data that was loaded long ago. */
static xy_op_id_t last_complete(const closure_t *c, int32_t memory, int queue)
{
    xy_op_id_t op = c->memories[memory].runnable[queue].tail;

    for (int i = 0; op >= 0 && i < CLOSURE_DEEP; i++, op = c->tasks[op].prev)
        if (is_complete(c, op, memory))
            return op;
    return -1;
}

/* Nothing is there that could run: what is there first. */
static xy_op_id_t soonest(const closure_t *c, int32_t memory, int queue)
{
    xy_op_id_t op = c->memories[memory].runnable[queue].head, best = op;
    double least = INFINITY;

    for (int i = 0; op >= 0 && i < LOOKED_AT && c->is_far; i++, op = c->tasks[op].next) {
        double comes = closure_comes(c, op, memory);

        if (comes < least) {
            best = op;
            least = comes;
        }
    }
    return best;
}

/* The task that was submitted last, among the last complete ones. */
static xy_op_id_t deepest_complete(const closure_t *c, int32_t memory, int queue)
{
    xy_op_id_t op = c->memories[memory].runnable[queue].tail, best = -1;

    for (int i = 0; op >= 0 && i < CLOSURE_DEEP; i++, op = c->tasks[op].prev)
        if (op > best && is_complete(c, op, memory))
            best = op;
    return best;
}

/* Work that goes with a datum: of the tasks that write it and are not planned. Count it for `to`
 * instead of `from` when `to` is not negative. */
static double work_of(closure_t *c, int32_t data, int32_t from, int32_t to)
{
    const closure_datum_t *datum = &c->data[data];
    double work = 0;

    for (const closure_use_t *use = datum->cursor; use < datum->end; use++) {
        const closure_task_t *x = &c->tasks[use->task];
        int32_t owner = datum->moved >= 0 ? datum->moved : x->part;

        if (x->state < TASK_PLANNED && owner == from && use->is_write)
            work += x->seconds;
    }
    if (to >= 0) {
        c->memories[from].left -= work;
        c->memories[to].left += work;
    }
    return work;
}

static int32_t written_datum(const closure_t *c, xy_op_id_t op)
{
    const closure_task_t *x = &c->tasks[op];

    for (int32_t k = x->access_count - 1; k >= 0; k--)
        if (x->accesses[k].mode & XY_ACCESS_WRITE)
            return x->accesses[k].data;
    return -1;
}

/* Would both memories end earlier, or at least not later, with this task and what follows it on
 * its datum on the other side? */
static bool is_worth_stealing(closure_t *c, xy_op_id_t op, int32_t from, int32_t memory)
{
    const closure_memory_t *a = &c->memories[from], *b = &c->memories[memory];
    int32_t data = written_datum(c, op);
    double work = data >= 0 ? work_of(c, data, from, -1) : c->tasks[op].seconds;

    return (b->left + work) / b->speed <= a->left / a->speed;
}

/* The ready task of another memory, not planned there yet, that misses the least here. */
static xy_op_id_t choose_stolen(closure_t *c, int32_t from, int32_t memory)
{
    xy_op_id_t best = -1;
    uint64_t fewest = UINT64_MAX;

    for (int list = CLOSURE_LISTS - 1; list >= 0; list--) {
        xy_op_id_t op = c->memories[from].frontier[list].tail;

        for (int i = 0; op >= 0 && i < STOLEN_FROM; i++, op = c->tasks[op].prev) {
            uint64_t bytes =
                c->tasks[op].is_ready ? xy_task_missing(c->view, op, memory) : UINT64_MAX;

            if (bytes < fewest) {
                best = op;
                fewest = bytes;
            }
        }
    }
    return best >= 0 && is_worth_stealing(c, best, from, memory) ? best : -1;
}

/* Moves a ready task, and the datum it writes, from the memory with most work to this one. */
static void steal(closure_t *c, int32_t memory)
{
    int32_t victim = -1, data;
    xy_op_id_t op;

    for (int32_t m = 0; m < c->view->memories; m++)
        if (m != memory && c->memories[m].frontier_count > 0 &&
            (victim < 0 || c->memories[m].left > c->memories[victim].left))
            victim = m;
    /* Looking costs more than a decision should: not again before some more tasks are complete. */
    if (victim < 0 || c->over < c->memories[memory].look_at)
        return;
    c->memories[memory].look_at = c->over + STOLEN_FROM;
    op = choose_stolen(c, victim, memory);
    if (op < 0)
        return;
    data = written_datum(c, op);
    if (data >= 0) {
        (void)work_of(c, data, victim, memory);
        c->data[data].moved = memory;
    }
    closure_frontier_remove(c, op);
    closure_frontier_add(c, op, memory);
}

/* A worker that has something to do asks for its next task again and again: nothing happened since
 * that could have brought one. */
static bool is_still_refused(const closure_t *c, const closure_worker_t *w, int32_t memory)
{
    return w->held > 0 && w->refused_changes == c->memories[memory].changes &&
           c->view->arrivals != NULL && w->refused_arrivals == c->view->arrivals[memory];
}

static xy_op_id_t refuse(const closure_t *c, closure_worker_t *w, int32_t memory)
{
    w->refused_changes = c->memories[memory].changes;
    w->refused_arrivals = c->view->arrivals != NULL ? c->view->arrivals[memory] : 0;
    return -1;
}

/* A worker that has tasks already takes none whose data are not there. */
static xy_op_id_t choose_task(const closure_t *c, int32_t memory, bool is_busy)
{
    const closure_memory_t *m = &c->memories[memory];
    xy_op_id_t op = first_complete(c, memory, 0);

    if (op < 0 && closure_is_ending(c, memory))
        op = deepest_complete(c, memory, 1);
    if (op < 0)
        op = first_complete(c, memory, 1);
    if (op < 0 && c->is_far)
        op = last_complete(c, memory, 1);
    if (op < 0 && !is_busy)
        op = soonest(c, memory, m->runnable[0].head >= 0 ? 0 : 1);
    return op;
}

/* Returns the next task of a worker, or -1 if the plan has none whose data are present. */
static xy_op_id_t pick(void *state, int32_t worker)
{
    closure_t *c = state;
    int32_t memory = c->view->memory_of[worker];
    closure_memory_t *m = &c->memories[memory];
    closure_worker_t *w = &c->workers[worker];
    xy_op_id_t op;

    if (is_still_refused(c, w, memory))
        return -1;
    closure_extend(c, memory);
    if (m->tasks == 0 && m->frontier_count == 0) {
        steal(c, memory);
        closure_extend(c, memory);
    }
    if (w->held >= NARROW && closure_is_storing(c, memory))
        return refuse(c, w, memory);
    op = choose_task(c, memory, w->held > 0);
    if (op < 0)
        return refuse(c, w, memory);
    closure_begin(c, memory, op);
    closure_take(c, closure_runnable(c, op), op);
    w->held++;
    return op;
}

/* Ends a task: updates the plan of its memory and releases successors in other memories. */
static void done(void *state, int32_t worker, xy_op_id_t op)
{
    closure_t *c = state;
    int32_t memory = c->view->memory_of[worker];
    closure_memory_t *m = &c->memories[memory];
    closure_task_t *x = &c->tasks[op];

    c->workers[worker].held--;
    x->state = TASK_OVER;
    c->over++;
    closure_wrote(c, op);
    m->tasks--;
    m->changes++;
    if (x->awaited_by >= 0)
        c->memories[x->awaited_by].awaiting--;
    m->work -= x->seconds / m->speed;
    m->left -= x->seconds;
    for (int32_t i = 0; i < x->access_count; i++) {
        closure_copy_t *copy = &m->copies[x->accesses[i].data];

        if (--copy->uses == 0 && !copy->is_in)
            m->leaving -= c->data[x->accesses[i].data].bytes;
        closure_out(c, memory, x->accesses[i].data);
    }
    for (int32_t i = 0; i < x->successor_count; i++)
        if (c->tasks[x->successors[i]].part != memory)
            closure_release(c, x->successors[i]);
}

static void arrived(void *state, int32_t memory, int32_t data)
{
    closure_came(state, memory, data);
}

/* Returns the next datum of the plan to load into a memory, or -1. */
static int32_t prefetch(void *state, int32_t memory)
{
    closure_t *c = state;
    closure_memory_t *m = &c->memories[memory];

    if (m->speed <= 0)
        return -1;
    closure_extend(c, memory);
    while (m->load_count > 0) {
        int32_t data = m->loads[m->load_first];

        if (m->copies[data].is_in && c->view->copies[memory][data] == 0)
            return data;
        if (m->copies[data].uses > 0 && c->view->copies[memory][data] == 0)
            return data;
        m->load_first = (m->load_first + 1) % m->load_room;
        m->load_count--;
    }
    return -1;
}

/* Returns a datum that the plan no longer needs in this memory, or -1. */
static int32_t victim(void *state, int32_t memory, bool is_prefetch,
                      bool (*is_free)(const void *arg, int32_t data), const void *arg)
{
    closure_t *c = state;
    closure_memory_t *m = &c->memories[memory];

    (void)is_prefetch;
    for (int32_t d = m->out_head, next; d >= 0; d = next) {
        next = m->copies[d].out_next;
        if (is_free(arg, d)) {
            closure_out_remove(m, d);
            return d;
        }
        if (c->view->copies[memory][d] == 0)
            closure_out_remove(m, d); /* gone already: another worker wrote it */
    }
    return -1;
}

const xy_task_policy_t policy_closure = {
    .name = "closure",
    .describe =
        "run all tasks whose data are present, then load the data that enable most (Xylem's own)",
    .eviction = "lru",
    .is_writing_early = true,
    .is_evicting_for_prefetch = true,
    .create = create,
    .destroy = destroy,
    .ready = ready,
    .pick = pick,
    .done = done,
    .arrived = arrived,
    .prefetch = prefetch,
    .victim = victim,
};
