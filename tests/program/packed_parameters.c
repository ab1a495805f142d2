/* SPDX-License-Identifier: BSD-3-Clause */
/* The parameters of a program, packed into one message, decide what follows. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, n = 0, steps = 0, room, part, place = 0;
    double limit = 0;
    char *buffer;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Pack_size(2, MPI_INT, MPI_COMM_WORLD, &room);
    MPI_Pack_size(1, MPI_DOUBLE, MPI_COMM_WORLD, &part);
    room += part;
    buffer = malloc(room);
    if (rank == 0) {
        n = 40;
        steps = 5;
        limit = 2.5;
        MPI_Pack(&n, 1, MPI_INT, buffer, room, &place, MPI_COMM_WORLD);
        MPI_Pack(&limit, 1, MPI_DOUBLE, buffer, room, &place, MPI_COMM_WORLD);
        MPI_Pack(&steps, 1, MPI_INT, buffer, room, &place, MPI_COMM_WORLD);
        for (int r = 1; r < size; r++)
            MPI_Send(buffer, place, MPI_PACKED, r, 1, MPI_COMM_WORLD);
    } else {
        MPI_Recv(buffer, room, MPI_PACKED, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Unpack(buffer, room, &place, &n, 1, MPI_INT, MPI_COMM_WORLD);
        MPI_Unpack(buffer, room, &place, &limit, 1, MPI_DOUBLE, MPI_COMM_WORLD);
        MPI_Unpack(buffer, room, &place, &steps, 1, MPI_INT, MPI_COMM_WORLD);
    }
    char *data = calloc(n, 3);

    for (int i = 0; i < steps; i++)
        MPI_Bcast(data, limit > 2 ? 3 * n : n, MPI_CHAR, i % size, MPI_COMM_WORLD);
    free(data);
    free(buffer);
    MPI_Finalize();
    return 0;
}
