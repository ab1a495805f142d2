/* SPDX-License-Identifier: BSD-3-Clause */
/* Accesses of several ranks to the same bytes of a file, without an order. */
#ifndef XY_MPI_CHECK_SHARED_FILES_H
#define XY_MPI_CHECK_SHARED_FILES_H

#include "mpi/io/io.h"

/* Compare an access with those of others, and keep it. Any rank. */
void check_shared_files_access(const mpi_rank_t *self, const io_access_t *access);
/* All members have come to MPI_File_close: compare the accesses of several processes, and forget
 * all of them. Parks. */
void check_shared_files_close(const mpi_file_t *file);

#endif
