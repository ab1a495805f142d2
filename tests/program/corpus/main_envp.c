/* SPDX-License-Identifier: BSD-3-Clause */
/* main() with the environment. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char *argv[], char *envp[])
{
    int rank, n = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (char **e = envp; *e != NULL; e++)
        n++;
    if (rank == 0)
        printf("%d variables\n", n);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
