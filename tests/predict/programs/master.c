/* SPDX-License-Identifier: BSD-3-Clause */
/* A master takes results from any source; the tag says when a worker is done. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    double result = 0;
    MPI_Status status;
    int work;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    if (rank == 0) {
        int next = 0, active = 0, tasks = 20;

        for (int worker = 1; worker < size; worker++) {
            work = next < tasks ? next++ : -1;
            active += work >= 0;
            MPI_Send(&work, 1, MPI_INT, worker, 0, MPI_COMM_WORLD);
        }
        while (active > 0) {
            MPI_Recv(&result, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
            work = next < tasks ? next++ : -1;
            active -= work < 0;
            MPI_Send(&work, 1, MPI_INT, status.MPI_SOURCE, 0, MPI_COMM_WORLD);
        }
    } else {
        for (;;) {
            MPI_Recv(&work, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (work < 0)
                break;
            MPI_Send(&result, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
