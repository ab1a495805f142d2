/* SPDX-License-Identifier: BSD-3-Clause */
/* A do loop, and a loop whose bounds are floating-point numbers. */
#include <mpi.h>
int main(int argc, char **argv)
{
    double t = 0, dt = 0.125, x[3] = {0};
    int n = 5;
    MPI_Init(&argc, &argv);
    do {
        MPI_Barrier(MPI_COMM_WORLD);
        n--;
    } while (n > 0);
    while (t < 1.0) {
        MPI_Bcast(x, 3, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        t += dt;
    }
    MPI_Finalize();
    return 0;
}
