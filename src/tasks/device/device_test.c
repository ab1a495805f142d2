/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks on a GPU with too little memory: the same numbers as one task after the other. The device
 * is one that is made of cores, then the same with everything as late as it may be; or a GPU where
 * XYLEM_GPU_DRIVER says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "late.h"
#include "tasks/device/device_internal.h"
#include "testing/base.h"

enum { DATA = 20, CELLS = 256, TASKS = XYLEM_SANITIZED ? 150 : 300, READS = 3 };

static const char text[] =
    "XY_KERNEL blend(XY_GLOBAL unsigned long *out, XY_GLOBAL const unsigned long *a,\n"
    "              XY_GLOBAL const unsigned long *b, unsigned long k, int is_kept)\n"
    "{\n"
    "    long i = XY_ID(0);\n"
    "    unsigned long sum = k + (is_kept ? 3 * out[i] : 0);\n"
    "    if (a != 0) sum += 5 * a[i];\n"
    "    if (b != 0) sum += 7 * b[i];\n"
    "    out[i] = sum;\n"
    "}\n";

enum { GPUS = 2 };

static xy_gpu_device_t *gpus[GPUS], *gpu; /* gpu: the first; NULL: there is none */
static xy_gpu_program_t *programs[GPUS];
static xy_gpu_kernel_t *mix[GPUS];
static int32_t gpu_count;

static int open_all(void **state)
{
    xy_vec_t found;

    (void)state;
    assert_int_equal(xy_gpu_list(&found), XY_OK);
    for (gpu_count = 0; gpu_count < GPUS && (size_t)gpu_count < found.count; gpu_count++) {
        int32_t g = gpu_count;

        assert_int_equal(xy_gpu_open(&XY_VEC_AT(&found, xy_gpu_info_t, g), &gpus[g]), XY_OK);
        assert_int_equal(xy_gpu_program_create(gpus[g], "mix.cl", text, &programs[g]), XY_OK);
        assert_int_equal(xy_gpu_kernel_create(programs[g], "blend", &mix[g]), XY_OK);
    }
    gpu = gpus[0];
    if (gpu_count == 0)
        print_message("skipped: there is no OpenCL device (pocl-opencl-icd)\n");
    xy_vec_cleanup(&found);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    for (int32_t g = 0; g < gpu_count; g++) {
        xy_gpu_kernel_destroy(mix[g]);
        xy_gpu_program_destroy(programs[g]);
        xy_gpu_close(gpus[g]);
        gpus[g] = NULL;
    }
    gpu = NULL;
    return 0;
}

/* ---- A program of tasks ---- */

typedef struct {
    xy_graph_t *graph;
    uint64_t (*data)[CELLS]; /* [DATA] */
    void *addresses[DATA];
    int32_t home_every;   /* so many tasks have no kernel; 0: all have */
    _Atomic int32_t here; /* tasks that ran here */
} program_t;

/* The first access is the one that is written. */
static void compute(xy_op_id_t op, const xy_access_t *a, int32_t n, uint64_t *const *buffers)
{
    for (int i = 0; i < CELLS; i++) {
        uint64_t sum = (uint64_t)op + ((a[0].mode & XY_ACCESS_READ) ? 3 * buffers[0][i] : 0);

        for (int32_t k = 1; k < n; k++)
            sum += (k == 1 ? 5 : 7) * buffers[k][i];
        buffers[0][i] = sum;
    }
}

static bool has_kernel(void *arg, xy_op_id_t op)
{
    const program_t *p = arg;

    return p->home_every == 0 || op % p->home_every != 0;
}

static void run_here(void *arg, const xy_task_turn_t *turn)
{
    program_t *p = arg;
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(p->graph, turn->op, &a);

    atomic_fetch_add(&p->here, 1);
    compute(turn->op, a, n, (uint64_t *const *)turn->buffers);
}

static xy_status_t put(void *arg, const xy_task_kernel_t *k)
{
    const program_t *p = arg;
    const xy_access_t *list;
    int32_t n = xy_graph_accesses(p->graph, k->op, &list);
    xy_gpu_memory_t none = 0;
    uint64_t number = (uint64_t)k->op;
    int is_kept = (list[0].mode & XY_ACCESS_READ) != 0;
    const xy_gpu_arg_t args[] = {XY_GPU_ARG(k->buffers[0]),
                                 {n > 1 ? &k->buffers[1] : &none, sizeof(none)},
                                 {n > 2 ? &k->buffers[2] : &none, sizeof(none)},
                                 XY_GPU_ARG(number),
                                 XY_GPU_ARG(is_kept)};

    return xy_gpu_launch(k->stream, mix[k->gpu], (size_t[3]){CELLS, 1, 1}, (size_t[3]){64, 1, 1},
                         args, 5);
}

static void make(program_t *p)
{
    *p = (program_t){.data = xy_calloc(DATA, sizeof(*p->data))};
    assert_non_null(p->data);
    assert_int_equal(xy_graph_create(&p->graph), XY_OK);
    for (int32_t d = 0; d < DATA; d++) {
        p->addresses[d] = p->data[d];
        for (int i = 0; i < CELLS; i++)
            p->data[d][i] = (uint64_t)d * 1000 + (uint64_t)i;
        xy_graph_add_data(p->graph, &(xy_data_t){.bytes = sizeof(p->data[d])});
    }
    for (int i = 0; i < TASKS; i++) {
        int first = testing_below(DATA), n = 1 + testing_below(READS);
        xy_access_t a[READS] = {
            {first, testing_below(3) > 0 ? XY_ACCESS_READ_WRITE : XY_ACCESS_WRITE}};

        for (int k = 1; k < n; k++) /* near ones: there is something to be kept */
            a[k] = (xy_access_t){(first + k * (1 + testing_below(3))) % DATA, XY_ACCESS_READ};
        if (n > 2 && a[2].data == a[1].data)
            n--;
        xy_graph_add_task(p->graph,
                          &(xy_op_t){.kind = XY_OP_COMPUTE, .seconds = 1e-5, .priority = i}, a, n);
    }
    assert_int_equal(xy_graph_finalize(p->graph), XY_OK);
}

static void cleanup(program_t *p)
{
    xy_graph_destroy(p->graph);
    xy_free(p->data);
}

/* One after the other, from the data as they are. */
static uint64_t (*expect(const program_t *p))[CELLS]
{
    uint64_t(*data)[CELLS] = xy_malloc(DATA * sizeof(*data));

    assert_non_null(data);
    memcpy(data, p->data, DATA * sizeof(*data));
    for (xy_op_id_t i = 0; i < TASKS; i++) {
        const xy_access_t *a;
        int32_t n = xy_graph_accesses(p->graph, i, &a);
        uint64_t *buffers[READS] = {data[0], data[0], data[0]};

        for (int32_t k = 0; k < n && k < READS; k++)
            buffers[k] = data[a[k].data];
        compute(i, a, n, buffers);
    }
    return data;
}

/* ---- A witness ---- */

typedef struct {
    xy_task_observer_t observer;
    int tasks, loads, stores, waits, evictions, decisions, workers;
    double last_end, task_end[4];
    uint64_t most;
} witness_t;

static void see_task(void *arg, int32_t worker, xy_op_id_t op, double start, double end)
{
    witness_t *w = arg;

    assert_in_range(worker, 0, w->workers - 1);
    assert_in_range(op, 0, TASKS - 1);
    assert_true(start >= w->task_end[worker] && end >= start && end >= w->last_end);
    w->task_end[worker] = w->last_end = end;
    w->tasks++;
}

static void see_transfer(void *arg, int32_t data, int32_t from, int32_t to, double start,
                         double end)
{
    witness_t *w = arg;

    assert_in_range(data, 0, DATA - 1);
    assert_int_equal(from + to, 1);
    assert_true(end >= start && end >= w->last_end);
    w->last_end = end;
    w->loads += from == 0;
    w->stores += to == 0;
}

static void see_memory(void *arg, int32_t memory, double time, uint64_t used)
{
    witness_t *w = arg;

    assert_int_equal(memory, 1);
    assert_true(time >= w->last_end);
    w->last_end = time;
    w->most = used > w->most ? used : w->most;
}

/* Between two tasks of the worker; told after the first and before the second. */
static void see_wait(void *arg, int32_t worker, bool is_decision, double start, double end)
{
    witness_t *w = arg;

    assert_in_range(worker, 0, w->workers - 1);
    assert_true(!is_decision && start == w->task_end[worker] && end > start && end >= w->last_end);
    w->last_end = end;
    w->waits++;
}

static void see_eviction(void *arg, int32_t memory, int32_t data, double time)
{
    witness_t *w = arg;

    assert_int_equal(memory, 1);
    assert_in_range(data, 0, DATA - 1);
    assert_true(time >= w->last_end);
    w->last_end = time;
    w->evictions++;
}

static void see_decision(void *arg, int32_t worker, xy_op_id_t op, double start, double end)
{
    witness_t *w = arg;

    assert_in_range(worker, 0, w->workers - 1);
    assert_in_range(op, 0, TASKS - 1);
    assert_true(end >= start && end >= w->last_end);
    w->last_end = end;
    w->decisions++;
}

/* ---- Tests ---- */

/* Data that must not be pinned go through pieces: more of them than there are, a few, one. Others
 * (0) are pinned, or a device that is made of cores reads them itself. */
static uint64_t any_piece(void)
{
    static const uint64_t bytes[] = {0, 24, 512, 1 << 20};

    return bytes[testing_below(4)];
}

static void check_staged(const xy_task_device_t *how, const xy_task_result_t *r)
{
    if (how->piece_bytes > 0)
        assert_int_equal(r->bytes_staged, r->bytes_loaded + r->bytes_stored);
    else if (xy_gpu_info(how->gpus[0])->is_cpu ||
             strcmp(xy_gpu_info(how->gpus[0])->driver, "cuda") == 0)
        assert_int_equal(r->bytes_staged, 0);
}

static int waits; /* in all runs of a test: one whose first tasks only write may have none */

static void run_with(const char *policy, const char *eviction, uint64_t memory, int home_every,
                     int32_t cores, bool is_watched)
{
    witness_t w = {.observer = {&w, see_task, see_transfer, see_memory, see_wait, see_eviction,
                                see_decision, NULL},
                   .workers = 1 + cores};
    program_t p;
    xy_task_device_t how = {.policy = policy,
                            .eviction = eviction,
                            .gpus = &gpu,
                            .gpu_count = 1,
                            .memory = memory,
                            .launch = put,
                            .is_for_gpu = has_kernel,
                            .run = run_here,
                            .arg = &p,
                            .cores = cores,
                            .piece_bytes = any_piece(),
                            .observer = is_watched ? &w.observer : NULL};
    uint64_t(*expected)[CELLS];
    xy_task_result_t r;
    xy_status_t st;
    int home;

    make(&p);
    p.home_every = home_every;
    how.addresses = p.addresses;
    how.is_unpinned = how.piece_bytes > 0;
    expected = expect(&p);
    testing_listen();
    st = xy_task_execute_on(p.graph, &how, &r);
    if (st == XY_EINVAL && strstr(testing_said, "position") != NULL) {
        xy_free(expected); /* a policy for domains only */
        cleanup(&p);
        return;
    }
    if (st != XY_OK)
        fail_msg("%s: %s", policy, testing_said);
    assert_memory_equal(p.data, expected, DATA * sizeof(*p.data));
    assert_int_equal(r.tasks, TASKS);
    check_staged(&how, &r);
    home = home_every > 0 ? (TASKS + home_every - 1) / home_every : 0;
    assert_true(cores > 0 ? p.here >= home : p.here == home);
    assert_int_equal(r.workers, 1 + cores);
    assert_true(cores > 0 || (r.loads > 0 && r.stores > 0));
    assert_true(r.makespan >= r.tasks_end);
    if (is_watched) {
        assert_int_equal(w.decisions, TASKS);
        assert_int_equal(w.evictions, r.evictions);
    }
    if (is_watched && cores > 0)
        assert_int_equal(w.tasks, TASKS);
    if (is_watched && cores == 0) {
        assert_int_equal(w.tasks + p.here, TASKS);
        waits += w.waits;
        assert_int_equal(w.loads, r.loads);
        assert_int_equal(w.stores, r.stores);
        assert_true(memory == 0 || w.most <= memory);
        assert_true(r.compute_bound > 0 && r.compute_bound <= r.makespan);
        assert_true(r.moving_seconds > 0 && r.hidden_seconds <= r.moving_seconds);
    }
    if (memory == 0 && cores == 0)
        assert_true(r.evictions == 0 && r.loads <= DATA + (uint64_t)p.here * READS);
    xy_free(expected);
    cleanup(&p);
}

static void run_one(const char *policy, const char *eviction, uint64_t memory, int home_every,
                    bool is_watched)
{
    run_with(policy, eviction, memory, home_every, 0, is_watched);
}

/* Two GPUs, with cores beside them and without. */
static void test_two(void **state)
{
    const uint64_t block = CELLS * sizeof(uint64_t);

    (void)state;
    if (gpu_count < GPUS)
        skip();
    for (int i = 0; xy_task_policies[i] != NULL; i++) {
        program_t p;
        xy_task_device_t how = {.policy = xy_task_policies[i]->name,
                                .gpus = gpus,
                                .gpu_count = GPUS,
                                .memory = (4 + (uint64_t)i % 4) * block,
                                .launch = put,
                                .is_for_gpu = has_kernel,
                                .run = run_here,
                                .arg = &p,
                                .piece_bytes = any_piece(),
                                .cores = i % 2};
        uint64_t(*expected)[CELLS];
        xy_task_result_t r;
        xy_status_t st;

        if (!testing_is_chosen((unsigned)i, 5)) /* with cores and without */
            continue;
        make(&p);
        p.home_every = i % 3 == 0 ? 8 : 0;
        how.addresses = p.addresses;
        how.is_unpinned = how.piece_bytes > 0;
        expected = expect(&p);
        testing_listen();
        st = xy_task_execute_on(p.graph, &how, &r);
        if (st != XY_EINVAL || strstr(testing_said, "position") == NULL) {
            assert_int_equal(st, XY_OK);
            assert_memory_equal(p.data, expected, DATA * sizeof(*p.data));
            assert_int_equal(r.tasks, TASKS);
            check_staged(&how, &r);
        }
        xy_free(expected);
        cleanup(&p);
    }
}

/* Cores and the GPU share the tasks. */
static void test_cores(void **state)
{
    const uint64_t block = CELLS * sizeof(uint64_t);

    (void)state;
    if (gpu == NULL)
        skip();
    for (int i = 0; xy_task_policies[i] != NULL; i++)
        if (testing_is_chosen((unsigned)i, XYLEM_SANITIZED ? 3 : 2))
            run_with(xy_task_policies[i]->name, NULL, (4 + (uint64_t)i % 5) * block,
                     i % 2 == 0 ? 7 : 0, 1 + i % 3, i % 2 == 0);
}

static void test_policies(void **state)
{
    const uint64_t block = CELLS * sizeof(uint64_t);

    (void)state;
    if (gpu == NULL)
        skip();
    waits = 0;
    for (int i = 0; xy_task_policies[i] != NULL; i++) {
        const char *name = xy_task_policies[i]->name;

        if (!testing_is_chosen((unsigned)i, 5))
            continue;
        run_one(name, NULL, READS * block, 0, false);
        run_one(name, NULL, 7 * block, i % 2 == 0 ? 9 : 0, i % 3 == 0);
    }
    run_one("eager", NULL, 0, 0, true);
    run_one("eager", NULL, 0, 10, true);
    for (int i = 0; xy_task_evictions[i].name != NULL; i++)
        if (testing_is_chosen((unsigned)i, XYLEM_SANITIZED ? 2 : 1))
            run_one("eager", xy_task_evictions[i].name, 6 * block, 13, true);
    assert_true(waits > 0); /* a first kernel waits for its data */
}

static void test_refusals(void **state)
{
    program_t p;
    xy_task_device_t how = {
        .policy = "eager", .gpus = &gpu, .gpu_count = 1, .memory = 100, .launch = put, .arg = &p};
    xy_task_result_t r;

    (void)state;
    if (gpu == NULL)
        skip();
    make(&p);
    how.addresses = p.addresses;
    testing_listen();
    assert_int_equal(xy_task_execute_on(p.graph, &how, &r), XY_EINVAL);
    assert_int_equal(testing_said_count, 1);
    how.memory = UINT64_C(1) << 60;
    testing_listen();
    assert_int_equal(xy_task_execute_on(p.graph, &how, &r), XY_EINVAL);
    assert_non_null(strstr(testing_said, "free, and 1 EiB of it are to be used"));
    how.policy = "nothing";
    testing_listen();
    assert_int_equal(xy_task_execute_on(p.graph, &how, &r), XY_EINVAL);
    assert_int_equal(testing_said_count, 1);
    cleanup(&p);
}

/* Buffers of several sizes in a memory that has room for some of them. */
static xy_status_t put_first(void *arg, const xy_task_kernel_t *k)
{
    xy_gpu_memory_t none = 0;
    uint64_t number = (uint64_t)k->op;
    int is_kept = 1;
    const xy_gpu_arg_t args[] = {XY_GPU_ARG(k->buffers[0]), XY_GPU_ARG(none), XY_GPU_ARG(none),
                                 XY_GPU_ARG(number), XY_GPU_ARG(is_kept)};

    (void)arg;
    return xy_gpu_launch(k->stream, mix[k->gpu], (size_t[3]){64, 1, 1}, (size_t[3]){64, 1, 1}, args,
                         5);
}

static void test_sizes(void **state)
{
    enum { SIZES = 7, LOADS = 100 };
    static uint64_t data[SIZES][64 * SIZES];
    xy_task_device_t how = {.policy = "eager",
                            .gpus = &gpu,
                            .gpu_count = 1,
                            .memory = 64 * 8 * 9,
                            .piece_bytes = any_piece(),
                            .launch = put_first};
    uint64_t expected[SIZES] = {0};
    xy_task_result_t r;
    xy_graph_t *g;

    (void)state;
    if (gpu == NULL)
        skip();
    assert_int_equal(xy_graph_create(&g), XY_OK);
    for (int d = 0; d < SIZES; d++) {
        memset(data[d], 0, sizeof(data[d]));
        xy_graph_add_data(g, &(xy_data_t){.bytes = 64 * 8 * (uint64_t)(d + 1), .address = data[d]});
    }
    for (int i = 0; i < LOADS; i++) {
        int d = testing_below(SIZES);

        xy_graph_add_task(g, &(xy_op_t){.kind = XY_OP_COMPUTE},
                          &(xy_access_t){d, XY_ACCESS_READ_WRITE}, 1);
        expected[d] = 3 * expected[d] + (uint64_t)i;
    }
    assert_int_equal(xy_graph_finalize(g), XY_OK);
    assert_int_equal(xy_task_execute_on(g, &how, &r), XY_OK);
    for (int d = 0; d < SIZES; d++)
        for (int i = 0; i < 64; i++)
            assert_int_equal(data[d][i], expected[d]);
    xy_graph_destroy(g);
}

/* The first task, which has no kernel, stops the run; all others come after it. */
typedef struct {
    atomic_bool stop;
    bool is_home; /* none has a kernel */
    _Atomic int32_t begun;
} stopped_t;

static bool stopped_has_kernel(void *arg, xy_op_id_t op)
{
    const stopped_t *s = arg;

    return op > 0 && !s->is_home;
}

static void stopped_run(void *arg, const xy_task_turn_t *turn)
{
    stopped_t *s = arg;

    (void)turn;
    atomic_fetch_add(&s->begun, 1);
    atomic_store(&s->stop, true);
}

static xy_status_t stopped_put(void *arg, const xy_task_kernel_t *k)
{
    stopped_t *s = arg;

    (void)k;
    atomic_fetch_add(&s->begun, 1);
    return XY_OK;
}

/* No task begins once the run is stopped, neither on a GPU nor at home. */
static void test_stop(void **state)
{
    enum { AFTER = 40 };
    static uint64_t data[AFTER + 1];
    xy_graph_t *g;

    (void)state;
    if (gpu == NULL)
        skip();
    assert_int_equal(xy_graph_create(&g), XY_OK);
    for (int d = 0; d <= AFTER; d++) {
        xy_access_t a[2] = {{d, XY_ACCESS_READ_WRITE}, {0, XY_ACCESS_READ}};

        xy_graph_add_data(g, &(xy_data_t){.bytes = sizeof(data[d]), .address = &data[d]});
        xy_graph_add_task(g, &(xy_op_t){.kind = XY_OP_COMPUTE}, a, d == 0 ? 1 : 2);
    }
    assert_int_equal(xy_graph_finalize(g), XY_OK);
    for (int i = 0; i < 6; i++) {
        stopped_t s = {.is_home = i % 2 == 0};
        xy_task_device_t how = {.policy = "eager",
                                .gpus = &gpu,
                                .gpu_count = 1,
                                .launch = stopped_put,
                                .is_for_gpu = stopped_has_kernel,
                                .run = stopped_run,
                                .arg = &s,
                                .cores = i / 2,
                                .core_speed = 1,
                                .stop = &s.stop};
        xy_task_result_t r;

        assert_int_equal(xy_task_execute_on(g, &how, &r), XY_OK);
        assert_int_equal(s.begun, 1);
    }
    xy_graph_destroy(g);
}

static void test_without_memory(void **state)
{
    program_t p;
    xy_task_device_t how = {
        .policy = "eager", .gpus = &gpu, .gpu_count = 1, .launch = put, .run = run_here, .arg = &p};
    xy_task_result_t r;

    (void)state;
    if (gpu == NULL)
        skip();
    make(&p);
    how.addresses = p.addresses;
    /* Events are made one by one: look at the first allocations only, and at one of many. */
    for (how.cores = 0; how.cores < 2; how.cores++)
        for (long k = 0; testing_fail_next(&k);) {
            assert_null(testing_fail_fault(&k, xy_task_execute_on(p.graph, &how, &r)));
            k += k > 40 ? 97 : 0;
        }
    xy_error_handler_set(NULL, NULL);
    cleanup(&p);
}

/* Ranges that are pinned have no page in common; each begins and ends with a datum, and each datum
 * lies in one. */
static void test_pinned_ranges(void **state)
{
    enum { COUNT = 30, PAGE = 64 };
    range_t before[COUNT], after[COUNT];

    (void)state;
    for (int round = 0; round < 500; round++) {
        size_t count = testing_below(COUNT + 1), n;

        for (size_t i = 0; i < count; i++) {
            before[i].from = 1 + testing_below(round % 2 == 0 ? 2000 : 20000);
            before[i].to = before[i].from + 1 + testing_below(3 * PAGE);
        }
        memcpy(after, before, sizeof(after));
        n = device_ranges_merge(after, count, PAGE);
        assert_true(n <= count && (n > 0) == (count > 0));
        for (size_t i = 1; i < n; i++)
            assert_true((after[i - 1].to - 1) / PAGE < after[i].from / PAGE);
        for (size_t i = 0; i < count; i++) {
            size_t k = 0;

            while (k < n && (after[k].from > before[i].from || after[k].to < before[i].to))
                k++;
            assert_true(k < n);
        }
        for (size_t k = 0; k < n; k++) {
            bool begins = false, ends = false;

            for (size_t i = 0; i < count; i++) {
                begins = begins || after[k].from == before[i].from;
                ends = ends || after[k].to == before[i].to;
            }
            assert_true(begins && ends);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policies),      cmocka_unit_test(test_cores),
        cmocka_unit_test(test_two),           cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_refusals),      cmocka_unit_test(test_stop),
        cmocka_unit_test(test_pinned_ranges), cmocka_unit_test(test_without_memory),
    };

    const struct CMUnitTest late[] = {cmocka_unit_test(test_policies), cmocka_unit_test(test_cores),
                                      cmocka_unit_test(test_two), cmocka_unit_test(test_sizes)};
    int failed;

    setenv("XYLEM_GPU_DRIVER", "opencl", 0);
    setenv("POCL_DEVICES", "pthread pthread", 0); /* two of them */
    failed = cmocka_run_group_tests(tests, open_all, close_all);
    testing_use_late();
    return failed + cmocka_run_group_tests(late, open_all, close_all);
}
