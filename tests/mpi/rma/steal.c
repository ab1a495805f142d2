/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work stealing: the tasks of every rank are numbers below its own count, which differs widely, and
 * whoever takes one increments the counter of its owner with MPI_Fetch_and_op. A rank that has no
 * more of its own tries the others. The owner computes and does not help. What a task gives is
 * added up at rank 0, and each task leaves a mark that must be there once.
 *
 *   steal [TASKS]
 */
#include "../check.h"

#include <stdlib.h>

static int rank, size;
static long tasks; /* of all ranks */
static MPI_Win counter_win, sum_win, mark_win;
static long *counter;
static double *sum;
static unsigned char *marks;

/* Rank 0 has half of them, rank 1 half of the rest, ...; the last rank has what is left. */
static long first_task(int owner)
{
    long first = 0, left = tasks;

    for (int r = 0; r < owner; r++) {
        long own = r == size - 1 ? left : (left + 1) / 2;

        first += own;
        left -= own;
    }
    return first;
}

static long tasks_of(int owner)
{
    return (owner == size - 1 ? tasks : first_task(owner + 1)) - first_task(owner);
}

static double work(long task)
{
    unsigned x = (unsigned)task + 1;

    for (long i = 0; i < 100 + task % 37 * 10; i++)
        x = x * 1664525u + 1013904223u;
    return (double)(x >> 16);
}

static void make_windows(void)
{
    long n = rank == 0 ? tasks : 0;

    /* Whole cache lines: see bfs.c. */
    MPI_Win_allocate(64, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &counter_win);
    MPI_Win_allocate(64, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &sum, &sum_win);
    MPI_Win_allocate((n + 63) / 64 * 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &marks, &mark_win);
    MPI_Win_lock_all(0, counter_win);
    MPI_Win_lock_all(0, sum_win);
    MPI_Win_lock_all(0, mark_win);
    *counter = 0;
    for (long i = 0; i < n; i++)
        marks[i] = 0;
    if (rank == 0)
        sum[0] = sum[1] = 0;
    MPI_Win_sync(counter_win);
    MPI_Win_sync(sum_win);
    MPI_Win_sync(mark_win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void free_windows(void)
{
    MPI_Win *all[] = {&counter_win, &sum_win, &mark_win};

    for (int i = 0; i < 3; i++) {
        MPI_Win_unlock_all(*all[i]);
        MPI_Win_free(all[i]);
    }
}

/* The next task of `owner`; -1: there is none left. */
static long take(int owner)
{
    const long one = 1;
    long number;

    MPI_Fetch_and_op(&one, &number, MPI_LONG, owner, 0, MPI_SUM, counter_win);
    MPI_Win_flush(owner, counter_win);
    CHECK(number >= 0);
    return number < tasks_of(owner) ? first_task(owner) + number : -1;
}

static void finish(long task)
{
    static const unsigned char one = 1; /* it stays until the flush */
    double results[2] = {work(task), 1};

    MPI_Accumulate(results, 2, MPI_DOUBLE, 0, 0, 2, MPI_DOUBLE, MPI_SUM, sum_win);
    MPI_Win_flush_local(0, sum_win);
    MPI_Accumulate(&one, 1, MPI_UNSIGNED_CHAR, 0, task, 1, MPI_UNSIGNED_CHAR, MPI_SUM, mark_win);
}

int main(int argc, char **argv)
{
    double expected = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    tasks = argc > 1 ? atol(argv[1]) : 500;
    make_windows();
    for (int i = 0; i < size; i++)
        for (long task; (task = take((rank + i) % size)) >= 0;)
            finish(task);
    MPI_Win_flush_all(sum_win);
    MPI_Win_flush_all(mark_win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(sum_win);
    MPI_Win_sync(mark_win);
    if (rank == 0) {
        for (long t = 0; t < tasks; t++) {
            expected += work(t);
            CHECK_EQUAL(marks[t], 1);
        }
        CHECK(sum[0] == expected); /* whole numbers: exact */
        CHECK_EQUAL(sum[1], tasks);
        printf("steal: %ld tasks, sum %.0f\n", tasks, sum[0]);
    }
    free_windows();
    MPI_Finalize();
    return 0;
}
