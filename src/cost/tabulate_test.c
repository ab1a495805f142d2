/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of the thesis (seconds that Achour's models estimate, and that were measured) as users
 * give them: the models come out of tables that they made, and the measured times are met.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cost/tabulate.h"
#include "testing/cost.h"

#define DATA XYLEM_SOURCE_DIR "/tests/data/cost/"

static const char *const machines[] = {"m1", "m2", "m3", "m4"};

static xy_costs_t *fit(const char *text, const char *criterion)
{
    xy_tabulated_t table;
    xy_costs_t *costs;

    assert_int_equal(xy_tabulated_read(text, &table), XY_OK);
    assert_int_equal(xy_costs_create("a", "table", &costs), XY_OK);
    assert_int_equal(xy_costs_fit_table(costs, &table, criterion, NULL), XY_OK);
    xy_tabulated_cleanup(&table);
    return costs;
}

/* A table of what a polynomial of the thesis takes has that polynomial as its model, on one
 * interval, and the model of the table gives its estimates. */
static void check_models(const char *kernel)
{
    char name[64];
    testing_table_t models, estimates;

    snprintf(name, sizeof(name), "%s-models.csv", kernel);
    models = testing_read_table(name);
    snprintf(name, sizeof(name), "%s-measured.csv", kernel);
    estimates = testing_read_table(name);
    for (int m = 0; m < 4; m++) {
        FILE *file = fopen("tabulated.csv", "w");
        xy_costs_t *costs;
        const xy_kernel_cost_t *k;

        fputs("n,seconds\n", file);
        for (int n = 1600; n <= 13600; n += 400) {
            double t = 0;

            for (int c = 0; c < 4; c++)
                t = t * n + models.at[c][m + 1];
            fprintf(file, "%d,%.17g\n", n, t);
        }
        fclose(file);
        costs = fit("dgemm@C2=tabulated.csv", "r2");
        k = xy_costs_kernel(costs, "dgemm", "C2", 1);
        assert_non_null(k);
        assert_int_equal(k->fit.count, 1);
        assert_true(k->fit.error_max < 1e-6 && k->held_out < 1e-6 && k->held_count == 25);
        for (int c = 0; c < 4; c++)
            assert_true(fabs(k->fit.intervals[0].params[3 - c] / models.at[c][m + 1] - 1) < 1e-3);
        for (size_t row = 0; row < estimates.rows; row++) {
            double expected = estimates.at[row][2 + 2 * m];

            assert_true(fabs(xy_fit_value(&k->fit, estimates.at[row][0]).seconds - expected) <=
                        0.0051 + 0.015 * expected);
        }
        xy_costs_destroy(costs);
    }
    remove("tabulated.csv");
}

static void test_models_come_back(void **state)
{
    (void)state;
    if (!testing_has_lapacke())
        skip();
    check_models("dgemm");
    check_models("dtrtri");
}

/* The thesis: mean errors of 0.5 % and 1.8 % at sizes that its models were not shown, of which it
 * had many more samples; here each of the nine or ten sizes is predicted from the others. */
static void check_measured(const char *kernel, double held_out)
{
    double mean = 0;

    for (int m = 0; m < 4; m++) {
        char text[256];
        xy_costs_t *costs;
        const xy_kernel_cost_t *k;

        snprintf(text, sizeof(text), "%s%s-measured.csv:%s", DATA, kernel, machines[m]);
        costs = fit(text, NULL);
        k = xy_costs_kernel(costs, kernel, XY_COSTS_LOCAL, 1);
        assert_non_null(k);
        assert_true(k->fit.error_mean < 0.01);
        mean += k->held_out / 4;
        xy_costs_destroy(costs);
    }
    assert_true(mean < held_out);
}

static void test_measured_times_are_met(void **state)
{
    (void)state;
    if (!testing_has_lapacke())
        skip();
    check_measured("dgemm", 0.008);
    check_measured("dtrtri", 0.018);
}

/* Table 17: the thesis' errors are 5 % and 8 %. */
static void test_messages(void **state)
{
    xy_costs_t *costs = fit("message@genepi-sol=" DATA "p2p-measured.csv:m_block,m_nonblock", NULL);
    const xy_message_cost_t *c = xy_costs_message(costs, "sol", "genepi");

    (void)state;
    assert_non_null(c);
    assert_true(c->model.samples[0].bytes == 890000);
    for (int k = 0; k < XY_MESSAGE_WAYS; k++) {
        const xy_message_lines_t *l = &c->model.kind[k];

        assert_true(l->error_mean < (k == XY_MESSAGE_BLOCKING ? 0.05 : 0.08));
        assert_true(l->held_count == 7 && l->held_out > 0 && l->held_out < 0.15);
    }
    xy_costs_destroy(costs);
}

static void refused(const char *contents, const char *columns, const char *why)
{
    char data[256];
    xy_tabulated_t t;

    snprintf(data, sizeof(data), "%s", contents);
    testing_listen();
    assert_int_equal(xy_tabulated_parse(data, "t.csv", columns, &t), XY_EPARSE);
    assert_int_equal(testing_said_count, 1);
    assert_non_null(strstr(testing_said, why));
}

static void test_refusals(void **state)
{
    (void)state;
    refused("", NULL, "two rows or more");
    refused("n\n1\n2\n", NULL, "a column of sizes and one of seconds");
    refused("n,a\n1,2\n", "b", "no such column: 'b'");
    refused("B,a\n1,2\n", "a,b", "no such column: 'b'");
    refused("n,a\n1,x\n", NULL, "t.csv:2: not a number: 'x'");
    refused("n,a\n1,0\n", NULL, "must be positive: '0'");
    refused("n,a\n1,1\n\n2\n", NULL, "t.csv:4: the row has fewer fields");
    refused("n,a\n1,1\n1,2\n", NULL, "two rows have the same size");
}

static xy_status_t read_and_fit(void)
{
    xy_tabulated_t t;
    xy_costs_t *costs = NULL;
    xy_status_t st = xy_tabulated_read("message=" DATA "p2p-measured.csv:m_block", &t);

    if (st != XY_OK)
        return st;
    st = xy_costs_create("a", "table", &costs);
    if (st == XY_OK)
        st = xy_costs_fit_table(costs, &t, NULL, NULL);
    xy_tabulated_cleanup(&t);
    xy_costs_destroy(costs);
    return st;
}

static void test_memory(void **state)
{
    (void)state;
    for (long k = 0; testing_fail_next(&k);)
        assert_null(testing_fail_fault(&k, read_and_fit()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models_come_back), cmocka_unit_test(test_measured_times_are_met),
        cmocka_unit_test(test_messages),         cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
