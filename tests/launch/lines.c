/* SPDX-License-Identifier: BSD-3-Clause */
/* lines wait|crash|library|library_crash: a mistake in the program, or in its library. */
#include <mpi.h>
#include <string.h>

void library_wait(void);
void library_crash(void);

static int *volatile nowhere;

__attribute__((noinline)) static void crash(void)
{
    *nowhere = 1; /* crash */
}

int main(int argc, char **argv)
{
    const int any = MPI_ANY_SOURCE;
    MPI_Comm world = MPI_COMM_WORLD;

    MPI_Init(&argc, &argv);
    if (strcmp(argv[1], "wait") == 0)
        MPI_Recv(&argc, 1, MPI_INT, any, 0, world, MPI_STATUS_IGNORE); /* wait */
    if (strcmp(argv[1], "crash") == 0)
        crash();
    if (strcmp(argv[1], "library") == 0)
        library_wait();
    if (strcmp(argv[1], "library_crash") == 0)
        library_crash();
    MPI_Finalize();
    return 0;
}
