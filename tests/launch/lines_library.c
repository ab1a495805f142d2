/* SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>

void library_wait(void);
void library_crash(void);

static int *volatile nowhere;

void library_wait(void)
{
    const int any = MPI_ANY_SOURCE;
    int got;

    MPI_Recv(&got, 1, MPI_INT, any, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* wait */
}

void library_crash(void)
{
    *nowhere = 1; /* crash */
}
