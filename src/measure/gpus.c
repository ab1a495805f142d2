/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/gpus.h"

#include <stdio.h>
#include <string.h>

#include "gpu/gpu.h"
#include "measure/timing.h"

/* Copies of these sizes give latency and bandwidth; several follow each other, as in a run, and the
 * median of so many measurements counts. */
enum { SMALL = 64 << 10, IN_A_ROW = 4, TIMES = 7, LAUNCHES = 200, COLUMNS = 2048 };
/* Large sizes, which no cache holds, on a device that is made of cores either. */
enum { LARGE_OF_GPU = 32 << 20, LARGE_OF_CORES = 4 << 20 };

static const char text[] =
    "XY_KERNEL nothing(XY_GLOBAL double *x)\n"
    "{\n"
    "    if (x == 0 && XY_ID(0) > 1000000)\n"
    "        x[0] = 0;\n"
    "}\n"
    "XY_KERNEL jacobi(XY_GLOBAL const double *XY_RESTRICT x, XY_GLOBAL double *XY_RESTRICT y,\n"
    "                 long columns, long rows)\n"
    "{\n"
    "    long i = XY_ID(0), j = XY_ID(1), at = j * columns + i;\n"
    "    if (i > 0 && j > 0 && i < columns - 1 && j < rows - 1)\n"
    "        y[at] = 0.2 * (x[at - columns] + x[at + columns] + x[at - 1] + x[at + 1] + x[at]);\n"
    "}\n";

typedef struct {
    xy_gpu_device_t *gpu;
    xy_gpu_stream_t *streams[2];
    xy_gpu_program_t *program;
    xy_gpu_kernel_t *nothing, *jacobi;
    xy_gpu_memory_t memory[2];
    char *pinned[2], *pageable;
    const xy_calibration_t *c;
    xy_costs_t *costs;
    int number;
    uint64_t large; /* bytes of each memory */
} bench_t;

/* Something that is timed: put it into the streams once. */
typedef xy_status_t (*put_fn)(bench_t *b, char *host, uint64_t bytes);

static xy_status_t put_in(bench_t *b, char *host, uint64_t bytes)
{
    return xy_gpu_copy_in(b->streams[0], b->memory[0], 0, host, bytes);
}

static xy_status_t put_out(bench_t *b, char *host, uint64_t bytes)
{
    return xy_gpu_copy_out(b->streams[1], host, b->memory[1], 0, bytes);
}

static xy_status_t put_both(bench_t *b, char *host, uint64_t bytes)
{
    xy_status_t st = put_in(b, host, bytes);

    return st == XY_OK ? put_out(b, b->pinned[1], bytes) : st;
}

static xy_status_t put_on(bench_t *b, char *host, uint64_t bytes)
{
    (void)host;
    return xy_gpu_copy_on(b->streams[0], b->memory[1], 0, b->memory[0], 0, bytes);
}

static xy_status_t put_nothing(bench_t *b, char *host, uint64_t bytes)
{
    const xy_gpu_arg_t args[] = {XY_GPU_ARG(b->memory[0])};
    const size_t one[3] = {1, 1, 1};

    (void)host, (void)bytes;
    return xy_gpu_launch(b->streams[0], b->nothing, one, one, args, 1);
}

static xy_status_t put_jacobi(bench_t *b, char *host, uint64_t bytes)
{
    const int64_t columns = COLUMNS, rows = (int64_t)(bytes / sizeof(double) / COLUMNS);
    const xy_gpu_arg_t args[] = {XY_GPU_ARG(b->memory[0]), XY_GPU_ARG(b->memory[1]),
                                 XY_GPU_ARG(columns), XY_GPU_ARG(rows)};

    (void)host;
    return xy_gpu_launch(b->streams[0], b->jacobi, (size_t[3]){COLUMNS, (size_t)rows, 1},
                         (size_t[3]){64, 4, 1}, args, 4);
}

static xy_status_t wait_all(const bench_t *b)
{
    xy_status_t st = xy_gpu_stream_wait(b->streams[0]);

    return st == XY_OK ? xy_gpu_stream_wait(b->streams[1]) : st;
}

/* Seconds of one, in a row of so many; the first row warms up. */
static xy_status_t time_row(bench_t *b, put_fn put, char *host, uint64_t bytes, int row,
                            double *seconds_p, double *spread_p)
{
    double seconds[TIMES];
    xy_status_t st = XY_OK;

    for (int i = -1; i < TIMES && st == XY_OK; i++) {
        double begin = measure_now();

        for (int k = 0; k < row && st == XY_OK; k++)
            st = put(b, host, bytes);
        if (st == XY_OK)
            st = wait_all(b);
        if (i >= 0)
            seconds[i] = (measure_now() - begin) / row;
    }
    if (st == XY_OK)
        *seconds_p = measure_median(seconds, TIMES, spread_p);
    return st;
}

static xy_status_t keep(const bench_t *b, const char *what, double seconds, double spread)
{
    char name[64];

    snprintf(name, sizeof(name), "gpu%d-%s", b->number, what);
    return xy_costs_set_constant(b->costs, name, -1, -1, seconds, spread, TIMES);
}

/* The time of a byte, and what a copy takes beyond that (`latency` NULL: not of interest). */
static xy_status_t measure_bytes(bench_t *b, const char *latency, const char *byte, put_fn put,
                                 char *host)
{
    double small, large, spread, slope, start;
    xy_status_t st = time_row(b, put, host, SMALL, IN_A_ROW, &small, &spread);

    if (st == XY_OK)
        st = time_row(b, put, host, b->large, IN_A_ROW, &large, &spread);
    if (st != XY_OK)
        return st;
    slope = large > small ? (large - small) / (double)(b->large - SMALL) : large / (double)b->large;
    start = small > slope * SMALL ? small - slope * SMALL : 0;
    if (b->c->report != NULL)
        fprintf(b->c->report, "gpu%d-%-18s %.4g GB/s, %.3g us more for each copy\n", b->number,
                byte, 1e-9 / slope, 1e6 * start);
    st = keep(b, byte, slope, spread);
    return st == XY_OK && latency != NULL ? keep(b, latency, start, spread) : st;
}

static xy_status_t measure_once(bench_t *b, const char *what, put_fn put, int row)
{
    double seconds, spread;
    char took[32];
    xy_status_t st = time_row(b, put, NULL, b->large, row, &seconds, &spread);

    if (st == XY_OK && b->c->report != NULL)
        fprintf(b->c->report, "gpu%d-%-18s %s\n", b->number, what,
                xy_format_seconds(seconds, took));
    return st == XY_OK ? keep(b, what, seconds, spread) : st;
}

/* A kernel that reads and writes memory: the time of a byte. */
static xy_status_t measure_kernel(bench_t *b, const char *what, put_fn put)
{
    double seconds, spread;
    xy_status_t st = time_row(b, put, NULL, b->large, 10 * IN_A_ROW, &seconds, &spread);

    if (st == XY_OK && b->c->report != NULL)
        fprintf(b->c->report, "gpu%d-%-18s %.4g GB/s, read and written\n", b->number, what,
                2e-9 * (double)b->large / seconds);
    return st == XY_OK ? keep(b, what, seconds / (2 * (double)b->large), spread) : st;
}

/* Measures links, launches and kernels of a GPU. */
static xy_status_t measure_all(bench_t *b)
{
    const struct {
        const char *latency, *byte;
        put_fn put;
        char *host;
    } links[] = {{"in-latency", "in-byte", put_in, b->pinned[0]},
                 {"out-latency", "out-byte", put_out, b->pinned[1]},
                 {NULL, "both-byte", put_both, b->pinned[0]},
                 {NULL, "in-byte-pageable", put_in, b->pageable},
                 {NULL, "out-byte-pageable", put_out, b->pageable},
                 {NULL, NULL, NULL, NULL}};
    xy_status_t st = XY_OK;

    for (int i = 0; links[i].put != NULL && st == XY_OK; i++)
        st = measure_bytes(b, links[i].latency, links[i].byte, links[i].put, links[i].host);
    if (st == XY_OK)
        st = measure_once(b, "launch", put_nothing, LAUNCHES);
    if (st == XY_OK)
        st = measure_once(b, "turn", put_nothing, 1);
    if (st == XY_OK)
        st = measure_kernel(b, "copy-byte", put_on);
    return st == XY_OK ? measure_kernel(b, "stencil-byte", put_jacobi) : st;
}

/* Opens a GPU and allocates memory and kernels; the caller cleans up after a failure. */
static xy_status_t bench_init(bench_t *b, const xy_gpu_info_t *info)
{
    xy_status_t st = xy_gpu_open(info, &b->gpu);

    b->large = info->is_cpu ? LARGE_OF_CORES : LARGE_OF_GPU;
    for (int i = 0; i < 2 && st == XY_OK; i++) {
        st = xy_gpu_stream_create(b->gpu, &b->streams[i]);
        if (st == XY_OK)
            st = xy_gpu_memory_take(b->gpu, b->large, &b->memory[i]);
        if (st == XY_OK)
            st = xy_gpu_pinned_take(b->gpu, b->large, (void **)&b->pinned[i]);
        if (st == XY_OK)
            memset(b->pinned[i], 1, b->large);
    }
    b->pageable = xy_malloc(b->large);
    if (st == XY_OK && b->pageable == NULL)
        st = xy_fail_memory("measuring a GPU");
    if (st == XY_OK) {
        memset(b->pageable, 1, b->large);
        st = xy_gpu_program_create(b->gpu, "calibrate.cl", text, &b->program);
    }
    if (st == XY_OK)
        st = xy_gpu_kernel_create(b->program, "nothing", &b->nothing);
    return st == XY_OK ? xy_gpu_kernel_create(b->program, "jacobi", &b->jacobi) : st;
}

static void bench_cleanup(bench_t *b)
{
    xy_gpu_kernel_destroy(b->nothing);
    xy_gpu_kernel_destroy(b->jacobi);
    xy_gpu_program_destroy(b->program);
    for (int i = 0; i < 2 && b->gpu != NULL; i++) {
        xy_gpu_pinned_give(b->gpu, b->pinned[i]);
        xy_gpu_memory_give(b->gpu, b->memory[i]);
        xy_gpu_stream_destroy(b->streams[i]);
    }
    xy_gpu_close(b->gpu);
    xy_free(b->pageable);
}

xy_status_t xy_calibrate_gpus(const xy_calibration_t *c, xy_costs_t *costs, int *count_p)
{
    xy_vec_t found;
    xy_status_t st = xy_gpu_list(&found);

    if (st != XY_OK)
        return st;
    for (size_t i = 0; i < found.count && st == XY_OK; i++) {
        const xy_gpu_info_t *info = &XY_VEC_AT(&found, xy_gpu_info_t, i);
        bench_t b = {.c = c, .costs = costs, .number = (int)i};

        if (c->report != NULL)
            fprintf(c->report, "gpu%zu is %s (%s)\n", i, info->name, info->version);
        st = bench_init(&b, info);
        if (st == XY_OK)
            st = measure_all(&b);
        bench_cleanup(&b);
    }
    *count_p = (int)found.count;
    xy_vec_cleanup(&found);
    return st;
}

/* 0: the store does not know. */
static double constant(const xy_costs_t *costs, int number, const char *what)
{
    const xy_constant_cost_t *c;
    char name[64];

    snprintf(name, sizeof(name), "gpu%d-%s", number, what);
    c = xy_costs_constant(costs, name);
    return c != NULL ? c->seconds : 0;
}

void xy_gpu_links(const xy_costs_t *costs, int number, xy_link_t *in_p, xy_link_t *out_p,
                  xy_link_t *shared_p)
{
    double in = constant(costs, number, "in-byte"), out = constant(costs, number, "out-byte");
    double both = constant(costs, number, "both-byte");

    if (in > 0)
        *in_p = (xy_link_t){constant(costs, number, "in-latency"), 1 / in};
    if (out > 0)
        *out_p = (xy_link_t){constant(costs, number, "out-latency"), 1 / out};
    if (in > 0 && out > 0 && both > 0 && 2 / both < 1 / in + 1 / out)
        *shared_p = (xy_link_t){0, 2 / both};
}

xy_link_t xy_gpu_kernel(const xy_costs_t *costs, int number)
{
    double byte = constant(costs, number, "stencil-byte");

    return byte > 0 ? (xy_link_t){constant(costs, number, "launch"), 1 / byte} : (xy_link_t){0};
}
