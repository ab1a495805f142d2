/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Topologies whose ranks may be reordered: neighbours are right afterwards, whoever has got which
 * number. With an argument N, ranks are thought to be N to a node, and rank 0 prints how many edges
 * leave a node.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"

static int per_node;

/* Every number is somebody's: the sum of squares is that of 0 .. size - 1. */
static void check_numbers(MPI_Comm comm)
{
    long rank = 0, size = 0, sum[2];
    int r, p;

    MPI_Comm_rank(comm, &r);
    MPI_Comm_size(comm, &p);
    rank = r, size = p;
    MPI_Allreduce((long[]){rank, rank * rank}, sum, 2, MPI_LONG, MPI_SUM, comm);
    CHECK_EQUAL(sum[0], size * (size - 1) / 2);
    CHECK_EQUAL(sum[1], (size - 1) * size * (2 * size - 1) / 6);
}

/* How many of the edges to `neighbors` leave the node. */
static void report(const char *what, MPI_Comm comm, int count, const int *neighbors)
{
    int mine = 0, all, rank, size, world, *worlds;

    if (per_node == 0)
        return;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    worlds = malloc((size_t)size * sizeof(int));
    MPI_Allgather(&world, 1, MPI_INT, worlds, 1, MPI_INT, comm);
    for (int i = 0; i < count; i++)
        if (neighbors[i] >= 0 && worlds[neighbors[i]] / per_node != world / per_node)
            mine++;
    MPI_Reduce(&mine, &all, 1, MPI_INT, MPI_SUM, 0, comm);
    if (rank == 0)
        printf("%s: %d\n", what, all);
    fflush(stdout);
    MPI_Barrier(comm);
    free(worlds);
}

/* Send each neighbour this rank and where it is meant to stand; what comes in must be theirs. */
static void exchange(MPI_Comm comm, int count, const int *neighbors)
{
    MPI_Request *requests = malloc((size_t)(2 * count + 1) * sizeof(MPI_Request));
    int *in = malloc((size_t)(count + 1) * sizeof(int)), rank;

    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < count; i++) {
        MPI_Irecv(&in[i], 1, MPI_INT, neighbors[i], 0, comm, &requests[2 * i]);
        MPI_Isend(&rank, 1, MPI_INT, neighbors[i], 0, comm, &requests[2 * i + 1]);
    }
    MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; i++)
        CHECK(neighbors[i] == MPI_PROC_NULL || in[i] == neighbors[i]);
    free(requests);
    free(in);
}

/* A rank finds itself and its neighbours where the numbers say. */
static void check_grid(MPI_Comm grid, int ndims, const int *dims, const int *periods,
                       const char *what)
{
    int rank, back, coords[3], neighbors[6], wanted[3];

    check_numbers(grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, ndims, coords);
    MPI_Cart_rank(grid, coords, &back);
    CHECK_EQUAL(back, rank);
    for (int d = ndims - 1, rest = rank; d >= 0; rest /= dims[d--])
        CHECK_EQUAL(coords[d], rest % dims[d]);
    for (int d = 0; d < ndims; d++)
        MPI_Cart_shift(grid, d, 1, &neighbors[2 * d], &neighbors[2 * d + 1]);
    for (int i = 0; i < 2 * ndims; i++) {
        int d = i / 2, to = coords[d] + (i % 2 ? 1 : -1);

        memcpy(wanted, coords, sizeof coords);
        wanted[d] = (to + dims[d]) % dims[d];
        MPI_Cart_rank(grid, wanted, &back);
        CHECK_EQUAL(neighbors[i], to != wanted[d] && !periods[d] ? MPI_PROC_NULL : back);
    }
    for (int d = 0; d < ndims; d++) /* both ways, or the two of a ring of 2 would be one */
        if (dims[d] > 2 || !periods[d])
            exchange(grid, 2, &neighbors[2 * d]);
    report(what, grid, 2 * ndims, neighbors);
}

/* The map says beforehand what the communicator then does. */
static void check_cart(MPI_Comm comm, int ndims, const int *dims, const int *periods, int reorder,
                       const char *what)
{
    int mapped = -1, rank = MPI_UNDEFINED, old, points = 1;
    MPI_Comm grid;

    for (int d = 0; d < ndims; d++)
        points *= dims[d];
    MPI_Cart_map(comm, ndims, dims, periods, &mapped);
    MPI_Cart_create(comm, ndims, dims, periods, reorder, &grid);
    MPI_Comm_rank(comm, &old);
    if (grid != MPI_COMM_NULL)
        MPI_Comm_rank(grid, &rank);
    CHECK_EQUAL(rank, reorder ? mapped : old < points ? old : MPI_UNDEFINED);
    if (grid == MPI_COMM_NULL)
        return;
    check_grid(grid, ndims, dims, periods, what);
    MPI_Comm_free(&grid);
}

static void check_carts(int p, int reorder)
{
    int flat[2] = {p >= 2 ? 2 : 1, p >= 2 ? p / 2 : 1}, box[3] = {p >= 8 ? p / 8 : 1, 2, 4};
    int part = per_node; /* other grids are not reported */

    check_cart(MPI_COMM_WORLD, 2, flat, (int[]){0, 0}, reorder,
               reorder ? "cart, reordered" : "cart");
    per_node = 0;
    check_cart(MPI_COMM_WORLD, 1, &p, (int[]){1}, reorder, "");
    check_cart(MPI_COMM_WORLD, 2, flat, (int[]){0, 1}, reorder, "");
    if (p >= 8)
        check_cart(MPI_COMM_WORLD, 3, box, (int[]){1, 0, 1}, reorder, "");
    check_cart(MPI_COMM_WORLD, 2, (int[]){1, (p + 2) / 3}, (int[]){1, 1}, reorder, "");
    check_cart(MPI_COMM_SELF, 2, (int[]){1, 1}, (int[]){1, 0}, reorder, "");
    check_cart(MPI_COMM_SELF, 0, NULL, NULL, reorder, "");
    per_node = part;
}

/* A map is a local call: one rank alone may ask. */
static void check_map_alone(int p, int me)
{
    int mapped = -1;

    if (me == p - 1)
        MPI_Cart_map(MPI_COMM_WORLD, 1, &p, (int[]){0}, &mapped);
    CHECK(me != p - 1 || (mapped >= 0 && mapped < p));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Pairs at a distance of half the ranks; p is even. */
static void check_graph(int p, int reorder)
{
    int *index = malloc((size_t)p * sizeof(int)), *edges = malloc((size_t)p * sizeof(int));
    int found, mapped, rank;
    MPI_Comm pairs;

    for (int r = 0; r < p; r++) {
        index[r] = r + 1;
        edges[r] = (r + p / 2) % p;
    }
    MPI_Graph_map(MPI_COMM_WORLD, p, index, edges, &mapped);
    MPI_Graph_create(MPI_COMM_WORLD, p, index, edges, reorder, &pairs);
    if (pairs != MPI_COMM_NULL) {
        check_numbers(pairs);
        MPI_Comm_rank(pairs, &rank);
        CHECK(!reorder || rank == mapped);
        MPI_Graph_neighbors(pairs, rank, 1, &found);
        CHECK_EQUAL(found, edges[rank]);
        exchange(pairs, 1, &found);
        report(reorder ? "graph, reordered" : "graph", pairs, 1, &found);
        MPI_Comm_free(&pairs);
    }
    free(index);
    free(edges);
}

/* A node's list and weights go with its number: a light ring and heavy pairs. */
static void check_dist(int p, int me, int adjacent, int reorder)
{
    int to[2] = {(me + 1) % p, (me + p / 2) % p}, from[2] = {(me + p - 1) % p, (me + p / 2) % p};
    int weights[2] = {1 + me, 100000 + me}, in_weights[2] = {1 + from[0], 100000 + from[1]};
    int in[2], out[2], in_found[2], out_found[2], rank, indegree, outdegree, weighted;
    char what[64];
    MPI_Comm graph;

    if (adjacent)
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, in_weights, 2, to, weights,
                                       MPI_INFO_NULL, reorder, &graph);
    else
        MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &me, (int[]){2}, to, weights, MPI_INFO_NULL,
                              reorder, &graph);
    check_numbers(graph);
    MPI_Comm_rank(graph, &rank);
    MPI_Dist_graph_neighbors_count(graph, &indegree, &outdegree, &weighted);
    CHECK(indegree == 2 && outdegree == 2 && weighted);
    MPI_Dist_graph_neighbors(graph, 2, in, in_found, 2, out, out_found);
    CHECK(out[0] == (rank + 1) % p && out[1] == (rank + p / 2) % p);
    CHECK(out_found[0] == 1 + rank && out_found[1] == 100000 + rank);
    for (int i = 0; i < 2; i++)
        CHECK(in_found[i] == in[i] + (in_found[i] < 100000 ? 1 : 100000));
    exchange(graph, 1, &out[1]);
    snprintf(what, sizeof what, "%s%s", adjacent ? "adjacent" : "distributed",
             reorder ? ", reordered" : "");
    report(what, graph, 1, &out[1]);
    MPI_Comm_free(&graph);
}

/* A graph of one node that is its own neighbour. */
static void check_one(int reorder)
{
    int self = 0, one = 1, rank, found = -1, mapped = -1;
    MPI_Comm graph;

    MPI_Graph_map(MPI_COMM_SELF, 1, &one, &self, &mapped);
    CHECK_EQUAL(mapped, 0);
    MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, &self, MPI_UNWEIGHTED, 1, &self,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, reorder, &graph);
    MPI_Comm_rank(graph, &rank);
    MPI_Dist_graph_neighbors(graph, 1, &found, MPI_UNWEIGHTED, 1, &self, MPI_UNWEIGHTED);
    CHECK(rank == 0 && found == 0 && self == 0);
    MPI_Comm_free(&graph);
}

int main(int argc, char **argv)
{
    int p, me;

    MPI_Init(&argc, &argv);
    per_node = argc > 1 ? atoi(argv[1]) : 0;
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int reorder = 0; reorder < 2; reorder++) {
        check_carts(p, reorder);
        check_map_alone(p, me);
        check_one(reorder);
        if (p % 2 == 0) {
            check_graph(p, reorder);
            check_dist(p, me, 0, reorder);
            check_dist(p, me, 1, reorder);
        }
    }
    MPI_Finalize();
    return 0;
}
