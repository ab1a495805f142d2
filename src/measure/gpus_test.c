/* SPDX-License-Identifier: BSD-3-Clause */
/* The measured costs of a GPU: a device that is made of cores is one here. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "measure/gpus.h"
#include "testing/base.h"

static xy_costs_t *new_costs(void)
{
    xy_costs_t *costs;

    assert_int_equal(xy_costs_create("here", "nothing", &costs), XY_OK);
    return costs;
}

/* Measured values are in the store, and make links that are neither infinite nor free. */
static void test_measured(void **state)
{
    static const char *const names[] = {
        "gpu0-in-latency",        "gpu0-in-byte",   "gpu0-out-latency",      "gpu0-out-byte",
        "gpu0-both-byte",         "gpu0-launch",    "gpu0-in-byte-pageable", "gpu0-turn",
        "gpu0-out-byte-pageable", "gpu0-copy-byte", "gpu0-stencil-byte"};
    xy_calibration_t c = {.report = NULL};
    xy_costs_t *costs = new_costs();
    xy_link_t in = {0}, out = {0}, shared = {0};
    int count = 0;

    (void)state;
    setenv("XYLEM_GPU_DRIVER", "opencl", 1);
    assert_int_equal(xy_calibrate_gpus(&c, costs, &count), XY_OK);
    if (count == 0) {
        print_message("skipped: OpenCL has no device here\n");
        xy_costs_destroy(costs);
        skip();
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const xy_constant_cost_t *found = xy_costs_constant(costs, names[i]);

        assert_non_null(found);
        assert_true(found->seconds >= 0 && found->seconds < 1);
    }
    xy_gpu_links(costs, 0, &in, &out, &shared);
    assert_true(in.bandwidth > 1e6 && in.bandwidth < 1e13);
    assert_true(out.bandwidth > 1e6 && out.bandwidth < 1e13);
    assert_true(shared.bandwidth == 0 || shared.bandwidth < in.bandwidth + out.bandwidth);
    assert_true(xy_gpu_kernel(costs, 0).bandwidth > 1e6 && xy_gpu_kernel(costs, 0).latency > 0);
    assert_true(xy_gpu_kernel(costs, count).bandwidth == 0);
    xy_costs_destroy(costs);
}

static void set(xy_costs_t *costs, const char *name, double seconds)
{
    assert_int_equal(xy_costs_set_constant(costs, name, -1, -1, seconds, 0, 1), XY_OK);
}

static void test_links(void **state)
{
    xy_link_t in = {1, 2}, out = {3, 4}, shared = {0, 5};
    xy_costs_t *costs = new_costs();

    (void)state;
    xy_gpu_links(costs, 0, &in, &out, &shared); /* nothing is known: all stay */
    assert_true(in.latency == 1 && out.bandwidth == 4 && shared.bandwidth == 5);
    set(costs, "gpu1-in-byte", 0.5e-9);
    set(costs, "gpu1-in-latency", 5e-6);
    set(costs, "gpu1-out-byte", 0.25e-9);
    set(costs, "gpu1-both-byte", 0.5e-9);
    xy_gpu_links(costs, 1, &in, &out, &shared);
    assert_true(in.latency == 5e-6 && fabs(in.bandwidth - 2e9) < 1);
    assert_true(out.latency == 0 && fabs(out.bandwidth - 4e9) < 1);
    assert_true(fabs(shared.bandwidth - 4e9) < 1); /* less than 6e9 */
    shared.bandwidth = 0;
    set(costs, "gpu1-both-byte", 0.3e-9);
    xy_gpu_links(costs, 1, &in, &out, &shared); /* more than both alone: nothing is shared */
    assert_true(shared.bandwidth == 0);
    xy_costs_destroy(costs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_measured),
                                       cmocka_unit_test(test_links)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
