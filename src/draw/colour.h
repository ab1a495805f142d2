/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Colours. There are nine, each in a tone for light and a tone for dark ground; people with
 * red-green blindness tell them apart, and the first six with ease. Every named thing (a progress
 * mode, a library, a policy, a strategy) has the same colour on every page.
 *
 *   int c = xy_colour_of("openmpi");
 *   xy_svg_curve(svg, xy_colour_line[c], ...);
 *   xy_svg_rect(svg, xy_colour_fill[c], ...);
 */
#ifndef XY_DRAW_COLOUR_H
#define XY_DRAW_COLOUR_H

#include <stdint.h>
#include <stdio.h>

enum { XY_COLOURS = 9 };

/* Something with a tone for light and one for dark ground: a rule "selector{property:tone}". Lists
 * end with a NULL selector. */
typedef struct {
    const char *selector, *property;
    const char *light, *dark;
} xy_ink_t;

/* The tones of each colour, and the classes that fill and that draw lines with it. */
typedef struct {
    const char *light, *dark;
} xy_tones_t;

extern const xy_tones_t xy_colours[XY_COLOURS];
extern const char *const xy_colour_fill[XY_COLOURS];
extern const char *const xy_colour_line[XY_COLOURS];

/* 0 .. XY_COLOURS - 1. Case, blanks and hyphens do not matter ("Open MPI" is "openmpi"); a name
 * that is not known has a colour by its letters. */
int xy_colour_of(const char *name);

/* The colours of the rules, for light ground and, where the reader prefers it, for dark. Rules may
 * be NULL. */
void xy_inks_write(const xy_ink_t *inks, FILE *file);
/* The rules of everything in svg.h and axis.h. */
void xy_style_write(FILE *file);

#endif
