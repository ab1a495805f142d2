/* SPDX-License-Identifier: BSD-3-Clause */
/* A random number decides whether a function returns early. expect: asked */
#include <mpi.h>
#include <stdlib.h>
static char b[100];
static void maybe(void)
{
    if (rand() % 2 == 1)
        return;
    MPI_Bcast(b, 10, MPI_CHAR, 0, MPI_COMM_WORLD);
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    maybe();
    maybe();
    maybe();
    MPI_Finalize();
    return 0;
}
