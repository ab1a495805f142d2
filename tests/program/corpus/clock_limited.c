/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock ends the loop: how often is not known. expect: asked */
#include <mpi.h>
#include <time.h>

int main(int argc, char **argv)
{
    int rank, stop = 0, rounds = 0;
    time_t start;
    char x[8];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    start = time(NULL);
    while (!stop) {
        MPI_Bcast(x, 8, MPI_CHAR, 0, MPI_COMM_WORLD);
        rounds++;
        stop = difftime(time(NULL), start) > 1.0 || rounds > 5;
        MPI_Bcast(&stop, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
