/* SPDX-License-Identifier: BSD-3-Clause */
/* All drivers, on whatever devices there are. pocl gives any machine one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/gpu.h"
#include "late.h"
#include "testing/base.h"

static const char text[] =
    "XY_KERNEL fill(XY_GLOBAL double *x, long n, double value)\n"
    "{\n"
    "    long i = XY_ID(0);\n"
    "    if (i < n)\n"
    "        x[i] = value + (double)i;\n"
    "}\n"
    "XY_INLINE double times(double a, double b) { return a * b; }\n"
    "XY_KERNEL advance(XY_GLOBAL double *x, XY_GLOBAL const double *y, long n)\n"
    "{\n"
    "    long i = XY_ID(0);\n"
    "    if (i < n)\n"
    "        x[i] = times(x[i], 1.0000001) + (y != 0 ? y[i] : 0.1);\n"
    "}\n"
    "XY_KERNEL where(XY_GLOBAL long *x, long columns, long rows)\n"
    "{\n"
    "    long i = XY_ID(0), j = XY_ID(1), k = XY_ID(2);\n"
    "    if (i < columns && j < rows && k < 2)\n"
    "        x[(k * rows + j) * columns + i] = i + 1000 * j + 1000000 * k\n"
    "            + 0 * (XY_LOCAL_ID(0) + XY_GROUP_SIZE(1));\n"
    "}\n"
    "XY_KERNEL turn(XY_GLOBAL long *x)\n"
    "{\n"
    "    XY_SHARED long kept[32];\n"
    "    kept[XY_LOCAL_ID(0)] = x[XY_ID(0)];\n"
    "    XY_BARRIER;\n"
    "    x[XY_ID(0)] = kept[31 - XY_LOCAL_ID(0)];\n"
    "}\n";

/* The device that all tests use; NULL: the driver has none. */
static xy_gpu_device_t *gpu;
static xy_gpu_program_t *program;

static int open_first(void **state)
{
    xy_vec_t found;

    (void)state;
    assert_int_equal(xy_gpu_list(&found), XY_OK);
    if (found.count > 0) {
        assert_int_equal(xy_gpu_open(&XY_VEC_AT(&found, xy_gpu_info_t, 0), &gpu), XY_OK);
        assert_int_equal(xy_gpu_program_create(gpu, "test.cl", text, &program), XY_OK);
    }
    xy_vec_cleanup(&found);
    return 0;
}

static int close_first(void **state)
{
    (void)state;
    xy_gpu_program_destroy(program);
    xy_gpu_close(gpu);
    program = NULL;
    gpu = NULL;
    return 0;
}

/* The objects that most tests need. */
typedef struct {
    xy_gpu_stream_t *stream;
    xy_gpu_kernel_t *kernel;
    xy_gpu_memory_t memory;
} set_t;

static set_t set_up(const char *kernel, uint64_t bytes)
{
    set_t s;

    if (gpu == NULL)
        skip();
    assert_int_equal(xy_gpu_stream_create(gpu, &s.stream), XY_OK);
    assert_int_equal(xy_gpu_kernel_create(program, kernel, &s.kernel), XY_OK);
    assert_int_equal(xy_gpu_memory_take(gpu, bytes, &s.memory), XY_OK);
    return s;
}

static void tear_down(set_t *s)
{
    assert_int_equal(xy_gpu_stream_wait(s->stream), XY_OK);
    xy_gpu_memory_give(gpu, s->memory);
    xy_gpu_kernel_destroy(s->kernel);
    xy_gpu_stream_destroy(s->stream);
}

static void launch(xy_gpu_stream_t *stream, xy_gpu_kernel_t *kernel, size_t n,
                   const xy_gpu_arg_t *args, int count)
{
    assert_int_equal(
        xy_gpu_launch(stream, kernel, (size_t[3]){n, 1, 1}, (size_t[3]){64, 1, 1}, args, count),
        XY_OK);
}

static void test_info(void **state)
{
    const xy_gpu_info_t *info;
    uint64_t room = 0;

    (void)state;
    if (gpu == NULL)
        skip();
    info = xy_gpu_info(gpu);
    assert_string_equal(info->driver, getenv("XYLEM_GPU_DRIVER"));
    assert_true(info->name[0] != '\0' && info->version[0] != '\0');
    assert_true(info->memory > 1 << 20 && info->numa >= -1);
    assert_int_equal(xy_gpu_room(gpu, &room), XY_OK);
    assert_true(room > 0 && room <= info->memory);
    assert_non_null(xy_gpu_native_context(gpu));
}

static void test_copies(void **state)
{
    enum { N = 1000, ROUNDS = 30 };
    unsigned char *pinned, here[N], model[N] = {0};
    set_t s = set_up("fill", N);

    (void)state;
    assert_int_equal(xy_gpu_pinned_take(gpu, N, (void **)&pinned), XY_OK);
    memset(here, 0, N);
    assert_int_equal(xy_gpu_copy_in(s.stream, s.memory, 0, here, N), XY_OK);
    for (int i = 0; i < ROUNDS; i++) {
        int from = testing_below(N / 2), to = N / 2 + testing_below(N / 4);
        int n = 1 + testing_below(N / 4), copied = n < to - from ? n : to - from;

        for (int k = 0; k < n; k++)
            model[from + k] = pinned[k] = (unsigned char)testing_below(256);
        memcpy(&model[to], &model[from], (size_t)copied);
        assert_int_equal(xy_gpu_copy_in(s.stream, s.memory, (uint64_t)from, pinned, (uint64_t)n),
                         XY_OK);
        assert_int_equal(xy_gpu_copy_on(s.stream, s.memory, (uint64_t)to, s.memory, (uint64_t)from,
                                        (uint64_t)copied),
                         XY_OK);
        assert_int_equal(xy_gpu_copy_out(s.stream, here, s.memory, 0, N), XY_OK);
        assert_int_equal(xy_gpu_stream_wait(s.stream), XY_OK);
        assert_memory_equal(here, model, N);
    }
    xy_gpu_pinned_give(gpu, pinned);
    tear_down(&s);
}

/* The same bits as here, from sums and products that are not contracted. */
static void test_bits(void **state)
{
    enum { N = 1000, STEPS = 20 };
    double here[N], model[N], value = 0.1;
    xy_gpu_memory_t none = 0;
    xy_gpu_kernel_t *step;
    int64_t n = N;
    set_t s = set_up("fill", sizeof(here));
    xy_gpu_arg_t fill[] = {XY_GPU_ARG(s.memory), XY_GPU_ARG(n), XY_GPU_ARG(value)};
    xy_gpu_arg_t args[] = {XY_GPU_ARG(s.memory), XY_GPU_ARG(none), XY_GPU_ARG(n)};

    (void)state;
    assert_int_equal(xy_gpu_kernel_create(program, "advance", &step), XY_OK);
    launch(s.stream, s.kernel, N, fill, 3);
    for (int i = 0; i < STEPS; i++)
        launch(s.stream, step, N, args, 3);
    assert_int_equal(xy_gpu_copy_out(s.stream, here, s.memory, 0, sizeof(here)), XY_OK);
    assert_int_equal(xy_gpu_stream_wait(s.stream), XY_OK);
    for (int i = 0; i < N; i++) {
        volatile double product;

        model[i] = value + i;
        for (int k = 0; k < STEPS; k++) {
            product = model[i] * 1.0000001;
            model[i] = product + 0.1;
        }
    }
    assert_memory_equal(here, model, sizeof(here));
    xy_gpu_kernel_destroy(step);
    tear_down(&s);
}

static void test_dimensions(void **state)
{
    enum { COLUMNS = 37, ROWS = 11, ALL = 2 * ROWS * COLUMNS };
    int64_t here[ALL], columns = COLUMNS, rows = ROWS;
    set_t s = set_up("where", sizeof(here));
    xy_gpu_arg_t args[] = {XY_GPU_ARG(s.memory), XY_GPU_ARG(columns), XY_GPU_ARG(rows)};

    (void)state;
    assert_int_equal(xy_gpu_launch(s.stream, s.kernel, (size_t[3]){COLUMNS, ROWS, 2},
                                   (size_t[3]){16, 4, 1}, args, 3),
                     XY_OK);
    assert_int_equal(xy_gpu_copy_out(s.stream, here, s.memory, 0, sizeof(here)), XY_OK);
    assert_int_equal(xy_gpu_stream_wait(s.stream), XY_OK);
    for (int i = 0; i < ALL; i++)
        assert_int_equal(here[i], i % COLUMNS + 1000 * (i / COLUMNS % ROWS) +
                                      1000000 * (i / COLUMNS / ROWS));
    tear_down(&s);
}

static void test_groups(void **state)
{
    enum { N = 96 };
    int64_t here[N];
    set_t s = set_up("turn", sizeof(here));
    xy_gpu_arg_t args[] = {XY_GPU_ARG(s.memory)};

    (void)state;
    for (int i = 0; i < N; i++)
        here[i] = i;
    assert_int_equal(xy_gpu_copy_in(s.stream, s.memory, 0, here, sizeof(here)), XY_OK);
    assert_int_equal(
        xy_gpu_launch(s.stream, s.kernel, (size_t[3]){N, 1, 1}, (size_t[3]){32, 1, 1}, args, 1),
        XY_OK);
    assert_int_equal(xy_gpu_copy_out(s.stream, here, s.memory, 0, sizeof(here)), XY_OK);
    assert_int_equal(xy_gpu_stream_wait(s.stream), XY_OK);
    for (int i = 0; i < N; i++)
        assert_int_equal(here[i], i / 32 * 32 + 31 - i % 32);
    tear_down(&s);
}

/* Two streams take turns on the same memory, each after the event of the other. */
static void test_streams_in_turn(void **state)
{
    enum { N = 20000, TURNS = 40 };
    xy_gpu_event_t *events[2];
    xy_gpu_stream_t *streams[2];
    xy_gpu_kernel_t *step;
    xy_gpu_memory_t none = 0;
    double value = 1, *here, model = 1, seconds = -1;
    int64_t n = N;
    bool is_reached = false;
    set_t s = set_up("fill", N * sizeof(double));
    xy_gpu_arg_t fill[] = {XY_GPU_ARG(s.memory), XY_GPU_ARG(n), XY_GPU_ARG(value)};
    xy_gpu_arg_t args[] = {XY_GPU_ARG(s.memory), XY_GPU_ARG(none), XY_GPU_ARG(n)};

    (void)state;
    assert_int_equal(xy_gpu_kernel_create(program, "advance", &step), XY_OK);
    assert_int_equal(xy_gpu_pinned_take(gpu, N * sizeof(double), (void **)&here), XY_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(xy_gpu_event_create(gpu, true, &events[i]), XY_OK);
        assert_int_equal(xy_gpu_event_is_reached(events[i], &is_reached), XY_OK);
        assert_true(is_reached);
    }
    streams[0] = s.stream;
    assert_int_equal(xy_gpu_stream_create(gpu, &streams[1]), XY_OK);
    assert_non_null(xy_gpu_native_stream(streams[1]));
    launch(streams[0], s.kernel, N, fill, 3);
    assert_int_equal(xy_gpu_event_record(events[0], streams[0]), XY_OK);
    for (int i = 1; i <= TURNS; i++) {
        assert_int_equal(xy_gpu_stream_after(streams[i % 2], events[(i + 1) % 2]), XY_OK);
        launch(streams[i % 2], step, N, args, 3);
        assert_int_equal(xy_gpu_event_record(events[i % 2], streams[i % 2]), XY_OK);
        model = model * 1.0000001 + 0.1;
    }
    assert_int_equal(xy_gpu_copy_out(streams[TURNS % 2], here, s.memory, 0, sizeof(*here)), XY_OK);
    assert_int_equal(xy_gpu_event_wait(events[TURNS % 2]), XY_OK);
    assert_int_equal(xy_gpu_event_is_reached(events[TURNS % 2], &is_reached), XY_OK);
    assert_true(is_reached);
    assert_int_equal(xy_gpu_event_between(events[1], events[0], &seconds), XY_OK);
    assert_true(seconds >= 0 && seconds < 60);
    assert_int_equal(xy_gpu_stream_wait(streams[0]), XY_OK);
    assert_int_equal(xy_gpu_stream_wait(streams[1]), XY_OK);
    assert_memory_equal(here, &model, sizeof(model));
    xy_gpu_pinned_give(gpu, here);
    for (int i = 0; i < 2; i++)
        xy_gpu_event_destroy(events[i]);
    xy_gpu_stream_destroy(streams[1]);
    xy_gpu_kernel_destroy(step);
    tear_down(&s);
}

static void test_pinned_pool(void **state)
{
    void *a, *b, *c;

    (void)state;
    if (gpu == NULL)
        skip();
    assert_int_equal(xy_gpu_pinned_take(gpu, 3 << 20, &a), XY_OK);
    assert_int_equal(xy_gpu_pinned_take(gpu, 3 << 20, &b), XY_OK);
    assert_ptr_not_equal(a, b);
    memset(a, 1, 3 << 20);
    memset(b, 2, 3 << 20);
    assert_int_equal(*(char *)a, 1);
    xy_gpu_pinned_give(gpu, a);
    assert_int_equal(xy_gpu_pinned_take(gpu, 2 << 20, &c), XY_OK); /* a little less: the same */
    assert_ptr_equal(c, a);
    xy_gpu_pinned_give(gpu, c);
    assert_int_equal(xy_gpu_pinned_take(gpu, 1 << 20, &c), XY_OK); /* far less: another */
    assert_ptr_not_equal(c, a);
    xy_gpu_pinned_give(gpu, b);
    xy_gpu_pinned_give(gpu, c);
    xy_gpu_pinned_give(gpu, NULL);
}

/* Pieces of a row do not overlap, and what is written to one stays in it. */
static void test_rows(void **state)
{
    enum { COUNT = 5, PIECE = 1000 };
    xy_gpu_memory_t row[COUNT];
    xy_gpu_stream_t *stream;
    char *here, back[PIECE];

    (void)state;
    if (gpu == NULL)
        skip();
    assert_int_equal(xy_gpu_stream_create(gpu, &stream), XY_OK);
    assert_int_equal(xy_gpu_pinned_take(gpu, COUNT * PIECE, (void **)&here), XY_OK);
    assert_int_equal(xy_gpu_memory_take_row(gpu, PIECE, COUNT, row), XY_OK);
    for (int i = COUNT - 1; i >= 0; i--) {
        memset(here + (ptrdiff_t)i * PIECE, 'a' + i, PIECE);
        assert_int_equal(xy_gpu_copy_in(stream, row[i], 0, here + (ptrdiff_t)i * PIECE, PIECE),
                         XY_OK);
    }
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(xy_gpu_copy_out(stream, back, row[i], 0, PIECE), XY_OK);
        assert_int_equal(xy_gpu_stream_wait(stream), XY_OK);
        assert_memory_equal(back, here + (ptrdiff_t)i * PIECE, PIECE);
    }
    xy_gpu_memory_give_row(gpu, row, COUNT);
    xy_gpu_memory_give_row(gpu, row, 0);
    xy_gpu_pinned_give(gpu, here);
    xy_gpu_stream_destroy(stream);
}

static void test_compiler_errors(void **state)
{
    xy_gpu_program_t *p;
    xy_gpu_kernel_t *k;

    (void)state;
    if (gpu == NULL)
        skip();
    testing_listen();
    assert_int_equal(xy_gpu_program_create(gpu, "wrong.cl",
                                           "XY_KERNEL f(XY_GLOBAL int *x)\n"
                                           "{\n"
                                           "    x[0] = nowhere;\n"
                                           "}\n",
                                           &p),
                     XY_EPARSE);
    assert_int_equal(testing_said_count, 1);
    assert_non_null(strstr(testing_said, "wrong.cl"));
    assert_non_null(strstr(testing_said, "nowhere"));
    assert_true(strstr(testing_said, ":3") != NULL || strstr(testing_said, "(3)") != NULL);
    testing_listen();
    assert_int_equal(xy_gpu_kernel_create(program, "missing", &k), XY_ENOENT);
    assert_int_equal(testing_said_count, 1);
    assert_non_null(strstr(testing_said, "'missing'"));
    xy_error_handler_set(NULL, NULL);
}

static void test_limits(void **state)
{
    xy_gpu_memory_t memory;
    xy_gpu_arg_t args[XY_GPU_ARGS_MAX + 1] = {0};
    set_t s = set_up("fill", 8);

    (void)state;
    testing_listen();
    assert_int_equal(xy_gpu_memory_take(gpu, UINT64_C(1) << 50, &memory), XY_ENOMEM);
    assert_int_equal(testing_said_count, 1);
    assert_non_null(strstr(testing_said, "no room for 1 PiB"));
    assert_int_equal(xy_gpu_launch(s.stream, s.kernel, (size_t[3]){1, 1, 1}, (size_t[3]){1, 1, 1},
                                   args, XY_GPU_ARGS_MAX + 1),
                     XY_ELIMIT);
    assert_int_equal(testing_said_count, 2);
    testing_listen();
    assert_int_equal(
        xy_gpu_launch(s.stream, s.kernel, (size_t[3]){1, 1, 1}, (size_t[3]){1, 1, 1}, args, 0),
        XY_EINVAL);
    assert_int_equal(testing_said_count, 1);
    assert_non_null(strstr(testing_said, "kernel 'fill' takes"));
    assert_non_null(strstr(testing_said, "and 0 were given"));
    xy_error_handler_set(NULL, NULL);
    tear_down(&s);
}

static void test_without_memory(void **state)
{
    xy_gpu_stream_t *stream;
    xy_gpu_event_t *event;
    xy_gpu_kernel_t *kernel;
    xy_gpu_device_t *again;
    void *pinned;

    (void)state;
    if (gpu == NULL)
        skip();
    for (long k = 0; testing_fail_next(&k);)
        assert_null(testing_fail_fault(&k, xy_gpu_stream_create(gpu, &stream)));
    xy_gpu_stream_destroy(stream);
    for (long k = 0; testing_fail_next(&k);)
        assert_null(testing_fail_fault(&k, xy_gpu_event_create(gpu, false, &event)));
    xy_gpu_event_destroy(event);
    for (long k = 0; testing_fail_next(&k);)
        assert_null(testing_fail_fault(&k, xy_gpu_kernel_create(program, "fill", &kernel)));
    xy_gpu_kernel_destroy(kernel);
    for (long k = 0; testing_fail_next(&k);)
        assert_null(testing_fail_fault(&k, xy_gpu_open(xy_gpu_info(gpu), &again)));
    for (long k = 0; testing_fail_next(&k);)
        assert_null(testing_fail_fault(&k, xy_gpu_pinned_take(again, 100, &pinned)));
    xy_gpu_close(again);
    xy_error_handler_set(NULL, NULL);
}

/* Where memory has addresses a row is one piece; who opens a device again finds its pinned memory,
 * until the last closes it. */
static void test_shared_memory(void **state)
{
    double clock = 0;
    xy_gpu_model_t model = {.clock = &clock, .memory = 1 << 20};
    xy_gpu_device_t *first, *second;
    xy_gpu_memory_t row[3];
    void *a, *b, *c;

    (void)state;
    assert_int_equal(xy_gpu_model_open(&model, &first), XY_OK);
    assert_int_equal(xy_gpu_model_open(&model, &second), XY_OK);
    assert_int_equal(xy_gpu_memory_take_row(first, 1000, 3, row), XY_OK);
    assert_int_equal(row[1] - row[0], 1024);
    assert_int_equal(row[2] - row[1], 1024);
    xy_gpu_memory_give_row(first, row, 3);
    assert_int_equal(xy_gpu_pinned_take(second, 1 << 20, &a), XY_OK);
    assert_int_equal(xy_gpu_pinned_take(first, 1 << 20, &b), XY_OK);
    assert_ptr_not_equal(a, b);
    memset(a, 1, 1 << 20);
    xy_gpu_close(second); /* it gives back all that it has */
    assert_int_equal(xy_gpu_pinned_take(first, 1 << 20, &c), XY_OK);
    assert_ptr_equal(c, a);
    assert_int_equal(((char *)c)[(1 << 20) - 1], 1);
    xy_gpu_pinned_give(first, c);
    assert_int_equal(xy_gpu_model_open(&model, &second), XY_OK);
    assert_int_equal(xy_gpu_pinned_take(second, 1 << 20, &c), XY_OK);
    assert_ptr_equal(c, a);
    xy_gpu_close(first);
    memset(c, 2, 1 << 20);
    xy_gpu_close(second);
}

static void test_names_of_drivers(void **state)
{
    const char *name, *why;
    xy_vec_t found;

    (void)state;
    testing_listen();
    setenv("XYLEM_GPU_DRIVER", "glide", 1);
    assert_int_equal(xy_gpu_list(&found), XY_EINVAL);
    assert_string_equal(testing_said, "XYLEM_GPU_DRIVER=glide is not a driver; use cuda, "
                                      "opencl or none");
    setenv("XYLEM_GPU_DRIVER", "none", 1);
    assert_int_equal(xy_gpu_list(&found), XY_OK);
    assert_int_equal(found.count, 0);
    xy_vec_cleanup(&found);
    assert_true(xy_gpu_driver_state(0, &name, &why) && strcmp(name, "cuda") == 0);
    assert_string_equal(why, "another driver was requested");
    assert_true(xy_gpu_driver_state(1, &name, &why) && strcmp(name, "opencl") == 0);
    assert_false(xy_gpu_driver_state(2, &name, &why));
    setenv("XYLEM_GPU_DRIVER", "late", 1); /* a driver of the tests, not added yet */
    assert_int_equal(xy_gpu_list(&found), XY_EINVAL);
    testing_use_late();
    assert_int_equal(xy_gpu_list(&found), XY_OK);
    for (size_t i = 0; i < found.count; i++)
        assert_string_equal(XY_VEC_AT(&found, xy_gpu_info_t, i).driver, "late");
    xy_vec_cleanup(&found);
    assert_false(xy_gpu_driver_state(2, &name, &why));
    /* A device made of cores is no GPU unless it is asked for. */
    unsetenv("XYLEM_GPU_DRIVER");
    assert_int_equal(xy_gpu_list(&found), XY_OK);
    for (size_t i = 0; i < found.count; i++)
        assert_true(!XY_VEC_AT(&found, xy_gpu_info_t, i).is_cpu &&
                    strcmp(XY_VEC_AT(&found, xy_gpu_info_t, i).driver, "late") != 0);
    xy_vec_cleanup(&found);
    xy_error_handler_set(NULL, NULL);
}

static int run_on(const char *driver)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_dimensions),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_streams_in_turn),
        cmocka_unit_test(test_pinned_pool),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_compiler_errors),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_without_memory),
    };
    const char *name, *why;
    xy_vec_t found;

    setenv("XYLEM_GPU_DRIVER", driver, 1); /* the one of the tests was added above */
    if (xy_gpu_list(&found) != XY_OK)
        return 1;
    for (size_t i = 0; xy_gpu_driver_state(i, &name, &why); i++)
        if (strcmp(name, driver) == 0 && why[0] != '\0')
            print_message("%s is skipped: %s\n", driver, why);
    xy_vec_cleanup(&found);
    return cmocka_run_group_tests_name(driver, tests, open_first, close_first);
}

/* The time at which a kernel of 1 s in a second stream ends that waits for one of 1 s in the first,
 * if the host puts it there after `pause` seconds. */
static double waiting_end(double pause, double resume)
{
    double clock = 0;
    xy_gpu_model_t costs = {.clock = &clock, .memory = 1, .resume = resume};
    xy_gpu_device_t *device;
    xy_gpu_stream_t *streams[2];
    xy_gpu_event_t *event;

    assert_int_equal(xy_gpu_model_open(&costs, &device), XY_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(xy_gpu_stream_create(device, &streams[i]), XY_OK);
    assert_int_equal(xy_gpu_event_create(device, false, &event), XY_OK);
    assert_int_equal(xy_gpu_model_launch(streams[0], 1, 3), XY_OK);
    assert_int_equal(xy_gpu_event_record(event, streams[0]), XY_OK);
    clock += pause;
    assert_int_equal(xy_gpu_stream_after(streams[1], event), XY_OK);
    assert_int_equal(xy_gpu_model_launch(streams[1], 1, 4), XY_OK);
    assert_true(xy_gpu_model_tasks(device) == (pause < 1 ? 0 : 3));
    assert_int_equal(xy_gpu_stream_wait(streams[1]), XY_OK);
    assert_true(xy_gpu_model_tasks(device) == 7);
    xy_gpu_event_destroy(event);
    for (int i = 0; i < 2; i++)
        xy_gpu_stream_destroy(streams[i]);
    xy_gpu_close(device);
    return clock;
}

/* A stream resumes a little later after a wait, and at once if it had nothing to wait for. */
static void test_resuming(void **state)
{
    (void)state;
    assert_true(waiting_end(0, 0) == 2);
    assert_true(waiting_end(0, 0.25) == 2.25);
    assert_true(waiting_end(0.5, 0.25) == 2.25);
    assert_true(waiting_end(3, 0.25) == 4);
}

int main(void)
{
    const struct CMUnitTest others[] = {cmocka_unit_test(test_names_of_drivers),
                                        cmocka_unit_test(test_shared_memory),
                                        cmocka_unit_test(test_resuming)};

    return cmocka_run_group_tests(others, NULL, NULL) + run_on("opencl") + run_on("late") +
           run_on("cuda");
}
