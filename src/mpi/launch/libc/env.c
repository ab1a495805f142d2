/* SPDX-License-Identifier: BSD-3-Clause */
/* getenv and its family, private per rank. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/launch/libc/interpose.h"
#include "mpi/launch/libc/process.h"

XY_INTERPOSE char *getenv(const char *name)
{
    static XY_NEXT(char *, next, (const char *));
    mpi_process_t *process = mpi_process_self;

    if (process == NULL)
        return XY_CALL_NEXT(next, "getenv")(name);
    return mpi_environment_get(process, name, strlen(name));
}

XY_INTERPOSE char *secure_getenv(const char *name)
{
    static XY_NEXT(char *, next, (const char *));
    mpi_process_t *process = mpi_process_self;

    if (process == NULL)
        return XY_CALL_NEXT(next, "secure_getenv")(name);
    return mpi_environment_get(process, name, strlen(name));
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
    static XY_NEXT(int, next, (const char *, const char *, int));
    mpi_process_t *process = mpi_process_self;
    size_t length, value_length;
    char *entry;

    if (process == NULL)
        return XY_CALL_NEXT(next, "setenv")(name, value, replace);
    if (!is_name(name))
        return -1;
    length = strlen(name);
    value_length = strlen(value);
    if (!replace && mpi_environment_get(process, name, length) != NULL)
        return 0;
    entry = xy_malloc(length + value_length + 2);
    if (entry == NULL) {
        errno = ENOMEM;
        return -1;
    }
    memcpy(entry, name, length);
    entry[length] = '=';
    memcpy(entry + length + 1, value, value_length + 1);
    return mpi_environment_put(process, entry, length);
}

XY_INTERPOSE int unsetenv(const char *name)
{
    static XY_NEXT(int, next, (const char *));
    mpi_process_t *process = mpi_process_self;

    if (process == NULL)
        return XY_CALL_NEXT(next, "unsetenv")(name);
    if (!is_name(name))
        return -1;
    mpi_environment_remove(process, name, strlen(name));
    return 0;
}

XY_INTERPOSE int putenv(char *entry)
{
    static XY_NEXT(int, next, (char *));
    mpi_process_t *process = mpi_process_self;
    const char *equal = strchr(entry, '=');

    if (process == NULL)
        return XY_CALL_NEXT(next, "putenv")(entry);
    if (equal != NULL)
        return mpi_environment_put(process, entry, (size_t)(equal - entry));
    mpi_environment_remove(process, entry, strlen(entry));
    return 0;
}

XY_INTERPOSE int clearenv(void)
{
    static XY_NEXT(int, next, (void));
    mpi_process_t *process = mpi_process_self;

    if (process == NULL)
        return XY_CALL_NEXT(next, "clearenv")();
    XMPI_PROCESS_VARIABLE(process, char **, XMPI_VARIABLE_ENVIRON) = NULL;
    return 0;
}
