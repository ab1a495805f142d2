/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem_replace keeps members and topologies, and goes on counting from call to call. */
#include <stdlib.h>
#include <xylem_mpi.h>

#include "check.h"

static void check_members(MPI_Comm a, MPI_Comm b)
{
    int same;

    MPI_Comm_compare(a, b, &same);
    CHECK(same == MPI_SIMILAR || same == MPI_CONGRUENT);
}

/* Everybody sends to the one `step` behind, on `comm`. */
static void talk(MPI_Comm comm, int step)
{
    char out[3000] = {0}, in[3000];
    int rank, size;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Sendrecv(out, sizeof out, MPI_CHAR, (rank + step) % size, 1, in, sizeof in, MPI_CHAR,
                 (rank + size - step) % size, 1, comm, MPI_STATUS_IGNORE);
}

static void check_grid(int p)
{
    int dims[2] = {p, 1}, periods[2] = {1, 0}, coords[2], rank, source, dest, found[2], cyclic[2];
    MPI_Comm grid, near;

    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    talk(grid, p / 2);
    CHECK_EQUAL(xylem_replace(grid, &near), MPI_SUCCESS);
    check_members(grid, near);
    MPI_Comm_rank(near, &rank);
    MPI_Cart_get(near, 2, found, cyclic, coords);
    CHECK(found[0] == p && found[1] == 1 && cyclic[0] && !cyclic[1]);
    CHECK(coords[0] == rank && coords[1] == 0);
    MPI_Cart_shift(near, 0, 1, &source, &dest);
    CHECK(dest == (rank + 1) % p && source == (rank + p - 1) % p);
    MPI_Comm_free(&grid);
    talk(near, 1);
    MPI_Comm_free(&near);
}

static void check_graph(int p, int me)
{
    int to = (me + 1) % p, from = (me + p - 1) % p, weight = me + 5, in_weight = from + 5;
    int in[1], out[1], in_found[1], out_found[1], rank;
    MPI_Comm graph, near;

    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, &in_weight, 1, &to, &weight,
                                   MPI_INFO_NULL, 0, &graph);
    talk(graph, p / 2);
    CHECK_EQUAL(xylem_replace(graph, &near), MPI_SUCCESS);
    MPI_Comm_free(&graph);
    MPI_Comm_rank(near, &rank);
    MPI_Dist_graph_neighbors(near, 1, in, in_found, 1, out, out_found);
    CHECK(out[0] == (rank + 1) % p && out_found[0] == rank + 5);
    CHECK(in[0] == (rank + p - 1) % p && in_found[0] == in[0] + 5);
    MPI_Comm_free(&near);
}

int main(int argc, char **argv)
{
    MPI_Comm now = MPI_COMM_WORLD, next, half;
    int p, me;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    /* Patterns that change, on communicators made from one another. */
    for (int round = 0; round < 6; round++) {
        CHECK_EQUAL(xylem_replace(now, &next), MPI_SUCCESS);
        check_members(now, next);
        if (now != MPI_COMM_WORLD)
            MPI_Comm_free(&now);
        now = next;
        talk(now, 1 + round % p);
    }
    MPI_Comm_free(&now);
    check_grid(p);
    check_graph(p, me);
    /* Some of the ranks only. */
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
    talk(half, 1);
    CHECK_EQUAL(xylem_replace(half, &next), MPI_SUCCESS);
    check_members(half, next);
    MPI_Comm_free(&half);
    MPI_Comm_free(&next);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_EQUAL(xylem_replace(MPI_COMM_SELF, NULL), MPI_ERR_ARG);
    MPI_Finalize();
    return 0;
}
