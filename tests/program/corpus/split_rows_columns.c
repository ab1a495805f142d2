/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows and columns of a square of ranks, each with its own broadcast and sum. ranks: 4 9 */
#include <math.h>
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, q, row, col;
    MPI_Comm rows, cols;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    q = (int)sqrt((double)size);
    if (q * q != size)
        MPI_Abort(MPI_COMM_WORLD, 1);
    row = rank / q;
    col = rank % q;
    MPI_Comm_split(MPI_COMM_WORLD, row, col, &rows);
    MPI_Comm_split(MPI_COMM_WORLD, col, row, &cols);
    float *a = malloc(200 * sizeof(float)), *b = malloc(200 * sizeof(float)), s[8] = {0};
    for (int step = 0; step < q; step++) {
        int root = (row + step) % q, up, down, me;

        MPI_Bcast(a, 100 + 10 * step, MPI_FLOAT, root, rows);
        MPI_Comm_rank(cols, &me);
        up = (me + q - 1) % q;
        down = (me + 1) % q;
        MPI_Sendrecv_replace(b, 100, MPI_FLOAT, up, step, down, step, cols, MPI_STATUS_IGNORE);
    }
    MPI_Allreduce(MPI_IN_PLACE, s, 8, MPI_FLOAT, MPI_SUM, rank >= 0 ? rows : cols);
    MPI_Comm_free(&rows);
    MPI_Comm_free(&cols);
    free(a);
    free(b);
    MPI_Finalize();
    return 0;
}
