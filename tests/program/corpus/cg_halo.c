/* SPDX-License-Identifier: BSD-3-Clause */
/* Conjugate gradients with a fixed number of iterations: dot products and halos. arguments: --nx 30
 * --iters=4 */
#include <getopt.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    MPI_Comm comm;
    int rank, size, lo, hi;
    int nx;
} grid_t;

static double dot(const grid_t *g, const double *x, const double *y)
{
    double s = 0, r;
    for (int i = 0; i < (g->hi - g->lo) * g->nx; i++)
        s += x[i] * y[i];
    MPI_Allreduce(&s, &r, 1, MPI_DOUBLE, MPI_SUM, g->comm);
    return r;
}

static void matvec(const grid_t *g, const double *x, double *y, double *below, double *above)
{
    MPI_Request r[4];
    int n = 0, rows = g->hi - g->lo;

    if (g->rank > 0) {
        MPI_Irecv(below, g->nx, MPI_DOUBLE, g->rank - 1, 0, g->comm, &r[n++]);
        MPI_Isend(x, g->nx, MPI_DOUBLE, g->rank - 1, 1, g->comm, &r[n++]);
    }
    if (g->rank + 1 < g->size) {
        MPI_Irecv(above, g->nx, MPI_DOUBLE, g->rank + 1, 1, g->comm, &r[n++]);
        MPI_Isend(x + (rows - 1) * g->nx, g->nx, MPI_DOUBLE, g->rank + 1, 0, g->comm, &r[n++]);
    }
    MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < rows * g->nx; i++)
        y[i] = 4 * x[i];
}

int main(int argc, char **argv)
{
    static struct option longs[] = {{"nx", required_argument, NULL, 'x'},
                                    {"iters", required_argument, NULL, 'i'},
                                    {"verbose", no_argument, NULL, 'v'},
                                    {NULL, 0, NULL, 0}};
    grid_t g = {.comm = MPI_COMM_WORLD, .nx = 10};
    int iters = 10, verbose = 0, c;

    MPI_Init(&argc, &argv);
    while ((c = getopt_long(argc, argv, "x:i:v", longs, NULL)) != -1) {
        if (c == 'x')
            g.nx = atoi(optarg);
        else if (c == 'i')
            iters = atoi(optarg);
        else if (c == 'v')
            verbose++;
        else
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Comm_rank(g.comm, &g.rank);
    MPI_Comm_size(g.comm, &g.size);
    g.lo = g.rank * g.nx / g.size;
    g.hi = (g.rank + 1) * g.nx / g.size;
    size_t bytes = sizeof(double) * g.nx * (g.hi - g.lo);
    double *p = malloc(bytes), *q = malloc(bytes), *lo = malloc(g.nx * 8), *hi = malloc(g.nx * 8);
    double rr = dot(&g, p, p);
    for (int i = 0; i < iters; i++) {
        matvec(&g, p, q, lo, hi);
        double alpha = rr / dot(&g, p, q), rr2;
        rr2 = dot(&g, q, q);
        if (verbose && g.rank == 0)
            printf("%d %g\n", i, alpha);
        rr = rr2;
    }
    MPI_Finalize();
    return 0;
}
