/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns as a vector type, rows contiguous, on a grid that MPI_Dims_create chooses. */
#include <mpi.h>
#include <stdlib.h>

#define NX        40
#define NY        24
#define IDX(i, j) ((i) * (NY + 2) + (j))

static void exchange(double *g, MPI_Comm cart, MPI_Datatype col)
{
    int north, south, west, east;

    MPI_Cart_shift(cart, 0, 1, &north, &south);
    MPI_Cart_shift(cart, 1, 1, &west, &east);
    MPI_Sendrecv(&g[IDX(NX, 1)], NY, MPI_DOUBLE, south, 0, &g[IDX(0, 1)], NY, MPI_DOUBLE, north, 0,
                 cart, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&g[IDX(1, 1)], NY, MPI_DOUBLE, north, 1, &g[IDX(NX + 1, 1)], NY, MPI_DOUBLE, south,
                 1, cart, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&g[IDX(1, NY)], 1, col, east, 2, &g[IDX(1, 0)], 1, col, west, 2, cart,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&g[IDX(1, 1)], 1, col, west, 3, &g[IDX(1, NY + 1)], 1, col, east, 3, cart,
                 MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int dims[2] = {0}, periods[2] = {1, 0}, size;
    MPI_Comm cart;
    MPI_Datatype column;
    double *grid;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
    MPI_Type_vector(NX, 1, NY + 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    grid = calloc((NX + 2) * (NY + 2), sizeof *grid);
    for (int step = 0; step < 4; step++)
        exchange(grid, cart, column);
    MPI_Type_free(&column);
    MPI_Comm_free(&cart);
    free(grid);
    MPI_Finalize();
    return 0;
}
