/* SPDX-License-Identifier: BSD-3-Clause */
#include "place/place.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "testing/base.h"

static xy_matrix_t *random_matrix(uint64_t *seed, uint32_t n, uint32_t degree)
{
    size_t count = 0;
    xy_matrix_entry_t *e = malloc(((size_t)n * degree + 1) * sizeof(*e));
    xy_matrix_t *m;

    assert_non_null(e);
    for (uint32_t i = 0; i < n * degree; i++)
        if (testing_random(seed) % 4 != 0) /* not symmetric, diagonals and empty rows too */
            e[count++] = (xy_matrix_entry_t){(uint32_t)(testing_random(seed) % n),
                                             (uint32_t)(testing_random(seed) % n),
                                             (double)(testing_random(seed) % 1000), 1};
    assert_int_equal(xy_matrix_build(n, e, count, false, &m), XY_OK);
    free(e);
    return m;
}

/* Some cores below a node, package or cache, some of them excluded. */
static void random_part(uint64_t *seed, FILE *file, int depth)
{
    static const char *const types[] = {"core", "l3", "numa", "package", "node"};
    uint64_t n = 1 + testing_random(seed) % 4;

    if (depth == 0) {
        fprintf(file, "<core%s/>", testing_random(seed) % 6 == 0 ? " excluded=\"yes\"" : "");
        return;
    }
    for (uint64_t i = 0; i < n; i++) {
        int below = depth - 1 - (testing_random(seed) % 4 == 0 && depth > 1);

        if (below > 0)
            fprintf(file, "<%s>", types[below]);
        random_part(seed, file, below);
        if (below > 0)
            fprintf(file, "</%s>", types[below]);
    }
}

/* A regular machine without some of its cores. */
static xy_machine_t *random_rest(const char *text, uint64_t seed)
{
    xy_machine_t *whole, *m;
    xy_bitset_t leaves;

    assert_int_equal(xy_machine_load(text, &whole), XY_OK);
    assert_int_equal(xy_bitset_init(&leaves, whole->leaves), XY_OK);
    xy_bitset_set(&leaves, 0);
    for (uint32_t i = 1; i < whole->leaves; i++)
        if (testing_random(&seed) % 2 == 0)
            xy_bitset_set(&leaves, i);
    assert_int_equal(xy_machine_restrict(whole, &leaves, &m), XY_OK);
    xy_bitset_cleanup(&leaves);
    xy_machine_destroy(whole);
    return m;
}

/* An asymmetric machine; its first core may be used. */
static xy_machine_t *random_machine(uint64_t seed)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    xy_machine_t *m;

    fputs("<machine name=\"random\"><node><core/></node>", file);
    for (uint64_t i = testing_random(&seed) % 4; i > 0; i--) {
        int depth = 1 + (int)(testing_random(&seed) % 4);

        fputs("<node>", file);
        random_part(&seed, file, depth);
        fputs("</node>", file);
    }
    fputs("</machine>", file);
    fclose(file);
    testing_listen();
    if (xy_machine_parse(text, size, "random", &m) != XY_OK) /* built without libxml2 */
        m = random_rest("4x3x5", seed);
    xy_error_handler_set(NULL, NULL);
    free(text);
    return m;
}

/* A random tree of at most 300 usable leaves, or a grid, also of nodes. */
static xy_target_t *random_target(uint64_t seed)
{
    static const char *const grids[] = {"torus:4x3", "mesh:5x2x2", "torus:7", "mesh:1x6"};
    static const char *const trees[] = {"4x16", "3x5x2", "2x2x2", "7", "1x1x1", "2x24"};
    static const char *const tori[] = {"torus:4x3 core:2", "mesh:5x2x2 numa:2 core:2",
                                       "torus:7 core:3", "mesh:1x6 core:4"};
    xy_target_t *t;
    xy_machine_t *m;

    if (seed % 7 == 0) {
        assert_int_equal(xy_target_grid(grids[seed / 7 % 4], NULL, &t), XY_OK);
        return t;
    }
    if (seed % 7 == 1) {
        m = random_rest(tori[seed / 7 % 4], seed);
    } else if (seed % 3 == 0) {
        assert_int_equal(xy_machine_load(trees[seed / 3 % 6], &m), XY_OK);
    } else {
        m = random_machine(seed);
        while (m->leaves > 300) {
            xy_machine_destroy(m);
            m = random_machine(seed += 1000);
        }
    }
    assert_int_equal(xy_target_create(m, NULL, &t), XY_OK);
    xy_machine_destroy(m);
    return t;
}

/* No leaf holds more than its share; with more processes than leaves each holds p / n or one
 * more. */
static void check_balance(const xy_place_t *p, const xy_target_t *t)
{
    uint32_t *count = calloc(t->leaves, sizeof(*count));
    uint32_t most = p->n <= t->leaves ? 1 : (p->n + t->leaves - 1) / t->leaves;
    uint32_t least = p->n <= t->leaves ? 0 : p->n / t->leaves;

    assert_non_null(count);
    for (uint32_t i = 0; i < p->n; i++) {
        assert_true(p->leaf_of[i] < t->leaves);
        count[p->leaf_of[i]]++;
    }
    for (uint32_t i = 0; i < t->leaves; i++)
        assert_true(count[i] <= most && count[i] >= least);
    free(count);
}

static void check_cost(const xy_place_t *p, const xy_matrix_t *m, const xy_target_t *t)
{
    double hops = 0, weighted = 0;

    for (uint32_t i = 0; i < m->n; i++)
        for (size_t k = m->first[i]; k < m->first[i + 1]; k++) {
            hops += m->bytes[k] * xy_target_hops(t, p->leaf_of[i], p->leaf_of[m->to[k]]);
            weighted += m->bytes[k] * xy_target_weighted(t, p->leaf_of[i], p->leaf_of[m->to[k]]);
        }
    assert_true(fabs(hops - p->cost.hop_bytes) <= 1e-9 * (1 + hops));
    assert_true(fabs(weighted - p->cost.weighted) <= 1e-9 * (1 + weighted));
    assert_true(p->cost.max_load <= p->cost.hop_bytes * (1 + 1e-12));
}

/* A torus or mesh with several cores in a cell, or none. */
static bool is_of_nodes(const xy_target_t *t)
{
    return t->grid.dimensions > 0 && t->leaves != xy_grid_cells(&t->grid);
}

static void test_every_strategy_gives_a_balanced_placement(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= (XYLEM_SANITIZED ? 8 : 120); seed++) {
        uint64_t random = seed;
        xy_target_t *t = random_target(seed);
        uint32_t n = 1 + (uint32_t)(testing_random(&random) % (t->leaves + t->leaves / 2 + 3));
        xy_matrix_t *m = random_matrix(&random, n, seed % 5 == 0 ? 0 : 1 + (uint32_t)(seed % 6));

        for (int s = 0; xy_strategies[s] != NULL; s++) {
            xy_place_options_t o = {.strategy = xy_strategies[s]->name,
                                    .objective =
                                        seed % 2 ? XY_OBJECTIVE_HOPS : XY_OBJECTIVE_WEIGHTED,
                                    .seed = seed,
                                    .restarts = 1};
            xy_place_t *p, *q;

            if (!xy_strategy_is_available(xy_strategies[s]) ||
                (strcmp(o.strategy, "scotch") == 0 && is_of_nodes(t)))
                continue;
            assert_int_equal(xy_place_compute(m, t, &o, &p), XY_OK);
            check_balance(p, t);
            check_cost(p, m, t);
            assert_int_equal(xy_place_compute(m, t, &o, &q), XY_OK);
            assert_memory_equal(p->leaf_of, q->leaf_of, n * sizeof(*p->leaf_of));
            xy_place_destroy(p);
            xy_place_destroy(q);
        }
        xy_matrix_destroy(m);
        xy_target_destroy(t);
    }
}

/* All placements of n processes on n leaves, by Heap's recursion. */
static void exhaust(const xy_matrix_t *m, const xy_target_t *t, uint32_t *leaf_of, uint32_t k,
                    double *least)
{
    if (k == m->n) {
        xy_place_cost_t cost;

        assert_int_equal(xy_place_evaluate(m, XY_METRIC_SIZE, t, leaf_of, &cost), XY_OK);
        *least = cost.weighted < *least ? cost.weighted : *least;
        return;
    }
    for (uint32_t i = k; i < m->n; i++) {
        uint32_t other = leaf_of[i];

        leaf_of[i] = leaf_of[k];
        leaf_of[k] = other;
        exhaust(m, t, leaf_of, k + 1, least);
        leaf_of[k] = leaf_of[i];
        leaf_of[i] = other;
    }
}

static void test_small_ones_are_near_the_best_there_is(void **state)
{
    static const char *const trees[] = {"2x2x2", "2x3", "4x2", "2x4", "torus:2x3"};
    double sum = 0;
    int count = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= (XYLEM_SANITIZED ? 5 : 25); seed++) {
        xy_machine_t *machine = NULL;
        xy_target_t *t;
        uint64_t random = seed;
        uint32_t leaf_of[8] = {0, 1, 2, 3, 4, 5, 6, 7};
        xy_place_options_t o = {.strategy = "multisection", .seed = seed};
        double least = INFINITY;
        xy_matrix_t *m;
        xy_place_t *p;

        if (xy_target_is_grid_text(trees[seed % 5])) {
            assert_int_equal(xy_target_grid(trees[seed % 5], NULL, &t), XY_OK);
        } else {
            assert_int_equal(xy_machine_load(trees[seed % 5], &machine), XY_OK);
            assert_int_equal(xy_target_create(machine, NULL, &t), XY_OK);
        }
        m = random_matrix(&random, t->leaves, 3);
        exhaust(m, t, leaf_of, 0, &least);
        assert_int_equal(xy_place_compute(m, t, &o, &p), XY_OK);
        assert_true(p->cost.weighted >= least * (1 - 1e-12));
        assert_true(p->cost.weighted <= least * 1.25);
        sum += p->cost.weighted / least;
        count++;
        xy_place_destroy(p);
        xy_matrix_destroy(m);
        xy_target_destroy(t);
        xy_machine_destroy(machine);
    }
    assert_true(sum / count < 1.02);
}

/* The core with number r runs process r. */
static double cost_of_numbers(const xy_matrix_t *m, const xy_target_t *t)
{
    uint32_t leaf_of[8];
    xy_place_cost_t cost;

    for (uint32_t leaf = 0; leaf < t->leaves; leaf++)
        leaf_of[t->logical[leaf]] = leaf;
    assert_int_equal(xy_place_evaluate(m, XY_METRIC_SIZE, t, leaf_of, &cost), XY_OK);
    return cost.weighted;
}

/* Nodes of several cores in a torus or mesh: auto is no worse than the order of the numbers. */
static void test_tori_of_nodes(void **state)
{
    static const char *const tori[] = {"torus:2x2 core:2", "mesh:4 core:2", "torus:5 core:1",
                                       "mesh:2 numa:2 core:2", "torus:3 core:2"};
    double sum = 0;
    int count = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= (XYLEM_SANITIZED ? 5 : 25); seed++, count++) {
        uint64_t random = seed;
        uint32_t leaf_of[8] = {0, 1, 2, 3, 4, 5, 6, 7};
        xy_place_options_t o = {.seed = seed};
        double least = INFINITY;
        xy_machine_t *machine;
        xy_target_t *t;
        xy_matrix_t *m;
        xy_place_t *p;

        assert_int_equal(xy_machine_load(tori[seed % 5], &machine), XY_OK);
        assert_int_equal(xy_target_check(machine), XY_OK);
        assert_int_equal(xy_target_create(machine, NULL, &t), XY_OK);
        m = random_matrix(&random, t->leaves, 3);
        exhaust(m, t, leaf_of, 0, &least);
        assert_int_equal(xy_place_compute(m, t, &o, &p), XY_OK);
        assert_true(p->cost.weighted >= least * (1 - 1e-12));
        assert_true(p->cost.weighted <= least * 1.1);
        assert_true(p->cost.weighted <= cost_of_numbers(m, t) * (1 + 1e-12));
        sum += p->cost.weighted / least;
        xy_place_destroy(p);
        xy_matrix_destroy(m);
        xy_target_destroy(t);
        xy_machine_destroy(machine);
    }
    assert_true(sum / count < 1.02);
}

/* Whole nodes change places: a torus of groups that talk most inside comes to the nodes of a torus,
 * and the ways between them are at most a tenth longer than they must be. */
static void test_nodes_change_places(void **state)
{
    enum { NODES = 16, CORES = 4, N = NODES * CORES };
    enum { INSIDE = N * 1000 * 2, BETWEEN = N * 2 * 10 * 3 };
    xy_vec_t entries = XY_VEC_INIT(xy_matrix_entry_t);
    xy_place_options_t o = {.strategy = "multisection", .seed = 1};
    xy_machine_t *machine;
    xy_target_t *t;
    xy_matrix_t *m;
    xy_place_t *p;

    (void)state;
    for (uint32_t i = 0; i < NODES; i++)
        for (uint32_t k = 0; k < CORES; k++) {
            uint32_t own = i * CORES + k;
            xy_matrix_entry_t inside = {own, i * CORES + (k + 1) % CORES, 1000, 1};
            xy_matrix_entry_t right = {own, (i / 4 * 4 + (i + 1) % 4) * CORES + k, 10, 1};
            xy_matrix_entry_t down = {own, (i + 4) % NODES * CORES + k, 10, 1};

            assert_int_equal(xy_vec_append(&entries, &inside), XY_OK);
            assert_int_equal(xy_vec_append(&entries, &right), XY_OK);
            assert_int_equal(xy_vec_append(&entries, &down), XY_OK);
        }
    assert_int_equal(xy_matrix_build(N, entries.data, entries.count, false, &m), XY_OK);
    xy_vec_cleanup(&entries);
    assert_int_equal(xy_machine_load("torus:4x4 core:4", &machine), XY_OK);
    assert_int_equal(xy_target_create(machine, NULL, &t), XY_OK);
    assert_int_equal(xy_place_compute(m, t, &o, &p), XY_OK);
    for (uint32_t r = 0; r < N; r++)
        assert_int_equal(t->cell[p->leaf_of[r]], t->cell[p->leaf_of[r / CORES * CORES]]);
    assert_true(p->cost.hop_bytes - INSIDE <= 1.1 * BETWEEN);
    xy_place_destroy(p);
    xy_target_destroy(t);
    xy_machine_destroy(machine);
    xy_matrix_destroy(m);
}

static xy_target_t *tree(const char *text)
{
    xy_machine_t *machine;
    xy_target_t *t;

    assert_int_equal(xy_machine_load(text, &machine), XY_OK);
    assert_int_equal(xy_target_create(machine, NULL, &t), XY_OK);
    xy_machine_destroy(machine);
    return t;
}

static void test_the_worked_example(void **state)
{
    static const struct {
        const char *strategy;
        uint32_t logical[8], physical[8];
    } answers[] = {
        {"treematch", {0, 2, 4, 6, 1, 3, 5, 7}, {0, 4, 1, 5, 2, 6, 3, 7}},
        {"packed", {0, 1, 2, 3, 4, 5, 6, 7}, {0, 2, 4, 6, 1, 3, 5, 7}},
        {"round-robin", {0, 4, 1, 5, 2, 6, 3, 7}, {0, 1, 2, 3, 4, 5, 6, 7}},
    };
    xy_target_t *t = tree("package:2 l3:2 core:2(indexes=0,2,4,6,1,3,5,7)");
    xy_matrix_t *m;

    (void)state;
    assert_int_equal(xy_matrix_read(XYLEM_SOURCE_DIR "/tests/data/place/treematch8.mat", &m),
                     XY_OK);
    for (int i = 0; i < 3; i++) {
        xy_place_options_t o = {.strategy = answers[i].strategy};
        xy_place_t *p;

        assert_int_equal(xy_place_compute(m, t, &o, &p), XY_OK);
        for (int r = 0; r < 8; r++) {
            assert_int_equal(t->logical[p->leaf_of[r]], answers[i].logical[r]);
            assert_int_equal(t->physical[p->leaf_of[r]], answers[i].physical[r]);
        }
        if (i == 0) { /* the traffic between the halves, in both directions */
            assert_true(p->cost.max_load == 2426);
            assert_true(p->cost.hop_bytes == 22016);
        }
        xy_place_destroy(p);
    }
    xy_matrix_destroy(m);
    xy_target_destroy(t);
}

/* A box of nx x ny x nz with ranks in any order. */
static xy_matrix_t *box(uint32_t nx, uint32_t ny, uint32_t nz, uint64_t seed)
{
    uint32_t n = nx * ny * nz, count = 0, *label = malloc(n * sizeof(*label));
    xy_matrix_entry_t *e = malloc((size_t)n * 3 * sizeof(*e));
    xy_matrix_t *m;

    assert_non_null(label);
    assert_non_null(e);
    place_shuffle(label, n, &seed);
    for (uint32_t i = 0; i < n; i++) {
        if (i % nx + 1 < nx)
            e[count++] = (xy_matrix_entry_t){label[i], label[i + 1], 1, 1};
        if (i / nx % ny + 1 < ny)
            e[count++] = (xy_matrix_entry_t){label[i], label[i + nx], 1, 1};
        if (i / nx / ny + 1 < nz)
            e[count++] = (xy_matrix_entry_t){label[i], label[i + nx * ny], 1, 1};
    }
    assert_int_equal(xy_matrix_build(n, e, count, false, &m), XY_OK);
    free(label);
    free(e);
    return m;
}

/* 16 x 16 on 16 nodes of 16: squares of 4 x 4 leave 6 * 16 links between nodes, and so on. */
static void test_grids_are_cut_into_bricks(void **state)
{
    static const struct {
        uint32_t x, y, z, between;
        const char *tree;
    } cases[] = {{16, 16, 1, 96, "16x16"},
                 {8, 8, 8, 192, "8x64"},
                 {16, 8, 8, 960, "64x16"},
                 {24, 12, 1, 36 + 24, "6x48"}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (uint64_t seed = 1; seed < 4; seed++) {
            xy_target_t *t = tree(cases[i].tree);
            xy_matrix_t *m = box(cases[i].x, cases[i].y, cases[i].z, seed);
            xy_place_options_t o = {
                .strategy = "multisection", .seed = seed, .objective = XY_OBJECTIVE_HOPS};
            xy_place_t *p;

            assert_int_equal(xy_place_compute(m, t, &o, &p), XY_OK);
            assert_true(p->cost.hop_bytes <= 2 * (double)m->first[m->n] + 2 * cases[i].between);
            xy_place_destroy(p);
            xy_matrix_destroy(m);
            xy_target_destroy(t);
        }
}

/* Squares and rectangles again, from groups that grow from the leaves up. The costs are those of
 * TreeMatch in Open MPI 4.1.4. */
static void test_treematch_finds_the_squares_of_lu(void **state)
{
    static const struct {
        const char *tree;
        uint32_t side;
        double weighted;
    } cases[] = {{"16x4", 8, 2368000},
                 {"2x8x4", 8, 5568000},
                 {"4x2x8", 8, 8128000},
                 {"16x2x8", 16, 46720000},
                 {"4x4x2x8", 16, 174720000}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t side = cases[i].side, count = 0;
        xy_matrix_entry_t e[2 * 16 * 16];
        xy_place_options_t o = {.strategy = "treematch"};
        xy_target_t *t = tree(cases[i].tree);
        xy_matrix_t *m;
        xy_place_t *p;

        for (uint32_t r = 0; r < side * side; r++) {
            if (r % side + 1 < side)
                e[count++] = (xy_matrix_entry_t){r, r + 1, 2000, 1};
            if (r + side < side * side)
                e[count++] = (xy_matrix_entry_t){r, r + side, 2000, 1};
        }
        assert_int_equal(xy_matrix_build(side * side, e, count, false, &m), XY_OK);
        assert_int_equal(xy_place_compute(m, t, &o, &p), XY_OK);
        assert_true(p->cost.weighted <= 1.02 * cases[i].weighted);
        xy_place_destroy(p);
        xy_matrix_destroy(m);
        xy_target_destroy(t);
    }
}

static void test_few_processes_stay_together(void **state)
{
    xy_target_t *t = tree("8x2x4");
    uint64_t seed = 5;
    xy_matrix_t *m = random_matrix(&seed, 4, 6);

    (void)state;
    for (int s = 0; s < 5; s++) {
        xy_place_options_t o = {.strategy = xy_strategies[s]->name};
        xy_place_t *p;

        if (s == 3 || !xy_strategy_is_available(xy_strategies[s])) /* Scotch spreads them */
            continue;
        assert_int_equal(xy_place_compute(m, t, &o, &p), XY_OK);
        for (int r = 1; r < 4; r++)
            assert_true(xy_target_hops(t, p->leaf_of[0], p->leaf_of[r]) <= 2);
        xy_place_destroy(p);
    }
    xy_matrix_destroy(m);
    xy_target_destroy(t);
}

static void test_loads_are_balanced(void **state)
{
    static const double load[8] = {7, 1, 1, 1, 1, 1, 1, 1};
    xy_target_t *t = tree("2");
    uint64_t seed = 9;
    xy_matrix_t *m = random_matrix(&seed, 8, 3);

    (void)state;
    for (int s = 0; xy_strategies[s] != NULL; s++) {
        xy_place_options_t o = {.strategy = xy_strategies[s]->name, .load = load};
        double carried[2] = {0, 0};
        xy_place_t *p;

        if (!xy_strategy_is_available(xy_strategies[s]))
            continue;
        assert_int_equal(xy_place_compute(m, t, &o, &p), XY_OK);
        for (int r = 0; r < 8; r++)
            carried[p->leaf_of[r]] += load[r];
        assert_true(carried[0] == 7 && carried[1] == 7);
        xy_place_destroy(p);
    }
    xy_matrix_destroy(m);
    xy_target_destroy(t);
}

static void test_distances_on_grids(void **state)
{
    xy_target_t *t, *u;

    (void)state;
    assert_int_equal(xy_target_grid("torus:8x4", NULL, &t), XY_OK);
    assert_int_equal(xy_target_grid("mesh:8x4", NULL, &u), XY_OK);
    for (uint32_t a = 0; a < 32; a++)
        for (uint32_t b = 0; b < 32; b++) {
            int dx = abs((int)(t->cell[a] % 8) - (int)(t->cell[b] % 8));
            int dy = abs((int)(t->cell[a] / 8) - (int)(t->cell[b] / 8));

            assert_true(xy_target_hops(u, a, b) == dx + dy);
            assert_true(xy_target_hops(t, a, b) == (dx > 4 ? 8 - dx : dx) + (dy > 2 ? 4 - dy : dy));
        }
    xy_target_destroy(t);
    xy_target_destroy(u);
    testing_listen();
    assert_int_equal(xy_target_grid("torus:8x", NULL, &t), XY_EPARSE);
    assert_int_equal(xy_target_grid("mesh:0", NULL, &t), XY_EPARSE);
    assert_int_equal(xy_target_grid("mesh:99999x99999", NULL, &t), XY_ELIMIT);
    assert_int_equal(testing_said_count, 3);
    xy_error_handler_set(NULL, NULL);
}

static void test_distances_are_the_machine_s(void **state)
{
    static const char *const tori[] = {"torus:5x4 core:3", "mesh:3x3x2 package:2 core:2"};

    (void)state;
    for (uint64_t seed = 1; seed < 60; seed++) {
        xy_machine_t *m = seed % 5 > 1 ? random_machine(seed) : random_rest(tori[seed % 5], seed);
        xy_target_t *t;

        if (xy_machine_usable(m, 0) > 0) {
            assert_int_equal(xy_target_create(m, NULL, &t), XY_OK);
            assert_int_equal(t->leaves, xy_machine_usable(m, 0));
            for (uint32_t a = 0; a < t->leaves && a < 20; a++)
                for (uint32_t b = 0; b < t->leaves && b < 20; b++)
                    assert_true(xy_target_hops(t, a, b) ==
                                xy_machine_hops(m, m->leaf[t->logical[a]], m->leaf[t->logical[b]]));
            xy_target_destroy(t);
        }
        xy_machine_destroy(m);
    }
}

static void test_memory_runs_out(void **state)
{
    xy_target_t *t = tree("3x2x2");
    uint64_t seed = 3;
    xy_matrix_t *m = random_matrix(&seed, 12, 3);

    (void)state;
    testing_listen();
    for (int s = 0; xy_strategies[s] != NULL; s++) {
        xy_place_options_t o = {.strategy = xy_strategies[s]->name, .restarts = 1};

        /* The first asks all the others, each of which has its turn: some of its many. */
        for (long k = 1; xy_strategy_is_available(xy_strategies[s]); k += k <= 20           ? 1
                                                                          : s == 0          ? 37
                                                                          : XYLEM_SANITIZED ? 5
                                                                                            : 1) {
            xy_place_t *p = NULL;
            xy_status_t st;

            xy_memory_fail_at(k);
            st = xy_place_compute(m, t, &o, &p);
            if (!xy_memory_fail_hit()) {
                xy_memory_fail_at(0);
                assert_int_equal(st, XY_OK);
                xy_place_destroy(p);
                break;
            }
            assert_int_equal(st, XY_ENOMEM);
            assert_null(p);
        }
    }
    xy_error_handler_set(NULL, NULL);
    xy_matrix_destroy(m);
    xy_target_destroy(t);
}

static char *printed(const xy_place_t *p, const xy_target_t *t, const xy_machine_t *m,
                     xy_place_format_t format)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    assert_int_equal(xy_place_print(p, t, m, format, file), XY_OK);
    fclose(file);
    return text;
}

static void test_outputs(void **state)
{
    static const char *const expected[] = {
        "3,2,3,2\n",
        NULL, /* Xylem runs on one host */
        "rank 0=+n0 slot=1\nrank 1=+n0 slot=0\nrank 2=+n1 slot=1\nrank 3=+n1 slot=0\n",
        "rank 0=+n0 slot=1\nrank 1=+n0 slot=0\nrank 2=+n1 slot=1\nrank 3=+n1 slot=0\n",
        "-bind-to user:3,2 -rankmap 0,0,1,1\n",
        "node0:2 binding=user:3,2\nnode1:2 binding=user:3,2\n",
        "node0\nnode0\nnode1\nnode1\n",
    };
    uint32_t leaf_of[4] = {1, 0, 3, 2};
    xy_place_t p = {.n = 4, .leaf_of = leaf_of};
    xy_machine_t *m;
    xy_target_t *t;

    (void)state;
    assert_int_equal(xy_machine_load("node:2 core:2(indexes=2,3)", &m), XY_OK);
    assert_int_equal(xy_target_create(m, NULL, &t), XY_OK);
    for (int f = 0; f < XY_PLACE_FORMATS; f++)
        if (expected[f] != NULL) {
            char *text = printed(&p, t, m, (xy_place_format_t)f);

            assert_string_equal(text, expected[f]);
            free(text);
        }
    leaf_of[2] = 2; /* the second host in another order */
    leaf_of[3] = 3;
    testing_listen();
    assert_int_equal(xy_place_print(&p, t, m, XY_PLACE_MPICH, stdout), XY_EINVAL);
    assert_int_equal(xy_place_print(&p, t, m, XY_PLACE_XYLEM, stdout), XY_EINVAL);
    assert_int_equal(testing_said_count, 2);
    xy_error_handler_set(NULL, NULL);
    xy_target_destroy(t);
    xy_machine_destroy(m);
}

/* A leaf of a grid is a host; the third in the order of the boxes is cell 1. */
static void test_outputs_for_grids(void **state)
{
    static const char *const expected[] = {
        [XY_PLACE_RANKFILE] = "rank 0=+n1 slot=0\nrank 1=+n0 slot=0\n",
        [XY_PLACE_RANKFILE5] = "rank 0=+n1 slot=0\nrank 1=+n0 slot=0\n",
        [XY_PLACE_MPICH] = "-rankmap 1,0\n",
        [XY_PLACE_MPICH_HOSTS] = "node1:1\nnode0:1\n",
        [XY_PLACE_SLURM] = "node1\nnode0\n",
    };
    uint32_t leaf_of[2] = {2, 0};
    xy_place_t p = {.n = 2, .leaf_of = leaf_of};
    xy_target_t *t;

    (void)state;
    assert_int_equal(xy_target_grid("torus:2x2", NULL, &t), XY_OK);
    for (int f = XY_PLACE_RANKFILE; f < XY_PLACE_FORMATS; f++) {
        char *text = printed(&p, t, NULL, (xy_place_format_t)f);
        assert_string_equal(text, expected[f]);
        free(text);
    }
    xy_target_destroy(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_strategy_gives_a_balanced_placement),
        cmocka_unit_test(test_small_ones_are_near_the_best_there_is),
        cmocka_unit_test(test_tori_of_nodes),
        cmocka_unit_test(test_nodes_change_places),
        cmocka_unit_test(test_the_worked_example),
        cmocka_unit_test(test_grids_are_cut_into_bricks),
        cmocka_unit_test(test_treematch_finds_the_squares_of_lu),
        cmocka_unit_test(test_few_processes_stay_together),
        cmocka_unit_test(test_loads_are_balanced),
        cmocka_unit_test(test_distances_on_grids),
        cmocka_unit_test(test_distances_are_the_machine_s),
        cmocka_unit_test(test_memory_runs_out),
        cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_outputs_for_grids),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
