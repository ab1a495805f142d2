/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrix Market: one entry per line with indices from 1, or all values column by column. */
#include <string.h>
#include <strings.h>

#include "place/matrix_reader.h"

typedef struct {
    bool is_array, is_pattern, is_symmetric;
} header_t;

static bool word_is(const char *word, size_t length, const char *text)
{
    return length == strlen(text) && strncasecmp(word, text, length) == 0;
}

/* Reads the banner; XY_EUNSUPPORTED for other kinds of matrices. */
static xy_status_t read_header(matrix_reader_t *r, header_t *h)
{
    const char *word[5];
    size_t length[5];

    for (int i = 0; i < 5; i++)
        if (!matrix_next_word(r, &word[i], &length[i]))
            return xy_fail_at(XY_EPARSE, r->path, r->line,
                              "expected '%%%%MatrixMarket matrix coordinate real general'");
    if (!word_is(word[0], length[0], "%%MatrixMarket") || !word_is(word[1], length[1], "matrix"))
        return xy_fail_at(XY_EPARSE, r->path, r->line, "not a Matrix Market file");
    h->is_array = word_is(word[2], length[2], "array");
    h->is_pattern = word_is(word[3], length[3], "pattern");
    h->is_symmetric = word_is(word[4], length[4], "symmetric");
    if ((!h->is_array && !word_is(word[2], length[2], "coordinate")) ||
        (!h->is_pattern && !word_is(word[3], length[3], "real") &&
         !word_is(word[3], length[3], "integer") && !word_is(word[3], length[3], "double")) ||
        (!h->is_symmetric && !word_is(word[4], length[4], "general")) ||
        (h->is_array && h->is_pattern))
        return xy_fail_at(XY_EUNSUPPORTED, r->path, r->line,
                          "'%.*s %.*s %.*s' is not read; coordinate or array, real, integer or "
                          "pattern, general or symmetric are",
                          (int)length[2], word[2], (int)length[3], word[3], (int)length[4],
                          word[4]);
    return XY_OK;
}

static xy_status_t add(matrix_reader_t *r, const header_t *h, uint64_t i, uint64_t j, double value)
{
    xy_status_t st = value > 0 ? matrix_add(r, i, j, value, 1) : XY_OK;

    if (st == XY_OK && h->is_symmetric && i != j && value > 0)
        st = matrix_add(r, j, i, value, 1);
    return st;
}

/* Reads a dense matrix by columns. */
static xy_status_t read_array(matrix_reader_t *r, const header_t *h, uint64_t n)
{
    for (uint64_t j = 0; j < n; j++)
        for (uint64_t i = h->is_symmetric ? j : 0; i < n; i++) {
            double value;
            xy_status_t st;

            if (!matrix_next_full_line(r, '%'))
                return xy_fail_at(XY_EPARSE, r->path, r->line,
                                  "the file ends in column %llu of %llu", (unsigned long long)j + 1,
                                  (unsigned long long)n);
            st = matrix_next_value(r, "value", &value);
            if (st == XY_OK)
                st = matrix_end_of_line(r);
            if (st == XY_OK)
                st = add(r, h, i, j, value);
            if (st != XY_OK)
                return st;
        }
    return XY_OK;
}

/* Reads `count` coordinate entries. */
static xy_status_t read_entries(matrix_reader_t *r, const header_t *h, uint64_t n, uint64_t count)
{
    for (uint64_t k = 0; k < count; k++) {
        uint64_t i, j;
        double value = 1;
        xy_status_t st;

        if (!matrix_next_full_line(r, '%'))
            return xy_fail_at(XY_EPARSE, r->path, r->line, "%llu entries instead of %llu",
                              (unsigned long long)k, (unsigned long long)count);
        st = matrix_next_whole(r, "row", 1, n, &i);
        if (st == XY_OK)
            st = matrix_next_whole(r, "column", 1, n, &j);
        if (st == XY_OK && !h->is_pattern)
            st = matrix_next_value(r, "value", &value);
        if (st == XY_OK)
            st = matrix_end_of_line(r);
        if (st == XY_OK)
            st = add(r, h, i - 1, j - 1, value);
        if (st != XY_OK)
            return st;
    }
    return XY_OK;
}

xy_status_t matrix_read_market(matrix_reader_t *r)
{
    header_t h = {0};
    uint64_t rows = 0, columns = 0, count = 0;
    xy_status_t st;

    if (!matrix_next_line(r))
        return xy_fail_at(XY_EPARSE, r->path, 0, "empty; a Matrix Market file is expected");
    st = read_header(r, &h);
    if (st != XY_OK)
        return st;
    if (!matrix_next_full_line(r, '%'))
        return xy_fail_at(XY_EPARSE, r->path, r->line, "the file ends before the sizes");
    st = matrix_next_whole(r, "number of rows", 0, XY_MATRIX_RANKS_MAX, &rows);
    if (st == XY_OK)
        st = matrix_next_whole(r, "number of columns", 0, XY_MATRIX_RANKS_MAX, &columns);
    if (st == XY_OK && !h.is_array)
        st = matrix_next_whole(r, "number of entries", 0, UINT64_MAX, &count);
    if (st == XY_OK)
        st = matrix_end_of_line(r);
    if (st == XY_OK && rows != columns)
        st = xy_fail_at(XY_EPARSE, r->path, r->line,
                        "%llu rows and %llu columns; a matrix is square", (unsigned long long)rows,
                        (unsigned long long)columns);
    if (st == XY_OK)
        st = h.is_array ? read_array(r, &h, rows) : read_entries(r, &h, rows, count);
    if (st == XY_OK && matrix_next_full_line(r, '%'))
        st = xy_fail_at(XY_EPARSE, r->path, r->line, "more entries than the sizes say");
    r->ranks = (uint32_t)rows;
    return st;
}
