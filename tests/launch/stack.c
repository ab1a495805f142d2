/* SPDX-License-Identifier: BSD-3-Clause */
/* The last rank uses more stack than the others: MEBIBYTES in one frame, or in many. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rank 0 answers: on one core the caller has to let it run. */
static void ask(void)
{
    MPI_Send(NULL, 0, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void answer(int last)
{
    MPI_Recv(NULL, 0, MPI_CHAR, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(NULL, 0, MPI_CHAR, last, 2, MPI_COMM_WORLD);
}

/* Only the last page of the frame is used: what lies between is jumped over. */
static __attribute__((noinline)) int in_one_frame(size_t bytes)
{
    volatile char *frame = __builtin_alloca(bytes);

    frame[0] = 1;
    ask();
    return frame[0];
}

static __attribute__((noinline)) int in_many_frames(size_t bytes)
{
    volatile char frame[64 << 10];

    frame[0] = 1;
    if (bytes <= sizeof(frame)) {
        ask();
        return frame[0];
    }
    return in_many_frames(bytes - sizeof(frame)) + frame[0];
}

int main(int argc, char **argv)
{
    size_t bytes = (size_t)atoi(argv[2]) << 20;
    int rank, size, used = 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        answer(size - 1);
    if (rank == size - 1)
        used = strcmp(argv[1], "one") == 0 ? in_one_frame(bytes) : in_many_frames(bytes);
    MPI_Finalize();
    if (rank == size - 1)
        printf("used %d\n", used > 0);
    return 0;
}
