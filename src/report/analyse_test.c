/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka wants the ones above first */
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "testing/report.h"

/* 4 ranks compute 4, 6, 8 and 10 s in a run of 12.5 s, which takes 11 s on an ideal network. */
static void test_golden_efficiencies(void **state)
{
    const double compute[] = {4, 6, 8, 10};
    xy_efficiency_t e;

    (void)state;
    xy_efficiency(compute, 4, 12.5, 11, &e);
    assert_float_equal(e.load_balance, 0.700, 1e-9);
    assert_float_equal(e.communication, 0.800, 1e-9);
    assert_float_equal(e.parallel, 0.560, 1e-9);
    assert_float_equal(e.serialization, 0.909, 5e-4);
    assert_float_equal(e.transfer, 0.880, 1e-9);
    assert_float_equal(e.serialization * e.transfer, e.communication, 1e-9);
    xy_efficiency(compute, 4, 12.5, 0, &e);
    assert_true(isnan(e.serialization) && isnan(e.transfer));
    xy_efficiency_scale(28, 14, &e);
    assert_float_equal(e.scalability, 0.5, 1e-9);
    assert_float_equal(e.global, 0.28, 1e-9);
}

#define SECOND UINT64_C(1000000000)

static void set_rank(xy_profile_t *p, uint32_t rank, uint32_t core, uint64_t ns)
{
    XY_VEC_AT(&p->ranks, xy_profile_rank_t, rank) = (xy_profile_rank_t){core, ns};
}

/* Rank 1 computes 3 s, then sends; rank 0 computes 1 s and waits 2 s for it; both meet in a
 * barrier, where rank 0 waits 1 s more. */
static xy_profile_t *golden_waits(void)
{
    xy_profile_record_t *r;
    xy_profile_t *p;

    assert_int_equal(xy_profile_create("golden", 2, &p), XY_OK);
    set_rank(p, 0, 0, 5 * SECOND);
    set_rank(p, 1, 1, 5 * SECOND);
    r = testing_record(p, 1, "MPI_Send", "golden.c:7");
    r->compute = 3 * SECOND;
    r = testing_record(p, 0, "MPI_Recv", "golden.c:9");
    r->compute = 1 * SECOND;
    r->part[XY_PART_LATE_SENDER] = 2 * SECOND;
    xy_profile_blame(r->blame, 1, 1, 2 * SECOND);
    r = testing_record(p, 0, "MPI_Barrier", "golden.c:11");
    r->compute = 1 * SECOND;
    r->part[XY_PART_COLLECTIVE] = 1 * SECOND;
    xy_profile_blame(r->blame, 1, 3, 1 * SECOND);
    r = testing_record(p, 1, "MPI_Barrier", "golden.c:11");
    r->compute = 2 * SECOND;
    return p;
}

static void test_golden_waits(void **state)
{
    xy_profile_t *p = golden_waits();
    xy_analysis_t *a;

    (void)state;
    assert_int_equal(xy_analyse(p, 0, &a), XY_OK);
    assert_float_equal(a->run, 5, 1e-9);
    assert_float_equal(a->ranks[0].part[XY_PART_LATE_SENDER], 2, 1e-9);
    assert_float_equal(a->ranks[0].part[XY_PART_COLLECTIVE], 1, 1e-9);
    assert_int_equal(a->culprit, 1);
    assert_float_equal(a->ranks[1].blamed, 3, 1e-9);
    assert_float_equal(a->efficiency.load_balance, 0.7, 1e-9);
    assert_non_null(strstr(a->finding, "30 % of the time is waiting; nearly all of it because "
                                       "rank 1 computes"));
    assert_non_null(strstr(a->finding, "golden.c:7"));
    xy_analysis_destroy(a);
    xy_profile_destroy(p);
}

/* Ranks of one core count as one. */
static void test_shared_cores(void **state)
{
    xy_profile_t *p = golden_waits();
    xy_analysis_t *a;

    (void)state;
    set_rank(p, 1, 0, 5 * SECOND);
    assert_int_equal(xy_analyse(p, 0, &a), XY_OK);
    assert_int_equal(a->cores, 1);
    assert_float_equal(a->efficiency.load_balance, 1, 1e-9);
    assert_float_equal(a->efficiency.communication, 7.0 / 5, 1e-9);
    xy_analysis_destroy(a);
    xy_profile_destroy(p);
}

static int count_lines(const char *text)
{
    int n = 0;

    for (; *text != '\0'; text++)
        n += *text == '\n';
    return n;
}

/* Ranks that compute equally long are named together, whichever of them came last. */
static void test_equal_culprits_are_named(void **state)
{
    xy_analysis_t *a;
    xy_profile_t *p;

    (void)state;
    assert_int_equal(xy_profile_create("equal", 6, &p), XY_OK);
    for (uint32_t r = 0; r < 6; r++) {
        bool is_late = r == 2 || r == 5;
        xy_profile_record_t *record = testing_record(p, r, "MPI_Barrier", "equal.c:3");

        set_rank(p, r, r, 6 * SECOND);
        record->compute = is_late ? 6 * SECOND : 3 * SECOND;
        record->part[XY_PART_COLLECTIVE] = is_late ? 0 : 3 * SECOND;
        if (!is_late)
            xy_profile_blame(record->blame, 5, record->site, 3 * SECOND);
    }
    assert_int_equal(xy_analyse(p, 0, &a), XY_OK);
    assert_non_null(strstr(a->finding, "nearly all of it because ranks 2 and 5 compute 2 times as "
                                       "long as the others before equal.c:3"));
    xy_analysis_destroy(a);
    xy_profile_destroy(p);
}

/* However many calls and culprits there are, a person gets 25 lines at most. */
static void test_brief_is_short(void **state)
{
    xy_profile_t *p;
    xy_analysis_t *a;
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    (void)state;
    assert_non_null(file);
    assert_int_equal(xy_profile_create("many", 64, &p), XY_OK);
    for (uint32_t i = 0; i < 64; i++) {
        char place[32];
        xy_profile_record_t *r;

        set_rank(p, i, i, 10 * SECOND);
        snprintf(place, sizeof(place), "many.c:%u", i);
        r = testing_record(p, i, "MPI_Recv", place);
        for (int k = 0; k < XY_PARTS; k++)
            r->part[k] = SECOND;
        xy_profile_blame(r->blame, (int32_t)(i % 4), r->site, (4 - i % 4) * SECOND);
    }
    assert_int_equal(xy_analyse(p, 0, &a), XY_OK);
    xy_report_brief(a, file);
    fclose(file);
    assert_in_range(count_lines(text), 10, 25);
    assert_memory_equal(text, a->finding, strlen(a->finding));
    free(text);
    xy_analysis_destroy(a);
    xy_profile_destroy(p);
}

/* A run in which one line takes longer: that line is named, with what takes longer there. A line
 * that got faster by more does not explain why the run got slower. */
static void test_compare_names_the_line(void **state)
{
    xy_profile_t *before = golden_waits(), *after = golden_waits();
    xy_analysis_t *a, *b;
    xy_comparison_t *c;
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    (void)state;
    assert_non_null(file);
    XY_VEC_AT(&after->records, xy_profile_record_t, 0).compute += 2 * SECOND;
    XY_VEC_AT(&after->records, xy_profile_record_t, 1).part[XY_PART_LATE_SENDER] += 2 * SECOND;
    XY_VEC_AT(&before->records, xy_profile_record_t, 2).compute += 3 * SECOND;
    set_rank(after, 0, 0, 6 * SECOND);
    set_rank(after, 1, 1, 6 * SECOND);
    assert_int_equal(xy_analyse(before, 0, &a), XY_OK);
    assert_int_equal(xy_analyse(after, 0, &b), XY_OK);
    assert_int_equal(xy_comparison_create(a, b, &c), XY_OK);
    assert_string_equal(c->finding, "the run takes 6 s instead of 5 s (1.20 times); most of it is "
                                    "2 s more computation of rank 1 before MPI_Send at "
                                    "golden.c:7");
    assert_float_equal(((const xy_line_change_t *)c->lines.data)->change, -1.5, 1e-9);
    xy_comparison_text(c, file);
    xy_comparison_json(c, file);
    xy_comparison_html(c, file);
    fclose(file);
    assert_non_null(strstr(text, "    +1 s     1.5 s     2.5 s"));
    assert_non_null(strstr(text, "\"change\": -1.5"));
    assert_non_null(strstr(text, "</html>"));
    free(text);
    xy_comparison_destroy(c);
    xy_analysis_destroy(a);
    xy_analysis_destroy(b);
    xy_profile_destroy(before);
    xy_profile_destroy(after);
}

/* Every allocation may fail. */
static void test_memory_runs_out(void **state)
{
    xy_profile_t *p = golden_waits();
    xy_status_t st = XY_ENOMEM;

    (void)state;
    testing_listen();
    for (long k = 1; st != XY_OK && k < 100; k++) {
        xy_analysis_t *a = NULL;

        xy_memory_fail_at(k);
        st = xy_analyse(p, 0, &a);
        xy_memory_fail_at(0);
        if (st == XY_OK)
            xy_analysis_destroy(a);
        else
            assert_int_equal(st, XY_ENOMEM);
    }
    assert_int_equal(st, XY_OK);
    xy_profile_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_efficiencies),
        cmocka_unit_test(test_golden_waits),
        cmocka_unit_test(test_shared_cores),
        cmocka_unit_test(test_brief_is_short),
        cmocka_unit_test(test_equal_culprits_are_named),
        cmocka_unit_test(test_compare_names_the_line),
        cmocka_unit_test(test_memory_runs_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
