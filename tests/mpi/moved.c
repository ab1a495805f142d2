/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What belongs to a rank follows it when it moves between cores (mpiexec --balance random): its
 * thread-local variables and addresses of them on its stack, errno, the rounding mode, requests
 * that it has started, messages that it has not received and what it waits for. A rank with a
 * thread stays. With an argument, all others must have moved.
 */
#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { ROUNDS = XYLEM_SANITIZED ? 100 : 600, LARGE = 40000, AHEAD = 3 };

static __thread int own = -1;
static __thread char many[3000];
static int rank, size;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_over = PTHREAD_COND_INITIALIZER;
static int over;

static void *stand_by(void *arg)
{
    pthread_mutex_lock(&mutex);
    while (!over)
        pthread_cond_wait(&is_over, &mutex);
    pthread_mutex_unlock(&mutex);
    return arg;
}

/* Messages to and from both neighbours that are received later, or never looked for in order. */
static void exchange(int round, int *in, int *out)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, small[AHEAD], got;
    MPI_Request request[2 + AHEAD];
    MPI_Status status;

    out[0] = out[LARGE - 1] = round * size + rank;
    MPI_Irecv(in, LARGE, MPI_INT, left, 1, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(out, LARGE, MPI_INT, right, 1, MPI_COMM_WORLD, &request[1]);
    for (int i = 0; i < AHEAD; i++) {
        small[i] = 100 * round + i;
        MPI_Isend(&small[i], 1, MPI_INT, left, 2, MPI_COMM_WORLD, &request[2 + i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < AHEAD; i++) {
        MPI_Probe(right, 2, MPI_COMM_WORLD, &status);
        MPI_Recv(&got, 1, MPI_INT, right, 2, MPI_COMM_WORLD, &status);
        CHECK(got == 100 * round + i);
    }
    MPI_Waitall(2 + AHEAD, request, MPI_STATUSES_IGNORE);
    CHECK(in[0] == round * size + left && in[LARGE - 1] == in[0]);
}

/* A call that waits, and what must be there after it. */
static void check_own(int round, int *address, int mode)
{
    int sum, one = 1;

    errno = 1000 + rank;
    own = round;
    many[round % (int)sizeof(many)] = (char)rank;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size);
    CHECK(errno == 1000 + rank);
    CHECK(own == round && *address == round);
    CHECK(address == &own);
    CHECK(many[round % (int)sizeof(many)] == (char)rank);
    CHECK(fegetround() == mode);
}

int main(int argc, char **argv)
{
    int *volatile address = &own; /* on the stack: it follows */
    int mode, first, cores = 1, moved = 0, all[2], sum[2];
    int *in, *out, *cpus;
    pthread_t thread;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    in = calloc(LARGE, sizeof(int));
    out = calloc(LARGE, sizeof(int));
    cpus = calloc((size_t)size, sizeof(int));
    CHECK(in != NULL && out != NULL && cpus != NULL);
    if (rank == 0)
        CHECK(pthread_create(&thread, NULL, stand_by, NULL) == 0);
    mode = rank % 2 == 0 ? FE_UPWARD : FE_TONEAREST;
    fesetround(mode);
    first = sched_getcpu();
    MPI_Allgather(&first, 1, MPI_INT, cpus, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 1; r < size; r++)
        cores += cpus[r] != cpus[0];
    first = sched_getcpu(); /* the thread is there since the allgather, at the latest */
    for (int round = 0; round < ROUNDS; round++) {
        check_own(round, address, mode);
        exchange(round, in, out);
        moved += sched_getcpu() != first;
    }
    /* Where there is one core only, nothing can move. */
    all[0] = rank != 0 && moved > 0;
    all[1] = rank == 0 && moved > 0;
    MPI_Allreduce(all, sum, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(argc < 2 || cores == 1 || sum[0] == size - 1);
    CHECK(sum[1] == 0);
    if (rank == 0) {
        pthread_mutex_lock(&mutex);
        over = 1;
        pthread_cond_signal(&is_over);
        pthread_mutex_unlock(&mutex);
        pthread_join(thread, NULL);
    }
    free(in);
    free(out);
    free(cpus);
    MPI_Finalize();
    return 0;
}
