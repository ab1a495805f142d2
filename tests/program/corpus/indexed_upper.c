/* SPDX-License-Identifier: BSD-3-Clause */
/* The upper triangle of a matrix as an indexed type, received as plain numbers. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define SIZE 15

int main(int argc, char **argv)
{
    int rank, lengths[SIZE], displs[SIZE], bytes, count;
    MPI_Datatype upper;
    MPI_Aint lb, extent;
    float a[SIZE][SIZE], packed[SIZE * (SIZE + 1) / 2];
    MPI_Status st;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < SIZE; i++) {
        lengths[i] = SIZE - i;
        displs[i] = i * SIZE + i;
    }
    MPI_Type_indexed(SIZE, lengths, displs, MPI_FLOAT, &upper);
    MPI_Type_commit(&upper);
    MPI_Type_size(upper, &bytes);
    MPI_Type_get_extent(upper, &lb, &extent);
    if (rank == 0) {
        MPI_Send(a, 1, upper, 1, 0, MPI_COMM_WORLD);
        MPI_Send(a, (int)(extent / 4), MPI_FLOAT, 1, 1, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(packed, bytes / (int)sizeof(float), MPI_FLOAT, 0, 0, MPI_COMM_WORLD, &st);
        MPI_Get_count(&st, MPI_FLOAT, &count);
        MPI_Recv(a, SIZE * SIZE, MPI_FLOAT, 0, 1, MPI_COMM_WORLD, &st);
        MPI_Send(packed, count / 2, MPI_FLOAT, 2, 2, MPI_COMM_WORLD);
    } else if (rank == 2) {
        MPI_Recv(packed, 200, MPI_FLOAT, 1, 2, MPI_COMM_WORLD, &st);
    }
    MPI_Type_free(&upper);
    MPI_Finalize();
    return 0;
}
