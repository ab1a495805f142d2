/* SPDX-License-Identifier: BSD-3-Clause */
/* Cannon's product on a torus: skewing, then shifts. ranks: 4 9 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK 12

static void multiply(const double *a, const double *b, double *c, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}

int main(int argc, char **argv)
{
    int npes, dims[2], periods[2], myrank, my2drank, mycoords[2];
    int uprank, downrank, leftrank, rightrank, shiftsource, shiftdest;
    double *a, *b, *c;
    MPI_Status status;
    MPI_Comm comm_2d;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &npes);
    MPI_Comm_rank(MPI_COMM_WORLD, &myrank);
    dims[0] = dims[1] = sqrt(npes);
    periods[0] = periods[1] = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &comm_2d);
    MPI_Comm_rank(comm_2d, &my2drank);
    MPI_Cart_coords(comm_2d, my2drank, 2, mycoords);
    MPI_Cart_shift(comm_2d, 1, -1, &rightrank, &leftrank);
    MPI_Cart_shift(comm_2d, 0, -1, &downrank, &uprank);
    a = calloc(BLOCK * BLOCK, 8);
    b = calloc(BLOCK * BLOCK, 8);
    c = calloc(BLOCK * BLOCK, 8);
    MPI_Cart_shift(comm_2d, 1, -mycoords[0], &shiftsource, &shiftdest);
    MPI_Sendrecv_replace(a, BLOCK * BLOCK, MPI_DOUBLE, shiftdest, 1, shiftsource, 1, comm_2d,
                         &status);
    MPI_Cart_shift(comm_2d, 0, -mycoords[1], &shiftsource, &shiftdest);
    MPI_Sendrecv_replace(b, BLOCK * BLOCK, MPI_DOUBLE, shiftdest, 1, shiftsource, 1, comm_2d,
                         &status);
    for (int i = 0; i < dims[0]; i++) {
        multiply(a, b, c, BLOCK);
        MPI_Sendrecv_replace(a, BLOCK * BLOCK, MPI_DOUBLE, leftrank, 1, rightrank, 1, comm_2d,
                             &status);
        MPI_Sendrecv_replace(b, BLOCK * BLOCK, MPI_DOUBLE, uprank, 1, downrank, 1, comm_2d,
                             &status);
    }
    MPI_Comm_free(&comm_2d);
    MPI_Finalize();
    return 0;
}
