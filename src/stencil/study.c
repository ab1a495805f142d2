/* SPDX-License-Identifier: BSD-3-Clause */
/* Studies: the table, the combinations, and running them: on all cores, or one after the other. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>
#include <xylem.h>

#include "stencil/internal.h"

enum { VALUES_MAX = 256, COMBINATIONS_MAX = 1 << 16, FILE_MAX = 1 << 20 };

/* Combinations are made from the last key to the first: blocks say how many dimensions there are
 * before cells are read. */
typedef enum {
    POLICY,
    CELLS,
    BLOCKS,
    MACHINE,
    GPUS,
    CPUS,
    MEMORY,
    GRAPH,
    ITERATIONS,
    LOAD,
    BLOCK,
    EVICTION,
    PRECISION,
    KEYS
} study_key_t;

static const char *const keys[KEYS + 1] = {"policy", "cells",    "blocks",    "machine",    "gpus",
                                           "cpus",   "memory",   "graph",     "iterations", "load",
                                           "block",  "eviction", "precision", NULL};

typedef struct {
    const char *values[KEYS][VALUES_MAX];
    long lines[KEYS][VALUES_MAX]; /* where they stand */
    int count[KEYS];
    const char *path;
    bool is_real;
} table_t;

/* Reads a line of a study: the name of a column and its values. */
static xy_status_t read_line(table_t *t, long number, const char *line, xy_arena_t *words)
{
    const char *at = line + strspn(line, " \t\r");
    size_t n = strcspn(at, " \t\r#");
    int key = 0;

    if (n == 0)
        return XY_OK;
    while (keys[key] != NULL && (strlen(keys[key]) != n || strncmp(keys[key], at, n) != 0))
        key++;
    if ((key == MACHINE || key == GPUS) && t->is_real)
        return xy_fail_at(XY_EPARSE, t->path, number,
                          "real runs use this machine; leave out '%s' or --real", keys[key]);
    if (keys[key] == NULL)
        return xy_fail_at(XY_EPARSE, t->path, number,
                          "'%.*s' is not a column of a study; known are policy, blocks, machine, "
                          "gpus, memory, graph, iterations, load, block, eviction, cpus, cells, "
                          "precision",
                          (int)n, at);
    for (int found = 0;; found++) {
        at += n;
        at += strspn(at, " \t\r");
        n = strcspn(at, " \t\r#");
        if (n == 0 && found == 0)
            return xy_fail_at(XY_EPARSE, t->path, number, "%s has no values", keys[key]);
        if (n == 0)
            return XY_OK;
        if (t->count[key] == VALUES_MAX)
            return xy_fail_at(XY_ELIMIT, t->path, number, "more than %d values", VALUES_MAX);
        t->lines[key][t->count[key]] = number;
        t->values[key][t->count[key]] = xy_arena_strndup(words, at, n);
        if (t->values[key][t->count[key]++] == NULL)
            return xy_fail_memory("reading the study");
    }
}

/* Reads all lines of a study. */
static xy_status_t read_table(table_t *t, char *text, xy_arena_t *words)
{
    xy_status_t st = XY_OK;
    long number = 0;

    for (char *line = text; line != NULL && st == XY_OK;) {
        char *end = strchr(line, '\n');

        if (end != NULL)
            *end = '\0';
        st = read_line(t, ++number, line, words);
        line = end != NULL ? end + 1 : NULL;
    }
    return st;
}

static bool set_number(const char *value, long low, int *target)
{
    long n;

    if (!xy_parse_long(value, &n) || n < low || n > INT32_MAX)
        return false;
    *target = (int)n;
    return true;
}

static bool set_load(const char *value, xy_stencil_t *s)
{
    static const char *const loads[] = {"even", "static", "dynamic"};

    for (int i = 0; i < 3; i++)
        if (strcmp(value, loads[i]) == 0) {
            s->load = (xy_stencil_load_t)i;
            return true;
        }
    return false;
}

static bool is_eviction(const char *name)
{
    for (int i = 0; xy_task_evictions[i].name != NULL; i++)
        if (strcmp(xy_task_evictions[i].name, name) == 0)
            return true;
    return false;
}

/* Sets one value of a run; returns false if it is invalid. */
static bool set(xy_stencil_run_t *run, int key, const char *value)
{
    switch (key) {
    case POLICY:
        run->how.policy = value;
        return xy_task_policy_is_known(value);
    case BLOCKS:
        return xy_stencil_blocks_parse(value, &run->grid);
    case MACHINE:
        run->machine = value;
        return true;
    case GPUS:
        return set_number(value, 1, &run->gpus);
    case MEMORY:
        if (strcmp(value, "none") == 0) {
            run->memory = XY_TASK_NO_LIMIT;
            return true;
        }
        return xy_parse_size(value, &run->memory) && run->memory > 0;
    case GRAPH:
        return xy_stencil_graph_parse(value, &run->grid.graph);
    case ITERATIONS:
        return set_number(value, 1, &run->grid.iterations);
    case LOAD:
        return set_load(value, &run->grid);
    case BLOCK:
        return xy_parse_size(value, &run->grid.block_bytes) && run->grid.block_bytes > 0;
    case EVICTION:
        run->how.eviction = value;
        return is_eviction(value);
    case CPUS:
        return set_number(value, 1, &run->cpus);
    case PRECISION:
        return xy_stencil_precision_parse(value, &run->grid);
    default:
        return xy_stencil_cells_parse(value, &run->grid);
    }
}

/* Combination number `i`: the last key that has values changes fastest. */
static xy_status_t combine(const table_t *t, size_t i, xy_stencil_run_t *run)
{
    for (int key = KEYS - 1; key >= 0; key--) {
        size_t at;

        if (t->count[key] == 0)
            continue;
        at = i % (size_t)t->count[key];
        i /= (size_t)t->count[key];
        if (!set(run, key, t->values[key][at]))
            return xy_fail_at(
                XY_EPARSE, t->path, t->lines[key][at], "'%s' is not a value of %s%s",
                t->values[key][at], keys[key],
                key == POLICY || key == EVICTION ? "; 'xylem stencil --list' names them" : "");
    }
    return XY_OK;
}

/* Makes one run for each combination of values. */
static xy_status_t make_runs(const table_t *t, const xy_stencil_run_t *base,
                             xy_stencil_study_t *study)
{
    xy_status_t st = XY_OK;

    study->count = 1;
    for (int key = 0; key < KEYS; key++) {
        study->count *= t->count[key] > 0 ? (size_t)t->count[key] : 1;
        if (study->count > COMBINATIONS_MAX)
            return xy_fail_at(XY_ELIMIT, t->path, 0, "more than %d combinations", COMBINATIONS_MAX);
    }
    study->runs = xy_calloc(study->count, sizeof(*study->runs));
    study->results = xy_calloc(study->count, sizeof(*study->results));
    study->status = xy_calloc(study->count, sizeof(*study->status));
    if (study->runs == NULL || study->results == NULL || study->status == NULL)
        return xy_fail_memory("preparing the study");
    for (size_t i = 0; i < study->count && st == XY_OK; i++) {
        study->runs[i] = *base;
        st = combine(t, i, &study->runs[i]);
    }
    return st;
}

void xy_stencil_study_cleanup(xy_stencil_study_t *study)
{
    xy_free(study->runs);
    xy_free(study->results);
    xy_free(study->status);
    xy_arena_destroy(study->words);
    *study = (xy_stencil_study_t){0};
}

xy_status_t stencil_study_parse(char *text, const char *path, const xy_stencil_run_t *base,
                                xy_stencil_study_t *study_p)
{
    xy_stencil_study_t study = {0};
    table_t *t = xy_calloc(1, sizeof(*t));
    int columns = 0;
    xy_status_t st = XY_OK;

    if (t == NULL || xy_arena_create(&study.words) != XY_OK)
        st = xy_fail_memory("reading the study");
    if (st == XY_OK) {
        t->path = path;
        t->is_real = base->is_real;
        st = read_table(t, text, study.words);
    }
    for (int key = 0; key < KEYS && st == XY_OK; key++)
        columns += t->count[key] > 0;
    if (st == XY_OK && columns == 0)
        st = xy_fail_at(XY_EPARSE, path, 0, "no columns; write lines like 'policy closure dmdar'");
    if (st == XY_OK)
        st = make_runs(t, base, &study);
    xy_free(t);
    if (st == XY_OK)
        *study_p = study;
    else
        xy_stencil_study_cleanup(&study);
    return st;
}

/* Each machine once, before any run: a study may take hours. */
static xy_status_t check_machines(const xy_stencil_study_t *study)
{
    const char *seen[VALUES_MAX];
    xy_status_t st = XY_OK;
    int count = 0;

    for (size_t i = 0; i < study->count && st == XY_OK; i++) {
        const char *name = study->runs[i].machine;
        xy_machine_t *machine;
        int k = 0;

        while (k < count && seen[k] != name)
            k++;
        if (study->runs[i].is_real || name == NULL || k < count || count == VALUES_MAX)
            continue;
        seen[count++] = name;
        st = xy_machine_load(name, &machine);
        if (st == XY_OK)
            xy_machine_destroy(machine);
    }
    return st;
}

xy_status_t xy_stencil_study_read(const char *path, const xy_stencil_run_t *base,
                                  xy_stencil_study_t *study_p)
{
    char *text;
    xy_status_t st = xy_file_read_text(path, FILE_MAX, &text);

    if (st != XY_OK)
        return st;
    st = stencil_study_parse(text, path, base, study_p);
    xy_free(text);
    if (st != XY_OK)
        return st;
    st = check_machines(study_p);
    if (st != XY_OK)
        xy_stencil_study_cleanup(study_p);
    return st;
}

typedef struct {
    xy_stencil_study_t *study;
    atomic_size_t next;
    pthread_mutex_t lock; /* of the bar */
    xy_progress_t bar;
} crew_t;

/* Runs combinations until none is left; the body of a thread. */
static void *work(void *arg)
{
    crew_t *crew = arg;

    for (;;) {
        size_t i = atomic_fetch_add_explicit(&crew->next, 1, memory_order_relaxed);
        xy_stencil_study_t *s = crew->study;

        if (i >= s->count)
            return NULL;
        s->status[i] = xy_stencil_run(&s->runs[i], &s->results[i]);
        if (s->results[i].is_lost) /* other ranks wait for this one */
            atomic_store(&crew->next, s->count);
        pthread_mutex_lock(&crew->lock);
        xy_progress_step(&crew->bar, 1);
        pthread_mutex_unlock(&crew->lock);
    }
}

xy_status_t xy_stencil_study_run(xy_stencil_study_t *study, int threads)
{
    enum { THREADS_MAX = 64 };
    pthread_t ids[THREADS_MAX];
    crew_t crew = {.study = study, .lock = PTHREAD_MUTEX_INITIALIZER};
    int started = 0;
    xy_status_t st = XY_OK;

    if (threads <= 0)
        threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
    /* Real runs would measure each other. */
    if (study->count > 0 && study->runs[0].is_real)
        threads = 1;
    xy_progress_start(&crew.bar, threads == 1 ? "studying, one run after the other" : "studying",
                      study->count);
    if (study->count > 0 && study->runs[0].messages != NULL && study->runs[0].messages->rank > 0)
        crew.bar.enabled = false; /* rank 0 shows it */
    while (started < threads - 1 && started < THREADS_MAX &&
           pthread_create(&ids[started], NULL, work, &crew) == 0)
        started++;
    work(&crew); /* this thread is one of them: the study also runs when none could be made */
    for (int i = 0; i < started; i++)
        pthread_join(ids[i], NULL);
    xy_progress_stop(&crew.bar);
    for (size_t i = 0; i < study->count && st == XY_OK; i++)
        st = study->status[i];
    return st;
}
