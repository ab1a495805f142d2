/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment is not set. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *text = getenv("XYLEM_TEST_NOT_SET");
    int n = text != NULL ? atoi(text) : 25;
    char data[64] = {0};

    MPI_Bcast(data, n, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
