/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks on a GPU with too little memory, beside what a program without them does (gpu_plain.c), and
 * beside what the virtual clock predicted. Sections can be named; without names all are run, with
 * `once` one round of each:
 *
 *   domain     a domain that is larger than the memory, beside double buffering by hand
 *   plain      all data on the GPU, beside a plain loop of launches
 *   overhead   what a task costs where kernels take no time
 *   hidden     how much of the copies is hidden where kernels take longer
 *   predicted  policies and memories, measured and predicted
 *   hybrid     GPU, cores, and both
 *   costs      what predictions are made from
 *   kernels    the kernel of 5 points, in other shapes
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "gpu_plain.h"
#include "stencil/real_gpu.h"
#include "stencil/stencil.h"
#include "xylem.h"

static xy_gpu_device_t *gpu;
static int rounds = 3;
static int32_t look_ahead; /* of the tasks */

static void die(const char *what)
{
    fprintf(stderr, "bench: %s could not be run\n", what);
    exit(1);
}

static xy_stencil_t jacobi(int64_t blocks, int64_t rows, int64_t columns, int iterations)
{
    return (xy_stencil_t){.dims = 2,
                          .points = 5,
                          .blocks = {blocks, 1, 1},
                          .cells = {rows, columns, 0},
                          .iterations = bench_is_quick() ? iterations / 10 : iterations,
                          .graph = XY_STENCIL_JACOBI};
}

static xy_stencil_result_t run(const xy_stencil_t *s, const char *policy, uint64_t memory, int cpus,
                               const xy_task_observer_t *observer)
{
    xy_stencil_run_t run = {
        .grid = *s,
        .is_real = true,
        .is_unchecked = true,
        .is_on_gpus = true,
        .gpus = 1,
        .cpus = cpus,
        .memory = memory,
        .how = {.policy = policy, .observer = observer, .params = {.look_ahead = look_ahead}}};
    xy_stencil_result_t r;

    if (xy_stencil_run(&run, &r) != XY_OK)
        die("a stencil");
    return r;
}

static uint64_t block_bytes(const xy_stencil_t *s)
{
    return (uint64_t)(s->cells[0] * s->cells[1]) * sizeof(double);
}

/* In virtual time, from what was measured before a run. */
static xy_task_result_t predict(const xy_stencil_t *s, const char *policy, uint64_t memory,
                                const xy_stencil_result_t *measured)
{
    const xy_stencil_costs_t *costs = &measured->costs;
    int32_t memory_of = 1, shared[4] = {-1, 0, 0, -1};
    uint64_t capacity[2] = {0, memory == XY_TASK_NO_LIMIT ? 0 : memory};
    double speed = 1, shared_rate = 2 * costs->both;
    double latency[4] = {0, costs->in.latency, costs->out.latency, 0};
    double rate[4] = {0, costs->in.bandwidth, costs->out.bandwidth, 0};
    xy_task_platform_t platform = {.workers = 1,
                                   .memories = 2,
                                   .shared_count = 1,
                                   .memory_of = &memory_of,
                                   .speed = &speed,
                                   .capacity = capacity,
                                   .latency = latency,
                                   .rate = rate,
                                   .shared = shared,
                                   .shared_rate = &shared_rate};
    xy_stencil_t grid = *s;
    xy_task_result_t r;
    xy_graph_t *graph;

    grid.block_bytes = block_bytes(s);
    grid.task_seconds = costs->task;
    if (xy_stencil_build(&grid, &graph) != XY_OK ||
        xy_task_simulate(graph, &platform,
                         &(xy_task_sim_t){.policy = policy,
                                          .params = {.look_ahead = look_ahead},
                                          .ahead = &costs->ahead},
                         &r) != XY_OK)
        die("a prediction");
    xy_graph_destroy(graph);
    return r;
}

/* ---- Larger than the memory ---- */

static void domain_of(const xy_stencil_t *s, uint64_t memory, double hand, double bound)
{
    double begin = bench_now();
    xy_stencil_result_t r = run(s, "closure", memory, 0, NULL);

    printf("blocks of %.4g MiB, %d loaded early:\n", (double)block_bytes(s) / (1 << 20),
           look_ahead);
    bench_value("domain under closure", r.sim.makespan, "s");
    bench_value("  of which decisions", r.sim.scheduling_seconds, "s");
    bench_value("  loads", (double)r.sim.loads, "");
    bench_value("  stores", (double)r.sim.stores, "");
    bench_value("  tasks in a launch", (double)r.sim.tasks / (double)r.sim.launches, "");
    bench_value("  times faster than by hand", hand / r.sim.makespan, "");
    bench_value("  times the bound", r.sim.makespan / bound, "");
    bench_value("  a kernel alone, measured before", 1e6 * r.costs.task, "us");
    bench_value("  of it, once in a launch of several", 1e6 * r.costs.ahead.once, "us");
    bench_value("  predicted from what was measured before",
                predict(s, "closure", memory, &r).makespan, "s");
    bench_value("  preparing (pinning, filling, measuring)", bench_now() - begin - r.sim.makespan,
                "s");
}

/* With blocks of twice the size two passes over the domain are needed. */
static const struct {
    int factor, look_ahead;
} cuts[] = {{1, 8}, {2, 2}};

static void domain(void)
{
    bool is_quick = bench_is_quick();
    xy_stencil_t s = is_quick ? jacobi(64, 16, 256, 400) : jacobi(2048, 128, 8192, 100);
    uint64_t bytes = block_bytes(&s), memory = is_quick ? 120 * bytes : UINT64_C(2) << 30;
    int parts =
        4; /* by hand a part of the rows, as pinning takes long: its time is in proportion */
    plain_t p = {.rows = s.blocks[0] * s.cells[0] / parts,
                 .columns = s.cells[1],
                 .chunk = is_quick ? 128 : 4096,
                 .iterations = 8};
    plain_t in = {.rows = p.rows, .columns = p.columns, .iterations = 50};
    double both = plain_both_ways(gpu, is_quick ? 1 << 20 : 256 << 20);
    double hand = plain_double_buffer(gpu, &p) * parts / p.iterations * s.iterations;
    double kernels = plain_kernel(gpu, &in) * parts * s.iterations;
    double link = (double)s.blocks[0] * (double)bytes / both;

    if (both <= 0 || hand <= 0 || kernels <= 0)
        die("the loop by hand");
    bench_value("link, each way of both at once", both * 1e-9, "GB/s");
    printf("by hand: %d iterations of a part of the rows, one of %d, and as many times longer\n",
           p.iterations, parts);
    bench_value("domain by hand, double buffering", hand, "s");
    bench_value("domain: kernels of a plain loop take", kernels, "s");
    bench_value("domain: one load and one store of all take", link, "s");
    for (int i = 0; i < rounds; i++)
        for (size_t k = 0; k < sizeof(cuts) / sizeof(cuts[0]); k++) {
            xy_stencil_t cut = s;

            cut.blocks[0] /= cuts[k].factor;
            cut.cells[0] *= cuts[k].factor;
            look_ahead = cuts[k].look_ahead;
            domain_of(&cut, memory, hand, fmax(kernels, link));
        }
    look_ahead = 0;
}

/* ---- All of it on the GPU ---- */

static void plain(void)
{
    bool is_quick = bench_is_quick();
    xy_stencil_t s = is_quick ? jacobi(16, 32, 256, 400) : jacobi(16, 4096, 8192, 300);
    plain_t p = {
        .rows = s.blocks[0] * s.cells[0], .columns = s.cells[1], .iterations = s.iterations};

    for (int i = 0; i < rounds; i++) {
        double loop = plain_loop(gpu, &p);
        xy_stencil_result_t r = run(&s, "eager", XY_TASK_NO_LIMIT, 0, NULL);

        if (loop <= 0)
            die("the plain loop");
        bench_value("all on the GPU: plain loop", loop, "s");
        bench_value("all on the GPU: tasks", r.sim.makespan, "s");
        bench_value("  ratio", r.sim.makespan / loop, "");
    }
}

static void overhead(void)
{
    xy_stencil_t s = jacobi(258, 4, 1024, 400);

    for (int i = 0; i < rounds; i++) {
        xy_stencil_result_t r = run(&s, "eager", XY_TASK_NO_LIMIT, 0, NULL);

        bench_value("small task", 1e6 * r.sim.makespan / (double)r.tasks, "us");
    }
}

/* ---- Copies ---- */

/* The activity of a GPU with its times: kernels, and copies in both directions. */
typedef struct {
    double start, end;
} period_t;

typedef struct {
    period_t *kernels, *copies; /* [..._count], by their ends */
    size_t kernel_count, copy_count, kernel_room, copy_room;
    double busy;
} seen_t;

static void keep_period(period_t **list, size_t *count, size_t *room, double start, double end)
{
    if (*count == *room) {
        *room = *room == 0 ? 1024 : 2 * *room;
        *list = realloc(*list, *room * sizeof(**list));
        if (*list == NULL)
            die("a recording");
    }
    (*list)[(*count)++] = (period_t){start, end};
}

static void see_task(void *arg, int32_t worker, xy_op_id_t op, double start, double end)
{
    seen_t *seen = arg;

    (void)worker;
    (void)op;
    seen->busy += end - start;
    keep_period(&seen->kernels, &seen->kernel_count, &seen->kernel_room, start, end);
}

static void see_copy(void *arg, int32_t data, int32_t from, int32_t to, double start, double end)
{
    seen_t *seen = arg;

    (void)data;
    (void)from;
    (void)to;
    keep_period(&seen->copies, &seen->copy_count, &seen->copy_room, start, end);
}

static int compare_starts(const void *a, const void *b)
{
    const period_t *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

/* Sort them, and join those that have a moment in common. */
static size_t join(period_t *list, size_t count)
{
    size_t n = 0;

    qsort(list, count, sizeof(*list), compare_starts);
    for (size_t i = 0; i < count; i++)
        if (n > 0 && list[i].start <= list[n - 1].end)
            list[n - 1].end = fmax(list[n - 1].end, list[i].end);
        else
            list[n++] = list[i];
    return n;
}

/* Seconds from `from` to `to` in which data moved and no kernel ran. */
static double bare(const seen_t *seen, double from, double to)
{
    double sum = 0;
    size_t k = 0;

    for (size_t i = 0; i < seen->copy_count; i++) {
        double start = fmax(seen->copies[i].start, from), end = fmin(seen->copies[i].end, to);

        while (k < seen->kernel_count && seen->kernels[k].end <= start)
            k++;
        for (size_t j = k; start < end && j < seen->kernel_count; j++) {
            sum += fmax(fmin(seen->kernels[j].start, end) - start, 0);
            start = fmax(start, seen->kernels[j].end);
        }
        sum += fmax(end - start, 0);
    }
    return sum;
}

/* Where copies were not hidden. At both ends some cannot be: the first blocks come before there is
 * work for them, and the last ones go when there is none left. */
static void tell_hidden(seen_t *seen, const xy_stencil_result_t *r)
{
    double first, last, all = 0, sum;

    seen->kernel_count = join(seen->kernels, seen->kernel_count);
    seen->copy_count = join(seen->copies, seen->copy_count);
    first = seen->kernels[0].start;
    last = seen->kernels[seen->kernel_count - 1].end;
    for (size_t i = 0; i < seen->copy_count; i++)
        all += seen->copies[i].end - seen->copies[i].start;
    sum = bare(seen, -1, INFINITY);
    bench_value("hidden: makespan", r->sim.makespan, "s");
    bench_value("  first kernel", first, "s");
    bench_value("  last kernel", last, "s");
    bench_value("  kernels", seen->busy, "s");
    bench_value("  copies", all, "s");
    bench_value("  copies hidden", 100 * (1 - sum / all), "%");
    bench_value("  as the engine says", 100 * r->sim.hidden_seconds / r->sim.moving_seconds, "%");
    bench_value("  not hidden: before the first kernel", 1e3 * bare(seen, -1, first), "ms");
    bench_value("    in the first 2 % of the run after it",
                1e3 * bare(seen, first, first + 0.02 * (last - first)), "ms");
    bench_value("    in between", 1e3 * bare(seen, first + 0.02 * (last - first), last), "ms");
    bench_value("    after the last kernel", 1e3 * bare(seen, last, INFINITY), "ms");
}

static void hidden(void)
{
    bool is_quick = bench_is_quick();
    xy_stencil_t s = is_quick ? jacobi(64, 16, 256, 400) : jacobi(2048, 128, 8192, 100);

    look_ahead = 8;
    for (int i = 0; i < rounds; i++) {
        seen_t seen = {0};
        xy_task_observer_t observer = {.arg = &seen, .task = see_task, .transfer = see_copy};
        xy_stencil_result_t r =
            run(&s, "closure", is_quick ? 120 * block_bytes(&s) : UINT64_C(2) << 30, 0, &observer);

        tell_hidden(&seen, &r);
        free(seen.kernels);
        free(seen.copies);
    }
    look_ahead = 0;
}

/* ---- Predicted and measured ---- */

static void predicted(void)
{
    static const char *const policies[] = {"closure", "relay", "cache-oblivious", "dmdar", "dmda",
                                           "eager",   "lws",   "modular-ready"};
    bool is_quick = bench_is_quick();
    xy_stencil_t s = is_quick ? jacobi(66, 16, 256, 100) : jacobi(66, 128, 8192, 100);
    double worst = 0, sum = 0;
    int n = 0, within = 0, same = 0;

    for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++)
        for (uint64_t blocks = 16; blocks <= 256; blocks *= blocks == 64 ? 4 : 2) {
            uint64_t memory = blocks * block_bytes(&s);
            xy_stencil_result_t r = run(&s, policies[i], memory, 0, NULL);
            xy_task_result_t expected = predict(&s, policies[i], memory, &r);
            double error = expected.makespan / r.sim.makespan - 1;
            char title[96];

            snprintf(title, sizeof(title), "%s, %d blocks, %llu loads: %.4g s, predicted %.4g s",
                     policies[i], (int)blocks, (unsigned long long)r.sim.loads, r.sim.makespan,
                     expected.makespan);
            same += expected.loads == r.sim.loads && expected.stores == r.sim.stores;
            bench_value(title, 100 * error, "%");
            worst = fmax(worst, fabs(error));
            sum += fabs(error);
            within += fabs(error) <= 0.1;
            n++;
        }
    bench_value("predicted: mean error", 100 * sum / n, "%");
    bench_value("predicted: worst error", 100 * worst, "%");
    bench_value("predicted: within 10 %", 100.0 * within / n, "%");
    bench_value("predicted: the same loads and stores", 100.0 * same / n, "%");
}

/* ---- What predictions are made from ---- */

static void costs(void)
{
    for (int i = 0; i < 3; i++) {
        xy_stencil_t s = jacobi(40 >> i, 64 << i, bench_is_quick() ? 64 : 8192, 20);
        xy_stencil_result_t r = run(&s, "eager", XY_TASK_NO_LIMIT, 0, NULL);
        const xy_stencil_costs_t *c = &r.costs;

        printf("blocks of %.4g MiB:\n", (double)block_bytes(&s) / (1 << 20));
        bench_value("  an update", 1e6 * c->task, "us");
        bench_value("  copies in: latency", 1e6 * c->in.latency, "us");
        bench_value("  copies in", 1e-9 * c->in.bandwidth, "GB/s");
        bench_value("  copies out: latency", 1e6 * c->out.latency, "us");
        bench_value("  copies out", 1e-9 * c->out.bandwidth, "GB/s");
        bench_value("  both ways, each", 1e-9 * c->both, "GB/s");
        bench_value("  of an update, once in a launch of several", 1e6 * c->ahead.once, "us");
        bench_value("  to put a launch", 1e6 * c->ahead.launch, "us");
        bench_value("  to put a copy", 1e6 * c->ahead.copy, "us");
        bench_value("  to put an event", 1e6 * c->ahead.event, "us");
    }
}

/* The kernel of 5 points: how it is cut, and how it is launched. */
typedef struct {
    int rows;             /* per thread */
    size_t width, height; /* of a group */
    int64_t block_rows, columns;
    int count;       /* blocks of a launch */
    bool is_chained; /* threads are started while those of the kernel before end */
} shape_t;

enum { BLOCKS = 64, SHARED = XY_TASK_BATCH_MAX, BLOCKS_OF_ONE = 6, LAUNCHES = 200 };

/* Put one launch over the next blocks. */
static xy_status_t put_launch(const shape_t *k, xy_gpu_stream_t *stream, xy_gpu_kernel_t *kernel,
                              const xy_gpu_memory_t *blocks, int turn)
{
    xy_gpu_memory_t all[SHARED][BLOCKS_OF_ONE] = {{0}};
    bool is_cuda = strcmp(xy_gpu_info(gpu)->driver, "cuda") == 0;
    int64_t one = 1, first = 0;
    xy_gpu_arg_t args[XY_GPU_ARGS_MAX];
    int n = 0;

    for (int b = 0; b < SHARED; b++) {
        int at = turn * k->count + b % k->count;

        for (int i = 0; i < 3; i++)
            all[b][i] = blocks[(at + i) % BLOCKS];
        all[b][BLOCKS_OF_ONE - 1] = blocks[(at + BLOCKS / 2) % BLOCKS];
    }
    if (is_cuda)
        args[n++] = XY_GPU_ARG(all);
    else
        for (; n < SHARED * BLOCKS_OF_ONE; n++)
            args[n] = XY_GPU_ARG(all[n / BLOCKS_OF_ONE][n % BLOCKS_OF_ONE]);
    args[n++] = XY_GPU_ARG(one);
    args[n++] = XY_GPU_ARG(k->block_rows);
    args[n++] = XY_GPU_ARG(k->columns);
    args[n++] = XY_GPU_ARG(first);
    args[n++] = XY_GPU_ARG(k->block_rows);
    return xy_gpu_launch(stream, kernel,
                         (size_t[3]){(size_t)k->columns,
                                     (size_t)((k->block_rows + k->rows - 1) / k->rows),
                                     (size_t)k->count},
                         (size_t[3]){k->width, k->height, 1}, args, n);
}

/* Seconds for each block, in a row of launches over blocks that no cache holds together. */
static double kernel_seconds(const shape_t *k)
{
    char *text = xy_sprintf("#define ROWS %d\n%s", k->rows, stencil_gpu_text);
    uint64_t bytes = (uint64_t)(k->block_rows * k->columns) * sizeof(double);
    xy_gpu_memory_t blocks[BLOCKS];
    xy_gpu_program_t *program;
    xy_gpu_kernel_t *kernel;
    xy_gpu_stream_t *stream;
    double begin = 0;

    if (text == NULL || xy_gpu_program_create(gpu, "stencil.cl", text, &program) != XY_OK ||
        xy_gpu_kernel_create(program, "several5", &kernel) != XY_OK ||
        xy_gpu_stream_create(gpu, &stream) != XY_OK)
        die("a kernel");
    if (k->is_chained)
        xy_gpu_kernel_chain(kernel);
    for (int i = 0; i < BLOCKS; i++)
        if (xy_gpu_memory_take(gpu, bytes, &blocks[i]) != XY_OK)
            die("memory of the GPU");
    for (int i = 0; i < 5 * LAUNCHES / 4; i++) {
        if (i == LAUNCHES / 4 && xy_gpu_stream_wait(stream) != XY_OK)
            die("a kernel");
        begin = i == LAUNCHES / 4 ? bench_now() : begin;
        if (put_launch(k, stream, kernel, blocks, i) != XY_OK)
            die("a kernel");
    }
    if (xy_gpu_stream_wait(stream) != XY_OK)
        die("a kernel");
    begin = (bench_now() - begin) / LAUNCHES / k->count;
    for (int i = 0; i < BLOCKS; i++)
        xy_gpu_memory_give(gpu, blocks[i]);
    xy_gpu_kernel_destroy(kernel);
    xy_gpu_program_destroy(program);
    xy_gpu_stream_destroy(stream);
    xy_free(text);
    return begin;
}

static void kernel_row(shape_t k)
{
    char title[120];

    snprintf(title, sizeof(title), "%d x %d, %d rows per thread, groups of %zu x %zu, %d at once%s",
             (int)k.block_rows, (int)k.columns, k.rows, k.width, k.height, k.count,
             k.is_chained ? "" : ", not chained");
    bench_value(title, 1e6 * kernel_seconds(&k), "us");
}

static void kernels(void)
{
    static const size_t groups[][2] = {{128, 1}, {128, 2}, {256, 1}, {64, 4}, {32, 8}};
    bool is_quick = bench_is_quick();
    shape_t usual = {STENCIL_GPU_ROWS, 128, 2, 128, is_quick ? 256 : 8192, 1, true};

    for (int count = 1; count <= SHARED; count *= 2)
        for (int i = 0; i < 2; i++) {
            shape_t k = usual;

            k.count = count;
            k.is_chained = i == 0;
            kernel_row(k);
        }
    for (int per = 1; per <= (is_quick ? 1 : 16); per *= 2)
        for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++)
            for (int count = 1; count <= SHARED; count *= SHARED) {
                shape_t k = usual;

                k.rows = per;
                k.width = groups[g][0];
                k.height = groups[g][1];
                k.count = count;
                kernel_row(k);
            }
}

/* ---- Cores beside it ---- */

static double on_cores(const xy_stencil_t *s, int cpus)
{
    xy_stencil_run_t run = {
        .grid = *s, .is_real = true, .is_unchecked = true, .cpus = cpus, .how = {.policy = NULL}};
    xy_stencil_result_t r;

    if (xy_stencil_run(&run, &r) != XY_OK)
        die("a stencil on cores");
    return r.sim.makespan;
}

static void hybrid_stencil(const char *what, const xy_stencil_t *s, uint64_t memory, int cores)
{
    for (int i = 0; i < rounds; i++) {
        xy_stencil_result_t both = run(s, NULL, memory, cores, NULL);
        double alone = run(s, NULL, memory, 0, NULL).sim.makespan, without = on_cores(s, cores);
        char title[96];

        snprintf(title, sizeof(title), "%s: GPU %.4g s, cores %.4g s, %d GPU + %d cores", what,
                 alone, without, both.gpus, both.workers - both.gpus);
        bench_value(title, both.sim.makespan, "s");
        bench_value("  times the better one", both.sim.makespan / fmin(alone, without), "");
    }
}

enum { TASKS = 2048, VALUES = 64, STEPS = 20000 };

static const char steps_text[] = "XY_KERNEL steps(XY_GLOBAL double *x, int n)\n"
                                 "{\n"
                                 "    double v = x[XY_ID(0)];\n"
                                 "    for (int i = 0; i < n; i++)\n"
                                 "        v = 3.9 * v * (1 - v);\n"
                                 "    x[XY_ID(0)] = v;\n"
                                 "}\n";

static void steps_here(void *const *buffers, const void *arg)
{
    double *x = buffers[0];
    int n = *(const int *)arg;

    for (int first = 0; first < VALUES; first += 64) /* independent ones in registers */
        for (int i = 0; i < n; i++)
            for (int k = first; k < first + 64; k++)
                x[k] = 3.9 * x[k] * (1 - x[k]);
}

/* Long chains of operations on few numbers: little for a GPU, much for a core. */
static double chains(int gpus, int cpus)
{
    static double data[TASKS][VALUES];
    int n = bench_is_quick() ? STEPS / 100 : STEPS;
    xylem_run_result r = {.makespan = -1};
    xylem_tasks *t;

    if (xylem_tasks_create(&t) != 0)
        die("a program of tasks");
    for (int i = 0; i < TASKS; i++) {
        xylem_kernel kernel = {
            .text = steps_text, .name = "steps", .threads = {VALUES}, .values = {{&n, sizeof(n)}}};
        int d = xylem_tasks_data(t, &(xylem_data){.address = data[i], .bytes = sizeof(data[i])});

        for (int k = 0; k < VALUES; k++)
            data[i][k] = 0.5 + 1e-4 * k;
        xylem_tasks_add(t,
                        &(xylem_task){.kernel = &kernel,
                                      .run = steps_here,
                                      .arg = &n,
                                      .arg_size = sizeof(n),
                                      .seconds = 1e-3},
                        &(xylem_access){d, XYLEM_READ_WRITE}, 1);
    }
    if (xylem_tasks_run(t,
                        &(xylem_run_options){
                            .clock = XYLEM_REAL, .policy = "eager", .gpus = gpus, .cpus = cpus},
                        &r) != 0)
        die("a program of tasks");
    xylem_tasks_free(t);
    return r.makespan;
}

static void hybrid(void)
{
    int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    xy_stencil_t in = bench_is_quick() ? jacobi(32, 16, 256, 400) : jacobi(128, 128, 8192, 100);
    xy_stencil_t small = jacobi(64, 16, 1024, 400);

    cores = cores > 1 ? cores - 1 : 1;
    hybrid_stencil("all fits", &in, XY_TASK_NO_LIMIT, cores);
    hybrid_stencil("a quarter fits", &in, 64 * block_bytes(&in), cores);
    hybrid_stencil("small blocks", &small, XY_TASK_NO_LIMIT, cores);
    for (int i = 0; i < rounds; i++) {
        double alone = chains(1, 0), without = chains(0, cores), both = chains(1, cores);

        bench_value("chains: GPU", alone, "s");
        bench_value("chains: cores", without, "s");
        bench_value("chains: both", both, "s");
        bench_value("  times the better one", both / fmin(alone, without), "");
    }
}

/* ---- All ---- */

static const struct {
    const char *name;
    void (*run)(void);
} sections[] = {{"domain", domain}, {"plain", plain},         {"overhead", overhead},
                {"hidden", hidden}, {"predicted", predicted}, {"hybrid", hybrid},
                {"costs", costs},   {"kernels", kernels}};

static bool open_first(void)
{
    xy_vec_t found;
    bool is_open;

    if (xy_gpu_list(&found) != XY_OK)
        die("the list of GPUs");
    is_open = found.count > 0 && xy_gpu_open(&XY_VEC_AT(&found, xy_gpu_info_t, 0), &gpu) == XY_OK;
    if (is_open)
        printf("on %s\n", xy_gpu_info(gpu)->name);
    xy_vec_cleanup(&found);
    return is_open;
}

int main(int argc, char **argv)
{
    size_t count = sizeof(sections) / sizeof(sections[0]);
    bool is_quick = argc > 1 && strcmp(argv[1], "--quick") == 0;

    bench_init(is_quick ? 2 : 1, argv);
    if (!open_first()) {
        puts("there is no GPU");
        return 0;
    }
    for (int k = 1; k < argc; k++)
        rounds = strcmp(argv[k], "once") == 0 ? 1 : rounds;
    for (size_t i = 0; i < count; i++) {
        bool is_asked = argc == 1 + is_quick + (rounds == 1);

        for (int k = 1 + is_quick; k < argc; k++)
            is_asked = is_asked || strcmp(argv[k], sections[i].name) == 0;
        if (is_asked)
            sections[i].run();
    }
    xy_gpu_close(gpu);
    return 0;
}
