/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of measured times: reading them. */
#include "cost/tabulate.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { COLUMNS_MAX = 64, ROWS_MAX = 2000 };

typedef struct {
    xy_csv_t csv;
    int time[2];   /* columns; -1: none */
    double scale;  /* of sizes */
    xy_vec_t rows; /* of row_t */
} reading_t;

typedef struct {
    double x, t[2];
} row_t;

/* ---- Comma-separated values ---- */

xy_status_t xy_csv_fail(const xy_csv_t *csv, const char *what, const char *word)
{
    return xy_fail_at(XY_EPARSE, csv->path, csv->line, "%s%s%s%s", what, word != NULL ? ": '" : "",
                      word != NULL ? word : "", word != NULL ? "'" : "");
}

char *xy_csv_line(xy_csv_t *csv)
{
    char *line;

    while ((line = strsep(&csv->rest, "\n")) != NULL) {
        csv->line++;
        if (*line != '#' && line[strspn(line, " \t\r")] != '\0')
            return line;
    }
    return NULL;
}

char *xy_csv_field(char **rest_p)
{
    char *field = strsep(rest_p, ",");
    size_t n;

    if (field == NULL)
        return NULL;
    field += strspn(field, " \t");
    for (n = strlen(field); n > 0 && strchr(" \t\r", field[n - 1]) != NULL; n--)
        field[n - 1] = '\0';
    return field;
}

/* ---- Columns ---- */

/* Bytes of the unit that heads a column of sizes; 0: these are no bytes. */
static double bytes_of(const char *head)
{
    static const struct {
        const char *name;
        double bytes;
    } units[] = {{"bytes", 1},  {"b", 1},    {"size", 0},     {"kb", 1e3},
                 {"kib", 1024}, {"mb", 1e6}, {"mib", 1 << 20}};

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcasecmp(head, units[i].name) == 0)
            return units[i].bytes;
    return 0;
}

/* Whether `name` is word number `which` of a list with commas. */
static bool is_asked_for(const char *list, int which, const char *name)
{
    for (; which > 0 && list != NULL; which--) {
        list = strchr(list, ',');
        list = list != NULL ? list + 1 : NULL;
    }
    return list != NULL && strcspn(list, ",") == strlen(name) &&
           strncmp(list, name, strlen(name)) == 0;
}

/* Finds the columns of times; without a list the one named "seconds", or the second. */
static xy_status_t read_head(reading_t *r, char *line, const char *columns, xy_tabulated_t *table)
{
    char *field = xy_csv_field(&line);

    r->scale = bytes_of(field);
    table->is_message = r->scale > 0;
    r->scale = r->scale > 0 ? r->scale : 1;
    for (int i = 1; (field = xy_csv_field(&line)) != NULL; i++) {
        if (i >= COLUMNS_MAX)
            return xy_csv_fail(&r->csv, "there are too many columns", NULL);
        for (int k = 0; k < 2; k++)
            if (r->time[k] < 0 && (columns != NULL ? is_asked_for(columns, k, field)
                                                   : k == 0 && strcmp(field, "seconds") == 0))
                r->time[k] = i;
        if (i == 1 && columns == NULL && r->time[0] < 0)
            r->time[0] = 1;
        else if (columns == NULL && strcmp(field, "seconds") == 0)
            r->time[0] = i;
    }
    if (r->time[0] < 0)
        return xy_csv_fail(&r->csv,
                           columns != NULL ? "the table has no such column"
                                           : "a table has a column of "
                                             "sizes and one of seconds",
                           columns);
    if (columns != NULL && strchr(columns, ',') != NULL && r->time[1] < 0)
        return xy_csv_fail(&r->csv, "the table has no such column", strchr(columns, ',') + 1);
    return XY_OK;
}

/* ---- Rows ---- */

/* Reads the size and the times of a row; other columns may hold anything. */
static xy_status_t read_row(reading_t *r, char *line)
{
    row_t row = {0};
    char *field;
    int i = 0;

    for (; (field = xy_csv_field(&line)) != NULL; i++) {
        double *value = i == 0            ? &row.x
                        : i == r->time[0] ? &row.t[0]
                        : i == r->time[1] ? &row.t[1]
                                          : NULL;

        if (value == NULL)
            continue;
        if (!xy_parse_double(field, value))
            return xy_csv_fail(&r->csv, "not a number", field);
        if (!(*value > 0) || *value > 1e18)
            return xy_csv_fail(&r->csv, "sizes and times must be positive", field);
    }
    if (i <= r->time[0] || i <= r->time[1])
        return xy_csv_fail(&r->csv, "the row has fewer fields than the table has columns", NULL);
    row.x *= r->scale;
    if (r->rows.count >= ROWS_MAX)
        return xy_csv_fail(&r->csv, "there are more than 2000 rows", NULL);
    return xy_vec_append(&r->rows, &row) == XY_OK ? XY_OK : xy_fail_memory("reading a table");
}

static int by_size(const void *a, const void *b)
{
    const row_t *x = a, *y = b;

    return (x->x > y->x) - (x->x < y->x);
}

/* Sorts the rows into the table. */
static xy_status_t finish(reading_t *r, xy_tabulated_t *table)
{
    row_t *rows = r->rows.data;
    size_t n = r->rows.count;
    double *values = xy_calloc(3 * n + 1, sizeof(*values));

    if (values == NULL)
        return xy_fail_memory("reading a table");
    qsort(rows, n, sizeof(*rows), by_size);
    table->count = n;
    table->x = values;
    table->t[0] = values + n;
    table->t[1] = r->time[1] >= 0 ? values + 2 * n : NULL;
    for (size_t i = 0; i < n; i++) {
        values[i] = rows[i].x;
        values[n + i] = rows[i].t[0];
        values[2 * n + i] = rows[i].t[1];
    }
    for (size_t i = 1; i < n; i++)
        if (rows[i].x == rows[i - 1].x) {
            xy_tabulated_cleanup(table);
            r->csv.line = 0;
            return xy_csv_fail(&r->csv, "two rows have the same size", NULL);
        }
    return XY_OK;
}

xy_status_t xy_tabulated_parse(char *data, const char *path, const char *columns,
                               xy_tabulated_t *table_p)
{
    reading_t r = {
        .csv = {.path = path, .rest = data}, .time = {-1, -1}, .rows = XY_VEC_INIT(row_t)};
    xy_tabulated_t table = {0};
    bool has_head = false;
    char *line;
    xy_status_t st = XY_OK;

    while (st == XY_OK && (line = xy_csv_line(&r.csv)) != NULL) {
        st = has_head ? read_row(&r, line) : read_head(&r, line, columns, &table);
        has_head = true;
    }
    if (st == XY_OK && r.rows.count < 2)
        st = xy_csv_fail(&r.csv, "a model needs two rows or more", NULL);
    if (st == XY_OK)
        st = finish(&r, &table);
    xy_vec_cleanup(&r.rows);
    if (st == XY_OK)
        *table_p = table;
    return st;
}

/* ---- What is asked for ---- */

/* "NAME[@CLUSTER[-CLUSTER]]", or the beginning of the file's name. */
static xy_status_t set_names(xy_tabulated_t *t, const char *text, size_t length, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path;
    const char *at = memchr(text, '@', length), *end = text + length, *dash = NULL;

    t->name = length == 0 ? xy_strndup(base, strcspn(base, "-."))
                          : xy_strndup(text, (size_t)((at != NULL ? at : end) - text));
    if (at != NULL)
        dash = memchr(at, '-', (size_t)(end - at));
    if (at != NULL)
        t->from = xy_strndup(at + 1, (size_t)((dash != NULL ? dash : end) - at - 1));
    else
        t->from = xy_strdup(XY_COSTS_LOCAL);
    t->to = dash != NULL      ? xy_strndup(dash + 1, (size_t)(end - dash - 1))
            : t->from != NULL ? xy_strdup(t->from)
                              : NULL;
    if (t->name == NULL || t->from == NULL || t->to == NULL)
        return xy_fail_memory("reading options");
    return *t->name != '\0' && *t->from != '\0' && *t->to != '\0'
               ? XY_OK
               : xy_fail(XY_EUSAGE, "--fit '%.*s': write [NAME[@CLUSTER[-CLUSTER]]=]FILE[:COLUMN]",
                         (int)length, text);
}

xy_status_t xy_tabulated_read(const char *text, xy_tabulated_t *table_p)
{
    const char *equal = strchr(text, '='), *from = equal != NULL ? equal + 1 : text;
    const char *colon = strrchr(from, ':');
    char *path = xy_strndup(from, colon != NULL ? (size_t)(colon - from) : strlen(from)), *data;
    xy_tabulated_t table = {0};
    xy_status_t st =
        path != NULL ? xy_file_read_text(path, 16 << 20, &data) : xy_fail_memory("reading options");

    if (st == XY_OK) {
        st = xy_tabulated_parse(data, path, colon != NULL ? colon + 1 : NULL, &table);
        xy_free(data);
    }
    if (st == XY_OK)
        st = set_names(&table, text, equal != NULL ? (size_t)(equal - text) : 0, path);
    if (st == XY_OK && !table.is_message && table.t[1] != NULL)
        st = xy_fail(XY_EUSAGE,
                     "--fit '%s': a second column is for nonblocking messages; '%s' has no bytes",
                     text, path);
    xy_free(path);
    if (st == XY_OK)
        *table_p = table;
    else
        xy_tabulated_cleanup(&table);
    return st;
}

void xy_tabulated_cleanup(xy_tabulated_t *t)
{
    xy_free(t->name);
    xy_free(t->from);
    xy_free(t->to);
    xy_free(t->x);
    *t = (xy_tabulated_t){0};
}
