/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of loads: how much work each process has. */
#include <string.h>

#include "place/strategy.h"

/* One line, which ends with a NUL; *count_p grows unless nothing is in it. */
static xy_status_t read_line(char *line, const char *path, long number, uint32_t n, double *load,
                             uint32_t *count_p)
{
    char *rest = NULL, *word;
    double value;

    line[strcspn(line, "#")] = '\0';
    word = strtok_r(line, " \t\r", &rest);
    if (word == NULL)
        return XY_OK;
    if (!xy_parse_double(word, &value) || value < 0 || value > XY_MATRIX_VALUE_MAX)
        return xy_fail_at(XY_EPARSE, path, number, "'%.40s' is not a load", word);
    if (strtok_r(NULL, " \t\r", &rest) != NULL)
        return xy_fail_at(XY_EPARSE, path, number, "a line must be one load");
    if (*count_p == n)
        return xy_fail_at(XY_EPARSE, path, number,
                          "more than %u loads; the matrix has %u processes", n, n);
    load[(*count_p)++] = value;
    return XY_OK;
}

xy_status_t xy_loads_parse(char *text, const char *path, uint32_t n, double *load)
{
    xy_status_t st = XY_OK;
    uint32_t count = 0;
    long number = 0;

    if (strncmp(text, "\xef\xbb\xbf", 3) == 0) /* the mark of an encoding, from editors */
        text += 3;
    for (char *line; st == XY_OK && (line = strsep(&text, "\n")) != NULL;)
        st = read_line(line, path, ++number, n, load, &count);
    if (st == XY_OK && count < n)
        st = xy_fail_at(XY_EPARSE, path, number, "%u loads for %u processes", count, n);
    return st;
}

xy_status_t xy_loads_read(const char *path, uint32_t n, double **load_p)
{
    double *load;
    char *data;
    xy_status_t st = xy_file_read_text(path, XY_MATRIX_BYTES_MAX, &data);

    if (st != XY_OK)
        return st;
    load = xy_calloc((size_t)n + 1, sizeof(*load));
    if (load == NULL)
        st = xy_fail_memory("reading loads");
    else
        st = xy_loads_parse(data, path, n, load);
    xy_free(data);
    if (st == XY_OK)
        *load_p = load;
    else
        xy_free(load);
    return st;
}
