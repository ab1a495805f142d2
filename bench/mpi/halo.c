/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A halo exchange on a plane of ranks: every step each rank swaps a border with its neighbours and
 * sweeps over its part. Prints the seconds of a step, the median over all.
 *
 *   halo ROWS COLUMNS KIB STEPS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double step(MPI_Comm grid, const int *neighbour, char *out, char *in, int bytes)
{
    MPI_Request requests[8];
    double begin;

    MPI_Barrier(grid);
    begin = MPI_Wtime();
    for (int d = 0; d < 4; d++)
        MPI_Irecv(in + d * bytes, bytes, MPI_CHAR, neighbour[d], 0, grid, &requests[d]);
    for (int d = 0; d < 4; d++)
        MPI_Isend(out + d * bytes, bytes, MPI_CHAR, neighbour[d], 0, grid, &requests[4 + d]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4 * bytes; i++)
        out[i] = (char)(out[i] + in[i]);
    MPI_Barrier(grid);
    return MPI_Wtime() - begin;
}

int main(int argc, char **argv)
{
    int dims[2], periods[2] = {0, 0}, bytes, steps, rank, neighbour[4];
    double *seconds;
    char *out, *in;
    MPI_Comm grid;

    MPI_Init(&argc, &argv);
    if (argc != 5) {
        fprintf(stderr, "usage: halo ROWS COLUMNS KIB STEPS\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    dims[0] = atoi(argv[1]);
    dims[1] = atoi(argv[2]);
    bytes = atoi(argv[3]) * 1024;
    steps = atoi(argv[4]);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    for (int d = 0; d < 2; d++)
        MPI_Cart_shift(grid, d, 1, &neighbour[2 * d], &neighbour[2 * d + 1]);
    out = calloc(4, (size_t)bytes);
    in = calloc(4, (size_t)bytes);
    seconds = malloc((size_t)(steps + 1) * sizeof(*seconds));
    step(grid, neighbour, out, in, bytes); /* connections are made now */
    for (int i = 0; i < steps; i++)
        seconds[i] = step(grid, neighbour, out, in, bytes);
    qsort(seconds, (size_t)steps, sizeof(*seconds), by_value);
    if (rank == 0)
        printf("%.6f\n", seconds[steps / 2]);
    free(out);
    free(in);
    free(seconds);
    MPI_Finalize();
    return 0;
}
