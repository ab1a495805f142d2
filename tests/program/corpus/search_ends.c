/* SPDX-License-Identifier: BSD-3-Clause */
/* A search that finds nothing ends the program, with success. */
#include <mpi.h>
#include <stdlib.h>
static int v[3] = {1, 2, 3};
static int *find(int x)
{
    for (int i = 0; i < 3; i++)
        if (v[i] == x)
            return v + i;
    return NULL;
}
int main(int argc, char **argv)
{
    char b[100];
    MPI_Init(&argc, &argv);
    MPI_Bcast(b, 10, MPI_CHAR, 0, MPI_COMM_WORLD);
    int *p = find(7);
    if (p == NULL) {
        MPI_Finalize();
        exit(0);
    }
    MPI_Bcast(b, 20, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
