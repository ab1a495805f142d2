/* SPDX-License-Identifier: BSD-3-Clause */
/* SVG: well-formed whatever is drawn, text escaped, no number that is none. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "testing/base.h"
#include "testing/draw.h"

static const double strange[] = {0,    1,   -1,       0.004,     1e-300, 123456.789,
                                 1e12, NAN, INFINITY, -INFINITY, 0.05,   -0.001};

static double by_chance(void)
{
    return strange[testing_below((int)(sizeof(strange) / sizeof(strange[0])))];
}

static const char *any_text(void)
{
    static const char *const texts[] = {"plain", "a < b & c > d", "\"quoted\" 'so'",
                                        "",      "caf\xc3\xa9",   "broken \xff\x01 bytes",
                                        "]]>",   "</svg>"};

    return texts[testing_below(8)];
}

static void draw_something(const xy_svg_t *svg)
{
    double x[5], y[5];
    const char *tip = testing_below(2) ? any_text() : NULL;

    for (int i = 0; i < 5; i++) {
        x[i] = by_chance();
        y[i] = by_chance();
    }
    switch (testing_below(11)) {
    case 0:
        xy_svg_rect(svg, "plot", x[0], y[0], x[1], y[1], tip);
        break;
    case 1:
        xy_svg_cell(svg, "f0", x[0], y[0], x[1], y[1], x[2], tip);
        break;
    case 2:
        xy_svg_line(svg, "grid", x[0], y[0], x[1], y[1]);
        xy_svg_arrow(svg, "ink", x[0], y[0], x[1], y[1]);
        break;
    case 3:
        xy_svg_circle(svg, "f1", x[0], y[0], x[1], tip);
        break;
    case 4:
        xy_svg_curve(svg, "s2", x, y, (size_t)testing_below(6));
        break;
    case 5:
        xy_svg_strokes_begin(svg, "s3", x[0]);
        xy_svg_stroke(svg, x[1], y[1], x[2]);
        xy_svg_stroke_up(svg, x[3], y[3], x[4]);
        xy_svg_strokes_end(svg);
        break;
    case 6:
        xy_svg_group_begin(svg, tip);
        xy_svg_text(svg, "title", x[0], y[0], "%s %d", any_text(), testing_below(9));
        xy_svg_group_end(svg);
        break;
    case 7:
        xy_svg_text_up(svg, "note", x[0], y[0], any_text());
        break;
    case 8:
        xy_svg_legend(svg, x[0], y[0], x[1],
                      (xy_legend_t[]){{any_text(), "f4", false}, {any_text(), "s5", true}}, 2);
        break;
    case 9:
        xy_svg_bend(svg, "s6", x[0], x[1], y[1], x[2], y[2], tip);
        break;
    default: {
        xy_axis_t axis = {(xy_scale_t)testing_below(3), x[0], x[1], x[2], x[3]};

        xy_axis_draw_up(svg, &axis, 5, y[0], y[1], xy_tick_seconds);
        xy_axis_draw_across(svg, &axis, 5, y[0], y[1], xy_tick_number);
    }
    }
}

static void test_anything(void **state)
{
    (void)state;
    for (int k = 0; k < 300; k++) {
        testing_drawing_t d;
        xy_svg_t svg;

        testing_drawing_open(&d);
        svg = xy_svg_begin(d.file, &(xy_svg_head_t){.width = by_chance(),
                                                    .height = by_chance(),
                                                    .title = any_text(),
                                                    .is_embedded = testing_below(2)});
        for (int i = testing_below(20); i > 0; i--)
            draw_something(&svg);
        xy_svg_end(&svg);
        assert_null(testing_drawing_fault(&d));
        testing_drawing_close(&d);
    }
}

static void test_text(void **state)
{
    testing_drawing_t d;
    xy_svg_t svg;

    (void)state;
    testing_drawing_open(&d);
    svg = xy_svg_begin(d.file, &(xy_svg_head_t){.width = 10, .height = 5, .title = "a<b"});
    xy_svg_text(&svg, "end", 1, 2.5, "%s & %d", "<rank>", 7);
    xy_svg_rect(&svg, "plot", 0, 0, 1, 1, "1 < 2");
    xy_svg_end(&svg);
    fflush(d.file);
    assert_non_null(strstr(d.text, "viewBox=\"0 0 10 5\""));
    assert_non_null(strstr(d.text, "aria-label=\"a&lt;b\""));
    assert_non_null(strstr(d.text, "<text class=\"end\" x=\"1\" y=\"2.5\">&lt;rank&gt; &amp; 7<"));
    assert_non_null(strstr(d.text, "<title>1 &lt; 2</title></rect>"));
    assert_int_equal(testing_count(d.text, "prefers-color-scheme:dark"), 1);
    testing_drawing_close(&d);
}

/* A curve is broken where there is no value, and begins anew behind it. */
static void test_curve(void **state)
{
    const double x[] = {0, 1, 2, 3, 4}, y[] = {5, NAN, 6, 7, NAN};
    testing_drawing_t d;

    (void)state;
    testing_drawing_open(&d);
    xy_svg_curve(&(xy_svg_t){d.file}, "s0", x, y, 5);
    fflush(d.file);
    assert_string_equal(d.text, "<path class=\"s0\" d=\"M0 5M2 6L3 7\"/>\n");
    testing_drawing_close(&d);
}

/* Entries that do not fit begin a line, and the height grows. */
static void test_legend(void **state)
{
    xy_legend_t entries[6];

    (void)state;
    for (int i = 0; i < 6; i++)
        entries[i] = (xy_legend_t){"a longer name", "s0", XY_LEGEND_LINE};
    assert_true(xy_legend_height(2000, entries, 6) == 20);
    assert_true(xy_legend_height(300, entries, 6) == 60);
    assert_true(xy_legend_height(10, entries, 6) == 120);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_anything),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_curve),
        cmocka_unit_test(test_legend),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
