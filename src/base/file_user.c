/* SPDX-License-Identifier: BSD-3-Clause */
/* Where files of the user and of the installed tree are. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

static bool is_given(const char *s)
{
    return s != NULL && *s != '\0';
}

char *xy_cache_path(const char *variable, const char *name)
{
    const char *given = getenv(variable), *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");

    if (is_given(given))
        return xy_strdup(given);
    if (is_given(cache) && cache[0] == '/')
        return xy_sprintf("%s/xylem/%s", cache, name);
    return is_given(home) ? xy_sprintf("%s/.cache/xylem/%s", home, name) : NULL;
}

/* The length of `path` without what follows its last slash, and without the slash. */
static size_t directory_length(const char *path, size_t length)
{
    while (length > 0 && path[length - 1] != '/')
        length--;
    return length > 0 ? length - 1 : 0;
}

char *xy_beside(const char *relative)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path));
    size_t length = directory_length(path, n > 0 ? (size_t)n : 0);

    for (; strncmp(relative, "../", 3) == 0; relative += 3)
        length = directory_length(path, length);
    return xy_sprintf("%.*s/%s", (int)length, path, relative);
}

/* Make the directories of `path`; on failure `path` ends with the one that could not be made. */
static int make_all(char *path)
{
    for (char *slash = *path != '\0' ? strchr(path + 1, '/') : NULL; slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return errno;
        *slash = '/';
    }
    return 0;
}

int xy_try_directories(const char *path)
{
    char *copy = xy_strdup(path);
    int error = copy != NULL ? make_all(copy) : ENOMEM;

    xy_free(copy);
    return error;
}

xy_status_t xy_make_directories(const char *path)
{
    char *copy = xy_strdup(path);
    xy_status_t st = XY_OK;
    int error;

    if (copy == NULL)
        return xy_fail_memory("making directories");
    error = make_all(copy);
    if (error != 0)
        st = xy_fail_errno(error, copy, "make the directory");
    xy_free(copy);
    return st;
}
