/* SPDX-License-Identifier: BSD-3-Clause */
/* check CODE: a program with leaks. check race: one that waits for ever if rank
 * 0 takes the message of rank 2 first. check gather: a right one. check WORD: one that is ended for
 * the mistake of that name; the marks say where (check_ends.py). check WORD early: reads a receive
 * buffer. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void race(int rank)
{
    int number;

    if (rank > 0)
        MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank > 0)
        return;
    MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&number, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* A rank's contribution is in memory that is received into, and protected until it is. */
static void gather(int rank)
{
    enum { COUNT = 1 << 16, MOST = 8 };
    static int numbers[MOST * COUNT];
    MPI_Request request;
    int size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < COUNT; i++)
        numbers[rank * COUNT + i] = rank + i;
    MPI_Iallgather(MPI_IN_PLACE, 0, MPI_INT, numbers, COUNT, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < COUNT; i++)
            if (numbers[r * COUNT + i] != r + i)
                MPI_Abort(MPI_COMM_WORLD, 3);
}

static void on_fault(int number)
{
    (void)number;
    _exit(5);
}

/* Rank 0 reads a receive buffer too early, which is found; a child of it does, which has a copy;
 * and it does so where it handles faults itself: nothing is protected then. */
static void read_early(const char *word, int rank)
{
    static int numbers[1 << 16];
    MPI_Request request;
    int status = 0;
    pid_t child;

    if (strcmp(word, "handler") == 0)
        signal(SIGSEGV, on_fault);
    if (rank == 0) {
        MPI_Irecv(numbers, 1 << 16, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
        child = strcmp(word, "child") == 0 ? fork() : 0;
        if (child == 0)
            status = numbers[1 << 15];
        if (strcmp(word, "child") == 0 && child == 0)
            _exit(status);
        if (child > 0)
            waitpid(child, &status, 0);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Send(numbers, 1 << 16, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    exit(status);
}

static void make_mistake(const char *word, int rank)
{
    int numbers[4] = {0}, got[3], counts[3] = {1, 1, 1}, places[3] = {0, 1, 2};
    int own = rank == 1 ? 4 : 1;
    MPI_Comm world = MPI_COMM_WORLD;
    volatile int *nowhere = NULL;
    MPI_Win win;

    if (strcmp(word, "deadlock") == 0 && rank < 2)
        MPI_Recv(numbers, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // deadlock
    if (strcmp(word, "time-limit") == 0)
        pause();
    if (strcmp(word, "disagreement") == 0 && rank == 2)
        MPI_Bcast(numbers, 1, MPI_INT, 1, MPI_COMM_WORLD); // disagreement
    else if (strcmp(word, "disagreement") == 0)
        MPI_Bcast(numbers, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (strcmp(word, "excess") == 0)
        MPI_Gatherv(numbers, own, MPI_INT, got, counts, places, MPI_INT, 0, world); // excess
    if (strcmp(word, "truncation") == 0 && rank == 0)
        MPI_Send(numbers, 4, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (strcmp(word, "truncation") == 0 && rank == 1)
        MPI_Recv(numbers, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // truncation
    if (strcmp(word, "not-ready") == 0 && rank == 0)
        MPI_Rsend(numbers, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); // not-ready
    if (strcmp(word, "call-error") == 0 && rank == 1)
        MPI_Send(numbers, 1, MPI_INT, 0, -7, MPI_COMM_WORLD); // call-error
    if (strcmp(word, "crash") == 0 && rank == 1)
        *nowhere = 1; // crash
    if (strcmp(word, "aborted") == 0 && rank == 1)
        MPI_Abort(MPI_COMM_WORLD, 9); // aborted
    if (strcmp(word, "early-exit") == 0 && rank == 1)
        exit(3);
    if (strcmp(word, "rma-error") == 0) {
        MPI_Win_create(numbers, sizeof(numbers), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        if (rank == 2)
            MPI_Put(numbers, 1, MPI_INT, rank, 0, 1, MPI_INT, win); // rma-error
    }
    MPI_Finalize();
    if (strcmp(word, "wrong-time") == 0 && rank == 1)
        MPI_Barrier(MPI_COMM_WORLD); // wrong-time
    exit(0);
}

int main(int argc, char **argv)
{
    MPI_Comm twin;
    MPI_Info info;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1 && (strcmp(argv[1], "race") == 0 || strcmp(argv[1], "gather") == 0)) {
        (argv[1][0] == 'r' ? race : gather)(rank);
        MPI_Finalize();
        return 0;
    }
    if (argc > 2)
        read_early(argv[1], rank);
    if (argc > 1 && strchr("0123456789", argv[1][0]) == NULL)
        make_mistake(argv[1], rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    if (rank == 0)
        MPI_Info_create(&info);
    MPI_Finalize();
    return argc > 1 ? atoi(argv[1]) : 0;
}
