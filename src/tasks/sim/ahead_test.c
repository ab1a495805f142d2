/* SPDX-License-Identifier: BSD-3-Clause */
/* A run in virtual time as real GPUs are driven decides, loads, stores and gives up what a real one
 * does, in the same order, whatever the clocks say; and its time is that of its streams and links.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "late.h"
#include "tasks/device/device.h"
#include "tasks/sim/task_sim_internal.h"
#include "testing/base.h"

enum { BLOCKS = 16, ROUNDS = 12, BYTES = 4096, CELLS = BYTES / 8 };

static const char text[] =
    "XY_KERNEL blend(XY_GLOBAL unsigned long *out,\n"
    "    XY_GLOBAL const unsigned long *a, XY_GLOBAL const unsigned long *b,\n"
    "    XY_GLOBAL const unsigned long *c)\n"
    "{ long i = XY_ID(0); out[i] = 3 * a[i] + 5 * b[i] + 7 * c[i]; }\n";

/* ---- A stencil from one array to the other, in blocks ---- */

static uint64_t (*data)[CELLS];

static xy_graph_t *make_graph(int blocks, int rounds, double seconds)
{
    xy_graph_t *g;

    assert_int_equal(xy_graph_create(&g), XY_OK);
    for (int d = 0; d < 2 * blocks; d++)
        xy_graph_add_data(g, &(xy_data_t){.bytes = BYTES,
                                          .position = {d % blocks, 0, 0},
                                          .is_scrap = d / blocks != rounds % 2});
    for (int t = 0; t < rounds; t++)
        for (int x = 1; x < blocks - 1; x++) {
            int from = t % 2 * blocks + x, to = (1 - t % 2) * blocks + x;
            /* The ends are never written: both arrays use those of the first. */
            xy_access_t a[4] = {{to, XY_ACCESS_WRITE},
                                {from, XY_ACCESS_READ},
                                {x > 1 ? from - 1 : 0, XY_ACCESS_READ},
                                {x < blocks - 2 ? from + 1 : blocks - 1, XY_ACCESS_READ}};

            xy_graph_add_task(g,
                              &(xy_op_t){.kind = XY_OP_COMPUTE,
                                         .seconds = seconds,
                                         .priority = t,
                                         .iteration = t,
                                         .position = {x, 0, 0}},
                              a, 4);
        }
    assert_int_equal(xy_graph_finalize(g), XY_OK);
    return g;
}

static void fill(void)
{
    for (int d = 0; d < 2 * BLOCKS; d++)
        for (int i = 0; i < CELLS; i++)
            data[d][i] = (uint64_t)d * 1000 + (uint64_t)i;
}

/* One task after the other. */
static void compute(const xy_graph_t *g)
{
    for (xy_op_id_t op = 0; op < xy_graph_ops(g); op++) {
        const xy_access_t *a;

        assert_int_equal(xy_graph_accesses(g, op, &a), 4);
        for (int i = 0; i < CELLS; i++)
            data[a[0].data][i] =
                3 * data[a[1].data][i] + 5 * data[a[2].data][i] + 7 * data[a[3].data][i];
    }
}

/* ---- What happened ---- */

enum { SEEN_MAX = 100000 };
typedef enum { SEEN_DECISIONS, SEEN_LOADS, SEEN_STORES, SEEN_EVICTIONS, SEEN } seen_kind_t;

typedef struct {
    xy_task_observer_t observer;
    int32_t *list[SEEN];
    int count[SEEN];
} seen_t;

static void see(seen_t *s, seen_kind_t kind, int32_t what)
{
    assert_true(s->count[kind] < SEEN_MAX);
    s->list[kind][s->count[kind]++] = what;
}

static void see_decision(void *arg, int32_t worker, xy_op_id_t op, double start, double end)
{
    (void)worker, (void)start, (void)end;
    see(arg, SEEN_DECISIONS, op);
}

static void see_transfer(void *arg, int32_t datum, int32_t from, int32_t to, double start,
                         double end)
{
    (void)to, (void)start, (void)end;
    see(arg, from == 0 ? SEEN_LOADS : SEEN_STORES, datum);
}

static void see_eviction(void *arg, int32_t memory, int32_t datum, double time)
{
    (void)memory, (void)time;
    see(arg, SEEN_EVICTIONS, datum);
}

static void seen_init(seen_t *s)
{
    *s = (seen_t){
        .observer = {
            .arg = s, .decide = see_decision, .transfer = see_transfer, .evict = see_eviction}};
    for (int i = 0; i < SEEN; i++) {
        s->list[i] = xy_malloc(SEEN_MAX * sizeof(int32_t));
        assert_non_null(s->list[i]);
    }
}

static void seen_cleanup(seen_t *s)
{
    for (int i = 0; i < SEEN; i++)
        xy_free(s->list[i]);
}

/* ---- Both ---- */

static xy_gpu_kernel_t *kernel;
static xy_gpu_program_t *program;
static xy_gpu_device_t *gpu;

static xy_status_t put(void *arg, const xy_task_kernel_t *k)
{
    const xy_gpu_arg_t args[] = {XY_GPU_ARG(k->buffers[0]), XY_GPU_ARG(k->buffers[1]),
                                 XY_GPU_ARG(k->buffers[2]), XY_GPU_ARG(k->buffers[3])};

    (void)arg;
    return xy_gpu_launch(k->stream, kernel, (size_t[3]){CELLS, 1, 1}, (size_t[3]){64, 1, 1}, args,
                         4);
}

/* They do not depend on each other: in any order. */
static xy_status_t put_together(void *arg, const xy_task_kernel_t *kernels, int32_t count)
{
    xy_status_t st = XY_OK;

    assert_in_range(count, 2, XY_TASK_BATCH_MAX);
    for (int32_t i = count - 1; i >= 0 && st == XY_OK; i--)
        st = put(arg, &kernels[i]);
    return st;
}

/* One GPU with these links and so much memory. */
static xy_task_platform_t *platform(uint64_t memory, double rate, double both)
{
    xy_task_platform_t *p = xy_task_platform_new(1, 2, 1);

    assert_non_null(p);
    p->memory_of[0] = 1;
    p->speed[0] = 1;
    p->capacity[1] = memory;
    p->shared[0] = p->shared[3] = -1;
    p->shared[1] = p->shared[2] = 0;
    p->shared_rate[0] = 2 * both;
    p->rate[1] = p->rate[2] = rate;
    p->latency[1] = p->latency[2] = 1e-6;
    return p;
}

static void compare(const char *policy, uint64_t memory, int32_t batch, int32_t look_ahead)
{
    xy_task_ahead_t ahead = xy_task_ahead_usual;
    xy_graph_t *g = make_graph(BLOCKS, ROUNDS, 1e-5);
    xy_task_platform_t *p = platform(memory, 1e9 * (1 + testing_below(10)), 1e9);
    void *addresses[2 * BLOCKS];
    seen_t real, virtual;
    xy_task_result_t measured, predicted;
    xy_task_device_t how = {.policy = policy,
                            .gpus = &gpu,
                            .gpu_count = 1,
                            .memory = memory,
                            .addresses = addresses,
                            .params = {.look_ahead = look_ahead},
                            .launch = put,
                            .launch_together = put_together,
                            .batch = batch,
                            .in = {p->latency[1], p->rate[1]},
                            .out = {p->latency[2], p->rate[2]}};
    uint64_t(*expected)[CELLS] = xy_malloc(2 * BLOCKS * sizeof(*expected));

    assert_non_null(expected);
    ahead.batch = batch;
    for (int d = 0; d < 2 * BLOCKS; d++)
        addresses[d] = data[d];
    fill();
    compute(g);
    memcpy(expected, data, 2 * BLOCKS * sizeof(*data));
    fill();
    seen_init(&real);
    seen_init(&virtual);
    how.observer = &real.observer;
    assert_int_equal(xy_task_execute_on(g, &how, &measured), XY_OK);
    assert_int_equal(xy_task_simulate(g, p,
                                      &(xy_task_sim_t){.policy = policy,
                                                       .params = {.look_ahead = look_ahead},
                                                       .ahead = &ahead,
                                                       .observer = &virtual.observer},
                                      &predicted),
                     XY_OK);
    for (int d = ROUNDS % 2 * BLOCKS; d < (1 + ROUNDS % 2) * BLOCKS; d++)
        assert_memory_equal(data[d], expected[d], BYTES);
    assert_int_equal(predicted.loads, measured.loads);
    assert_int_equal(predicted.stores, measured.stores);
    assert_int_equal(predicted.evictions, measured.evictions);
    for (int i = 0; i < SEEN; i++) {
        if (real.count[i] != virtual.count[i])
            fail_msg("%s: %d and %d", policy, real.count[i], virtual.count[i]);
        assert_memory_equal(real.list[i], virtual.list[i], (size_t)real.count[i] * sizeof(int32_t));
    }
    assert_int_equal(real.count[SEEN_DECISIONS], (BLOCKS - 2) * ROUNDS);
    assert_int_equal(real.count[SEEN_LOADS], measured.loads);
    /* Data that is not wanted in the end, or overwritten unread, is not stored. */
    if (memory > 2 * BLOCKS * BYTES * 8 / 7 + 8 * BYTES)
        assert_int_equal(measured.stores, BLOCKS - 2);
    seen_cleanup(&real);
    seen_cleanup(&virtual);
    xy_free(expected);
    xy_task_platform_destroy(p);
    xy_graph_destroy(g);
}

static void test_same(void **state)
{
    static const uint64_t memories[] = {5, 8, 14, 3 * BLOCKS};

    (void)state;
    if (gpu == NULL)
        skip();
    for (int i = 0; xy_task_policies[i] != NULL; i++)
        if (xy_task_policies[i]->trials == NULL)
            for (int k = 0; k < 4; k++)
                if (testing_is_chosen((unsigned)(i + k), XYLEM_SANITIZED ? 8 : 4))
                    compare(xy_task_policies[i]->name, memories[k] * BYTES,
                            k % 2 == 0 ? 0 : XY_TASK_BATCH_MAX, testing_below(6));
}

static int open_gpu(void **state)
{
    xy_vec_t found;

    (void)state;
    data = xy_malloc(2 * BLOCKS * sizeof(*data));
    assert_non_null(data);
    assert_int_equal(xy_gpu_list(&found), XY_OK);
    if (found.count > 0) {
        assert_int_equal(xy_gpu_open(found.data, &gpu), XY_OK);
        assert_int_equal(xy_gpu_program_create(gpu, "blend.cl", text, &program), XY_OK);
        assert_int_equal(xy_gpu_kernel_create(program, "blend", &kernel), XY_OK);
    } else {
        print_message("skipped: there is no OpenCL device (pocl-opencl-icd)\n");
    }
    xy_vec_cleanup(&found);
    return 0;
}

static int close_gpu(void **state)
{
    (void)state;
    xy_gpu_kernel_destroy(kernel);
    xy_gpu_program_destroy(program);
    xy_gpu_close(gpu);
    xy_free(data);
    kernel = NULL;
    program = NULL;
    gpu = NULL;
    data = NULL;
    return 0;
}

/* ---- Time ---- */

static const xy_task_ahead_t free_host = {0};

static bool is_near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * b;
}

static xy_task_result_t simulate(xy_graph_t *g, xy_task_platform_t *p, const char *policy,
                                 const xy_task_ahead_t *ahead)
{
    xy_task_result_t r;

    assert_int_equal(xy_task_simulate(g, p, &(xy_task_sim_t){.policy = policy, .ahead = ahead}, &r),
                     XY_OK);
    return r;
}

/* Where all fits and the link costs nothing, the time is that of the kernels; where the host is
 * slow, that of the host. */
static void test_kernels(void **state)
{
    xy_graph_t *g = make_graph(BLOCKS, ROUNDS, 1e-5);
    xy_task_platform_t *p = platform(0, 1e15, 1e15);
    xy_task_ahead_t slow = {.launch = 3e-5, .decision = 1e-5};
    double tasks = (BLOCKS - 2) * ROUNDS;

    (void)state;
    p->latency[1] = p->latency[2] = 0;
    assert_true(is_near(simulate(g, p, "eager", &free_host).makespan, tasks * 1e-5, 1e-3));
    assert_true(is_near(simulate(g, p, "eager", &slow).makespan, tasks * 4e-5, 0.01));
    xy_task_platform_destroy(p);
    xy_graph_destroy(g);
}

/* Where kernels take no time, the time is that of the busier direction of the link, alone or
 * shared, and of the latency of each copy. */
static void test_links(void **state)
{
    xy_graph_t *g = make_graph(BLOCKS, ROUNDS, 0);
    double alone = 0;

    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        xy_task_platform_t *p = platform(6 * BYTES, 1e9, shared ? 0.6e9 : 1e9);
        xy_task_result_t r = simulate(g, p, "eager", &free_host);
        double copy = 1e-6 + BYTES / 1e9, most = (double)(r.loads > r.stores ? r.loads : r.stores);
        double both = (double)(r.loads + r.stores);

        assert_true(r.loads > 100 && r.stores > 100);
        assert_true(r.makespan >= most * copy * 0.999);
        assert_true(r.makespan <= both * (1e-6 + BYTES / 0.6e9));
        if (shared) /* some of it goes both ways at once */
            assert_true(r.makespan > 1.1 * alone);
        alone = r.makespan;
        xy_task_platform_destroy(p);
    }
    xy_graph_destroy(g);
}

/* Copies are hidden behind kernels that take longer. */
static void test_hidden(void **state)
{
    xy_graph_t *g = make_graph(200, 40, 1e-4);
    xy_task_platform_t *p = platform(60 * BYTES, 1e9, 1e9);
    xy_task_observer_t observer = {0};
    xy_task_result_t r;

    (void)state;
    assert_int_equal(
        xy_task_simulate(
            g, p, &(xy_task_sim_t){.policy = "closure", .ahead = &free_host, .observer = &observer},
            &r),
        XY_OK);
    assert_true(r.moving_seconds > 0 && r.hidden_seconds > 0.95 * r.moving_seconds);
    assert_true(r.makespan < 1.01 * r.compute_bound);
    xy_task_platform_destroy(p);
    xy_graph_destroy(g);
}

typedef struct {
    double busy, end;
    int32_t tasks;
} kernels_t;

static void see_kernel(void *arg, int32_t worker, xy_op_id_t op, double start, double end)
{
    kernels_t *seen = arg;

    (void)worker;
    (void)op;
    assert_true(start >= seen->end - 1e-9 && end >= start);
    seen->busy += end - start;
    seen->end = end;
    seen->tasks++;
}

/* Kernels that are timed together take as long as they do one by one: nothing that the GPU waits
 * for counts as a kernel, with fast links and slow ones, and with slow decisions. */
static void test_spans(void **state)
{
    xy_graph_t *g = make_graph(60, 20, 1e-5);

    (void)state;
    for (int i = 0; i < (XYLEM_SANITIZED ? 12 : 60); i++) {
        double rate = BYTES / (1e-6 * (1 + testing_below(300)));
        xy_task_platform_t *p = platform((8 + (uint64_t)testing_below(60)) * BYTES, rate, rate);
        xy_task_ahead_t ahead = {.batch = i % 4 == 0 ? 0 : XY_TASK_BATCH_MAX,
                                 .decision = 1e-7 * testing_below(200)};
        kernels_t seen = {0};
        xy_task_observer_t observer = {.arg = &seen, .task = see_kernel};
        xy_task_result_t r;

        assert_int_equal(xy_task_simulate(g, p,
                                          &(xy_task_sim_t){.policy = "closure",
                                                           .params = {.look_ahead = i % 5},
                                                           .ahead = &ahead,
                                                           .observer = &observer},
                                          &r),
                         XY_OK);
        assert_int_equal(seen.tasks, r.tasks);
        if (!is_near(seen.busy, r.compute_bound, 0.01))
            fail_msg("kernels of %g s took %g s", r.compute_bound, seen.busy);
        xy_task_platform_destroy(p);
    }
    xy_graph_destroy(g);
}

/* Data that are loaded earlier let more tasks share a launch, and none is loaded more often. In the
 * end data are finished one after the other, so that few are stored behind the last task. */
static void test_look_ahead(void **state)
{
    xy_graph_t *g = make_graph(400, 40, 1e-5);
    xy_task_platform_t *p = platform(128 * BYTES, BYTES / 1e-4, BYTES / 1e-4);
    xy_task_ahead_t ahead = {.batch = XY_TASK_BATCH_MAX, .once = 5e-6};
    xy_task_result_t r[5];

    (void)state;
    for (int32_t i = 0; i < 5; i++)
        assert_int_equal(
            xy_task_simulate(
                g, p,
                &(xy_task_sim_t){.policy = "closure", .params = {.look_ahead = i}, .ahead = &ahead},
                &r[i]),
            XY_OK);
    for (int i = 1; i < 5; i++) {
        assert_int_equal(r[i].tasks, r[0].tasks);
        assert_true(r[i].loads <= r[0].loads + 4);
        assert_true(r[i].launches < r[i - 1].launches);
        assert_true(r[i].makespan < r[i - 1].makespan);
        assert_true(r[i].makespan - r[i].tasks_end < 0.8 * (r[0].makespan - r[0].tasks_end));
    }
    assert_true(r[4].launches < r[1].launches / 2);
    xy_task_platform_destroy(p);
    xy_graph_destroy(g);
}

/* Where kernels take longer than copies, few of them wait for one on the GPU: the host does while
 * the GPU has enough to do. Not where nothing is loaded early, as then no copy would be under way
 * meanwhile. */
static void test_waits(void **state)
{
    xy_graph_t *g = make_graph(600, 100, 1e-5);
    xy_task_platform_t *p = platform(UINT64_C(256) * BYTES, BYTES / 1e-4, BYTES / 1e-4);
    xy_task_ahead_t ahead = xy_task_ahead_usual;
    double work = 0;

    (void)state;
    for (xy_op_id_t i = 0; i < xy_graph_ops(g); i++)
        work += xy_graph_op(g, i)->seconds;
    ahead.batch = XY_TASK_BATCH_MAX;
    ahead.once = 5e-6;
    for (int32_t early = 0; early <= 8; early += 8) {
        xy_task_result_t r;

        assert_int_equal(xy_task_simulate(g, p,
                                          &(xy_task_sim_t){.policy = "closure",
                                                           .params = {.look_ahead = early},
                                                           .ahead = &ahead},
                                          &r),
                         XY_OK);
        assert_in_range(r.loads, 600, 640);
        assert_true(r.makespan >= r.compute_bound && r.makespan < 1.05 * work);
        if (early > 0 && r.launches_waiting > r.loads / 3)
            fail_msg("%d launches waited for %d loads", (int)r.launches_waiting, (int)r.loads);
    }
    xy_task_platform_destroy(p);
    xy_graph_destroy(g);
}

/* At both ends copies take longer than the work that there is for them. If each load were followed
 * by all that it allows, and each store by all that the next one needs, a block that is d blocks
 * from the end would hide d tasks of its copy: what is bare is the half of a triangle at each end,
 * so many copies together as tasks take the time of one. A good part more is allowed. */
static void test_ends(void **state)
{
    enum { PER_COPY = 20 }; /* tasks in the time of a copy */
    const double task = 1e-5, copy = PER_COPY * 1e-5;

    (void)state;
    for (int i = 0; i < (XYLEM_SANITIZED ? 2 : 12); i++) {
        int blocks = 300 + testing_below(200), rounds = 60 + testing_below(40);
        xy_graph_t *g = make_graph(blocks, rounds, task);
        uint64_t memory = (uint64_t)(rounds + 100 + testing_below(60)) * 2 * BYTES;
        xy_task_platform_t *p = platform(memory, BYTES / copy, BYTES / copy);
        xy_task_ahead_t ahead = {.batch = XY_TASK_BATCH_MAX};
        xy_task_observer_t observer = {0};
        xy_task_result_t r;
        double bare;

        assert_int_equal(xy_task_simulate(g, p,
                                          &(xy_task_sim_t){.policy = "closure",
                                                           .params = {.look_ahead = 8},
                                                           .ahead = &ahead,
                                                           .observer = &observer},
                                          &r),
                         XY_OK);
        bare = (r.moving_seconds - r.hidden_seconds) / copy;
        if (bare > 1.9 * PER_COPY)
            fail_msg("%d x %d: %g copies were not hidden", blocks, rounds, bare);
        xy_task_platform_destroy(p);
        xy_graph_destroy(g);
    }
}

/* The plan goes only as far as memory holds it: what is slow to load is not loaded more often,
 * though all that comes while it moves could be planned. */
static void test_look_ahead_is_bounded(void **state)
{
    xy_graph_t *g = make_graph(200, 40, 1e-6);
    xy_task_platform_t *p = platform(100 * BYTES, BYTES / 1e-3, BYTES / 1e-3);
    xy_task_ahead_t ahead = {.batch = XY_TASK_BATCH_MAX};

    (void)state;
    for (int32_t i = 1; i < 64; i *= 3) {
        xy_task_result_t r;

        assert_int_equal(
            xy_task_simulate(
                g, p,
                &(xy_task_sim_t){.policy = "closure", .params = {.look_ahead = i}, .ahead = &ahead},
                &r),
            XY_OK);
        assert_in_range(r.loads, 200, 240);
    }
    xy_task_platform_destroy(p);
    xy_graph_destroy(g);
}

/* Trials end when it is enough, or when another one has ended before. */
static void test_trials_end(void **state)
{
    xy_graph_t *g = make_graph(100, 10, 1e-4);
    xy_task_platform_t *p = platform(40 * BYTES, BYTES / 1e-4, BYTES / 1e-4);
    const xy_task_sim_t how = {.params = {.look_ahead = 2}, .ahead = &free_host};
    const xy_task_policy_t *policy;
    sim_field_t field = {.least = INFINITY};
    sim_trial_t whole = {.field = &field}, trial;
    xy_task_result_t r;

    (void)state;
    assert_int_equal(xy_task_policy_find("closure", &policy), XY_OK);
    assert_int_equal(sim_run_ahead(g, p, &how, policy, NULL, &whole, &r), XY_OK);
    assert_int_equal(whole.steps, SIM_STEPS);
    assert_true(whole.at[SIM_STEPS] == r.makespan && field.least == r.makespan);
    for (int k = 1; k <= SIM_STEPS; k++)
        assert_true(whole.at[k] > 0 && whole.at[k] >= whole.at[k - 1]);
    trial = (sim_trial_t){.field = &field};
    assert_int_equal(sim_run_ahead(g, p, &how, policy, NULL, &trial, &r), XY_OK);
    atomic_store(&field.least, 0.75 * whole.at[SIM_STEPS]);
    trial = (sim_trial_t){.field = &field};
    assert_int_equal(sim_run_ahead(g, p, &how, policy, NULL, &trial, &r), XY_EINTERRUPTED);
    assert_true(trial.steps > SIM_STEPS / 2 && trial.steps < SIM_STEPS);
    assert_true(field.least == 0.75 * whole.at[SIM_STEPS]);
    atomic_store(&field.enough, true);
    trial = (sim_trial_t){.field = &field};
    assert_int_equal(sim_run_ahead(g, p, &how, policy, NULL, &trial, &r), XY_EINTERRUPTED);
    assert_int_equal(trial.steps, 0);
    xy_task_platform_destroy(p);
    xy_graph_destroy(g);
}

/* Trials are compared where both have been; what has only begun tells nothing, and what has ended
 * is ahead of what has not. */
static void test_leader(void **state)
{
    sim_trial_t trials[4] = {{0}};

    (void)state;
    for (int i = 0; i < 4; i++)
        for (int k = 1; k <= SIM_STEPS; k++)
            trials[i].at[k] = k * (i == 2 ? 0.9 : 1);
    assert_int_equal(sim_leader(trials, 4), -1);
    trials[3].steps = SIM_STEPS - 1;
    assert_int_equal(sim_leader(trials, 4), 3);
    trials[1].steps = SIM_STEPS / 2;
    assert_int_equal(sim_leader(trials, 4), 1); /* as fast, and in front */
    trials[2].steps = 1;
    assert_int_equal(sim_leader(trials, 4), 1);
    trials[2].steps = SIM_STEPS / 3;
    assert_int_equal(sim_leader(trials, 4), 2);
    trials[0].steps = SIM_STEPS / 2;
    for (int k = 1; k <= SIM_STEPS; k++) /* slow, but for what it has not reached yet */
        trials[0].at[k] = k <= SIM_STEPS / 2 ? 2 * k : 1;
    assert_int_equal(sim_leader(trials, 4), 2);
    trials[3].steps = SIM_STEPS;
    trials[2].steps = SIM_STEPS - 1; /* ahead, but with stores to come */
    assert_int_equal(sim_leader(trials, 4), 3);
    trials[0].steps = SIM_STEPS; /* behind at all steps but the last */
    assert_int_equal(sim_leader(trials, 4), 0);
}

/* A race finds what trials one after the other find, nearly, and tells a choice at any time. */
static void test_race(void **state)
{
    xy_graph_t *g = make_graph(100, 10, 1e-4);
    xy_task_platform_t *p = platform(40 * BYTES, BYTES / 1e-4, BYTES / 1e-4);
    const xy_task_sim_t how = {.params = {.look_ahead = XY_TASK_CHOOSE}, .ahead = &free_host};
    xy_task_result_t all, some;
    xy_task_race_t *race;

    (void)state;
    testing_listen();
    assert_int_equal(xy_task_simulate(g, p, &how, &all), XY_OK);
    assert_int_equal(xy_task_race_create(g, p, &how, &race), XY_OK);
    assert_int_equal(xy_task_race_result(race, 1000, &some), XY_OK);
    assert_true(some.makespan <= 1.0101 * all.makespan);
    xy_task_race_destroy(race);
    for (int i = 0; i < 20; i++) {
        xy_task_sim_t chosen = how;
        xy_status_t st;

        assert_int_equal(xy_task_race_create(g, p, &how, &race), XY_OK);
        st = xy_task_race_result(race, i * 1e-3, &some);
        xy_task_race_destroy(race);
        if (st == XY_EINTERRUPTED)
            continue;
        assert_int_equal(st, XY_OK);
        assert_int_equal(some.workers, 1);
        chosen.policy = some.policy;
        chosen.eviction = some.eviction;
        chosen.params.look_ahead = some.look_ahead;
        chosen.params.extra_rounds = some.extra_rounds;
        assert_int_equal(xy_task_simulate(g, p, &chosen, &some), XY_OK);
    }
    assert_int_equal(testing_said_count, 0);
    xy_error_handler_set(NULL, NULL);
    xy_task_race_destroy(NULL);
    xy_task_platform_destroy(p);
    xy_graph_destroy(g);
}

/* Where no trial has come far, a policy that was asked for remains. */
static void test_first(void **state)
{
    const xy_task_trial_t any = xy_task_trial_first(NULL), eager = xy_task_trial_first("eager");

    (void)state;
    assert_string_equal(any.policy, "closure");
    assert_string_equal(xy_task_trial_first("foresight").policy, any.policy);
    assert_string_equal(eager.policy, "eager");
    assert_int_equal(eager.look_ahead, any.look_ahead);
}

static void test_refusals(void **state)
{
    xy_graph_t *g = make_graph(BLOCKS, 2, 1e-5);
    xy_task_platform_t *p = platform(3 * BYTES, 1e9, 1e9);
    const xy_task_sim_t how = {.policy = "eager", .ahead = &free_host};
    xy_task_result_t r;

    (void)state;
    testing_listen();
    assert_int_equal(xy_task_simulate(g, p, &how, &r), XY_EINVAL); /* four data do not fit */
    assert_int_equal(testing_said_count, 1);
    p->capacity[1] = 0;
    p->memory_of[0] = 0;
    testing_listen();
    assert_int_equal(xy_task_simulate(g, p, &how, &r), XY_EINVAL);
    assert_non_null(strstr(testing_said, "leave out --cpus"));
    p->memory_of[0] = 1;
    for (long k = 0; testing_fail_next(&k);)
        assert_null(testing_fail_fault(&k, xy_task_simulate(g, p, &how, &r)));
    xy_error_handler_set(NULL, NULL);
    xy_task_platform_destroy(p);
    xy_graph_destroy(g);
}

int main(void)
{
    const struct CMUnitTest same[] = {cmocka_unit_test(test_same)};
    const struct CMUnitTest times[] = {
        cmocka_unit_test(test_kernels),    cmocka_unit_test(test_links),
        cmocka_unit_test(test_hidden),     cmocka_unit_test(test_spans),
        cmocka_unit_test(test_trials_end), cmocka_unit_test(test_leader),
        cmocka_unit_test(test_race),       cmocka_unit_test(test_first),
        cmocka_unit_test(test_look_ahead), cmocka_unit_test(test_waits),
        cmocka_unit_test(test_ends),       cmocka_unit_test(test_look_ahead_is_bounded),
        cmocka_unit_test(test_refusals)};
    int failed = cmocka_run_group_tests(times, NULL, NULL);

    setenv("XYLEM_GPU_DRIVER", "opencl", 0);
    failed += cmocka_run_group_tests(same, open_gpu, close_gpu);
    testing_use_late();
    return failed + cmocka_run_group_tests(same, open_gpu, close_gpu);
}
