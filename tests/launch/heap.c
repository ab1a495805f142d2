/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heap of a job, seen from its ranks; one line of output each:
 *
 *   heap grow MIB      every rank allocates and touches MIB MiB in pieces of 4 KiB
 *   heap open          MiB of the mapping that a small allocation of rank 1 lies in
 *   heap mallopt       the same after rank 1 has set M_TOP_PAD
 *   heap return MIB    grow, then free all but a piece every 2 MiB; "returned" when a quarter of
 *                      the memory is left, "kept" when that does not happen in 50 s
 *   heap cross MIB     the same; each rank frees the pieces of the one before it
 *   heap keep MIB      the same as return, but with two seconds
 *   heap freed MIB     rank 1 grows, frees all but a piece every 2 MiB, and reads the freed pieces
 *                      for half a second while rank 0 sleeps: prints "whole" or "cleared"
 *   heap stuck MIB     grow, free all, and wait for a message that does not come
 */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 4 << 10, PER_MIB = (1 << 20) / PIECE, KEEP_EVERY = 2 * PER_MIB };

static int rank;
static char **pieces;

static void grow(int count)
{
    pieces = malloc((size_t)count * sizeof(*pieces));
    for (int i = 0; i < count; i++) {
        pieces[i] = malloc(PIECE);
        memset(pieces[i], 1, PIECE);
    }
}

static void release(char **list, int count, int keep_every)
{
    for (int i = 0; i < count; i++)
        if (keep_every == 0 || i % keep_every != 0)
            free(list[i]);
}

static long resident_mib(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file == NULL || fscanf(file, "%*s %ld", &pages) != 1)
        exit(2);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) >> 10) >> 10;
}

static size_t mapping_mib(const void *address)
{
    FILE *file = fopen("/proc/self/maps", "r");
    unsigned long begin, end, at = (unsigned long)address;
    char line[512], rights[8];

    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        if (sscanf(line, "%lx-%lx %7s", &begin, &end, rights) == 3 && begin <= at && at < end) {
            fclose(file);
            return (end - begin) >> 20;
        }
    exit(2);
}

/* The pieces that this rank frees: its own, or those of the rank before it. */
static char **exchange(int ranks, int is_crossed)
{
    char **others = pieces;

    if (is_crossed)
        MPI_Sendrecv(&pieces, sizeof(pieces), MPI_BYTE, (rank + 1) % ranks, 0, &others,
                     sizeof(others), MPI_BYTE, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    return others;
}

/* Workers return memory before they sleep: let them. All ranks make the same number of steps. */
static int becomes_less(long mib, int steps)
{
    int is_less = 0;

    for (int i = 0; i < steps && !is_less; i++) {
        is_less = resident_mib() < mib;
        MPI_Bcast(&is_less, 1, MPI_INT, 0, MPI_COMM_WORLD);
        usleep(50000);
    }
    return is_less;
}

static void grow_and_return(int mib, int is_crossed, int steps)
{
    int count = mib * PER_MIB, ranks, is_returned;
    long most;

    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    grow(count);
    MPI_Barrier(MPI_COMM_WORLD);
    most = resident_mib();
    if (most < (long)ranks * mib) {
        printf("only %ld MiB are resident\n", most);
        exit(1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    release(exchange(ranks, is_crossed), count, KEEP_EVERY);
    is_returned = becomes_less(most / 4, steps);
    if (rank == 0)
        printf("%s\n", is_returned ? "returned" : "kept");
}

/* Wrong programs do this, and it works in a process of their own. The allocator may write the first
 * bytes of a free block. */
static void look_at_freed(int mib)
{
    int count = mib * PER_MIB, is_whole = 1;
    double end;

    if (rank == 1) {
        grow(count);
        release(pieces, count, KEEP_EVERY);
        end = MPI_Wtime() + 0.5;
        while (is_whole && MPI_Wtime() < end)
            for (int i = 0; i < count && is_whole; i++)
                is_whole = ((volatile char *)pieces[i])[PIECE / 2] == 1;
        printf("%s\n", is_whole ? "whole" : "cleared");
    }
    for (int i = 0; i < 100 && rank == 0; i++)
        usleep(5000); /* its worker rests each time */
    MPI_Barrier(MPI_COMM_WORLD);
}

static void get_stuck(int mib)
{
    grow(mib * PER_MIB);
    MPI_Barrier(MPI_COMM_WORLD);
    release(pieces, mib * PER_MIB, 0);
    MPI_Recv(&mib, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int mib = argc > 2 ? atoi(argv[2]) : 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(what, "mallopt") == 0 && rank == 1)
        mallopt(M_TOP_PAD, 64 << 10);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(what, "grow") == 0)
        grow(mib * PER_MIB);
    else if (strcmp(what, "return") == 0 || strcmp(what, "cross") == 0)
        grow_and_return(mib, *what == 'c', 1000);
    else if (strcmp(what, "stuck") == 0)
        get_stuck(mib);
    else if (strcmp(what, "freed") == 0)
        look_at_freed(mib);
    else if (strcmp(what, "keep") == 0)
        grow_and_return(mib, 0, 40);
    else if (rank == 1)
        printf("%zu\n", mapping_mib(malloc(100)));
    MPI_Finalize();
    return 0;
}
