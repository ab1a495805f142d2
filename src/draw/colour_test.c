/* SPDX-License-Identifier: BSD-3-Clause */
/* Colours: one for each name, and that eyes of all kinds tell them apart, on light and dark ground.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "draw/draw.h"

typedef struct {
    double at[3];
} triple_t;

static triple_t linear(const char *tone)
{
    long value = strtol(tone + 1, NULL, 16);
    triple_t t;

    for (int i = 0; i < 3; i++) {
        double c = (double)(value >> (16 - 8 * i) & 255) / 255;

        t.at[i] = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
    }
    return t;
}

static triple_t multiply(const double m[3][3], triple_t v)
{
    triple_t out;

    for (int i = 0; i < 3; i++)
        out.at[i] = fmin(fmax(m[i][0] * v.at[0] + m[i][1] * v.at[1] + m[i][2] * v.at[2], 0), 1);
    return out;
}

/* Contrast by WCAG 2. */
static double contrast(triple_t a, triple_t b)
{
    double x = 0.2126 * a.at[0] + 0.7152 * a.at[1] + 0.0722 * a.at[2] + 0.05;
    double y = 0.2126 * b.at[0] + 0.7152 * b.at[1] + 0.0722 * b.at[2] + 0.05;

    return x > y ? x / y : y / x;
}

/* Oklab, in which distances are about as large as they look. */
static triple_t oklab(triple_t v)
{
    static const double cones[3][3] = {{0.4122214708, 0.5363325363, 0.0514459929},
                                       {0.2119034982, 0.6806995451, 0.1073969566},
                                       {0.0883024619, 0.2817188376, 0.6299787005}};
    triple_t c = multiply(cones, v);
    double l = cbrt(c.at[0]), m = cbrt(c.at[1]), s = cbrt(c.at[2]);

    return (triple_t){{0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
                       1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
                       0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s}};
}

static double distance(triple_t a, triple_t b)
{
    return hypot(hypot(a.at[0] - b.at[0], a.at[1] - b.at[1]), a.at[2] - b.at[2]);
}

/* All cones; without those for red; without those for green (Machado, Oliveira, Fernandes 2009). */
static const double eyes[3][3][3] = {
    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
    {{0.152286, 1.052583, -0.204868},
     {0.114503, 0.786281, 0.099216},
     {-0.003882, -0.048116, 1.051998}},
    {{0.367322, 0.860646, -0.227968},
     {0.280085, 0.672501, 0.047413},
     {-0.011820, 0.042940, 0.968881}},
};

static const char *tone(int colour, int is_dark)
{
    return is_dark ? xy_colours[colour].dark : xy_colours[colour].light;
}

static void test_contrast(void **state)
{
    (void)state;
    for (int is_dark = 0; is_dark < 2; is_dark++)
        for (int i = 0; i < XY_COLOURS; i++)
            assert_true(
                contrast(linear(tone(i, is_dark)), linear(is_dark ? "#14161a" : "#ffffff")) >= 3);
}

static void test_told_apart(void **state)
{
    (void)state;
    for (int is_dark = 0; is_dark < 2; is_dark++)
        for (int e = 0; e < 3; e++)
            for (int i = 0; i < XY_COLOURS; i++)
                for (int k = 0; k < i; k++) {
                    triple_t a = oklab(multiply(eyes[e], linear(tone(i, is_dark))));
                    triple_t b = oklab(multiply(eyes[e], linear(tone(k, is_dark))));

                    assert_true(distance(a, b) >= (i < 6 ? 0.1 : 0.06));
                }
}

/* Sets of names that may share a page. */
static void test_names(void **state)
{
    static const char *const groups[][XY_COLOURS + 1] = {
        {"tasks", "none", "threads", "split-tree", "openmpi", "mpich", NULL},
        {"eager", "prio", "dmda", "dmdar", "lws", "modular-ready", "cache-oblivious", "closure",
         "foresight", NULL},
        {"multisection", "treematch", "scotch", "metis", "bisection", "mpipp", "packed",
         "round-robin", "random", NULL},
    };

    (void)state;
    for (size_t g = 0; g < 3; g++)
        for (int i = 0; groups[g][i] != NULL; i++)
            for (int k = 0; k < i; k++)
                assert_int_not_equal(xy_colour_of(groups[g][i]), xy_colour_of(groups[g][k]));
    for (int i = 0; groups[0][i] != NULL; i++)
        assert_in_range(xy_colour_of(groups[0][i]), 0, 5);
    assert_int_equal(xy_colour_of("Open MPI"), xy_colour_of("openmpi"));
    assert_int_equal(xy_colour_of("Xylem"), xy_colour_of("tasks"));
    assert_int_equal(xy_colour_of("split tree"), xy_colour_of("split-tree"));
    assert_in_range(xy_colour_of("something else"), 0, XY_COLOURS - 1);
    assert_in_range(xy_colour_of(""), 0, XY_COLOURS - 1);
}

/* Classes of a page are the page's own, whatever letter they begin with: rules of the style name
 * whole classes. */
static void test_style_names_whole_classes(void **state)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    (void)state;
    assert_non_null(file);
    xy_style_write(file);
    fclose(file);
    assert_null(strstr(text, "[class"));
    assert_non_null(strstr(text, ".s0{fill:none;stroke:"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contrast),
        cmocka_unit_test(test_told_apart),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_style_names_whole_classes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
