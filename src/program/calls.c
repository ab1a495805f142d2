/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI calls that a description may have: those that a walk has a handler for, with the names
 * that the standard gives to their parameters. */
#include <stdlib.h>
#include <string.h>

#include "program/walk.h"

static int compare(const void *name, const void *call)
{
    return strcmp(name, ((const xy_mpi_call_t *)call)->name);
}

static const xy_mpi_call_t *find(const char *name)
{
    return bsearch(name, program_mpi_calls, program_mpi_calls_count, sizeof(program_mpi_calls[0]),
                   compare);
}

/* The call whose form with large counts this is ("MPI_Send_c"), or NULL. */
static const xy_mpi_call_t *find_large(const char *name)
{
    char base[64];
    size_t length = strlen(name);
    const xy_mpi_call_t *call;

    if (length <= 2 || length >= sizeof(base) || strcmp(name + length - 2, "_c") != 0)
        return NULL;
    memcpy(base, name, length - 2);
    base[length - 2] = '\0';
    call = find(base);
    return call != NULL && call->has_large ? call : NULL;
}

const xy_mpi_call_t *xy_mpi_call_find(const char *name)
{
    const xy_mpi_call_t *call = find(name);

    if (call == NULL)
        call = find_large(name);
    return call != NULL && walk_call_find(call->name) != NULL ? call : NULL;
}
