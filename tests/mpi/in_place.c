/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives in place, large enough that the C library would take memory for copies from the
 * kernel and give it back in every call: after the first ones they touch no new page. And their
 * results, with blocks of one piece and of several, of equal and of different sizes. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { LONGS = 40000, WARM = 5, TURNS = XYLEM_SANITIZED ? 10 : 50 };

static int rank, size;
static MPI_Comm world = MPI_COMM_WORLD;

static long value(int from, int to, int i)
{
    return from * 1000003L + to * 101L + i;
}

static void check_alltoall(long *v, int n)
{
    for (int r = 0; r < size; r++)
        for (int i = 0; i < n; i++)
            v[r * n + i] = value(rank, r, i);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, v, n, MPI_LONG, world);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < n; i += 1 + n / 50)
            CHECK(v[r * n + i] == value(r, rank, i));
}

/* Ranks a and b exchange a + b blocks of three elements. */
static void check_alltoallv(long *v)
{
    int *counts = malloc((size_t)size * sizeof(int)), *displs = malloc((size_t)size * sizeof(int));
    int at = 0;

    for (int r = 0; r < size; r++) {
        counts[r] = 3 * (rank + r);
        displs[r] = at;
        at += counts[r] + 1;
        for (int i = 0; i < counts[r]; i++)
            v[displs[r] + i] = value(rank, r, i);
    }
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, v, counts, displs, MPI_LONG, world);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < counts[r]; i++)
            CHECK(v[displs[r] + i] == value(r, rank, i));
    free(counts);
    free(displs);
}

/* Every second element: no block is contiguous. */
static void check_gaps(long *v)
{
    enum { BLOCKS = 7 };
    MPI_Datatype type, gaps;

    MPI_Type_vector(BLOCKS, 1, 2, MPI_LONG, &type);
    MPI_Type_create_resized(type, 0, 2 * BLOCKS * (MPI_Aint)sizeof(long), &gaps);
    MPI_Type_commit(&gaps);
    for (int i = 0; i < 2 * BLOCKS * size; i++)
        v[i] = i % 2 ? -1 : value(rank, i / (2 * BLOCKS), i % (2 * BLOCKS));
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, v, 1, gaps, world);
    for (int i = 0; i < 2 * BLOCKS * size; i++)
        CHECK(v[i] == (i % 2 ? -1 : value(i / (2 * BLOCKS), rank, i % (2 * BLOCKS))));
    MPI_Type_free(&gaps);
    MPI_Type_free(&type);
}

static void check_reduce_scatter(long *v, int n)
{
    int *counts = malloc((size_t)size * sizeof(int));

    for (int r = 0; r < size; r++)
        counts[r] = n;
    for (int i = 0; i < n * size; i++)
        v[i] = rank + i;
    MPI_Reduce_scatter(MPI_IN_PLACE, v, counts, MPI_LONG, MPI_SUM, world);
    for (int i = 0; i < n; i += 1 + n / 50)
        CHECK(v[i] == (long)size * (size - 1) / 2 + (long)size * (rank * n + i));
    for (int i = n; i < n * size; i += 1 + n / 50)
        CHECK(v[i] == rank + i); /* elements outside the result are unchanged */
    for (int i = 0; i < n * size; i++)
        v[i] = rank + i;
    MPI_Reduce_scatter_block(MPI_IN_PLACE, v, n, MPI_LONG, MPI_SUM, world);
    for (int i = 0; i < n; i += 1 + n / 50)
        CHECK(v[i] == (long)size * (size - 1) / 2 + (long)size * (rank * n + i));
    free(counts);
}

static long page_faults(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

/* Sanitizers keep memory of their own: there the faults are theirs. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    __has_feature(address_sanitizer)
enum { ARE_FAULTS_OURS = 0 };
#else
enum { ARE_FAULTS_OURS = 1 };
#endif

/* Of all ranks, whether they share a process or not. */
static void check_faults(long *v)
{
    long before = 0, after = 0;

    for (int turn = 0; turn < WARM + TURNS; turn++) {
        if (turn == WARM)
            before = page_faults();
        check_reduce_scatter(v, LONGS);
        check_alltoall(v, LONGS);
    }
    after = page_faults();
    /* One copy of a block has 78 pages. */
    CHECK(!ARE_FAULTS_OURS || after - before < TURNS * 20);
}

int main(int argc, char **argv)
{
    long *v;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    v = malloc((size_t)size * LONGS * sizeof(long));
    memset(v, 0, (size_t)size * LONGS * sizeof(long));
    for (int n = 1; n <= LONGS; n = n * 11 + 1) {
        check_alltoall(v, n);
        check_reduce_scatter(v, n);
    }
    check_alltoallv(v);
    check_gaps(v);
    if (size <= 4)
        check_faults(v);
    free(v);
    MPI_Finalize();
    return 0;
}
