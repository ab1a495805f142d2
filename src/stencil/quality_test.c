/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The default policy against all others on small stencils in virtual time, where luck and borders
 * count most: never more than 2 % behind the best.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stencil/stencil.h"
#include "testing/base.h"

static double makespan(const xy_stencil_run_t *run, const char *policy)
{
    xy_stencil_run_t one = *run;
    xy_stencil_result_t r;

    one.how.policy = policy;
    assert_int_equal(xy_stencil_run(&one, &r), XY_OK);
    return r.sim.makespan;
}

static void compare(const xy_stencil_run_t *run, const char *what)
{
    double own = makespan(run, NULL);

    for (int i = 1; xy_task_policies[i] != NULL; i++) { /* 0: the default */
        const char *who = xy_task_policies[i]->name;
        double other = makespan(run, who);

        if (own > 1.0201 * other)
            fail_msg("%s blocks, %s, %d iterations, %d GPUs, room for %llu: %g s, %s takes %g s",
                     what, xy_stencil_graph_name(run->grid.graph), run->grid.iterations, run->gpus,
                     (unsigned long long)(run->memory / run->grid.block_bytes), own, who, other);
    }
}

/* Memories of about a quarter and of two thirds of the domain. */
static void compare_all(const char *blocks, int iterations)
{
    xy_stencil_run_t run = {.grid = XY_STENCIL_DEFAULT,
                            .machine = XYLEM_SOURCE_DIR "/machines/attila.xml"};
    uint64_t domain;

    assert_true(xy_stencil_blocks_parse(blocks, &run.grid));
    run.grid.iterations = iterations;
    for (int graph = XY_STENCIL_RED_BLACK; graph <= XY_STENCIL_JACOBI; graph++) {
        run.grid.graph = (xy_stencil_graph_t)graph;
        domain = (uint64_t)(run.grid.blocks[0] * run.grid.blocks[1] * run.grid.blocks[2]) *
                 run.grid.block_bytes * (graph == XY_STENCIL_JACOBI ? 2 : 1);
        for (run.gpus = 1; run.gpus <= (XYLEM_SANITIZED ? 1 : 4); run.gpus *= 2)
            for (int part = 0; part < 2; part++) {
                run.memory = part == 0 ? domain / 4 : domain / 3 * 2;
                compare(&run, blocks);
            }
    }
}

static void test_1d(void **state)
{
    (void)state;
    compare_all("60", 16);
}

/* Of the policies only cache-oblivious, which knows positions, keeps four tiny memories busy. */
static void test_positions(void **state)
{
    xy_stencil_run_t run = {
        .grid = XY_STENCIL_DEFAULT, .machine = XYLEM_SOURCE_DIR "/machines/attila.xml", .gpus = 4};

    (void)state;
    assert_true(xy_stencil_blocks_parse("60", &run.grid));
    run.grid.iterations = 30;
    run.grid.graph = XY_STENCIL_NATURAL;
    run.memory = 7 * run.grid.block_bytes;
    compare(&run, "60");
}

static void test_2d(void **state)
{
    (void)state;
    compare_all("12x12", 10);
    compare_all("12x12", 4); /* short: what begins well wins */
    if (!XYLEM_SANITIZED)    /* the same instances there, only fewer */
        compare_all("24x5", 10);
}

static void test_3d(void **state)
{
    (void)state;
    compare_all("6x6x6", 6);
}

/* From 0 up to 1. */
static double share(void)
{
    return testing_below(1000) / 1000.0;
}

/* A grid of one or two dimensions, with tasks of 5 us to 5 ms and memories of a tenth of the domain
 * to more than all of it. */
static void draw(xy_stencil_run_t *run)
{
    char blocks[32];
    int width = testing_below(2) == 0 ? 1 : 3 + testing_below(5);

    run->grid.graph = testing_below(2) == 0 ? XY_STENCIL_JACOBI : XY_STENCIL_RED_BLACK;
    snprintf(blocks, sizeof(blocks), "%dx%d", 20 + testing_below(150 / width), width);
    assert_true(xy_stencil_blocks_parse(blocks, &run->grid));
    run->grid.iterations = 10 + testing_below(20);
    run->grid.block_bytes = (1 + (uint64_t)testing_below(16)) << 19;
    run->grid.task_seconds = 5e-6 * pow(10, 3 * share());
    run->gpus = 1 + testing_below(3);
    run->memory =
        (uint64_t)((0.1 + share()) * (double)(run->grid.blocks[0] * width)) * run->grid.block_bytes;
    if (run->memory < 16 * run->grid.block_bytes)
        run->memory = 16 * run->grid.block_bytes;
}

/* GPUs driven as real ones are: the default beside policies with several numbers of early loads. */
static void test_as_real(void **state)
{
    static const char *const policies[] = {"closure", "relay", "dmdar", "lws", "modular-ready"};

    (void)state;
    for (int i = 0; i < (XYLEM_SANITIZED ? 3 : 12); i++) {
        xy_task_ahead_t ahead = xy_task_ahead_usual;
        xy_stencil_run_t run = {.grid = XY_STENCIL_DEFAULT,
                                .machine = XYLEM_SOURCE_DIR "/machines/attila.xml",
                                .how = {.ahead = &ahead}};
        double own;

        draw(&run);
        run.how.params.look_ahead = XY_TASK_CHOOSE;
        own = makespan(&run, NULL);
        for (int k = 0; k < 15; k++) {
            run.how.params.look_ahead = (int32_t[]){0, 2, 8}[k % 3];
            if (own > 1.05 * makespan(&run, policies[k / 3]))
                fail_msg("row %d: %g s, %s with %d early loads takes %g s", i, own, policies[k / 3],
                         run.how.params.look_ahead, makespan(&run, policies[k / 3]));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_1d), cmocka_unit_test(test_positions), cmocka_unit_test(test_2d),
        cmocka_unit_test(test_3d), cmocka_unit_test(test_as_real),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
