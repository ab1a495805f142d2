/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank and its group, as values. */
#ifndef XY_TESTS_MPI_DYNAMIC_SIZES_H
#define XY_TESTS_MPI_DYNAMIC_SIZES_H

#include "../check.h"

static int rank_of(MPI_Comm comm)
{
    int rank;

    MPI_Comm_rank(comm, &rank);
    return rank;
}

static int size_of(MPI_Comm comm)
{
    int size;

    MPI_Comm_size(comm, &size);
    return size;
}

#endif
