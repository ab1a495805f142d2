/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The format of Open MPI's monitoring component (--mca pml_monitoring_enable 2), the files of all
 * ranks one after the other:
 *
 *   # POINT TO POINT
 *   E   0   1   4096 bytes   2 msgs sent   ...       by the program
 *   I   0   1   8 bytes      1 msgs sent   ...       inside collectives
 *   # OSC
 *   S   0   1   ...  sent   R   0   1   ...  received by one-sided operations
 *   # COLLECTIVES
 *   C   0   1   8 bytes      1 msgs sent             by the arguments of collectives
 *   D / O2A / A2O / A2A  ...                         summaries, read over
 *
 * The messages of collectives are among the lines E or I (pml_monitoring_enable 1 or 2), so lines C
 * would count them twice. They count where there is no such line: then the collectives have used
 * something else than messages, such as shared memory.
 */
#include <string.h>

#include "place/matrix_reader.h"

/* Reads one line of Open MPI's monitoring output; `is_received` exchanges sender and receiver. */
static xy_status_t read_line(matrix_reader_t *r, bool is_received, uint64_t *ranks)
{
    uint64_t from, to;
    double bytes, messages = 0;
    const char *word;
    size_t length;
    xy_status_t st = matrix_next_whole(r, "rank", 0, XY_MATRIX_RANKS_MAX - 1, &from);

    if (st == XY_OK)
        st = matrix_next_whole(r, "rank", 0, XY_MATRIX_RANKS_MAX - 1, &to);
    if (st == XY_OK)
        st = matrix_next_value(r, "number of bytes", &bytes);
    if (st != XY_OK)
        return st;
    if (!matrix_next_word(r, &word, &length) || length != 5 || memcmp(word, "bytes", 5) != 0)
        return xy_fail_at(XY_EPARSE, r->path, r->line, "'bytes' is expected after their number");
    st = matrix_next_value(r, "number of messages", &messages);
    if (st != XY_OK)
        return st;
    *ranks = from >= *ranks ? from + 1 : *ranks;
    *ranks = to >= *ranks ? to + 1 : *ranks;
    return is_received ? matrix_add(r, to, from, bytes, messages)
                       : matrix_add(r, from, to, bytes, messages);
}

/* A line that begins with `kind`. Those of collectives are kept apart. */
static xy_status_t read_kind(matrix_reader_t *r, char kind, xy_vec_t *collectives, uint64_t *ranks)
{
    xy_vec_t messages = r->entries;
    xy_status_t st;

    if (kind != 'C')
        return read_line(r, kind == 'R', ranks);
    r->entries = *collectives;
    st = read_line(r, false, ranks);
    *collectives = r->entries;
    r->entries = messages;
    return st;
}

/* All lines; *has_messages_p: there are some of point-to-point messages. */
static xy_status_t read_lines(matrix_reader_t *r, xy_vec_t *collectives, uint64_t *ranks,
                              bool *has_messages_p)
{
    xy_status_t st = XY_OK;

    while (st == XY_OK && matrix_next_full_line(r, '#')) {
        const char *word;
        size_t length;

        if (!matrix_next_word(r, &word, &length) || length != 1 || strchr("EISRC", *word) == NULL) {
            if (length <= 3 && (*word == 'D' || *word == 'O' || *word == 'A'))
                continue;
            return xy_fail_at(XY_EPARSE, r->path, r->line,
                              "no line of Open MPI's monitoring begins with '%.*s'",
                              (int)(length < 40 ? length : 40), word);
        }
        *has_messages_p |= *word == 'E' || *word == 'I';
        st = read_kind(r, *word, collectives, ranks);
    }
    return st;
}

xy_status_t matrix_read_openmpi(matrix_reader_t *r)
{
    xy_vec_t collectives = XY_VEC_INIT(xy_matrix_entry_t);
    bool has_messages = false;
    uint64_t ranks = 0;
    xy_status_t st;

    r->has_messages = true;
    st = read_lines(r, &collectives, &ranks, &has_messages);
    for (size_t i = 0; st == XY_OK && !has_messages && i < collectives.count; i++)
        if (xy_vec_append(&r->entries, &XY_VEC_AT(&collectives, xy_matrix_entry_t, i)) != XY_OK)
            st = xy_fail_memory("reading a matrix");
    xy_vec_cleanup(&collectives);
    if (st == XY_OK && ranks == 0)
        st = xy_fail_at(XY_EPARSE, r->path, 0, "empty; nothing was monitored");
    r->ranks = (uint32_t)ranks;
    return st;
}
