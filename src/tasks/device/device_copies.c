/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of data. A copy is there or not as seen by what is put into the streams next: a load that
 * was put counts as done, and so does a store, because whatever needs it waits for it. So room is
 * never "being made", and no task has to give back what it holds.
 */
#include "tasks/device/device_internal.h"

static void set_home(device_tasks_t *e, int32_t data, bool is_here)
{
    e->homes[data].is_here = is_here;
    e->base.states[0][data] = is_here ? XY_TASK_HERE : 0;
}

/* ---- Buffers ---- */

enum { RESERVED = 8 }; /* of the largest data; and a part of the memory at most */

/*
 * Buffers in reserve: a datum that a memory gives up is written home before its buffer is used
 * again. So that a load need not wait for that, there are some buffers more than policies know of:
 * a load takes the one that was given up longest ago. Small memories have none. Large ones have
 * more where data are loaded early, as kernels that used what is given up are then further ahead of
 * the GPU.
 */
uint64_t device_reserve(const device_tasks_t *e, uint64_t bytes)
{
    uint64_t largest = 1, part, more = 2 * (uint64_t)e->how->params.look_ahead;

    for (int32_t d = 0; d < e->base.data_count; d++)
        largest = e->base.bytes[d] > largest ? e->base.bytes[d] : largest;
    part = bytes / RESERVED / largest;
    if (part <= RESERVED)
        return part * largest;
    part = part > 2 * RESERVED ? part - 2 * RESERVED : 0;
    return (RESERVED + (more < part ? more : part)) * largest;
}

/* Give memory back to the GPU until so much can be taken. */
static xy_status_t shrink(device_memory_t *m, uint64_t bytes)
{
    xy_status_t st = XY_OK;
    size_t i = 0;

    for (; i < m->kept.count && m->taken + bytes > m->most && st == XY_OK; i++) {
        const buffer_t *b = &XY_VEC_AT(&m->kept, buffer_t, i);

        st = device_wait(b->loaded);
        if (st == XY_OK)
            st = device_wait(b->used);
        if (st == XY_OK)
            st = device_wait(b->stored);
        xy_gpu_memory_give(m->gpu, b->memory);
        m->taken -= b->bytes;
    }
    for (size_t k = i; k < m->kept.count; k++)
        XY_VEC_AT(&m->kept, buffer_t, k - i) = XY_VEC_AT(&m->kept, buffer_t, k);
    m->kept.count -= i;
    return st;
}

static bool is_over(ticket_t ticket)
{
    return ticket.lane == NULL || ticket.number <= ticket.lane->reached;
}

/* The first kept buffer of this size; the number of all: there is none. */
static size_t find_kept(const device_memory_t *m, uint64_t bytes)
{
    size_t i = 0;

    while (i < m->kept.count && XY_VEC_AT(&m->kept, buffer_t, i).bytes != bytes)
        i++;
    return i;
}

/* A buffer that is still written home is used again only when there is no other. */
static xy_status_t buffer_take(device_memory_t *m, uint64_t bytes, buffer_t *buffer_p)
{
    bool is_full =
        m->row != NULL || m->taken + bytes > m->most || m->kept.count >= m->kept.capacity / 2;
    buffer_t new = {.bytes = bytes};
    size_t i = find_kept(m, bytes);
    xy_status_t st;

    if (i < m->kept.count && (is_full || is_over(XY_VEC_AT(&m->kept, buffer_t, i).stored))) {
        *buffer_p = XY_VEC_AT(&m->kept, buffer_t, i);
        for (; i + 1 < m->kept.count; i++)
            XY_VEC_AT(&m->kept, buffer_t, i) = XY_VEC_AT(&m->kept, buffer_t, i + 1);
        m->kept.count--;
        return XY_OK;
    }
    st = shrink(m, bytes);
    if (st == XY_OK)
        st = xy_gpu_memory_take(m->gpu, bytes, &new.memory);
    if (st != XY_OK)
        return st;
    m->taken += bytes;
    *buffer_p = new;
    return XY_OK;
}

/* Gives a datum a buffer on a GPU, unless it has one; room must have been made. */
static xy_status_t allocate(device_tasks_t *e, int32_t gpu, int32_t data)
{
    device_memory_t *m = &e->devices[gpu];
    xy_status_t st;

    if (m->space->copies[data].is_allocated)
        return XY_OK;
    st = buffer_take(m, e->base.bytes[data], &m->buffers[data]);
    if (st != XY_OK)
        return st;
    xy_task_memory_take(m->space, data, e->base.bytes[data]);
    if (e->is_recording)
        device_record_memory(e, gpu);
    return XY_OK;
}

static void set_early(device_memory_t *m, int32_t data, bool is_early)
{
    m->early += (is_early ? 1 : 0) - (m->is_early[data] ? 1 : 0);
    m->is_early[data] = is_early;
}

/* There is always a place to keep it: twice as many as there are data, half of them for those that
 * are kept already. */
static void given(xy_task_engine_t *base, int32_t memory, int32_t data)
{
    device_tasks_t *e = device_of(base);
    device_memory_t *m = &e->devices[memory - 1];

    (void)xy_vec_append(&m->kept, &m->buffers[data]);
    set_early(m, data, false);
    if (e->is_recording)
        device_record_memory(e, memory - 1);
}

/* Of the one size that all data have; 0: they have several. */
static uint64_t one_size(const device_tasks_t *e)
{
    for (int32_t d = 1; d < e->base.data_count; d++)
        if (e->base.bytes[d] != e->base.bytes[0])
            return 0;
    return e->base.data_count > 0 ? e->base.bytes[0] : 0;
}

/* Buffers for changed data, beside the memory that policies know of: one for each task of a launch,
 * and at most a part of that memory. */
static int32_t count_spares(const device_tasks_t *e, const device_memory_t *m)
{
    uint64_t bytes = e->how->exchange_bytes;
    uint64_t most = bytes > 0 ? m->most / bytes / (2 * XY_TASK_BATCH_MAX) : 0;
    int32_t batch = e->how->batch < XY_TASK_BATCH_MAX ? e->how->batch : XY_TASK_BATCH_MAX;

    if (bytes == 0)
        return 0;
    batch = most < (uint64_t)batch ? (int32_t)most : batch;
    return batch > 1 ? batch : 1;
}

static xy_status_t take_spares(device_memory_t *m, uint64_t bytes, int32_t count)
{
    xy_status_t st = XY_OK;

    while (m->spare_count < count && st == XY_OK) {
        st = xy_gpu_memory_take(m->gpu, bytes, &m->spares[m->spare_count]);
        m->spare_count += st == XY_OK;
    }
    return st;
}

/* The driver takes long for each buffer, and meanwhile no kernel is put into a stream. */
xy_status_t device_take_row(device_tasks_t *e, device_memory_t *m)
{
    uint64_t bytes = one_size(e), count = bytes > 0 ? m->most / bytes : 0;
    int32_t spares = count_spares(e, m);
    xy_status_t st;

    count = count < (uint64_t)e->base.data_count ? count : (uint64_t)e->base.data_count;
    if (count == 0 || (spares > 0 && bytes != e->how->exchange_bytes))
        return take_spares(m, e->how->exchange_bytes, spares);
    m->row = xy_calloc(count + (uint64_t)spares, sizeof(*m->row));
    if (m->row == NULL)
        return xy_fail_memory("preparing a GPU");
    st = xy_gpu_memory_take_row(m->gpu, bytes, count + (uint64_t)spares, m->row);
    if (st != XY_OK)
        return st;
    for (uint64_t i = 0; i < count; i++) /* there is room for them */
        (void)xy_vec_append(&m->kept, &(buffer_t){.memory = m->row[i], .bytes = bytes});
    for (; m->spare_count < spares; m->spare_count++)
        m->spares[m->spare_count] = m->row[count + (uint64_t)m->spare_count];
    m->row_count = count + (uint64_t)spares;
    m->taken = count * bytes;
    return XY_OK;
}

void device_memory_cleanup(device_tasks_t *e, device_memory_t *m)
{
    if (m->row != NULL) {
        xy_gpu_memory_give_row(m->gpu, m->row, m->row_count);
        xy_free(m->row);
        m->kept.count = 0;
        m->spare_count = 0;
    }
    for (int32_t i = 0; i < m->spare_count; i++)
        xy_gpu_memory_give(m->gpu, m->spares[i]);
    for (int32_t d = 0; m->row == NULL && m->buffers != NULL && d < e->base.data_count; d++)
        if (m->space->copies[d].is_allocated)
            xy_gpu_memory_give(m->gpu, m->buffers[d].memory);
    for (size_t i = 0; i < m->kept.count; i++)
        xy_gpu_memory_give(m->gpu, XY_VEC_AT(&m->kept, buffer_t, i).memory);
    xy_vec_cleanup(&m->kept);
    xy_free(m->buffers);
    xy_free(m->is_early);
}

/* ---- Loads and stores ---- */

/* Starts the copy of a datum from a GPU to its home, after all earlier uses of both. */
static xy_status_t store(device_tasks_t *e, int32_t gpu, int32_t data)
{
    device_memory_t *m = &e->devices[gpu];
    lane_t *lane = &m->lanes[LANE_STORE];
    buffer_t *b = &m->buffers[data];
    home_t *home = &e->homes[data];
    xy_status_t st = device_lane_after(lane, b->used);

    if (st == XY_OK)
        st = device_lane_after(lane, b->loaded);
    if (st == XY_OK)
        st = device_lane_after(lane, home->read);
    if (st == XY_OK) /* by another GPU, of an older value */
        st = device_lane_after(lane, home->written);
    if (st == XY_OK)
        st = device_lane_begin(lane);
    if (st == XY_OK)
        st = device_copy_out(lane, data, b->memory);
    if (st == XY_OK)
        st = device_lane_end(lane, &data, 1, &b->stored);
    home->written = b->stored;
    set_home(e, data, true);
    xy_task_engine_count(&e->base, data, gpu + 1, 0);
    return st;
}

/* The GPU that has the last value of a datum that is not home; one has. */
static int32_t owner_of(const device_tasks_t *e, int32_t data)
{
    int32_t gpu = 0;

    while (e->devices[gpu].space->states[data] != XY_TASK_HERE && gpu < e->how->gpu_count - 1)
        gpu++;
    return gpu;
}

/* Is there a value of it anywhere? One that no task would read is given up without being kept. */
static bool has_value(const device_tasks_t *e, int32_t data)
{
    return e->homes[data].is_here ||
           e->devices[owner_of(e, data)].space->states[data] == XY_TASK_HERE;
}

static xy_status_t bring_home(device_tasks_t *e, int32_t data)
{
    return e->homes[data].is_here ? XY_OK : store(e, owner_of(e, data), data);
}

/* Into a buffer that it has. */
static xy_status_t load(device_tasks_t *e, int32_t gpu, int32_t data)
{
    device_memory_t *m = &e->devices[gpu];
    lane_t *lane = &m->lanes[LANE_LOAD];
    buffer_t *b = &m->buffers[data];
    home_t *home = &e->homes[data];
    xy_status_t st = bring_home(e, data);

    if (st == XY_OK)
        st = device_lane_after(lane, b->used);
    if (st == XY_OK)
        st = device_lane_after(lane, b->stored);
    if (st == XY_OK)
        st = home->is_staged ? device_wait(home->written) : device_lane_after(lane, home->written);
    if (st == XY_OK)
        st = device_lane_begin(lane);
    if (st == XY_OK)
        st = device_copy_in(lane, b->memory, data);
    if (st == XY_OK)
        st = device_lane_end(lane, &data, 1, &b->loaded);
    /* One ticket stands for all who read it, so a load of another GPU is waited for here. */
    if (st == XY_OK && home->read.lane != NULL && home->read.lane != lane)
        st = device_wait(home->read);
    if (!home->is_staged)
        home->read = b->loaded;
    m->space->states[data] = XY_TASK_HERE;
    xy_task_engine_announce(&e->base, gpu + 1, data);
    xy_task_engine_count(&e->base, data, 0, gpu + 1);
    return st;
}

/* ---- Room ---- */

static bool is_scrap(const device_tasks_t *e, int32_t data)
{
    return xy_graph_data_at(e->base.graph, data)->is_scrap && e->how->stop == NULL;
}

/* Nobody will read what it holds: the next task that uses it writes it, or there is none and it is
 * not wanted in the end. A run that may be stopped before that keeps all. */
static bool is_dead(xy_task_engine_t *base, int32_t data)
{
    device_tasks_t *e = device_of(base);
    int64_t next = xy_task_uses_next(&e->base.uses, data, e->base.is_over);
    const xy_access_t *a;
    int32_t n = next == INT64_MAX ? 0 : xy_graph_accesses(e->base.graph, (xy_op_id_t)next, &a);

    if (next == INT64_MAX)
        return is_scrap(e, data);
    for (int32_t i = 0; i < n && e->how->stop == NULL; i++)
        if (a[i].data == data)
            return !(a[i].mode & XY_ACCESS_READ);
    return false;
}

static void evicted(xy_task_engine_t *base, int32_t memory, int32_t data)
{
    if (device_of(base)->is_recording)
        device_record_eviction(device_of(base), memory - 1, data);
}

const xy_task_driver_t device_driver = {.given = given, .evicted = evicted, .is_dead = is_dead};

/* *is_made_p: there is room for so many bytes. */
static xy_status_t make_room(device_tasks_t *e, int32_t gpu, uint64_t bytes, bool is_prefetch,
                             bool *is_made_p)
{
    device_memory_t *m = &e->devices[gpu];
    xy_status_t st = XY_OK;

    *is_made_p = false;
    while (m->space->used + bytes > m->space->capacity) {
        int32_t data = xy_task_engine_victim(&e->base, gpu + 1, is_prefetch);

        if (data < 0)
            return XY_OK;
        if (xy_task_engine_is_sole(&e->base, gpu + 1, data) && !is_dead(&e->base, data))
            st = store(e, gpu, data);
        if (st != XY_OK)
            return st;
        xy_task_engine_evict(&e->base, gpu + 1, data);
    }
    *is_made_p = true;
    return XY_OK;
}

/* ---- Tasks ---- */

/* Makes room for one datum of a task on a GPU and starts its load; *is_there_p is false while
 * others must leave first. */
static xy_status_t gather_one(device_tasks_t *e, int32_t gpu, const xy_access_t *a, bool has_others,
                              bool *is_there_p)
{
    device_memory_t *m = &e->devices[gpu];
    lane_t *compute = &m->lanes[LANE_COMPUTE];
    buffer_t *b = &m->buffers[a->data];
    bool is_made = true;
    xy_status_t st = XY_OK;

    if (!m->space->copies[a->data].is_allocated)
        st = make_room(e, gpu, e->base.bytes[a->data], false, &is_made);
    *is_there_p = is_made;
    if (st == XY_OK && !is_made && has_others)
        return XY_OK;
    if (st == XY_OK && !is_made)
        return xy_fail(XY_EINVAL,
                       "datum %d does not fit into the memory of the GPU beside the "
                       "others of its task; use more (--memory) or smaller blocks",
                       a->data);
    if (st == XY_OK)
        st = allocate(e, gpu, a->data);
    if (st == XY_OK && (a->mode & XY_ACCESS_READ) && m->space->states[a->data] != XY_TASK_HERE)
        st = load(e, gpu, a->data);
    if (st == XY_OK)
        st = device_lane_want(compute, b->loaded);
    /* Overwritten data must have been stored. */
    if (st == XY_OK && (a->mode & XY_ACCESS_WRITE))
        st = device_lane_want(compute, b->stored);
    return st;
}

xy_status_t device_gather(device_tasks_t *e, int32_t gpu, xy_op_id_t op, bool has_others,
                          xy_gpu_memory_t *buffers, bool *is_there_p)
{
    device_memory_t *m = &e->devices[gpu];
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(e->base.graph, op, &a);
    xy_status_t st = XY_OK;

    *is_there_p = true;
    xy_task_memory_hold(m->space, e->base.graph, op);
    for (int32_t i = 0; i < n && st == XY_OK && *is_there_p; i++) {
        st = gather_one(e, gpu, &a[i], has_others, is_there_p);
        buffers[i] = m->buffers[a[i].data].memory;
    }
    if (!*is_there_p) {
        xy_task_engine_let_go(&e->base, gpu + 1, op);
        return st;
    }
    for (int32_t i = 0; i < n && st == XY_OK; i++)
        if (a[i].mode & XY_ACCESS_WRITE) {
            xy_task_engine_own(&e->base, gpu + 1, a[i].data);
            e->homes[a[i].data].is_here = false;
        }
    return st;
}

/* The kernel comes behind all loads and stores of the old buffer (gather_one), and those that use
 * it next come behind the kernel: what is known of the datum holds for its new buffer. */
void device_exchange(device_tasks_t *e, int32_t gpu, xy_op_id_t op, int32_t n)
{
    device_memory_t *m = &e->devices[gpu];
    const xy_access_t *a;
    int32_t i = n < m->spare_count ? xy_graph_accesses(e->base.graph, op, &a) - 1 : -1;

    for (; i >= 0; i--)
        if (a[i].mode == XY_ACCESS_READ_WRITE &&
            e->base.bytes[a[i].data] == e->how->exchange_bytes) {
            xy_gpu_memory_t changed = m->spares[n];

            m->spares[n] = m->buffers[a[i].data].memory;
            m->buffers[a[i].data].memory = changed;
            return;
        }
}

void device_used(device_tasks_t *e, int32_t gpu, xy_op_id_t op, ticket_t ticket)
{
    device_memory_t *m = &e->devices[gpu];
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(e->base.graph, op, &a);

    xy_task_engine_finished(&e->base, gpu + 1, op);
    for (int32_t i = 0; i < n; i++) {
        m->buffers[a[i].data].used = ticket;
        set_early(m, a[i].data, false);
    }
}

xy_status_t device_prefetch(device_tasks_t *e, int32_t gpu, bool is_idle)
{
    device_memory_t *m = &e->devices[gpu];
    uint64_t behind = 0, most = DEVICE_PREFETCH;
    xy_status_t st = XY_OK;

    if (e->how->cores > 0)
        st = device_lane_behind(&m->lanes[LANE_LOAD], &behind);
    else if (!is_idle) {
        behind = (uint64_t)m->early;
        most = (uint64_t)e->how->params.look_ahead;
    }
    for (; behind < most && st == XY_OK; behind++) {
        int32_t data = e->base.policy->prefetch(e->base.state, gpu + 1);
        bool is_made;

        if (data < 0 || m->space->states[data] != 0 || m->space->copies[data].is_allocated ||
            !has_value(e, data))
            return XY_OK;
        if (!e->base.policy->is_evicting_for_prefetch &&
            m->space->used + e->base.bytes[data] > m->space->capacity)
            return XY_OK;
        st = make_room(e, gpu, e->base.bytes[data], true, &is_made);
        if (st == XY_OK && !is_made)
            return XY_OK;
        if (st == XY_OK)
            st = allocate(e, gpu, data);
        if (st == XY_OK)
            st = load(e, gpu, data);
        set_early(m, data, true);
    }
    return st;
}

/* Data in their final state are written back. */
xy_status_t device_store_early(device_tasks_t *e, int32_t gpu)
{
    device_memory_t *m = &e->devices[gpu];
    xy_status_t st = XY_OK;

    while (m->space->final.head >= 0 && st == XY_OK) {
        int32_t data = xy_task_memory_pop_final(m->space);

        if (m->space->states[data] == XY_TASK_HERE && !e->homes[data].is_here && !is_scrap(e, data))
            st = store(e, gpu, data);
    }
    return st;
}

/* ---- Home ---- */

xy_status_t device_home_ask(device_tasks_t *e, const xy_access_t *a, int32_t n)
{
    xy_status_t st = XY_OK;

    for (int32_t i = 0; i < n && st == XY_OK; i++)
        if (a[i].mode & XY_ACCESS_READ)
            st = bring_home(e, a[i].data);
    return st;
}

xy_status_t device_home_has_come(device_tasks_t *e, const xy_access_t *a, int32_t n,
                                 bool *has_come_p, ticket_t *awaited_p)
{
    xy_status_t st = XY_OK;

    *has_come_p = true;
    for (int32_t i = 0; i < 2 * n && st == XY_OK && *has_come_p; i++) {
        const home_t *home = &e->homes[a[i / 2].data];
        ticket_t ticket = i % 2 == 0 ? home->written : home->read;

        if (i % 2 == 1 && !(a[i / 2].mode & XY_ACCESS_WRITE))
            continue;
        st = device_is_over(ticket, has_come_p);
        if (awaited_p != NULL)
            *awaited_p = ticket;
    }
    return st;
}

/* While it is written it is nowhere, so no GPU prefetches it. */
void device_home_take(device_tasks_t *e, const xy_access_t *a, int32_t n, void **addresses)
{
    for (int32_t i = 0; i < n; i++) {
        addresses[i] = e->homes[a[i].data].address;
        if (!(a[i].mode & XY_ACCESS_WRITE))
            continue;
        for (int32_t g = 0; g < e->how->gpu_count; g++)
            xy_task_engine_release(&e->base, g + 1, a[i].data);
        e->homes[a[i].data].is_here = false;
        e->base.states[0][a[i].data] = XY_TASK_HERE; /* for policies: it is nowhere else */
    }
}

void device_home_give(device_tasks_t *e, const xy_access_t *a, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (a[i].mode & XY_ACCESS_WRITE) {
            set_home(e, a[i].data, true);
            e->base.writers_left[a[i].data]--;
        }
}

xy_status_t device_flush(device_tasks_t *e)
{
    xy_status_t st = XY_OK;

    for (int32_t d = 0; d < e->base.data_count && st == XY_OK; d++)
        if (!is_scrap(e, d))
            st = bring_home(e, d);
    for (int32_t g = 0; g < e->how->gpu_count; g++)
        for (int k = 0; k < LANES && st == XY_OK; k++)
            st = device_lane_drain(&e->devices[g].lanes[k]);
    return st;
}
