/* SPDX-License-Identifier: BSD-3-Clause */
#include "place/refine_load.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "testing/base.h"

enum { MOST = 64, CORES = 8 };

static double heaviest(const uint32_t *core_of, const double *load, uint32_t n)
{
    double carried[CORES] = {0}, most = 0;

    for (uint32_t v = 0; v < n; v++)
        carried[core_of[v]] += load[v];
    for (int c = 0; c < CORES; c++)
        most = carried[c] > most ? carried[c] : most;
    return most;
}

/* A case drawn at random: loads, where the processes are, and which stay. */
typedef struct {
    uint32_t n, cores, core_of[MOST], before[MOST];
    double load[MOST], sum, largest;
    bool stays[MOST];
} case_t;

static void make_case(case_t *c, bool some_stay)
{
    *c = (case_t){.n = 1 + (uint32_t)testing_below(MOST),
                  .cores = 1 + (uint32_t)testing_below(CORES)};
    for (uint32_t v = 0; v < c->n; v++) {
        c->load[v] = (double)testing_below(1000) / 100;
        c->core_of[v] = c->before[v] = (uint32_t)testing_below(c->cores);
        c->stays[v] = some_stay && testing_below(2) == 0;
        c->sum += c->load[v];
        c->largest = c->load[v] > c->largest ? c->load[v] : c->largest;
    }
}

/* The heaviest core is what the result says, and no heavier than before; those that stay stay. */
static void test_never_worse(void **state)
{
    (void)state;
    for (int i = 0; i < 300; i++) {
        xy_refine_load_t r = {.goal = 1.01};
        uint32_t moved = 0;
        case_t c;

        make_case(&c, i % 2 == 1);
        r.n = c.n;
        r.cores = c.cores;
        r.load = c.load;
        r.stays = c.stays;
        r.core_of = c.core_of;
        assert_int_equal(xy_refine_load(&r), XY_OK);
        for (uint32_t v = 0; v < c.n; v++) {
            assert_true(c.core_of[v] < c.cores);
            assert_true(!c.stays[v] || c.core_of[v] == c.before[v]);
            moved += c.core_of[v] != c.before[v];
        }
        assert_int_equal(moved, r.moved);
        assert_true(fabs(heaviest(c.before, c.load, c.n) - r.before) < 1e-9);
        assert_true(fabs(heaviest(c.core_of, c.load, c.n) - r.after) < 1e-9);
        assert_true(r.after <= r.before + 1e-9);
        /* What greedy placement in any order reaches. */
        if (i % 2 == 0)
            assert_true(r.after <= c.sum / c.cores + c.largest + 1e-9);
    }
}

/* One hot pair beside 14 cold ones: two moves or fewer bring the cores within a hundredth. */
static void test_moves_few(void **state)
{
    double load[16];
    uint32_t core_of[16];
    xy_refine_load_t r = {.n = 16, .cores = 2, .load = load, .core_of = core_of, .goal = 1.01};

    (void)state;
    for (uint32_t v = 0; v < 16; v++) {
        load[v] = v == 3 || v == 4 ? 10 : 1;
        core_of[v] = v / 8;
    }
    assert_int_equal(xy_refine_load(&r), XY_OK);
    assert_true(r.before == 26 && r.after == 17);
    assert_int_equal(r.moved, 2);
    assert_int_not_equal(core_of[3], core_of[4]);
}

/* Of choices that balance alike, the one that separates no talkers. */
static void test_keeps_talkers_together(void **state)
{
    double load[6] = {1, 1, 1, 1, 1, 1};
    uint32_t core_of[6] = {0, 0, 0, 0, 1, 1};
    xy_matrix_t *talk = NULL;
    xy_refine_load_t r = {.n = 6, .cores = 2, .load = load, .core_of = core_of, .goal = 1};
    xy_matrix_entry_t entries[] = {{0, 1, 100, 1}, {1, 0, 100, 1}, {2, 4, 100, 1}, {0, 3, 10, 1}};

    (void)state;
    assert_int_equal(xy_matrix_build(6, entries, 4, false, &talk), XY_OK);
    r.talk = talk;
    assert_int_equal(xy_refine_load(&r), XY_OK);
    assert_int_equal(r.moved, 1);
    assert_int_equal(core_of[2], 1);
    xy_matrix_destroy(talk);
}

static void test_without_memory(void **state)
{
    double load[2] = {1, 1};
    uint32_t core_of[2] = {0, 0};
    xy_refine_load_t r = {.n = 2, .cores = 2, .load = load, .core_of = core_of, .goal = 1};

    (void)state;
    for (long k = 0; testing_fail_next(&k);) {
        xy_status_t st;

        core_of[0] = core_of[1] = 0;
        st = xy_refine_load(&r);
        if (st != XY_OK)
            xy_fail_memory("balancing"); /* it is silent */
        assert_null(testing_fail_fault(&k, st));
        assert_true(k < 0 || (core_of[0] == 0 && core_of[1] == 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never_worse),
        cmocka_unit_test(test_moves_few),
        cmocka_unit_test(test_keeps_talkers_together),
        cmocka_unit_test(test_without_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
