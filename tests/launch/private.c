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
enum { PAGE = 4096, BLANK = 400000 };
static char blank[BLANK]; /* whole pages that the file has nothing of */

static int *inside(void)
{
    static int counter = 100;

    return &counter;
}

/* Does every page of `blank` hold the value? */
static int is_blank(char value)
{
    for (int i = 0; i < BLANK; i += PAGE)
        if (blank[i] != value)
            return 0;
    return 1;
}

int main(int argc, char **argv)
{
    int rank, was_blank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    was_blank = is_blank(0);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < BLANK; i += PAGE)
        blank[i] = (char)(rank + 1);
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
        !was_blank || !is_blank((char)(rank + 1)) || strcmp(text, rank % 2 ? "odd" : "even") != 0)
        printf("rank %d: a variable is not private\n", rank);
    else if (argc > 1)
        printf("rank %d\n", rank);
    MPI_Finalize();
    return 0;
}
