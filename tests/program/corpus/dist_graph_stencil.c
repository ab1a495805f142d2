/* SPDX-License-Identifier: BSD-3-Clause */
/* A stencil as a distributed graph: neighbourhood collectives with lengths and displacements.
 * ranks: 4 6 */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, n = 0, nb[4], w[4] = {1, 1, 1, 1};
    MPI_Comm g;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0)
        nb[n++] = rank - 1;
    if (rank < size - 1)
        nb[n++] = rank + 1;
    if (rank >= 2 && rank % 2 == 0)
        nb[n++] = rank - 2;
    if (rank + 2 < size && rank % 2 == 0)
        nb[n++] = rank + 2;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n, nb, w, n, nb, w, MPI_INFO_NULL, 0, &g);
    int lengths[4], got[4], sd[4], rd[4], total = 0;
    for (int i = 0; i < n; i++) {
        lengths[i] = 5 + rank + i;
        sd[i] = 20 * i;
    }
    MPI_Neighbor_alltoall(lengths, 1, MPI_INT, got, 1, MPI_INT, g);
    for (int i = 0; i < n; i++) {
        rd[i] = total;
        total += got[i];
    }
    double *out = calloc(80, sizeof(double)), *in = malloc((total + 1) * sizeof(double));
    MPI_Neighbor_alltoallv(out, lengths, sd, MPI_DOUBLE, in, got, rd, MPI_DOUBLE, g);
    MPI_Request r;
    MPI_Ineighbor_allgather(out, 3, MPI_DOUBLE, in, 3, MPI_DOUBLE, g, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    free(out);
    free(in);
    MPI_Comm_free(&g);
    MPI_Finalize();
    return 0;
}
