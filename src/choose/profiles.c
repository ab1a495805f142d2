/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The profiles of mpiexec --adapt beside the history: HISTORY.profiles/NAME@HOST, and
 * NAME@HOST.csv, of the problem mpiexec:NAME.
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "choose/choose_internal.h"

#define PREFIX "mpiexec:"

static size_t cut(const char *name, size_t length, const char *end)
{
    size_t n = strlen(end);

    return length > n && memcmp(name + length - n, end, n) == 0 ? length - n : length;
}

/* Is the file of the problem on the host? NULL: on any. */
static bool is_of(const char *file, const char *problem, const char *host)
{
    const char *at = strrchr(file, '@');
    size_t name, length;

    if (at == NULL)
        return false;
    name = (size_t)(at - file);
    length = cut(at + 1, strlen(at + 1), ".csv");
    if (problem != NULL && (strncmp(problem, PREFIX, strlen(PREFIX)) != 0 ||
                            strlen(problem) != strlen(PREFIX) + name ||
                            memcmp(problem + strlen(PREFIX), file, name) != 0))
        return false;
    return host == NULL || (strlen(host) == length && memcmp(host, at + 1, length) == 0);
}

static xy_status_t remove_file(const char *directory, const char *name)
{
    char *file = xy_sprintf("%s/%s", directory, name);
    xy_status_t st = file != NULL ? XY_OK : xy_fail_memory("clearing the history");

    if (st == XY_OK && unlink(file) != 0 && errno != ENOENT)
        st = xy_fail_errno(errno, file, "remove");
    xy_free(file);
    return st;
}

xy_status_t choose_profiles_clear(const char *path, const char *problem, const char *host)
{
    char *directory = xy_sprintf("%s.profiles", path);
    xy_status_t st = directory != NULL ? XY_OK : xy_fail_memory("clearing the history");
    DIR *dir = st == XY_OK ? opendir(directory) : NULL;

    for (const struct dirent *e; dir != NULL && st == XY_OK && (e = readdir(dir)) != NULL;)
        if (is_of(e->d_name, problem, host))
            st = remove_file(directory, e->d_name);
    if (dir != NULL)
        closedir(dir);
    if (st == XY_OK && dir != NULL)
        (void)rmdir(directory); /* where nothing is left */
    xy_free(directory);
    return st;
}
