/* SPDX-License-Identifier: BSD-3-Clause */
/* Macros that hide calls and loops. */
#include <mpi.h>
#include <stdio.h>
#define N 24
#define CHECK(call)                                                                                \
    do {                                                                                           \
        if ((call) != MPI_SUCCESS) {                                                               \
            fprintf(stderr, "failed\n");                                                           \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
        }                                                                                          \
    } while (0)
#define EACH(i, n) for (int i = 0; i < (n); i++)
#ifdef TWICE
#define ROUNDS 2
#else
#define ROUNDS 1
#endif
static int data[N];
int main(int argc, char **argv)
{
    int size;
    CHECK(MPI_Init(&argc, &argv));
    CHECK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    EACH(i, ROUNDS)
    EACH(root, size)
    CHECK(MPI_Bcast(data, N, MPI_INT, root, MPI_COMM_WORLD));
    CHECK(MPI_Finalize());
    return 0;
}
