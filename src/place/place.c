/* SPDX-License-Identifier: BSD-3-Clause */
#include "place/place.h"

#include <string.h>

#include "place/strategies.h"

const xy_place_strategy_t *const xy_place_strategies[] = {&place_scatter_numa, &place_scatter,
                                                          &place_packed, &place_round_robin, NULL};

enum { STRATEGIES = sizeof(xy_place_strategies) / sizeof(xy_place_strategies[0]) };

xy_status_t xy_place_ranks(const char *strategy, const xy_cores_t *cores, int ranks, int *core_of)
{
    const char *names[STRATEGIES] = {NULL};
    const char *nearest;

    for (int i = 0; xy_place_strategies[i] != NULL; i++) {
        names[i] = xy_place_strategies[i]->name;
        if (strcmp(names[i], strategy) == 0) {
            xy_place_strategies[i]->place(cores, ranks, core_of);
            return XY_OK;
        }
    }
    nearest = xy_nearest_word(strategy, names);
    return xy_fail(XY_EUSAGE,
                   "no placement is called '%s', and no file is; %s%s%sthere are scatter_numa, "
                   "scatter, packed and round-robin",
                   strategy, nearest != NULL ? "did you mean '" : "",
                   nearest != NULL ? nearest : "", nearest != NULL ? "'? " : "");
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
