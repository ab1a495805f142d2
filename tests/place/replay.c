/* SPDX-License-Identifier: BSD-3-Clause */
/* Send what a matrix says, in bytes: replay FILE, with one rank per row (TreeMatch .mat). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;
    double *matrix;
    char *out, *in;
    FILE *file;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    file = argc > 1 ? fopen(argv[1], "r") : NULL;
    matrix = malloc((size_t)size * (size_t)size * sizeof(*matrix));
    out = calloc(1, 1 << 20);
    in = malloc(1 << 20);
    if (file == NULL || matrix == NULL || out == NULL || in == NULL)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < size * size; i++)
        if (fscanf(file, "%lf", &matrix[i]) != 1)
            MPI_Abort(MPI_COMM_WORLD, 3);
    fclose(file);
    for (int step = 1; step < size; step++) {
        int to = (rank + step) % size, from = (rank + size - step) % size;
        int bytes = (int)matrix[rank * size + to], wanted = (int)matrix[from * size + rank];

        MPI_Sendrecv(out, bytes, MPI_CHAR, bytes > 0 ? to : MPI_PROC_NULL, 0, in, wanted, MPI_CHAR,
                     wanted > 0 ? from : MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    free(matrix);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
