/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks on the cores of one host: by a strategy that needs no matrix, or from a file. */
#include <string.h>

#include "place/strategy_internal.h"

/* The input of strategies without a matrix: the leaves, not the tree above them. */
static xy_status_t place_on(const xy_strategy_t *strategy, const xy_target_t *t, uint32_t ranks,
                            uint32_t *leaf_of)
{
    uint32_t *capacity = place_capacities(ranks, t, NULL);
    xy_problem_t q = {
        .n = ranks, .target = t, .capacity = capacity, .seed = 1, .strategy = strategy};
    xy_status_t st = capacity != NULL ? strategy->place(&q, leaf_of) : XY_ENOMEM;

    xy_free(capacity);
    return st;
}

xy_status_t xy_place_ranks(const char *name, const xy_cores_t *cores, int ranks, int *core_of)
{
    const xy_strategy_t *strategy;
    xy_target_t t = {.leaves = (uint32_t)cores->count,
                     .numa = (uint32_t *)cores->numa,
                     .physical = (uint32_t *)cores->cpu};
    xy_status_t st = xy_strategy_find(name, &strategy);

    if (st != XY_OK)
        return st;
    if (strategy->needs_matrix)
        return xy_fail(XY_EUSAGE,
                       "strategy %s needs a communication matrix; give it with --matrix FILE",
                       name);
    t.host = xy_calloc(t.leaves, sizeof(*t.host));
    st = t.host != NULL ? place_on(strategy, &t, (uint32_t)ranks, (uint32_t *)core_of) : XY_ENOMEM;
    xy_free(t.host);
    return st == XY_ENOMEM ? xy_fail_memory("placing the ranks") : st;
}

static int core_with_cpu(const xy_cores_t *cores, long cpu)
{
    for (int i = 0; i < cores->count; i++)
        if (cores->cpu[i] == cpu)
            return i;
    return -1;
}

/* A file while it is read. */
typedef struct {
    const char *path;
    const xy_cores_t *cores;
    int ranks;
    int *core_of;         /* -1: no line yet */
    const char *strategy; /* for ranks without a line */
    long strategy_line;   /* 0: the file names none */
} place_file_t;

/* "* STRATEGY": the strategy for ranks without a line. */
static xy_status_t take_strategy(place_file_t *f, long number, const char *name)
{
    const xy_strategy_t *strategy = xy_table_find(XY_TABLE(xy_strategies), name);

    if (f->strategy_line > 0)
        return xy_fail_at(XY_EINVAL, f->path, number, "line %ld names a strategy already",
                          f->strategy_line);
    if (strategy == NULL || strategy->needs_matrix)
        return xy_fail_at(
            XY_EINVAL, f->path, number,
            "'%s' is not a strategy that works without a matrix; 'xylem place --help' "
            "lists them",
            name);
    f->strategy = strategy->name;
    f->strategy_line = number;
    return XY_OK;
}

/* Assigns a rank to the core of processor `cpu`; fails if either is invalid or the rank has a
 * core. */
static xy_status_t take_rank(const place_file_t *f, long number, long rank, long cpu)
{
    int core = core_with_cpu(f->cores, cpu);

    if (rank < 0 || rank >= f->ranks)
        return xy_fail_at(XY_EINVAL, f->path, number, "there is no rank %ld; the job has %d", rank,
                          f->ranks);
    if (f->core_of[rank] >= 0)
        return xy_fail_at(XY_EINVAL, f->path, number, "rank %ld has a core already", rank);
    if (core < 0)
        return xy_fail_at(
            XY_EINVAL, f->path, number,
            "core %ld does not exist, may not be used, or is a second hardware thread", cpu);
    f->core_of[rank] = core;
    return XY_OK;
}

/* One line: "RANK CPU", "* STRATEGY", empty, or a comment. `line` is ours to cut. */
static xy_status_t read_line(place_file_t *f, char *line, long number)
{
    char *rest = NULL, *first, *second;
    long rank, cpu;

    line[strcspn(line, "#")] = '\0';
    first = strtok_r(line, " \t\r", &rest);
    if (first == NULL)
        return XY_OK;
    second = strtok_r(NULL, " \t\r", &rest);
    if (second == NULL || strtok_r(NULL, " \t\r", &rest) != NULL)
        return xy_fail_at(XY_EPARSE, f->path, number,
                          "a line must be 'RANK CORE', two numbers, or '* STRATEGY'");
    if (strcmp(first, "*") == 0)
        return take_strategy(f, number, second);
    if (!xy_parse_long(first, &rank) || !xy_parse_long(second, &cpu))
        return xy_fail_at(XY_EPARSE, f->path, number,
                          "a line must be 'RANK CORE', two numbers, or '* STRATEGY'");
    return take_rank(f, number, rank, cpu);
}

/* The places that are left when every core has an equal share of the ranks: a core as often as it
 * may get one more. `index` is their numbers among the cores of the file. */
static void find_left(const place_file_t *f, xy_cores_t *left, int *index)
{
    int share = (f->ranks + f->cores->count - 1) / f->cores->count;

    for (int c = 0; c < f->cores->count; c++) {
        int taken = 0;

        for (int r = 0; r < f->ranks; r++)
            taken += f->core_of[r] == c;
        for (; taken < share; taken++) {
            left->cpu[left->count] = f->cores->cpu[c];
            left->numa[left->count] = f->cores->numa[c];
            index[left->count++] = c;
        }
    }
}

/* The `count` ranks without a line. */
static xy_status_t place_others(const place_file_t *f, int count)
{
    size_t most = (size_t)f->ranks + (size_t)f->cores->count;
    int *room = xy_calloc(3 * most + (size_t)count, sizeof(*room));
    int *index, *placed, next = 0;
    xy_cores_t left;
    xy_status_t st;

    if (room == NULL)
        return xy_fail_memory("placing the ranks");
    left = (xy_cores_t){.cpu = room, .numa = room + most};
    index = room + 2 * most;
    placed = room + 3 * most;
    find_left(f, &left, index);
    st = xy_place_ranks(f->strategy, &left, count, placed);
    for (int r = 0; st == XY_OK && r < f->ranks; r++)
        if (f->core_of[r] < 0)
            f->core_of[r] = index[placed[next++]];
    xy_free(room);
    return st;
}

xy_status_t place_file_parse(char *data, const char *path, const xy_cores_t *cores, int ranks,
                             int *core_of)
{
    place_file_t f = {.path = path,
                      .cores = cores,
                      .ranks = ranks,
                      .core_of = core_of,
                      .strategy = place_strategy_scatter_numa.name};
    xy_status_t st = XY_OK;
    char *rest = data;
    long number = 1;
    int others = 0;

    for (int r = 0; r < ranks; r++)
        core_of[r] = -1;
    for (char *line; st == XY_OK && (line = strsep(&rest, "\n")) != NULL; number++)
        st = read_line(&f, line, number);
    for (int r = 0; r < ranks; r++)
        others += core_of[r] < 0;
    return st == XY_OK && others > 0 ? place_others(&f, others) : st;
}

xy_status_t xy_place_read(const char *path, const xy_cores_t *cores, int ranks, int *core_of)
{
    char *text;
    xy_status_t st = xy_file_read_text(path, 64 << 20, &text);

    if (st != XY_OK)
        return st;
    st = place_file_parse(text, path, cores, ranks, core_of);
    xy_free(text);
    return st;
}
