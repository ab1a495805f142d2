/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of tasks on a GPU: kernels, functions for the GPU and functions for the host, mixed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/gpu.h"
#include "tasks/tasks.h"
#include "testing/base.h"

enum { DATA = 8, CELLS = 200, ROUNDS = 5 };

static const char text[] = "XY_KERNEL scale(XY_GLOBAL long *x, long n, int factor)\n"
                           "{\n"
                           "    long i = XY_ID(0);\n"
                           "    if (i < n)\n"
                           "        x[i] = factor * x[i];\n"
                           "}\n"
                           "XY_KERNEL join(XY_GLOBAL long *x, XY_GLOBAL const long *y, long n)\n"
                           "{\n"
                           "    long i = XY_ID(0);\n"
                           "    if (i < n)\n"
                           "        x[i] += y[i];\n"
                           "}\n";

static bool has_device;

static int look(void **state)
{
    xy_vec_t found;

    (void)state;
    setenv("XYLEM_GPU_DRIVER", "opencl", 0);
    assert_int_equal(xy_gpu_list(&found), XY_OK);
    has_device = found.count > 0;
    if (!has_device)
        print_message("skipped: there is no OpenCL device (pocl-opencl-icd)\n");
    xy_vec_cleanup(&found);
    return 0;
}

static void add_here(void *const *buffers, const void *arg)
{
    int64_t *x = buffers[0];

    for (int i = 0; i < CELLS; i++)
        x[i] += *(const int *)arg;
}

static int calls, answer;

/* It puts nothing into the stream. */
static int look_there(const xylem_gpu *gpu, const unsigned long long *buffers, const void *arg)
{
    assert_true(strcmp(gpu->driver, "opencl") == 0 || strcmp(gpu->driver, "cuda") == 0);
    assert_int_equal(gpu->number, 0);
    assert_true(gpu->context != NULL && gpu->stream != NULL && buffers[0] != 0);
    assert_string_equal(arg, "there");
    calls++;
    return answer;
}

static int64_t data[DATA][CELLS], expected[DATA][CELLS];

static void scale_here(void *const *buffers, const void *arg)
{
    int64_t *x = buffers[0];

    for (int i = 0; i < CELLS; i++)
        x[i] *= *(const int *)arg;
}

/* On cores as well. */
static void add_scale(xylem_tasks *t, int d, int factor)
{
    int64_t n = CELLS;
    xylem_kernel k = {.text = text,
                      .name = "scale",
                      .threads = {CELLS},
                      .values = {{&n, sizeof(n)}, {&factor, sizeof(factor)}}};

    xylem_tasks_add(
        t,
        &(xylem_task){.kernel = &k, .run = scale_here, .arg = &factor, .arg_size = sizeof(factor)},
        &(xylem_access){d, XYLEM_READ_WRITE}, 1);
    for (int i = 0; i < CELLS; i++)
        expected[d][i] *= factor;
}

static void add_join(xylem_tasks *t, int d, int from)
{
    int64_t n = CELLS;
    xylem_kernel k = {.text = text,
                      .name = "join",
                      .threads = {CELLS},
                      .group = {32},
                      .values = {{&n, sizeof(n)}}};
    xylem_access a[] = {{d, XYLEM_READ_WRITE}, {from, XYLEM_READ}};

    xylem_tasks_add(t, &(xylem_task){.kernel = &k}, a, 2);
    for (int i = 0; i < CELLS; i++)
        expected[d][i] += expected[from][i];
}

static void add_on_host(xylem_tasks *t, int d, int number)
{
    xylem_tasks_add(t, &(xylem_task){.run = add_here, .arg = &number, .arg_size = sizeof(number)},
                    &(xylem_access){d, XYLEM_READ_WRITE}, 1);
    for (int i = 0; i < CELLS; i++)
        expected[d][i] += number;
}

static xylem_tasks *make(void)
{
    xylem_tasks *t;

    assert_int_equal(xylem_tasks_create(&t), 0);
    for (int d = 0; d < DATA; d++) {
        for (int i = 0; i < CELLS; i++)
            data[d][i] = expected[d][i] = d + i;
        xylem_tasks_data(
            t, &(xylem_data){
                   .address = data[d], .bytes = sizeof(data[d]), .dims = 1, .position = {d}});
    }
    for (int r = 0; r < ROUNDS; r++)
        for (int d = 0; d < DATA; d++) {
            add_scale(t, d, 2 + (r + d) % 2);
            add_join(t, d, (d + 1 + r) % DATA == d ? (d + 1) % DATA : (d + 1 + r) % DATA);
            if ((r + d) % 3 == 0)
                add_on_host(t, d, r - d);
        }
    xylem_tasks_add(t, &(xylem_task){.gpu = look_there, .arg = "there"},
                    &(xylem_access){0, XYLEM_READ}, 1);
    return t;
}

static void test_mixed(void **state)
{
    xylem_run_options how = {
        .clock = XYLEM_REAL, .gpus = 1, .memory = 4 * sizeof(data[0]), .policy = "eager"};
    xylem_run_result r;
    xylem_tasks *t;
    char path[64];

    (void)state;
    if (!has_device)
        skip();
    testing_path(path);
    t = make();
    calls = answer = 0;
    how.trace = path;
    assert_int_equal(xylem_tasks_run(t, &how, &r), 0);
    assert_memory_equal(data, expected, sizeof(data));
    assert_int_equal(calls, 1);
    assert_true(r.loads > DATA && r.stores >= DATA && r.compute_bound > 0);
    xylem_tasks_free(t);
    unlink(path);
}

/* A task that has a kernel and a function runs on either; the others where they can. */
static void test_beside_cores(void **state)
{
    static const char *const policies[] = {"eager", "dmdar", "closure", "lws", "foresight"};

    (void)state;
    if (!has_device)
        skip();
    for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
        xylem_run_options how = {.clock = XYLEM_REAL,
                                 .gpus = 1,
                                 .cpus = 2,
                                 .cpu_speed = i % 2 == 0 ? 1 : 0,
                                 .memory = 4 * sizeof(data[0]),
                                 .policy = policies[i]};
        xylem_tasks *t = make();

        assert_int_equal(xylem_tasks_run(t, &how, NULL), 0);
        assert_memory_equal(data, expected, sizeof(data));
        xylem_tasks_free(t);
    }
}

/* Scrap is not brought home, and results computed from it are right. */
static void test_scrap(void **state)
{
    (void)state;
    if (!has_device)
        skip();
    for (int is_scrap = 0; is_scrap < 2; is_scrap++) {
        xylem_run_options how = {.clock = XYLEM_REAL, .gpus = 1, .policy = "closure"};
        xylem_run_result r;
        xylem_tasks *t;

        assert_int_equal(xylem_tasks_create(&t), 0);
        for (int d = 0; d < DATA; d++) {
            for (int i = 0; i < CELLS; i++)
                data[d][i] = expected[d][i] = d + i;
            xylem_tasks_data(t, &(xylem_data){.address = data[d],
                                              .bytes = sizeof(data[d]),
                                              .is_scrap = is_scrap && d % 2 == 1});
        }
        for (int d = 0; d < DATA; d += 2) {
            add_scale(t, d + 1, 3);
            add_join(t, d, d + 1);
        }
        assert_int_equal(xylem_tasks_run(t, &how, &r), 0);
        assert_int_equal(r.stores, is_scrap ? DATA / 2 : DATA);
        for (int d = 0; d < DATA; d += 1 + is_scrap)
            assert_memory_equal(data[d], expected[d], sizeof(data[d]));
        xylem_tasks_free(t);
    }
}

static void assert_fails(xylem_tasks *t, const xylem_run_options *how, int status, const char *part)
{
    testing_listen();
    assert_int_equal(xylem_tasks_run(t, how, NULL), status);
    assert_int_equal(testing_said_count, 1);
    if (strstr(testing_said, part) == NULL)
        fail_msg("'%s' is not in '%s'", part, testing_said);
    xy_error_handler_set(NULL, NULL);
    xylem_tasks_free(t);
}

static void test_failures(void **state)
{
    xylem_run_options how = {.clock = XYLEM_REAL, .gpus = 1};
    xylem_kernel k = {.text = "XY_KERNEL f(XY_GLOBAL long *x)\n{ x[0] = y; }\n", .name = "f"};
    xylem_run_options many = how;
    xylem_tasks *t;

    (void)state;
    if (!has_device)
        skip();
    answer = 7;
    assert_fails(make(), &how, XY_EIO, "its function returned 7");
    answer = 0;
    many.gpus = 60;
    assert_fails(make(), &many, XY_ENOENT, "on 60 GPUs, and this machine has 1");
    many.gpus = 0; /* on cores: not all tasks can */
    assert_fails(make(), &many, XY_EINVAL, "some tasks have no function to run");
    t = make();
    xylem_tasks_add(t, &(xylem_task){.kernel = &k}, &(xylem_access){0, XYLEM_READ_WRITE}, 1);
    assert_fails(t, &how, XY_EPARSE, "does not compile");
    t = make();
    k = (xylem_kernel){.text = text, .name = "scale", .threads = {CELLS}};
    xylem_tasks_add(t, &(xylem_task){.kernel = &k}, &(xylem_access){0, XYLEM_READ_WRITE}, 1);
    assert_fails(t, &how, XY_EINVAL, "kernel 'scale' takes 3 arguments, and 1 were given");
    testing_listen();
    t = make();
    xylem_tasks_add(t, &(xylem_task){.kernel = &(xylem_kernel){.name = "f"}},
                    &(xylem_access){0, XYLEM_READ_WRITE}, 1);
    assert_string_equal(testing_said, "the kernel of task 94 has no text or no name");
    xylem_tasks_free(t);
    xy_error_handler_set(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mixed), cmocka_unit_test(test_beside_cores),
        cmocka_unit_test(test_scrap), cmocka_unit_test(test_failures)};

    return cmocka_run_group_tests(tests, look, NULL);
}
