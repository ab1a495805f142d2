/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One of everything, for one rank to thousands: messages along a ring, from everybody to one and
 * back, a barrier, reductions, a gather, a split, a duplicate, a sparse exchange, wildcards.
 */
#include "check.h"

#include <stdlib.h>

static int rank, size;

static void test_ring(void)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size, got = -1;

    for (int lap = 0; lap < 3; lap++) {
        MPI_Sendrecv(&rank, 1, MPI_INT, right, lap, &got, 1, MPI_INT, left, lap, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        CHECK_EQUAL(got, left);
    }
}

/* All to one, in any order, and an answer to each. */
static void test_funnel(void)
{
    MPI_Status status;
    int got, twice;
    long sum = 0;

    if (rank > 0) {
        MPI_Send(&rank, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
        MPI_Recv(&twice, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQUAL(twice, 2 * rank);
        return;
    }
    for (int i = 1; i < size; i++) {
        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &status);
        CHECK_EQUAL(got, status.MPI_SOURCE);
        sum += got;
        twice = 2 * got;
        MPI_Send(&twice, 1, MPI_INT, got, 6, MPI_COMM_WORLD);
    }
    CHECK_EQUAL(sum, (long)size * (size - 1) / 2);
}

static void test_collectives(MPI_Comm comm)
{
    int r, n, root;
    int *all;
    long one = 1, sum = 0, before = 0;

    MPI_Comm_rank(comm, &r);
    MPI_Comm_size(comm, &n);
    MPI_Barrier(comm);
    MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, comm);
    CHECK_EQUAL(sum, n);
    MPI_Exscan(&one, &before, 1, MPI_LONG, MPI_SUM, comm);
    CHECK_EQUAL(r == 0 ? 0 : before, r);
    root = n - 1;
    sum = r == root ? 12345 : 0;
    MPI_Bcast(&sum, 1, MPI_LONG, root, comm);
    CHECK_EQUAL(sum, 12345);
    all = malloc((size_t)n * sizeof(int));
    CHECK(all != NULL);
    MPI_Gather(&r, 1, MPI_INT, all, 1, MPI_INT, root, comm);
    for (int i = 0; i < n && r == root; i++)
        CHECK_EQUAL(all[i], i);
    free(all);
}

static void test_parts(void)
{
    MPI_Comm part, twin;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 7, rank, &part);
    test_collectives(part);
    MPI_Comm_dup(part, &twin);
    test_collectives(twin);
    MPI_Comm_free(&part);
    MPI_Comm_free(&twin);
}

/* Each rank with those 1, 2, 4, 8, ... further: all receives open at once. */
static void test_distances(void)
{
    MPI_Request requests[64];
    int got[32], n = 0, k = 0;

    for (int d = 1; d < size; d *= 2, k++) {
        int from = (int)((rank + (long)size - d) % size);

        MPI_Irecv(&got[k], 1, MPI_INT, from, d, MPI_COMM_WORLD, &requests[n++]);
    }
    for (int d = 1; d < size; d *= 2)
        MPI_Isend(&rank, 1, MPI_INT, (rank + d) % size, d, MPI_COMM_WORLD, &requests[n++]);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    k = 0;
    for (int d = 1; d < size; d *= 2, k++)
        CHECK_EQUAL(got[k], (rank + (long)size - d) % size);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    test_ring();
    test_funnel();
    test_collectives(MPI_COMM_WORLD);
    test_parts();
    test_distances();
    MPI_Finalize();
    return 0;
}
