/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The main thread of rank 0 waits in a barrier of OpenMP for a thread that receives what the main
 * threads of the other ranks send. They must run, also where all of them share a core.
 */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>

enum { ROUNDS = 50 };

static int receive(int ranks, int round)
{
    int wrong = 0;

#pragma omp parallel num_threads(2) reduction(+ : wrong)
    {
        for (int r = 1; omp_get_thread_num() == 1 && r < ranks; r++) {
            int got = -1;

            MPI_Recv(&got, 1, MPI_INT, r, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            wrong += got != round;
        }
#pragma omp barrier
    }
    return wrong;
}

int main(int argc, char **argv)
{
    int provided, rank, size, wrong = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < ROUNDS; i++)
        if (rank == 0)
            wrong += receive(size, i);
        else
            MPI_Send(&i, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d wrong\n", wrong);
    MPI_Finalize();
    return wrong != 0;
}
