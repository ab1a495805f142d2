/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A histogram that is spread over all ranks: one-sided communication.
 *
 *   mpicc -O2 histogram.c -o histogram && mpiexec -n 8 ./histogram
 *
 * Each rank owns some of the bins and draws numbers, most of which belong into bins of other ranks.
 * With messages the owners would have to receive without knowing from whom, and how many. Here the
 * bins are a window, memory that all ranks may reach: MPI_Accumulate adds 1 to a bin wherever it
 * is, and its owner takes no part. Accumulates are atomic, so that no count is lost when two ranks
 * add to one bin.
 *
 * MPI_Win_fence separates what is done from what is read: all counts are there after the second
 * one. Afterwards the ranks share out the work of looking for the fullest bin: each takes the next
 * bin that no rank has taken, with MPI_Fetch_and_op on a counter at rank 0. It may do so at any
 * time, inside MPI_Win_lock_all, while rank 0 does the same.
 */
#include <mpi.h>
#include <stdio.h>

enum { BINS = 16, DRAWS = 2000 }; /* of each rank */

/* The bins of all ranks, filled with random numbers; returns how many this rank has. */
static long fill(MPI_Win win, const long *bins, int rank, int size)
{
    unsigned state = (unsigned)rank + 1;
    const long one = 1;
    long sum = 0;

    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    for (int i = 0; i < DRAWS; i++) {
        int bin;

        state = state * 1664525u + 1013904223u;
        bin = (int)((state >> 8) % (unsigned)(BINS * size));
        MPI_Accumulate(&one, 1, MPI_LONG, bin / BINS, bin % BINS, 1, MPI_LONG, MPI_SUM, win);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    for (int i = 0; i < BINS; i++)
        sum += bins[i];
    return sum;
}

/* The largest count in the bins that this rank gets to look at. */
static long look(MPI_Win win, MPI_Win counter, int size)
{
    const int one = 1;
    long most = 0, count;
    int bin;

    MPI_Win_lock_all(0, win);
    MPI_Win_lock_all(0, counter);
    for (;;) {
        MPI_Fetch_and_op(&one, &bin, MPI_INT, 0, 0, MPI_SUM, counter);
        MPI_Win_flush(0, counter);
        if (bin >= BINS * size)
            break;
        MPI_Get(&count, 1, MPI_LONG, bin / BINS, bin % BINS, 1, MPI_LONG, win);
        MPI_Win_flush(bin / BINS, win);
        if (count > most)
            most = count;
    }
    MPI_Win_unlock_all(counter);
    MPI_Win_unlock_all(win);
    return most;
}

int main(int argc, char **argv)
{
    MPI_Win win, counter;
    long *bins, own[2], all[2];
    int *next, rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(BINS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &bins, &win);
    MPI_Win_allocate(rank == 0 ? sizeof(int) : 0, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &next,
                     &counter);
    for (int i = 0; i < BINS; i++)
        bins[i] = 0;
    if (rank == 0)
        *next = 0;
    MPI_Barrier(MPI_COMM_WORLD);

    own[0] = fill(win, bins, rank, size);
    own[1] = look(win, counter, size);
    MPI_Reduce(&own[0], &all[0], 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&own[1], &all[1], 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld numbers in %d bins; the fullest has %ld\n", all[0], BINS * size, all[1]);
    MPI_Win_free(&counter);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
