/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec --adapt without mpiexec: plans and profiles as text, forecasts, and series of runs in
 * worlds whose times are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "mpi/adapt/adapt.h"
#include "testing/base.h"

/* ---- Words ---- */

static void test_plans_are_words(void **state)
{
    static const char *const good[] = {
        "default",
        "place:matrix",
        "split:auto+comm-cores:2",
        "place:matrix+allreduce/64/1048576:ring+bcast/8/1:binomial",
    };
    static const char *const bad[] = {
        "",
        "place",
        "default+place:matrix",
        "comm-cores:0",
        "comm-cores:2x",
        "allreduce/64/1048576",
        "allreduce/64/1048576:none",
        "allreduce/0/1048576:ring",
        "allreduce/64/0:ring",
        "allreduce/64:ring",
        "allreduce/64/8:direct",
        "nothing/64/8:ring",
        "bcast/8/1:chain+bcast/8/2:chain+bcast/8/4:chain+bcast/8/8:chain+bcast/8/16:chain",
    };
    char word[XMPI_PLAN_WORD];
    mpi_plan_t plan;

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_true(mpi_plan_parse(good[i], &plan));
        assert_true(mpi_plan_format(&plan, word));
        assert_string_equal(word, good[i]);
        assert_true(xy_choose_is_word(word));
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (mpi_plan_parse(bad[i], &plan))
            fail_msg("'%s' is taken for a plan", bad[i]);
}

/* A word of the history has an end: plans that do not fit are no plans. */
static void test_long_plans_are_refused(void **state)
{
    const xy_coll_algorithm_t *a = xy_coll_find(XY_COLL_REDUCE_SCATTER_BLOCK, "recursive-doubling");
    mpi_plan_t plan = {.is_placed = true, .pick_count = XMPI_PLAN_PICKS};
    char word[XMPI_PLAN_WORD];

    (void)state;
    for (int i = 0; i < XMPI_PLAN_PICKS; i++)
        plan.picks[i] = (xy_coll_pick_t){XY_COLL_REDUCE_SCATTER_BLOCK, 1000000, 40 + i, a};
    assert_false(mpi_plan_format(&plan, word));
    plan.pick_count = 1;
    assert_true(mpi_plan_format(&plan, word));
}

/* ---- Profiles ---- */

static mpi_profile_t example(void)
{
    xy_vjob_calls_t calls[] = {
        {.collective = XY_COLL_BCAST,
         .procs = 16,
         .nodes = 4,
         .bytes = 8,
         .element = 8,
         .calls = 3,
         .seconds = 1e-5,
         .algorithm = xy_coll_find(XY_COLL_BCAST, "binomial"),
         .link = {1e-5, 1e-9, 1e-10, 1e-10}},
        {.collective = XY_COLL_ALLREDUCE,
         .procs = 16,
         .nodes = 4,
         .bytes = 65536,
         .element = 8,
         .calls = 10,
         .seconds = 0.01,
         .algorithm = xy_coll_find(XY_COLL_ALLREDUCE, "rabenseifner"),
         .link = {1e-5, 1e-9, 1e-10, 1e-10}},
    };
    xy_vec_t list = XY_VEC_INIT(xy_vjob_calls_t);
    mpi_profile_t p = {.share = 0.5, .gain = 0.75};

    for (int i = 0; i < 2; i++)
        assert_int_equal(xy_vec_append(&list, &calls[i]), XY_OK);
    mpi_profile_calls(&p, &list);
    xy_vec_cleanup(&list);
    p.ways[0].seconds[1] = 1.25e-3;
    p.ways[0].is_simulated = true;
    return p;
}

static void test_profiles_are_kept(void **state)
{
    mpi_profile_t p = example(), q;
    char path[] = "/tmp/xylem-profile-XXXXXX";
    FILE *file;

    (void)state;
    assert_int_equal(p.calls[0].collective, XY_COLL_ALLREDUCE); /* it took the most time */
    close(mkstemp(path));
    assert_int_equal(mpi_profile_write(&p, path), XY_OK);
    assert_int_equal(mpi_profile_read(path, &q), XY_OK);
    assert_true(q.share == 0.5 && q.gain == 0.75);
    assert_int_equal(q.call_count, 2);
    assert_ptr_equal(q.calls[1].algorithm, p.calls[1].algorithm);
    assert_int_equal(q.calls[0].bytes, 65536);
    assert_true(q.calls[0].seconds == 0.01 && q.calls[0].link.beta == 1e-9);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(q.ways[i].is_simulated, i == 0);
        assert_true(q.ways[i].count > 4 && q.ways[i].count == p.ways[i].count);
        assert_ptr_equal(q.ways[i].algorithm[0], p.calls[i].algorithm);
        for (int k = 0; k < q.ways[i].count; k++)
            assert_true(q.ways[i].seconds[k] == p.ways[i].seconds[k] && q.ways[i].seconds[k] > 0);
    }
    assert_true(q.ways[0].seconds[1] == 1.25e-3);
    /* Cut off, or something else: reported once, and treated as missing. */
    file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), (off_t)strlen("xylem-profile 1\nshare 0.5")), 0);
    fclose(file);
    testing_listen();
    assert_int_equal(mpi_profile_read(path, &q), XY_ENOENT);
    assert_int_equal(testing_said_count, 1);
    assert_non_null(strstr(testing_said, "not a profile"));
    unlink(path);
    testing_listen();
    assert_int_equal(mpi_profile_read(path, &q), XY_ENOENT);
    assert_int_equal(testing_said_count, 0);
}

/* Profiles of several processes become one that does not depend on their order. */
static void test_profiles_are_merged(void **state)
{
    mpi_profile_t one = example(), two = example(), all = {.gain = 1}, other = {.gain = 1}, back;
    xy_text_t a = XY_TEXT_INIT, b = XY_TEXT_INIT;

    (void)state;
    one.alpha = two.alpha = 2e-5;
    one.beta = two.beta = 1e-9;
    two.calls[0].calls = 30;         /* more of the same */
    two.calls[1].is_nonblocking = 1; /* others, which took as long */
    two.calls[1].seconds = 2e-5;
    mpi_profile_merge(&all, &one);
    mpi_profile_merge(&all, &two);
    mpi_profile_merge(&other, &two);
    mpi_profile_merge(&other, &one);
    assert_int_equal(all.call_count, 3);
    assert_int_equal(all.calls[0].calls, 30);
    assert_true(all.calls[1].is_nonblocking && !all.calls[2].is_nonblocking);
    assert_int_equal(all.ways[1].count, two.ways[1].count);
    assert_true(all.alpha == 2e-5 && all.beta == 1e-9);
    mpi_profile_format(&all, &a);
    mpi_profile_format(&other, &b);
    assert_string_equal(a.s, b.s);
    assert_true(mpi_profile_parse(b.s, &back));
    assert_true(back.alpha == 2e-5 && back.beta == 1e-9 && back.call_count == 3);
    xy_text_cleanup(&a);
    xy_text_cleanup(&b);
}

/* Of more calls than there is room for, those that took the most time stay. */
static void test_heavy_calls_stay(void **state)
{
    uint64_t random = testing_seed();
    mpi_profile_t all = {.gain = 1};
    double most = 0;

    (void)state;
    for (int i = 0; i < 3 * XMPI_PROFILE_CALLS; i++) {
        mpi_profile_t one = example();

        one.call_count = 1;
        one.calls[0].procs = 16 + i;
        one.calls[0].seconds = 1e-3 * (1 + (double)testing_random_below(&random, 1000));
        most = fmax(most, one.calls[0].seconds);
        mpi_profile_merge(&all, &one);
    }
    assert_int_equal(all.call_count, XMPI_PROFILE_CALLS);
    assert_true(all.calls[0].seconds == most);
    for (size_t i = 1; i < all.call_count; i++)
        assert_true(all.calls[i].seconds <= all.calls[i - 1].seconds);
}

/* ---- Series of runs ---- */

typedef struct {
    mpi_profile_t profile;
    mpi_adapt_t adapt;
    xy_parameter_t ranks;
    xy_history_t history;
    double base;                                              /* seconds of the default */
    double ratio[XMPI_PROFILE_CALLS][XY_COLL_CANDIDATES_MAX]; /* by each of `ways`, in truth */
    double placed;                                            /* the factor of a placement */
} world_t;

static double uniform(uint64_t *random)
{
    return (double)testing_random_below(random, 1 << 20) / (1 << 20);
}

/* Algorithms take from `least` to eight times that of what the default's does, of which predictions
 * are off by a tenth. */
static void make_world(world_t *w, double least, uint64_t *random)
{
    *w = (world_t){.profile = example(), .ranks = {"ranks", 16}};
    w->history.runs = XY_VEC_INIT(xy_run_t);
    assert_int_equal(xy_arena_create(&w->history.words), XY_OK);
    w->base = 0.05;
    w->profile.share = 1;
    w->profile.calls[0].seconds = 0.025;
    w->profile.calls[1].seconds = 0.01;
    w->placed = least < 1 ? 0.9 + 0.15 * uniform(random) : 1.05;
    for (size_t i = 0; i < 2; i++) {
        mpi_ways_t *ways = &w->profile.ways[i];

        ways->is_simulated = true;
        for (int k = 0; k < ways->count; k++) {
            double truth = k == 0 ? 1 : least * exp(uniform(random) * log(8));

            ways->seconds[k] = 1e-3 * truth * exp(k == 0 ? 0 : 0.2 * (uniform(random) - 0.5));
            w->ratio[i][k] = truth;
        }
    }
    w->adapt = (mpi_adapt_t){.instance = {"mpiexec:x", "here", &w->ranks, 1},
                             .history = &w->history,
                             .profile = &w->profile,
                             .learns = true,
                             .noise = 1e-3,
                             .ranks = 16,
                             .cores = 16,
                             .nodes = 4,
                             .node_cores = 4,
                             .may_place = true};
}

static double picked_ratio(const world_t *w, size_t call, const xy_coll_algorithm_t *a)
{
    for (int k = 0; k < w->profile.ways[call].count; k++)
        if (w->profile.ways[call].algorithm[k] == a)
            return w->ratio[call][k];
    fail_msg("%s was picked", a->name);
    return 0;
}

static double truth(const world_t *w, const mpi_plan_t *plan)
{
    double seconds = w->base;

    for (size_t i = 0; i < plan->pick_count; i++) {
        size_t call = plan->picks[i].collective == XY_COLL_ALLREDUCE ? 0 : 1;

        seconds +=
            w->profile.calls[call].seconds * (picked_ratio(w, call, plan->picks[i].algorithm) - 1);
    }
    return seconds * (plan->is_placed ? w->placed : 1);
}

static double best_truth(const world_t *w)
{
    double seconds = w->base;

    for (size_t call = 0; call < 2; call++) {
        double least = 1;

        for (int k = 0; k < w->profile.ways[call].count; k++)
            least = fmin(least, w->ratio[call][k]);
        seconds += w->profile.calls[call].seconds * (least - 1);
    }
    return seconds * fmin(1, w->placed);
}

static void run_once(world_t *w, mpi_adapt_choice_t *choice)
{
    xy_run_t run = {.instance = w->adapt.instance};

    assert_int_equal(mpi_adapt_choose(&w->adapt, choice), XY_OK);
    run.alternative = xy_arena_strndup(w->history.words, choice->word, strlen(choice->word));
    run.measured = truth(w, &choice->plan);
    run.predicted = choice->predicted > 0 ? choice->predicted : run.measured;
    run.instead = choice->instead;
    assert_non_null(run.alternative);
    assert_int_equal(xy_vec_append(&w->history.runs, &run), XY_OK);
}

static void cleanup(world_t *w)
{
    xy_vec_cleanup(&w->history.runs);
    xy_arena_destroy(w->history.words);
}

/* After each run of a series all together are within the loss; at its end the best plan runs. In
 * every second world that is the default, and trials only lose. */
static void test_learning_loses_little_and_ends_with_the_best(void **state)
{
    uint64_t random = testing_seed();
    int worlds = XYLEM_SANITIZED ? 2 : 8;

    (void)state;
    for (int k = 0; k < worlds; k++) {
        mpi_adapt_choice_t choice;
        double sum = 0;
        world_t w;

        make_world(&w, k % 2 == 0 ? 0.5 : 1, &random);
        for (int i = 1; i <= 120; i++) {
            run_once(&w, &choice);
            sum += truth(&w, &choice.plan);
            if (sum > (1 + XMPI_ADAPT_LOSS) * i * w.base)
                fail_msg("world %d: %g after %d runs of %g each", k, sum, i, w.base);
        }
        w.adapt.learns = false;
        assert_int_equal(mpi_adapt_choose(&w.adapt, &choice), XY_OK);
        if (truth(&w, &choice.plan) > 1.01 * best_truth(&w))
            fail_msg("world %d ends with %s: %g, not %g", k, choice.word, truth(&w, &choice.plan),
                     best_truth(&w));
        cleanup(&w);
    }
}

static void add_run(world_t *w, const char *word, double seconds)
{
    xy_run_t run = {.instance = w->adapt.instance,
                    .alternative = xy_arena_strndup(w->history.words, word, strlen(word)),
                    .predicted = seconds,
                    .measured = seconds};

    assert_int_equal(xy_vec_append(&w->history.runs, &run), XY_OK);
}

/* Without learning only what was measured is used, and nothing before the default was. */
static void test_on_does_not_explore(void **state)
{
    uint64_t random = 3;
    mpi_adapt_choice_t choice;
    world_t w;

    (void)state;
    make_world(&w, 0.5, &random);
    w.adapt.learns = false;
    assert_int_equal(mpi_adapt_choose(&w.adapt, &choice), XY_OK);
    assert_string_equal(choice.word, XMPI_ADAPT_DEFAULT);
    add_run(&w, "allreduce/16/65536:ring", 0.04);
    assert_int_equal(mpi_adapt_choose(&w.adapt, &choice), XY_OK);
    assert_string_equal(choice.word, XMPI_ADAPT_DEFAULT);
    assert_int_equal(choice.default_runs, 0);
    add_run(&w, XMPI_ADAPT_DEFAULT, 0.05);
    assert_int_equal(mpi_adapt_choose(&w.adapt, &choice), XY_OK);
    assert_string_equal(choice.word, "allreduce/16/65536:ring");
    assert_true(choice.is_settled);
    assert_int_equal(choice.plan.pick_count, 1);
    /* One that is slower is not used again, and words of another version are none. */
    add_run(&w, "allreduce/16/65536:ring", 0.07);
    add_run(&w, "allreduce/16/65536:ring", 0.07);
    add_run(&w, "magic", 0.001);
    assert_int_equal(mpi_adapt_choose(&w.adapt, &choice), XY_OK);
    assert_string_equal(choice.word, XMPI_ADAPT_DEFAULT);
    cleanup(&w);
}

/* Communication cores may have to do alone what all ranks did, where a program waits at once. */
static void test_cores_may_do_it_alone(void **state)
{
    uint64_t random = 7;
    mpi_plan_t plan = {.comm_cores = 1};
    xy_candidate_t c;
    world_t w;

    (void)state;
    make_world(&w, 0.5, &random);
    w.profile.calls[0].is_nonblocking = true;
    w.adapt.cores = 20;
    w.adapt.node_cores = 5;
    c = mpi_forecast(&w.adapt, &plan, w.base);
    assert_true(c.predicted < w.base);
    assert_true(c.predicted * (1 + c.error) * (1 + c.error) >
                w.base + 3 * w.profile.calls[0].seconds);
    cleanup(&w);
}

/* Settings that the user has fixed are not changed. */
static void test_what_is_given_is_not_changed(void **state)
{
    uint64_t random = 5;
    mpi_adapt_choice_t choice;
    world_t w;

    (void)state;
    make_world(&w, 0.5, &random);
    w.adapt.may_place = false;
    w.adapt.fixed = ~0u;
    for (int i = 0; i < 40; i++) {
        run_once(&w, &choice);
        assert_string_equal(choice.word, XMPI_ADAPT_DEFAULT);
    }
    cleanup(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans_are_words),
        cmocka_unit_test(test_long_plans_are_refused),
        cmocka_unit_test(test_profiles_are_kept),
        cmocka_unit_test(test_profiles_are_merged),
        cmocka_unit_test(test_heavy_calls_stay),
        cmocka_unit_test(test_learning_loses_little_and_ends_with_the_best),
        cmocka_unit_test(test_on_does_not_explore),
        cmocka_unit_test(test_cores_may_do_it_alone),
        cmocka_unit_test(test_what_is_given_is_not_changed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
