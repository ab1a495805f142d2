/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The internal words of MPI_Status: the number of bytes received, and whether the operation was
 * cancelled. The words are not aligned for 64 bits, hence memcpy.
 */
#ifndef XY_MPI_OBJECT_MPI_STATUS_H
#define XY_MPI_OBJECT_MPI_STATUS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "mpi.h"

enum { XMPI_STATUS_WORD_BYTES = 0, XMPI_STATUS_WORD_CANCELLED = 2 };

static inline uint64_t mpi_status_bytes(const MPI_Status *status)
{
    uint64_t bytes;

    memcpy(&bytes, &status->MPI_internal[XMPI_STATUS_WORD_BYTES], sizeof bytes);
    return bytes;
}

static inline void mpi_status_set_bytes(MPI_Status *status, uint64_t bytes)
{
    memcpy(&status->MPI_internal[XMPI_STATUS_WORD_BYTES], &bytes, sizeof bytes);
}

static inline bool mpi_status_is_cancelled(const MPI_Status *status)
{
    return status->MPI_internal[XMPI_STATUS_WORD_CANCELLED] != 0;
}

static inline void mpi_status_set_cancelled(MPI_Status *status, bool is_cancelled)
{
    status->MPI_internal[XMPI_STATUS_WORD_CANCELLED] = is_cancelled;
}

#endif
