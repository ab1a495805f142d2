/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plain sweep: what temporal blocking is measured against. The same kernels over one flat
 * array, iteration after iteration, the rows shared out among threads with a barrier between
 * iterations.
 */
#include "stencil_sweep.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "bench.h"

enum { SWEEP_THREADS_MAX = 256 };

typedef struct {
    stencil_shape_t shape; /* of a strip of rows: what is given to the kernel at once */
    int64_t rows;          /* of the grid */
    int iterations, threads;
    double *grid[2];
    const stencil_kernels_t *kernels;
    pthread_barrier_t barrier;
} sweep_t;

typedef struct {
    sweep_t *sweep;
    int number;
    double seconds; /* of its own, from the first barrier to the last */
} sweeper_t;

/* Rows first .. last - 1. In a flat array the block before a strip lies right before it. */
static void sweep_rows(const sweep_t *s, int t, int64_t first, int64_t last)
{
    const double *from = s->grid[t % 2];
    double *to = s->grid[(t + 1) % 2];

    for (int64_t r = first; r < last; r += s->shape.rows) {
        stencil_shape_t shape = s->shape;
        stencil_around_t around = {{0}};

        if (last - r < shape.rows)
            shape.rows = last - r;
        around.at[0] = from + r * shape.columns;
        around.at[1] = from + (r - shape.rows) * shape.columns;
        around.at[2] = from + (r + shape.rows) * shape.columns;
        s->kernels->update(&shape, &around, 0, shape.rows, to + r * shape.columns);
    }
}

static void *sweep_main(void *arg)
{
    sweeper_t *w = arg;
    sweep_t *s = w->sweep;
    int64_t n = s->rows - 2;
    double start;
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_ISSET(w->number, &set)) {
        CPU_ZERO(&set);
        CPU_SET(w->number, &set);
        (void)pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
    }
    pthread_barrier_wait(&s->barrier);
    start = bench_now();
    for (int t = 0; t < s->iterations; t++) {
        sweep_rows(s, t, 1 + n * w->number / s->threads, 1 + n * (w->number + 1) / s->threads);
        pthread_barrier_wait(&s->barrier);
    }
    w->seconds = bench_now() - start;
    return NULL;
}

static double run_threads(sweep_t *s)
{
    sweeper_t workers[SWEEP_THREADS_MAX];
    pthread_t threads[SWEEP_THREADS_MAX];

    pthread_barrier_init(&s->barrier, NULL, (unsigned)s->threads);
    for (int i = 0; i < s->threads; i++) {
        workers[i] = (sweeper_t){.sweep = s, .number = i};
        if (pthread_create(&threads[i], NULL, sweep_main, &workers[i]) != 0)
            exit(1);
    }
    for (int i = 0; i < s->threads; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&s->barrier);
    return workers[0].seconds;
}

double bench_sweep(const xy_stencil_t *stencil, int threads)
{
    xy_stencil_t s = *stencil;
    sweep_t sweep = {.iterations = s.iterations, .threads = threads};
    int64_t extents[3];
    size_t bytes;
    char *memory;
    double seconds;

    if (threads > SWEEP_THREADS_MAX || stencil_shape(&s, &sweep.shape) != XY_OK)
        exit(1);
    stencil_extents(&s, &sweep.shape, extents);
    sweep.rows = extents[1];
    sweep.shape.columns = extents[2];
    sweep.kernels = stencil_kernels_best(false);
    bytes = (size_t)(extents[1] * extents[2]) * sizeof(double);
    /* A line between the arrays: otherwise rows of both meet in the same sets of the cache. */
    memory = mmap(NULL, 2 * bytes + 64, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        exit(1);
    (void)madvise(memory, 2 * bytes + 64, MADV_HUGEPAGE);
    sweep.grid[0] = (double *)memory;
    sweep.grid[1] = (double *)(memory + bytes + 64);
    for (int64_t i = 0; i < extents[1] * extents[2]; i++)
        sweep.grid[0][i] = sweep.grid[1][i] = 1 + (double)(i % 1021) / 1021;
    seconds = run_threads(&sweep);
    munmap(memory, 2 * bytes + 64);
    return seconds;
}
