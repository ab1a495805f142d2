/* SPDX-License-Identifier: BSD-3-Clause */
/* Types of types, and their sizes. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    static char data[20000];
    int lengths[2] = {3, 5}, at[2] = {0, 10}, bytes;
    MPI_Datatype pair, blocks, strided;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
    MPI_Type_indexed(2, lengths, at, pair, &blocks);
    MPI_Type_vector(4, 2, 7, MPI_INT, &strided);
    MPI_Type_commit(&blocks);
    MPI_Type_commit(&strided);
    MPI_Type_size(blocks, &bytes);
    MPI_Bcast(data, 2, blocks, 0, MPI_COMM_WORLD);
    MPI_Bcast(data, 5, strided, 0, MPI_COMM_WORLD);
    MPI_Bcast(data, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
