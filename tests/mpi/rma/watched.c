/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A known number of one-sided operations, for what watches them. Rank 0 puts 1000 bytes into the
 * memory of rank 1 three times, gets 500 from rank 2 twice, and once each fetches and adds 8, adds
 * 80, and compares and swaps 8 at rank 3. Rank 0 prints the seconds of each kind with its flush.
 */
#include "../check.h"

static char *memory;
static MPI_Win win;

static double now(void)
{
    return MPI_Wtime();
}

static void say(const char *what, double since)
{
    printf("%s %.9f\n", what, now() - since);
}

static void operate(void)
{
    static char buffer[1000];
    static double adds[10];
    long one = 1, old;
    MPI_Request request;
    double t;

    for (int i = 0; i < 3; i++) {
        t = now();
        MPI_Put(buffer, 1000, MPI_BYTE, 1, 0, 1000, MPI_BYTE, win);
        MPI_Win_flush(1, win);
    }
    say("put", t);
    t = now();
    MPI_Get(buffer, 500, MPI_BYTE, 2, 0, 500, MPI_BYTE, win);
    MPI_Win_flush(2, win);
    say("get", t);
    t = now();
    MPI_Rget(buffer, 500, MPI_BYTE, 2, 0, 500, MPI_BYTE, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("rget", t);
    t = now();
    MPI_Fetch_and_op(&one, &old, MPI_LONG, 3, 0, MPI_SUM, win);
    MPI_Win_flush(3, win);
    say("fetch", t);
    t = now();
    MPI_Accumulate(adds, 10, MPI_DOUBLE, 3, 8, 10, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_flush(3, win);
    say("add", t);
    t = now();
    MPI_Compare_and_swap(&one, &one, &old, MPI_LONG, 3, 0, win);
    MPI_Win_flush(3, win);
    say("swap", t);
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(1000, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_lock_all(0, win);
    if (rank == 0)
        operate();
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
