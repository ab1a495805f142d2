/* SPDX-License-Identifier: BSD-3-Clause */
/* A sparse matrix whose pattern follows from a formula: receivers count what they need, then ask
 * for it. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 12

static int column(int row, int k, int n)
{
    return k == 0 ? row : (row * 7 + 3 * k) % n;
}

int main(int argc, char **argv)
{
    int rank, size, n, *need, *give, needs = 0, gives = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    n = ROWS * size;
    need = calloc(size, sizeof *need);
    give = calloc(size, sizeof *give);
    char *seen = calloc(n, 1);
    for (int r = rank * ROWS; r < (rank + 1) * ROWS; r++)
        for (int k = 0; k < 3; k++) {
            int c = column(r, k, n);
            if (c / ROWS != rank && !seen[c]) {
                seen[c] = 1;
                need[c / ROWS]++;
            }
        }
    MPI_Alltoall(need, 1, MPI_INT, give, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        needs += need[i];
        gives += give[i];
    }
    double *in = malloc(needs * sizeof(double)), *out = malloc(gives * sizeof(double));
    MPI_Request *q = malloc(2 * size * sizeof(*q));
    for (int it = 0; it < 3; it++) {
        int at = 0, m = 0;
        for (int i = 0; i < size; i++)
            if (need[i])
                MPI_Irecv(in + at, need[i], MPI_DOUBLE, i, it, MPI_COMM_WORLD, &q[m++]),
                    at += need[i];
        at = 0;
        for (int i = 0; i < size; i++)
            if (give[i]) {
                MPI_Isend(out + at, give[i], MPI_DOUBLE, i, it, MPI_COMM_WORLD, &q[m++]);
                at += give[i];
            }
        MPI_Waitall(m, q, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
