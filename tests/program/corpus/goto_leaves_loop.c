/* SPDX-License-Identifier: BSD-3-Clause */
/* A goto that leaves a loop at its end. */
#include <mpi.h>
int main(int argc, char **argv)
{
    char x[10];
    int i = 0;
    MPI_Init(&argc, &argv);
    while (i < 10) {
        MPI_Bcast(x, 8, MPI_CHAR, 0, MPI_COMM_WORLD);
        i++;
        if (i == 3)
            goto out;
    }
out:
    MPI_Finalize();
    return 0;
}
