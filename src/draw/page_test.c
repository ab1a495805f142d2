/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages: everything that is given is escaped, and the finding comes first. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "testing/base.h"
#include "testing/draw.h"

static void test_page(void **state)
{
    static const xy_ink_t inks[] = {{".mine", "color", "#123456", "#fedcba"},
                                    {NULL, NULL, NULL, NULL}};
    testing_drawing_t d;

    (void)state;
    testing_drawing_open(&d);
    xy_page_begin(d.file, &(xy_page_t){.title = "a <b>", .finding = "x & y", .inks = inks});
    xy_page_heading(d.file, "%s", "<i>");
    xy_page_paragraph(d.file, "%d %s", 3, "&");
    xy_page_table_begin(d.file, "num<bers", (const char *const[]){"one<", "two", NULL});
    xy_page_line(d.file);
    xy_page_cell(d.file, "%s", "<td>");
    xy_page_cell(d.file, "%.1f", 1.25);
    xy_page_cell(d.file, "%s", "MPI_Send");
    xy_page_table_end(d.file, "num<bers");
    xy_page_end(d.file);
    fflush(d.file);
    /* Rules for paper override the others, so they come last. */
    assert_true(strstr(d.text, "@media print{:root") > strstr(d.text, ".wide{overflow-x:auto}"));
    assert_non_null(strstr(d.text, "<title>a &lt;b&gt;</title>"));
    assert_non_null(strstr(d.text, "<h1>a &lt;b&gt;</h1>\n<p class=\"finding\">x &amp; y</p>"));
    assert_non_null(strstr(d.text, "<h2>&lt;i&gt;</h2>"));
    assert_non_null(strstr(d.text, "<p>3 &amp;</p>"));
    assert_non_null(strstr(d.text, "<summary>num&lt;bers</summary>"));
    assert_non_null(strstr(d.text, "<tr><th>one&lt;<th>two"));
    assert_non_null(strstr(d.text, "<tr><td>&lt;td&gt;<td>1.2"));
    assert_non_null(strstr(d.text, "<td class=\"word\">MPI_Send"));
    assert_non_null(strstr(d.text, "</table></div></details>"));
    assert_int_equal(testing_count(d.text, ".mine{color:#"), 2);
    assert_non_null(strstr(d.text, "</body></html>\n"));
    testing_drawing_close(&d);
}

/* Without a finding there is no empty line for it. */
static void test_plain(void **state)
{
    testing_drawing_t d;

    (void)state;
    testing_drawing_open(&d);
    xy_page_begin(d.file, &(xy_page_t){.title = "t", .finding = ""});
    xy_page_table_begin(d.file, NULL, (const char *const[]){"c", NULL});
    xy_page_table_end(d.file, NULL);
    fflush(d.file);
    assert_null(strstr(d.text, "class=\"finding\""));
    assert_null(strstr(d.text, "<details>"));
    testing_drawing_close(&d);
}

/* Against the plain definition: nothing is lost but what is no number, best first, stable. */
static void test_scores(void **state)
{
    static const char letters[] = "abcdefghij";

    (void)state;
    for (int k = 0; k < 500; k++) {
        xy_score_t scores[10];
        size_t count = (size_t)testing_below(11), numbers = 0, left;
        bool is_high_best = testing_below(2);

        for (size_t i = 0; i < count; i++) {
            bool is_number = testing_below(4) > 0;

            scores[i] = (xy_score_t){&letters[i], is_number ? testing_below(4) : NAN};
            numbers += is_number;
        }
        left = xy_scores_sort(scores, count, is_high_best);
        assert_int_equal(left, numbers);
        for (size_t i = 1; i < left; i++) {
            double a = scores[i - 1].value, b = scores[i].value;

            assert_true(a == b ? scores[i - 1].name < scores[i].name : (a > b) == is_high_best);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_page),
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_scores),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
