/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with libraries of its own. -DLEVEL uses a variable, -DCALLBACK lends a function. */
#include <mpi.h>
#include <stdio.h>

int own_count(void);
#ifdef LEVEL
extern int own_level, *own_pointer;
int own_get(void);
#endif
#ifdef CALLBACK
int callback_run(void);
static int value;
int program_value(void)
{
    return value;
}
#endif

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef LEVEL
    own_level += rank;
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d level %d %d %d\n", rank, own_level, own_get(), *own_pointer);
#elif defined(CALLBACK)
    value = rank;
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d value %d\n", rank, callback_run());
#else
    own_count();
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d calls %d\n", rank, own_count() > 2);
#endif
    MPI_Finalize();
    return 0;
}
