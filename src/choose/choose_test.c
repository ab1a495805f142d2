/* SPDX-License-Identifier: BSD-3-Clause */
/* The decision: right without a history, better with one, and never beyond the stated loss. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "choose/choose_internal.h"
#include "testing/base.h"

enum { MANY = 5 };
static const char *const names[MANY] = {"a", "b", "c", "d", "e"};

static xy_choose_t ask_for(const xy_candidate_t *c, size_t count, const xy_parameter_t *n,
                           const xy_history_t *h)
{
    return (xy_choose_t){.instance = {"matmul", "here", n, 1},
                         .candidates = c,
                         .count = count,
                         .history = h,
                         .reference = XY_CHOOSE_NONE};
}

static void add(xy_history_t *h, const xy_choose_t *q, size_t i, double measured, double instead)
{
    xy_run_t run = {.instance = q->instance,
                    .alternative = q->candidates[i].name,
                    .predicted = q->candidates[i].predicted,
                    .measured = measured,
                    .instead = instead};

    assert_int_equal(xy_vec_append(&h->runs, &run), XY_OK);
}

static void test_least_prediction(void **state)
{
    xy_parameter_t n = {"n", 1000};
    xy_candidate_t c[] = {{"a", 3, 0.1}, {"b", 2, 0.1}, {"c", INFINITY, 0.1}};
    xy_choose_t q = ask_for(c, 3, &n, NULL);
    xy_estimate_of_t of[3];
    xy_choice_t choice;

    (void)state;
    assert_int_equal(xy_choose(&q, of, &choice), XY_OK);
    assert_int_equal(choice.chosen, 1);
    assert_false(choice.is_trial);
    assert_true(fabs(of[1].seconds - 2) < 1e-12);
    assert_true(choice.sure > 0.99);
    c[0].predicted = 2.01;
    assert_int_equal(xy_choose(&q, of, &choice), XY_OK);
    assert_true(choice.sure > 0.5 && choice.sure < 0.55);
}

static void test_wrong_requests(void **state)
{
    xy_parameter_t n = {"n", 1000};
    static const double bad[] = {0, -1, NAN};
    xy_candidate_t c = {"a", INFINITY, 0.1};
    xy_choose_t q = ask_for(&c, 1, &n, NULL);
    xy_estimate_of_t of;
    xy_choice_t choice;

    (void)state;
    testing_listen();
    assert_int_equal(xy_choose(&q, &of, &choice), XY_EINVAL);
    assert_string_equal(testing_said, "matmul: no alternative can be used for these parameters");
    for (int i = 0; i < 3; i++) {
        c.predicted = bad[i];
        testing_listen();
        assert_int_equal(xy_choose(&q, &of, &choice), XY_EINVAL);
        assert_int_equal(testing_said_count, 1);
    }
}

/* A model that is wrong at one size is wrong near it, less so far from it, and not on other hosts.
 */
static void test_correction_and_distance(void **state)
{
    xy_parameter_t n = {"n", 1000}, near = {"n", 1100}, far = {"n", 1e6};
    xy_candidate_t c[] = {{"a", 1, 0.5}, {"b", 1.2, 0.5}};
    xy_history_t h = {.runs = XY_VEC_INIT(xy_run_t)};
    xy_choose_t q = ask_for(c, 2, &n, &h);
    xy_estimate_of_t of[2];
    xy_choice_t choice;

    (void)state;
    add(&h, &q, 0, 2, 0);
    add(&h, &q, 1, 1.2, 0);
    assert_int_equal(xy_choose(&q, of, &choice), XY_OK);
    assert_int_equal(choice.chosen, 1);
    assert_true(of[0].seconds > 1.9 && of[0].seconds < 2.1);
    assert_int_equal(of[0].runs, 1);
    assert_true(of[0].nearest == 1);
    q.instance.parameters = &near;
    assert_int_equal(xy_choose(&q, of, &choice), XY_OK);
    assert_int_equal(choice.chosen, 1);
    q.instance.parameters = &far;
    assert_int_equal(xy_choose(&q, of, &choice), XY_OK);
    assert_true(of[0].seconds < 1.7);
    q.instance.host = "there";
    assert_int_equal(xy_choose(&q, of, &choice), XY_OK);
    assert_int_equal(choice.chosen, 0);
    assert_int_equal(of[0].runs, 0);
    xy_vec_cleanup(&h.runs);
}

/* A machine that is half as fast as its models is no reason to leave what was measured. */
static void test_common_factor(void **state)
{
    xy_parameter_t n = {"n", 1000};
    xy_candidate_t c[] = {{"a", 1, 0.1}, {"b", 1.2, 0.1}};
    xy_history_t h = {.runs = XY_VEC_INIT(xy_run_t)};
    xy_choose_t q = ask_for(c, 2, &n, &h);
    xy_estimate_of_t of[2];
    xy_choice_t choice;

    (void)state;
    add(&h, &q, 0, 2, 0);
    assert_int_equal(xy_choose(&q, of, &choice), XY_OK);
    assert_int_equal(choice.chosen, 0);
    assert_true(of[1].seconds > 2.2);
    xy_vec_cleanup(&h.runs);
}

/* ---- Series of runs in worlds where models are as wrong as they say ---- */

typedef struct {
    double bias[MANY];
    double total, of_reference, of_best;
} world_t;

static double uniform(uint64_t *seed)
{
    return xy_random_unit(seed);
}

static void make_world(world_t *w, double error, uint64_t *seed)
{
    *w = (world_t){0};
    for (int i = 0; i < MANY; i++)
        w->bias[i] = 2 * log1p(error) * uniform(seed);
}

/* One run of the series: what is chosen takes its prediction times its bias. */
static void run_once(world_t *w, xy_choose_t *q, xy_candidate_t *c, xy_history_t *h, uint64_t *seed)
{
    xy_estimate_of_t of[MANY];
    xy_choice_t choice;
    double truth[MANY], least = INFINITY;

    for (int i = 0; i < MANY; i++) {
        c[i].predicted = exp(0.5 * uniform(seed));
        truth[i] = c[i].predicted * exp(w->bias[i]);
        least = fmin(least, truth[i]);
    }
    assert_int_equal(xy_choose(q, of, &choice), XY_OK);
    add(h, q, choice.chosen, truth[choice.chosen], choice.instead);
    w->total += truth[choice.chosen];
    w->of_best += least;
    w->of_reference += truth[0];
}

static void run_series(world_t *w, size_t reference, double loss, int runs, uint64_t *seed)
{
    static const xy_parameter_t n = {"n", 1000};
    xy_candidate_t c[MANY];
    xy_history_t h = {.runs = XY_VEC_INIT(xy_run_t)};
    xy_choose_t q = ask_for(c, MANY, &n, &h);

    q.reference = reference;
    q.loss = loss;
    for (int i = 0; i < MANY; i++)
        c[i] = (xy_candidate_t){names[i], 1, 0.1};
    make_world(w, 0.1, seed);
    for (int i = 0; i < runs; i++)
        run_once(w, &q, c, &h, seed);
    xy_vec_cleanup(&h.runs);
}

/* ---- The bound on losses ---- */

/* A trial is made from exactly the loss on that pays for its worst case; `lost` seconds were lost
 * by an earlier trial. */
static void check_threshold(size_t reference, double lost)
{
    static const xy_parameter_t n = {"n", 1000};
    xy_candidate_t c[] = {{"a", 1, 0.02}, {"b", 1.01, 0.3}};
    xy_history_t h = {.runs = XY_VEC_INIT(xy_run_t)};
    xy_choose_t q = ask_for(c, 2, &n, &h);
    xy_estimate_of_t of[2];
    xy_choice_t choice;
    double instead, least;

    q.reference = reference;
    for (int i = 0; i < 3; i++)
        add(&h, &q, 0, 1, 0);
    if (lost > 0)
        add(&h, &q, 1, 1 + lost, 1);
    assert_int_equal(xy_choose(&q, of, &choice), XY_OK);
    instead = reference == 0 ? of[0].low : of[0].seconds;
    least = (lost + of[1].high - instead) / ((lost > 0 ? 4 : 3) + instead);
    q.loss = least * (1 - 1e-9);
    assert_int_equal(xy_choose(&q, of, &choice), XY_OK);
    assert_int_equal(choice.chosen, 0);
    assert_false(choice.is_trial);
    q.loss = least * (1 + 1e-9);
    assert_int_equal(xy_choose(&q, of, &choice), XY_OK);
    assert_int_equal(choice.chosen, 1);
    assert_true(choice.is_trial && choice.instead == instead);
    xy_vec_cleanup(&h.runs);
}

static void test_threshold_of_trials(void **state)
{
    (void)state;
    check_threshold(XY_CHOOSE_NONE, 0);
    check_threshold(XY_CHOOSE_NONE, 0.05);
    check_threshold(0, 0);
    check_threshold(0, 0.05);
}

/* One run in the worst world that the estimates allow, most of the time: a trial takes as long as
 * it may, and the reference would have been as short as it may. Returns whether it was a trial. */
static bool run_at_worst(world_t *w, xy_choose_t *q, xy_candidate_t *c, xy_history_t *h,
                         uint64_t *seed)
{
    xy_estimate_of_t of[MANY];
    xy_choice_t choice;
    double took, reference, worst = uniform(seed) < 0.8 ? 1 : 0.5 + 0.5 * uniform(seed);

    for (int i = 0; i < MANY; i++)
        c[i].predicted = exp(0.5 * uniform(seed));
    assert_int_equal(xy_choose(q, of, &choice), XY_OK);
    reference = of[0].seconds * exp(-2 * worst * of[0].deviation);
    took = choice.is_trial
               ? of[choice.chosen].seconds * exp(2 * worst * of[choice.chosen].deviation)
               : reference;
    add(h, q, choice.chosen, took, choice.instead);
    w->total += took;
    w->of_reference += reference;
    return choice.is_trial;
}

/* While every time is within its estimate, a series is at most `loss` slower than the reference
 * alone, after each of its runs; and trials are made. */
static void test_never_beyond_loss(void **state)
{
    static const xy_parameter_t n = {"n", 1000};
    uint64_t seed = testing_seed();
    int trials = 0;

    (void)state;
    for (int world = 0; world < 400; world++) {
        xy_candidate_t c[MANY];
        xy_history_t h = {.runs = XY_VEC_INIT(xy_run_t)};
        xy_choose_t q = ask_for(c, MANY, &n, &h);
        world_t w = {0};

        q.reference = 0;
        q.loss = 0.04 * (world % 4);
        for (int i = 0; i < MANY; i++)
            c[i] = (xy_candidate_t){names[i], 1, 0.1};
        for (int i = 0; i < 40; i++) {
            trials += run_at_worst(&w, &q, c, &h, &seed);
            assert_true(w.total <= (1 + q.loss + 1e-9) * w.of_reference);
        }
        xy_vec_cleanup(&h.runs);
    }
    assert_true(trials > 400);
}

/* It is worth it: most of the possible gain over the reference is reached. */
static void test_gains_over_reference(void **state)
{
    uint64_t seed = testing_seed();
    double total = 0, best = 0, reference = 0;

    (void)state;
    for (int world = 0; world < 30; world++) {
        world_t w;

        run_series(&w, 0, 0.02, 100, &seed);
        total += w.total;
        best += w.of_best;
        reference += w.of_reference;
    }
    assert_true(reference - total > 0.8 * (reference - best));
}

/* Trials find what models hide, and cost no more than they are allowed to. */
static void test_trials_pay(void **state)
{
    uint64_t seed = testing_seed();
    double with = 0, without = 0, best = 0;

    (void)state;
    for (int world = 0; world < 30; world++) {
        uint64_t same = seed;
        world_t w;

        run_series(&w, XY_CHOOSE_NONE, 0, 100, &seed);
        without += w.total;
        best += w.of_best;
        run_series(&w, XY_CHOOSE_NONE, 0.05, 100, &same);
        with += w.total;
        assert_true(w.total < 1.12 * w.of_best);
    }
    assert_true(with < 1.05 * without);
    assert_true(with < 1.05 * best);
}

static void test_memory(void **state)
{
    xy_parameter_t n = {"n", 1000};
    xy_candidate_t c[] = {{"a", 1, 0.1}, {"b", 1.2, 0.1}};
    xy_choose_t q = ask_for(c, 2, &n, NULL);
    xy_estimate_of_t of[2];
    xy_choice_t choice;

    (void)state;
    for (long k = 0; testing_fail_next(&k);)
        assert_null(testing_fail_fault(&k, xy_choose(&q, of, &choice)));
}

/* The seconds of each run of a program whose platform changes in its middle: until then `a` is the
 * faster one, afterwards messages take three times as long, and `b`, which sends less, is. */
static double seconds_of(size_t chosen, int run, int change)
{
    static const double before[] = {1, 1.5}, after[] = {3, 1.6};
    double noise = 1 + 0.03 * ((run * 7 % 5) - 2) / 2;

    return (run < change ? before : after)[chosen] * noise;
}

/* A choice is reconsidered soon after the platform has changed, however long it was right. A single
 * slow run is no change. */
static void test_change_in_a_long_run(void **state)
{
    enum { RUNS = 240, CHANGE = 200, SOON = 12 };
    xy_parameter_t n = {"n", 1000};
    xy_candidate_t c[] = {{"a", 1, 0.1}, {"b", 1.3, 0.1}};
    xy_history_t h = {.runs = XY_VEC_INIT(xy_run_t)};
    xy_choose_t q = ask_for(c, 2, &n, &h);
    xy_estimate_of_t of[2];
    xy_choice_t choice;

    (void)state;
    q.loss = 0.02;
    for (int i = 0; i < RUNS; i++) {
        bool is_disturbed = i == CHANGE / 2;

        assert_int_equal(xy_choose(&q, of, &choice), XY_OK);
        if (i >= CHANGE + SOON || (i > CHANGE / 4 && i < CHANGE))
            assert_int_equal(choice.chosen, i < CHANGE ? 0 : 1);
        add(&h, &q, choice.chosen, seconds_of(choice.chosen, i, CHANGE) * (is_disturbed ? 3 : 1),
            choice.instead);
    }
    xy_vec_cleanup(&h.runs);
}

/* A settled choice tries nothing, whatever may be lost. */
static void test_settled(void **state)
{
    xy_parameter_t n = {"n", 1000};
    xy_candidate_t c[] = {{"a", 1, 0.01}, {"b", 1.01, 0.5}};
    xy_choose_t q = ask_for(c, 2, &n, NULL);
    xy_estimate_of_t of[2];
    xy_choice_t choice;

    (void)state;
    q.loss = 10;
    assert_int_equal(xy_choose(&q, of, &choice), XY_OK);
    assert_int_equal(choice.chosen, 1);
    assert_true(choice.is_trial);
    q.is_settled = true;
    assert_int_equal(xy_choose(&q, of, &choice), XY_OK);
    assert_int_equal(choice.chosen, 0);
    assert_false(choice.is_trial);
}

/* Runs without noise are taken at their value. */
static void test_noise(void **state)
{
    xy_parameter_t n = {"n", 1000};
    xy_candidate_t c[] = {{"a", 1, 0.1}, {"b", 1, 0.1}};
    xy_history_t h = {.runs = XY_VEC_INIT(xy_run_t)};
    xy_choose_t q = ask_for(c, 2, &n, &h);
    xy_estimate_of_t of[2];
    xy_choice_t choice;

    (void)state;
    add(&h, &q, 0, 1.02, 0);
    add(&h, &q, 1, 1.01, 0);
    assert_int_equal(xy_choose(&q, of, &choice), XY_OK);
    assert_true(choice.sure < 0.6);
    q.noise = 1e-3;
    assert_int_equal(xy_choose(&q, of, &choice), XY_OK);
    assert_int_equal(choice.chosen, 1);
    assert_true(choice.sure > 0.999 && fabs(of[1].seconds - 1.01) < 1e-3);
    xy_vec_cleanup(&h.runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_least_prediction),
        cmocka_unit_test(test_wrong_requests),
        cmocka_unit_test(test_correction_and_distance),
        cmocka_unit_test(test_common_factor),
        cmocka_unit_test(test_threshold_of_trials),
        cmocka_unit_test(test_never_beyond_loss),
        cmocka_unit_test(test_gains_over_reference),
        cmocka_unit_test(test_trials_pay),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_settled),
        cmocka_unit_test(test_change_in_a_long_run),
        cmocka_unit_test(test_noise),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
