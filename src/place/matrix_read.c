/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading matrices: the parts that all formats share, and which format it is. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "place/matrix_reader.h"

bool matrix_next_line(matrix_reader_t *r)
{
    const char *newline;

    if (r->at >= r->end)
        return false;
    newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
    r->text = r->word = r->at;
    r->stop = newline != NULL ? newline : r->end;
    r->at = newline != NULL ? newline + 1 : r->end;
    while (r->stop > r->text && isspace((unsigned char)r->stop[-1]))
        r->stop--;
    r->line++;
    return true;
}

bool matrix_next_full_line(matrix_reader_t *r, char comment)
{
    while (matrix_next_line(r)) {
        const char *s = r->text;

        while (s < r->stop && isspace((unsigned char)*s))
            s++;
        if (s < r->stop && *s != comment)
            return true;
    }
    return false;
}

static bool is_separator(const matrix_reader_t *r, char c)
{
    return isspace((unsigned char)c) || (c != '\0' && strchr(r->separators, c) != NULL);
}

bool matrix_next_word(matrix_reader_t *r, const char **word_p, size_t *length_p)
{
    const char *s = r->word, *e;

    while (s < r->stop && is_separator(r, *s))
        s++;
    for (e = s; e < r->stop && !is_separator(r, *e);)
        e++;
    r->word = e;
    *word_p = s;
    *length_p = (size_t)(e - s);
    return e > s;
}

static xy_status_t fail_word(const matrix_reader_t *r, const char *word, size_t length,
                             const char *what, const char *why)
{
    return xy_fail_at(XY_EPARSE, r->path, r->line, "'%.*s' at column %ld is not a %s: %s",
                      (int)(length < 40 ? length : 40), word, (long)(word - r->text) + 1, what,
                      why);
}

xy_status_t matrix_next_value(matrix_reader_t *r, const char *what, double *value_p)
{
    const char *word;
    size_t length;
    char buffer[64];
    double value;

    if (!matrix_next_word(r, &word, &length))
        return xy_fail_at(XY_EPARSE, r->path, r->line, "the line ends where a %s is expected",
                          what);
    if (length == 1 && *word >= '0' && *word <= '9') { /* most of a matrix */
        *value_p = *word - '0';
        return XY_OK;
    }
    if (length >= sizeof(buffer))
        return fail_word(r, word, length, what, "it is too long");
    memcpy(buffer, word, length);
    buffer[length] = '\0';
    if (xy_parse_double(buffer, &value)) {
        if (value < 0)
            return fail_word(r, word, length, what, "it is negative");
        if (value > XY_MATRIX_VALUE_MAX)
            return fail_word(r, word, length, what, "it is too large");
        *value_p = value;
        return XY_OK;
    }
    if (strchr(buffer, ',') != NULL)
        return fail_word(r, word, length, what, "decimals are written with a point");
    if (strcasestr(buffer, "nan") != NULL || strcasestr(buffer, "inf") != NULL)
        return fail_word(r, word, length, what, "it is not finite");
    return fail_word(r, word, length, what, "it is not a number");
}

xy_status_t matrix_next_whole(matrix_reader_t *r, const char *what, uint64_t min, uint64_t max,
                              uint64_t *value_p)
{
    const char *word = r->word;
    uint64_t value = 0;
    size_t length;

    if (!matrix_next_word(r, &word, &length))
        return xy_fail_at(XY_EPARSE, r->path, r->line, "the line ends where a %s is expected",
                          what);
    for (size_t i = 0; i < length; i++) {
        if (!isdigit((unsigned char)word[i]))
            return fail_word(r, word, length, what, "it is not a whole number");
        if (value > UINT64_MAX / 10 - 1)
            return fail_word(r, word, length, what, "it is too large");
        value = value * 10 + (uint64_t)(word[i] - '0');
    }
    if (value < min || value > max)
        return xy_fail_at(value > XY_MATRIX_RANKS_MAX ? XY_ELIMIT : XY_EPARSE, r->path, r->line,
                          "%s %llu at column %ld is outside %llu to %llu", what,
                          (unsigned long long)value, (long)(word - r->text) + 1,
                          (unsigned long long)min, (unsigned long long)max);
    *value_p = value;
    return XY_OK;
}

xy_status_t matrix_end_of_line(matrix_reader_t *r)
{
    const char *word;
    size_t length;

    if (!matrix_next_word(r, &word, &length))
        return XY_OK;
    return xy_fail_at(XY_EPARSE, r->path, r->line, "unexpected '%.*s' at column %ld",
                      (int)(length < 40 ? length : 40), word, (long)(word - r->text) + 1);
}

xy_status_t matrix_add(matrix_reader_t *r, uint64_t from, uint64_t to, double bytes,
                       double messages)
{
    xy_matrix_entry_t e = {(uint32_t)from, (uint32_t)to, bytes, messages};

    if (bytes == 0 && messages == 0)
        return XY_OK;
    if (xy_vec_append(&r->entries, &e) != XY_OK)
        return xy_fail_memory("reading a matrix");
    return XY_OK;
}

static bool has_suffix(const char *path, const char *suffix)
{
    size_t n = strlen(path), k = strlen(suffix);

    return n > k && strcasecmp(path + n - k, suffix) == 0;
}

/* Editors on Windows begin a text with a mark of its encoding: how long it is. */
static size_t mark_length(const char *data)
{
    return strncmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

xy_matrix_format_t xy_matrix_guess(const char *path, const char *data)
{
    static const struct {
        const char *suffix;
        xy_matrix_format_t format;
    } suffixes[] = {{".mat", XY_MATRIX_MAT},   {".mtx", XY_MATRIX_MARKET},
                    {".mm", XY_MATRIX_MARKET}, {".graph", XY_MATRIX_METIS},
                    {".csv", XY_MATRIX_CSV},   {".prof", XY_MATRIX_OPENMPI}};
    size_t line;

    data += mark_length(data);
    line = strcspn(data, "\n");
    if (strncmp(data, "%%MatrixMarket", 14) == 0)
        return XY_MATRIX_MARKET;
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
        if (has_suffix(path, suffixes[i].suffix))
            return suffixes[i].format;
    if (strncmp(data, "# POINT TO POINT", 16) == 0 ||
        (line > 2 && (data[0] == 'E' || data[0] == 'I') && data[1] == '\t'))
        return XY_MATRIX_OPENMPI;
    if (strncmp(data, "# ranks", 7) == 0 || strncmp(data, "source", 6) == 0 ||
        memchr(data, ',', line) != NULL || memchr(data, ';', line) != NULL)
        return XY_MATRIX_CSV;
    return data[0] == '%' ? XY_MATRIX_METIS : XY_MATRIX_MAT;
}

xy_status_t xy_matrix_parse(const char *data, size_t size, const char *path,
                            xy_matrix_format_t format, xy_matrix_t **matrix_p)
{
    static xy_status_t (*const readers[])(matrix_reader_t *) = {matrix_read_mat, matrix_read_market,
                                                                matrix_read_metis, matrix_read_csv,
                                                                matrix_read_openmpi};
    matrix_reader_t r = {.path = path,
                         .at = data + mark_length(data),
                         .end = data + size,
                         .separators = "",
                         .entries = XY_VEC_INIT(xy_matrix_entry_t)};
    xy_status_t st = xy_text_check(path, data, size);

    if (st == XY_OK)
        st = readers[format](&r);
    if (st == XY_OK)
        st = xy_matrix_build(r.ranks, r.entries.data, r.entries.count, r.has_messages, matrix_p);
    xy_vec_cleanup(&r.entries);
    return st;
}

xy_status_t xy_matrix_read(const char *path, xy_matrix_t **matrix_p)
{
    char *data;
    size_t size;
    xy_status_t st = xy_file_read(path, XY_MATRIX_BYTES_MAX, &data, &size);

    if (st != XY_OK)
        return st;
    st = xy_matrix_parse(data, size, path, xy_matrix_guess(path, data), matrix_p);
    xy_free(data);
    return st;
}
