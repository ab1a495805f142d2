/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communication matrices: the bytes from each rank to each other one, kept sparse.
 *
 *   xy_matrix_t *m;
 *   st = xy_matrix_read("app.mat", &m);
 *   for (size_t k = m->first[rank]; k < m->first[rank + 1]; k++)
 *       printf("%u sends %g bytes to %u\n", rank, m->bytes[k], m->to[k]);
 *   xy_matrix_destroy(m);
 *
 * Rows are compressed (CSR): the entries of row r are first[r] .. first[r + 1], columns ascend, no
 * pair occurs twice, and values are finite and not negative. A matrix never changes once made: any
 * thread may read it. A row takes 8 bytes and an entry 12, or 20 when messages were counted.
 */
#ifndef XY_PLACE_MATRIX_H
#define XY_PLACE_MATRIX_H

#include "base/base.h"

typedef enum {
    XY_METRIC_SIZE, /* bytes */
    XY_METRIC_MSG,  /* number of messages */
    XY_METRIC_AVG,  /* mean size of a message */
} xy_metric_t;

typedef struct {
    uint32_t n;       /* processes */
    size_t *first;    /* n + 1 entries */
    uint32_t *to;     /* column of each entry */
    double *bytes;    /* bytes sent */
    double *messages; /* in how many messages; NULL: not counted */
} xy_matrix_t;

typedef enum {
    XY_MATRIX_MAT,     /* TreeMatch: n rows of n numbers */
    XY_MATRIX_MARKET,  /* Matrix Market: coordinate or array, real, integer or pattern */
    XY_MATRIX_METIS,   /* METIS graph: undirected, one line of neighbours per process */
    XY_MATRIX_CSV,     /* source,target,bytes[,messages], or n rows of n numbers */
    XY_MATRIX_OPENMPI, /* the format of Open MPI's monitoring component; read only */
    XY_MATRIX_FORMATS
} xy_matrix_format_t;

enum {
    XY_MATRIX_RANKS_MAX = 1 << 22, /* a header that declares more is refused, not tried */
    XY_MATRIX_BYTES_MAX = 1 << 30, /* of a file */
};
/* A value, a weight or a load beyond is refused: what is added up and multiplied stays finite. */
#define XY_MATRIX_VALUE_MAX 1e100

/* ---- Making one. On success the caller owns *matrix_p; on failure it is untouched and the cause
 * was reported, with file and line for input. ---- */

/* A file of any of the formats, told from its name (.mat .mtx .graph .csv .prof) or its contents;
 * "-" is standard input. */
xy_status_t xy_matrix_read(const char *path, xy_matrix_t **matrix_p);
/* The same from memory; `data` is followed by a NUL. `path` is named in messages. */
xy_status_t xy_matrix_parse(const char *data, size_t size, const char *path,
                            xy_matrix_format_t format, xy_matrix_t **matrix_p);
/* The format that the name or else the beginning of the data suggests. */
xy_matrix_format_t xy_matrix_guess(const char *path, const char *data);

void xy_matrix_destroy(xy_matrix_t *m); /* NULL is fine */

/* A matrix being collected: entries in any order, those of one pair are added up. */
typedef struct {
    uint32_t from, to;
    double bytes, messages;
} xy_matrix_entry_t;
/* `entries` is sorted in place. With `has_messages` the messages are kept. EINVAL, in silence:
 * a rank beyond n. */
xy_status_t xy_matrix_build(uint32_t n, xy_matrix_entry_t *entries, size_t count, bool has_messages,
                            xy_matrix_t **matrix_p);

/* ---- Asking ---- */

/* The value of entry k. XY_METRIC_MSG and XY_METRIC_AVG count one message per entry when messages
 * were not counted. */
double xy_matrix_value(const xy_matrix_t *m, xy_metric_t metric, size_t k);
bool xy_metric_parse(const char *name, xy_metric_t *metric_p);
const char *xy_matrix_format_name(xy_matrix_format_t format); /* "mat", "market", ... */

/* ---- Showing. Write errors stay in the FILE's error flag. ---- */

/* EINVAL: Open MPI's format is not written; METIS takes symmetric matrices of whole numbers
 * without a diagonal; a mat file of more than 20 000 ranks would be too large. */
xy_status_t xy_matrix_write(const xy_matrix_t *m, xy_matrix_format_t format, FILE *file);
/* A picture of the matrix, darker where more is sent; ranks are binned when there are many. */
xy_status_t xy_matrix_print_svg(const xy_matrix_t *m, xy_metric_t metric, const char *title,
                                FILE *file);

#endif
