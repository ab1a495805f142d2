/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pages: one HTML file that needs nothing else, light or dark as the reader prefers. A page begins
 * with its main result, in one sentence.
 *
 *   xy_page_begin(file, &(xy_page_t){.title = "Overlap on knl64", .finding = "tasks hide 99 %"});
 *   xy_page_heading(file, "All points");
 *   xy_page_table_begin(file, NULL, (const char *const[]){"size", "time", NULL});
 *   xy_page_line(file);
 *   xy_page_cell(file, "%s", size);
 *   ...
 *   xy_page_table_end(file, NULL);
 *   xy_page_end(file);
 *
 * All texts are plain and are escaped here. Pictures of svg.h go in between, with is_embedded. On
 * every page the wheel with shift or control zooms into a picture, dragging moves it, and a double
 * click shows all of it again.
 */
#ifndef XY_DRAW_PAGE_H
#define XY_DRAW_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "draw/colour.h"

typedef struct {
    const char *title;
    const char *finding;  /* or NULL */
    const xy_ink_t *inks; /* colours of further classes, or NULL */
    const char *style;    /* further rules, or NULL */
} xy_page_t;

void xy_page_begin(FILE *file, const xy_page_t *page);
void xy_page_end(FILE *file);

void xy_page_heading(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
void xy_page_paragraph(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Pictures side by side, as far as there is room. */
void xy_page_row_begin(FILE *file);
void xy_page_row_end(FILE *file);

/* Columns end with NULL. `summary`: the table is behind it until the reader opens it; NULL: open.
 */
void xy_page_table_begin(FILE *file, const char *summary, const char *const *columns);
void xy_page_line(FILE *file);
void xy_page_cell(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
void xy_page_table_end(FILE *file, const char *summary);

/* ---- Findings ---- */

typedef struct {
    const char *name;
    double value;
} xy_score_t;

/* Best first, equal ones in the order they had; what is not a number is dropped. How many are left.
 */
size_t xy_scores_sort(xy_score_t *scores, size_t count, bool is_high_best);

#endif
