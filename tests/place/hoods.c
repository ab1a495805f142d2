/* SPDX-License-Identifier: BSD-3-Clause */
/* Four ranks and collectives in which each block is a message: on a ring of a grid 16 bytes each
 * way; in a graph 4 bytes between 0 and 1; in another 4 * (rank + 1) bytes two ranks on; and 4
 * bytes from each to each. */
#include <mpi.h>

static void on_grid(void)
{
    double out[4] = {0}, in[4];
    int dims[1] = {4}, periods[1] = {1};
    MPI_Comm ring;

    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring);
    MPI_Neighbor_alltoall(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, ring);
    MPI_Comm_free(&ring);
}

static void on_graph(void)
{
    int index[4] = {1, 2, 2, 2}, edges[2] = {1, 0}, own = 0, in[1];
    MPI_Comm pair;

    MPI_Graph_create(MPI_COMM_WORLD, 4, index, edges, 0, &pair);
    MPI_Neighbor_allgather(&own, 1, MPI_INT, in, 1, MPI_INT, pair);
    MPI_Comm_free(&pair);
}

static void on_edges(int rank)
{
    int other = (rank + 2) % 4, out[4] = {0}, in[4], zero = 0, mine = rank + 1, its = other + 1;
    MPI_Comm across;
    MPI_Request request;

    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &other, MPI_UNWEIGHTED, 1, &other,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &across);
    MPI_Ineighbor_alltoallv(out, &mine, &zero, MPI_INT, in, &its, &zero, MPI_INT, across, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&across);
}

static void with_types(void)
{
    int out[4] = {0}, in[4], counts[4] = {1, 1, 1, 1}, offsets[4] = {0, 4, 8, 12};
    MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};

    MPI_Alltoallw(out, counts, offsets, types, in, counts, offsets, types, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    on_grid();
    on_graph();
    on_edges(rank);
    with_types();
    MPI_Finalize();
    return 0;
}
