/* SPDX-License-Identifier: BSD-3-Clause */
/* Time steps of real numbers end the loop; output every few steps. arguments: 0.35 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, step = 0, outputs = 0;
    double t = 0.0, t_end, dt, next_output = 0.1;
    const double cfl = 0.45, dx = 1.0 / 64, speed = 1.5;
    float field[64 * 8], halo[64];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    t_end = argc > 1 ? atof(argv[1]) : 0.2;
    dt = cfl * dx / speed;
    while (t < t_end) {
        if (t + dt > t_end)
            dt = t_end - t;
        MPI_Sendrecv(field, 64, MPI_FLOAT, (rank + 1) % size, step, halo, 64, MPI_FLOAT,
                     (rank + size - 1) % size, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        t += dt;
        step++;
        if (t >= next_output || fabs(t - t_end) < 1e-12) {
            next_output += 0.1;
            outputs++;
            MPI_Gather(field, 8 + outputs, MPI_FLOAT, rank ? NULL : field + 64, 8 + outputs,
                       MPI_FLOAT, 0, MPI_COMM_WORLD);
        }
    }
    if (rank == 0)
        printf("%d steps, %d outputs\n", step, outputs);
    MPI_Finalize();
    return 0;
}
