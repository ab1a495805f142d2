/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch/rankfile.h"

#include <stdlib.h>
#include <string.h>

#include "launch/host_list.h"

/* The core `index`, of a socket unless that is -1; or -1. */
static int find_core(const xy_cores_t *cores, const long *socket_of, long socket, long index)
{
    for (int c = 0; c < cores->count; c++)
        if ((socket < 0 || socket_of[c] == socket) && index-- == 0)
            return c;
    return -1;
}

/* "3", "1:2", "0-3", "0:1-2", "1:*": the first core. False: it is none of these. */
static bool read_slot(const char *text, long *socket_p, long *core_p)
{
    char *end;

    *socket_p = -1;
    *core_p = strtol(text, &end, 10);
    if (end == text || *core_p < 0)
        return false;
    if (*end == ':') {
        text = end + 1;
        *socket_p = *core_p;
        if (strcmp(text, "*") == 0)
            return (*core_p = 0, true);
        *core_p = strtol(text, &end, 10);
        if (end == text || *core_p < 0)
            return false;
    }
    return end[strspn(end, "0123456789-,:")] == '\0';
}

/* One line without comment. `line` is ours to cut. */
static xy_status_t read_line(char *line, const char *path, long number, const xy_cores_t *cores,
                             const long *socket_of, int ranks, int *core_of)
{
    char *rest = NULL, *word = strtok_r(line, " \t\r", &rest), *equal, *end;
    long rank, socket, core;
    int found;

    if (word == NULL)
        return XY_OK;
    word = strcmp(word, "rank") == 0 ? strtok_r(NULL, " \t\r", &rest) : NULL;
    equal = word != NULL ? strchr(word, '=') : NULL;
    rank = equal != NULL ? strtol(word, &end, 10) : -1;
    if (equal == NULL || end != equal || equal == word)
        return xy_fail_at(XY_EPARSE, path, number, "a line must be 'rank N=HOST slot=CORE'");
    word = strtok_r(NULL, " \t\r", &rest);
    if (word == NULL || strncmp(word, "slot=", 5) != 0 || strtok_r(NULL, " \t\r", &rest) != NULL ||
        !read_slot(word + 5, &socket, &core))
        return xy_fail_at(XY_EPARSE, path, number,
                          "expected slot=CORE or slot=SOCKET:CORE after the host");
    if (rank < 0 || rank >= ranks)
        return xy_fail_at(XY_EINVAL, path, number, "there is no rank %ld; the job has %d", rank,
                          ranks);
    if (!mpi_host_is_here(equal + 1) && strcmp(equal + 1, "+n0") != 0)
        return xy_fail_at(XY_EUNSUPPORTED, path, number,
                          "'%s' is another host; a rankfile is for this machine", equal + 1);
    if (core_of[rank] >= 0)
        return xy_fail_at(XY_EINVAL, path, number, "rank %ld has a core already", rank);
    found = find_core(cores, socket_of, socket, core);
    if (found < 0)
        return xy_fail_at(XY_EINVAL, path, number, "there is no core '%s'; the job has %d",
                          word + 5, cores->count);
    core_of[rank] = found;
    return XY_OK;
}

xy_status_t mpi_rankfile_parse(char *text, const char *path, const xy_cores_t *cores,
                               const long *socket_of, int ranks, int *core_of)
{
    xy_status_t st = XY_OK;
    char *rest = text;
    long number = 1;

    for (int r = 0; r < ranks; r++)
        core_of[r] = -1;
    for (char *line; st == XY_OK && (line = strsep(&rest, "\n")) != NULL; number++) {
        line[strcspn(line, "#")] = '\0';
        st = read_line(line, path, number, cores, socket_of, ranks, core_of);
    }
    for (int r = 0; r < ranks && st == XY_OK; r++)
        if (core_of[r] < 0)
            st = xy_fail_at(XY_EINVAL, path, 0, "rank %d has no line", r);
    return st;
}

xy_status_t mpi_rankfile_read(const char *path, const xy_cores_t *cores, const long *socket_of,
                              int ranks, int *core_of)
{
    char *text;
    xy_status_t st = xy_file_read_text(path, 64 << 20, &text);

    if (st != XY_OK)
        return st;
    st = mpi_rankfile_parse(text, path, cores, socket_of, ranks, core_of);
    xy_free(text);
    return st;
}

xy_status_t mpi_rankfile_user(const char *list, const xy_cores_t *cores, int ranks, int *core_of)
{
    const char *at = list;

    for (int r = 0; r < ranks; r++) {
        char *end;
        long cpu = strtol(at, &end, 10);
        int c = 0;

        while (c < cores->count && cores->cpu[c] != cpu)
            c++;
        if (end == at || (*end != ',' && *end != '\0') || c == cores->count)
            return xy_fail(XY_EUSAGE,
                           "--bind-to user:%s: '%s' does not begin with a core that the job may "
                           "use",
                           list, at);
        core_of[r] = c;
        at = *end == '\0' ? list : end + 1;
    }
    return XY_OK;
}
