/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels in a process of their own: from the table, from a shared object, good and bad ones; and
 * what several visits to one size make of it. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "measure/kernel.h"
#include "measure/point.h"
#include "testing/cost.h"

static char directory[] = "/tmp/xylem-worker-XXXXXX";
static char plugin[64];

static const char source[] = "#include <stdlib.h>\n"
                             "#include <unistd.h>\n"
                             "static size_t prepared;\n"
                             "int kernel_prepare(size_t n) { prepared = n; return 0; }\n"
                             "int kernel(size_t n)\n"
                             "{\n"
                             "    for (volatile size_t i = 0; i < 100 * n; i++)\n"
                             "        continue;\n"
                             "    return n == prepared ? 0 : 9;\n"
                             "}\n"
                             "int crash(size_t n) { if (n > 1) abort(); return 0; }\n"
                             "int leave(size_t n) { _exit((int)n); }\n"
                             "int refuse(size_t n) { return (int)n; }\n"
                             "int hang(size_t n) { for (;;) sleep(n > 0); }\n";

static int make_plugin(void **state)
{
    char path[64], command[256];
    FILE *file;

    (void)state;
    if (mkdtemp(directory) == NULL)
        return -1;
    snprintf(path, sizeof(path), "%s/k.c", directory);
    snprintf(plugin, sizeof(plugin), "%s/k.so", directory);
    file = fopen(path, "we");
    if (file == NULL || fputs(source, file) == EOF || fclose(file) != 0)
        return -1;
    snprintf(command, sizeof(command), "cc -shared -fPIC -o %s %s 2>/dev/null", plugin, path);
    if (system(command) != 0) /* NOLINT(cert-env33-c): a compiler, where there is one */
        plugin[0] = '\0';
    unlink(path);
    return 0;
}

static int remove_plugin(void **state)
{
    (void)state;
    if (plugin[0] != '\0')
        unlink(plugin);
    return rmdir(directory);
}

static xy_status_t try_kernel(const char *symbol, double n, const char *said)
{
    measure_child_options_t o = {.name = symbol, .symbol = symbol, .library = plugin, .threads = 1};
    measure_pool_t pool;
    measure_child_t w;
    xy_status_t st;

    if (plugin[0] == '\0')
        skip();
    testing_listen();
    st = measure_child_start(&o, &w);
    if (st == XY_OK) {
        w.options.patience = strcmp(symbol, "hang") == 0 ? 0.2 : 60;
        st = measure_child_measure(&w, n, 0.02, &pool);
        if (st == XY_OK)
            assert_true(measure_pool_sum(&pool).seconds > 0 && pool.repetitions >= 1);
        measure_child_stop(&w);
        measure_child_stop(&w); /* once more does no harm */
    }
    assert_int_equal(testing_said_count, st == XY_OK ? 0 : 1);
    if (said != NULL)
        assert_non_null(strstr(testing_said, said));
    xy_error_handler_set(NULL, NULL);
    return st;
}

static void test_plugins(void **state)
{
    (void)state;
    assert_int_equal(try_kernel("kernel", 100, NULL), XY_OK);
    assert_int_equal(try_kernel("crash", 100, "crashed at size 100 (signal 6"), XY_EINVAL);
    assert_int_equal(try_kernel("leave", 3, "exit code 3"), XY_EINVAL);
    assert_int_equal(try_kernel("refuse", 8, "returned 8 at size 8"), XY_EINVAL);
    assert_int_equal(try_kernel("hang", 1, "did not end within"), XY_EINVAL);
    assert_int_equal(try_kernel("absent", 1, "no function 'absent'"), XY_ENOENT);
}

static void test_refusals(void **state)
{
    measure_child_options_t o = {.name = "no such kernel", .threads = 1};
    measure_child_t w;

    (void)state;
    testing_listen();
    assert_int_equal(measure_child_start(&o, &w), XY_ENOENT);
    o.name = "dgemm";
    o.library = "/nonexistent/libblas.so";
    assert_int_equal(measure_child_start(&o, &w), XY_ENOENT);
    o.symbol = "kernel";
    assert_int_equal(measure_child_start(&o, &w), XY_ENOENT);
    assert_int_equal(testing_said_count, 3);
    xy_error_handler_set(NULL, NULL);
}

/* A worker that was killed between two measurements. */
static void test_killed(void **state)
{
    measure_child_options_t o = {
        .name = "kernel", .symbol = "kernel", .library = plugin, .threads = 1};
    measure_point_t p = {0};
    measure_child_t w;

    (void)state;
    if (plugin[0] == '\0')
        skip();
    testing_listen();
    assert_int_equal(measure_child_start(&o, &w), XY_OK);
    assert_int_equal(measure_point_visit(&w, 50, 0.02, &p), XY_OK);
    assert_true(p.visits == 1 && p.x == 50 && p.paced == p.seconds && p.paced > 0);
    assert_int_equal(measure_point_visit(&w, 50, 0.02, &p), XY_OK);
    assert_int_equal(p.visits, 2);
    kill(w.pid, SIGKILL);
    assert_int_equal(measure_point_visit(&w, 50, 0.02, &p), XY_EINVAL);
    assert_int_equal(p.visits, 2);
    assert_int_equal(measure_point_visit(&w, 50, 0.02, &p), XY_EINVAL);
    measure_child_stop(&w);
    xy_error_handler_set(NULL, NULL);
}

static void test_doubt(void **state)
{
    measure_point_t p = {.visits = 3, .repetitions = 8, .spread = 0.001, .error = 0.001};

    (void)state;
    assert_false(measure_point_is_doubtful(&p, true));
    p.disturbed = 0.2;
    assert_true(measure_point_is_doubtful(&p, true));
    assert_false(measure_point_is_doubtful(&p, false));
    p.spread = 0.5;
    assert_true(measure_point_is_doubtful(&p, false));
    p.visits = COST_VISITS_MAX;
    assert_false(measure_point_is_doubtful(&p, false));
    p = (measure_point_t){.visits = 1, .repetitions = 100};
    assert_true(measure_point_is_doubtful(&p, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plugins),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_doubt),
    };

    return cmocka_run_group_tests(tests, make_plugin, remove_plugin);
}
