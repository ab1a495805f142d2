/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments by hand. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    int n = 8, big = 0;
    double factor = 1;
    char *data;
    MPI_Init(&argc, &argv);
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--big") == 0)
            big = 1;
        else if (strcmp(argv[i], "--factor") == 0 && i + 1 < argc)
            factor = atof(argv[++i]);
        else
            n = atoi(argv[i]);
    n = (int)(n * factor) * (big ? 100 : 1);
    data = calloc(n, 1);
    MPI_Bcast(data, n, MPI_CHAR, 0, MPI_COMM_WORLD);
    free(data);
    MPI_Finalize();
    return 0;
}
