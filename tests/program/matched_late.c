/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages are looked for and received by their handles, some from nobody; their contents matter.
 */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size, next = 0;
    char data[200] = {0};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        for (int r = 1; r < size; r++) {
            int length = 20 + 3 * r;

            MPI_Send(&length, 1, MPI_INT, r, r, MPI_COMM_WORLD);
            MPI_Send(data, length, MPI_CHAR, r, 50, MPI_COMM_WORLD);
        }
    } else {
        MPI_Message first, second, nobody;
        MPI_Request request;
        MPI_Status status;
        int length, found = 0, count;

        while (!found)
            MPI_Improbe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &found, &first, &status);
        MPI_Mprobe(MPI_ANY_SOURCE, 50, MPI_COMM_WORLD, &second, &status);
        MPI_Get_count(&status, MPI_CHAR, &count);
        MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &nobody, MPI_STATUS_IGNORE);
        MPI_Imrecv(&length, 1, MPI_INT, &first, &request);
        MPI_Mrecv(data, count, MPI_CHAR, &second, &status);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Mrecv(data, 0, MPI_INT, &nobody, &status);
        if (first == MPI_MESSAGE_NULL && second == MPI_MESSAGE_NULL &&
            status.MPI_SOURCE == MPI_PROC_NULL)
            next = length;
    }
    MPI_Allreduce(MPI_IN_PLACE, &next, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Bcast(data, next, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
