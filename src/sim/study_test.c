/* SPDX-License-Identifier: BSD-3-Clause */
/* The gain of tasks with helping over split-tree: 32 to 63 ranks on 64 cores, trees of 2 MiB, the
 * global work fixed. And the writers of a sweep. */
#include <math.h>
#include <string.h>

#include "testing/sim.h"

static const xy_collective_t trees[] = {XY_COLL_REDUCE, XY_COLL_BCAST, XY_COLL_GATHER,
                                        XY_COLL_SCATTER, XY_COLL_ALLREDUCE};
static const xy_sim_way_t ways[] = {
    {"none", {.progress = XY_SIM_NONE}},
    {"split-tree",
     {.progress = XY_SIM_THREADS,
      .order = "semaphore",
      .comm_cores = -1,
      .split = XY_SIM_SPLIT_BEST}},
    {"tasks", {.progress = XY_SIM_TASKS, .comm_cores = -1}},
};

static xy_sim_sweep_t sweep_of(const xy_machine_t *m, const int *ranks, int rank_count,
                               const uint64_t *sizes, int size_count)
{
    xy_sim_sweep_t sweep = {.machine = m,
                            .title = m->name,
                            .collectives = trees,
                            .collective_count = 5,
                            .sizes = sizes,
                            .size_count = size_count,
                            .ranks = ranks,
                            .rank_count = rank_count,
                            .ways = ways,
                            .way_count = 3,
                            .mode = XY_SIM_EQUIVALENT_COMPUTE};

    xy_sim_costs_default(&sweep.costs);
    return sweep;
}

/* All work on all 64 cores, as if memory fed them all. */
static double free_bound(const xy_sim_point_t *p)
{
    return fmax(p->times.t_comp, (p->ranks * p->times.t_comp + p->times.work) / 64);
}

/* Where the memory lets tasks come near that: see docs/overlap.md. */
static double free_limit(const xy_sim_point_t *p)
{
    bool is_copy = p->collective == XY_COLL_GATHER || p->collective == XY_COLL_SCATTER;

    return is_copy || p->ranks < 59 ? 1.05 : 1.15;
}

static void test_tasks_win(void **state)
{
    static const uint64_t size = 2 << 20;
    enum { COUNT = XYLEM_SANITIZED ? 3 : 32 };
    int ranks[COUNT];
    xy_machine_t *m;
    xy_sim_sweep_t sweep;
    xy_vec_t points = XY_VEC_INIT(xy_sim_point_t);

    (void)state;
    for (int i = 0; i < COUNT; i++)
        ranks[i] = 32 + i;
    assert_int_equal(xy_machine_load(TESTING_KNL64, &m), XY_OK);
    sweep = sweep_of(m, ranks, COUNT, &size, 1);
    assert_int_equal(xy_sim_sweep(&sweep, &points), XY_OK);
    assert_int_equal(points.count, xy_sim_sweep_points(&sweep));
    for (size_t i = 0; i < points.count; i += 3) {
        const xy_sim_point_t *p = &XY_VEC_AT(&points, xy_sim_point_t, i);

        assert_int_equal(p[2].way, 2);
        assert_true(p[1].times.t_ovrl <= p[0].times.t_ovrl);
        if (p[2].times.t_ovrl > p[1].times.t_ovrl * 1.0001 || p[2].times.t_ovrl > 1.05 * p[2].bound)
            fail_msg("%s, %d ranks: tasks %g, split-tree %g, bound %g", xy_coll_name(p->collective),
                     p->ranks, p[2].times.t_ovrl, p[1].times.t_ovrl, p[2].bound);
        if (p[2].times.t_ovrl > free_limit(p) * free_bound(&p[2]))
            fail_msg("%s, %d ranks: tasks %g, all work on all cores %g",
                     xy_coll_name(p->collective), p->ranks, p[2].times.t_ovrl, free_bound(&p[2]));
    }
    xy_vec_cleanup(&points);
    xy_machine_destroy(m);
}

static void check_never_slower(const xy_vec_t *points)
{
    for (size_t i = 0; i < points->count; i += 3) {
        const xy_sim_point_t *p = &XY_VEC_AT(points, xy_sim_point_t, i);
        double tasks = p[2].times.t_ovrl, split = p[1].times.t_ovrl;

        if (tasks > split * 1.01)
            fail_msg("%s, %llu bytes, %d ranks: tasks %g, split-tree %g",
                     xy_coll_name(p->collective), (unsigned long long)p->size, p->ranks, tasks,
                     split);
    }
}

/* The engine that ships, at most 1 % slower than the best split-tree: 1 KiB to 4 MiB on the three
 * machines, 2 ranks to all cores but one. XYLEM_SOAK: every size and number of ranks. */
static void test_never_slower(void **state)
{
    static const struct {
        const char *machine;
        int cores;
    } machines[] = {{TESTING_KNL64, 64}, {TESTING_SKYLAKE48, 48}, {TESTING_HASWELL32, 32}};
    bool is_soak = testing_is_soak();
    int step = is_soak ? 1 : XYLEM_SANITIZED ? 40 : 13;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        uint64_t sizes[13];
        int ranks[64], count = 0;
        xy_vec_t points = XY_VEC_INIT(xy_sim_point_t);
        xy_machine_t *m;
        xy_sim_sweep_t sweep;

        for (int k = 0; k < 13; k++) /* every second one: 1 KiB, 4 KiB, ..., 4 MiB */
            sizes[is_soak ? k : k % 2 * 7 + k / 2] = UINT64_C(1024) << k;
        for (int n = 2; n < machines[i].cores - 4; n += step)
            ranks[count++] = n;
        for (int k = XYLEM_SANITIZED ? 2 : 4; k >= 1;
             k--) /* few communication cores: the hardest */
            ranks[count++] = machines[i].cores - k;
        assert_int_equal(xy_machine_load(machines[i].machine, &m), XY_OK);
        sweep = sweep_of(m, ranks, count, sizes, is_soak ? 13 : XYLEM_SANITIZED ? 3 : 7);
        assert_int_equal(xy_sim_sweep(&sweep, &points), XY_OK);
        check_never_slower(&points);
        xy_vec_cleanup(&points);
        xy_machine_destroy(m);
    }
}

/* Collectives without data, also by ranks alone. */
static void test_no_bytes(void **state)
{
    static const uint64_t size = 0;
    const int ranks = 6;
    xy_collective_t all[XY_COLL_COUNT];
    xy_machine_t *m;
    xy_vec_t points = XY_VEC_INIT(xy_sim_point_t);
    xy_sim_sweep_t sweep;

    (void)state;
    for (int c = 0; c < XY_COLL_COUNT; c++)
        all[c] = (xy_collective_t)c;
    assert_int_equal(xy_machine_load("core:8", &m), XY_OK);
    sweep = sweep_of(m, &ranks, 1, &size, 1);
    sweep.collectives = all;
    sweep.collective_count = XY_COLL_COUNT;
    sweep.ways = &(xy_sim_way_t){"none", {.progress = XY_SIM_TASKS}};
    sweep.way_count = 1;
    assert_int_equal(xy_sim_sweep(&sweep, &points), XY_OK);
    for (size_t i = 0; i < points.count; i++)
        assert_true(XY_VEC_AT(&points, xy_sim_point_t, i).times.t_comm < 1e-4);
    xy_vec_cleanup(&points);
    xy_machine_destroy(m);
}

static char *written(void (*write)(const xy_sim_sweep_t *, const xy_vec_t *, FILE *),
                     const xy_sim_sweep_t *sweep, const xy_vec_t *points)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    assert_non_null(file);
    write(sweep, points, file);
    fclose(file);
    return text;
}

static int occurrences(const char *text, const char *word)
{
    int n = 0;

    for (; (text = strstr(text, word)) != NULL; text++)
        n++;
    return n;
}

static void test_writers(void **state)
{
    static const uint64_t sizes[] = {1 << 16, 1 << 20};
    static const int ranks[] = {4, 8, 12};
    xy_machine_t *m;
    xy_sim_sweep_t sweep;
    xy_vec_t points = XY_VEC_INIT(xy_sim_point_t);
    char *text;

    (void)state;
    assert_int_equal(xy_machine_load("core:16", &m), XY_OK);
    sweep = sweep_of(m, ranks, 3, sizes, 2);
    assert_int_equal(xy_sim_sweep(&sweep, &points), XY_OK);
    text = written(xy_sim_write_csv, &sweep, &points);
    assert_int_equal(occurrences(text, "\n"), 1 + 5 * 2 * 3 * 3);
    assert_non_null(strstr(text, "reduce,65536,4,0,none,0,"));
    free(text);
    text = written(xy_sim_write_text, &sweep, &points);
    assert_int_equal(occurrences(text, "(simulated)"), 10);
    free(text);
    text = written(xy_sim_write_json, &sweep, &points);
    assert_int_equal(occurrences(text, "\"t_ovrl\""), 90);
    free(text);
    text = written(xy_sim_write_svg, &sweep, &points);
    assert_int_equal(occurrences(text, "class=\"title\""), 10);
    assert_int_equal(occurrences(text, "NaN") + occurrences(text, "inf"), 0);
    free(text);
    text = written(xy_sim_write_html, &sweep, &points);
    assert_int_equal(occurrences(text, "<svg "), 1 + 15);
    assert_int_equal(occurrences(text, "<tr>"), 91);
    free(text);
    xy_vec_cleanup(&points);
    xy_machine_destroy(m);
}

/* Two libraries, one point: the finding says how much each hides, the better one first, and the
 * picture has bars in their colours and no lines. */
static void test_finding(void **state)
{
    static const xy_collective_t bcast = XY_COLL_BCAST;
    static const uint64_t size = 1 << 20;
    static const int ranks = 8;
    xy_sim_way_t libraries[] = {{.name = "openmpi"}, {.name = "xylem"}, {.name = "mpich"}};
    xy_sim_sweep_t sweep = {.title = "here",
                            .is_measured = true,
                            .collectives = &bcast,
                            .collective_count = 1,
                            .sizes = &size,
                            .size_count = 1,
                            .ranks = &ranks,
                            .rank_count = 1,
                            .ways = libraries,
                            .way_count = 3};
    xy_vec_t points = XY_VEC_INIT(xy_sim_point_t);
    char *text;

    (void)state;
    for (int w = 0; w < 3; w++) {
        xy_sim_point_t p = {
            .collective = bcast,
            .size = size,
            .ranks = ranks,
            .way = w,
            .times = {.t_comm = 1e-3, .t_comp = 1e-3, .t_ovrl = w == 2 ? NAN : 2e-3 - w * 1e-3},
            .overlap = w == 1 ? 99 : 23};

        assert_int_equal(xy_vec_append(&points, &p), XY_OK);
    }
    text = written(xy_sim_write_html, &sweep, &points);
    assert_non_null(strstr(text, "<p class=\"finding\">Xylem hides 99 % of bcast, Open MPI 23 %; "
                                 "Xylem takes the least time.</p>"));
    assert_int_equal(occurrences(text, "<rect class=\"f0\""), 2); /* the bar, and its legend */
    assert_int_equal(occurrences(text, "<rect class=\"f4\""), 2);
    assert_int_equal(occurrences(text, "<path class=\"s"), 0);
    free(text);
    xy_vec_cleanup(&points);
}

/* All 17 have a graph with equal blocks. */
static void test_all_graphs(void **state)
{
    (void)state;
    for (int c = 0; c < XY_COLL_COUNT; c++) {
        xy_graph_t *g;

        assert_int_equal(xy_sim_graph(&(xy_sim_node_t){0}, (xy_collective_t)c, NULL, 7, 1000, &g),
                         XY_OK);
        assert_true(xy_graph_ops(g) > 0);
        xy_graph_destroy(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_bytes),     cmocka_unit_test(test_tasks_win),
        cmocka_unit_test(test_never_slower), cmocka_unit_test(test_writers),
        cmocka_unit_test(test_finding),      cmocka_unit_test(test_all_graphs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
