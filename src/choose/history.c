/* SPDX-License-Identifier: BSD-3-Clause */
/* The history: reading it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "choose/choose_internal.h"
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

/* The lines read, and the invalid ones. */
typedef struct {
    const char *path, *problem, *host;
    choose_bad_t on_bad;
    size_t bad;
    const char *bad_line; /* the first, where lines are not read in their order */
    long first_bad;       /* its number */
    const char *key;      /* the text after the time of wanted lines: "HOST PROBLEM " */
    size_t key_length;    /* ... or, of any host, behind that: " PROBLEM " */
} reading_t;

static bool is_wanted(const reading_t *r, const xy_run_t *run)
{
    return (r->problem == NULL || strcmp(r->problem, run->instance.problem) == 0) &&
           (r->host == NULL || strcmp(r->host, run->instance.host) == 0);
}

/* Reads one line and keeps its run if it is wanted; a bad one is counted or refused. */
static xy_status_t read_line(xy_history_t *h, reading_t *r, const char *line, size_t length,
                             long number)
{
    xy_run_t run;
    xy_status_t st;

    if (!choose_line_parse(line, length, h->words, &run, &st)) {
        if (st == XY_OK && r->on_bad == CHOOSE_REFUSE)
            return xy_fail_at(
                XY_EPARSE, r->path, number,
                "not a line of a history; expected '1 TIME HOST PROBLEM NAME=VALUE,... "
                "ALTERNATIVE PREDICTED MEASURED INSTEAD'");
        r->first_bad = r->bad == 0 ? number : r->first_bad;
        r->bad++;
    } else if (is_wanted(r, &run)) {
        st = xy_vec_append(&h->runs, &run);
    }
    return st == XY_ENOMEM ? xy_fail_memory("reading the history") : st;
}

static void warn_bad(const reading_t *r)
{
    if (r->bad > 0)
        xy_warn(
            "%s:%ld: not a line of a history; %zu such line%s left out ('xylem choose --history "
            "clear' removes all)",
            r->path, r->first_bad, r->bad, r->bad == 1 ? " is" : "s are");
}

/* Reads all lines; a last line without its end counts as bad. */
static xy_status_t read_lines(xy_history_t *h, reading_t *r, const char *data, size_t size)
{
    const char *end = data + size;
    xy_status_t st = XY_OK;
    long number = 0;

    for (const char *line = data, *next; st == XY_OK && line < end; line = next) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));

        next = stop != NULL ? stop + 1 : end;
        /* Without its end it is cut off, and a number may be. */
        st = read_line(h, r, line, stop != NULL ? (size_t)(stop - line) : 0, ++number);
    }
    if (st == XY_OK && r->on_bad == CHOOSE_WARN)
        warn_bad(r);
    return st;
}

/* Makes a history of the text; the caller owns it. */
static xy_status_t parse(const char *data, size_t size, reading_t *r, xy_history_t **history_p)
{
    xy_history_t *h = NULL;
    xy_status_t st = create(&h);

    if (st != XY_OK)
        return st;
    st = read_lines(h, r, data, size);
    if (st == XY_OK)
        *history_p = h;
    else
        xy_history_destroy(h);
    return st;
}

xy_status_t choose_history_parse(const char *data, size_t size, const char *path, choose_bad_t bad,
                                 xy_history_t **history_p)
{
    return parse(data, size, &(reading_t){.path = path, .on_bad = bad}, history_p);
}

/* ---- From the file ---- */

typedef struct {
    const char *start;
    size_t length;
} piece_t;

typedef enum { OTHER, WANTED, BAD } kind_t;

/* The rest of a line after its version and time, "1 1763284231 "; NULL: it has none. */
static const char *skip_time(const char *line, const char *end)
{
    const char *at = line + 2;

    if (end - line < 4 || line[0] != '1' || line[1] != ' ' || *at == ' ')
        return NULL;
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at < end && *at == ' ' ? at + 1 : NULL;
}

/* By its first words. A history has lines of many problems, most of which are passed over. */
static kind_t kind_of(const reading_t *r, const char *line, size_t length)
{
    const char *end = line + length, *at = skip_time(line, end);

    if (at != NULL && r->host == NULL)
        at = memchr(at, ' ', (size_t)(end - at));
    if (at == NULL)
        return BAD;
    return (size_t)(end - at) > r->key_length && memcmp(at, r->key, r->key_length) == 0 ? WANTED
                                                                                        : OTHER;
}

static void note_bad(reading_t *r, const char *line)
{
    r->bad_line = r->bad == 0 || line < r->bad_line ? line : r->bad_line;
    r->bad++;
}

/* The last XY_HISTORY_RECENT lines that are wanted, the last one first. */
static size_t find_recent(const char *data, size_t size, reading_t *r, piece_t *pieces)
{
    size_t count = 0;

    for (const char *end = data + size, *start; end > data && count < XY_HISTORY_RECENT;
         end = start) {
        bool is_whole = end[-1] == '\n'; /* else it is cut off, and a number may be */
        size_t length = (size_t)(end - data) - 1;
        const char *before = length > 0 ? memrchr(data, '\n', length) : NULL;
        kind_t kind;

        start = before != NULL ? before + 1 : data;
        kind = is_whole ? kind_of(r, start, (size_t)(end - 1 - start)) : BAD;
        if (kind == WANTED)
            pieces[count++] = (piece_t){start, (size_t)(end - 1 - start)};
        else if (kind == BAD)
            note_bad(r, start);
    }
    return count;
}

static long count_lines(const char *data, const char *end)
{
    long count = 0;

    for (; (data = memchr(data, '\n', (size_t)(end - data))) != NULL; data++)
        count++;
    return count;
}

/* Makes a history of the latest runs of one problem and host, read from the end of the file. */
static xy_status_t read_recent(const char *data, size_t size, reading_t *r,
                               xy_history_t **history_p)
{
    piece_t pieces[XY_HISTORY_RECENT];
    char *key = xy_sprintf("%s %s ", r->host != NULL ? r->host : "", r->problem);
    size_t count;
    xy_history_t *h = NULL;
    xy_status_t st = key != NULL ? create(&h) : xy_fail_memory("reading the history");

    if (st != XY_OK) {
        xy_free(key);
        return st;
    }
    r->key = key;
    r->key_length = strlen(key);
    count = find_recent(data, size, r, pieces);
    xy_free(key);
    while (count-- > 0 && st == XY_OK) {
        xy_run_t run;

        if (choose_line_parse(pieces[count].start, pieces[count].length, h->words, &run, &st))
            st = xy_vec_append(&h->runs, &run);
        else if (st == XY_OK)
            note_bad(r, pieces[count].start);
    }
    if (st == XY_OK && r->bad > 0)
        r->first_bad = count_lines(data, r->bad_line) + 1;
    if (st == XY_OK) {
        warn_bad(r);
        *history_p = h;
        return XY_OK;
    }
    xy_history_destroy(h);
    return xy_fail_memory("reading the history");
}

static xy_status_t read_all(const char *path, char **data_p, size_t *size_p)
{
    xy_status_t st = XY_OK;
    int lock = choose_lock(path, false);

    *data_p = NULL;
    *size_p = 0;
    if (access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR))
        st = xy_file_read(path, CHOOSE_FILE_MAX, data_p, size_p);
    choose_unlock(lock);
    return st;
}

xy_status_t xy_history_load(const char *path, const char *problem, const char *host,
                            xy_history_t **history_p)
{
    reading_t r = {.path = path, .problem = problem, .host = host, .on_bad = CHOOSE_WARN};
    char *data;
    size_t size;
    xy_status_t st = read_all(path, &data, &size);

    if (st != XY_OK)
        return st;
    st = problem != NULL && size > 0 ? read_recent(data, size, &r, history_p)
                                     : parse(data != NULL ? data : "", size, &r, history_p);
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
