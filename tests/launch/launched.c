/* SPDX-License-Identifier: BSD-3-Clause */
/* A program for other launchers: ranks add up their numbers. An argument says what goes wrong. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

/* Fail in rank 1 in the given way while the others wait for it. */
static void fail(const char *how)
{
    if (strcmp(how, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "exit") == 0)
        _exit(9);
}

static void add_up(void)
{
    int sum = 0, hosts = 0, left = (rank + size - 1) % size, right = (rank + 1) % size, got = -1;
    MPI_Comm node;
    char *block = malloc(1 << 20), *other = malloc(1 << 20);

    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Sendrecv(&rank, 1, MPI_INT, right, 0, &got, 1, MPI_INT, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    memset(block, rank + 1, 1 << 20);
    MPI_Sendrecv(block, 1 << 20, MPI_CHAR, right, 1, other, 1 << 20, MPI_CHAR, left, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (got != left || other[(1 << 20) - 1] != (char)(left + 1))
        MPI_Abort(MPI_COMM_WORLD, 99);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &got);
    got = got == 0;
    MPI_Allreduce(&got, &hosts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_free(&node);
    if (rank == 0)
        printf("%d ranks, sum %d, nodes %d\n", size, sum, hosts);
    free(block);
    free(other);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "", *launched = getenv("PMI_RANK");
    const char *number = launched != NULL ? launched : getenv("OMPI_COMM_WORLD_RANK");

    if (strcmp(how, "never") == 0 && number != NULL && strcmp(number, "1") == 0)
        return argc > 2 ? (int)sleep(1000) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 1)
        fail(how);
    add_up();
    MPI_Finalize();
    return strcmp(how, "code") == 0 && rank == 1 ? 5 : 0;
}
