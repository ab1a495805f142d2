/* SPDX-License-Identifier: BSD-3-Clause */
/* All-to-all on a hypercube with doubling pieces. ranks: 4 8 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(argc, argv)
int argc;
char *argv[];
{
    int node, nodes, dim, d, n;
    double *block;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &node);
    MPI_Comm_size(MPI_COMM_WORLD, &nodes);
    for (dim = 0; (1 << dim) < nodes; dim++)
        ;
    if ((1 << dim) != nodes) {
        fprintf(stderr, "not a power of two\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    n = 32;
    block = malloc(n * nodes * sizeof(double));
    for (d = 0; d < dim; d++, n *= 2) {
        int partner = node ^ (1 << d);
        int mine = (node >> d) << d, other = (partner >> d) << d;

        if (node < partner) {
            MPI_Send(block + mine * 32, n, MPI_DOUBLE, partner, d, MPI_COMM_WORLD);
            MPI_Recv(block + other * 32, n, MPI_DOUBLE, partner, d, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(block + other * 32, n, MPI_DOUBLE, partner, d, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            MPI_Send(block + mine * 32, n, MPI_DOUBLE, partner, d, MPI_COMM_WORLD);
        }
    }
    free(block);
    MPI_Finalize();
    return 0;
}
