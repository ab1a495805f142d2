/* SPDX-License-Identifier: BSD-3-Clause */
/* A goto ends the iteration where data has converged. expect: asked */
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    double r[100];
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 100; i++)
        r[i] = 100 - i;
    for (int it = 0; it < 50; it++) {
        for (int i = 0; i < 100; i++)
            r[i] *= 0.5;
        MPI_Bcast(r, 10, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (r[0] < 1)
            goto done;
    }
done:
    MPI_Finalize();
    return 0;
}
