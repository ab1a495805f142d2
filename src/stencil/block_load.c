/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads from files. */
#include <stdlib.h>
#include <string.h>

#include "stencil/internal.h"

enum { FILE_MAX = 64 << 20 };
static const double FACTOR_MAX = 1e6;

/* Reads the factors of one line; '#' starts a comment. */
static xy_status_t read_line(const char *path, long number, char *line, xy_vec_t *values,
                             int64_t *count_p)
{
    char *save = NULL;

    *count_p = 0;
    line[strcspn(line, "#")] = '\0';
    for (char *word = strtok_r(line, " \t,\r", &save); word != NULL;
         word = strtok_r(NULL, " \t,\r", &save)) {
        double value;

        if (!xy_parse_double(word, &value) || value <= 0 || value > FACTOR_MAX)
            return xy_fail_at(XY_EPARSE, path, number,
                              "'%s' is not a factor; write numbers greater than 0, 1e6 at most",
                              word);
        if (xy_vec_append(values, &value) != XY_OK)
            return xy_fail_memory("reading the load");
        ++*count_p;
    }
    return XY_OK;
}

/* Reads a table of factors, all lines of one length. */
static xy_status_t read_lines(const char *path, char *text, xy_vec_t *values, xy_stencil_t *s)
{
    long number = 0;
    xy_status_t st = XY_OK;

    s->factor_rows = s->factor_columns = 0;
    for (char *line = text; line != NULL && st == XY_OK;) {
        char *end = strchr(line, '\n');
        int64_t count;

        if (end != NULL)
            *end = '\0';
        st = read_line(path, ++number, line, values, &count);
        if (st == XY_OK && count > 0) {
            if (s->factor_rows++ > 0 && count != s->factor_columns)
                st = xy_fail_at(XY_EPARSE, path, number,
                                "%lld factors where the first line has %lld", (long long)count,
                                (long long)s->factor_columns);
            else
                s->factor_columns = count;
        }
        line = end != NULL ? end + 1 : NULL;
    }
    if (st == XY_OK && s->factor_rows == 0)
        st = xy_fail_at(XY_EPARSE, path, 0, "no factors; write at least one line with one number");
    return st;
}

xy_status_t stencil_load_parse(char *text, const char *path, xy_stencil_t *s)
{
    xy_vec_t values = XY_VEC_INIT(double);
    xy_stencil_t copy = *s;
    xy_status_t st = read_lines(path, text, &values, &copy);

    if (st != XY_OK) {
        xy_vec_cleanup(&values);
        return st;
    }
    copy.factors = xy_vec_take(&values);
    copy.load = XY_STENCIL_FILE;
    *s = copy;
    return XY_OK;
}

xy_status_t xy_stencil_read_load(const char *path, xy_stencil_t *s)
{
    char *text;
    xy_status_t st = xy_file_read_text(path, FILE_MAX, &text);

    if (st != XY_OK)
        return st;
    st = stencil_load_parse(text, path, s);
    xy_free(text);
    return st;
}
