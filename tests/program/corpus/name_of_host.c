/* SPDX-License-Identifier: BSD-3-Clause */
/* The text that gethostname() writes is not known. expect: asked */
#include <mpi.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char name[64];

    strcpy(name, "nobody");
    gethostname(name, 64);
    MPI_Bcast(name, (int)strlen(name) + 1, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
