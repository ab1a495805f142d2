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
    double kernels, link, loop = plain_loop(gpu, &in);

    in.iterations = 150;
    kernels = (plain_loop(gpu, &in) - loop) / 100 * parts * s.iterations;
    link = (double)s.blocks[0] * (double)bytes / both;
    if (both <= 0 || hand <= 0 || loop <= 0)
        die("the loop by hand");
    bench_value("link, each way of both at once", both * 1e-9, "GB/s");
    bench_value("domain by hand, double buffering", hand, "s");
    bench_value("domain: kernels of a plain loop take", kernels, "s");
    bench_value("domain: one load and one store of all take", link, "s");
    /* Blocks of twice the size as well, of which several at once would be loaded too often. */
    for (int i = 0; i < 3 * rounds; i++) {
        xy_stencil_t cut = s;
        xy_stencil_result_t r;

        cut.blocks[0] /= 1 + i % 3 / 2;
        cut.cells[0] *= 1 + i % 3 / 2;
        look_ahead = i % 3 == 0;
        r = run(&cut, "closure", memory, 0, NULL);
        printf("blocks of %.4g MiB%s:\n", (double)block_bytes(&cut) / (1 << 20),
               look_ahead > 0 ? ", several of them in a launch" : "");
        bench_value("domain under closure", r.sim.makespan, "s");
        bench_value("  of which decisions", r.sim.scheduling_seconds, "s");
        bench_value("  loads", (double)r.sim.loads, "");
        bench_value("  stores", (double)r.sim.stores, "");
        bench_value("  times faster than by hand", hand / r.sim.makespan, "");
        bench_value("  times the bound", r.sim.makespan / fmax(kernels, link), "");
        bench_value("  a kernel alone, measured before", 1e6 * r.costs.task, "us");
        bench_value("  predicted from what was measured before",
                    predict(&cut, "closure", memory, &r).makespan, "s");
        look_ahead = 0;
    }
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

/* Kernels, and the gaps between them: shorter than so many microseconds each. */
enum { GAPS = 6 };
static const double gap_limits[GAPS] = {1e-6, 2e-6, 4e-6, 8e-6, 20e-6, INFINITY};

typedef struct {
    double busy, end, gaps[GAPS];
    int counts[GAPS];
} seen_t;

static void see_task(void *arg, int32_t worker, xy_op_id_t op, double start, double end)
{
    seen_t *seen = arg;
    int i = 0;

    (void)worker;
    (void)op;
    seen->busy += end - start;
    while (start - seen->end >= gap_limits[i])
        i++;
    seen->gaps[i] += start - seen->end;
    seen->counts[i]++;
    seen->end = end;
}

static void hidden(void)
{
    bool is_quick = bench_is_quick();
    xy_stencil_t s = is_quick ? jacobi(64, 16, 256, 400) : jacobi(768, 128, 8192, 100);

    look_ahead = 1;
    for (int i = 0; i < rounds; i++) {
        seen_t seen = {0};
        xy_task_observer_t observer = {.arg = &seen, .task = see_task};
        xy_stencil_result_t r =
            run(&s, "closure", is_quick ? 120 * block_bytes(&s) : UINT64_C(2) << 30, 0, &observer);

        bench_value("hidden: makespan", r.sim.makespan, "s");
        bench_value("  last task", r.sim.tasks_end, "s");
        bench_value("  kernels", seen.busy, "s");
        bench_value("  copies", r.sim.moving_seconds, "s");
        bench_value("  of them hidden", 100 * r.sim.hidden_seconds / r.sim.moving_seconds, "%");
        for (int k = 0; k < GAPS; k++)
            printf("  gaps below %g us: %d, %.4g s in all\n", 1e6 * gap_limits[k], seen.counts[k],
                   seen.gaps[k]);
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

/* The kernel of 5 points with so many rows per thread and threads per group, in a row of launches
 * over blocks that no cache holds together. */
static double kernel_seconds(int rows, size_t width, size_t height, int64_t block_rows,
                             int64_t columns)
{
    enum { BLOCKS = 32, LAUNCHES = 400 };
    char *text = xy_sprintf("#define ROWS %d\n%s", rows, stencil_gpu_text);
    uint64_t bytes = (uint64_t)(block_rows * columns) * sizeof(double);
    xy_gpu_memory_t blocks[BLOCKS], none = 0;
    xy_gpu_program_t *program;
    xy_gpu_kernel_t *kernel;
    xy_gpu_stream_t *stream;
    int64_t one = 1;
    double begin = 0;

    if (text == NULL || xy_gpu_program_create(gpu, "stencil.cl", text, &program) != XY_OK ||
        xy_gpu_kernel_create(program, "update5", &kernel) != XY_OK ||
        xy_gpu_stream_create(gpu, &stream) != XY_OK)
        die("a kernel");
    for (int i = 0; i < BLOCKS; i++)
        if (xy_gpu_memory_take(gpu, bytes, &blocks[i]) != XY_OK)
            die("memory of the GPU");
    for (int i = -LAUNCHES / 4; i < LAUNCHES; i++) {
        int at = i < 0 ? -i : i;
        const xy_gpu_arg_t args[] = {XY_GPU_ARG(blocks[at % BLOCKS]),
                                     XY_GPU_ARG(blocks[(at + 1) % BLOCKS]),
                                     XY_GPU_ARG(blocks[(at + 2) % BLOCKS]),
                                     XY_GPU_ARG(none),
                                     XY_GPU_ARG(none),
                                     XY_GPU_ARG(blocks[(at + BLOCKS / 2) % BLOCKS]),
                                     XY_GPU_ARG(one),
                                     XY_GPU_ARG(block_rows),
                                     XY_GPU_ARG(columns),
                                     XY_GPU_ARG(block_rows)};

        if (i == 0 && xy_gpu_stream_wait(stream) != XY_OK)
            die("a kernel");
        begin = i == 0 ? bench_now() : begin;
        if (xy_gpu_launch(stream, kernel,
                          (size_t[3]){(size_t)columns, (size_t)((block_rows + rows - 1) / rows), 1},
                          (size_t[3]){width, height, 1}, args, 10) != XY_OK)
            die("a kernel");
    }
    if (xy_gpu_stream_wait(stream) != XY_OK)
        die("a kernel");
    begin = (bench_now() - begin) / LAUNCHES;
    for (int i = 0; i < BLOCKS; i++)
        xy_gpu_memory_give(gpu, blocks[i]);
    xy_gpu_kernel_destroy(kernel);
    xy_gpu_program_destroy(program);
    xy_gpu_stream_destroy(stream);
    xy_free(text);
    return begin;
}

static void kernels(void)
{
    static const size_t groups[][2] = {{128, 1}, {128, 2}, {256, 1}, {64, 4}, {32, 8}};
    int64_t columns = bench_is_quick() ? 256 : 8192;

    for (int64_t rows = 128; rows <= (bench_is_quick() ? 128 : 512); rows *= 2)
        for (int per = 1; per <= 16; per *= 2)
            for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++) {
                char title[96];

                snprintf(title, sizeof(title), "%d x %d, %d rows per thread, groups of %zu x %zu",
                         (int)rows, (int)columns, per, groups[g][0], groups[g][1]);
                bench_value(title,
                            1e6 * kernel_seconds(per, groups[g][0], groups[g][1], rows, columns),
                            "us");
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
