/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making communicators, which is a collective: duplicating, splitting, creating from groups,
 * joining two groups; and the predefined ones. The objects themselves are in object/comm.h.
 *
 *   make.h   one member makes what all share; each makes its own object from a plan
 *
 * An object belongs to its rank and is touched by the rank's worker only. It is freed when the
 * program has freed its handle and its last pending operation is complete.
 */
#ifndef XY_MPI_COMM_COMM_H
#define XY_MPI_COMM_COMM_H

#include "mpi/comm/make.h"

extern const mpi_layer_t mpi_comm_layer;

/* The communicator of MPI_Comm_idup, just started, is written to `place` by `give`: not as a handle
 * of C. */
typedef void(mpi_comm_give_fn)(void *place, MPI_Comm comm);
void mpi_comm_idup_set_place(MPI_Request handle, void *place, mpi_comm_give_fn *give);

/* An argument of a call that makes a communicator of groups is NULL, as mpi_refuse_null: the error
 * handler is that of the communicator. */
int mpi_from_group_refuse_null(const char *name, const void *site, MPI_Errhandler errhandler,
                               const char *argument) __attribute__((cold));

#endif
