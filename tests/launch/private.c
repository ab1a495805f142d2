/* SPDX-License-Identifier: BSD-3-Clause */
/* Every kind of variable with static storage, changed by each rank, read after all have changed. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int initialised = 5;
int zero;
static int hidden = 7;
static int *pointer = &hidden;
static const char *text = "text";
char large[300000] = "large";
_Thread_local int local = 11;
static _Thread_local char local_zero[5000];

static int *inside(void)
{
    static int counter = 100;

    return &counter;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    initialised += rank;
    zero -= rank;
    *pointer += rank;
    *inside() += rank;
    local += rank;
    local_zero[4999] = (char)rank;
    large[299999] = (char)rank;
    text = rank % 2 ? "odd" : "even";
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (initialised != 5 + rank || zero != -rank || hidden != 7 + rank || *inside() != 100 + rank ||
        local != 11 + rank || local_zero[4999] != (char)rank || large[299999] != (char)rank ||
        strcmp(text, rank % 2 ? "odd" : "even") != 0)
        printf("rank %d: a variable is not private\n", rank);
    else if (argc > 1)
        printf("rank %d\n", rank);
    MPI_Finalize();
    return 0;
}
