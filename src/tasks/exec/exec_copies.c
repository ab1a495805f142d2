/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of data. In a cache, which is only a model, all of it happens at once and what does not
 * fit spills; out of core it takes a read or a write of the file.
 */
#include "tasks/exec/exec_internal.h"

static void observe(xy_task_engine_t *base, int32_t memory, int32_t data)
{
    (void)data;
    if (exec_of(base)->is_recording)
        exec_record_memory(exec_of(base), memory);
}

static void count_transfer(exec_tasks_t *e, int32_t data, int32_t from, int32_t to, double start)
{
    xy_task_engine_count(&e->base, data, from, to);
    if (e->is_recording)
        exec_record_transfer(e, data, from, to, start);
}

/* The memory that has the last value of a datum. */
static int32_t owner_of(const exec_tasks_t *e, int32_t from, int32_t data)
{
    while (e->base.memories[from].space.states[data] != XY_TASK_HERE &&
           from < e->base.memory_count - 1)
        from++;
    return from;
}

/* ---- Caches ---- */

static bool cache_write_back(xy_task_engine_t *base, int32_t memory, int32_t data)
{
    base->memories[0].space.states[data] = XY_TASK_HERE;
    count_transfer(exec_of(base), data, memory, 0, exec_of(base)->now);
    return true;
}

static void cache_fetch(xy_task_engine_t *base, int32_t memory, int32_t data, bool is_prefetch)
{
    exec_tasks_t *e = exec_of(base);
    int32_t from;

    (void)is_prefetch;
    xy_task_engine_allocate(base, memory, data);
    from = owner_of(e, 0, data);
    base->memories[memory].space.states[data] = XY_TASK_HERE;
    xy_task_engine_announce(base, memory, data);
    count_transfer(e, data, from, memory, e->now);
}

const xy_task_driver_t exec_cache_driver = {
    .taken = observe,
    .given = observe,
    .fetch = cache_fetch,
    .write_back = cache_write_back,
    .evicted = exec_place_given_up,
    .overwrite = exec_place_exchange,
    .ready = exec_places_ready,
    .prefetch_max = 4,
    .is_spilling = true,
    .is_exact = true,
};

/* ---- A file ---- */

static void store_taken(xy_task_engine_t *base, int32_t memory, int32_t data)
{
    base->memories[memory].space.copies[data].own = exec_buffer_take(exec_of(base), data);
    observe(base, memory, data);
}

static void store_given(xy_task_engine_t *base, int32_t memory, int32_t data)
{
    xy_task_copy_t *c = &base->memories[memory].space.copies[data];

    exec_buffer_give(exec_of(base), data, c->own);
    c->own = NULL;
    observe(base, memory, data);
}

static void store_send_home(xy_task_engine_t *base, int32_t memory, int32_t data)
{
    xy_task_copy_t *c = &base->memories[memory].space.copies[data];

    if (c->is_storing)
        return;
    c->is_storing = true;
    exec_store_request(exec_of(base), data, true);
}

static bool store_write_back(xy_task_engine_t *base, int32_t memory, int32_t data)
{
    xy_task_memory_leave(&base->memories[memory].space, data, base->bytes[data]);
    store_send_home(base, memory, data);
    return false;
}

static void store_fetch(xy_task_engine_t *base, int32_t memory, int32_t data, bool is_prefetch)
{
    xy_task_engine_memory_t *m = &base->memories[memory];

    xy_task_engine_allocate(base, memory, data);
    m->space.states[data] = XY_TASK_COMING;
    xy_task_engine_announce(base, memory, data);
    m->space.copies[data].is_prefetch = is_prefetch;
    m->prefetching += is_prefetch;
    exec_store_request(exec_of(base), data, false);
}

static bool store_is_idle(const xy_task_engine_t *base, int32_t memory)
{
    (void)memory;
    return ((const exec_tasks_t *)base)->in_flight == 0;
}

const xy_task_driver_t exec_store_driver = {
    .taken = store_taken,
    .given = store_given,
    .fetch = store_fetch,
    .write_back = store_write_back,
    .is_way_home_free = store_is_idle,
    .send_home = store_send_home,
    .prefetch_max = 4,
    .is_exact = true,
};

void exec_arrived(exec_tasks_t *e, const exec_request_t *r)
{
    xy_task_engine_memory_t *m = &e->base.memories[1];
    xy_task_copy_t *c = &m->space.copies[r->data];

    count_transfer(e, r->data, r->is_write ? 1 : 0, r->is_write ? 0 : 1, r->start);
    if (!r->is_write) {
        m->space.states[r->data] = XY_TASK_HERE;
        m->prefetching -= c->is_prefetch;
        c->is_prefetch = false;
        return;
    }
    c->is_storing = false;
    e->base.memories[0].space.states[r->data] = XY_TASK_HERE;
    if (c->is_evicting && c->pins == 0)
        xy_task_engine_evict(&e->base, 1, r->data);
    xy_task_memory_stay(&m->space, r->data, e->base.bytes[r->data]);
}

void exec_flush(exec_tasks_t *e)
{
    pthread_mutex_lock(&e->lock);
    for (int32_t d = 0; d < e->base.data_count && e->status == XY_OK; d++) {
        if (e->base.memories[0].space.states[d] == XY_TASK_HERE)
            continue;
        if (e->how->store == NULL)
            count_transfer(e, d, owner_of(e, 1, d), 0, e->now);
        else
            store_send_home(&e->base, 1, d);
    }
    pthread_mutex_unlock(&e->lock);
}
