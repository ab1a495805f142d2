/* SPDX-License-Identifier: BSD-3-Clause */
/* Adaptive quadrature by recursion on doubles; the number of pieces decides about messages. */
#include <math.h>
#include <mpi.h>

static int pieces;

static double f(double x)
{
    return 1 / (0.01 + x * x);
}

static double quad(double a, double b, double fa, double fb, int depth)
{
    double m = 0.5 * (a + b), fm = f(m), whole = (b - a) * (fa + fb) / 2;
    double parts = (m - a) * (fa + fm) / 2 + (b - m) * (fm + fb) / 2;

    if (depth == 0 || fabs(whole - parts) < 1e-2) {
        pieces++;
        return parts;
    }
    return quad(a, m, fa, fm, depth - 1) + quad(m, b, fm, fb, depth - 1);
}

int main(int argc, char **argv)
{
    int rank, size;
    double area;
    char x[4096];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double lo = -1 + 2.0 * rank / size, hi = -1 + 2.0 * (rank + 1) / size;
    area = quad(lo, hi, f(lo), f(hi), 10);
    MPI_Sendrecv(x, pieces, MPI_CHAR, (rank + 1) % size, 0, x + 2048, 2048, MPI_CHAR,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(MPI_IN_PLACE, &area, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(x, (int)(area * 10), MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
