/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the fuzz targets of this component. */
#ifndef XY_PLACE_MATRIX_FUZZ_H
#define XY_PLACE_MATRIX_FUZZ_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "place/matrix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_ignore(void *arg, xy_status_t status, const char *message)
{
    (void)arg, (void)status, (void)message;
}

/* The matrix obeys its rules and reads back the same from CSV. */
static inline void fuzz_check(const xy_matrix_t *m)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    xy_matrix_t *back;

    if (file == NULL)
        return;
    for (uint32_t i = 0; i < m->n; i++)
        for (size_t k = m->first[i]; k < m->first[i + 1]; k++)
            if (m->to[k] >= m->n || !(m->bytes[k] >= 0) || !isfinite(m->bytes[k]) ||
                (k > m->first[i] && m->to[k] <= m->to[k - 1]))
                abort();
    if (xy_matrix_write(m, XY_MATRIX_CSV, file) != XY_OK || fclose(file) != 0)
        abort();
    if (m->n > 0) {
        if (xy_matrix_parse(text, size, "again", XY_MATRIX_CSV, &back) != XY_OK || back->n != m->n)
            abort();
        xy_matrix_destroy(back);
    }
    free(text);
}

/* The input as a text, which the caller frees; NULL: no memory. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    if (text == NULL)
        return NULL;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    xy_error_handler_set(fuzz_ignore, NULL);
    return text;
}

static inline int fuzz_matrix(const uint8_t *data, size_t size, xy_matrix_format_t format)
{
    char *text = fuzz_text(data, size);
    xy_matrix_t *m;

    if (text != NULL && xy_matrix_parse(text, size, "input", format, &m) == XY_OK) {
        fuzz_check(m);
        xy_matrix_destroy(m);
    }
    free(text);
    return 0;
}

#endif
