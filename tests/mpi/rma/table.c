/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A distributed hash table: keys are inserted with MPI_Compare_and_swap on the slots of all ranks,
 * with linear probing across their borders, and counted with MPI_Accumulate. Several ranks insert
 * the same keys. Then every rank looks all its keys up with MPI_Get, MPI_Rget and MPI_Fetch_and_op.
 *
 *   table [KEYS-OF-ALL-RANKS]
 */
#include "../check.h"

#include <stdlib.h>

static int rank, size;
static long slots_per_rank, slots, inserts; /* inserts: of all ranks */
static MPI_Win keys_win, counts_win;
static long *keys, *counts;

/* Insert i of all ranks: one key in three comes again and again. */
static long key_of(long i)
{
    unsigned long x = (unsigned long)(i % 3 == 0 ? i % 8 : i) + 1;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9UL;
    return (long)(x >> 20) + 1; /* never 0: that is an empty slot */
}

static void make_tables(void)
{
    MPI_Aint bytes = slots_per_rank * (MPI_Aint)sizeof(long);

    MPI_Win_allocate(bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &keys, &keys_win);
    MPI_Win_allocate(bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &counts, &counts_win);
    MPI_Win_lock_all(0, keys_win);
    MPI_Win_lock_all(0, counts_win);
    for (long i = 0; i < slots_per_rank; i++)
        keys[i] = counts[i] = 0;
    MPI_Win_sync(keys_win);
    MPI_Win_sync(counts_win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void free_tables(void)
{
    MPI_Win_unlock_all(keys_win);
    MPI_Win_unlock_all(counts_win);
    MPI_Win_free(&keys_win);
    MPI_Win_free(&counts_win);
}

static long first_slot(long key)
{
    return key % slots;
}

static void insert(long key)
{
    static const long empty = 0, one = 1; /* they stay until the flush */
    long slot = first_slot(key), found;

    for (long tried = 0;; tried++, slot = (slot + 1) % slots) {
        int owner = (int)(slot / slots_per_rank);

        CHECK(tried < slots);
        MPI_Compare_and_swap(&key, &empty, &found, MPI_LONG, owner, slot % slots_per_rank,
                             keys_win);
        MPI_Win_flush(owner, keys_win);
        if (found == empty || found == key)
            break;
    }
    MPI_Accumulate(&one, 1, MPI_LONG, (int)(slot / slots_per_rank), slot % slots_per_rank, 1,
                   MPI_LONG, MPI_SUM, counts_win);
}

/* The key in a slot, read in one of three ways. */
static long look(long slot, long way)
{
    int owner = (int)(slot / slots_per_rank);
    MPI_Aint at = slot % slots_per_rank;
    MPI_Request request;
    long found = -1;

    if (way % 3 == 0) {
        MPI_Get(&found, 1, MPI_LONG, owner, at, 1, MPI_LONG, keys_win);
        MPI_Win_flush(owner, keys_win);
    } else if (way % 3 == 1) {
        MPI_Rget(&found, 1, MPI_LONG, owner, at, 1, MPI_LONG, keys_win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Fetch_and_op(&found, &found, MPI_LONG, owner, at, MPI_NO_OP, keys_win);
        MPI_Win_flush(owner, keys_win);
    }
    return found;
}

static long count_of(long key)
{
    long slot = first_slot(key), found, count = 0;

    for (long way = key;; way++, slot = (slot + 1) % slots) {
        found = look(slot, way);
        CHECK(found != 0);
        if (found == key)
            break;
    }
    MPI_Get(&count, 1, MPI_LONG, (int)(slot / slots_per_rank), slot % slots_per_rank, 1, MPI_LONG,
            counts_win);
    MPI_Win_flush((int)(slot / slots_per_rank), counts_win);
    return count;
}

static long expected_count(long key)
{
    long n = 0;

    for (long i = 0; i < inserts; i++)
        n += key_of(i) == key;
    return n;
}

int main(int argc, char **argv)
{
    long sums[3] = {0, 0, 0}, all[3];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    inserts = argc > 1 ? atol(argv[1]) : 400;
    slots_per_rank = (2 * inserts / size + 8) / 8 * 8; /* see bfs.c */
    slots = slots_per_rank * size;
    make_tables();
    for (long i = rank; i < inserts; i += size)
        insert(key_of(i));
    MPI_Win_flush_all(counts_win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = rank; i < inserts; i += size)
        CHECK_EQUAL(count_of(key_of(i)), expected_count(key_of(i)));
    MPI_Win_sync(keys_win);
    MPI_Win_sync(counts_win);
    for (long i = 0; i < slots_per_rank; i++) {
        CHECK((keys[i] == 0) == (counts[i] == 0));
        sums[0] += keys[i] != 0;
        sums[1] += counts[i];
        sums[2] += keys[i] % 1000003 * counts[i];
    }
    MPI_Reduce(sums, all, 3, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("table: %ld keys, %ld inserts, checksum %ld\n", all[0], all[1], all[2]);
    free_tables();
    MPI_Finalize();
    return 0;
}
