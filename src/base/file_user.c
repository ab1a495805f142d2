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
