/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbours of a graph tell each other how much they will send. ranks: 2 5 */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, out, in, done = 0;
    MPI_Comm graph, copy;
    MPI_Request requests[2];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int from[2] = {(rank + size - 1) % size, 0}, to[3] = {(rank + 1) % size};
    int froms = 1 + (rank > 0), tos = 1;

    if (rank == 0)
        for (int r = 1; r < size && tos < 3; r++)
            to[tos++] = r;
    if (rank > 2)
        froms = 1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, froms, from, MPI_UNWEIGHTED, tos, to,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Comm_dup(graph, &copy);
    int lengths[2] = {0, 0}, places[2] = {0, 500}, own[3], at[3] = {0, 100, 200};
    char mine[1000] = {0}, theirs[1000];

    out = 10 * rank + 7;
    MPI_Neighbor_allgather(&out, 1, MPI_INT, lengths, 1, MPI_INT, copy);
    for (int i = 0; i < tos; i++)
        own[i] = out;
    MPI_Ineighbor_alltoallv(mine, own, at, MPI_CHAR, theirs, lengths, places, MPI_CHAR, graph,
                            &requests[0]);
    MPI_Ineighbor_allgatherv(mine, out, MPI_CHAR, theirs, lengths, places, MPI_CHAR, copy,
                             &requests[1]);
    while (!done)
        MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
    in = lengths[0] + lengths[1];
    MPI_Send(mine, in, MPI_CHAR, (rank + 1) % size, 3, MPI_COMM_WORLD);
    MPI_Recv(theirs, 1000, MPI_CHAR, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&graph);
    MPI_Finalize();
    return 0;
}
