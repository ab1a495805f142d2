/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrix times vector; rows in blocks of different lengths. arguments: 50 33 */
#include <mpi.h>
#include <stdlib.h>

typedef struct {
    int *counts, *offsets;
    int n;
} Layout;

static Layout layout_make(int total, int parts, int unit)
{
    Layout l = {malloc(parts * sizeof(int)), malloc(parts * sizeof(int)), total};
    int at = 0;

    for (int i = 0; i < parts; i++) {
        l.counts[i] = (total / parts + (i < total % parts)) * unit;
        l.offsets[i] = at;
        at += l.counts[i];
    }
    return l;
}

static void layout_free(Layout *l)
{
    free(l->counts);
    free(l->offsets);
    l->counts = l->offsets = NULL;
}

int main(int argc, char **argv)
{
    int rank, size, m, n;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    m = argc > 1 ? atoi(argv[1]) : 10;
    n = argc > 2 ? atoi(argv[2]) : 10;
    Layout rows = layout_make(m, size, n), out = layout_make(m, size, 1);
    double *a = NULL, *y = NULL, *x = malloc(sizeof(double) * n);
    double *mine = malloc(sizeof(double) * rows.counts[rank]);
    double *part = malloc(sizeof(double) * out.counts[rank]);

    if (rank == 0) {
        a = malloc(sizeof(double) * m * n);
        y = malloc(sizeof(double) * m);
        for (int i = 0; i < m * n; i++)
            a[i] = i % 13;
        for (int i = 0; i < n; i++)
            x[i] = 1;
    }
    MPI_Scatterv(a, rows.counts, rows.offsets, MPI_DOUBLE, mine, rows.counts[rank], MPI_DOUBLE, 0,
                 MPI_COMM_WORLD);
    MPI_Bcast(x, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < out.counts[rank]; i++) {
        part[i] = 0;
        for (int j = 0; j < n; j++)
            part[i] += mine[i * n + j] * x[j];
    }
    MPI_Gatherv(part, out.counts[rank], MPI_DOUBLE, y, out.counts, out.offsets, MPI_DOUBLE, 0,
                MPI_COMM_WORLD);
    layout_free(&rows);
    layout_free(&out);
    MPI_Finalize();
    return 0;
}
