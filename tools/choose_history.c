/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem choose --history: what runs have really taken. */
#include <string.h>
#include <time.h>

#include "choose.h"

const char *const choose_history_actions[] = {"show", "export", "import", "clear", NULL};

/* Prints a run of the history on one line. */
static void print_run(const xy_run_t *r)
{
    char date[32], a[32], b[32], value[32];
    time_t when = (time_t)r->time;
    struct tm tm;

    gmtime_r(&when, &tm);
    strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
    printf("%s  %s  %s", date, r->instance.host, r->instance.problem);
    for (size_t i = 0; i < r->instance.count; i++)
        printf("%s%s=%s", i == 0 ? "  " : ",", r->instance.parameters[i].name,
               xy_format_double(r->instance.parameters[i].value, value));
    printf("  %s: %s, predicted %s%s\n", r->alternative, xy_format_seconds(r->measured, a),
           xy_format_seconds(r->predicted, b), r->instead > 0 ? ", a trial" : "");
}

/* Prints the runs of a problem and host, as text or in the format of the file. */
static xy_status_t show(const char *path, const char *problem, const char *host, bool is_export)
{
    xy_history_t *all;
    xy_status_t st = xy_history_load(path, NULL, NULL, &all);

    if (st != XY_OK)
        return st;
    for (size_t i = 0; i < all->runs.count; i++) {
        const xy_run_t *r = &XY_VEC_AT(&all->runs, xy_run_t, i);
        xy_history_t one = {.runs = {.data = (void *)(uintptr_t)r, .count = 1, .size = sizeof(*r)}};

        if ((problem != NULL && strcmp(r->instance.problem, problem) != 0) ||
            (host != NULL && strcmp(r->instance.host, host) != 0))
            continue;
        if (is_export)
            xy_history_print(&one, stdout);
        else
            print_run(r);
    }
    xy_history_destroy(all);
    return xy_stdout_check();
}

static xy_status_t import(const char *path, const char *from)
{
    size_t added;
    xy_status_t st;

    if (from == NULL)
        return xy_fail(XY_EUSAGE, "--history import: missing argument FILE ('-': standard input)");
    st = xy_history_import(path, from, &added);
    if (st == XY_OK)
        printf("%zu run%s added\n", added, added == 1 ? "" : "s");
    return st;
}

static xy_status_t clear(const char *path, const char *problem, const char *host)
{
    size_t removed;
    xy_status_t st = xy_history_clear(path, problem, host, &removed);

    if (st == XY_OK)
        printf("%zu line%s removed\n", removed, removed == 1 ? "" : "s");
    return st;
}

xy_status_t choose_history(const choose_values_t *v, int argc, char **argv)
{
    const char *word = argc > 0 ? argv[0] : NULL;
    char *path;
    xy_status_t st = xy_history_path(&path);

    if (st != XY_OK)
        return st;
    if (strcmp(v->history, "import") == 0)
        st = import(path, word);
    else if (strcmp(v->history, "clear") == 0)
        st = clear(path, word, v->host);
    else
        st = show(path, word, v->host, strcmp(v->history, "export") == 0);
    xy_free(path);
    return st;
}
