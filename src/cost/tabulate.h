/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Models of times that somebody else has measured: a table of sizes and seconds.
 *
 *   xy_tabulated_t t;
 *   st = xy_tabulated_read("dgemm=times.csv:m1", &t);
 *   st = xy_costs_fit_table(costs, &t, "r2", stdout);
 *   xy_tabulated_cleanup(&t);
 *
 * The table is a CSV file. Its first line names the columns; lines that start with '#' and empty
 * ones are passed over. The first column has the sizes: of a kernel ("n", or any other name), or of
 * messages ("bytes", "B", "kB", "KiB", "MB", "MiB", in any case).
 */
#ifndef XY_COST_TABULATE_H
#define XY_COST_TABULATE_H

#include "cost/store.h"

typedef struct {
    char *name;       /* of the kernel; "message" */
    char *from, *to;  /* clusters; a kernel has the first alone */
    bool is_message;  /* sizes are bytes */
    size_t count;     /* of rows, by size */
    double *x, *t[2]; /* sizes, and the seconds of one or two columns (NULL: there is no second) */
} xy_tabulated_t;

/* Read "[NAME[@CLUSTER[-CLUSTER]]=]FILE[:COLUMN[,COLUMN]]". NAME: that of the file up to the first
 * '-' or '.'; CLUSTER: XY_COSTS_LOCAL; COLUMN: "seconds", or the second one of the table. The
 * second COLUMN is for nonblocking messages. EUSAGE: it is not of that form. EPARSE with file and
 * line. On success the caller cleans *table_p up. */
xy_status_t xy_tabulated_read(const char *text, xy_tabulated_t *table_p);
/* The same of the contents of a file, which are changed; `columns` may be NULL, and the strings of
 * the table are not set. */
xy_status_t xy_tabulated_parse(char *data, const char *path, const char *columns,
                               xy_tabulated_t *table_p);
void xy_tabulated_cleanup(xy_tabulated_t *table); /* of a zeroed one too */

/* Fit a model as those of `xylem calibrate` to the table and put it into the store: polynomials on
 * intervals for a kernel, all models of messages. Each size in turn is left out and predicted from
 * the others, which gives the error held out. What was fitted is printed to `report` (NULL: it is
 * not). EINVAL, EUNSUPPORTED as xy_fit_compute(). */
xy_status_t xy_costs_fit_table(xy_costs_t *costs, const xy_tabulated_t *table,
                               const char *criterion, FILE *report);

/* ---- Comma-separated values, line by line; the text is cut ---- */

typedef struct {
    const char *path;
    long line; /* its number; 0: errors are of the whole file */
    char *rest;
} xy_csv_t;

/* The next line that neither starts with '#' nor is empty; NULL: there are no more. */
char *xy_csv_line(xy_csv_t *csv);
/* Its next field, without the blanks around it; NULL: there are no more. */
char *xy_csv_field(char **rest_p);
/* XY_EPARSE, reported with file and line, and with `word` in quotes if it is not NULL. */
xy_status_t xy_csv_fail(const xy_csv_t *csv, const char *what, const char *word);

#endif
