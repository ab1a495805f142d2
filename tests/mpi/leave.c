/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank that has given its part of a small rooted collective leaves, whatever the others do: one
 * rank calls the collective only after it has got a message that was sent by a rank that has left
 * it. Nothing here depends on time: without leaving early no rank could continue. Collectives
 * without data wait for no rank at all. */
#include "check.h"

#include <stdlib.h>

enum { AHEAD = 3 };

static int rank, size;
static MPI_Comm world = MPI_COMM_WORLD;

static void give(int to)
{
    MPI_Send(NULL, 0, MPI_BYTE, to, 7, world);
}

static void await(int from)
{
    MPI_Recv(NULL, 0, MPI_BYTE, from, 7, world, MPI_STATUS_IGNORE);
}

/* Each collective with root `root`, as often as a rank may run ahead. */
static void bcast(int root, MPI_Comm comm)
{
    for (int i = 0; i < AHEAD; i++) {
        long v = rank == root ? root * 10 + i : -1;

        MPI_Bcast(&v, 1, MPI_LONG, root, comm);
        CHECK(v == root * 10 + i);
    }
}

static void scatter(int root, MPI_Comm comm)
{
    int *all = malloc((size_t)size * sizeof(int));

    for (int i = 0; i < AHEAD; i++) {
        int own = -1;

        for (int r = 0; r < size; r++)
            all[r] = r * 3 + i;
        MPI_Scatter(all, 1, MPI_INT, &own, 1, MPI_INT, root, comm);
        CHECK(own == rank * 3 + i);
    }
    free(all);
}

static void reduce(int root, MPI_Comm comm)
{
    for (int i = 0; i < AHEAD; i++) {
        long v = rank + i, sum = -1;

        MPI_Reduce(&v, &sum, 1, MPI_LONG, MPI_SUM, root, comm);
        v = -1; /* it was left */
        CHECK(rank != root || sum == (long)size * (size - 1) / 2 + (long)i * size);
    }
}

static void gather(int root, MPI_Comm comm)
{
    int *all = malloc((size_t)size * sizeof(int));

    for (int i = 0; i < AHEAD; i++) {
        int v = rank * 5 + i;

        MPI_Gather(&v, 1, MPI_INT, all, 1, MPI_INT, root, comm);
        v = -1;
        for (int r = 0; r < size && rank == root; r++)
            CHECK(all[r] == r * 5 + i);
    }
    free(all);
}

/* The blocks differ; the last rank's is the longest. */
static void gatherv(int root, MPI_Comm comm)
{
    int *counts = malloc(2 * (size_t)size * sizeof(int)), *displs = counts + size;
    int *all = malloc(3 * (size_t)size * sizeof(int)), own[2];

    for (int i = 0; i < AHEAD; i++) {
        for (int r = 0; r < size; r++) {
            counts[r] = 1 + r % 2;
            displs[r] = 3 * r;
        }
        own[0] = rank * 5 + i;
        own[1] = -rank;
        MPI_Gatherv(own, counts[rank], MPI_INT, all, counts, displs, MPI_INT, root, comm);
        own[0] = own[1] = -1;
        for (int r = 0; r < size && rank == root; r++)
            CHECK(all[3 * r] == r * 5 + i && (counts[r] == 1 || all[3 * r + 1] == -r));
    }
    free(counts);
    free(all);
}

typedef void (*collective_fn)(int root, MPI_Comm comm);

/* `leaver` leaves, and then notifies `late`, which has not called yet. */
static void around(collective_fn collective, int root, int leaver, int late)
{
    if (rank == late)
        await(leaver);
    collective(root, world);
    if (rank == leaver)
        give(late);
}

/* The leaver frees the communicator as well. */
static void freed(collective_fn collective, int root, int leaver, int late)
{
    MPI_Comm copy;

    MPI_Comm_dup(world, &copy);
    if (rank == late)
        await(leaver);
    collective(root, copy);
    MPI_Comm_free(&copy);
    if (rank == leaver)
        give(late);
}

static void empty(void)
{
    int v = 5, *none = malloc((size_t)size * sizeof(int));
    MPI_Request request;

    if (rank == 0 && size > 1)
        await(1);
    MPI_Bcast(&v, 0, MPI_INT, 0, world);
    MPI_Reduce(&v, none, 0, MPI_INT, MPI_SUM, 0, world);
    MPI_Allreduce(&v, none, 0, MPI_INT, MPI_SUM, world);
    MPI_Scan(&v, none, 0, MPI_INT, MPI_SUM, world);
    MPI_Exscan(&v, none, 0, MPI_INT, MPI_SUM, world);
    MPI_Reduce_scatter_block(&v, none, 0, MPI_INT, MPI_SUM, world);
    MPI_Gather(&v, 0, MPI_INT, none, 0, MPI_INT, 0, world);
    MPI_Scatter(&v, 0, MPI_INT, none, 0, MPI_INT, 0, world);
    MPI_Allgather(&v, 0, MPI_INT, none, 0, MPI_INT, world);
    MPI_Alltoall(&v, 0, MPI_INT, none, 0, MPI_INT, world);
    MPI_Iallreduce(&v, none, 0, MPI_INT, MPI_SUM, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 1)
        give(0);
    MPI_Allreduce(MPI_IN_PLACE, &v, 1, MPI_INT, MPI_SUM, world);
    CHECK(v == 5 * size);
    free(none);
}

int main(int argc, char **argv)
{
    static const collective_fn from_root[] = {bcast, scatter},
                               to_root[] = {reduce, gather, gatherv};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    empty();
    for (int root = 0; root < size && size > 1; root += 1 + size / 4)
        for (int other = 0; other < size; other += 1 + size / 5)
            for (int k = 0; k < 3 && other != root; k++) {
                around(from_root[k % 2], root, root, other); /* the root leaves */
                freed(from_root[k % 2], root, root, other);
                around(to_root[k], root, other, root); /* a leaf leaves, the root is late */
                freed(to_root[k], root, other, root);
                for (int third = 0; third < size && size > 2; third += 1 + size / 3)
                    if (third != root && third != other) {
                        around(to_root[k], root, other, third); /* another leaf is late */
                        around(from_root[k % 2], root, other, third);
                    }
                MPI_Barrier(world);
            }
    MPI_Finalize();
    return 0;
}
