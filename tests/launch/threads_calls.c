/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread of rank 1 calls MPI, which only its rank may do. */
#include <mpi.h>
#include <pthread.h>
#include <string.h>

static const char *what;

static void *call(void *argument)
{
    int rank;

    (void)argument;
    if (strcmp(what, "rank") == 0)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(what, "type") == 0)
        MPI_Type_commit(NULL);
    if (strcmp(what, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 9);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int rank;

    what = argv[1];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) {
        pthread_create(&thread, NULL, call, NULL);
        pthread_join(thread, NULL);
    }
    MPI_Finalize();
    return 0;
}
