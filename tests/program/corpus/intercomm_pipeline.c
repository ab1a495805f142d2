/* SPDX-License-Identifier: BSD-3-Clause */
/* Producers and consumers on both sides of an intercommunicator. ranks: 4 5 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, color, lrank, remote;
    MPI_Comm local, inter, both;
    char data[300] = {0};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    color = rank >= size / 2;
    MPI_Comm_split(MPI_COMM_WORLD, color, rank, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, color ? 0 : size / 2, 99, &inter);
    MPI_Comm_remote_size(inter, &remote);
    MPI_Comm_rank(local, &lrank);
    if (color == 0) {
        for (int i = lrank; i < remote; i += 1)
            MPI_Send(data, 50 + 10 * i, MPI_CHAR, i, 0, inter);
    } else {
        for (int i = 0; i < remote; i++)
            if (i <= lrank)
                MPI_Recv(data, 300, MPI_CHAR, i, 0, inter, MPI_STATUS_IGNORE);
    }
    MPI_Bcast(data, 77, MPI_CHAR, color ? 0 : lrank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    MPI_Intercomm_merge(inter, color, &both);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, 5, MPI_CHAR, both);
    MPI_Comm_free(&both);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
    MPI_Finalize();
    return 0;
}
