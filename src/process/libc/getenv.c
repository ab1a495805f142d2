/* SPDX-License-Identifier: BSD-3-Clause */
/* getenv and its family, private per process. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "process/libc/interpose.h"
#include "process/libc/process_state.h"

XY_INTERPOSE char *getenv(const char *name)
{
    process_t *process = process_self;

    if (process == NULL)
        return XY_NEXT(getenv)(name);
    return process_environment_get(process, name, strlen(name));
}

XY_INTERPOSE char *secure_getenv(const char *name)
{
    process_t *process = process_self;

    if (process == NULL)
        return XY_NEXT(secure_getenv)(name);
    return process_environment_get(process, name, strlen(name));
}

static bool is_name(const char *name)
{
    if (name != NULL && *name != '\0' && strchr(name, '=') == NULL)
        return true;
    errno = EINVAL;
    return false;
}

XY_INTERPOSE int setenv(const char *name, const char *value, int replace)
{
    process_t *process = process_self;
    size_t length, value_length;
    char *entry;

    if (process == NULL)
        return XY_NEXT(setenv)(name, value, replace);
    if (!is_name(name))
        return -1;
    length = strlen(name);
    value_length = strlen(value);
    if (!replace && process_environment_get(process, name, length) != NULL)
        return 0;
    entry = xy_malloc(length + value_length + 2);
    if (entry == NULL) {
        errno = ENOMEM;
        return -1;
    }
    memcpy(entry, name, length);
    entry[length] = '=';
    memcpy(entry + length + 1, value, value_length + 1);
    return process_environment_put(process, entry, length);
}

XY_INTERPOSE int unsetenv(const char *name)
{
    process_t *process = process_self;

    if (process == NULL)
        return XY_NEXT(unsetenv)(name);
    if (!is_name(name))
        return -1;
    process_environment_remove(process, name, strlen(name));
    return 0;
}

XY_INTERPOSE int putenv(char *entry)
{
    process_t *process = process_self;
    const char *equal = strchr(entry, '=');

    if (process == NULL)
        return XY_NEXT(putenv)(entry);
    if (equal != NULL)
        return process_environment_put(process, entry, (size_t)(equal - entry));
    process_environment_remove(process, entry, strlen(entry));
    return 0;
}

XY_INTERPOSE int clearenv(void)
{
    process_t *process = process_self;

    if (process == NULL)
        return XY_NEXT(clearenv)();
    PROCESS_VARIABLE(process, char **, PROCESS_VARIABLE_ENVIRON) = NULL;
    return 0;
}
