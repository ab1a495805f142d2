/* SPDX-License-Identifier: BSD-3-Clause */
/* The history: reading it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "choose/internal.h"
#include "choose/lock.h"

void xy_history_destroy(xy_history_t *h)
{
    if (h == NULL)
        return;
    xy_vec_cleanup(&h->runs);
    xy_arena_destroy(h->words);
    xy_free(h);
}

static xy_status_t create(xy_history_t **h_p)
{
    xy_history_t *h = xy_calloc(1, sizeof(*h));

    if (h == NULL || xy_arena_create(&h->words) != XY_OK) {
        xy_free(h);
        return xy_fail_memory("reading the history");
    }
    h->runs = XY_VEC_INIT(xy_run_t);
    *h_p = h;
    return XY_OK;
}

/* What is read, and what was wrong with it. */
typedef struct {
    const char *path, *problem, *host;
    choose_bad_t on_bad;
    size_t bad;
    long first_bad;
} reading_t;

static bool is_wanted(const reading_t *r, const xy_run_t *run)
{
    return (r->problem == NULL || strcmp(r->problem, run->instance.problem) == 0) &&
           (r->host == NULL || strcmp(r->host, run->instance.host) == 0);
}

static xy_status_t read_line(xy_history_t *h, reading_t *r, const char *line, size_t length,
                             long number)
{
    xy_run_t run;
    xy_status_t st;

    if (!choose_line_parse(line, length, h->words, &run, &st)) {
        if (st == XY_OK && r->on_bad == CHOOSE_REFUSE)
            return xy_fail_at(XY_EPARSE, r->path, number,
                              "no line of a history: '1 TIME HOST PROBLEM NAME=VALUE,... "
                              "ALTERNATIVE PREDICTED MEASURED INSTEAD'");
        r->first_bad = r->bad == 0 ? number : r->first_bad;
        r->bad++;
    } else if (is_wanted(r, &run)) {
        st = xy_vec_append(&h->runs, &run);
    }
    return st == XY_ENOMEM ? xy_fail_memory("reading the history") : st;
}

static xy_status_t read_lines(xy_history_t *h, reading_t *r, const char *data, size_t size,
                              long number)
{
    const char *end = data + size;
    xy_status_t st = XY_OK;

    for (const char *line = data, *next; st == XY_OK && line < end; line = next) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));

        next = stop != NULL ? stop + 1 : end;
        /* Without its end it is cut off, and a number may be. */
        st = read_line(h, r, line, stop != NULL ? (size_t)(stop - line) : 0, ++number);
    }
    if (st == XY_OK && r->bad > 0 && r->on_bad == CHOOSE_WARN)
        xy_warn("%s:%ld: no line of a history; %zu such line%s left out ('xylem choose --history "
                "clear' removes all)",
                r->path, r->first_bad, r->bad, r->bad == 1 ? " is" : "s are");
    return st;
}

static xy_status_t parse(const char *data, size_t size, long lines_before, reading_t *r,
                         xy_history_t **history_p)
{
    xy_history_t *h = NULL;
    xy_status_t st = create(&h);

    if (st != XY_OK)
        return st;
    st = read_lines(h, r, data, size, lines_before);
    if (st == XY_OK)
        *history_p = h;
    else
        xy_history_destroy(h);
    return st;
}

xy_status_t choose_history_parse(const char *data, size_t size, const char *path, choose_bad_t bad,
                                 xy_history_t **history_p)
{
    return parse(data, size, 0, &(reading_t){.path = path, .on_bad = bad}, history_p);
}

/* ---- From the file ---- */

/* Where the last XY_HISTORY_RECENT lines with the word begin, and how many lines are before. */
static size_t find_recent(const char *data, size_t size, const char *word, long *before_p)
{
    size_t at = size, count = 0, n = strlen(word);

    while (at > 0 && count < XY_HISTORY_RECENT) {
        const char *end = data + at - 1; /* the end of the line before, or the last byte */
        const char *start = end > data ? memrchr(data, '\n', (size_t)(end - data)) : NULL;

        start = start != NULL ? start + 1 : data;
        count += memmem(start, (size_t)(end - start), word, n) != NULL;
        at = (size_t)(start - data);
    }
    for (const char *p = data; (p = memchr(p, '\n', (size_t)(data + at - p))) != NULL; p++)
        ++*before_p;
    return at;
}

static xy_status_t read_all(const char *path, char **data_p, size_t *size_p)
{
    xy_status_t st = XY_OK;
    int lock = choose_lock(path, false);

    *data_p = NULL;
    *size_p = 0;
    if (access(path, F_OK) == 0 || errno != ENOENT)
        st = xy_file_read(path, CHOOSE_FILE_MAX, data_p, size_p);
    choose_unlock(lock);
    return st;
}

xy_status_t xy_history_load(const char *path, const char *problem, const char *host,
                            xy_history_t **history_p)
{
    reading_t r = {.path = path, .problem = problem, .host = host, .on_bad = CHOOSE_WARN};
    char *data;
    size_t size, from = 0;
    long before = 0;
    xy_status_t st = read_all(path, &data, &size);

    if (st != XY_OK)
        return st;
    if (problem != NULL && size > 0)
        from = find_recent(data, size, problem, &before);
    st = parse(data != NULL ? data + from : "", size - from, before, &r, history_p);
    xy_free(data);
    return st;
}

/* ---- Out ---- */

void xy_history_print(const xy_history_t *h, FILE *file)
{
    for (size_t i = 0; i < h->runs.count; i++) {
        xy_text_t text = XY_TEXT_INIT;

        choose_line_format(&XY_VEC_AT(&h->runs, xy_run_t, i), &text);
        if (text.s != NULL)
            fputs(text.s, file);
        xy_text_cleanup(&text);
    }
}
