/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows of MPI_Win_allocate whose memory all ranks can load from and store to: the target takes
 * no part in an operation, and updates of ranks of several processes meet.
 *
 *   mapped [alone]      alone: the target makes no call meanwhile
 */
#include "../check.h"

#include <string.h>

enum { MANY = 500, ROUNDS = XYLEM_SANITIZED ? 20 : 200 };

static int rank, size;

/* The last rank looks at its own memory until rank 0 has written all of it, and answers there. */
static void pass_alone(void)
{
    int last = size - 1, one = 1, found = 0, all[MANY];
    int *memory;
    MPI_Win win;

    MPI_Win_allocate((MANY + 1) * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                     &win);
    memset(memory, 0, (MANY + 1) * sizeof(int));
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        for (int i = 0; i < MANY; i++)
            all[i] = i + 1;
        MPI_Put(all, MANY, MPI_INT, last, 0, MANY, MPI_INT, win);
        MPI_Win_flush(last, win);
        MPI_Accumulate(&one, 1, MPI_INT, last, MANY, 1, MPI_INT, MPI_REPLACE, win);
        MPI_Win_flush(last, win);
        while (found != 2) {
            MPI_Fetch_and_op(NULL, &found, MPI_INT, last, MANY, MPI_NO_OP, win);
            MPI_Win_flush(last, win);
        }
        memset(all, 0, sizeof(all));
        MPI_Get(all, MANY, MPI_INT, last, 0, MANY, MPI_INT, win);
        MPI_Win_flush(last, win);
        for (int i = 0; i < MANY; i++)
            CHECK_EQUAL(all[i], 2 * (i + 1));
    } else if (rank == last) {
        while (__atomic_load_n(&memory[MANY], __ATOMIC_ACQUIRE) != 1)
            ;
        for (int i = 0; i < MANY; i++)
            memory[i] *= 2;
        __atomic_store_n(&memory[MANY], 2, __ATOMIC_RELEASE);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* Every rank can load from the memory of every other one. */
static void look(void)
{
    int *memory, *other = NULL, unit;
    MPI_Aint bytes;
    MPI_Win win;

    MPI_Win_allocate(rank % 3 == 1 ? 0 : 64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                     &win);
    if (rank % 3 != 1)
        memory[15] = 100 + rank;
    MPI_Win_fence(0, win);
    for (int r = 0; r < size; r++) {
        MPI_Win_shared_query(win, r, &bytes, &unit, &other);
        CHECK_EQUAL(bytes, r % 3 == 1 ? 0 : 64);
        CHECK(r % 3 == 1 ? other == NULL : other[15] == 100 + r);
    }
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* Long vectors, single numbers and numbers that no instruction updates, of all ranks at once. */
static void meet(void)
{
    struct {
        long numbers[MANY];
        long double wide[MANY];
    } * memory;
    long ones[MANY], found, total = 0;
    long double wide[MANY];
    MPI_Win win;

    for (int i = 0; i < MANY; i++)
        ones[i] = 1, wide[i] = 1;
    MPI_Win_allocate(sizeof(*memory), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memset(memory, 0, sizeof(*memory));
    MPI_Win_fence(0, win);
    for (int i = 0; i < ROUNDS; i++) {
        int target = (rank + i) % 2 % size;

        if ((rank + i) % 4 < 2)
            MPI_Accumulate(ones, MANY, MPI_LONG, target, 0, MANY, MPI_LONG, MPI_SUM, win);
        else
            for (int k = 0; k < MANY; k++)
                MPI_Fetch_and_op(&ones[k], &found, MPI_LONG, target, k * (int)sizeof(long), MPI_SUM,
                                 win);
        MPI_Accumulate(wide, 20, MPI_LONG_DOUBLE, target, sizeof(memory->numbers), 20,
                       MPI_LONG_DOUBLE, MPI_SUM, win);
    }
    MPI_Win_fence(0, win);
    for (int k = 0; k < MANY; k++) {
        long sum;

        MPI_Allreduce(&memory->numbers[k], &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQUAL(sum, (long)size * ROUNDS);
        total += k < 20 ? (long)memory->wide[k] : 0;
    }
    MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(total, 20L * size * ROUNDS);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1 && strcmp(argv[1], "alone") == 0)
        pass_alone();
    look();
    meet();
    MPI_Finalize();
    return 0;
}
