/* SPDX-License-Identifier: BSD-3-Clause */
#include "place/matrix.h"

#include <string.h>

void xy_matrix_destroy(xy_matrix_t *m)
{
    if (m == NULL)
        return;
    xy_free(m->first);
    xy_free(m->to);
    xy_free(m->bytes);
    xy_free(m->messages);
    xy_free(m);
}

/* Returns a zeroed matrix with room for `count` entries; NULL without memory. */
static xy_matrix_t *allocate(uint32_t n, size_t count, bool has_messages)
{
    xy_matrix_t *m = xy_calloc(1, sizeof(*m));

    if (m == NULL)
        return NULL;
    m->n = n;
    m->first = xy_calloc((size_t)n + 1, sizeof(*m->first));
    m->to = xy_calloc(count + 1, sizeof(*m->to));
    m->bytes = xy_calloc(count + 1, sizeof(*m->bytes));
    m->messages = has_messages ? xy_calloc(count + 1, sizeof(*m->messages)) : NULL;
    if (m->first == NULL || m->to == NULL || m->bytes == NULL ||
        (has_messages && m->messages == NULL)) {
        xy_matrix_destroy(m);
        return NULL;
    }
    return m;
}

/* One pass of a counting sort by the row or the column: stable, so that two passes sort by both. */
static void sort_pass(const xy_matrix_entry_t *in, xy_matrix_entry_t *out, size_t count,
                      size_t *start, uint32_t n, bool by_row)
{
    memset(start, 0, ((size_t)n + 1) * sizeof(*start));
    for (size_t k = 0; k < count; k++)
        start[(by_row ? in[k].from : in[k].to) + 1]++;
    for (uint32_t i = 0; i < n; i++)
        start[i + 1] += start[i];
    for (size_t k = 0; k < count; k++)
        out[start[by_row ? in[k].from : in[k].to]++] = in[k];
}

static bool is_sorted(const xy_matrix_entry_t *e, size_t count)
{
    for (size_t k = 1; k < count; k++)
        if (e[k].from < e[k - 1].from || (e[k].from == e[k - 1].from && e[k].to <= e[k - 1].to))
            return false;
    return true;
}

/* Sorts entries by row and column with two stable counting passes. */
static xy_status_t sort(uint32_t n, xy_matrix_entry_t *entries, size_t count)
{
    xy_matrix_entry_t *spare;
    size_t *start;

    if (is_sorted(entries, count))
        return XY_OK;
    spare = xy_malloc(count * sizeof(*spare));
    start = xy_malloc(((size_t)n + 1) * sizeof(*start));
    if (spare != NULL && start != NULL) {
        sort_pass(entries, spare, count, start, n, false);
        sort_pass(spare, entries, count, start, n, true);
    }
    xy_free(spare);
    xy_free(start);
    return spare != NULL && start != NULL ? XY_OK : xy_fail_memory("sorting a matrix");
}

/* Entries of the same pair become one. */
static size_t merge(xy_matrix_entry_t *e, size_t count)
{
    size_t kept = 0;

    for (size_t k = 0; k < count; k++) {
        if (kept > 0 && e[kept - 1].from == e[k].from && e[kept - 1].to == e[k].to) {
            e[kept - 1].bytes += e[k].bytes;
            e[kept - 1].messages += e[k].messages;
        } else {
            e[kept++] = e[k];
        }
    }
    return kept;
}

xy_status_t xy_matrix_build(uint32_t n, xy_matrix_entry_t *entries, size_t count, bool has_messages,
                            xy_matrix_t **matrix_p)
{
    xy_matrix_t *m;

    for (size_t k = 0; k < count; k++)
        if (entries[k].from >= n || entries[k].to >= n)
            return XY_EINVAL;
    if (sort(n, entries, count) != XY_OK)
        return XY_ENOMEM;
    count = merge(entries, count);
    m = allocate(n, count, has_messages);
    if (m == NULL)
        return xy_fail_memory("building a matrix");
    for (size_t k = 0; k < count; k++) {
        m->first[entries[k].from + 1]++;
        m->to[k] = entries[k].to;
        m->bytes[k] = entries[k].bytes;
        if (has_messages)
            m->messages[k] = entries[k].messages;
    }
    for (uint32_t i = 0; i < n; i++)
        m->first[i + 1] += m->first[i];
    *matrix_p = m;
    return XY_OK;
}

double xy_matrix_value(const xy_matrix_t *m, xy_metric_t metric, size_t k)
{
    double messages = m->messages != NULL ? m->messages[k] : 1;

    switch (metric) {
    case XY_METRIC_MSG:
        return messages;
    case XY_METRIC_AVG:
        return messages > 0 ? m->bytes[k] / messages : 0;
    case XY_METRIC_SIZE:
        break;
    }
    return m->bytes[k];
}

bool xy_metric_parse(const char *name, xy_metric_t *metric_p)
{
    static const char *const names[] = {"size", "msg", "avg"};

    for (int i = 0; i < 3; i++)
        if (strcmp(name, names[i]) == 0) {
            *metric_p = (xy_metric_t)i;
            return true;
        }
    return false;
}

const char *xy_matrix_format_name(xy_matrix_format_t format)
{
    static const char *const names[] = {"mat", "market", "metis", "csv", "openmpi"};

    return format < XY_MATRIX_FORMATS ? names[format] : "?";
}
