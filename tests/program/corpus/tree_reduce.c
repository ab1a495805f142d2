/* SPDX-License-Identifier: BSD-3-Clause */
/* A reduction by hand over a binomial tree, with a function for the operation. */
#include <mpi.h>
#include <stdlib.h>

typedef void (*combine_t)(double *, const double *, int);

static void add(double *a, const double *b, int n)
{
    while (n-- > 0)
        *a++ += *b++;
}

static void largest(double *a, const double *b, int n)
{
    for (; n > 0; n--, a++, b++)
        if (*b > *a)
            *a = *b;
}

static void tree(double *x, int n, combine_t op, int root, MPI_Comm comm)
{
    int rank, size, mask, relative;
    double *other = malloc(n * sizeof *other);

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    relative = (rank - root + size) % size;
    for (mask = 1; mask < size; mask <<= 1) {
        if (relative & mask) {
            MPI_Send(x, n, MPI_DOUBLE, ((relative & ~mask) + root) % size, 11, comm);
            break;
        }
        if ((relative | mask) < size) {
            MPI_Recv(other, n, MPI_DOUBLE, ((relative | mask) + root) % size, 11, comm,
                     MPI_STATUS_IGNORE);
            op(x, other, n);
        }
    }
    free(other);
}

int main(int argc, char **argv)
{
    combine_t ops[] = {add, largest, NULL};
    double x[64] = {0};

    MPI_Init(&argc, &argv);
    for (int i = 0; ops[i]; i++)
        tree(x, 16 << i, ops[i], i, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
