/* SPDX-License-Identifier: BSD-3-Clause */
/* A function that leaves by one clean-up label. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *a = malloc(100 * sizeof(double)), *b = NULL;
    int error = 0;

    if (size < 2) {
        error = 1;
        goto end;
    }
    b = malloc(50 * sizeof(double));
    if (a == NULL || b == NULL)
        goto end;
    MPI_Bcast(a, 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (size > 3)
        goto end;
    MPI_Bcast(b, 50, MPI_DOUBLE, 0, MPI_COMM_WORLD);
end:
    MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    free(a);
    free(b);
    MPI_Finalize();
    return 0;
}
