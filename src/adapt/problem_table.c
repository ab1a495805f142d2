/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of measured times: comma-separated values, and what is between and beyond them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapt/adapt_internal.h"

enum { COLUMNS_MAX = 64, ROWS_MAX = 100000 };

/* ---- Reading ---- */

/* The meaning of each column: a parameter, or: */
enum { IS_SECONDS = -1, IS_ALTERNATIVE = -2, IS_OTHER = -3 };

typedef struct {
    xy_csv_t csv;
    const xy_adapt_t *problem;
    const char *alternative;
    int column[COLUMNS_MAX];
    size_t columns;
    xy_vec_t rows; /* of `parameters` + 1 doubles each, the time last */
} reading_t;

static int find_column(const xy_adapt_t *p, const char *name)
{
    for (size_t i = 0; i < p->parameters.count; i++)
        if (strcmp(XY_VEC_AT(&p->parameters, adapt_parameter_t, i).name, name) == 0)
            return (int)i;
    return strcmp(name, "seconds") == 0       ? IS_SECONDS
           : strcmp(name, "alternative") == 0 ? IS_ALTERNATIVE
                                              : IS_OTHER;
}

static bool has_column(const reading_t *r, int what)
{
    for (size_t i = 0; i < r->columns; i++)
        if (r->column[i] == what)
            return true;
    return false;
}

/* Reads the column names; all parameters and 'seconds' are required. */
static xy_status_t read_head(reading_t *r, char *line)
{
    char *field;

    while ((field = xy_csv_field(&line)) != NULL) {
        if (r->columns == COLUMNS_MAX)
            return xy_csv_fail(&r->csv, "there are too many columns", NULL);
        r->column[r->columns++] = find_column(r->problem, field);
    }
    for (size_t i = 0; i < r->problem->parameters.count; i++)
        if (!has_column(r, (int)i))
            return xy_csv_fail(&r->csv, "the table has no column for the parameter",
                               XY_VEC_AT(&r->problem->parameters, adapt_parameter_t, i).name);
    return has_column(r, IS_SECONDS)
               ? XY_OK
               : xy_csv_fail(&r->csv, "the table has no column 'seconds'", NULL);
}

/* Reads one row; rows of other alternatives are checked and skipped. */
static xy_status_t read_row(reading_t *r, char *line)
{
    size_t n = r->problem->parameters.count;
    double row[XY_CHOOSE_PARAMETERS_MAX + 1];
    bool is_ours = true;
    char *field;

    for (size_t i = 0; i < r->columns; i++) {
        int what = r->column[i];

        field = xy_csv_field(&line);
        if (field == NULL)
            return xy_csv_fail(&r->csv, "the row has fewer fields than the table has columns",
                               NULL);
        if (what == IS_ALTERNATIVE)
            is_ours = strcmp(field, r->alternative) == 0;
        if (what >= IS_SECONDS &&
            !xy_parse_double(field, &row[what == IS_SECONDS ? n : (size_t)what]))
            return xy_csv_fail(&r->csv, "not a number", field);
    }
    if (!(row[n] > 0))
        return xy_csv_fail(&r->csv, "a time must be positive", NULL);
    if (r->rows.count / (n + 1) >= ROWS_MAX)
        return xy_csv_fail(&r->csv, "there are too many rows", NULL);
    if (!is_ours)
        return XY_OK;
    for (size_t i = 0; i <= n; i++)
        if (xy_vec_append(&r->rows, &row[i]) != XY_OK)
            return xy_fail_memory("reading a table");
    return XY_OK;
}

static int compare_rows(const void *a, const void *b, void *parameters)
{
    const double *x = a, *y = b;

    for (size_t i = 0; i < *(const size_t *)parameters; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* Sorts the rows and moves them into the table; fails for two rows with equal parameters. */
static xy_status_t finish(reading_t *r, adapt_table_t *t)
{
    size_t n = r->problem->parameters.count, rows = r->rows.count / (n + 1);
    double *data = r->rows.data;

    r->csv.line = 0;
    if (rows == 0)
        return xy_csv_fail(&r->csv, "the table has no row for the alternative", r->alternative);
    qsort_r(data, rows, (n + 1) * sizeof(*data), compare_rows, &n);
    for (size_t i = 1; i < rows; i++)
        if (compare_rows(data + (i - 1) * (n + 1), data + i * (n + 1), &n) == 0)
            return xy_csv_fail(&r->csv, "two rows have the same parameters, of the alternative",
                               r->alternative);
    *t = (adapt_table_t){.parameters = n, .rows = rows, .values = xy_vec_take(&r->rows)};
    return XY_OK;
}

xy_status_t adapt_table_parse(const xy_adapt_t *problem, char *data, const char *path,
                              const char *alternative, adapt_table_t *table_p)
{
    reading_t r = {.csv = {.path = path, .rest = data},
                   .problem = problem,
                   .alternative = alternative,
                   .rows = XY_VEC_INIT(double)};
    char *line;
    xy_status_t st = XY_OK;

    while (st == XY_OK && (line = xy_csv_line(&r.csv)) != NULL)
        st = r.columns == 0 ? read_head(&r, line) : read_row(&r, line);
    if (st == XY_OK)
        st = finish(&r, table_p);
    xy_vec_cleanup(&r.rows);
    return st;
}

xy_status_t adapt_table_read(const xy_adapt_t *problem, const char *path, const char *alternative,
                             adapt_table_t *table_p)
{
    char *data;
    xy_status_t st = xy_file_read_text(path, 64 << 20, &data);

    if (st != XY_OK)
        return st;
    st = adapt_table_parse(problem, data, path, alternative, table_p);
    xy_free(data);
    return st;
}

void adapt_table_cleanup(adapt_table_t *t)
{
    xy_free(t->values);
}

/* ---- Values ---- */

static double place(double x)
{
    return copysign(log1p(fabs(x)), x);
}

/* On the line through two points, with the logarithm of the time. */
static double between(double x0, double y0, double x1, double y1, double x)
{
    return y0 + (y1 - y0) * (place(x) - place(x0)) / (place(x1) - place(x0));
}

static const double *row(const adapt_table_t *t, size_t i)
{
    return t->values + i * (t->parameters + 1);
}

/* The end of the rows from `first` whose parameter k is that of `first`. */
static size_t group_end(const adapt_table_t *t, size_t first, size_t end, size_t k)
{
    size_t i = first;

    while (i < end && row(t, i)[k] == row(t, first)[k])
        i++;
    return i;
}

/* Two groups with the value between them, or the nearest two; *high_p == end: there is one only. */
static void bracket(const adapt_table_t *t, size_t first, size_t end, size_t k, double x,
                    size_t *low_p, size_t *high_p)
{
    size_t low = first, high = group_end(t, first, end, k);

    while (high < end && row(t, high)[k] < x) {
        size_t next = group_end(t, high, end, k);

        if (next == end)
            break;
        low = high;
        high = next;
    }
    *low_p = low;
    *high_p = high;
}

/* The logarithm of the time by rows [first, end), which have the same parameters before k. */
static double log_time(const adapt_table_t *t, size_t first, size_t end, size_t k, const double *x,
                       bool *is_outside_p)
{
    size_t low, high;
    double at_low, at_high;

    if (k == t->parameters)
        return log(row(t, first)[k]);
    bracket(t, first, end, k, x[k], &low, &high);
    if (high < end && row(t, high)[k] == x[k])
        return log_time(t, high, group_end(t, high, end, k), k + 1, x, is_outside_p);
    *is_outside_p =
        *is_outside_p || x[k] < row(t, low)[k] || x[k] > row(t, high < end ? high : low)[k];
    at_low = log_time(t, low, group_end(t, low, end, k), k + 1, x, is_outside_p);
    if (high == end || row(t, low)[k] == x[k])
        return at_low; /* one value alone says nothing about others */
    at_high = log_time(t, high, group_end(t, high, end, k), k + 1, x, is_outside_p);
    return between(row(t, low)[k], at_low, row(t, high)[k], at_high, x[k]);
}

double adapt_table_value(const adapt_table_t *t, const double *values, bool *is_outside_p)
{
    *is_outside_p = false;
    return exp(log_time(t, 0, t->rows, 0, values, is_outside_p));
}
