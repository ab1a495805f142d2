/* SPDX-License-Identifier: BSD-3-Clause */
/* From a store to four numbers, to a file, and back. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka wants the ones above first */
#include <cmocka.h>

#include "cost/cost.h"

static void add_kernel(xy_costs_t *costs, const char *name, double per_byte)
{
    xy_kernel_cost_t k = {.name = xy_strdup(name),
                          .cluster = xy_strdup(XY_COSTS_LOCAL),
                          .unit = xy_strdup("B"),
                          .threads = 1};

    k.fit.intervals = xy_calloc(1, sizeof(*k.fit.intervals));
    assert_non_null(k.fit.intervals);
    k.fit.count = 1;
    k.fit.intervals[0] =
        (xy_interval_t){.start = 1, .end = 1e9, .degree = 1, .params = {0, per_byte}};
    assert_int_equal(xy_costs_set_kernel(costs, &k), XY_OK);
}

static bool is_near(double a, double b)
{
    return fabs(a - b) < 1e-6 * b;
}

static void test_round_trip(void **state)
{
    char store[] = "/tmp/xylem-link-XXXXXX", file[64];
    xy_costs_t *costs;
    xy_link_cost_t made, found = {.alpha = -1};
    int fd = mkstemp(store);

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    snprintf(file, sizeof(file), "%s.link", store);
    setenv("XYLEM_COSTS", store, 1);
    assert_int_equal(xy_costs_create("here", "this", &costs), XY_OK);
    assert_false(xy_link_make(costs, &made));
    assert_int_equal(xy_link_write(costs, store), XY_OK);
    assert_false(xy_link_read(&found)); /* nothing was calibrated */
    add_kernel(costs, "copy", 1e-10);
    add_kernel(costs, "reduce", 1.5e-10);
    assert_int_equal(xy_costs_set_constant(costs, "handover", 0, 1, 9e-8, 0.01, 10), XY_OK);
    assert_true(xy_link_make(costs, &made));
    assert_true(is_near(made.alpha, 9e-8) && is_near(made.beta, 1e-10));
    assert_true(is_near(made.gamma, 0.5e-10) && is_near(made.copy, 1e-10));
    assert_int_equal(xy_link_write(costs, store), XY_OK);
    assert_true(xy_link_read(&found));
    assert_true(is_near(found.alpha, made.alpha) && is_near(found.gamma, made.gamma));
    assert_int_equal(truncate(file, 20), 0);
    assert_false(xy_link_read(&found));
    xy_costs_destroy(costs);
    unlink(store);
    unlink(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
