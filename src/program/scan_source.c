/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/scan_source.h"

#include <string.h>

enum { SOURCE_MAX = 1 << 26 };

/* Sources by the ends of their names. */
static const struct {
    const char *end, *language; /* NULL: it is read */
} sources[] = {
    {".c", NULL},        {".cu", NULL},       {".cpp", "C++"},     {".cc", "C++"},
    {".cxx", "C++"},     {".C", "C++"},       {".c++", "C++"},     {".hpp", "C++"},
    {".f", "Fortran"},   {".for", "Fortran"}, {".f90", "Fortran"}, {".f95", "Fortran"},
    {".f03", "Fortran"}, {".f08", "Fortran"}, {".F", "Fortran"},   {".F90", "Fortran"},
    {".F95", "Fortran"}, {".F03", "Fortran"}, {".F08", "Fortran"}, {".py", "Python"},
};

static const char *end_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');

    return dot != NULL && (slash == NULL || dot > slash) ? dot : "";
}

bool xy_scan_is_source(const char *path)
{
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
        if (strcmp(end_of(path), sources[i].end) == 0)
            return true;
    return false;
}

bool scan_source_is_cuda(const char *path)
{
    return strcmp(end_of(path), ".cu") == 0;
}

/* Fails for a source in a language that is not read. */
static void check_language(xy_scan_t *scan, const char *path)
{
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        const char *language = sources[i].language;

        if (strcmp(end_of(path), sources[i].end) != 0 || language == NULL)
            continue;
        scan_leave(scan, xy_fail_at(XY_EUNSUPPORTED, path, 0,
                                    "%s is not read%s; 'mpiexec --virtual' predicts the program by "
                                    "running it",
                                    language,
                                    strcmp(language, "C++") == 0
                                        ? ": classes, references, templates, overloaded functions "
                                          "and containers such as std::vector are not followed"
                                        : ""));
    }
}

char *scan_source_read(xy_scan_t *scan, const char *path)
{
    char *text = NULL, *copy;
    xy_status_t st;

    check_language(scan, path);
    st = xy_file_read_text(path, SOURCE_MAX, &text);
    if (st != XY_OK)
        scan_leave(scan, st);
    copy = xy_arena_strndup(scan->arena, text, strlen(text));
    xy_free(text);
    if (copy == NULL)
        scan_leave(scan, xy_fail_memory("reading C"));
    if (scan_source_is_cuda(path))
        scan_cuda_rewrite(scan, path, copy);
    if (scan->options->threads != 0)
        scan_openmp_rewrite(scan, path, copy);
    return copy;
}

/* The end of the line, with those that it continues. */
static char *end_of_line(char *s, long *line_p)
{
    for (; *s != '\0' && *s != '\n'; s++)
        if (*s == '\\' && s[1] == '\n') {
            s++;
            ++*line_p;
        }
    return s;
}

char *scan_skip_token(char *s, long *line_p)
{
    char quote = *s;

    if (s[0] == '/' && s[1] == '/')
        return end_of_line(s, line_p);
    if (s[0] == '/' && s[1] == '*') {
        for (s += 2; *s != '\0' && !(s[0] == '*' && s[1] == '/'); s++)
            *line_p += *s == '\n';
        return *s != '\0' ? s + 2 : s;
    }
    if (quote != '"' && quote != '\'')
        return s + 1;
    for (s++; *s != '\0' && *s != quote && *s != '\n'; s++)
        if (*s == '\\' && s[1] != '\0') {
            s++;
            *line_p += *s == '\n';
        }
    return *s == quote ? s + 1 : s;
}
