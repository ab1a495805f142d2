/* SPDX-License-Identifier: BSD-3-Clause */
#include "draw/colour.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>

/* Blue, orange, green, pink, brown, azure, purple, grey, red. The tones were searched for, so that
 * they keep apart from each other and from the ground; colour_test.c says how far. */
const xy_tones_t xy_colours[XY_COLOURS] = {
    {"#2148bc", "#5b7ad1"}, {"#be6018", "#eab332"}, {"#208f76", "#34bb9c"},
    {"#e75db5", "#ff87f1"}, {"#512c15", "#a27b2d"}, {"#1e7bfd", "#7cf4f8"},
    {"#5c1488", "#b565f9"}, {"#606165", "#b1cbb0"}, {"#88144a", "#ff6f7b"},
};

const char *const xy_colour_fill[XY_COLOURS] = {"f0", "f1", "f2", "f3", "f4",
                                                "f5", "f6", "f7", "f8"};
const char *const xy_colour_line[XY_COLOURS] = {"s0", "s1", "s2", "s3", "s4",
                                                "s5", "s6", "s7", "s8"};

/* Names that stand on one page have different colours: progress modes and libraries; policies;
 * strategies. */
static const struct {
    const char *name;
    int colour;
} names[] = {
    {"tasks", 0},        {"xylem", 0},       {"none", 1},          {"threads", 2},
    {"split-tree", 3},   {"openmpi", 4},     {"mpich", 5},         {"closure", 0},
    {"eager", 1},        {"dmdar", 2},       {"lws", 3},           {"dmda", 4},
    {"prio", 5},         {"foresight", 6},   {"modular-ready", 7}, {"cache-oblivious", 8},
    {"multisection", 0}, {"packed", 1},      {"treematch", 2},     {"scotch", 3},
    {"metis", 4},        {"round-robin", 5}, {"bisection", 6},     {"random", 7},
    {"mpipp", 8},        {"auto", 0},
};

/* The next letter that counts, as a small one; 0 at the end. */
static int next_letter(const char **text)
{
    while (**text == ' ' || **text == '-' || **text == '_')
        (*text)++;
    return **text != '\0' ? tolower((unsigned char)*(*text)++) : 0;
}

static bool is_same(const char *a, const char *b)
{
    for (;;) {
        int x = next_letter(&a), y = next_letter(&b);

        if (x != y || x == 0)
            return x == y;
    }
}

int xy_colour_of(const char *name)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (is_same(names[i].name, name))
            return names[i].colour;
    for (int c; (c = next_letter(&name)) != 0;)
        hash = (hash ^ (uint32_t)c) * 16777619u;
    return (int)(hash % XY_COLOURS);
}

/* ---- Style ---- */

static void write_inks(const xy_ink_t *inks, bool is_dark, FILE *file)
{
    for (; inks != NULL && inks->selector != NULL; inks++)
        fprintf(file, "%s{%s:%s}", inks->selector, inks->property,
                is_dark ? inks->dark : inks->light);
}

static void write_colours(bool is_dark, FILE *file)
{
    for (int i = 0; i < XY_COLOURS; i++) {
        const char *tone = is_dark ? xy_colours[i].dark : xy_colours[i].light;

        fprintf(file, ".f%d{fill:%s}.s%d{fill:none;stroke:%s}", i, tone, i, tone);
    }
}

void xy_inks_write(const xy_ink_t *inks, FILE *file)
{
    write_inks(inks, false, file);
    fputs("\n@media screen and (prefers-color-scheme:dark){", file);
    write_inks(inks, true, file);
    fputs("}\n", file);
}

static const xy_ink_t usual[] = {
    {"svg text", "fill", "#1f2430", "#e6e9ef"}, {"svg .note", "fill", "#5b6475", "#a2abba"},
    {".ground", "fill", "#fff", "#14161a"},     {".plot", "fill", "#f6f7f9", "#1b1e24"},
    {".grid", "stroke", "#dfe3e8", "#2d323b"},  {".frame", "stroke", "#8b93a3", "#6b7382"},
    {".ink", "stroke", "#1f2430", "#e6e9ef"},   {".halo", "stroke", "#fff", "#14161a"},
    {".soft", "stroke", "#6b7382", "#a2abba"},  {NULL, NULL, NULL, NULL},
};

void xy_style_write(FILE *file)
{
    fputs("svg text{font:12px system-ui,'Segoe UI',Helvetica,Arial,sans-serif}"
          "svg .title{font-size:14px;font-weight:600}.end{text-anchor:end}.mid{text-anchor:middle}"
          ".grid,.frame,.ink,.soft,.halo{fill:none}.dash{stroke-dasharray:6 4}"
          ".dot{stroke-dasharray:2 3}.thick{stroke-width:2}.halo{stroke-width:3.5}\n",
          file);
    write_inks(usual, false, file);
    write_colours(false, file);
    fputs("\n@media screen and (prefers-color-scheme:dark){", file);
    write_inks(usual, true, file);
    write_colours(true, file);
    fputs("}\n", file);
}
