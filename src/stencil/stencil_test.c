/* SPDX-License-Identifier: BSD-3-Clause */
/* Stencils on the platform of the published experiments: quality, bounds, exhaustive search. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "stencil/internal.h"
#include "testing/base.h"

static xy_stencil_run_t attila(int64_t blocks, int gpus, const char *policy)
{
    xy_stencil_run_t run = {.grid = XY_STENCIL_DEFAULT,
                            .machine = XYLEM_SOURCE_DIR "/machines/attila.xml",
                            .gpus = gpus};

    run.grid.blocks[0] = blocks;
    run.how.policy = policy;
    return run;
}

static xy_stencil_result_t result_of(const xy_stencil_run_t *run)
{
    xy_stencil_result_t r;

    assert_int_equal(xy_stencil_run(run, &r), XY_OK);
    assert_true(r.sim.makespan >= r.sim.compute_bound);
    assert_true(r.sim.makespan >= r.bus_bound * (1 - 1e-6));
    return r;
}

static double ratio_of(const xy_stencil_run_t *run)
{
    xy_stencil_result_t r = result_of(run);

    return r.sim.makespan / r.sim.compute_bound;
}

/* Builds with sanitizers, many times slower, look at a few of the cases. */
#if XYLEM_SANITIZED
enum { BLOCKS_MAX = 66, BLOCKS_STEP = 200, DIMS_MAX = 2, SEARCH_MAX = 5, ITERATIONS = 2 };
#else
enum { BLOCKS_MAX = 666, BLOCKS_STEP = 200, DIMS_MAX = 3, SEARCH_MAX = 7, ITERATIONS = 6 };
#endif

/* From 198 MB on GPUs of 200 MiB. */
static void test_own_policy_is_near_the_bounds(void **state)
{
    (void)state;
    for (int64_t blocks = 66; blocks <= BLOCKS_MAX; blocks += BLOCKS_STEP) {
        for (int gpus = 1; gpus <= 2; gpus++) {
            xy_stencil_run_t run = attila(blocks, gpus, NULL);
            xy_stencil_result_t r = result_of(&run);
            uint64_t least = xy_stencil_window_volume(&run.grid, 66);

            assert_true(r.sim.makespan <= r.sim.compute_bound * (gpus == 1 ? 1.05 : 1.10));
            assert_true((double)(r.sim.loads + r.sim.stores) <= 1.3 * (double)least);
        }
    }
}

static void test_own_policy_balances(void **state)
{
    static const int64_t sizes[] = {66, 166, 366, 666};

    (void)state;
    for (int load = XY_STENCIL_STATIC; load <= XY_STENCIL_DYNAMIC; load++)
        for (int i = 0; i < 4 && sizes[i] <= BLOCKS_MAX; i++) {
            xy_stencil_run_t run = attila(sizes[i], 2, NULL);

            run.memory = XY_TASK_NO_LIMIT;
            run.grid.load = (xy_stencil_load_t)load;
            assert_true(ratio_of(&run) <= 1.0505);
        }
}

static void test_own_policy_is_never_far_behind(void **state)
{
    (void)state;
    for (int dims = 2; dims <= DIMS_MAX; dims++)
        for (int graph = 0; graph < 3; graph++)
            for (int gpus = 1; gpus <= 2; gpus++) {
                xy_stencil_run_t run = attila(dims == 2 ? 20 : 10, gpus, NULL);
                double mine, best = 1e9;

                if (!testing_is_chosen((unsigned)(graph + gpus), 2))
                    continue;
                assert_true(xy_stencil_blocks_parse(dims == 2 ? "20x20" : "10x10x10", &run.grid));
                run.grid.graph = (xy_stencil_graph_t)graph;
                run.grid.iterations = ITERATIONS;
                run.memory = (uint64_t)(dims == 2 ? 300 : 600) << 20;
                mine = ratio_of(&run);
                for (int i = 1; xy_task_policies[i] != NULL; i++) {
                    double other;

                    run.how.policy = xy_task_policies[i]->name;
                    other = ratio_of(&run);
                    best = other < best ? other : best;
                }
                assert_true(mine <= 1.05 * best);
            }
}

/* The numbers of blocks moved that are known for the red-black graph in 66 blocks of memory. */
static void test_window_volume(void **state)
{
    static const struct {
        int64_t blocks;
        uint64_t volume;
    } known[] = {{166, 927}, {366, 2527}, {666, 4927}};

    (void)state;
    for (int i = 0; i < 3; i++) {
        xy_stencil_t s = XY_STENCIL_DEFAULT;

        s.blocks[0] = known[i].blocks;
        /* A final store more or less: the known values come from one run of one schedule. */
        assert_in_range(xy_stencil_window_volume(&s, 66), known[i].volume - 4, known[i].volume + 4);
    }
}

/* ---- Exhaustive search of the fewest loads ---- */

enum { STATES = 1 << 20 };

typedef struct {
    int blocks, steps, room; /* steps: half iterations a block is written in */
    uint8_t seen[STATES];
    uint32_t queue[2][STATES];
    int count[2];
} search_t;

/* Red-black: block x of iteration t can run when its neighbours have done t (odd: t + 1, as the
 * even ones come first). Run all that can from `held`. */
static void run_all(const search_t *s, int level[SEARCH_MAX], int held)
{
    bool is_changed = true;

    while (is_changed) {
        is_changed = false;
        for (int x = 1; x < s->blocks - 1; x++) {
            int need = level[x] + (x % 2), left = x == 1 ? s->steps : level[x - 1];
            int right = x == s->blocks - 2 ? s->steps : level[x + 1];

            if (level[x] == s->steps || (held >> (x - 1) & 7) != 7 || left < need || right < need)
                continue;
            level[x]++;
            is_changed = true;
        }
    }
}

static uint32_t encode(const search_t *s, const int level[SEARCH_MAX], int held)
{
    uint32_t code = 0;

    for (int x = 1; x < s->blocks - 1; x++)
        code = code * (uint32_t)(s->steps + 1) + (uint32_t)level[x];
    return code << s->blocks | (uint32_t)held;
}

static bool decode(const search_t *s, uint32_t code, int level[SEARCH_MAX], int *held)
{
    bool is_done = true;

    *held = (int)(code & ((1U << s->blocks) - 1));
    code >>= s->blocks;
    for (int x = s->blocks - 2; x > 0; x--) {
        level[x] = (int)(code % (uint32_t)(s->steps + 1));
        code /= (uint32_t)(s->steps + 1);
        is_done = is_done && level[x] == s->steps;
    }
    return is_done;
}

static void reach(search_t *s, int side, const int level[SEARCH_MAX], int held)
{
    int next[SEARCH_MAX];
    uint32_t code;

    memcpy(next, level, sizeof(next));
    run_all(s, next, held);
    code = encode(s, next, held);
    assert_true(code < STATES);
    if (s->seen[code])
        return;
    s->seen[code] = 1;
    s->queue[side][s->count[side]++] = code;
}

static void expand(search_t *s, int side, const int level[SEARCH_MAX], int held)
{
    for (int load = 0; load < s->blocks; load++) {
        if (held >> load & 1)
            continue;
        if (__builtin_popcount((unsigned)held) < s->room)
            reach(s, side, level, held | 1 << load);
        else
            for (int out = 0; out < s->blocks; out++)
                if (held >> out & 1)
                    reach(s, side, level, (held & ~(1 << out)) | 1 << load);
    }
}

static int fewest_loads(search_t *s)
{
    int level[SEARCH_MAX] = {0}, held;

    memset(s->seen, 0, sizeof(s->seen));
    s->count[0] = s->count[1] = 0;
    reach(s, 0, level, 0);
    for (int loads = 0;; loads++) {
        int side = loads % 2;

        s->count[1 - side] = 0;
        for (int i = 0; i < s->count[side]; i++) {
            if (decode(s, s->queue[side][i], level, &held))
                return loads;
            expand(s, 1 - side, level, held);
        }
        assert_true(s->count[1 - side] > 0);
    }
}

static void test_against_exhaustive_search(void **state)
{
    search_t *s = xy_calloc(1, sizeof(*s));

    (void)state;
    assert_non_null(s);
    for (int blocks = 5; blocks <= SEARCH_MAX; blocks++)
        for (int room = 3; room <= 5; room++) {
            int fewest, iterations = blocks == SEARCH_MAX ? 3 : 4;

            memset(s, 0, sizeof(*s)); /* too large for a literal on the stack */
            s->blocks = blocks;
            s->steps = iterations;
            s->room = room;
            fewest = fewest_loads(s);
            for (int i = 0; xy_task_policies[i] != NULL; i++) {
                xy_stencil_run_t run = attila(blocks, 1, xy_task_policies[i]->name);
                xy_stencil_result_t r;

                run.grid.iterations = iterations;
                run.memory = (uint64_t)room * run.grid.block_bytes;
                r = result_of(&run);
                assert_true((int)r.sim.loads >= fewest);
                if (strcmp(xy_task_policies[i]->name, "closure") == 0)
                    /* In the narrowest memories two tasks in the pipeline crowd each other. */
                    assert_true(2 * (int)r.sim.loads <= (room == 5 ? 3 : 5) * fewest);
            }
        }
    xy_free(s);
}

/* On two GPUs the published curves rank the policies, from 500 MB on. They were made with a runtime
 * that evicts the least recently used block: the eviction that dmdar has by default gains so much
 * that it passes cache-oblivious. */
static void test_order_of_published_curves(void **state)
{
    static const char *const order[] = {"cache-oblivious", "dmdar", "lws"};

    static const int64_t sizes[] = {366, 666};

    (void)state;
    for (int s = 0; s < 2 && (s == 0 || sizes[s] <= BLOCKS_MAX); s++) {
        double last = 0;

        for (int i = 0; i < 3; i++) {
            xy_stencil_run_t run = attila(sizes[s], 2, order[i]);
            double ratio;

            run.grid.graph = i == 0 ? XY_STENCIL_NATURAL : XY_STENCIL_RED_BLACK;
            run.how.eviction = "lru";
            ratio = ratio_of(&run);
            assert_true(ratio > last);
            last = ratio;
        }
    }
}

/* The weight of transfers decides little: a transfer is expected to take so much longer than alone
 * that a task rarely leaves the GPU with its data. */
static void test_weight_of_transfers(void **state)
{
    double least = INFINITY, most = 0;

    (void)state;
    for (double beta = 0.5; beta <= 2 && BLOCKS_MAX >= 666; beta *= 2) {
        xy_stencil_run_t run = attila(666, 2, "dmdar");
        double ratio;

        run.memory = 180 << 20;
        run.how.eviction = "lru";
        run.how.params.alpha = 1;
        run.how.params.beta = beta;
        ratio = ratio_of(&run);
        least = fmin(least, ratio);
        most = fmax(most, ratio);
    }
    assert_true(most <= 1.2 * least);
}

/* How many data GPUs load early is chosen by what ends first. */
static void test_chosen_look_ahead(void **state)
{
    static const uint64_t memories[] = {8, 60, 0}; /* blocks */
    static const char *const policies[] = {"closure", "foresight"};
    xy_task_ahead_t ahead = {.launch = 3e-6, .decision = 1e-7, .once = 4e-3};

    (void)state;
    for (int i = 0; i < 6; i++) {
        xy_stencil_run_t run = attila(3, 1, policies[i % 2]);
        xy_stencil_result_t chosen, given;

        if (!testing_is_chosen((unsigned)i, 3)) /* each policy once */
            continue;
        assert_true(xy_stencil_blocks_parse(XYLEM_SANITIZED ? "100x1" : "400x1", &run.grid));
        run.grid.graph = XY_STENCIL_JACOBI;
        run.grid.iterations = 20;
        run.grid.block_bytes = 1 << 16;
        run.grid.task_seconds = 5e-3; /* long enough for all trials */
        run.memory = memories[i / 2] > 0 ? memories[i / 2] << 16 : XY_TASK_NO_LIMIT;
        run.how.ahead = &ahead;
        run.how.params.look_ahead = XY_TASK_CHOOSE;
        assert_int_equal(xy_stencil_run(&run, &chosen), XY_OK);
        run.how.policy = "closure";
        for (int32_t n = 0; n <= 16; n = n > 0 ? 2 * n : 1) {
            run.how.params.look_ahead = n;
            assert_int_equal(xy_stencil_run(&run, &given), XY_OK);
            assert_int_equal(given.sim.look_ahead, n);
            assert_true(chosen.sim.makespan <= 1.011 * given.sim.makespan);
        }
        if (i % 2 == 1)
            continue;
        run.how.params.look_ahead = chosen.sim.look_ahead;
        assert_int_equal(xy_stencil_run(&run, &given), XY_OK);
        assert_true(given.sim.makespan == chosen.sim.makespan &&
                    given.sim.loads == chosen.sim.loads);
    }
}

/* A long run is tried with fewer rows and iterations, but with more rows than memory holds. */
static void test_trials_are_short(void **state)
{
    xy_stencil_t s = XY_STENCIL_DEFAULT;
    xy_task_platform_t *p = xy_task_platform_new(1, 2, 0);
    xy_graph_t *g;

    (void)state;
    assert_non_null(p);
    p->capacity[1] = 20 * s.block_bytes;
    s.blocks[0] = 60;
    s.iterations = 100;
    assert_int_equal(stencil_build_trial(&s, p, &g), XY_OK);
    assert_null(g);
    s.blocks[0] = 6000;
    assert_int_equal(stencil_build_trial(&s, p, &g), XY_OK);
    assert_non_null(g);
    assert_true(xy_graph_ops(g) > 20 * 16 && xy_graph_ops(g) < 6000 * 100 / 10);
    xy_graph_destroy(g);
    xy_task_platform_destroy(p);
}

static void test_bad_descriptions(void **state)
{
    xy_stencil_t s = XY_STENCIL_DEFAULT;
    xy_graph_t *g = NULL;

    (void)state;
    assert_false(xy_stencil_blocks_parse("", &s));
    assert_false(xy_stencil_blocks_parse("3x", &s));
    assert_false(xy_stencil_blocks_parse("3x3x3x3", &s));
    assert_false(xy_stencil_blocks_parse("-3", &s));
    assert_true(xy_stencil_blocks_parse("4x5", &s));
    assert_int_equal(s.points, 5);
    s.blocks[1] = 2;
    assert_int_equal(xy_stencil_build(&s, &g), XY_EINVAL);
    s.blocks[1] = 5;
    s.points = 7;
    assert_int_equal(xy_stencil_build(&s, &g), XY_EINVAL);
    assert_null(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_policy_is_near_the_bounds),
        cmocka_unit_test(test_own_policy_balances),
        cmocka_unit_test(test_own_policy_is_never_far_behind),
        cmocka_unit_test(test_window_volume),
        cmocka_unit_test(test_against_exhaustive_search),
        cmocka_unit_test(test_order_of_published_curves),
        cmocka_unit_test(test_weight_of_transfers),
        cmocka_unit_test(test_chosen_look_ahead),
        cmocka_unit_test(test_trials_are_short),
        cmocka_unit_test(test_bad_descriptions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
