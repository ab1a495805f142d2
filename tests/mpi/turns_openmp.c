/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenMP in ranks in virtual time: regions that compute, and threads of a team that call MPI, wait
 * for one another and share work. Each rank prints its times to the last bit (turns.sh).
 */
#include <stdio.h>
#include <unistd.h>

#include <mpi.h>
#include <omp.h>

#include "check.h"

enum { TEAM = 4, ROUNDS = 5, PIECES = 40 };

static int rank, size;

/* Who gets a piece depends on when each is done with its last one. */
static double share_work(void)
{
    double sum = 0;

#pragma omp parallel for num_threads(TEAM) schedule(dynamic) reduction(+ : sum)
    for (int i = 0; i < PIECES; i++) {
        usleep((useconds_t)(1 + i * 7 % 11));
        sum += (i + 1) * (1 + omp_get_thread_num());
    }
    return sum;
}

static void exchange(int round, int *sum)
{
    int thread = omp_get_thread_num(), mine = 100 * rank + 10 * round + thread, other = -1;
    int last = (rank + size - 1) % size;

    MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % size, thread, &other, 1, MPI_INT, last, thread,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(other == 100 * last + 10 * round + thread);
#pragma omp barrier
#pragma omp critical
    {
        usleep(1);
        *sum += thread;
    }
#pragma omp atomic
    *sum += 1;
#pragma omp single
    MPI_Barrier(MPI_COMM_WORLD);
}

static void tasks(int *done)
{
#pragma omp single
    for (int i = 0; i < 3 * TEAM; i++) {
#pragma omp task
        {
            usleep(2);
#pragma omp atomic
            *done += 1;
        }
    }
}

int main(int argc, char **argv)
{
    int provided, sum = 0, done = 0;
    double work = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    for (int round = 0; round < ROUNDS; round++) {
        work += share_work();
#pragma omp parallel num_threads(TEAM)
        {
            CHECK(omp_get_num_threads() == TEAM);
            exchange(round, &sum);
            tasks(&done);
        }
    }
    CHECK(sum == ROUNDS * (TEAM * (TEAM - 1) / 2 + TEAM) && done == 3 * TEAM * ROUNDS);
    printf("%d: %g %a\n", rank, work, MPI_Wtime());
    MPI_Finalize();
    return 0;
}
