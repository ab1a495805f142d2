/* SPDX-License-Identifier: BSD-3-Clause */
/* Two libraries (-DOWNER, -DUSER) of which one names a thread-local variable of the other, and the
 * program that uses both. */
#if defined(OWNER)
_Thread_local int pair_value = 5;
int *pair_owner(void);

int *pair_owner(void)
{
    return &pair_value;
}
#elif defined(USER)
extern _Thread_local int pair_value;
static _Thread_local int calls = 3;
int *pair_user(void);

int *pair_user(void)
{
    calls++;
    return calls > 3 ? &pair_value : 0;
}
#else
#include <mpi.h>
#include <stdio.h>

int *pair_owner(void);
int *pair_user(void);

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    *pair_user() += rank;
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d %d %s\n", rank, *pair_owner(), pair_owner() == pair_user() ? "same" : "another");
    MPI_Finalize();
    return 0;
}
#endif
