/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks at byte offsets, and a type made of types. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size, l[3] = {2, 3, 1};
    MPI_Aint d[3] = {0, 64, 160};
    MPI_Datatype h, hv, ib;
    char a[4096] = {0}, b[4096];
    int at[4] = {0, 5, 9, 20};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_create_hindexed(3, l, d, MPI_INT, &h);
    MPI_Type_create_hvector(4, 1, 512, h, &hv);
    MPI_Type_create_indexed_block(4, 2, at, MPI_SHORT, &ib);
    MPI_Type_commit(&hv);
    MPI_Type_commit(&ib);
    int next = (rank + 1) % size, prev = (rank - 1 + size) % size;
    MPI_Sendrecv(a, 1, hv, next, 0, b, 24, MPI_INT, prev, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(a, 2, ib, prev, 0, b, 2, ib, next, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Gather(a, 1, ib, b, 8, MPI_SHORT, 0, MPI_COMM_WORLD);
    MPI_Type_free(&h);
    MPI_Type_free(&hv);
    MPI_Type_free(&ib);
    MPI_Finalize();
    return 0;
}
