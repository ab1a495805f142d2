/* SPDX-License-Identifier: BSD-3-Clause */
/* Problems: reading returns their contents, and an error is reported once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "adapt/adapt_internal.h"
#include "testing/base.h"

static int asked;

static xy_status_t simulate(void *arg, const char *verb, int argc, char **argv, xy_simulated_t *s)
{
    (void)arg;
    asked++;
    assert_string_equal(verb, "predict");
    assert_int_equal(argc, 4);
    assert_string_equal(argv[2], "64");
    *s =
        (xy_simulated_t){.seconds = strtod(argv[3], NULL), .error = 0.05, .where = "all computing"};
    return XY_OK;
}

static xy_adapt_t *parse(const char *text)
{
    xy_adapt_t *p;

    testing_listen();
    assert_int_equal(xy_adapt_parse(text, strlen(text), "dir/some.problem", &p), XY_OK);
    return p;
}

static xy_adapt_times_t *evaluate(const xy_adapt_t *p, const xy_adapt_given_t *g)
{
    xy_adapt_times_t *t = NULL;

    if (xy_adapt_evaluate(p, g, &t) != XY_OK)
        fail_msg("%s", testing_said);
    return t;
}

static void near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-9 * fabs(want)))
        fail_msg("%.17g instead of %.17g", got, want);
}

static const char whole[] = "problem matmul\n"
                            "parameter n\n"
                            "parameter p = 4   # processes\n"
                            "let work = 2*n*n*n\n"
                            "let all = sum(count*speed)\n"
                            "node fast speed=2e9 count=p\n"
                            "node slow speed=1e9 count=p/2\n"
                            "alternative even formula work/(1.5*p)/speed\n"
                            "    + 1e-3\n"
                            "alternative fair formula work/all\n"
                            "alternative seven formula 1e-9\n"
                            "when seven p == 7 || !(p < 100)\n"
                            "alternative run predict x.c -n {p*16} {n/3}\n";

/* Formulas on nodes of different speeds, conditions, simulations. */
static void test_whole(void **state)
{
    xy_adapt_t *p = parse(whole);
    xy_parameter_t n = {"n", 600};
    xy_adapt_given_t g = {.parameters = &n, .count = 1, .simulate = simulate};
    xy_adapt_times_t *t = evaluate(p, &g);

    (void)state;
    assert_string_equal(xy_adapt_name(p), "matmul");
    assert_int_equal(t->count, 4);
    assert_int_equal(t->nodes, 2);
    near(t->seconds[0], 2 * 600.0 * 600 * 600 / 6 / 2e9 + 1e-3);
    near(t->seconds[1], 2 * 600.0 * 600 * 600 / 6 / 1e9 + 1e-3);
    near(t->candidates[0].predicted, t->seconds[1]);
    assert_string_equal(t->where[0], "work/(1.5*p)/speed: 72 ms; 1e-3: 1 ms");
    near(t->candidates[1].predicted, 2 * 600.0 * 600 * 600 / 10e9);
    assert_true(isinf(t->candidates[2].predicted));
    near(t->candidates[3].predicted, 200);
    assert_string_equal(t->where[3], "all computing");
    assert_int_equal(t->parameter_count, 2);
    near(t->parameters[1].value, 4);
    xy_adapt_times_destroy(t);
    xy_adapt_destroy(p);
}

/* A sign is not the end of a term. */
static void test_signs(void **state)
{
    static const char *const formulas[] = {"x + + 3", "x - + 3 + 6", "+ x + 3", "1e+0 * + x + 3"};

    (void)state;
    for (size_t i = 0; i < sizeof(formulas) / sizeof(formulas[0]); i++) {
        char *text = xy_sprintf("parameter x = 2\nalternative a formula %s\n", formulas[i]);
        xy_adapt_t *p = parse(text);
        xy_adapt_times_t *t = evaluate(p, &(xy_adapt_given_t){0});

        near(t->candidates[0].predicted, 5);
        xy_adapt_times_destroy(t);
        xy_adapt_destroy(p);
        xy_free(text);
    }
}

/* Machines have blanks in their descriptions. */
static xy_status_t simulate_there(void *arg, const char *verb, int argc, char **argv,
                                  xy_simulated_t *s)
{
    (void)verb;
    assert_int_equal(argc, 4);
    assert_string_equal(argv[1], "node:8(latency=5us) core:1");
    assert_string_equal(argv[2], "it's");
    assert_string_equal(argv[3], "");
    *s = (xy_simulated_t){.seconds = *(double *)arg, .error = 0};
    return XY_OK;
}

static void test_quotes(void **state)
{
    xy_adapt_t *p = parse("parameter p = 8\n"
                          "alternative a predict -m \"node:{p}(latency=5us) core:1\"\n"
                          "    \"it's\" ''\n");
    double seconds = 3;
    xy_adapt_given_t g = {.simulate = simulate_there, .arg = &seconds};
    xy_adapt_times_t *t = evaluate(p, &g);

    (void)state;
    near(t->candidates[0].predicted, 3);
    xy_adapt_times_destroy(t);
    xy_adapt_destroy(p);
}

/* An answer is asked for once, until a word changes. */
static void test_cache(void **state)
{
    xy_adapt_t *p = parse("parameter n\nalternative a predict x.c -n 64 {n}\n");
    xy_parameter_t n = {"n", 600};
    char path[64];
    xy_adapt_given_t g = {.parameters = &n, .count = 1, .simulate = simulate, .cache = path};

    (void)state;
    testing_path(path);
    asked = 0;
    for (int i = 0; i < 6; i++) {
        xy_adapt_times_t *t;

        n.value = 600 + (double)(i - i % 2);
        g.salt = i == 5 ? "other" : "";
        t = evaluate(p, &g);
        near(t->candidates[0].predicted, n.value);
        assert_string_equal(t->where[0], "all computing");
        assert_int_equal(t->cached, i % 2 == 1 && i < 5);
        xy_adapt_times_destroy(t);
    }
    assert_int_equal(asked, 4);
    unlink(path);
    xy_adapt_destroy(p);
}

/* A file among the words belongs to the key, by what it holds. */
static void test_cache_key(void **state)
{
    char path[64], option[80];
    char *argv[] = {path, option};
    uint64_t before, after;
    FILE *f;

    (void)state;
    testing_path(path);
    snprintf(option, sizeof(option), "--costs=%s", path);
    f = fopen(path, "w");
    fputs("y", f);
    fclose(f);
    before = adapt_cache_key("", "predict", 1, argv);
    assert_true(before == adapt_cache_key("", "predict", 1, argv));
    f = fopen(path, "w");
    fputs("x", f);
    fclose(f);
    after = adapt_cache_key("", "predict", 1, argv);
    assert_true(before != after);
    assert_true(adapt_cache_key("", "predict", 1, argv + 1) !=
                adapt_cache_key("", "predict", 1, argv));
    unlink(path);
}

/* ---- Tables ---- */

static double ask(const adapt_table_t *t, double n, double p, bool is_outside)
{
    bool was_outside;
    double seconds = adapt_table_value(t, (double[]){n, p}, &was_outside);

    assert_int_equal(was_outside, is_outside);
    return seconds;
}

static void test_table(void **state)
{
    xy_adapt_t *p = parse("parameter n\nparameter p\nalternative a formula n\n");
    char text[] = "# measured\nseconds, p,alternative,n, note\n"
                  "8,1,a,99,x\n1,1,a,9,\n2,3,a,9,y\n0.5,1,b,9,\n4,1,a,999,z\n";
    adapt_table_t t;

    (void)state;
    assert_int_equal(adapt_table_parse(p, text, "t.csv", "a", &t), XY_OK);
    assert_int_equal(t.rows, 4);
    near(ask(&t, 9, 1, false), 1);
    near(ask(&t, 9, 3, false), 2);
    near(ask(&t, 99, 1, false), 8);
    near(ask(&t, sqrt(1000) - 1, 1, false), sqrt(8)); /* half way between 9 and 99 */
    near(ask(&t, 9, sqrt(8) - 1, false), sqrt(2));    /* between 1 and 3 */
    near(ask(&t, 9999, 1, true), 2);                  /* on with the last two */
    near(ask(&t, 0, 1, true), 0.125);                 /* and with the first two */
    near(ask(&t, 99, 2, true), 8);                    /* one alone */
    adapt_table_cleanup(&t);
    xy_adapt_destroy(p);
}

static void test_bad_tables(void **state)
{
    static const char *const bad[][2] = {
        {"", "no row for the alternative"},
        {"n,p,seconds\n", "no row for the alternative"},
        {"n,seconds\n1,1\n", "t.csv:1: the table has no column for the parameter: 'p'"},
        {"n,p\n1,1\n", "t.csv:1: the table has no column 'seconds'"},
        {"n,p,seconds\n1,1\n", "t.csv:2: the row has fewer fields"},
        {"n,p,seconds\n1,x,1\n", "t.csv:2: not a number: 'x'"},
        {"n,p,seconds\n1,1,0\n", "t.csv:2: a time must be positive"},
        {"n,p,seconds\n1,1,2\n1,1,3\n", "two rows have the same parameters"},
    };
    xy_adapt_t *p = parse("parameter n\nparameter p\nalternative a formula n\n");
    adapt_table_t t;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char *text = xy_strdup(bad[i][0]);

        testing_listen();
        assert_int_equal(adapt_table_parse(p, text, "t.csv", "a", &t), XY_EPARSE);
        assert_int_equal(testing_said_count, 1);
        if (strstr(testing_said, bad[i][1]) == NULL)
            fail_msg("%s", testing_said);
        xy_free(text);
    }
    xy_adapt_destroy(p);
}

/* ---- Mistakes ---- */

static void test_bad_problems(void **state)
{
    static const char *const bad[][2] = {
        {"", "x: not a problem file: it has no line 'alternative NAME ...'"},
        {"alternatve a formula 1\n", "x:1: 'alternatve'; did you mean 'alternative'?"},
        {"\nparameter 2n\n", "x:2: a name consists of letters, digits and '_': '2n'"},
        {"parameter n\nlet n = 2\n", "x:2: the name is defined twice: 'n'"},
        {"parameter n = x\n", "x:1: not a number: 'x'"},
        {"let n\n", "x:1: write 'let NAME = FORMULA'"},
        {"alternative a formula 1 +\n", "x:1: "},
        {"alternative a formula n << 2\n", "an operation that formulas do not have"},
        {"alternative a formula x = 2\n", "an operation that formulas do not have"},
        {"alternative a magic 2\n",
         "x:1: formula, table, predict, stencil, program or plugin is expected: 'magic'"},
        {"alternative a predict x \"it's\n", "x:1: a quote is not closed: 'x \"it's'"},
        {"alternative a formula 1\nalternative a formula 2\n",
         "x:2: the alternative is defined twice"},
        {"when a n\n", "x:1: there is no alternative of this name above: 'a'"},
        {"node a b\n", "x:1: write NAME=FORMULA, without blanks: 'b'"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        xy_adapt_t *p;

        testing_listen();
        assert_int_equal(xy_adapt_parse(bad[i][0], strlen(bad[i][0]), "x", &p), XY_EPARSE);
        assert_int_equal(testing_said_count, 1);
        if (strstr(testing_said, bad[i][1]) == NULL)
            fail_msg("%s", testing_said);
    }
}

static void test_bad_values(void **state)
{
    static const char *const bad[][2] = {
        {"parameter n\nalternative a formula n\n", "give it with --set n=NUMBER"},
        {"alternative a formula m\n", "there is no 'm' in the formula 'm'"},
        {"alternative a formula min(1)\n", "a wrong number of arguments of 'min'"},
        {"alternative a formula dgemm(5)\n", "no kernel of this name has a model"},
        {"alternative a formula message(5)\n", "no model of messages"},
        {"alternative a formula 0 - 1\n", "the time of a is -1 s; it must be positive"},
        {"alternative a formula 0 / 0\n", "is not a number"},
        {"let x = y\nlet y = 1\nalternative a formula x\n", "there is no 'y' in the formula 'y'"},
        {"node a x=y y=x\nalternative a formula x\n", "there is no '"},
        {"alternative a predict x {1\n", "x:1: missing '}'"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        xy_adapt_given_t g = {.simulate = simulate};
        xy_adapt_times_t *t;
        xy_adapt_t *p;

        testing_listen();
        assert_int_equal(xy_adapt_parse(bad[i][0], strlen(bad[i][0]), "x", &p), XY_OK);
        assert_int_not_equal(xy_adapt_evaluate(p, &g, &t), XY_OK);
        assert_int_equal(testing_said_count, 1);
        if (strstr(testing_said, bad[i][1]) == NULL)
            fail_msg("%s", testing_said);
        xy_adapt_destroy(p);
    }
}

static void test_memory(void **state)
{
    xy_parameter_t n = {"n", 600};
    xy_adapt_given_t g = {.parameters = &n, .count = 1, .simulate = simulate};
    xy_adapt_times_t *t;
    xy_adapt_t *p = NULL;

    (void)state;
    for (long k = 0; testing_fail_next(&k);)
        assert_null(testing_fail_fault(&k, xy_adapt_parse(whole, strlen(whole), "x", &p)));
    for (long k = 0; testing_fail_next(&k);)
        assert_null(testing_fail_fault(&k, xy_adapt_evaluate(p, &g, &t)));
    xy_adapt_times_destroy(t);
    xy_adapt_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),      cmocka_unit_test(test_signs),
        cmocka_unit_test(test_quotes),     cmocka_unit_test(test_cache),
        cmocka_unit_test(test_cache_key),  cmocka_unit_test(test_table),
        cmocka_unit_test(test_bad_tables), cmocka_unit_test(test_bad_problems),
        cmocka_unit_test(test_bad_values), cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
