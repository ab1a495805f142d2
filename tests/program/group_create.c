/* SPDX-License-Identifier: BSD-3-Clause */
/* A communicator from a group of every second rank. */
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int size, *ranks, n = 0, x = 0;
    MPI_Group world, some;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    ranks = malloc(size * sizeof(int));
    for (int r = 0; r < size; r += 2)
        ranks[n++] = size - 1 - r;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, n, ranks, &some);
    MPI_Comm_create(MPI_COMM_WORLD, some, &comm);
    if (comm != MPI_COMM_NULL) {
        MPI_Bcast(&x, 1, MPI_INT, n - 1, comm);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&some);
    MPI_Group_free(&world);
    free(ranks);
    MPI_Finalize();
    return 0;
}
