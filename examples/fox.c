/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matrix product by rotation (Fox, or broadcast-multiply-roll): a program to predict.
 *
 *   mpicc -O2 fox.c -o fox && mpiexec -n 4 ./fox 200
 *   xylem scan fox.c -o fox.xml
 *
 * C = A * B. Each of the P ranks has a block of rows of A and a block of columns of B:
 *
 *     rank 0 sends them            P times:                           rank 0 collects the
 *     [A0]     [   |   |   ]       C[rows of A][columns] = A * B      blocks of columns of C
 *     [A1]  x  [B0 |B1 |B2 ]       A moves to the rank above
 *     [A2]     [   |   |   ]
 *
 * After P steps every block of rows has met every block of columns: P * P calls of dgemm. Blocks
 * differ by one row or column where P does not divide n.
 *
 * The product of two blocks is cblas_dgemm. The one below is plain and slow; with
 * `mpicc -O2 fox.c -lopenblas` that of OpenBLAS comes in its place.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112 };

void cblas_dgemm(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                 const double *a, int lda, const double *b, int ldb, double beta, double *c,
                 int ldc);

/* C = A * B^T in row-major order, which is all that is needed here. */
__attribute__((weak)) void cblas_dgemm(int order, int trans_a, int trans_b, int m, int n, int k,
                                       double alpha, const double *a, int lda, const double *b,
                                       int ldb, double beta, double *c, int ldc)
{
    (void)order, (void)trans_a, (void)trans_b;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;

            for (int l = 0; l < k; l++)
                sum += a[(size_t)i * lda + l] * b[(size_t)j * ldb + l];
            c[(size_t)i * ldc + j] = beta * c[(size_t)i * ldc + j] + alpha * sum;
        }
}

/* Block `r` of n things in `size` blocks: where it begins. Block `size` begins at n. */
static int begin(int n, int size, int r)
{
    return r * (n / size) + (r < n % size ? r : n % size);
}

static int share(int n, int size, int r)
{
    return begin(n, size, r + 1) - begin(n, size, r);
}

static double *matrix(int rows, int columns)
{
    double *m = calloc((size_t)rows * (size_t)columns + 1, sizeof(double));

    if (m == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return m;
}

/* Rank 0 has A by rows and B by columns, so that every block is in one piece. */
static void distribute(int n, int rank, int size, double *my_a, double *my_b)
{
    double *a, *b;

    if (rank > 0) {
        MPI_Recv(my_a, share(n, size, rank) * n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        MPI_Recv(my_b, share(n, size, rank) * n, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        return;
    }
    a = matrix(n, n);
    b = matrix(n, n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            a[i * n + j] = (i * n + j) % 13 - 4;
            b[j * n + i] = (i * n + j) % 17 - 5;
        }
    for (int r = 1; r < size; r++) {
        MPI_Send(a + (size_t)begin(n, size, r) * n, share(n, size, r) * n, MPI_DOUBLE, r, 0,
                 MPI_COMM_WORLD);
        MPI_Send(b + (size_t)begin(n, size, r) * n, share(n, size, r) * n, MPI_DOUBLE, r, 1,
                 MPI_COMM_WORLD);
    }
    for (int i = 0; i < share(n, size, 0) * n; i++) {
        my_a[i] = a[i];
        my_b[i] = b[i];
    }
    free(a);
    free(b);
}

/* A block of columns of C, each row of it in one piece. */
static void multiply(int n, int rank, int size, double *my_a, double *other, const double *my_b,
                     double *my_c)
{
    int up = (rank + size - 1) % size, down = (rank + 1) % size;
    int columns = share(n, size, rank);

    for (int step = 0; step < size; step++) {
        int owner = (rank + step) % size, next = (owner + 1) % size;
        int rows = share(n, size, owner);
        double *swap = my_a;

        cblas_dgemm(ROW_MAJOR, NO_TRANS, TRANS, rows, columns, n, 1.0, my_a, n, my_b, n, 0.0,
                    my_c + (size_t)begin(n, size, owner) * columns, columns);
        MPI_Sendrecv(my_a, rows * n, MPI_DOUBLE, up, 2, other, share(n, size, next) * n, MPI_DOUBLE,
                     down, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        my_a = other;
        other = swap;
    }
}

/* The trace and a checksum, from the columns that each rank has. */
static void collect(int n, int rank, int size, double *my_c)
{
    double *block = matrix(n, share(n, size, 0)), trace = 0, checksum = 0;

    if (rank > 0) {
        MPI_Send(my_c, n * share(n, size, rank), MPI_DOUBLE, 0, 3, MPI_COMM_WORLD);
        free(block);
        return;
    }
    for (int r = 0; r < size; r++) {
        int columns = share(n, size, r), first = begin(n, size, r);
        const double *c = r > 0 ? block : my_c;

        if (r > 0)
            MPI_Recv(block, n * columns, MPI_DOUBLE, r, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < columns; j++) {
                checksum += c[i * columns + j] * ((i * n + first + j) % 11);
                trace += i == first + j ? c[i * columns + j] : 0;
            }
    }
    printf("%d x %d product: trace %.0f, checksum %.0f\n", n, n, trace, checksum);
    free(block);
}

int main(int argc, char **argv)
{
    int n, rank, size;
    double *my_a, *my_b, *my_c, *other;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    n = argc > 1 ? atoi(argv[1]) : 200;
    my_a = matrix(share(n, size, 0), n); /* the largest block: all of them come by */
    other = matrix(share(n, size, 0), n);
    my_b = matrix(share(n, size, rank), n);
    my_c = matrix(n, share(n, size, rank));

    distribute(n, rank, size, my_a, my_b);
    multiply(n, rank, size, my_a, other, my_b, my_c);
    collect(n, rank, size, my_c);

    free(my_a);
    free(my_b);
    free(my_c);
    free(other);
    MPI_Finalize();
    return 0;
}
