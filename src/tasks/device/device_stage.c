/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of the program that cannot be pinned: copies go through pieces of pinned memory.
 *
 *   load    home -- memcpy --> piece -- copy --> GPU
 *   store   GPU -- copy --> piece -- memcpy --> home, when it is known to be over
 *
 * A driver copies such memory, too, but a store then holds the caller until the GPU has come so
 * far, and nothing is put into any stream meanwhile. Here the caller only waits where all pieces
 * are in use. Kernels, copies of other pieces and the next decisions continue.
 *
 * A load has read its home when it is put into the stream. So whatever is written there must be
 * complete before, and nothing has to wait for the load.
 */
#include <string.h>

#include "tasks/device/device_internal.h"

/* Large enough for the full speed of a link, and so many that a few blocks are under way. */
enum { PIECE_BYTES = 2 << 20, PIECES = 32, ALIGNMENT = 256 };

/* Only where that is worth a copy: a device that is made of cores reads the memory itself. */
static bool is_worth_it(const device_tasks_t *e)
{
    if (e->how->clock != NULL || e->how->gpu_count == 0)
        return false;
    for (int32_t g = 0; g < e->how->gpu_count; g++)
        if (!xy_gpu_info(e->how->gpus[g])->is_cpu)
            return true;
    return e->how->piece_bytes > 0;
}

/* The ranges are sorted and have nothing in common. */
static bool is_pinned(const device_tasks_t *e, uintptr_t address)
{
    size_t low = 0, high = e->pinned_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (e->pinned[middle].to <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < e->pinned_count && e->pinned[low].from <= address;
}

void device_stage_choose(device_tasks_t *e)
{
    uint64_t largest = 0;

    for (int32_t d = 0; d < e->base.data_count && is_worth_it(e); d++) {
        home_t *home = &e->homes[d];

        home->is_staged = home->address != NULL && !is_pinned(e, (uintptr_t)home->address);
        if (home->is_staged && e->base.bytes[d] > largest)
            largest = e->base.bytes[d];
    }
    e->piece_bytes = e->how->piece_bytes > 0 ? e->how->piece_bytes : PIECE_BYTES;
    if (e->piece_bytes > largest)
        e->piece_bytes = largest;
}

xy_status_t device_stage_init(lane_t *lane, xy_gpu_device_t *gpu)
{
    stage_t *s = &lane->stage;
    uint64_t step = (lane->engine->piece_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    xy_status_t st = XY_OK;

    if (step == 0 || lane->kind == LANE_COMPUTE)
        return XY_OK;
    s->gpu = gpu;
    s->pieces = xy_calloc(PIECES, sizeof(*s->pieces));
    if (s->pieces == NULL)
        return xy_fail_memory("preparing a GPU");
    st = xy_gpu_pinned_take(gpu, PIECES * step, &s->memory);
    for (uint64_t i = 0; i < PIECES && st == XY_OK; i++) {
        s->pieces[i].address = (char *)s->memory + i * step;
        st = xy_gpu_event_create(gpu, false, &s->pieces[i].done);
    }
    return st;
}

void device_stage_cleanup(lane_t *lane)
{
    stage_t *s = &lane->stage;

    for (int i = 0; s->pieces != NULL && i < PIECES; i++)
        xy_gpu_event_destroy(s->pieces[i].done);
    if (s->memory != NULL)
        xy_gpu_pinned_give(s->gpu, s->memory);
    xy_free(s->pieces);
}

/* Wait for the oldest piece that is in use, and complete what it does. */
static xy_status_t end_oldest(stage_t *s)
{
    const piece_t *p = &s->pieces[s->over % PIECES];
    xy_status_t st = xy_gpu_event_wait(p->done);

    if (st == XY_OK && p->home != NULL)
        memcpy(p->home, p->address, p->bytes);
    s->over++;
    return st;
}

xy_status_t device_stage_reach(lane_t *lane, uint64_t number)
{
    stage_t *s = &lane->stage;
    xy_status_t st = XY_OK;

    while (s->over < s->put && s->pieces[s->over % PIECES].number <= number && st == XY_OK)
        st = end_oldest(s);
    return st;
}

/* A piece that is not in use; it is of what is put into the lane next. */
static xy_status_t take(lane_t *lane, char *home, uint64_t bytes, piece_t **piece_p)
{
    stage_t *s = &lane->stage;
    xy_status_t st = s->put - s->over == PIECES ? end_oldest(s) : XY_OK;
    piece_t *p = &s->pieces[s->put % PIECES];

    p->home = home;
    p->bytes = bytes;
    p->number = lane->put + 1;
    *piece_p = p;
    return st;
}

static xy_status_t give(lane_t *lane, piece_t *p)
{
    lane->stage.put++;
    return xy_gpu_event_record(p->done, lane->stream);
}

static uint64_t next_bytes(const device_tasks_t *e, uint64_t left)
{
    return left < e->piece_bytes ? left : e->piece_bytes;
}

xy_status_t device_copy_in(lane_t *lane, xy_gpu_memory_t to, int32_t data)
{
    device_tasks_t *e = lane->engine;
    const char *home = e->homes[data].address;
    uint64_t bytes = e->base.bytes[data], n;
    xy_status_t st = XY_OK;

    if (!e->homes[data].is_staged)
        return xy_gpu_copy_in(lane->stream, to, 0, home, bytes);
    for (uint64_t at = 0; at < bytes && st == XY_OK; at += n) {
        piece_t *p;

        n = next_bytes(e, bytes - at);
        st = take(lane, NULL, n, &p);
        if (st != XY_OK)
            return st;
        memcpy(p->address, home + at, n);
        st = xy_gpu_copy_in(lane->stream, to, at, p->address, n);
        if (st == XY_OK)
            st = give(lane, p);
    }
    e->base.result.bytes_staged += bytes;
    return st;
}

xy_status_t device_copy_out(lane_t *lane, int32_t data, xy_gpu_memory_t from)
{
    device_tasks_t *e = lane->engine;
    char *home = e->homes[data].address;
    uint64_t bytes = e->base.bytes[data], n;
    xy_status_t st = XY_OK;

    if (!e->homes[data].is_staged)
        return xy_gpu_copy_out(lane->stream, home, from, 0, bytes);
    for (uint64_t at = 0; at < bytes && st == XY_OK; at += n) {
        piece_t *p;

        n = next_bytes(e, bytes - at);
        st = take(lane, home + at, n, &p);
        if (st == XY_OK)
            st = xy_gpu_copy_out(lane->stream, p->address, from, at, n);
        if (st == XY_OK)
            st = give(lane, p);
    }
    e->base.result.bytes_staged += bytes;
    return st;
}
