/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pictures and pages: SVG that reads well in the light and in the dark, and HTML pages of one file.
 * This is the header that other components include; each part is a chapter of its own:
 *
 *   colour.h  one colour for each thing that has a name, the same on all pages
 *   svg.h     shapes, text, tooltips, legends
 *   axis.h    scales, round ticks, grids
 *   fields.h  named values as JSON and CSV
 *   page.h    the page around pictures: head, finding, sections, tables, zoom
 *
 * Every page and picture of Xylem is drawn with it: machines, placements, costs, sweeps, traces,
 * task runs. Output goes to a FILE of the caller, whose error flag keeps write errors; a drawing
 * belongs to one thread at a time.
 */
#ifndef XY_DRAW_DRAW_H
#define XY_DRAW_DRAW_H

#include "draw/axis.h"
#include "draw/colour.h"
#include "draw/fields.h"
#include "draw/page.h"
#include "draw/svg.h"

#endif
