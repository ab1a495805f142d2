/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu_plain.h"

#include <string.h>

#include "bench.h"
#include "stencil/real_gpu.h"

enum { LOAD, COMPUTE, STORE, STREAMS, SLOTS = 3 };

typedef struct {
    xy_gpu_device_t *gpu;
    xy_gpu_program_t *program;
    xy_gpu_kernel_t *kernel;
    xy_gpu_stream_t *streams[STREAMS];
    xy_gpu_memory_t in[SLOTS], out[SLOTS];
    xy_gpu_event_t *loaded[SLOTS], *computed[SLOTS], *stored[SLOTS];
} hand_t;

static xy_status_t hand_open(hand_t *h, xy_gpu_device_t *gpu, uint64_t in, uint64_t out, int slots)
{
    xy_status_t st;

    *h = (hand_t){.gpu = gpu};
    st = xy_gpu_program_create(gpu, "stencil.cl", stencil_gpu_text, &h->program);
    if (st == XY_OK)
        st = xy_gpu_kernel_create(h->program, "update5", &h->kernel);
    if (st == XY_OK)
        xy_gpu_kernel_chain(h->kernel);
    for (int i = 0; i < STREAMS && st == XY_OK; i++)
        st = xy_gpu_stream_create(gpu, &h->streams[i]);
    for (int i = 0; i < slots && st == XY_OK; i++) {
        st = xy_gpu_memory_take(gpu, in, &h->in[i]);
        if (st == XY_OK)
            st = xy_gpu_memory_take(gpu, out, &h->out[i]);
        if (st == XY_OK)
            st = xy_gpu_event_create(gpu, false, &h->loaded[i]);
        if (st == XY_OK)
            st = xy_gpu_event_create(gpu, false, &h->computed[i]);
        if (st == XY_OK)
            st = xy_gpu_event_create(gpu, false, &h->stored[i]);
    }
    return st;
}

static void hand_close(hand_t *h)
{
    for (int i = 0; i < STREAMS; i++)
        if (h->streams[i] != NULL)
            (void)xy_gpu_stream_wait(h->streams[i]);
    for (int i = 0; i < SLOTS; i++) {
        xy_gpu_memory_give(h->gpu, h->in[i]);
        xy_gpu_memory_give(h->gpu, h->out[i]);
        xy_gpu_event_destroy(h->loaded[i]);
        xy_gpu_event_destroy(h->computed[i]);
        xy_gpu_event_destroy(h->stored[i]);
    }
    for (int i = 0; i < STREAMS; i++)
        xy_gpu_stream_destroy(h->streams[i]);
    xy_gpu_kernel_destroy(h->kernel);
    xy_gpu_program_destroy(h->program);
}

/* The kernel of the tasks, on one block without neighbours: its first and last row stay. */
static xy_status_t sweep(const hand_t *h, xy_gpu_memory_t from, xy_gpu_memory_t to, int64_t rows,
                         int64_t columns)
{
    xy_gpu_memory_t none = 0;
    int64_t one = 1;
    const xy_gpu_arg_t args[] = {XY_GPU_ARG(from), XY_GPU_ARG(none), XY_GPU_ARG(none),
                                 XY_GPU_ARG(none), XY_GPU_ARG(none), XY_GPU_ARG(to),
                                 XY_GPU_ARG(one),  XY_GPU_ARG(rows), XY_GPU_ARG(columns),
                                 XY_GPU_ARG(none), XY_GPU_ARG(rows)};
    size_t threads[3] = {(size_t)columns, (size_t)(rows + STENCIL_GPU_ROWS - 1) / STENCIL_GPU_ROWS,
                         1};
    size_t group[3] = {128, 2, 1};

    return xy_gpu_launch(h->streams[COMPUTE], h->kernel, threads, group, args,
                         sizeof(args) / sizeof(args[0]));
}

double plain_loop(xy_gpu_device_t *gpu, const plain_t *p)
{
    uint64_t bytes = (uint64_t)(p->rows * p->columns) * sizeof(double);
    void *home = NULL;
    hand_t h;
    xy_status_t st = hand_open(&h, gpu, bytes, bytes, 1);
    double start = 0;

    if (st == XY_OK)
        st = xy_gpu_pinned_take(gpu, bytes, &home);
    if (st == XY_OK)
        memset(home, 0, bytes);
    for (int warm = 1; warm >= 0 && st == XY_OK; warm--) {
        start = bench_now();
        st = xy_gpu_copy_in(h.streams[COMPUTE], h.in[0], 0, home, bytes);
        for (int i = 0; i < (warm ? 2 : p->iterations) && st == XY_OK; i++)
            st = sweep(&h, i % 2 == 0 ? h.in[0] : h.out[0], i % 2 == 0 ? h.out[0] : h.in[0],
                       p->rows, p->columns);
        if (st == XY_OK) /* the result only, as tasks do */
            st = xy_gpu_copy_out(h.streams[COMPUTE], home,
                                 p->iterations % 2 == 0 ? h.in[0] : h.out[0], 0, bytes);
        if (st == XY_OK)
            st = xy_gpu_stream_wait(h.streams[COMPUTE]);
    }
    start = bench_now() - start;
    xy_gpu_pinned_give(gpu, home);
    hand_close(&h);
    return st == XY_OK ? start : -1;
}

double plain_kernel(xy_gpu_device_t *gpu, const plain_t *p)
{
    uint64_t bytes = (uint64_t)(p->rows * p->columns) * sizeof(double);
    hand_t h;
    xy_status_t st = hand_open(&h, gpu, bytes, bytes, 1);
    double start = 0;

    for (int i = -10; i < p->iterations && st == XY_OK; i++) {
        if (i == 0) {
            st = xy_gpu_stream_wait(h.streams[COMPUTE]);
            start = bench_now();
        }
        if (st == XY_OK)
            st = sweep(&h, i % 2 == 0 ? h.in[0] : h.out[0], i % 2 == 0 ? h.out[0] : h.in[0],
                       p->rows, p->columns);
    }
    if (st == XY_OK)
        st = xy_gpu_stream_wait(h.streams[COMPUTE]);
    start = bench_now() - start;
    hand_close(&h);
    return st == XY_OK ? start / p->iterations : -1;
}

/* Rows first .. first + chunk - 1 of `to`, with one row more on both sides of `from`. */
static xy_status_t chunk(const hand_t *h, const plain_t *p, const double *from, double *to,
                         int64_t first, int slot)
{
    int64_t rows = p->rows - 1 - first < p->chunk ? p->rows - 1 - first : p->chunk;
    uint64_t row = (uint64_t)p->columns * sizeof(double);
    xy_status_t st = xy_gpu_stream_after(h->streams[LOAD], h->computed[slot]);

    if (st == XY_OK)
        st = xy_gpu_copy_in(h->streams[LOAD], h->in[slot], 0, from + (first - 1) * p->columns,
                            (uint64_t)(rows + 2) * row);
    if (st == XY_OK)
        st = xy_gpu_event_record(h->loaded[slot], h->streams[LOAD]);
    if (st == XY_OK)
        st = xy_gpu_stream_after(h->streams[COMPUTE], h->loaded[slot]);
    if (st == XY_OK)
        st = xy_gpu_stream_after(h->streams[COMPUTE], h->stored[slot]);
    if (st == XY_OK)
        st = sweep(h, h->in[slot], h->out[slot], rows + 2, p->columns);
    if (st == XY_OK)
        st = xy_gpu_event_record(h->computed[slot], h->streams[COMPUTE]);
    if (st == XY_OK)
        st = xy_gpu_stream_after(h->streams[STORE], h->computed[slot]);
    if (st == XY_OK)
        st = xy_gpu_copy_out(h->streams[STORE], to + first * p->columns, h->out[slot], row,
                             (uint64_t)rows * row);
    return st == XY_OK ? xy_gpu_event_record(h->stored[slot], h->streams[STORE]) : st;
}

/* The next iteration reads what this one stores: it comes after all of it. */
static xy_status_t iterate(const hand_t *h, const plain_t *p, const double *from, double *to)
{
    xy_status_t st = XY_OK;
    int slot = 0;

    for (int64_t first = 1; first < p->rows - 1 && st == XY_OK; first += p->chunk) {
        st = chunk(h, p, from, to, first, slot);
        slot = (slot + 1) % SLOTS;
    }
    return st == XY_OK ? xy_gpu_stream_wait(h->streams[STORE]) : st;
}

double plain_double_buffer(xy_gpu_device_t *gpu, const plain_t *p)
{
    uint64_t row = (uint64_t)p->columns * sizeof(double), bytes = (uint64_t)p->rows * row;
    uint64_t piece = (uint64_t)(p->chunk + 2) * row;
    void *home[2] = {NULL, NULL};
    hand_t h;
    xy_status_t st = hand_open(&h, gpu, piece, piece, SLOTS);
    double start = 0;

    for (int i = 0; i < 2 && st == XY_OK; i++) {
        st = xy_gpu_pinned_take(gpu, bytes, &home[i]);
        if (st == XY_OK)
            memset(home[i], 0, bytes);
    }
    for (int i = -1; i < p->iterations && st == XY_OK; i++) {
        if (i == 0)
            start = bench_now();
        st = iterate(&h, p, home[i & 1], home[1 - (i & 1)]);
    }
    start = bench_now() - start;
    hand_close(&h);
    xy_gpu_pinned_give(gpu, home[0]);
    xy_gpu_pinned_give(gpu, home[1]);
    return st == XY_OK ? start : -1;
}

double plain_both_ways(xy_gpu_device_t *gpu, uint64_t bytes)
{
    enum { TRIES = 10 };
    void *home[2] = {NULL, NULL};
    double start = 0;
    hand_t h;
    xy_status_t st = hand_open(&h, gpu, bytes, bytes, 1);

    for (int i = 0; i < 2 && st == XY_OK; i++)
        st = xy_gpu_pinned_take(gpu, bytes, &home[i]);
    for (int i = -1; i < TRIES && st == XY_OK; i++) {
        if (i == 0) {
            st = xy_gpu_stream_wait(h.streams[LOAD]);
            if (st == XY_OK)
                st = xy_gpu_stream_wait(h.streams[STORE]);
            start = bench_now();
        }
        if (st == XY_OK)
            st = xy_gpu_copy_in(h.streams[LOAD], h.in[0], 0, home[0], bytes);
        if (st == XY_OK)
            st = xy_gpu_copy_out(h.streams[STORE], home[1], h.out[0], 0, bytes);
    }
    if (st == XY_OK)
        st = xy_gpu_stream_wait(h.streams[LOAD]);
    if (st == XY_OK)
        st = xy_gpu_stream_wait(h.streams[STORE]);
    start = bench_now() - start;
    hand_close(&h);
    xy_gpu_pinned_give(gpu, home[0]);
    xy_gpu_pinned_give(gpu, home[1]);
    return st == XY_OK ? TRIES * (double)bytes / start : -1;
}
