/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "measure/platform.h"
#include "testing/cost.h"

enum { CLUSTERS = 4 };

/* The rates between the clusters of Grid'5000, with their latencies: MB/s. */
static const double rates[CLUSTERS][CLUSTERS] = {
    {98, 11, 9, 60}, {11, 110, 12, 13}, {9, 12, 100, 8}, {60, 13, 8, 90}};

static void add_message(xy_costs_t *costs, uint32_t c, uint32_t d, double latency, double rate)
{
    xy_message_sample_t samples[8];
    xy_message_cost_t m = {0};

    for (int i = 0; i < 8; i++) {
        double bytes = pow(8, i);

        samples[i] = (xy_message_sample_t){.bytes = bytes, .blocking = latency + bytes / rate};
    }
    assert_int_equal(xy_message_fit(samples, 8, &m.model), XY_OK);
    m.cluster1 = xy_sprintf("C%u", c + 1);
    m.cluster2 = xy_sprintf("C%u", d + 1);
    assert_int_equal(xy_costs_set_message(costs, &m), XY_OK);
}

static xy_latency_t *read_grid(xy_eco_t **eco_p)
{
    xy_latency_t *m;

    assert_int_equal(
        xy_latency_read(XYLEM_SOURCE_DIR "/tests/data/cost/latency-grid5000-9.txt", &m), XY_OK);
    assert_int_equal(xy_eco_compute(m, XY_ECO_RHO, XY_ECO_RHO_SITE, eco_p), XY_OK);
    assert_int_equal((*eco_p)->clusters, CLUSTERS);
    return m;
}

static xy_costs_t *make_costs(const xy_eco_t *eco)
{
    xy_costs_t *costs;

    assert_int_equal(xy_costs_create("hosts", "hosts", &costs), XY_OK);
    for (uint32_t c = 0; c < CLUSTERS; c++)
        for (uint32_t d = c; d < CLUSTERS; d++)
            add_message(costs, c, d, eco->between[c * CLUSTERS + d], 1e6 * rates[c][d]);
    return costs;
}

static xy_obj_t find_node(const xy_machine_t *m, const char *name)
{
    for (xy_obj_t o = 0; o < m->count; o++)
        if (m->type[o] == XY_OBJ_NODE && strcmp(xy_machine_object_name(m, o), name) == 0)
            return o;
    return XY_OBJ_NONE;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 0.02 * fmax(a, b);
}

/* Each pair of hosts has the latency and the bandwidth of its pair of clusters. */
static void test_pairs(void **state)
{
    xy_eco_t *eco;
    xy_latency_t *matrix = read_grid(&eco);
    xy_costs_t *costs = make_costs(eco);
    uint32_t cores[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    measure_share_t shared[CLUSTERS * CLUSTERS];
    const measure_platform_t p = {
        .eco = eco, .matrix = matrix, .costs = costs, .cores = cores, .between_clusters = shared};
    xy_machine_t *m;

    (void)state;
    testing_listen();
    for (int i = 0; i < CLUSTERS * CLUSTERS; i++)
        shared[i] = (measure_share_t){2, 1, 1};
    assert_int_equal(measure_platform_make(&p, "hosts", &m), XY_OK);
    assert_int_equal(m->leaves, 45);
    for (uint32_t i = 0; i < matrix->count; i++)
        for (uint32_t j = i + 1; j < matrix->count; j++) {
            uint32_t c = eco->cluster_of[i], d = eco->cluster_of[j];
            xy_obj_t a = find_node(m, matrix->name[i]), b = find_node(m, matrix->name[j]);
            xy_link_t link = xy_machine_path(m, a, b);
            xy_obj_t site_a = xy_machine_above(m, a, XY_OBJ_SITE);

            assert_true(is_near(link.latency, matrix->second[i * matrix->count + j]));
            if (c != d)
                assert_true(is_near(link.bandwidth, 1e6 * rates[c][d]));
            assert_true((site_a == xy_machine_above(m, b, XY_OBJ_SITE)) ==
                        (eco->site_of[c] == eco->site_of[d]));
        }
    /* A host is as fast as its fastest way. */
    assert_true(is_near(xy_machine_link(m, find_node(m, "azur-4")).bandwidth, 100e6));
    xy_machine_destroy(m);
    xy_costs_destroy(costs);
    xy_eco_destroy(eco);
    xy_latency_destroy(matrix);
}

/* A route has the bandwidth that several pairs reach together. */
static void test_shares(void **state)
{
    xy_eco_t *eco;
    xy_latency_t *matrix = read_grid(&eco);
    xy_costs_t *costs = make_costs(eco);
    measure_share_t clusters[CLUSTERS * CLUSTERS] = {{0}}, sites[9] = {{0}};
    const measure_platform_t p = {.eco = eco,
                                  .matrix = matrix,
                                  .costs = costs,
                                  .between_clusters = clusters,
                                  .between_sites = sites};
    xy_machine_t *m;
    xy_obj_t bordereau, bordeplage, genepi, azur;

    (void)state;
    testing_listen();
    clusters[0 * CLUSTERS + 3] = (measure_share_t){2, 1.9, 50e6}; /* each has its own way */
    /* Bordeaux and Grenoble share one, which a stream alone does not fill, and so do Bordeaux and
     * Nice, whose streams were slower than long messages. */
    sites[0 * 3 + 1] = (measure_share_t){3, 1.4, 15.6e6};
    sites[0 * 3 + 2] = (measure_share_t){3, 1.1, 1e6};
    assert_int_equal(measure_platform_make(&p, "hosts", &m), XY_OK);
    bordereau = find_node(m, "bordereau-82");
    bordeplage = find_node(m, "bordeplage-35");
    genepi = find_node(m, "genepi-6");
    azur = find_node(m, "azur-7");
    assert_true(is_near(xy_machine_path(m, bordereau, bordeplage).bandwidth, 120e6));
    /* The rate of streams, for both clusters; the least latency. */
    assert_true(is_near(xy_machine_path(m, bordereau, genepi).bandwidth, 15.6e6));
    assert_true(is_near(xy_machine_path(m, bordeplage, genepi).bandwidth, 15.6e6));
    assert_true(is_near(xy_machine_path(m, bordeplage, genepi).latency, 5391e-6));
    /* At least what a message needs: the faster of 9 and 8. */
    assert_true(is_near(xy_machine_path(m, bordereau, azur).bandwidth, 9e6));
    /* Not measured together: a way for each pair of hosts. */
    assert_true(is_near(xy_machine_path(m, genepi, azur).bandwidth, 24e6));
    assert_int_equal(m->route_count, 1 + 3); /* C1 - C4, and between the three sites */
    xy_machine_destroy(m);
    xy_costs_destroy(costs);
    xy_eco_destroy(eco);
    xy_latency_destroy(matrix);
}

/* A host alone, and two whose messages were too noisy for a model: what is known is there. */
static void test_little(void **state)
{
    xy_latency_t *matrix;
    xy_eco_t *eco;
    xy_costs_t *costs;
    xy_machine_t *m;

    (void)state;
    testing_listen();
    assert_int_equal(xy_costs_create("hosts", "hosts", &costs), XY_OK);
    for (uint32_t n = 1; n <= 2; n++) {
        measure_platform_t p = {.costs = costs};

        assert_int_equal(xy_latency_create(n, &matrix), XY_OK);
        for (uint32_t i = 0; i < n * n; i++)
            matrix->second[i] = 20e-6;
        assert_int_equal(xy_eco_compute(matrix, XY_ECO_RHO, XY_ECO_RHO_SITE, &eco), XY_OK);
        p.eco = eco;
        p.matrix = matrix;
        assert_int_equal(measure_platform_make(&p, "a \"strange\" <name>", &m), XY_OK);
        assert_string_equal(m->name, "a \"strange\" <name>");
        assert_int_equal(m->leaves, n);
        if (n == 2)
            assert_true(
                is_near(xy_machine_path(m, find_node(m, "m1"), find_node(m, "m2")).latency, 20e-6));
        xy_machine_destroy(m);
        xy_eco_destroy(eco);
        xy_latency_destroy(matrix);
    }
    xy_costs_destroy(costs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_little),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
