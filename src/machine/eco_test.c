/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine/eco.h"
#include "testing/machine.h"

enum { GRID = 9, EVERY = XYLEM_SANITIZED ? 101 : 1 };

static const uint32_t expected[GRID] = {0, 1, 2, 1, 3, 1, 2, 3, 0};

static xy_latency_t *read_grid(void)
{
    xy_latency_t *m;

    testing_listen();
    assert_int_equal(
        xy_latency_read(XYLEM_SOURCE_DIR "/tests/data/cost/latency-grid5000-9.txt", &m), XY_OK);
    assert_int_equal(m->count, GRID);
    return m;
}

static double noise(uint64_t *seed)
{
    return (double)random_below(seed, 1u << 30) / (double)(1 << 29) - 1;
}

/* The matrix seen through a permutation, each value off by at most `error`. */
static xy_latency_t *shuffle(const xy_latency_t *m, const int *order, double error, uint64_t *seed)
{
    xy_latency_t *copy;

    assert_int_equal(xy_latency_create(m->count, &copy), XY_OK);
    for (uint32_t i = 0; i < m->count; i++)
        for (uint32_t j = 0; j < m->count; j++)
            copy->second[i * m->count + j] =
                m->second[(uint32_t)order[i] * m->count + (uint32_t)order[j]] *
                (1 + error * noise(seed));
    return copy;
}

/* Two machines are together exactly where they should be. */
static void check_grid(const xy_latency_t *m, const int *order)
{
    xy_eco_t *eco;

    assert_int_equal(xy_eco_compute(m, XY_ECO_RHO, XY_ECO_RHO_SITE, &eco), XY_OK);
    assert_int_equal(eco->clusters, 4);
    for (int i = 0; i < GRID; i++)
        for (int j = 0; j < GRID; j++)
            assert_true((eco->cluster_of[i] == eco->cluster_of[j]) ==
                        (expected[order[i]] == expected[order[j]]));
    assert_int_equal(eco->cluster_of[0], 0);
    xy_eco_destroy(eco);
}

static void swap(int *a, int *b)
{
    int t = *a;

    *a = *b;
    *b = t;
}

static bool next_permutation(int *order, int n)
{
    int i = n - 1, j = n - 1;

    while (i > 0 && order[i - 1] >= order[i])
        i--;
    if (i == 0)
        return false;
    while (order[j] <= order[i - 1])
        j--;
    swap(&order[i - 1], &order[j]);
    for (int a = i, b = n - 1; a < b; a++, b--)
        swap(&order[a], &order[b]);
    return true;
}

/* All 362880 orders, exact and with noise in turn; under sanitizers one in 101. */
static void test_every_order(void **state)
{
    xy_latency_t *m = read_grid();
    int order[GRID] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    uint64_t seed = 1, count = 0;

    (void)state;
    do {
        if (count % EVERY == 0) {
            xy_latency_t *copy = shuffle(m, order, count % 2 ? 0.05 : 0, &seed);

            check_grid(copy, order);
            xy_latency_destroy(copy);
        }
        count++;
    } while (next_permutation(order, GRID));
    assert_int_equal(count, 362880);
    xy_latency_destroy(m);
}

static void test_grid(void **state)
{
    xy_latency_t *m = read_grid();
    xy_eco_t *eco;

    (void)state;
    assert_string_equal(m->name[8], "bordereau-63");
    assert_int_equal(xy_eco_compute(m, XY_ECO_RHO, XY_ECO_RHO_SITE, &eco), XY_OK);
    assert_memory_equal(eco->cluster_of, expected, sizeof(expected));
    assert_int_equal(eco->cluster[1].machines, 3);
    assert_int_equal(eco->cluster[3].first, 4);
    assert_int_equal(eco->cluster[0].nearest, 3);
    assert_int_equal(eco->cluster[0].reason, XY_ECO_FAR_MACHINE);
    assert_true(eco->cluster[0].distance == m->second[4]);
    assert_true(eco->between[0 * 4 + 2] > 7173e-6 && eco->between[2 * 4 + 0] < 7174e-6);
    assert_true(eco->between[1 * 4 + 1] > 62.03e-6 && eco->between[1 * 4 + 1] < 62.05e-6);
    /* C1 and C4 are on one site; C2 and C3 are not, though they are nearest to each other. */
    assert_int_equal(eco->sites, 3);
    assert_int_equal(eco->site_of[0], 0);
    assert_int_equal(eco->site_of[1], 1);
    assert_int_equal(eco->site_of[2], 2);
    assert_int_equal(eco->site_of[3], 0);
    xy_eco_destroy(eco);
    /* A generous rho takes both clusters of one site for one. */
    assert_int_equal(xy_eco_compute(m, 1.7, XY_ECO_RHO_SITE, &eco), XY_OK);
    assert_int_equal(eco->clusters, 3);
    xy_eco_destroy(eco);
    xy_latency_destroy(m);
}

/* The latencies between clusters and their machines, whose names say where they are. */
static void test_named_sites(void **state)
{
    FILE *file = fopen(XYLEM_SOURCE_DIR "/tests/data/cost/latency-grid5000.txt", "r");
    double between[4][4];
    char line[256], site[GRID][32];
    uint32_t cluster[GRID], rows = 0, machines = 0;
    xy_latency_t *m;
    xy_eco_t *eco;

    (void)state;
    testing_listen();
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        double *row = between[rows < 4 ? rows : 0];

        if (line[0] == '#')
            continue;
        if (sscanf(line, "%lf %lf %lf %lf", &row[0], &row[1], &row[2], &row[3]) == 4)
            rows++;
        else if (machines < GRID &&
                 sscanf(line, "%*[^.].%31s C%u", site[machines], &cluster[machines]) == 2)
            machines++;
    }
    fclose(file);
    assert_int_equal(rows, 4);
    assert_int_equal(machines, GRID);
    assert_int_equal(xy_latency_create(GRID, &m), XY_OK);
    for (uint32_t i = 0; i < GRID; i++)
        for (uint32_t j = 0; j < GRID; j++)
            m->second[i * GRID + j] = 1e-6 * between[cluster[i] - 1][cluster[j] - 1];
    assert_int_equal(xy_eco_compute(m, XY_ECO_RHO, XY_ECO_RHO_SITE, &eco), XY_OK);
    for (uint32_t i = 0; i < GRID; i++)
        for (uint32_t j = 0; j < GRID; j++) {
            uint32_t a = eco->cluster_of[i], b = eco->cluster_of[j];

            assert_true((a == b) == (cluster[i] == cluster[j]));
            assert_true((eco->site_of[a] == eco->site_of[b]) == (strcmp(site[i], site[j]) == 0));
        }
    xy_eco_destroy(eco);
    xy_latency_destroy(m);
}

/* Sites of two clusters of two machines, and a machine alone on the last one: in whatever order, at
 * whatever scale, with one-sided noise. */
static void test_sites(void **state)
{
    static const uint32_t site_of[] = {0, 0, 0, 0, 1, 1, 1, 1, 2},
                          cluster_of[] = {0, 0, 1, 1, 2, 2, 3, 3, 4};
    int order[GRID] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    uint64_t seed = 7;

    (void)state;
    testing_listen();
    for (int round = 0; round < 3000; round += XYLEM_SANITIZED ? 10 : 3) {
        double scale = 1e-7 * (1 + (double)random_below(&seed, 1000));
        xy_latency_t *m;
        xy_eco_t *eco;

        for (int i = GRID - 1; i > 0; i--)
            swap(&order[i], &order[random_below(&seed, (uint64_t)i + 1)]);
        assert_int_equal(xy_latency_create(GRID, &m), XY_OK);
        for (uint32_t i = 0; i < GRID; i++)
            for (uint32_t j = 0; j < GRID; j++) {
                int a = order[i], b = order[j];
                double far = cluster_of[a] == cluster_of[b] ? 1 : site_of[a] == site_of[b] ? 4 : 40;

                m->second[i * GRID + j] = scale * far * (1 + 0.1 * (noise(&seed) + 1) / 2);
            }
        assert_int_equal(xy_eco_compute(m, XY_ECO_RHO, XY_ECO_RHO_SITE, &eco), XY_OK);
        assert_int_equal(eco->clusters, 5);
        assert_int_equal(eco->sites, 3);
        for (uint32_t i = 0; i < GRID; i++)
            for (uint32_t j = 0; j < GRID; j++)
                assert_true(
                    (eco->site_of[eco->cluster_of[i]] == eco->site_of[eco->cluster_of[j]]) ==
                    (site_of[order[i]] == site_of[order[j]]));
        xy_eco_destroy(eco);
        xy_latency_destroy(m);
    }
}

/* g groups of n / g machines, `inside` and `outside` apart, with one-sided noise. */
static void check_groups(uint32_t n, uint32_t groups, double outside, double error, uint64_t seed)
{
    xy_latency_t *m;
    xy_eco_t *eco;

    assert_int_equal(xy_latency_create(n, &m), XY_OK);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i + 1; j < n; j++) {
            double least = 1;

            /* The least of three measurements, as one would measure. */
            for (int k = 0; k < 3; k++)
                least = fmin(least, (noise(&seed) + 1) / 2);
            m->second[i * n + j] = m->second[j * n + i] =
                1e-6 * (i % groups == j % groups ? 10 : outside) * (1 + error * least);
        }
    assert_int_equal(xy_eco_compute(m, XY_ECO_RHO, XY_ECO_RHO_SITE, &eco), XY_OK);
    assert_int_equal(eco->clusters, groups < n ? groups : n);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(eco->cluster_of[i], i % groups);
    xy_eco_destroy(eco);
    xy_latency_destroy(m);
}

static void test_sizes(void **state)
{
    enum { MANY = XYLEM_SANITIZED ? 300 : 1000 };

    (void)state;
    testing_listen();
    check_groups(1, 1, 10, 0, 1);
    check_groups(2, 1, 10, 0, 2);
    check_groups(MANY, 1, 100, 0.1, 3);
    check_groups(MANY, 10, 100, 0.1, 4);
    check_groups(MANY, MANY / 2, 50, 0.1, 5);
}

/* c and d are near; a is nearest to them, but not near enough for them, and b nearest to a: 13 is
 * more than 1.2 times the 10 that a has elsewhere. */
static void test_machine_bound(void **state)
{
    static const char text[] = "a 0 13 10 10\nb 13 0 20 20\nc 10 20 0 5\nd 10 20 5 0\n";
    xy_latency_t *m;
    xy_eco_t *eco;

    (void)state;
    testing_listen();
    assert_int_equal(xy_latency_parse(text, strlen(text), "f", &m), XY_OK);
    assert_int_equal(xy_eco_compute(m, XY_ECO_RHO, XY_ECO_RHO_SITE, &eco), XY_OK);
    assert_int_equal(eco->clusters, 3);
    assert_int_equal(eco->cluster_of[2], eco->cluster_of[3]);
    assert_int_equal(eco->sites, 1);
    xy_eco_destroy(eco);
    xy_latency_destroy(m);
}

/* Three clusters of nine, 1.4 times farther apart than inside or more, up to 30 % of noise. */
static void test_noise(void **state)
{
    (void)state;
    testing_listen();
    for (uint64_t seed = 0; seed < (XYLEM_SANITIZED ? 100 : 700); seed++)
        check_groups(27, 3, 14 + (double)(seed % 7), 0.05 * (double)(seed % 7), seed);
}

static void test_refusals(void **state)
{
    xy_latency_t *m;
    xy_eco_t *eco = NULL;

    (void)state;
    testing_listen();
    assert_int_equal(xy_latency_create(XY_LATENCY_MACHINES_MAX + 1, &m), XY_ELIMIT);
    assert_int_equal(xy_latency_create(0, &m), XY_OK);
    assert_int_equal(xy_eco_compute(m, XY_ECO_RHO, XY_ECO_RHO_SITE, &eco), XY_EINVAL);
    xy_latency_destroy(m);
    assert_int_equal(xy_latency_create(2, &m), XY_OK);
    m->second[1] = m->second[2] = -1;
    assert_int_equal(xy_eco_compute(m, XY_ECO_RHO, XY_ECO_RHO_SITE, &eco), XY_EINVAL);
    m->second[1] = m->second[2] = 1;
    assert_int_equal(xy_eco_compute(m, 0.5, XY_ECO_RHO_SITE, &eco), XY_EINVAL);
    assert_int_equal(xy_eco_compute(m, 1.5, 1.4, &eco), XY_EINVAL);
    assert_null(eco);
    assert_int_equal(testing_said_count, 5);
    xy_latency_destroy(m);
}

static void test_text(void **state)
{
    static const struct {
        const char *text, *said;
    } bad[] = {
        {"", "f: no rows"},
        {"# nothing\n\n", "f: no rows"},
        {"1 2 3\n", "f:1: 3 words for 1 machines"},
        {"0 1\n1 0 0 0\n", "f:2: 4 words for 2 machines"},
        {"a 0 1\n1 0\n", "f:2: 2 words, but line 1 has 3"},
        {"0 1\n# x\nfast 0\n", "f:3: 'fast' is not a latency"},
        {"0 -1\n1 0\n", "f:1: '-1' is not a latency"},
        {"0 nan\n1 0\n", "f:1: 'nan' is not a latency"},
        {"0 1e999\n1 0\n", "f:1: '1e999' is not a latency"},
    };
    static const char good[] = "10, 0,5\r\n20;5\t0 # names are numbers";
    xy_latency_t *m = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        testing_listen();
        assert_int_equal(xy_latency_parse(bad[i].text, strlen(bad[i].text), "f", &m), XY_EPARSE);
        assert_int_equal(testing_said_count, 1);
        assert_memory_equal(testing_said, bad[i].said, strlen(bad[i].said));
    }
    assert_int_equal(xy_latency_parse("0\0 1", 4, "f", &m), XY_EPARSE);
    assert_null(m);
    assert_int_equal(xy_latency_parse(good, strlen(good), "f", &m), XY_OK);
    assert_string_equal(m->name[1], "20");
    assert_true(m->second[1] == 5e-6);
    xy_latency_destroy(m);
}

static void test_memory(void **state)
{
    static const char text[] = "a 0 1 9\nb 1 0 9\nc 9 9 0\n";

    (void)state;
    for (long k = 0; testing_fail_next(&k);) {
        xy_latency_t *m = NULL;
        xy_eco_t *eco = NULL;
        xy_status_t st;

        st = xy_latency_parse(text, strlen(text), "f", &m);
        if (st == XY_OK)
            st = xy_eco_compute(m, XY_ECO_RHO, XY_ECO_RHO_SITE, &eco);
        assert_null(testing_fail_fault(&k, st));
        assert_true(st != XY_OK || eco->clusters == 2);
        xy_eco_destroy(eco);
        xy_latency_destroy(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grid),          cmocka_unit_test(test_every_order),
        cmocka_unit_test(test_named_sites),   cmocka_unit_test(test_sites),
        cmocka_unit_test(test_sizes),         cmocka_unit_test(test_noise),
        cmocka_unit_test(test_machine_bound), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_text),          cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
