/* SPDX-License-Identifier: BSD-3-Clause */
/* Stencils in real time: every policy, grid and order gives the bits of the plain loop. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "stencil/internal.h"
#include "testing/base.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { ROUNDS = 1 };
#else
enum { ROUNDS = 3 };
#endif

static int below(uint64_t *seed, int n)
{
    return (int)((testing_random(seed) >> 33) % (uint64_t)n);
}

static const struct {
    int dims, points;
} grids[] = {{1, 3}, {2, 5}, {2, 9}, {3, 7}};

/* A small grid with odd numbers of everything. */
static xy_stencil_run_t small(uint64_t *seed, int which, int order)
{
    xy_stencil_run_t run = {.grid = XY_STENCIL_DEFAULT, .is_real = true};
    xy_stencil_t *s = &run.grid;

    s->dims = grids[which].dims;
    s->points = grids[which].points;
    s->graph = (xy_stencil_graph_t)order;
    s->iterations = 1 + below(seed, 6);
    for (int d = 0; d < s->dims; d++) {
        s->blocks[d] = d > 0 && below(seed, 4) == 0 ? 1 : 3 + below(seed, s->dims == 3 ? 2 : 4);
        s->cells[d] = 1 + below(seed, 7);
    }
    s->load = (xy_stencil_load_t)below(seed, 3);
    s->is_single = below(seed, 2) == 0;
    run.cpus = 1 + below(seed, 3);
    run.memory = 200 + 8 * (uint64_t)below(seed, 4000);
    return run;
}

/* The comparison is part of the run: it fails when a bit differs. */
static void test_every_policy_grid_and_order(void **state)
{
    uint64_t seed = 17;

    (void)state;
    testing_listen();
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; xy_task_policies[i] != NULL; i++)
            for (int which = 0; which < 4; which++)
                for (int order = 0; order < 3; order++) {
                    xy_stencil_run_t run = small(&seed, which, order);
                    xy_stencil_result_t r;
                    xy_status_t st;

                    run.how.policy = xy_task_policies[i]->name;
                    st = xy_stencil_run(&run, &r);
                    /* This one refuses more workers than blocks, and edges that are too long. */
                    if (st == XY_EINVAL && strcmp(run.how.policy, "cache-oblivious") == 0)
                        continue;
                    assert_int_equal(st, XY_OK);
                    assert_true(r.is_checked);
                    assert_int_equal(r.sim.tasks, r.tasks);
                }
}

/* ---- The plain loop ---- */

/* Blocks that several threads update in the plain loop, with rows that end within a piece; and a
 * change that one thread of them finds. */
static void test_large_blocks(void **state)
{
    static const int64_t cells[4][3] = {{70001}, {3, 30001}, {263, 517}, {41, 43, 47}};

    (void)state;
    testing_listen();
    for (int which = 0; which < 4; which++)
        for (int order = 0; order < 3; order++) {
            uint64_t seed = (uint64_t)(100 + 10 * which + order);
            xy_stencil_run_t run = small(&seed, which, order);
            xy_stencil_result_t r;

            for (int d = 0; d < run.grid.dims; d++) {
                run.grid.blocks[d] = d == 0 ? 3 : 1;
                run.grid.cells[d] = cells[which][d];
            }
            run.grid.iterations = 3;
            run.grid.check_every = 2;
            run.until = 1e-9;
            run.memory = 0;
            assert_int_equal(xy_stencil_run(&run, &r), XY_OK);
            assert_true(r.is_checked && r.residual > 0.1);
        }
}

/* One bit of a cell is noticed wherever it is. */
static void test_comparison(void **state)
{
    static const int64_t cells[] = {100, 70001};
    uint64_t seed = 5;

    (void)state;
    for (int i = 0; i < 2; i++) {
        xy_stencil_run_t run = small(&seed, 0, 0);
        stencil_shape_t shape;
        stencil_plain_t *plain;
        unsigned char *block;

        run.grid.blocks[0] = 4;
        run.grid.cells[0] = cells[i];
        assert_int_equal(stencil_shape(&run.grid, &shape), XY_OK);
        assert_int_equal(stencil_plain_create(&run.grid, NULL, &plain), XY_OK);
        block = xy_malloc(run.grid.block_bytes);
        assert_non_null(block);
        for (int k = 0; k < 20; k++) {
            int64_t cell = below(&seed, 4);
            size_t at = k == 0   ? 0
                        : k == 1 ? run.grid.block_bytes - 1
                                 : (size_t)below(&seed, (int)run.grid.block_bytes);

            stencil_fill(&run.grid, &shape, 0, cell, block);
            assert_true(stencil_plain_equals(plain, cell, block));
            block[at] ^= (unsigned char)(1 << below(&seed, 8));
            assert_false(stencil_plain_equals(plain, cell, block));
        }
        xy_free(block);
        stencil_plain_destroy(plain);
    }
}

typedef struct {
    unsigned char *seen;
    int64_t largest; /* the turn whose result is */
} turns_t;

static double see_turns(void *arg, int64_t from, int64_t to)
{
    turns_t *turns = arg;

    for (int64_t i = from; i < to; i++)
        turns->seen[i]++;
    return from <= turns->largest && turns->largest < to ? 7 : 3;
}

/* Each turn is taken once, and the largest result is returned. */
static void test_crew(void **state)
{
    uint64_t seed = 3;
    stencil_crew_t *crew = stencil_crew_create();

    (void)state;
    assert_non_null(crew);
    for (int round = 0; round < 200; round++) {
        int64_t count = 1 + below(&seed, round < 100 ? 40 : 100000);
        turns_t turns = {xy_calloc(1, (size_t)count), below(&seed, (int)count)};

        assert_non_null(turns.seen);
        assert_true(stencil_crew_run(round % 5 == 0 ? NULL : crew, see_turns, &turns, count) == 7);
        for (int64_t i = 0; i < count; i++)
            assert_int_equal(turns.seen[i], 1);
        xy_free(turns.seen);
    }
    stencil_crew_destroy(crew);
}

enum { CELLS = 8192 };

/* All sets of a precision give the same bits and the same largest change. */
static void check_sets(bool is_single, const stencil_shape_t *shape, const stencil_around_t *around)
{
    static double expected[CELLS], out[CELLS];
    const stencil_kernels_t *first = stencil_kernels_number(is_single, 0), *k;
    int64_t n = shape->layers * shape->rows * shape->columns, rows = shape->layers * shape->rows;

    first->update(shape, around, 0, rows, expected);
    for (int i = 1; (k = stencil_kernels_number(is_single, i)) != NULL; i++) {
        k->update(shape, around, 0, rows, out);
        assert_memory_equal(out, expected,
                            (size_t)n * (is_single ? sizeof(float) : sizeof(double)));
        assert_true(k->distance(out, around->at[0], n) == first->distance(out, around->at[0], n));
    }
}

/* Long rows, so that the loops have a middle. */
static void test_every_instruction_set(void **state)
{
    double *blocks[STENCIL_AROUND_MAX];
    float *singles[STENCIL_AROUND_MAX];
    uint64_t seed = 5;

    (void)state;
    for (int i = 0; i < STENCIL_AROUND_MAX; i++) {
        blocks[i] = xy_malloc(CELLS * sizeof(double));
        singles[i] = xy_malloc(CELLS * sizeof(float));
        for (int k = 0; k < CELLS; k++) {
            blocks[i][k] = (double)below(&seed, 1 << 20) / 7;
            singles[i][k] = (float)blocks[i][k];
        }
    }
    for (int which = 0; which < 4; which++) {
        stencil_shape_t shape = {grids[which].points, 1, 1, 2600};
        stencil_around_t around, around_single;

        shape.rows = which == 0 ? 1 : 3;
        if (which == 3)
            shape = (stencil_shape_t){7, 3, 4, 37};
        for (int i = 0; i < STENCIL_AROUND_MAX; i++) {
            around.at[i] = blocks[i];
            around_single.at[i] = singles[i];
        }
        check_sets(false, &shape, &around);
        check_sets(true, &shape, &around_single);
    }
    for (int i = 0; i < STENCIL_AROUND_MAX; i++) {
        xy_free(blocks[i]);
        xy_free(singles[i]);
    }
}

/* In single precision a domain takes half the bytes, and its cells other values: those of a loop
 * over floats, as near to those of doubles as rounding allows. */
static void test_single_precision(void **state)
{
    xy_stencil_run_t run = {
        .grid = XY_STENCIL_DEFAULT, .is_real = true, .cpus = 1, .until = 1e-300};
    xy_stencil_result_t whole, half;
    uint64_t bytes;

    (void)state;
    (void)xy_stencil_blocks_parse("6x6", &run.grid);
    (void)xy_stencil_cells_parse("5x7", &run.grid);
    run.grid.graph = XY_STENCIL_JACOBI;
    run.grid.iterations = 20;
    run.grid.check_every = 20;
    assert_int_equal(xy_stencil_run(&run, &whole), XY_OK);
    bytes = whole.graph_bytes;
    run.grid.is_single = true;
    assert_int_equal(xy_stencil_run(&run, &half), XY_OK);
    assert_true(half.is_checked);
    assert_int_equal(2 * half.graph_bytes, bytes);
    assert_true(half.residual == (double)(float)half.residual);
    assert_true(half.residual != whole.residual);
    assert_true(fabs(half.residual - whole.residual) < 20 * 0x1p-23);
    /* Without a shape, a block of the same bytes has twice the cells. */
    run.grid.cells[0] = 0;
    run.grid.block_bytes = 4096;
    assert_int_equal(xy_stencil_run(&run, &half), XY_OK);
    assert_int_equal(half.graph_bytes, 4 * 36 * 4096);
    /* In virtual time shapes count as well. */
    run.grid.check_every = 0;
    run.is_real = false;
    run.machine = "core:2";
    run.gpus = -1;
    (void)xy_stencil_cells_parse("5x7", &run.grid);
    assert_int_equal(xy_stencil_run(&run, &half), XY_OK);
    assert_int_equal(half.graph_bytes, 2 * 36 * 5 * 7 * 4);
}

/* ---- Convergence ---- */

/* The run compares its number of iterations with that of the plain loop, the simulation gets it
 * from there: here it must also be the first check at which the change is small enough. */
static void test_convergence(void **state)
{
    static const char *const policies[] = {"closure", "eager", "dmdar", "lws"};
    uint64_t seed = 23;

    (void)state;
    for (int round = 0; round < 4 * ROUNDS; round++) {
        xy_stencil_run_t run = small(&seed, round % 4, round % 3);
        xy_stencil_result_t r, again;

        run.how.policy = policies[round % 4];
        run.grid.iterations = 60;
        run.grid.check_every = 1 + below(&seed, 5);
        run.until = 0.02;
        assert_int_equal(xy_stencil_run(&run, &r), XY_OK);
        assert_true(r.is_converged);
        assert_true(r.residual <= run.until && r.iterations % run.grid.check_every == 0);
        if (r.iterations > run.grid.check_every) {
            run.grid.iterations = r.iterations - run.grid.check_every;
            assert_int_equal(xy_stencil_run(&run, &again), XY_OK);
            assert_false(again.is_converged);
            assert_true(again.residual > run.until);
        }
    }
}

static void test_convergence_in_virtual_time(void **state)
{
    uint64_t seed = 29;

    (void)state;
    for (int order = 0; order < 3; order++) {
        xy_stencil_run_t run = small(&seed, 1, order);
        xy_stencil_result_t real, r;

        run.cpus = 1; /* natural order depends on the workers */
        run.grid.iterations = 50;
        run.grid.check_every = 3;
        run.until = 0.01;
        assert_int_equal(xy_stencil_run(&run, &real), XY_OK);
        run.is_real = false;
        run.machine = "core:2";
        run.gpus = -1;
        assert_int_equal(xy_stencil_run(&run, &r), XY_OK);
        assert_true(r.is_converged);
        assert_int_equal(r.iterations, real.iterations);
        assert_true(r.residual == real.residual);
    }
}

/* ---- Out of core ---- */

static char directory[] = "/tmp/xylem-real-XXXXXX";
static char path[64];

static int make_directory(void **state)
{
    (void)state;
    if (mkdtemp(directory) == NULL)
        return -1;
    snprintf(path, sizeof(path), "%s/domain", directory);
    return 0;
}

static int remove_directory(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(directory); /* fails when something was left behind */
}

/* The tree that finds the largest change has no position: it runs beside the trapezoids. */
static void test_convergence_in_trapezoids(void **state)
{
    uint64_t seed = 31;

    (void)state;
    for (int round = 0; round < 12; round++) {
        xy_stencil_run_t run = small(&seed, round % 4, round % 3);
        xy_stencil_result_t r;

        run.cpus = 1 + round % 2;
        run.grid.blocks[0] = 30; /* trapezoids higher than what a decision allows */
        run.how.policy = "cache-oblivious";
        run.grid.iterations = 60;
        run.grid.check_every = 1 + round % 5;
        run.until = 0.02;
        assert_int_equal(xy_stencil_run(&run, &r), XY_OK);
        assert_true(r.is_converged && r.is_checked);
    }
}

static void test_file(void **state)
{
    static const char *const policies[] = {"closure", "dmda", "modular-ready", "prio"};
    uint64_t seed = 31;

    (void)state;
    for (int round = 0; round < 12; round++) {
        xy_stencil_run_t run = small(&seed, round % 4, round % 3);
        xy_stencil_result_t r;

        run.how.policy = policies[round / 4];
        run.file = path;
        run.memory = 0;
        if (round % 2 == 1) {
            run.grid.iterations = 40;
            run.grid.check_every = 2;
            run.until = 0.05;
        }
        (void)unlink(path);
        assert_int_equal(xy_stencil_run(&run, &r), XY_OK);
        run.memory = 14 * (uint64_t)run.grid.cells[0] * (uint64_t)run.grid.cells[1] *
                     (uint64_t)(run.grid.dims == 3 ? run.grid.cells[2] : 1) * 8;
        if (run.grid.dims == 1)
            run.memory = 80 * (uint64_t)run.grid.cells[0];
        run.memory += 200; /* the numbers of the checks */
        /* Once more, from where it ended; and the plain loop too. */
        assert_int_equal(xy_stencil_run(&run, &r), XY_OK);
        assert_true(r.is_checked && r.sim.loads > 0 && r.sim.stores > 0);
    }
}

static void test_file_of_wrong_size(void **state)
{
    uint64_t seed = 37;
    xy_stencil_run_t run = small(&seed, 1, 2);
    xy_stencil_result_t r;
    struct stat info;
    FILE *file = fopen(path, "w");

    (void)state;
    assert_non_null(file);
    fputs("short", file);
    fclose(file);
    run.file = path;
    testing_listen();
    assert_int_equal(xy_stencil_run(&run, &r), XY_EINVAL);
    assert_non_null(strstr(testing_said, "5 bytes"));
    assert_int_equal(testing_said_count, 1);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, 5);
}

static void test_memory_runs_out(void **state)
{
    uint64_t seed = 41;
    xy_status_t st = XY_ENOMEM;

    (void)state;
    testing_listen();
    for (long k = 1; st != XY_OK; k += 1 + k / 8) {
        xy_stencil_run_t run = small(&seed, 1, 2);
        xy_stencil_result_t r;

        run.grid.check_every = 2;
        run.until = 1e-9;
        run.file = k % 2 == 0 ? path : NULL;
        run.memory = 1 << 20;
        (void)unlink(path);
        xy_memory_fail_at(k);
        st = xy_stencil_run(&run, &r);
        (void)xy_memory_fail_hit();
        xy_memory_fail_at(0);
        if (st != XY_OK)
            assert_int_equal(st, XY_ENOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_policy_grid_and_order),
        cmocka_unit_test(test_large_blocks),
        cmocka_unit_test(test_comparison),
        cmocka_unit_test(test_crew),
        cmocka_unit_test(test_every_instruction_set),
        cmocka_unit_test(test_single_precision),
        cmocka_unit_test(test_convergence),
        cmocka_unit_test(test_convergence_in_virtual_time),
        cmocka_unit_test(test_convergence_in_trapezoids),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_file_of_wrong_size),
        cmocka_unit_test(test_memory_runs_out),
    };

    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
