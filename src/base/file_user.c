/* SPDX-License-Identifier: BSD-3-Clause */
/* Where files of the user are. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

xy_status_t xy_make_directories(const char *path)
{
    char *copy = xy_strdup(path);
    xy_status_t st = XY_OK;

    if (copy == NULL)
        return xy_fail_memory("making directories");
    for (char *slash = *copy != '\0' ? strchr(copy + 1, '/') : NULL; slash != NULL && st == XY_OK;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(copy, 0777) != 0 && errno != EEXIST)
            st = xy_fail_errno(errno, copy, "make the directory");
        *slash = '/';
    }
    xy_free(copy);
    return st;
}
