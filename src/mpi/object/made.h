/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objects that the program has created and must free, with the calls that created them: only with
 * leak detection (--check, -v). The generated functions record every handle that they return, and
 * drop those that they free.
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

/* Note an object that the calling rank has made; nothing on threads that are none. Predefined
 * handles are left out. */
void mpi_made_note(const void *handle, const char *what, const char *call, const void *site);
void mpi_made_forget(const void *handle);

#endif
