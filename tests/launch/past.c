/* SPDX-License-Identifier: BSD-3-Clause */
/* Data that arrive where there is no room: ./past BUFFER COUNT CALL, in rank 1. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 1 << 21 };
static int numbers[2 * MOST];
static const int constant[MOST] = {1};

/* A page before memory that may not be touched, as much as arrives: halves may be copied at the
 * same time. */
static char *last_page(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *all = mmap(NULL, page + sizeof(numbers), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    mprotect(all, page, PROT_READ | PROT_WRITE);
    return all + page - 64;
}

static void receive(void *buffer, int count, int rank)
{
    if (rank == 0)
        MPI_Send(numbers, count, MPI_INT, 1, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(buffer, count, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* recv */
}

static void start_receive(void *buffer, int count, int rank)
{
    MPI_Request request;

    if (rank == 1)
        MPI_Irecv(buffer, count, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Send(numbers, count, MPI_INT, 1, 0, MPI_COMM_WORLD);
    else
        MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void get(void *buffer, int count, int rank)
{
    MPI_Win win;

    MPI_Win_create(numbers, sizeof(numbers), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    if (rank == 1)
        MPI_Get(buffer, count, MPI_INT, 0, 0, count, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    int rank, count = atoi(argv[2]);
    char small[64] = "";
    void *buffer = small;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(argv[1], "heap") == 0)
        buffer = malloc(100);
    else if (strcmp(argv[1], "page") == 0)
        buffer = last_page();
    else if (strcmp(argv[1], "constant") == 0)
        memcpy(&buffer, &(const void *){constant}, sizeof(buffer));
    if (strcmp(argv[3], "recv") == 0)
        receive(buffer, count, rank);
    else if (strcmp(argv[3], "irecv") == 0)
        start_receive(buffer, count, rank);
    else if (strcmp(argv[3], "bcast") == 0)
        MPI_Bcast(rank == 1 ? buffer : numbers, count, MPI_INT, 0, MPI_COMM_WORLD);
    else if (strcmp(argv[3], "allreduce") == 0)
        MPI_Allreduce(numbers, rank == 1 ? buffer : numbers + MOST, count, MPI_INT, MPI_SUM,
                      MPI_COMM_WORLD);
    else
        get(buffer, count, rank);
    if (rank == 1)
        puts("no fault");
    MPI_Finalize();
    return 0;
}
