/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traversal of a graph with one-sided updates. The vertices are distributed; a rank that expands a
 * vertex claims each neighbour where it lives (MPI_Compare_and_swap on its level) and, when it was
 * the first, appends it to the next frontier of its owner (MPI_Fetch_and_op for the place,
 * MPI_Put). No rank receives anything. The levels are those of a serial traversal on every rank.
 *
 *   bfs [VERTICES [SOURCE]]
 */
#include "../check.h"

#include <stdlib.h>

enum { DEGREE = 4 };

static int rank, size;
static long vertices, per_rank;
static MPI_Win levels_win, queue_win; /* a level per vertex; a count, then vertices */
static long *levels, *queue;

static unsigned long mixed(unsigned long x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9UL;
    x = (x ^ x >> 27) * 0x94d049bb133111ebUL;
    return x ^ x >> 31;
}

/* Most neighbours are near, so that the graph has some depth. */
static long neighbour(long v, int i)
{
    unsigned long h = mixed((unsigned long)v * DEGREE + (unsigned)i + 1);

    if (i < DEGREE - 1)
        return (v + 1 + (long)(h % 20)) % vertices;
    return v % 50 == 0 ? (long)(h % (unsigned long)vertices) : v;
}

/* Whole cache lines: ranks of MPICH 4.0.2 disagree about where other sizes are. */
static void make_window(long **base, long n, MPI_Win *win)
{
    MPI_Win_allocate((n + 7) / 8 * 8 * (MPI_Aint)sizeof(long), sizeof(long), MPI_INFO_NULL,
                     MPI_COMM_WORLD, base, win);
}

static void make_windows(void)
{
    make_window(&levels, per_rank, &levels_win);
    make_window(&queue, per_rank + 1, &queue_win);
    MPI_Win_lock_all(0, levels_win);
    MPI_Win_lock_all(0, queue_win);
    for (long i = 0; i < per_rank; i++)
        levels[i] = -1;
    queue[0] = 0;
}

static void free_windows(void)
{
    MPI_Win_unlock_all(levels_win);
    MPI_Win_unlock_all(queue_win);
    MPI_Win_free(&levels_win);
    MPI_Win_free(&queue_win);
}

/* True: nobody had reached it. */
static int claim(long v, long level)
{
    const long unreached = -1;
    long before;

    MPI_Compare_and_swap(&level, &unreached, &before, MPI_LONG, (int)(v / per_rank), v % per_rank,
                         levels_win);
    MPI_Win_flush((int)(v / per_rank), levels_win);
    CHECK(before == -1 || (before >= 0 && before <= level));
    return before == -1;
}

static void append(long v)
{
    const long one = 1;
    int owner = (int)(v / per_rank);
    long place;

    MPI_Fetch_and_op(&one, &place, MPI_LONG, owner, 0, MPI_SUM, queue_win);
    MPI_Win_flush(owner, queue_win);
    CHECK(place >= 0 && place < per_rank);
    MPI_Put(&v, 1, MPI_LONG, owner, 1 + place, 1, MPI_LONG, queue_win);
    MPI_Win_flush(owner, queue_win);
}

/* All windows are as all ranks have left them. */
static void meet(void)
{
    MPI_Win_sync(levels_win);
    MPI_Win_sync(queue_win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(levels_win);
    MPI_Win_sync(queue_win);
}

static long traverse(long source)
{
    long *frontier = malloc((size_t)per_rank * sizeof(long));
    long mine, all = 1, level = 0;

    CHECK(frontier != NULL);
    if (rank == source / per_rank) {
        levels[source % per_rank] = 0;
        queue[1] = source;
        queue[0] = 1;
    }
    while (all > 0) {
        meet();
        mine = queue[0];
        for (long i = 0; i < mine; i++)
            frontier[i] = queue[1 + i];
        queue[0] = 0;
        meet();
        level++;
        for (long i = 0; i < mine; i++)
            for (int n = 0; n < DEGREE; n++)
                if (claim(neighbour(frontier[i], n), level))
                    append(neighbour(frontier[i], n));
        MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    }
    free(frontier);
    return level - 2;
}

/* The same on one rank alone. */
static void check_levels(long source)
{
    long *known = malloc((size_t)vertices * sizeof(long));
    long *list = malloc((size_t)vertices * sizeof(long)), first = 0, last = 1;

    CHECK(known != NULL && list != NULL);
    for (long v = 0; v < vertices; v++)
        known[v] = -1;
    known[source] = 0;
    list[0] = source;
    for (; first < last; first++)
        for (int n = 0; n < DEGREE; n++) {
            long v = neighbour(list[first], n);

            if (known[v] < 0) {
                known[v] = known[list[first]] + 1;
                list[last++] = v;
            }
        }
    for (long i = 0; i < per_rank && rank * per_rank + i < vertices; i++)
        CHECK_EQUAL(levels[i], known[rank * per_rank + i]);
    free(known);
    free(list);
}

int main(int argc, char **argv)
{
    long source, depth, sums[2] = {0, 0}, all[2];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    vertices = argc > 1 ? atol(argv[1]) : 600;
    source = argc > 2 ? atol(argv[2]) : 5;
    per_rank = (vertices + size - 1) / size;
    make_windows();
    MPI_Barrier(MPI_COMM_WORLD);
    depth = traverse(source);
    meet();
    check_levels(source);
    for (long i = 0; i < per_rank && rank * per_rank + i < vertices; i++) {
        sums[0] += levels[i] >= 0;
        sums[1] += levels[i] * (1 + (rank * per_rank + i) % 7);
    }
    MPI_Reduce(sums, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("bfs: %ld of %ld vertices in %ld levels, checksum %ld\n", all[0], vertices, depth,
               all[1]);
    free_windows();
    MPI_Finalize();
    return 0;
}
