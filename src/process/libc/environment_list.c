/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The environment of a process. The array is the process's own; strings are shared with the others
 * until they are replaced. Replaced strings are not freed: the program may hold what getenv gave
 * it.
 */
#include <errno.h>
#include <string.h>

#include "process/libc/process_state.h"

static char ***current(process_t *process)
{
    return process->variables[PROCESS_VARIABLE_ENVIRON];
}

static size_t count(char *const *list)
{
    size_t n = 0;

    while (list != NULL && list[n] != NULL)
        n++;
    return n;
}

xy_status_t process_environment_init(process_t *process, char *const *environment)
{
    size_t n = count(environment);

    process->environment_capacity = n + 2;
    process->environment = xy_malloc(process->environment_capacity * sizeof(char *));
    if (process->environment == NULL)
        return xy_fail_memory("starting a rank");
    memcpy(process->environment, environment, n * sizeof(char *));
    process->environment[n] = NULL;
    *current(process) = process->environment;
    return XY_OK;
}

static bool is_named(const char *entry, const char *name, size_t length)
{
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

char *process_environment_get(process_t *process, const char *name, size_t length)
{
    char **list = *current(process);

    for (; list != NULL && *list != NULL; list++)
        if (is_named(*list, name, length))
            return *list + length + 1;
    return NULL;
}

/* Make the array ours, with room for one more. A program that has set `environ` keeps its own. */
static char **writable(process_t *process, size_t used)
{
    char **list = *current(process), **grown;

    if (list == process->environment && used + 2 <= process->environment_capacity)
        return list;
    grown = xy_malloc((2 * used + 4) * sizeof(char *));
    if (grown == NULL)
        return NULL;
    if (used > 0)
        memcpy(grown, list, used * sizeof(char *));
    grown[used] = NULL;
    if (list == process->environment)
        xy_free(list);
    process->environment = grown;
    process->environment_capacity = 2 * used + 4;
    *current(process) = grown;
    return grown;
}

int process_environment_put(process_t *process, char *entry, size_t length)
{
    size_t used = count(*current(process));
    char **list = writable(process, used);

    if (list == NULL) {
        errno = ENOMEM;
        return -1;
    }
    for (size_t i = 0; i < used; i++)
        if (is_named(list[i], entry, length)) {
            list[i] = entry;
            return 0;
        }
    list[used] = entry;
    list[used + 1] = NULL;
    return 0;
}

void process_environment_remove(process_t *process, const char *name, size_t length)
{
    char **from = *current(process), **to = from;

    for (; from != NULL && *from != NULL; from++)
        if (!is_named(*from, name, length))
            *to++ = *from;
    if (to != NULL)
        *to = NULL;
}
