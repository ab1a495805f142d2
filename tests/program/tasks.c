/* SPDX-License-Identifier: BSD-3-Clause */
/* A master hands out task numbers; workers ask until there is none. */
#include <mpi.h>
enum { TASKS = 12, WORK = 1, STOP = 2 };
int main(int argc, char **argv)
{
    int rank, size, task = 0, next = 0;
    MPI_Status status;
    static char data[100];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        for (int left = size - 1; left > 0;) {
            MPI_Recv(data, 100, MPI_CHAR, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
            if (next < TASKS) {
                MPI_Send(&next, 1, MPI_INT, status.MPI_SOURCE, WORK, MPI_COMM_WORLD);
                next++;
            } else {
                MPI_Send(&next, 1, MPI_INT, status.MPI_SOURCE, STOP, MPI_COMM_WORLD);
                left--;
            }
        }
    } else {
        for (;;) {
            MPI_Send(data, task, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
            MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            if (status.MPI_TAG == STOP)
                break;
        }
    }
    MPI_Finalize();
    return 0;
}
