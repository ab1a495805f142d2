/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks on the cores of one host: by a strategy that needs no matrix, or from a file. */
#include <string.h>

#include "place/strategy_internal.h"

/* What strategies that need no matrix look at: the leaves, not the tree above them. */
static xy_status_t place_on(const xy_strategy_t *strategy, const xy_target_t *t, uint32_t ranks,
                            uint32_t *leaf_of)
{
    uint32_t *capacity = place_capacities(ranks, t, NULL);
    xy_problem_t q = {.n = ranks, .target = t, .capacity = capacity, .seed = 1};
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
                       "strategy %s places by who talks to whom; give it the communication matrix "
                       "with --matrix FILE",
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

/* One line: "RANK CPU", empty, or a comment. `line` is ours to cut. */
static xy_status_t read_line(char *line, const char *path, long number, const xy_cores_t *cores,
                             int ranks, int *core_of)
{
    char *rest = NULL, *first, *second;
    long rank, cpu;
    int core;

    line[strcspn(line, "#")] = '\0';
    first = strtok_r(line, " \t\r", &rest);
    if (first == NULL)
        return XY_OK;
    second = strtok_r(NULL, " \t\r", &rest);
    if (second == NULL || strtok_r(NULL, " \t\r", &rest) != NULL || !xy_parse_long(first, &rank) ||
        !xy_parse_long(second, &cpu))
        return xy_fail_at(XY_EPARSE, path, number, "a line must be 'RANK CORE', two numbers");
    if (rank < 0 || rank >= ranks)
        return xy_fail_at(XY_EINVAL, path, number, "there is no rank %ld; the job has %d", rank,
                          ranks);
    if (core_of[rank] >= 0)
        return xy_fail_at(XY_EINVAL, path, number, "rank %ld has a core already", rank);
    core = core_with_cpu(cores, cpu);
    if (core < 0)
        return xy_fail_at(
            XY_EINVAL, path, number,
            "core %ld does not exist, may not be used, or is a second hardware thread", cpu);
    core_of[rank] = core;
    return XY_OK;
}

xy_status_t place_file_parse(char *data, const char *path, const xy_cores_t *cores, int ranks,
                             int *core_of)
{
    xy_status_t st = XY_OK;
    char *rest = data;
    long number = 1;

    for (int r = 0; r < ranks; r++)
        core_of[r] = -1;
    for (char *line; st == XY_OK && (line = strsep(&rest, "\n")) != NULL; number++)
        st = read_line(line, path, number, cores, ranks, core_of);
    for (int r = 0; r < ranks && st == XY_OK; r++)
        if (core_of[r] < 0)
            st = xy_fail_at(XY_EINVAL, path, 0, "rank %d has no line", r);
    return st;
}

xy_status_t xy_place_read(const char *path, const xy_cores_t *cores, int ranks, int *core_of)
{
    char *data;
    size_t size;
    xy_status_t st = xy_file_read(path, 64 << 20, &data, &size);

    if (st != XY_OK)
        return st;
    if (memchr(data, '\0', size) != NULL)
        st = xy_fail_at(XY_EPARSE, path, 0, "not a text file");
    else
        st = place_file_parse(data, path, cores, ranks, core_of);
    xy_free(data);
    return st;
}
