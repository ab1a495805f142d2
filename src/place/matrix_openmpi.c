/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What Open MPI's monitoring component writes (--mca pml_monitoring_enable 2), the files of all
 * ranks one behind the other:
 *
 *   # POINT TO POINT
 *   E   0   1   4096 bytes   2 msgs sent   ...       by the program
 *   I   0   1   8 bytes      1 msgs sent   ...       inside collectives
 *   # OSC
 *   S   0   1   ...  sent   R   0   1   ...  received by one-sided operations
 *   # COLLECTIVES
 *   D / O2A / A2O / A2A  ...                         summaries, read over
 */
#include <string.h>

#include "place/matrix_reader.h"

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

xy_status_t matrix_read_openmpi(matrix_reader_t *r)
{
    uint64_t ranks = 0;
    bool is_any = false;

    r->has_messages = true;
    while (matrix_next_full_line(r, '#')) {
        const char *word;
        size_t length;
        xy_status_t st;

        if (!matrix_next_word(r, &word, &length) || length != 1 || strchr("EISR", *word) == NULL) {
            if (length <= 3 && (*word == 'D' || *word == 'O' || *word == 'A'))
                continue;
            return xy_fail_at(XY_EPARSE, r->path, r->line,
                              "no line of Open MPI's monitoring begins with '%.*s'",
                              (int)(length < 40 ? length : 40), word);
        }
        st = read_line(r, *word == 'R', &ranks);
        if (st != XY_OK)
            return st;
        is_any = true;
    }
    if (!is_any)
        return xy_fail_at(XY_EPARSE, r->path, 0, "empty; nothing was monitored");
    r->ranks = (uint32_t)ranks;
    return XY_OK;
}
