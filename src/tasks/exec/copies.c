/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of data. A copy is here, coming, or not there. It takes room from the moment it is asked
 * for until it is given up; while tasks need it, it is pinned. In a cache, which is only a model,
 * all of it happens at once and what does not fit spills; out of core it takes a read or a write of
 * the file.
 */
#include "tasks/exec/exec_internal.h"

static void observe(exec_tasks_t *e, int32_t memory)
{
    if (e->is_recording)
        exec_record_memory(e, memory);
}

static void count_transfer(exec_tasks_t *e, int32_t data, int32_t from, int32_t to, double start)
{
    uint64_t bytes = exec_bytes(e, data);

    e->result.loads += from == 0;
    e->result.stores += to == 0;
    e->result.peers += from != 0 && to != 0;
    e->result.bytes_loaded += from == 0 ? bytes : 0;
    e->result.bytes_stored += to == 0 ? bytes : 0;
    e->result.bytes_peer += from != 0 && to != 0 ? bytes : 0;
    if (e->is_recording)
        exec_record_transfer(e, data, from, to, start);
}

static void allocate(exec_tasks_t *e, int32_t memory, int32_t data)
{
    exec_memory_t *m = &e->memories[memory];

    if (!xy_task_memory_take(&m->space, data, exec_bytes(e, data)))
        return;
    if (e->how->store != NULL)
        m->space.copies[data].own = exec_buffer_take(e, data);
    observe(e, memory);
}

static void release(exec_tasks_t *e, int32_t memory, int32_t data)
{
    exec_memory_t *m = &e->memories[memory];
    xy_task_copy_t *c = &m->space.copies[data];

    if (!xy_task_memory_give(&m->space, data, exec_bytes(e, data)))
        return;
    if (e->how->store != NULL)
        exec_buffer_give(e, data, c->own);
    c->own = NULL;
    observe(e, memory);
}

static void announce(exec_tasks_t *e, int32_t memory, int32_t data)
{
    if (e->policy->arrived != NULL)
        e->policy->arrived(e->state, memory, data);
}

void exec_own(exec_tasks_t *e, int32_t memory, int32_t data)
{
    bool was_there;

    for (int32_t m = 0; m < e->memory_count; m++)
        if (m != memory)
            release(e, m, data);
    allocate(e, memory, data);
    was_there = e->memories[memory].space.states[data] != 0;
    e->memories[memory].space.states[data] = XY_TASK_HERE;
    e->memories[memory].space.copies[data].is_writing = true;
    if (!was_there)
        announce(e, memory, data);
}

/* ---- Room ---- */

static bool is_free_for_policy(const void *arg, int32_t data)
{
    return xy_task_memory_is_free(arg, data);
}

/* Must it be written back before it goes? */
static bool is_dirty(const exec_tasks_t *e, int32_t data)
{
    return e->memories[0].space.states[data] != XY_TASK_HERE;
}

typedef struct {
    exec_tasks_t *e;
    int32_t memory;
} asked_t;

static bool ask_dirty(const void *arg, int32_t data)
{
    return is_dirty(((const asked_t *)arg)->e, data);
}

static int64_t ask_next_use(const void *arg, int32_t data)
{
    const asked_t *asked = arg;
    exec_tasks_t *e = asked->e;

    return xy_task_next_use(e->policy, e->state, &e->uses, e->is_over, asked->memory, data);
}

static int32_t victim_by_strategy(exec_tasks_t *e, int32_t memory)
{
    asked_t asked = {e, memory};

    return xy_task_memory_victim(&e->memories[memory].space, e->eviction, ask_dirty, ask_next_use,
                                 &asked);
}

static int32_t choose_victim(exec_tasks_t *e, int32_t memory, bool is_prefetch)
{
    int32_t data = -1;

    if (e->policy->victim != NULL)
        data = e->policy->victim(e->state, memory, is_prefetch, is_free_for_policy,
                                 &e->memories[memory].space);
    if (data < 0 && !is_prefetch)
        data = victim_by_strategy(e, memory);
    return data;
}

static void store(exec_tasks_t *e, int32_t memory, int32_t data)
{
    e->memories[memory].space.copies[data].is_storing = true;
    exec_store_request(e, data, true);
}

/* Data that other caches hold too, or that the main memory knows, just go. */
static bool is_sole(const exec_tasks_t *e, int32_t memory, int32_t data)
{
    for (int32_t m = 0; m < e->memory_count; m++)
        if (m != memory && e->memories[m].space.states[data] == XY_TASK_HERE)
            return false;
    return true;
}

/* Removes a copy from a memory, after storing it if it is the only current one; called under the
 * lock. */
static void evict(exec_tasks_t *e, int32_t memory, int32_t data)
{
    exec_memory_t *m = &e->memories[memory];

    if (e->how->store != NULL && is_dirty(e, data)) {
        xy_task_memory_leave(&m->space, data, exec_bytes(e, data));
        store(e, memory, data);
        return;
    }
    if (is_sole(e, memory, data)) { /* of a cache */
        e->memories[0].space.states[data] = XY_TASK_HERE;
        count_transfer(e, data, memory, 0, e->now);
    }
    exec_place_given_up(e, memory, data);
    e->result.evictions++;
    release(e, memory, data);
}

/* true: there is room for so many bytes now. false: it is being made, or cannot be. */
static bool make_room(exec_tasks_t *e, int32_t memory, uint64_t bytes, bool is_prefetch,
                      bool *is_coming_p)
{
    exec_memory_t *m = &e->memories[memory];

    *is_coming_p = true;
    while (m->space.used + bytes > m->space.capacity + m->space.leaving) {
        int32_t data = choose_victim(e, memory, is_prefetch);

        if (data < 0 && e->how->store == NULL && !is_prefetch)
            return true; /* a cache spills */
        if (data < 0) {
            *is_coming_p = false;
            return false;
        }
        evict(e, memory, data);
    }
    return m->space.used + bytes <= m->space.capacity;
}

/* ---- Gathering ---- */

/* Starts the load of a datum into a memory; caches have it at once; called under the lock. */
static void fetch(exec_tasks_t *e, int32_t memory, int32_t data, bool is_prefetch)
{
    exec_memory_t *m = &e->memories[memory];

    allocate(e, memory, data);
    if (e->how->store == NULL) {
        int32_t from = 0;

        while (e->memories[from].space.states[data] != XY_TASK_HERE && from < e->memory_count - 1)
            from++;
        m->space.states[data] = XY_TASK_HERE;
        announce(e, memory, data);
        count_transfer(e, data, from, memory, e->now);
        return;
    }
    m->space.states[data] = XY_TASK_COMING;
    announce(e, memory, data);
    m->space.copies[data].is_prefetch = is_prefetch;
    m->prefetching += is_prefetch;
    exec_store_request(e, data, false);
}

void exec_hold(exec_tasks_t *e, xy_task_slot_t *slot)
{
    xy_task_memory_hold(&e->memories[e->workers[slot->worker].memory].space, e->graph, slot->op);
    slot->is_given_back = false;
}

void exec_finished(exec_tasks_t *e, int32_t memory, xy_op_id_t op)
{
    exec_memory_t *m = &e->memories[memory];
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(e->graph, op, &a);

    xy_task_memory_let_go(&m->space, e->graph, op);
    for (int32_t i = 0; i < n; i++) {
        xy_task_memory_touch(&m->space, a[i].data);
        if (!(a[i].mode & XY_ACCESS_WRITE))
            continue;
        m->space.copies[a[i].data].is_writing = false;
        if (--e->writers_left[a[i].data] == 0 && e->how->store != NULL)
            xy_task_memory_push_final(&m->space, a[i].data);
    }
}

/* Room taken for data that the task would have written, and that holds nothing yet. */
static void drop_empty(exec_tasks_t *e, int32_t memory, xy_op_id_t op)
{
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(e->graph, op, &a);

    for (int32_t i = 0; i < n; i++)
        if (e->memories[memory].space.states[a[i].data] == 0 &&
            e->memories[memory].space.copies[a[i].data].pins == 0)
            release(e, memory, a[i].data);
}

/* The youngest task that gathers gives back what it holds, so that older ones progress. */
static bool give_back(exec_tasks_t *e, int32_t memory, const xy_task_slot_t *oldest)
{
    exec_memory_t *m = &e->memories[memory];

    for (int32_t i = m->gathering.count - 1; i >= 0; i--) {
        xy_task_slot_t *slot = m->gathering.slots[i];

        if (slot == oldest)
            return false;
        if (slot->is_given_back)
            continue;
        xy_task_memory_let_go(&m->space, e->graph, slot->op);
        drop_empty(e, memory, slot->op);
        slot->is_given_back = true;
        slot->is_complete = false;
        e->result.given_back++;
        return true;
    }
    return false;
}

/* Is the datum as the task needs it? *is_asked_p: nothing more to do for it but to wait. */
static bool is_here(const exec_memory_t *m, const xy_access_t *a, bool *is_asked_p)
{
    const xy_task_copy_t *c = &m->space.copies[a->data];
    bool is_read = (a->mode & XY_ACCESS_READ) != 0;

    *is_asked_p = true;
    if (m->space.states[a->data] == XY_TASK_COMING ||
        (c->is_storing && (a->mode & XY_ACCESS_WRITE)))
        return false;
    if (m->space.states[a->data] == XY_TASK_HERE || (!is_read && c->is_allocated))
        return true;
    *is_asked_p = false;
    return false;
}

/* true: it has, or has asked for, all its data. */
static bool gather(exec_tasks_t *e, int32_t memory, xy_task_slot_t *slot)
{
    exec_memory_t *m = &e->memories[memory];
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(e->graph, slot->op, &a);
    bool is_all_here = true, is_coming, is_asked;

    for (int32_t i = 0; i < n; i++) {
        int32_t data = a[i].data;
        bool is_read = (a[i].mode & XY_ACCESS_READ) != 0;

        if (is_here(m, &a[i], &is_asked))
            continue;
        if (is_asked) {
            is_all_here = false;
            continue;
        }
        while (!m->space.copies[data].is_allocated &&
               !make_room(e, memory, exec_bytes(e, data), false, &is_coming))
            if (is_coming || !give_back(e, memory, slot))
                return false;
        if (is_read) {
            fetch(e, memory, data, false);
        } else {
            exec_place_exchange(e, memory, data);
            allocate(e, memory, data);
        }
        is_all_here = is_all_here && is_here(m, &a[i], &is_asked);
    }
    slot->is_complete = is_all_here;
    return true;
}

/* Loads data that the policy wants early, at most EXEC_PREFETCH_MAX at a time; called under the
 * lock. */
static void prefetch(exec_tasks_t *e, int32_t memory)
{
    exec_memory_t *m = &e->memories[memory];

    for (int i = 0; i < EXEC_PREFETCH_MAX && m->prefetching < EXEC_PREFETCH_MAX; i++) {
        int32_t data = e->policy->prefetch(e->state, memory);
        bool is_coming;

        if (data < 0 || m->space.states[data] != 0 || m->space.copies[data].is_allocated)
            return; /* nothing, or a task is about to write it here */
        if (!e->policy->is_evicting_for_prefetch &&
            m->space.used + exec_bytes(e, data) > m->space.capacity)
            return;
        if (!make_room(e, memory, exec_bytes(e, data), true, &is_coming))
            return;
        fetch(e, memory, data, true);
    }
}

/* When the file has nothing else to do, what will not change any more goes there. */
static void store_early(exec_tasks_t *e, int32_t memory)
{
    exec_memory_t *m = &e->memories[memory];

    while (m->space.final.head >= 0 && e->in_flight == 0) {
        int32_t data = xy_task_memory_pop_final(&m->space);
        const xy_task_copy_t *c = &m->space.copies[data];

        if (m->space.states[data] == XY_TASK_HERE && is_dirty(e, data) && !c->is_storing)
            store(e, memory, data);
    }
}

void exec_pump(exec_tasks_t *e, int32_t memory)
{
    exec_memory_t *m = &e->memories[memory];
    bool is_fed = true;

    for (int32_t i = 0; i < m->gathering.count && is_fed; i++) {
        xy_task_slot_t *slot = m->gathering.slots[i];

        if (slot->is_given_back)
            exec_hold(e, slot);
        if (!slot->is_complete)
            is_fed = gather(e, memory, slot);
    }
    if (is_fed && e->policy->prefetch != NULL)
        prefetch(e, memory);
    if (e->how->store != NULL && e->policy->is_writing_early)
        store_early(e, memory);
}

void exec_arrived(exec_tasks_t *e, const exec_request_t *r)
{
    exec_memory_t *m = &e->memories[1];
    xy_task_copy_t *c = &m->space.copies[r->data];

    count_transfer(e, r->data, r->is_write ? 1 : 0, r->is_write ? 0 : 1, r->start);
    if (!r->is_write) {
        m->space.states[r->data] = XY_TASK_HERE;
        m->prefetching -= c->is_prefetch;
        c->is_prefetch = false;
        return;
    }
    c->is_storing = false;
    e->memories[0].space.states[r->data] = XY_TASK_HERE;
    if (c->is_evicting && c->pins == 0) {
        e->result.evictions++;
        release(e, 1, r->data);
    }
    xy_task_memory_stay(&m->space, r->data, exec_bytes(e, r->data));
}

void exec_flush(exec_tasks_t *e)
{
    pthread_mutex_lock(&e->lock);
    for (int32_t d = 0; d < e->data_count && e->status == XY_OK; d++) {
        int32_t from = 1;

        if (!is_dirty(e, d))
            continue;
        while (e->memories[from].space.states[d] != XY_TASK_HERE && from < e->memory_count - 1)
            from++;
        if (e->how->store == NULL)
            count_transfer(e, d, from, 0, e->now);
        else if (!e->memories[1].space.copies[d].is_storing)
            store(e, 1, d);
    }
    pthread_mutex_unlock(&e->lock);
}
