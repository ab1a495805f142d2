/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the readers of matrices: lines, words and strict numbers. Private to the component. */
#ifndef XY_PLACE_MATRIX_READER_H
#define XY_PLACE_MATRIX_READER_H

#include "place/matrix.h"

typedef struct {
    const char *path;
    const char *at, *end; /* the rest of the text */
    const char *separators;
    long line;        /* of `text`, from 1 */
    const char *text; /* the current line ... */
    const char *stop; /* ... and its end */
    const char *word; /* the next word of it */
    xy_vec_t entries; /* of xy_matrix_entry_t */
    uint32_t ranks;
    bool has_messages;
} matrix_reader_t;

/* The next line; false at the end. A missing last newline is fine. */
bool matrix_next_line(matrix_reader_t *r);
/* The next line that is neither empty nor a comment beginning with `comment`. */
bool matrix_next_full_line(matrix_reader_t *r, char comment);
/* The next word of the line, in *word_p and *length_p; false: there is none. */
bool matrix_next_word(matrix_reader_t *r, const char **word_p, size_t *length_p);

/* The next word as a value: a finite number that is not negative. Says what is wrong, `what` names
 * the thing expected. */
xy_status_t matrix_next_value(matrix_reader_t *r, const char *what, double *value_p);
/* The next word as a whole number in [min, max]. */
xy_status_t matrix_next_whole(matrix_reader_t *r, const char *what, uint64_t min, uint64_t max,
                              uint64_t *value_p);
/* The line must end here. */
xy_status_t matrix_end_of_line(matrix_reader_t *r);
/* Add an entry unless it is zero; ENOMEM is reported. */
xy_status_t matrix_add(matrix_reader_t *r, uint64_t from, uint64_t to, double bytes,
                       double messages);

/* The formats. Each fills entries, ranks and has_messages. */
xy_status_t matrix_read_mat(matrix_reader_t *r);
xy_status_t matrix_read_market(matrix_reader_t *r);
xy_status_t matrix_read_metis(matrix_reader_t *r);
xy_status_t matrix_read_csv(matrix_reader_t *r);
xy_status_t matrix_read_openmpi(matrix_reader_t *r);

#endif
