/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A window that lives for one step. Each rank has a block for every member, which only that member
 * writes, and some counters, to which all add. Who writes to whom, and how they synchronise, all
 * know; so everyone knows what must be in its memory, and in that of the others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

enum { BLOCK_MOST = 40, COUNTERS = 4 };

typedef enum { FENCE, LOCK, LOCK_ALL, GROUPS, WAYS } way_t;

typedef struct {
    const comm_t *comm;
    MPI_Win win;
    uint64_t *memory; /* blocks of `block` elements, then COUNTERS */
    void *device;     /* the window, copied to `memory`; or NULL */
    int block;
    way_t way;
} window_t;

/* Does `origin` write to `target` in this step? */
static bool writes(int origin, int target)
{
    return hash((uint64_t)step, 21, (uint64_t)origin, (uint64_t)target) % 3 == 0;
}

/* How often `origin` adds to the counters of `target`. */
static int additions(int origin, int target)
{
    return (int)(hash((uint64_t)step, 22, (uint64_t)origin, (uint64_t)target) % 3);
}

/* Are all members in one process? */
static bool have_memory_in_common(MPI_Comm comm)
{
    MPI_Comm near;
    int all, members;

    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
    MPI_Comm_size(comm, &all);
    MPI_Comm_size(near, &members);
    MPI_Comm_free(&near);
    return members == all;
}

static void window_create(window_t *w)
{
    int elements = w->comm->size * w->block + COUNTERS;
    MPI_Aint bytes = (MPI_Aint)elements * (MPI_Aint)sizeof(uint64_t);
    MPI_Comm comm = w->comm->handle;

    if (chance(&shared_random, 50)) {
        w->memory = malloc((size_t)bytes);
        if (w->memory == NULL)
            fail("no memory for a window");
        pending_keep(w->memory);
        if (memory_draw() != MEMORY_PLAIN)
            w->device = device_alloc((size_t)bytes);
        MPI_Win_create(w->device != NULL ? w->device : w->memory, bytes, sizeof(uint64_t),
                       MPI_INFO_NULL, comm, &w->win);
    } else if (chance(&shared_random, 50) || !have_memory_in_common(comm)) {
        MPI_Win_allocate(bytes, sizeof(uint64_t), MPI_INFO_NULL, comm, &w->memory, &w->win);
    } else {
        MPI_Win_allocate_shared(bytes, sizeof(uint64_t), MPI_INFO_NULL, comm, &w->memory, &w->win);
    }
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->comm->rank, 0, w->win);
    if (w->device != NULL)
        device_clear(w->device, (size_t)bytes);
    else
        memset(w->memory, 0, (size_t)bytes);
    MPI_Win_unlock(w->comm->rank, w->win);
    MPI_Barrier(comm); /* none writes before all have cleared */
}

/* ---- Synchronisation ---- */

static MPI_Group all_of(const window_t *w)
{
    MPI_Group group;

    MPI_Win_get_group(w->win, &group);
    return group;
}

static void epoch_begin(const window_t *w)
{
    MPI_Group group;

    switch (w->way) {
    case FENCE:
        MPI_Win_fence(chance(&shared_random, 50) ? MPI_MODE_NOPRECEDE : 0, w->win);
        break;
    case LOCK_ALL:
        MPI_Win_lock_all(0, w->win);
        break;
    case GROUPS:
        group = all_of(w);
        MPI_Win_post(group, 0, w->win);
        MPI_Win_start(group, 0, w->win);
        MPI_Group_free(&group);
        break;
    default:
        break;
    }
}

/* After it all operations of all members are over. */
static void epoch_end(const window_t *w)
{
    int flag = 0;

    switch (w->way) {
    case FENCE:
        MPI_Win_fence(0, w->win);
        break;
    case LOCK_ALL:
        MPI_Win_unlock_all(w->win);
        break;
    case GROUPS:
        MPI_Win_complete(w->win);
        if (chance(&own_random, 50))
            MPI_Win_wait(w->win);
        else
            while (MPI_Win_test(w->win, &flag), !flag)
                pause_somehow();
        break;
    default:
        break;
    }
    if (w->way == LOCK || w->way == LOCK_ALL)
        MPI_Barrier(w->comm->handle);
}

/* Around what is done to one target. */
static void target_begin(const window_t *w, int target)
{
    if (w->way == LOCK)
        MPI_Win_lock(chance(&own_random, 50) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0,
                     w->win);
}

static void target_end(const window_t *w, int target)
{
    if (w->way == LOCK)
        MPI_Win_unlock(target, w->win);
    else if (w->way == LOCK_ALL && chance(&own_random, 30))
        MPI_Win_flush(target, w->win);
}

/* ---- Operations ---- */

/* This rank's block at the target, from a buffer of any layout. */
static void put_block(const window_t *w, int target)
{
    pending_t *p = pending_create("put");
    int n = w->block;
    MPI_Aint at = (MPI_Aint)w->comm->rank * n;
    bool has_request = (w->way == LOCK || w->way == LOCK_ALL) && chance(&own_random, 30);
    MPI_Request request;
    MPI_Datatype type;

    buffer_create(&p->send, form_draw(&own_random, LONGS, n), n, false);
    for (int i = 0; i < n; i++)
        buffer_set(&p->send, i, value_of(w->comm->rank, target, i));
    buffer_seal(&p->send);
    type = buffer_type(&p->send);
    if (has_request) {
        MPI_Rput(p->send.base, form_count(p->send.form, n), type, target, at, n, MPI_UINT64_T,
                 w->win, &request);
        wait_somehow(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Put(p->send.base, form_count(p->send.form, n), type, target, at, n, MPI_UINT64_T,
                w->win);
    }
    form_type_release(type);
    pending_forget(p); /* the buffer must live until the epoch ends */
}

static void add_to(const window_t *w, int target)
{
    static const uint64_t ones[COUNTERS] = {1, 2, 3, 4};
    static uint64_t unused[COUNTERS];
    MPI_Aint at = (MPI_Aint)w->comm->size * w->block;

    for (int k = additions(w->comm->rank, target); k > 0; k--)
        switch (draw(&own_random, 3)) {
        case 0:
            MPI_Accumulate(ones, COUNTERS, MPI_UINT64_T, target, at, COUNTERS, MPI_UINT64_T,
                           MPI_SUM, w->win);
            break;
        case 1:
            MPI_Get_accumulate(ones, COUNTERS, MPI_UINT64_T, unused, COUNTERS, MPI_UINT64_T, target,
                               at, COUNTERS, MPI_UINT64_T, MPI_SUM, w->win);
            break;
        default:
            for (int i = 0; i < COUNTERS; i++)
                MPI_Fetch_and_op(&ones[i], &unused[i], MPI_UINT64_T, target, at + i, MPI_SUM,
                                 w->win);
        }
}

static void write_all(const window_t *w)
{
    for (int k = 0; k < w->comm->size; k++) {
        int target = (w->comm->rank + k) % w->comm->size;

        target_begin(w, target);
        if (writes(w->comm->rank, target))
            put_block(w, target);
        add_to(w, target);
        target_end(w, target);
    }
}

/* ---- Checks ---- */

static void check_block(const window_t *w, const uint64_t *block, int origin, int target)
{
    for (int i = 0; i < w->block; i++) {
        uint64_t expected = writes(origin, target) ? value_of(origin, target, i) : 0;

        if (block[i] != expected)
            fail("window: element %d from %d at %d is %llx and should be %llx", i, origin, target,
                 (unsigned long long)block[i], (unsigned long long)expected);
    }
}

static void check_own(const window_t *w)
{
    const uint64_t *counters = w->memory + (size_t)w->comm->size * (size_t)w->block;
    uint64_t times = 0;

    if (w->device != NULL)
        device_copy(w->memory, w->device,
                    ((size_t)w->comm->size * (size_t)w->block + COUNTERS) * sizeof(uint64_t));
    for (int o = 0; o < w->comm->size; o++) {
        check_block(w, w->memory + (size_t)o * (size_t)w->block, o, w->comm->rank);
        times += (uint64_t)additions(o, w->comm->rank);
    }
    for (uint64_t i = 0; i < COUNTERS; i++) {
        unsigned long long is = counters[i], should = times * (i + 1);

        if (is != should)
            fail("window: counter %d is %llu and should be %llu", (int)i, is, should);
    }
}

/* Check the memory of another rank, by a get of everything. */
static void check_other(const window_t *w)
{
    int n = w->comm->size * w->block, target = draw(&own_random, w->comm->size);
    uint64_t *copy = malloc(((size_t)n + 1) * sizeof(*copy));

    if (copy == NULL)
        fail("no memory for a copy");
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win);
    MPI_Get(copy, n, MPI_UINT64_T, target, 0, n, MPI_UINT64_T, w->win);
    MPI_Win_unlock(target, w->win);
    for (int o = 0; o < w->comm->size; o++)
        check_block(w, copy + (size_t)o * (size_t)w->block, o, target);
    free(copy);
}

void step_window(void)
{
    window_t w = {.comm = comm_draw(&shared_random)};
    way_t way = (way_t)draw(&shared_random, WAYS);

    w.block = draw(&shared_random, BLOCK_MOST + 1);
    w.way = way;
    if (is_verbose)
        fprintf(stderr, "%d: step %d: window, blocks of %d, synchronised in way %d\n", rank, step,
                w.block, (int)way);
    if (w.comm->handle == MPI_COMM_NULL)
        return;
    window_create(&w);
    epoch_begin(&w);
    write_all(&w);
    epoch_end(&w);
    if (way == LOCK || way == LOCK_ALL)
        MPI_Win_lock(MPI_LOCK_SHARED, w.comm->rank, 0, w.win);
    check_own(&w);
    if (way == LOCK || way == LOCK_ALL)
        MPI_Win_unlock(w.comm->rank, w.win);
    if (way != FENCE || chance(&shared_random, 50)) {
        MPI_Barrier(w.comm->handle);
        if (way == FENCE) /* ends the epoch that the last fence has begun */
            MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win);
        check_other(&w);
    }
    MPI_Win_free(&w.win);
    device_free(w.device);
}
