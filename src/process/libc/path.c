/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/libc/path.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *const *process_environment_for(char *const *environment)
{
    process_t *process = process_self;

    if (process == NULL || environment != environ)
        return environment;
    return PROCESS_VARIABLE(process, char **, PROCESS_VARIABLE_ENVIRON);
}

static bool is_program(const char *path)
{
    struct stat status;

    return access(path, X_OK) == 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* An empty place in the list is the working directory. */
const char *process_path_find(const char *file, char path[PROCESS_PATH_SIZE])
{
    const char *list =
        process_self != NULL ? process_environment_get(process_self, "PATH", strlen("PATH")) : NULL;

    if (list == NULL || *file == '\0' || strchr(file, '/') != NULL)
        return file;
    for (;;) {
        size_t n = strcspn(list, ":");
        int written =
            snprintf(path, PROCESS_PATH_SIZE, "%.*s%s%s", (int)n, list, n > 0 ? "/" : "./", file);

        if (written > 0 && written < PROCESS_PATH_SIZE && is_program(path))
            return path;
        if (list[n] == '\0')
            return file;
        list += n + 1;
    }
}
