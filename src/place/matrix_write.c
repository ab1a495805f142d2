/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing matrices. */
#include <math.h>

#include "place/matrix.h"

enum { MAT_MAX = 20000 };

static void print_value(FILE *file, double value)
{
    char text[32];

    fputs(xy_format_double(value, text), file);
}

/* Writes a dense matrix of bytes; XY_EINVAL for too many ranks. */
static xy_status_t write_mat(const xy_matrix_t *m, FILE *file)
{
    if (m->n > MAT_MAX)
        return xy_fail(XY_EINVAL, "a mat file of %u ranks would be too large; write csv or market",
                       m->n);
    for (uint32_t i = 0; i < m->n; i++) {
        size_t k = m->first[i];

        for (uint32_t j = 0; j < m->n; j++) {
            if (j > 0)
                fputc(' ', file);
            if (k < m->first[i + 1] && m->to[k] == j)
                print_value(file, m->bytes[k++]);
            else
                fputc('0', file);
        }
        fputc('\n', file);
    }
    return XY_OK;
}

static void write_market(const xy_matrix_t *m, FILE *file)
{
    fprintf(file, "%%%%MatrixMarket matrix coordinate real general\n%u %u %zu\n", m->n, m->n,
            m->first[m->n]);
    for (uint32_t i = 0; i < m->n; i++)
        for (size_t k = m->first[i]; k < m->first[i + 1]; k++) {
            fprintf(file, "%u %u ", i + 1, m->to[k] + 1);
            print_value(file, m->bytes[k]);
            fputc('\n', file);
        }
}

/* Writes one line per pair of ranks. */
static void write_csv(const xy_matrix_t *m, FILE *file)
{
    fprintf(file, "# ranks %u\nsource,target,bytes%s\n", m->n,
            m->messages != NULL ? ",messages" : "");
    for (uint32_t i = 0; i < m->n; i++)
        for (size_t k = m->first[i]; k < m->first[i + 1]; k++) {
            fprintf(file, "%u,%u,", i, m->to[k]);
            print_value(file, m->bytes[k]);
            if (m->messages != NULL) {
                fputc(',', file);
                print_value(file, m->messages[k]);
            }
            fputc('\n', file);
        }
}

/* The value in the other direction, or -1. */
static double opposite(const xy_matrix_t *m, uint32_t i, size_t k)
{
    uint32_t j = m->to[k];
    size_t low = m->first[j], high = m->first[j + 1];

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (m->to[middle] < i)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->first[j + 1] && m->to[low] == i ? m->bytes[low] : -1;
}

/* Writes a METIS graph; XY_EINVAL unless the matrix is symmetric, of whole numbers and without a
 * diagonal. */
static xy_status_t write_metis(const xy_matrix_t *m, FILE *file)
{
    for (uint32_t i = 0; i < m->n; i++)
        for (size_t k = m->first[i]; k < m->first[i + 1]; k++)
            if (m->to[k] == i || opposite(m, i, k) != m->bytes[k] ||
                m->bytes[k] != floor(m->bytes[k]) || !(m->bytes[k] > 0) || m->bytes[k] > 1e15)
                return xy_fail(XY_EINVAL,
                               "from %u to %u: a METIS graph takes symmetric whole numbers without "
                               "a diagonal; write csv or market",
                               i, m->to[k]);
    fprintf(file, "%u %zu 001\n", m->n, m->first[m->n] / 2);
    for (uint32_t i = 0; i < m->n; i++) {
        for (size_t k = m->first[i]; k < m->first[i + 1]; k++)
            fprintf(file, "%s%u %.0f", k > m->first[i] ? " " : "", m->to[k] + 1, m->bytes[k]);
        fputc('\n', file);
    }
    return XY_OK;
}

xy_status_t xy_matrix_write(const xy_matrix_t *m, xy_matrix_format_t format, FILE *file)
{
    switch (format) {
    case XY_MATRIX_MAT:
        return write_mat(m, file);
    case XY_MATRIX_MARKET:
        write_market(m, file);
        return XY_OK;
    case XY_MATRIX_METIS:
        return write_metis(m, file);
    case XY_MATRIX_CSV:
        write_csv(m, file);
        return XY_OK;
    case XY_MATRIX_OPENMPI:
    case XY_MATRIX_FORMATS:
        break;
    }
    return xy_fail(XY_EINVAL, "matrices are not written in format %s",
                   xy_matrix_format_name(format));
}
