/* SPDX-License-Identifier: BSD-3-Clause */
/* Grids and graphs. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

static void check_dims(int nnodes, int ndims, const char *expected)
{
    int dims[8] = {0};
    char text[128] = "";

    MPI_Dims_create(nnodes, ndims, dims);
    for (int i = 0; i < ndims; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d", i ? " " : "", dims[i]);
    if (strcmp(text, expected) != 0)
        fprintf(stderr, "%d nodes in %d dimensions: %s, expected %s\n", nnodes, ndims, text,
                expected);
    CHECK(strcmp(text, expected) == 0);
}

/* Every factorisation multiplies to n, does not increase, and no flatter one exists. */
static void check_best(int n)
{
    int dims[3] = {0};

    MPI_Dims_create(n, 3, dims);
    CHECK_EQUAL(dims[0] * dims[1] * dims[2], n);
    CHECK(dims[0] >= dims[1] && dims[1] >= dims[2]);
    for (int a = 1; a < dims[0]; a++)
        for (int b = 1; n % a == 0 && b <= a; b++)
            CHECK(n / a % b != 0 || n / a / b > b);
}

static void check_all_dims(void)
{
    int fixed[3] = {0, 5, 0};

    check_dims(16, 3, "4 2 2");
    check_dims(6, 3, "3 2 1");
    check_dims(12, 2, "4 3");
    check_dims(7, 2, "7 1");
    check_dims(1, 3, "1 1 1");
    check_dims(4096, 3, "16 16 16");
    check_dims(2147483647, 2, "2147483647 1");
    check_dims(72, 3, "6 4 3");
    MPI_Dims_create(60, 3, fixed);
    CHECK(fixed[0] == 4 && fixed[1] == 5 && fixed[2] == 3);
    for (int n = 1; n <= 128; n++)
        check_best(n);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_EQUAL(MPI_Dims_create(61, 3, fixed), MPI_ERR_DIMS);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

static void check_grid(MPI_Comm grid, const int *dims, const int *periods)
{
    int rank, ndims, found_dims[3], found_periods[3], coords[3], back, source, dest, kind;

    MPI_Topo_test(grid, &kind);
    CHECK_EQUAL(kind, MPI_CART);
    MPI_Cartdim_get(grid, &ndims);
    CHECK_EQUAL(ndims, 3);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_get(grid, 3, found_dims, found_periods, coords);
    CHECK_EQUAL(rank, (coords[0] * dims[1] + coords[1]) * dims[2] + coords[2]);
    MPI_Cart_rank(grid, coords, &back);
    CHECK_EQUAL(back, rank);
    for (int d = 0; d < 3; d++) {
        CHECK_EQUAL(found_dims[d], dims[d]);
        CHECK_EQUAL(found_periods[d], periods[d]);
        for (int disp = -3; disp <= 3; disp++) {
            int there[3], to = coords[d] + disp;
            MPI_Cart_shift(grid, d, disp, &source, &dest);
            if (!periods[d] && (to < 0 || to >= dims[d])) {
                CHECK_EQUAL(dest, MPI_PROC_NULL);
                continue;
            }
            MPI_Cart_coords(grid, dest, 3, there);
            for (int e = 0; e < 3; e++)
                CHECK_EQUAL(there[e], e == d ? ((to % dims[d]) + dims[d]) % dims[d] : coords[e]);
        }
    }
}

static void check_cart(int p)
{
    int dims[3] = {0, 0, 0}, periods[3] = {1, 0, 1}, remain[3] = {1, 0, 1}, size, coords[3], sub[2];
    MPI_Comm grid, copy, plane, point;

    MPI_Dims_create(p > 1 ? p - 1 : p, 3, dims); /* one rank is left out */
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 1, &grid);
    if (grid == MPI_COMM_NULL)
        return;
    check_grid(grid, dims, periods);
    MPI_Comm_dup(grid, &copy);
    MPI_Cart_sub(grid, remain, &plane);
    MPI_Comm_free(&grid);
    check_grid(copy, dims, periods);
    MPI_Comm_size(plane, &size);
    CHECK_EQUAL(size, dims[0] * dims[2]);
    MPI_Cart_get(copy, 3, dims, periods, coords);
    MPI_Cart_get(plane, 2, dims, periods, sub);
    CHECK(sub[0] == coords[0] && sub[1] == coords[2]);
    CHECK(periods[0] == 1 && periods[1] == 1);
    MPI_Cart_sub(plane, (int[]){0, 0}, &point);
    MPI_Comm_size(point, &size);
    CHECK_EQUAL(size, 1);
    MPI_Comm_free(&point);
    MPI_Comm_free(&plane);
    MPI_Comm_free(&copy);
}

/* A ring, as a graph that all know. */
static void check_graph(int p, int me)
{
    int *index = malloc((size_t)p * sizeof(int)), *edges = malloc(2 * (size_t)p * sizeof(int));
    int count, found[2], nodes, all;
    MPI_Comm ring;

    for (int r = 0; r < p; r++) {
        index[r] = 2 * (r + 1);
        edges[2 * r] = (r + p - 1) % p;
        edges[2 * r + 1] = (r + 1) % p;
    }
    MPI_Graph_create(MPI_COMM_WORLD, p, index, edges, 0, &ring);
    MPI_Graphdims_get(ring, &nodes, &all);
    CHECK(nodes == p && all == 2 * p);
    MPI_Graph_neighbors_count(ring, me, &count);
    CHECK_EQUAL(count, 2);
    MPI_Graph_neighbors(ring, (me + 1) % p, 2, found);
    CHECK(found[0] == me && found[1] == (me + 2) % p);
    MPI_Comm_free(&ring);
    free(index);
    free(edges);
}

/* Rank r sends to r + 1 and to 0. First everybody says its own edges, then rank 0 says them all. */
static void check_dist(int p, int me)
{
    int out[2] = {(me + 1) % p, 0}, weights[2] = {me, 100 + me};
    int in, degree, weighted, *sources, *source_weights, found[2], found_weights[2];
    int *heads = malloc((size_t)p * sizeof(int)), *two = malloc((size_t)p * sizeof(int));
    int *ends = malloc(2 * (size_t)p * sizeof(int));
    MPI_Comm graph;

    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &me, (int[]){2}, out, weights, MPI_INFO_NULL, 0,
                          &graph);
    MPI_Dist_graph_neighbors_count(graph, &in, &degree, &weighted);
    CHECK(degree == 2 && weighted && in == (me == 0 ? p + 1 : 1));
    sources = malloc((size_t)in * sizeof(int));
    source_weights = malloc((size_t)in * sizeof(int));
    MPI_Dist_graph_neighbors(graph, in, sources, source_weights, 2, found, found_weights);
    CHECK(found[0] == out[0] && found[1] == 0);
    CHECK(found_weights[0] == me && found_weights[1] == 100 + me);
    for (int i = 0; i < in; i++)
        CHECK(source_weights[i] % 100 == sources[i] % 100 || p > 100);
    MPI_Comm_free(&graph);
    for (int r = 0; r < p; r++) {
        heads[r] = r;
        two[r] = 2;
        ends[2 * r] = (r + 1) % p;
        ends[2 * r + 1] = 0;
    }
    MPI_Dist_graph_create(MPI_COMM_WORLD, me == 0 ? p : 0, heads, two, ends, MPI_UNWEIGHTED,
                          MPI_INFO_NULL, 0, &graph);
    MPI_Dist_graph_neighbors_count(graph, &in, &degree, &weighted);
    CHECK(degree == 2 && !weighted && in == (me == 0 ? p + 1 : 1));
    MPI_Comm_free(&graph);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, (int[]){(me + p - 1) % p}, MPI_UNWEIGHTED, 1,
                                   out, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Dist_graph_neighbors(graph, 1, found, MPI_UNWEIGHTED, 1, found + 1, MPI_UNWEIGHTED);
    CHECK(found[0] == (me + p - 1) % p && found[1] == out[0]);
    CHECK_EQUAL(MPI_Dist_graph_neighbors(graph, 0, NULL, NULL, 0, NULL, NULL), MPI_SUCCESS);
    MPI_Comm_free(&graph);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* their sum is no int */
    CHECK_EQUAL(MPI_Dist_graph_create(MPI_COMM_SELF, 2, (int[]){0, 0},
                                      (int[]){2147483647, 2147483647}, ends, MPI_UNWEIGHTED,
                                      MPI_INFO_NULL, 0, &graph),
                MPI_ERR_ARG);
    free(sources);
    free(source_weights);
    free(heads);
    free(two);
    free(ends);
}

int main(int argc, char **argv)
{
    int p, me, kind;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Topo_test(MPI_COMM_WORLD, &kind);
    CHECK_EQUAL(kind, MPI_UNDEFINED);
    if (me == 0)
        check_all_dims();
    check_cart(p);
    check_graph(p, me);
    check_dist(p, me);
    MPI_Finalize();
    return 0;
}
