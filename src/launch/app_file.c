/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --app FILE, -configfile FILE: the rest of the command line from a file. It is put into the
 * command line before anything else reads that, so that processes on other hosts need no file.
 *
 *   # a comment
 *   -n 1 ./master
 *   -n 8 ./worker "two words"
 */
#include <string.h>

#include "launch/launch.h"

/* Cut the next word off: quotes and backslashes as in a shell, without variables. NULL: there is
 * none; *is_open_p: a quote is not closed. */
static char *cut_word(char **at_p, bool *is_open_p)
{
    char *at = *at_p + strspn(*at_p, " \t\r"), *word = at, *to = at, quote = '\0';

    if (*at == '\0' || *at == '#')
        return NULL;
    for (; *at != '\0' && (quote != '\0' || strchr(" \t\r", *at) == NULL); at++) {
        if (quote == '\0' && (*at == '"' || *at == '\'')) {
            quote = *at;
        } else if (*at == quote) {
            quote = '\0';
        } else {
            if (*at == '\\' && quote != '\'' && at[1] != '\0')
                at++;
            *to++ = *at;
        }
    }
    *is_open_p = quote != '\0';
    *at_p = at + (*at != '\0');
    *to = '\0';
    return word;
}

/* Append the words of all lines, with ':' between lines that have some. */
static xy_status_t add_lines(char *text, const char *path, xy_vec_t *words)
{
    static char colon[] = ":";
    char *separator = colon;
    size_t begin = words->count;
    long number = 1;

    for (char *line; (line = strsep(&text, "\n")) != NULL; number++) {
        size_t before = words->count;
        bool is_open = false;

        for (char *word; (word = cut_word(&line, &is_open)) != NULL;) {
            if (is_open)
                return xy_fail_at(XY_EPARSE, path, number, "a quote is not closed");
            if ((words->count == before && before > begin &&
                 xy_vec_append(words, &separator) != XY_OK) ||
                xy_vec_append(words, &word) != XY_OK)
                return xy_fail_memory("reading the command line");
        }
    }
    if (words->count == begin)
        return xy_fail_at(XY_EPARSE, path, 0, "there is no program in it");
    return XY_OK;
}

/* All words of the command line but those that name the file, then its lines. */
static xy_status_t put_together(int argc, char **argv, const char *path, xy_vec_t *words)
{
    char *text;
    xy_status_t st = XY_OK;

    for (int i = 0; i < argc && st == XY_OK; i++) {
        bool is_attached = argv[i] < path && path <= argv[i] + strlen(argv[i]);

        if (argv[i] != path && !is_attached && (i + 1 == argc || argv[i + 1] != path))
            st = xy_vec_append(words, &argv[i]);
    }
    if (st != XY_OK)
        return xy_fail_memory("reading the command line");
    st = xy_file_read_text(path, 16 << 20, &text);
    return st == XY_OK ? add_lines(text, path, words) : st; /* the words are in the text */
}

xy_status_t mpi_launch_expand(int *argc_p, char ***argv_p)
{
    xy_vec_t words = XY_VEC_INIT(char *);
    mpi_launch_values_t values;
    int argc = *argc_p, count = 0;
    char **copy = xy_calloc((size_t)argc + 1, sizeof(char *)), *end = NULL;
    xy_help_t help = XY_HELP_NONE;
    xy_status_t st;

    if (copy == NULL)
        return xy_fail_memory("reading the command line");
    memcpy(copy, *argv_p, (size_t)argc * sizeof(char *));
    st = xy_options_parse(&mpi_launch_command, argc > 0 ? argc - 1 : 0, copy + 1, &values, &count,
                          &help);
    if (st == XY_OK && help == XY_HELP_NONE && values.app_file != NULL) {
        st = count > 0 ? xy_fail(XY_EUSAGE, "--app %s: programs are in that file; leave '%s' out",
                                 values.app_file, copy[1])
                       : put_together(argc, *argv_p, values.app_file, &words);
        if (st == XY_OK && xy_vec_append(&words, &end) != XY_OK)
            st = xy_fail_memory("reading the command line");
        if (st == XY_OK) {
            *argc_p = (int)words.count - 1;
            *argv_p = &XY_VEC_AT(&words, char *, 0);
        }
    }
    xy_options_cleanup(&mpi_launch_command, &values);
    xy_free(copy);
    return st;
}
