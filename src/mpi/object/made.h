/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the program has made and must free, with the calls that made it: only where leaks are looked
 * for (--check, -v). The generated functions note every handle that they give out, and forget those
 * that they free.
 */
#ifndef XY_MPI_OBJECT_MADE_H
#define XY_MPI_OBJECT_MADE_H

#include <stdbool.h>

#include "mpi/runtime/runtime.h"

typedef struct {
    const void *handle;
    const char *what; /* "communicator" */
    const char *call; /* "MPI_Comm_dup" */
    const void *site;
} mpi_made_t;

/* Written before ranks run. */
extern bool mpi_made_is_noted;

/* Of the calling rank; nothing on threads that are none. Predefined handles are left out. */
void mpi_made_note(const void *handle, const char *what, const char *call, const void *site);
void mpi_made_forget(const void *handle);

#endif
