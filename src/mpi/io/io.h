/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files. All ranks of a process that opened a file together share one descriptor; data goes through
 * pread and pwrite, which need no common position.
 *
 *   view.h     which bytes of the file a rank sees, and in which order
 *   access.h   one read or write: memory on the one side, a view on the other
 *   io_file.h     the object, its agreements and its errors
 *   io_pool.h     threads that read and write while ranks continue
 *
 * A file is one io_shared_t for the members in this process (the descriptor, the shared pointer)
 * and one mpi_file_t per member, which belongs to its rank: handle, view, individual pointer. A
 * call does this:
 *
 *   mpi_file_t *file = mpi_file_of(handle);
 *
 *   if (file == NULL)
 *       return mpi_file_refuse(handle);
 *   error = io_prepare(file, &request, &access);          (the arguments, the pointers)
 *   if (error == MPI_SUCCESS)
 *       error = io_access_run(&access);
 *
 * Collective accesses meet (mpi_coll_agree): one member sees the accesses of all, cuts the range
 * that they touch into pieces, and workers whose ranks wait help to do them (collective.c). Where
 * members are in several processes, those of one process meet, and each process writes what its
 * members have.
 *
 * ---- Who may touch what ----
 *
 * mpi_file_t: its rank. io_view_t: never changes; counted by reference. io_shared_t: the descriptor
 * never changes, the pointer is atomic, `turn` is held by the rank that reads or writes in atomic
 * mode.
 */
#ifndef XY_MPI_IO_IO_H
#define XY_MPI_IO_IO_H

#include "mpi/io/io_file.h"

extern const mpi_layer_t mpi_io_layer;

#endif
