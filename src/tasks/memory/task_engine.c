/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of data. A copy is here, coming, or not there. It takes room from the moment it is asked
 * for until it is given up; while tasks or transfers need it, it is pinned.
 */
#include "tasks/memory/memory.h"

#include "fiber/fiber.h"

/* ---- Making and unmaking ---- */

xy_status_t xy_task_engine_find(xy_task_engine_t *e, const char *policy, const char *eviction)
{
    xy_status_t st = XY_OK;

    if (e->policy == NULL)
        st = xy_task_policy_find_real(policy, &e->policy);
    if (st == XY_OK)
        st = xy_task_eviction_find(eviction != NULL ? eviction : e->policy->eviction, &e->eviction);
    if (st != XY_OK)
        return st;
    e->ops = e->left = xy_graph_ops(e->graph);
    e->data_count = xy_graph_data_count(e->graph);
    e->result.policy = e->policy->name;
    e->result.eviction = e->eviction->name;
    e->result.workers = e->worker_count;
    return XY_OK;
}

static xy_status_t init_memory(xy_task_engine_t *e, int32_t memory)
{
    xy_task_engine_memory_t *m = &e->memories[memory];
    size_t slots = (size_t)e->worker_count * (size_t)e->depth + 1;

    m->gathering.slots = xy_calloc(slots, sizeof(*m->gathering.slots));
    if (m->gathering.slots == NULL ||
        xy_task_memory_init(&m->space, e->data_count, 0, memory == 0 ? XY_TASK_HERE : 0) != XY_OK)
        return XY_ENOMEM;
    e->states[memory] = m->space.states;
    return XY_OK;
}

/* Counts predecessors of tasks and tasks that write each datum. */
static void count_work(xy_task_engine_t *e, const xy_graph_t *order)
{
    const xy_access_t *a;

    e->most = 1;
    for (int32_t d = 0; d < e->data_count; d++)
        e->bytes[d] = xy_graph_data_at(e->graph, d)->bytes;
    for (int32_t i = 0; i < xy_graph_ops(order); i++) {
        int32_t n = xy_graph_accesses(order, i, &a);

        e->most = n > e->most ? n : e->most;
        e->waiting[i] = xy_graph_predecessors(order, i);
        for (int32_t k = 0; k < n; k++)
            e->writers_left[a[k].data] += (a[k].mode & XY_ACCESS_WRITE) ? 1 : 0;
    }
}

xy_status_t xy_task_engine_init(xy_task_engine_t *e, const xy_graph_t *order)
{
    size_t memories = (size_t)e->memory_count, data = (size_t)e->data_count + 1;
    bool is_use_needed =
        e->driver->is_dead != NULL || (e->eviction->is_by_next_use && e->policy->next_use == NULL);

    e->memories = xy_calloc(memories, sizeof(*e->memories));
    e->states = xy_calloc(memories, sizeof(*e->states));
    e->bytes = xy_calloc(data, sizeof(*e->bytes));
    e->waiting = xy_calloc((size_t)xy_graph_ops(order) + 1, sizeof(*e->waiting));
    e->writers_left = xy_calloc(data, sizeof(*e->writers_left));
    e->is_over = xy_calloc((size_t)e->ops + 1, sizeof(*e->is_over));
    if (e->memories == NULL || e->states == NULL || e->bytes == NULL || e->waiting == NULL ||
        e->writers_left == NULL || e->is_over == NULL)
        return XY_ENOMEM;
    for (int32_t m = 0; m < e->memory_count; m++)
        if (init_memory(e, m) != XY_OK)
            return XY_ENOMEM;
    count_work(e, order);
    return is_use_needed ? xy_task_uses_init(&e->uses, e->graph) : XY_OK;
}

xy_status_t xy_task_engine_init_platform(xy_task_engine_t *e)
{
    size_t memories = (size_t)e->memory_count, workers = (size_t)e->worker_count;

    e->memory_of = xy_calloc(workers, sizeof(*e->memory_of));
    e->speed = xy_calloc(workers, sizeof(*e->speed));
    e->latency = xy_calloc(memories * memories, sizeof(*e->latency));
    e->rate = xy_calloc(memories * memories, sizeof(*e->rate));
    e->capacity = xy_calloc(memories, sizeof(*e->capacity));
    if (e->memory_of == NULL || e->speed == NULL || e->latency == NULL || e->rate == NULL ||
        e->capacity == NULL)
        return XY_ENOMEM;
    e->view = (xy_task_view_t){
        .graph = e->graph,
        .workers = e->worker_count,
        .memories = e->memory_count,
        .memory_of = e->memory_of,
        .speed = e->speed,
        .capacity = e->capacity,
        .copies = (const uint8_t *const *)e->states,
        .transfer_latency = e->latency,
        .transfer_rate = e->rate,
    };
    return XY_OK;
}

void xy_task_engine_cleanup(xy_task_engine_t *e)
{
    void *const arrays[] = {e->memories,     e->states,  e->bytes,     e->waiting,
                            e->writers_left, e->is_over, e->memory_of, e->speed,
                            e->latency,      e->rate,    e->capacity};

    for (int32_t m = 0; e->memories != NULL && m < e->memory_count; m++) {
        xy_free(e->memories[m].gathering.slots);
        xy_task_memory_cleanup(&e->memories[m].space);
    }
    e->policy->destroy(e->state);
    xy_task_uses_cleanup(&e->uses);
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        xy_free(arrays[i]);
}

xy_status_t xy_task_engine_start(xy_task_engine_t *e, const xy_task_params_t *params)
{
    xy_task_params_t p = *params;
    double start = xy_now();
    xy_status_t st;

    p.alpha = p.alpha > 0 ? p.alpha : 1;
    p.beta = p.beta > 0 ? p.beta : 1;
    st = xy_task_policy_create(e->policy, &e->view, &p, &e->state);
    e->result.scheduling_seconds += xy_now() - start;
    return st;
}

/* ---- Copies ---- */

static inline double clock_of(const xy_task_engine_t *e)
{
    return e->driver->is_timed ? xy_now() : 0;
}

void xy_task_engine_count(xy_task_engine_t *e, int32_t data, int32_t from, int32_t to)
{
    xy_task_result_t *r = &e->result;
    uint64_t bytes = e->bytes[data];

    if (from == 0) {
        r->loads++;
        r->bytes_loaded += bytes;
    } else if (to == 0) {
        r->stores++;
        r->bytes_stored += bytes;
    } else {
        r->peers++;
        r->bytes_peer += bytes;
    }
}

void xy_task_engine_announce(xy_task_engine_t *e, int32_t memory, int32_t data)
{
    double start;

    if (e->policy->arrived == NULL)
        return;
    start = clock_of(e);
    e->policy->arrived(e->state, memory, data);
    e->result.scheduling_seconds += clock_of(e) - start;
}

void xy_task_engine_allocate(xy_task_engine_t *e, int32_t memory, int32_t data)
{
    if (memory != 0 && xy_task_memory_take(&e->memories[memory].space, data, e->bytes[data]))
        e->driver->taken(e, memory, data);
}

void xy_task_engine_release(xy_task_engine_t *e, int32_t memory, int32_t data)
{
    if (xy_task_memory_give(&e->memories[memory].space, data, e->bytes[data]))
        e->driver->given(e, memory, data);
}

void xy_task_engine_evict(xy_task_engine_t *e, int32_t memory, int32_t data)
{
    if (e->driver->evicted != NULL)
        e->driver->evicted(e, memory, data);
    e->result.evictions++;
    xy_task_engine_release(e, memory, data);
}

void xy_task_engine_own(xy_task_engine_t *e, int32_t memory, int32_t data)
{
    xy_task_memory_t *space = &e->memories[memory].space;
    bool was_there;

    for (int32_t m = 0; m < e->memory_count; m++) {
        bool is_later = e->driver->is_overtaken != NULL && e->driver->is_overtaken(e, m, data);

        if (m != memory && !is_later)
            xy_task_engine_release(e, m, data);
    }
    xy_task_engine_allocate(e, memory, data);
    was_there = space->states[data] != 0;
    space->states[data] = XY_TASK_HERE;
    space->copies[data].is_writing = true;
    if (!was_there)
        xy_task_engine_announce(e, memory, data);
}

/* ---- Room ---- */

static bool is_free_for_policy(const void *arg, int32_t data)
{
    return xy_task_memory_is_free(arg, data);
}

typedef struct {
    xy_task_engine_t *e;
    int32_t memory;
} asked_t;

/* Must it be written back before it goes? A cache asks the main memory only. */
static bool is_dirty(const void *arg, int32_t data)
{
    const asked_t *asked = arg;
    xy_task_engine_t *e = asked->e;

    if (e->driver->is_spilling)
        return e->states[0][data] != XY_TASK_HERE;
    return xy_task_engine_is_sole(e, asked->memory, data) &&
           (e->driver->is_dead == NULL || !e->driver->is_dead(e, data));
}

static int64_t next_use(const void *arg, int32_t data)
{
    const asked_t *asked = arg;
    xy_task_engine_t *e = asked->e;

    return xy_task_next_use(e->policy, e->state, &e->uses, e->is_over, asked->memory, data);
}

int32_t xy_task_engine_victim(xy_task_engine_t *e, int32_t memory, bool is_prefetch)
{
    const xy_task_memory_t *space = &e->memories[memory].space;
    asked_t asked = {e, memory};
    int32_t data = -1;

    if (e->policy->victim != NULL) {
        double start = clock_of(e);

        data = e->policy->victim(e->state, memory, is_prefetch, is_free_for_policy, space);
        e->result.scheduling_seconds += clock_of(e) - start;
    }
    if (data < 0 && !is_prefetch)
        data = xy_task_memory_victim(space, e->eviction, is_dirty, next_use, &asked);
    return data;
}

/* true: there is room for so many bytes now. false: it is being made, or cannot be. */
static bool make_room(xy_task_engine_t *e, int32_t memory, uint64_t bytes, bool is_prefetch,
                      bool *is_coming_p)
{
    xy_task_memory_t *space = &e->memories[memory].space;

    *is_coming_p = true;
    if (space->capacity == 0)
        return true;
    while (space->used + bytes > space->capacity + space->leaving) {
        int32_t data = xy_task_engine_victim(e, memory, is_prefetch);

        if (data < 0 && e->driver->is_spilling && !is_prefetch)
            return true;
        if (data < 0) {
            *is_coming_p = false;
            return false;
        }
        if (!xy_task_engine_is_sole(e, memory, data) || e->driver->write_back(e, memory, data))
            xy_task_engine_evict(e, memory, data);
    }
    return space->used + bytes <= space->capacity;
}

/* ---- Gathering ---- */

static void hold(xy_task_engine_t *e, int32_t memory, xy_task_slot_t *slot)
{
    xy_task_memory_hold(&e->memories[memory].space, e->graph, slot->op);
    slot->is_given_back = false;
}

void xy_task_engine_let_go(xy_task_engine_t *e, int32_t memory, xy_op_id_t op)
{
    xy_task_memory_t *space = &e->memories[memory].space;
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(e->graph, op, &a);

    xy_task_memory_let_go(space, e->graph, op);
    for (int32_t i = 0; i < n; i++)
        if (space->states[a[i].data] == 0 && space->copies[a[i].data].pins == 0)
            xy_task_engine_release(e, memory, a[i].data);
}

/* The youngest task that gathers gives back what it holds, so that older ones progress. */
static bool give_back(xy_task_engine_t *e, int32_t memory, const xy_task_slot_t *oldest)
{
    xy_task_engine_memory_t *m = &e->memories[memory];

    for (int32_t i = m->gathering.count - 1; i >= 0; i--) {
        xy_task_slot_t *slot = m->gathering.slots[i];

        if (slot == oldest)
            return false;
        if (slot->is_given_back)
            continue;
        xy_task_engine_let_go(e, memory, slot->op);
        slot->is_given_back = true;
        slot->is_complete = false;
        e->result.given_back++;
        return true;
    }
    return false;
}

/* Is the datum as the task needs it? *is_asked_p: nothing more to do for it but to wait. */
static bool is_here(const xy_task_engine_t *e, const xy_task_memory_t *space, const xy_access_t *a,
                    bool *is_asked_p)
{
    const xy_task_copy_t *c = &space->copies[a->data];

    *is_asked_p =
        space->states[a->data] == XY_TASK_COMING || (c->is_storing && (a->mode & XY_ACCESS_WRITE));
    if (*is_asked_p && e->driver->is_exact)
        return false;
    return space->states[a->data] == XY_TASK_HERE ||
           (!(a->mode & XY_ACCESS_READ) && c->is_allocated);
}

/* true: it has, or has asked for, all its data. */
static bool gather(xy_task_engine_t *e, int32_t memory, xy_task_slot_t *slot)
{
    xy_task_memory_t *space = &e->memories[memory].space;
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(e->graph, slot->op, &a);
    bool is_all_here = true, is_coming, is_asked;

    for (int32_t i = 0; i < n; i++) {
        int32_t data = a[i].data;

        if (is_here(e, space, &a[i], &is_asked))
            continue;
        if (is_asked) {
            is_all_here = false;
            continue;
        }
        while (!space->copies[data].is_allocated &&
               !make_room(e, memory, e->bytes[data], false, &is_coming))
            if (is_coming || !give_back(e, memory, slot))
                return false;
        if (a[i].mode & XY_ACCESS_READ) {
            e->driver->fetch(e, memory, data, false);
            is_all_here = is_all_here && space->states[data] == XY_TASK_HERE;
        } else {
            if (e->driver->overwrite != NULL)
                e->driver->overwrite(e, memory, data);
            xy_task_engine_allocate(e, memory, data);
        }
    }
    slot->is_complete = is_all_here;
    return true;
}

/* Starts loads that the policy wants early. */
static void prefetch(xy_task_engine_t *e, int32_t memory)
{
    xy_task_engine_memory_t *m = &e->memories[memory];
    xy_task_memory_t *space = &m->space;
    int32_t most = e->driver->prefetch_max;

    for (int32_t i = 0; i < most && m->prefetching < most; i++) {
        double start = clock_of(e);
        int32_t data = e->policy->prefetch(e->state, memory);
        bool is_coming;

        e->result.scheduling_seconds += clock_of(e) - start;
        if (data < 0 || space->states[data] != 0 || space->copies[data].is_allocated)
            return; /* nothing, or a task is about to write it here */
        if (space->capacity != 0 && !e->policy->is_evicting_for_prefetch &&
            space->used + e->bytes[data] > space->capacity)
            return;
        if (!make_room(e, memory, e->bytes[data], true, &is_coming))
            return;
        e->driver->fetch(e, memory, data, true);
        if (space->states[data] == 0)
            return; /* it goes through the main memory first */
    }
}

static void write_early(xy_task_engine_t *e, int32_t memory)
{
    xy_task_memory_t *space = &e->memories[memory].space;

    while (space->final.head >= 0 && e->driver->is_way_home_free(e, memory)) {
        int32_t data = xy_task_memory_pop_final(space);

        if (space->states[data] == XY_TASK_HERE && e->memories[0].space.states[data] == 0)
            e->driver->send_home(e, memory, data);
    }
}

void xy_task_engine_pump(xy_task_engine_t *e, int32_t memory)
{
    xy_task_engine_memory_t *m = &e->memories[memory];
    bool is_fed = true;

    for (int32_t i = 0; i < m->gathering.count && is_fed; i++) {
        xy_task_slot_t *slot = m->gathering.slots[i];

        if (slot->is_given_back)
            hold(e, memory, slot);
        if (!slot->is_complete)
            is_fed = gather(e, memory, slot);
    }
    if (is_fed && e->policy->prefetch != NULL)
        prefetch(e, memory);
    if (memory != 0 && e->policy->is_writing_early && e->driver->is_way_home_free != NULL)
        write_early(e, memory);
}

/* ---- Tasks ---- */

xy_task_slot_t *xy_task_engine_take(xy_task_engine_t *e, xy_task_pipeline_t *pipeline,
                                    xy_op_id_t op, int32_t worker, int32_t memory)
{
    xy_task_slot_t *slot = xy_task_pipeline_take(pipeline, op, worker);

    hold(e, memory, slot);
    xy_task_gathering_add(&e->memories[memory].gathering, slot);
    return slot;
}

void xy_task_engine_begin(xy_task_engine_t *e, int32_t memory, const xy_task_slot_t *slot)
{
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(e->graph, slot->op, &a);

    xy_task_gathering_remove(&e->memories[memory].gathering, slot);
    for (int32_t i = 0; i < n; i++)
        if (a[i].mode & XY_ACCESS_WRITE)
            xy_task_engine_own(e, memory, a[i].data);
}

void xy_task_engine_finished(xy_task_engine_t *e, int32_t memory, xy_op_id_t op)
{
    xy_task_memory_t *space = &e->memories[memory].space;
    bool is_sent_home = memory != 0 && !e->driver->is_spilling;
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(e->graph, op, &a);

    xy_task_memory_let_go(space, e->graph, op);
    for (int32_t i = 0; i < n; i++) {
        xy_task_memory_touch(space, a[i].data);
        if (!(a[i].mode & XY_ACCESS_WRITE))
            continue;
        space->copies[a[i].data].is_writing = false;
        if (--e->writers_left[a[i].data] == 0 && is_sent_home)
            xy_task_memory_push_final(space, a[i].data);
    }
}

void xy_task_engine_ready(xy_task_engine_t *e, xy_op_id_t op)
{
    if (e->driver->ready != NULL)
        e->driver->ready(e, op);
    e->policy->ready(e->state, op);
}

void xy_task_engine_end(xy_task_engine_t *e, int32_t memory, xy_task_pipeline_t *pipeline,
                        xy_task_slot_t *slot)
{
    xy_op_id_t op = slot->op;
    int32_t worker = slot->worker, n;
    const xy_op_id_t *after;
    double start;

    xy_task_pipeline_free(pipeline, slot);
    e->is_over[op] = true;
    e->left--;
    xy_task_engine_finished(e, memory, op);
    start = clock_of(e);
    if (e->policy->done != NULL)
        e->policy->done(e->state, worker, op);
    n = xy_graph_successors(e->graph, op, &after);
    for (int32_t i = 0; i < n; i++)
        if (--e->waiting[after[i]] == 0)
            xy_task_engine_ready(e, after[i]);
    e->result.scheduling_seconds += clock_of(e) - start;
}
