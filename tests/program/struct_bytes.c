/* SPDX-License-Identifier: BSD-3-Clause */
/* A struct that is sent as bytes, some of whose members nothing needs. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
typedef struct {
    int nx, ny, steps;
    double cfl;
    char name[32];
} config;
int main(int argc, char **argv)
{
    config c;
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        memset(&c, 0, sizeof c);
        c.nx = argc > 1 ? atoi(argv[1]) : 10;
        c.ny = argc > 2 ? atoi(argv[2]) : 12;
        c.steps = 4;
        c.cfl = argc > 3 ? atof(argv[3]) : 0.9;
        strcpy(c.name, "run");
    }
    MPI_Bcast(&c, sizeof c, MPI_BYTE, 0, MPI_COMM_WORLD);
    double *u = calloc(c.nx * c.ny, sizeof(double));
    int sub = (int)(1.0 / c.cfl);
    for (int s = 0; s < c.steps * sub; s++)
        MPI_Sendrecv_replace(u, c.nx, MPI_DOUBLE, (rank + 1) % size, 0, (rank - 1 + size) % size, 0,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
