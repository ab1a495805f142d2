/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of data. A copy is here, coming, or not there. It takes room from the moment it is asked
 * for until it is given up; while tasks need it, it is pinned. In a cache, which is only a model,
 * all of it happens at once and what does not fit spills; out of core it takes a read or a write of
 * the file.
 */
#include "exec/task_internal.h"

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

static void list_remove(exec_memory_t *m, int32_t data)
{
    exec_copy_t *c = &m->copies[data];

    if (c->prev >= 0)
        m->copies[c->prev].next = c->next;
    else
        m->oldest = c->next;
    if (c->next >= 0)
        m->copies[c->next].prev = c->prev;
    else
        m->newest = c->prev;
}

static void list_append(exec_memory_t *m, int32_t data)
{
    exec_copy_t *c = &m->copies[data];

    c->next = -1;
    c->prev = m->newest;
    if (m->newest >= 0)
        m->copies[m->newest].next = data;
    else
        m->oldest = data;
    m->newest = data;
}

static void touch(exec_memory_t *m, int32_t data)
{
    if (!m->copies[data].is_allocated || m->newest == data)
        return;
    list_remove(m, data);
    list_append(m, data);
}

static void allocate(exec_tasks_t *e, int32_t memory, int32_t data)
{
    exec_memory_t *m = &e->memories[memory];
    exec_copy_t *c = &m->copies[data];

    if (c->is_allocated)
        return;
    c->is_allocated = true;
    if (e->how->store != NULL)
        c->buffer = exec_buffer_take(e, data);
    m->used += exec_bytes(e, data);
    list_append(m, data);
    observe(e, memory);
}

static void stop_evicting(exec_tasks_t *e, exec_memory_t *m, int32_t data)
{
    if (!m->copies[data].is_evicting)
        return;
    m->copies[data].is_evicting = false;
    m->leaving -= exec_bytes(e, data);
}

static void release(exec_tasks_t *e, int32_t memory, int32_t data)
{
    exec_memory_t *m = &e->memories[memory];
    exec_copy_t *c = &m->copies[data];

    stop_evicting(e, m, data);
    m->states[data] = 0;
    if (!c->is_allocated)
        return;
    c->is_allocated = false;
    m->used -= exec_bytes(e, data);
    list_remove(m, data);
    if (e->how->store != NULL)
        exec_buffer_give(e, data, c->buffer);
    c->buffer = NULL;
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
    was_there = e->memories[memory].states[data] != 0;
    e->memories[memory].states[data] = XY_TASK_HERE;
    e->memories[memory].copies[data].is_writing = true;
    if (!was_there)
        announce(e, memory, data);
}

/* ---- Room ---- */

static bool is_free(const exec_memory_t *m, int32_t data)
{
    const exec_copy_t *c = &m->copies[data];

    return c->is_allocated && m->states[data] == XY_TASK_HERE && c->pins == 0 && !c->is_evicting &&
           !c->is_storing;
}

static bool is_free_for_policy(const void *arg, int32_t data)
{
    return is_free(arg, data);
}

/* Must it be written back before it goes? */
static bool is_dirty(const exec_tasks_t *e, int32_t data)
{
    return e->memories[0].states[data] != XY_TASK_HERE;
}

static int64_t next_use(exec_tasks_t *e, int32_t memory, int32_t data)
{
    if (e->policy->next_use != NULL)
        return e->policy->next_use(e->state, memory, data);
    return xy_task_uses_next(&e->uses, data, e->is_over);
}

static int32_t victim_by_strategy(exec_tasks_t *e, int32_t memory)
{
    exec_memory_t *m = &e->memories[memory];
    int32_t best = -1;
    int64_t latest = -1;

    for (int32_t d = m->oldest; d >= 0; d = m->copies[d].next) {
        if (!is_free(m, d))
            continue;
        if (e->eviction->is_by_next_use) {
            int64_t use = next_use(e, memory, d);

            if (use > latest) {
                latest = use;
                best = d;
            }
        } else if (!e->eviction->is_clean_first || !is_dirty(e, d)) {
            return d;
        } else if (best < 0) {
            best = d;
        }
    }
    return best;
}

static int32_t choose_victim(exec_tasks_t *e, int32_t memory, bool is_prefetch)
{
    int32_t data = -1;

    if (e->policy->victim != NULL)
        data = e->policy->victim(e->state, memory, is_prefetch, is_free_for_policy,
                                 &e->memories[memory]);
    if (data < 0 && !is_prefetch)
        data = victim_by_strategy(e, memory);
    return data;
}

static void store(exec_tasks_t *e, int32_t memory, int32_t data)
{
    e->memories[memory].copies[data].is_storing = true;
    exec_store_request(e, data, true);
}

/* Data that other caches hold too, or that the main memory knows, just go. */
static bool is_sole(const exec_tasks_t *e, int32_t memory, int32_t data)
{
    for (int32_t m = 0; m < e->memory_count; m++)
        if (m != memory && e->memories[m].states[data] == XY_TASK_HERE)
            return false;
    return true;
}

static void evict(exec_tasks_t *e, int32_t memory, int32_t data)
{
    exec_memory_t *m = &e->memories[memory];

    if (e->how->store != NULL && is_dirty(e, data)) {
        m->copies[data].is_evicting = true;
        m->leaving += exec_bytes(e, data);
        store(e, memory, data);
        return;
    }
    if (is_sole(e, memory, data)) { /* of a cache */
        e->memories[0].states[data] = XY_TASK_HERE;
        count_transfer(e, data, memory, 0, e->now);
    }
    e->result.evictions++;
    release(e, memory, data);
}

/* true: there is room for so many bytes now. false: it is being made, or cannot be. */
static bool make_room(exec_tasks_t *e, int32_t memory, uint64_t bytes, bool is_prefetch,
                      bool *is_coming_p)
{
    exec_memory_t *m = &e->memories[memory];

    *is_coming_p = true;
    while (m->used + bytes > m->capacity + m->leaving) {
        int32_t data = choose_victim(e, memory, is_prefetch);

        if (data < 0 && e->how->store == NULL && !is_prefetch)
            return true; /* a cache spills */
        if (data < 0) {
            *is_coming_p = false;
            return false;
        }
        evict(e, memory, data);
    }
    return m->used + bytes <= m->capacity;
}

/* ---- Gathering ---- */

static void fetch(exec_tasks_t *e, int32_t memory, int32_t data, bool is_prefetch)
{
    exec_memory_t *m = &e->memories[memory];

    allocate(e, memory, data);
    if (e->how->store == NULL) {
        int32_t from = 0;

        while (e->memories[from].states[data] != XY_TASK_HERE && from < e->memory_count - 1)
            from++;
        m->states[data] = XY_TASK_HERE;
        announce(e, memory, data);
        count_transfer(e, data, from, memory, e->now);
        return;
    }
    m->states[data] = XY_TASK_COMING;
    announce(e, memory, data);
    m->copies[data].is_prefetch = is_prefetch;
    m->prefetching += is_prefetch;
    exec_store_request(e, data, false);
}

void exec_hold(exec_tasks_t *e, exec_slot_t *slot)
{
    exec_memory_t *m = &e->memories[e->workers[slot->worker].memory];
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(e->graph, slot->op, &a);

    for (int32_t i = 0; i < n; i++) {
        m->copies[a[i].data].pins++;
        stop_evicting(e, m, a[i].data);
    }
    slot->is_given_back = false;
}

static void let_go(exec_tasks_t *e, int32_t memory, xy_op_id_t op)
{
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(e->graph, op, &a);

    for (int32_t i = 0; i < n; i++)
        e->memories[memory].copies[a[i].data].pins--;
}

void exec_finished(exec_tasks_t *e, int32_t memory, xy_op_id_t op)
{
    exec_memory_t *m = &e->memories[memory];
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(e->graph, op, &a);

    let_go(e, memory, op);
    for (int32_t i = 0; i < n; i++) {
        touch(m, a[i].data);
        if (!(a[i].mode & XY_ACCESS_WRITE))
            continue;
        m->copies[a[i].data].is_writing = false;
        if (--e->writers_left[a[i].data] > 0 || e->how->store == NULL)
            continue;
        e->final_next[a[i].data] = -1;
        if (m->final_tail >= 0)
            e->final_next[m->final_tail] = a[i].data;
        else
            m->final_head = a[i].data;
        m->final_tail = a[i].data;
    }
}

/* Room taken for data that the task would have written, and that holds nothing yet. */
static void drop_empty(exec_tasks_t *e, int32_t memory, xy_op_id_t op)
{
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(e->graph, op, &a);

    for (int32_t i = 0; i < n; i++)
        if (e->memories[memory].states[a[i].data] == 0 &&
            e->memories[memory].copies[a[i].data].pins == 0)
            release(e, memory, a[i].data);
}

/* The youngest task that gathers gives back what it holds, so that older ones go on. */
static bool give_back(exec_tasks_t *e, int32_t memory, const exec_slot_t *oldest)
{
    exec_memory_t *m = &e->memories[memory];

    for (int32_t i = m->gathering_count - 1; i >= 0; i--) {
        exec_slot_t *slot = m->gathering[i];

        if (slot == oldest)
            return false;
        if (slot->is_given_back)
            continue;
        let_go(e, memory, slot->op);
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
    const exec_copy_t *c = &m->copies[a->data];
    bool is_read = (a->mode & XY_ACCESS_READ) != 0;

    *is_asked_p = true;
    if (m->states[a->data] == XY_TASK_COMING || (c->is_storing && (a->mode & XY_ACCESS_WRITE)))
        return false;
    if (m->states[a->data] == XY_TASK_HERE || (!is_read && c->is_allocated))
        return true;
    *is_asked_p = false;
    return false;
}

/* true: it has, or has asked for, all its data. */
static bool gather(exec_tasks_t *e, int32_t memory, exec_slot_t *slot)
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
        while (!m->copies[data].is_allocated &&
               !make_room(e, memory, exec_bytes(e, data), false, &is_coming))
            if (is_coming || !give_back(e, memory, slot))
                return false;
        if (is_read)
            fetch(e, memory, data, false);
        else
            allocate(e, memory, data);
        is_all_here = is_all_here && is_here(m, &a[i], &is_asked);
    }
    slot->is_complete = is_all_here;
    return true;
}

static void prefetch(exec_tasks_t *e, int32_t memory)
{
    exec_memory_t *m = &e->memories[memory];

    for (int i = 0; i < EXEC_PREFETCH_MAX && m->prefetching < EXEC_PREFETCH_MAX; i++) {
        int32_t data = e->policy->prefetch(e->state, memory);
        bool is_coming;

        if (data < 0 || m->states[data] != 0 || m->copies[data].is_allocated)
            return; /* nothing, or a task is about to write it here */
        if (!e->policy->is_evicting_for_prefetch && m->used + exec_bytes(e, data) > m->capacity)
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

    while (m->final_head >= 0 && e->in_flight == 0) {
        int32_t data = m->final_head;
        const exec_copy_t *c = &m->copies[data];

        m->final_head = e->final_next[data];
        if (m->final_head < 0)
            m->final_tail = -1;
        if (m->states[data] == XY_TASK_HERE && is_dirty(e, data) && !c->is_storing)
            store(e, memory, data);
    }
}

void exec_pump(exec_tasks_t *e, int32_t memory)
{
    exec_memory_t *m = &e->memories[memory];
    bool is_fed = true;

    for (int32_t i = 0; i < m->gathering_count && is_fed; i++) {
        exec_slot_t *slot = m->gathering[i];

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
    exec_copy_t *c = &m->copies[r->data];

    count_transfer(e, r->data, r->is_write ? 1 : 0, r->is_write ? 0 : 1, r->start);
    if (!r->is_write) {
        m->states[r->data] = XY_TASK_HERE;
        m->prefetching -= c->is_prefetch;
        c->is_prefetch = false;
        return;
    }
    c->is_storing = false;
    e->memories[0].states[r->data] = XY_TASK_HERE;
    if (c->is_evicting && c->pins == 0) {
        e->result.evictions++;
        release(e, 1, r->data);
    }
    stop_evicting(e, m, r->data);
}

void exec_flush(exec_tasks_t *e)
{
    pthread_mutex_lock(&e->lock);
    for (int32_t d = 0; d < e->data_count && e->status == XY_OK; d++) {
        int32_t from = 1;

        if (!is_dirty(e, d))
            continue;
        while (e->memories[from].states[d] != XY_TASK_HERE && from < e->memory_count - 1)
            from++;
        if (e->how->store == NULL)
            count_transfer(e, d, from, 0, e->now);
        else if (!e->memories[1].copies[d].is_storing)
            store(e, 1, d);
    }
    while (e->in_flight > 0 && e->status == XY_OK) {
        e->sleeping++;
        pthread_cond_wait(&e->changed, &e->lock);
        e->sleeping--;
    }
    pthread_mutex_unlock(&e->lock);
}
