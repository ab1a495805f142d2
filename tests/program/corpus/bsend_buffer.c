/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffered sends with a buffer of the size that MPI says. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, bytes, pack;
    void *buffer;
    int message[50], got[50];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Pack_size(50, MPI_INT, MPI_COMM_WORLD, &pack);
    bytes = size * (pack + MPI_BSEND_OVERHEAD);
    buffer = malloc(bytes);
    MPI_Buffer_attach(buffer, bytes);
    for (int i = 0; i < size; i++)
        if (i != rank)
            MPI_Bsend(message, 50 - i, MPI_INT, i, rank, MPI_COMM_WORLD);
    for (int i = size - 1; i >= 0; i--)
        if (i != rank)
            MPI_Recv(got, 50, MPI_INT, i, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&buffer, &bytes);
    free(buffer);
    MPI_Finalize();
    return 0;
}
