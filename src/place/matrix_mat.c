/* SPDX-License-Identifier: BSD-3-Clause */
/* Dense matrices: TreeMatch's .mat, and CSV in both of its shapes. */
#include <ctype.h>
#include <string.h>

#include "place/matrix_reader.h"

/* n rows of n values; n is the length of the first. The current line is the first row. */
static xy_status_t read_dense(matrix_reader_t *r, char comment)
{
    uint64_t columns = 0, row = 0;

    do {
        uint64_t column = 0;
        const char *before = r->word, *word;
        size_t length;

        for (; matrix_next_word(r, &word, &length); before = r->word, column++) {
            double value;
            xy_status_t st;

            r->word = before; /* looked ahead */
            st = matrix_next_value(r, "value", &value);
            if (st == XY_OK && value > 0)
                st = matrix_add(r, row, column, value, 1);
            if (st != XY_OK)
                return st;
        }
        if (row == 0)
            columns = column;
        if (column != columns)
            return xy_fail_at(XY_EPARSE, r->path, r->line,
                              "row %llu has %llu values and the first %llu; a matrix is square",
                              (unsigned long long)row + 1, (unsigned long long)column,
                              (unsigned long long)columns);
        if (++row > columns)
            return xy_fail_at(XY_EPARSE, r->path, r->line,
                              "more than %llu rows of %llu values; a matrix is square",
                              (unsigned long long)columns, (unsigned long long)columns);
    } while (matrix_next_full_line(r, comment));
    if (row != columns)
        return xy_fail_at(XY_EPARSE, r->path, r->line,
                          "%llu rows of %llu values; a matrix is square", (unsigned long long)row,
                          (unsigned long long)columns);
    if (columns > XY_MATRIX_RANKS_MAX)
        return xy_fail_at(XY_ELIMIT, r->path, 1, "more than %d ranks", XY_MATRIX_RANKS_MAX);
    r->ranks = (uint32_t)columns;
    return XY_OK;
}

xy_status_t matrix_read_mat(matrix_reader_t *r)
{
    if (!matrix_next_full_line(r, '#'))
        return xy_fail_at(XY_EPARSE, r->path, 0,
                          "empty; a matrix of n rows with n values is expected");
    return read_dense(r, '#');
}

/* "# ranks 64" in front of a list gives their number; otherwise it follows from the largest one. */
static xy_status_t read_ranks(matrix_reader_t *r, uint64_t *ranks_p)
{
    const char *word;
    size_t length;

    if (!matrix_next_word(r, &word, &length) || length != 1 || *word != '#' ||
        !matrix_next_word(r, &word, &length) || length != 5 || memcmp(word, "ranks", 5) != 0)
        return XY_OK;
    return matrix_next_whole(r, "number of ranks", 0, XY_MATRIX_RANKS_MAX, ranks_p);
}

/* Reads lines of ranks, bytes and messages; `ranks` 0 stands for the largest rank plus one. */
static xy_status_t read_list(matrix_reader_t *r, uint64_t ranks)
{
    uint64_t largest = ranks > 0 ? ranks - 1 : XY_MATRIX_RANKS_MAX - 1, seen = 0;

    while (matrix_next_full_line(r, '#')) {
        uint64_t from, to;
        double bytes, messages = 1;
        xy_status_t st = matrix_next_whole(r, "rank", 0, largest, &from);

        if (st == XY_OK)
            st = matrix_next_whole(r, "rank", 0, largest, &to);
        if (st == XY_OK)
            st = matrix_next_value(r, "value", &bytes);
        if (st == XY_OK && r->has_messages)
            st = matrix_next_value(r, "number of messages", &messages);
        if (st == XY_OK)
            st = matrix_end_of_line(r);
        if (st == XY_OK)
            st = matrix_add(r, from, to, bytes, messages);
        if (st != XY_OK)
            return st;
        seen = from >= seen ? from + 1 : seen;
        seen = to >= seen ? to + 1 : seen;
    }
    r->ranks = (uint32_t)(ranks > 0 ? ranks : seen);
    return XY_OK;
}

static bool is_header(const matrix_reader_t *r)
{
    const char *s = r->text;

    while (s < r->stop && isspace((unsigned char)*s))
        s++;
    return s < r->stop && (isalpha((unsigned char)*s) || *s == '"') && r->stop - s > 4 &&
           strncmp(s, "nan", 3) != 0 && strncmp(s, "inf", 3) != 0;
}

xy_status_t matrix_read_csv(matrix_reader_t *r)
{
    uint64_t ranks = 0;
    bool is_any = false;

    r->separators = ",;";
    while (matrix_next_line(r)) {
        xy_status_t st;

        if (r->stop == r->text)
            continue;
        if (*r->text != '#') {
            is_any = true;
            break;
        }
        st = read_ranks(r, &ranks);
        if (st != XY_OK)
            return st;
    }
    if (!is_any)
        return xy_fail_at(XY_EPARSE, r->path, 0,
                          "empty; source,target,bytes or n rows of n values are expected");
    r->word = r->text;
    if (!is_header(r))
        return read_dense(r, '#');
    r->has_messages = memmem(r->text, (size_t)(r->stop - r->text), "messages", 8) != NULL;
    return read_list(r, ranks);
}
