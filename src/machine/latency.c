/* SPDX-License-Identifier: BSD-3-Clause */
/* Latency matrices: made, and read from text. */
#include <math.h>
#include <string.h>

#include "machine/eco.h"

static const size_t file_limit = (size_t)1 << 32;

xy_status_t xy_latency_create(uint32_t count, xy_latency_t **matrix_p)
{
    xy_latency_t *m;

    if (count > XY_LATENCY_MACHINES_MAX)
        return xy_fail(XY_ELIMIT, "%u machines; at most %d are read", count,
                       XY_LATENCY_MACHINES_MAX);
    m = xy_calloc(1, sizeof(*m));
    if (m == NULL)
        return xy_fail_memory("making a latency matrix");
    m->count = count;
    m->name = xy_calloc((size_t)count + 1, sizeof(*m->name));
    m->second = xy_calloc((size_t)count * count + 1, sizeof(*m->second));
    for (uint32_t i = 0; i < count && m->name != NULL; i++)
        if ((m->name[i] = xy_sprintf("m%u", i + 1)) == NULL)
            break;
    if (m->name == NULL || m->second == NULL || (count > 0 && m->name[count - 1] == NULL)) {
        xy_latency_destroy(m);
        return xy_fail_memory("making a latency matrix");
    }
    *matrix_p = m;
    return XY_OK;
}

void xy_latency_destroy(xy_latency_t *m)
{
    if (m == NULL)
        return;
    for (uint32_t i = 0; m->name != NULL && i < m->count; i++)
        xy_free(m->name[i]);
    xy_free(m->name);
    xy_free(m->second);
    xy_free(m);
}

/* A line with something on it: its words are cut in place. */
typedef struct {
    char *text, *end;
    long line;
    size_t words;
} row_t;

static bool is_separator(char c)
{
    return c == ' ' || c == '\t' || c == ',' || c == ';' || c == '\r';
}

/* The next word of a row from *p on, terminated; NULL: none is left. */
static char *next_word(char **p, const char *end)
{
    char *word;

    while (*p < end && (is_separator(**p) || **p == '\0'))
        (*p)++;
    if (*p >= end)
        return NULL;
    word = *p;
    while (*p < end && !is_separator(**p) && **p != '\0')
        (*p)++;
    **p = '\0';
    return word;
}

/* Cut the text in rows; each ends in front of its newline or comment. */
static xy_status_t list_rows(char *data, size_t size, const char *path, xy_vec_t *rows)
{
    long number = 0;

    if (memchr(data, '\0', size) != NULL)
        return xy_fail_at(XY_EPARSE, path, 0,
                          "is not text; a latency matrix has one row per machine");
    for (char *p = data, *end; p < data + size; p = end + 1) {
        row_t row = {.text = p, .line = ++number};
        char *hash, *q = p;

        end = memchr(p, '\n', (size_t)(data + size - p));
        end = end != NULL ? end : data + size;
        hash = memchr(p, '#', (size_t)(end - p));
        row.end = hash != NULL ? hash : end;
        *row.end = '\0';
        while (next_word(&q, row.end) != NULL)
            row.words++;
        if (row.words > 0 && xy_vec_append(rows, &row) != XY_OK)
            return xy_fail_memory("reading a latency matrix");
    }
    return XY_OK;
}

/* Reads the latencies, in microseconds, and the optional name of machine `i`. */
static xy_status_t read_row(xy_latency_t *m, uint32_t i, const row_t *row, const char *path)
{
    char *p = row->text, *word;

    if (row->words > m->count) {
        char *name = xy_strdup(next_word(&p, row->end));

        if (name == NULL)
            return xy_fail_memory("reading a latency matrix");
        xy_free(m->name[i]);
        m->name[i] = name;
    }
    for (uint32_t j = 0; j < m->count; j++) {
        double us = 0;

        word = next_word(&p, row->end);
        if (!xy_parse_double(word, &us) || us < 0)
            return xy_fail_at(XY_EPARSE, path, row->line,
                              "'%s' is not a latency; write microseconds, 0 or more", word);
        m->second[(size_t)i * m->count + j] = us / 1e6;
    }
    return XY_OK;
}

/* Checks that the rows make a square matrix, all with or all without names. */
static xy_status_t check_shape(const xy_vec_t *rows, const char *path)
{
    const row_t *first = rows->data;

    if (rows->count == 0)
        return xy_fail_at(XY_EPARSE, path, 0, "no rows; a latency matrix has one per machine");
    for (size_t i = 0; i < rows->count; i++) {
        const row_t *row = &XY_VEC_AT(rows, row_t, i);

        if (row->words != rows->count && row->words != rows->count + 1)
            return xy_fail_at(XY_EPARSE, path, row->line,
                              "%zu words for %zu machines; a row has a latency for each, and "
                              "perhaps a name in front",
                              row->words, rows->count);
        if (row->words != first->words)
            return xy_fail_at(XY_EPARSE, path, row->line,
                              "%zu words, but line %ld has %zu; name every machine or none",
                              row->words, first->line, first->words);
    }
    return XY_OK;
}

/* Makes a matrix of the rows; the caller owns it. */
static xy_status_t read_rows(const xy_vec_t *rows, const char *path, xy_latency_t **matrix_p)
{
    xy_latency_t *m;
    xy_status_t st;

    if (rows->count > XY_LATENCY_MACHINES_MAX)
        return xy_fail_at(XY_ELIMIT, path, 0, "%zu machines; at most %d are read", rows->count,
                          XY_LATENCY_MACHINES_MAX);
    st = xy_latency_create((uint32_t)rows->count, &m);
    if (st != XY_OK)
        return st;
    for (uint32_t i = 0; st == XY_OK && i < m->count; i++)
        st = read_row(m, i, &XY_VEC_AT(rows, row_t, i), path);
    if (st == XY_OK)
        *matrix_p = m;
    else
        xy_latency_destroy(m);
    return st;
}

/* `data` has a byte of room behind it, and is cut up. */
static xy_status_t parse(char *data, size_t size, const char *path, xy_latency_t **matrix_p)
{
    xy_vec_t rows = XY_VEC_INIT(row_t);
    xy_status_t st = list_rows(data, size, path, &rows);

    if (st == XY_OK)
        st = check_shape(&rows, path);
    if (st == XY_OK)
        st = read_rows(&rows, path, matrix_p);
    xy_vec_cleanup(&rows);
    return st;
}

xy_status_t xy_latency_parse(const char *data, size_t size, const char *path,
                             xy_latency_t **matrix_p)
{
    char *copy = xy_malloc(size + 1);
    xy_status_t st;

    if (copy == NULL)
        return xy_fail_memory("reading a latency matrix");
    memcpy(copy, data, size);
    copy[size] = '\0';
    st = parse(copy, size, path, matrix_p);
    xy_free(copy);
    return st;
}

xy_status_t xy_latency_read(const char *path, xy_latency_t **matrix_p)
{
    char *data;
    size_t size;
    xy_status_t st = xy_file_read(path, file_limit, &data, &size);

    if (st != XY_OK)
        return st;
    st = parse(data, size, path, matrix_p);
    xy_free(data);
    return st;
}
