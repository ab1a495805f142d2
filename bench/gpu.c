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
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "gpu_plain.h"
#include "stencil/stencil.h"
#include "xylem.h"

static xy_gpu_device_t *gpu;
static int rounds = 3;

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
    xy_stencil_run_t run = {.grid = *s,
                            .is_real = true,
                            .is_unchecked = true,
                            .is_on_gpus = true,
                            .gpus = 1,
                            .cpus = cpus,
                            .memory = memory,
                            .how = {.policy = policy, .observer = observer}};
    xy_stencil_result_t r;

    if (xy_stencil_run(&run, &r) != XY_OK)
        die("a stencil");
    return r;
}

static uint64_t block_bytes(const xy_stencil_t *s)
{
    return (uint64_t)(s->cells[0] * s->cells[1]) * sizeof(double);
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
    for (int i = 0; i < rounds; i++) {
        xy_stencil_result_t r = run(&s, "closure", memory, 0, NULL);

        bench_value("domain under closure", r.sim.makespan, "s");
        bench_value("  of which decisions", r.sim.scheduling_seconds, "s");
        bench_value("  loads", (double)r.sim.loads, "");
        bench_value("  stores", (double)r.sim.stores, "");
        bench_value("  times faster than by hand", hand / r.sim.makespan, "");
        bench_value("  times the bound", r.sim.makespan / fmax(kernels, link), "");
        bench_value("  a kernel alone, measured before", 1e6 * r.task_seconds, "us");
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

static void see_task(void *arg, int32_t worker, xy_op_id_t op, double start, double end)
{
    (void)worker;
    (void)op;
    *(double *)arg += end - start;
}

static void hidden(void)
{
    bool is_quick = bench_is_quick();
    xy_stencil_t s = is_quick ? jacobi(64, 16, 256, 400) : jacobi(768, 128, 8192, 100);

    for (int i = 0; i < rounds; i++) {
        double busy = 0;
        xy_task_observer_t observer = {.arg = &busy, .task = see_task};
        xy_stencil_result_t r =
            run(&s, "closure", is_quick ? 120 * block_bytes(&s) : UINT64_C(2) << 30, 0, &observer);

        bench_value("hidden: makespan", r.sim.makespan, "s");
        bench_value("  kernels", busy, "s");
        bench_value("  copies", r.sim.moving_seconds, "s");
        bench_value("  of them hidden", 100 * r.sim.hidden_seconds / r.sim.moving_seconds, "%");
    }
}

/* ---- Predicted and measured ---- */

/* An eighth of the memory, up to eight blocks, is kept from policies (docs/gpu.md). */
static uint64_t usable(uint64_t memory, uint64_t block)
{
    uint64_t reserve = memory / 8 / block;

    return memory - (reserve < 8 ? reserve : 8) * block;
}

static double predict(const xy_stencil_t *s, const char *policy, uint64_t memory, double both,
                      const xy_stencil_result_t *measured)
{
    int32_t memory_of = 1, shared[4] = {-1, 0, 0, -1};
    uint64_t capacity[2] = {0, usable(memory, block_bytes(s))};
    double speed = 1, shared_rate = 2 * both;
    double latency[4] = {0, measured->in.latency, measured->out.latency, 0};
    double rate[4] = {0, measured->in.bandwidth, measured->out.bandwidth, 0};
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
    grid.task_seconds = measured->task_seconds;
    if (xy_stencil_build(&grid, &graph) != XY_OK ||
        xy_task_simulate(graph, &platform, &(xy_task_sim_t){.policy = policy}, &r) != XY_OK)
        die("a prediction");
    xy_graph_destroy(graph);
    return r.makespan;
}

static void predicted(void)
{
    static const char *const policies[] = {"closure", "relay", "cache-oblivious", "dmdar", "dmda",
                                           "eager",   "lws",   "modular-ready"};
    bool is_quick = bench_is_quick();
    xy_stencil_t s = is_quick ? jacobi(66, 16, 256, 100) : jacobi(66, 128, 8192, 100);
    double both = plain_both_ways(gpu, block_bytes(&s)), worst = 0, sum = 0;
    int n = 0, within = 0;

    for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++)
        for (uint64_t blocks = 16; blocks <= 256; blocks *= blocks == 64 ? 4 : 2) {
            uint64_t memory = blocks * block_bytes(&s);
            xy_stencil_result_t r = run(&s, policies[i], memory, 0, NULL);
            double expected = predict(&s, policies[i], memory, both, &r);
            double error = expected / r.sim.makespan - 1;
            char title[64];

            snprintf(title, sizeof(title), "%s, %d blocks: %.4g s, predicted %.4g s", policies[i],
                     (int)blocks, r.sim.makespan, expected);
            bench_value(title, 100 * error, "%");
            worst = fmax(worst, fabs(error));
            sum += fabs(error);
            within += fabs(error) <= 0.1;
            n++;
        }
    bench_value("predicted: mean error", 100 * sum / n, "%");
    bench_value("predicted: worst error", 100 * worst, "%");
    bench_value("predicted: within 10 %", 100.0 * within / n, "%");
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
                {"hidden", hidden}, {"predicted", predicted}, {"hybrid", hybrid}};

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
