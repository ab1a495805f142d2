/* SPDX-License-Identifier: BSD-3-Clause */
/* The costs of a task, a link and a stream here: measured before a run, with its own blocks. */
#include <math.h>
#include <string.h>

#include "fiber/fiber.h"
#include "stencil/real_gpu.h"

/* Blocks that are used in turn, so that no cache holds what a kernel reads. An event stands behind
 * every few kernels, as in a run. */
enum { TURNS = 48, TURN_BYTES = 512 << 20, STRIDE = 8, SMALL = 4096 };
/* Tries in a row; fewer with large blocks, whose kernels and copies take long. A copy of so many
 * bytes shows the rate of the link as well as one of more. */
enum { TRIES = 32, TRIES_LEAST = 3, COPY_MOST = 64 << 20 };
static const uint64_t ROW_BYTES = UINT64_C(2) << 30;

typedef struct {
    const stencil_real_t *r;
    const stencil_place_t *place;
    xy_gpu_stream_t *streams[2];
    xy_gpu_event_t *event, *other;
    xy_gpu_memory_t blocks[TURNS];
    int count;
    char *pinned[2];
    uint64_t bytes; /* of a copy */
} probe_t;

static int tries_of(const probe_t *probe)
{
    uint64_t tries = ROW_BYTES / probe->r->grid.block_bytes;

    return tries < TRIES_LEAST ? TRIES_LEAST : tries < TRIES ? (int)tries : TRIES;
}

static uint64_t copy_bytes(const probe_t *probe)
{
    uint64_t block = probe->r->grid.block_bytes;

    return block < COPY_MOST ? block : COPY_MOST;
}

/* Launches one probe task, with an event after every STRIDE of them. */
static xy_status_t put_task(const probe_t *probe, int turn)
{
    const stencil_real_t *r = probe->r;
    xy_gpu_memory_t around[STENCIL_AROUND_MAX],
        out = probe->blocks[(turn + probe->count / 2) % probe->count];
    xy_status_t st;

    for (int i = 0; i < STENCIL_AROUND_MAX; i++)
        around[i] = probe->blocks[(turn + (i > 0)) % probe->count];
    if (probe->count < 4)
        out = probe->place->scratch;
    st = stencil_gpu_launch(r, probe->place, NULL, probe->streams[0], around, out,
                            r->shape.layers * r->shape.rows);
    return st == XY_OK && turn % STRIDE == 0 ? xy_gpu_event_record(probe->event, probe->streams[0])
                                             : st;
}

/* Blocks that share a launch here: with what they read and write they are all that there are. */
static int several_of(const probe_t *probe)
{
    int most = probe->count / 3;

    return most < XY_TASK_BATCH_MAX ? most : XY_TASK_BATCH_MAX;
}

/* Launches one probe batch of several tasks. */
static xy_status_t put_several(const probe_t *probe, int turn)
{
    stencil_blocks_t blocks[XY_TASK_BATCH_MAX];
    int n = probe->count, several = several_of(probe), at = several * turn;
    xy_status_t st;

    for (int b = 0; b < several; b++) {
        for (int i = 0; i < STENCIL_AROUND_MAX; i++)
            blocks[b].around[i] = probe->blocks[(at + b + (i > 0)) % n];
        blocks[b].out = probe->blocks[(at + b + n / 2) % n];
    }
    st = stencil_gpu_launch_several(probe->r, probe->place, probe->streams[0], blocks, several);
    return st == XY_OK && turn % STRIDE == 0 ? xy_gpu_event_record(probe->event, probe->streams[0])
                                             : st;
}

static xy_status_t put_in(const probe_t *probe, int turn)
{
    (void)turn;
    return xy_gpu_copy_in(probe->streams[0], probe->blocks[0], 0, probe->pinned[0], probe->bytes);
}

static xy_status_t put_out(const probe_t *probe, int turn)
{
    (void)turn;
    return xy_gpu_copy_out(probe->streams[1], probe->pinned[1],
                           probe->blocks[probe->count > 1 ? 1 : 0], 0, probe->bytes);
}

static xy_status_t put_both(const probe_t *probe, int turn)
{
    xy_status_t st = put_in(probe, turn);

    return st == XY_OK ? put_out(probe, turn) : st;
}

static xy_status_t put_event(const probe_t *probe, int turn)
{
    (void)turn;
    return xy_gpu_event_record(probe->event, probe->streams[0]);
}

/* A copy and a task that wait for each other, in two streams. */
static xy_status_t put_in_turn(const probe_t *probe, int turn)
{
    xy_status_t st =
        xy_gpu_copy_in(probe->streams[1], probe->blocks[0], 0, probe->pinned[0], probe->bytes);

    if (st == XY_OK)
        st = xy_gpu_event_record(probe->event, probe->streams[1]);
    if (st == XY_OK)
        st = xy_gpu_stream_after(probe->streams[0], probe->event);
    if (st == XY_OK)
        st = put_task(probe, turn);
    if (st == XY_OK)
        st = xy_gpu_event_record(probe->other, probe->streams[0]);
    return st == XY_OK ? xy_gpu_stream_after(probe->streams[1], probe->other) : st;
}

/* Seconds of one in a row of them: of the host to put it there, and until it is complete. The first
 * row warms up; the shorter of two others counts, as other programs may have the core. */
static xy_status_t time_row(const probe_t *probe, xy_status_t (*put)(const probe_t *, int),
                            double *put_p, double *seconds_p)
{
    int tries = tries_of(probe);
    xy_status_t st = XY_OK;

    *put_p = *seconds_p = INFINITY;
    for (int row = 0; row < 3 && st == XY_OK; row++) {
        double begin = xy_now(), middle;

        for (int i = 0; i < tries && st == XY_OK; i++)
            st = put(probe, i);
        middle = xy_now();
        for (int i = 0; i < 2 && st == XY_OK; i++)
            st = xy_gpu_stream_wait(probe->streams[i]);
        if (row == 0)
            continue;
        *put_p = fmin(*put_p, (middle - begin) / tries);
        *seconds_p = fmin(*seconds_p, (xy_now() - begin) / tries);
    }
    return st;
}

/* A link from copies of one block, or much of it, and of a few bytes. */
static xy_status_t time_link(probe_t *probe, xy_status_t (*put)(const probe_t *, int),
                             double *put_p, xy_link_t *link_p)
{
    uint64_t whole = copy_bytes(probe);
    double large, small;
    xy_status_t st;

    probe->bytes = whole < SMALL ? whole : SMALL;
    st = time_row(probe, put, put_p, &small);
    probe->bytes = whole;
    if (st == XY_OK)
        st = time_row(probe, put, put_p, &large);
    if (st != XY_OK)
        return st;
    if (large < 2 * small) /* too small a block: all of it is one rate */
        *link_p = (xy_link_t){0, (double)whole / large};
    else
        *link_p = (xy_link_t){small, (double)whole / (large - small)};
    return XY_OK;
}

/* A launch of several takes once + several times the rest. */
static xy_status_t time_several(const probe_t *probe, xy_stencil_costs_t *costs)
{
    int n = several_of(probe);
    double unused, seconds;
    xy_status_t st = time_row(probe, put_several, &unused, &seconds);

    costs->ahead.once = fmin(fmax((n * costs->task - seconds) / (n - 1), 0), costs->task);
    return st;
}

/* Half the time beside a small copy and a task; with a host that is slower this is too much. */
static xy_status_t time_resume(probe_t *probe, xy_stencil_costs_t *costs)
{
    uint64_t whole = probe->bytes;
    double put = 0, seconds = 0, copy;
    xy_status_t st;

    probe->bytes = whole < SMALL ? whole : SMALL;
    copy = costs->in.latency + (double)probe->bytes / costs->in.bandwidth;
    st = time_row(probe, put_in_turn, &put, &seconds);
    probe->bytes = whole;
    costs->ahead.resume = fmax(seconds - copy - costs->task, 0) / 2;
    return st;
}

/* Measures launches, copies and events on a GPU. */
static xy_status_t measure_on(probe_t *probe, xy_stencil_costs_t *costs)
{
    double unused, both = 0, copy = 0;
    xy_status_t st = time_row(probe, put_task, &costs->ahead.launch, &costs->task);

    if (st == XY_OK)
        st = time_link(probe, put_in, &costs->ahead.copy, &costs->in);
    if (st == XY_OK)
        st = time_link(probe, put_out, &copy, &costs->out);
    if (st == XY_OK)
        st = time_row(probe, put_both, &unused, &both);
    if (st == XY_OK)
        st = time_row(probe, put_event, &costs->ahead.event, &unused);
    if (st == XY_OK && stencil_batch(&probe->r->grid) > 0 && several_of(probe) > 1)
        st = time_several(probe, costs);
    if (st == XY_OK)
        st = time_resume(probe, costs);
    costs->ahead.batch = stencil_batch(&probe->r->grid);
    costs->ahead.exchange_bytes = stencil_exchange(&probe->r->grid);
    costs->both = both > 0 ? (double)probe->bytes / both : 0;
    costs->ahead.decision = xy_task_ahead_usual.decision;
    costs->ahead.delay = xy_task_ahead_usual.delay;
    return st;
}

/* Take blocks: enough for a measurement, as far as there is room; one at least. */
static xy_status_t take_blocks(probe_t *probe)
{
    uint64_t bytes = probe->r->grid.block_bytes, room = 0;
    uint64_t wanted = TURN_BYTES / bytes < TURNS ? TURN_BYTES / bytes + 1 : TURNS;
    xy_status_t st = xy_gpu_room(probe->place->gpu, &room);

    wanted = wanted * bytes <= room / 2 ? wanted : 1;
    while (st == XY_OK && (uint64_t)probe->count < wanted) {
        st = xy_gpu_memory_take(probe->place->gpu, bytes, &probe->blocks[probe->count]);
        probe->count += st == XY_OK;
    }
    return st;
}

static xy_status_t take_pinned(probe_t *probe, int which)
{
    void *address = NULL;
    uint64_t bytes = copy_bytes(probe);
    xy_status_t st = xy_gpu_pinned_take(probe->place->gpu, bytes, &address);

    if (st != XY_OK)
        return st;
    probe->pinned[which] = address;
    memset(address, 0, bytes);
    return xy_gpu_stream_create(probe->place->gpu, &probe->streams[which]);
}

/* All costs of the first GPU; of others what a task takes. */
static xy_status_t measure_place(stencil_real_t *r, int32_t gpu, double *seconds_p)
{
    const stencil_place_t *p = &r->gpu->places[gpu];
    probe_t probe = {.r = r, .place = p};
    double launch;
    xy_status_t st = take_blocks(&probe);

    for (int i = 0; i < 2 && st == XY_OK; i++)
        st = take_pinned(&probe, i);
    if (st == XY_OK)
        st = xy_gpu_event_create(p->gpu, false, &probe.event);
    if (st == XY_OK)
        st = xy_gpu_event_create(p->gpu, false, &probe.other);
    if (st == XY_OK)
        st = gpu == 0 ? measure_on(&probe, &r->gpu->costs)
                      : time_row(&probe, put_task, &launch, seconds_p);
    for (int i = 0; i < 2; i++) {
        xy_gpu_pinned_give(p->gpu, probe.pinned[i]);
        xy_gpu_stream_destroy(probe.streams[i]);
    }
    for (int i = 0; i < probe.count; i++)
        xy_gpu_memory_give(p->gpu, probe.blocks[i]);
    xy_gpu_event_destroy(probe.event);
    xy_gpu_event_destroy(probe.other);
    return st;
}

/* GPUs of one name are equally fast. */
xy_status_t stencil_gpu_measure(stencil_real_t *r)
{
    const char *first = xy_gpu_info(r->gpu->places[0].gpu)->name;
    xy_status_t st = measure_place(r, 0, NULL);

    r->gpu->speeds[0] = 1;
    for (int32_t g = 1; g < r->gpu->count && st == XY_OK; g++) {
        double seconds = r->gpu->costs.task;

        if (strcmp(xy_gpu_info(r->gpu->places[g].gpu)->name, first) != 0)
            st = measure_place(r, g, &seconds);
        r->gpu->speeds[g] =
            seconds > 0 && r->gpu->costs.task > 0 ? r->gpu->costs.task / seconds : 1;
    }
    return st;
}
