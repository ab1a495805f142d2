/* SPDX-License-Identifier: BSD-3-Clause */
/* From the messages of a store to what carries a job, to a file, and back. */
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

static void add(xy_costs_t *costs, const char *library, const char *cluster1, const char *cluster2,
                double latency, double per_byte, double eager)
{
    xy_message_sample_t samples[8];
    xy_message_cost_t m = {.cluster1 = xy_strdup(cluster1),
                           .cluster2 = xy_strdup(cluster2),
                           .library = xy_strdup(library)};

    for (int i = 0; i < 8; i++) {
        double bytes = pow(8, i);

        samples[i] = (xy_message_sample_t){.bytes = bytes, .blocking = latency + bytes * per_byte};
    }
    assert_int_equal(xy_message_fit(samples, 8, &m.model), XY_OK);
    m.model.eager = eager;
    assert_int_equal(xy_costs_set_message(costs, &m), XY_OK);
}

static bool is_near(double a, double b)
{
    return fabs(a - b) < 1e-2 * b;
}

static void check(const xy_carrier_cost_t *c, const char *name, double latency, double bandwidth,
                  double eager)
{
    assert_string_equal(c->name, name);
    assert_true(is_near(c->latency, latency) && is_near(c->bandwidth, bandwidth));
    assert_true(c->eager == eager);
}

static void test_round_trip(void **state)
{
    char store[] = "/tmp/xylem-carrier-XXXXXX", file[64];
    xy_carrier_cost_t list[XY_CARRIERS_MAX];
    xy_costs_t *costs;
    FILE *out;
    int fd = mkstemp(store);

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    snprintf(file, sizeof(file), "%s.carriers", store);
    setenv("XYLEM_COSTS", store, 1);
    assert_int_equal(xy_costs_create("here", "this", &costs), XY_OK);
    assert_int_equal(xy_carriers_write(costs, store), XY_OK);
    assert_int_equal(xy_carriers_read(false, list), 0); /* nothing was calibrated */
    add(costs, "Open MPI v4.1.4", XY_COSTS_LOCAL, XY_COSTS_LOCAL, 1e-6, 1e-10, 4040);
    add(costs, "Open MPI v4.1.4", XY_COSTS_PU, XY_COSTS_PU, 1e-3, 1e-10, 1);
    add(costs, "Open MPI v4.1.4", "C1", "C2", 20e-6, 1e-9, 65483);
    add(costs, "Open MPI v4.1.4", "C1", "C3", 40e-6, 2e-9, 65483); /* the slowest counts */
    add(costs, "MPICH Version 4.0.2", XY_COSTS_LOCAL, XY_COSTS_LOCAL, 2e-6, 2e-10, 0);
    add(costs, "Another MPI", XY_COSTS_LOCAL, XY_COSTS_LOCAL, 2e-6, 2e-10, 10);
    assert_int_equal(xy_carriers_make(costs, list), 3);
    assert_int_equal(xy_carriers_write(costs, store), XY_OK);
    assert_int_equal(xy_carriers_read(true, list), 1);
    check(&list[0], "Open MPI", 40e-6, 5e8, 65483);
    assert_int_equal(xy_carriers_read(false, list), 2);
    check(&list[0], "Open MPI", 1e-6, 1e10, 4040);
    check(&list[1], "MPICH", 2e-6, 5e9, 0);
    /* Damaged entries are left out. */
    out = fopen(file, "a");
    assert_non_null(out);
    fprintf(out,
            "nan 1 1 here MPICH\n-1 1 1 here MPICH\n1 1 here\n1 1 1 there MPICH\n1 1 1 here \n\n");
    fclose(out);
    assert_int_equal(xy_carriers_read(false, list), 2);
    xy_costs_destroy(costs);
    unlink(store);
    unlink(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
