/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of a rank spawn ranks while the rank itself waits for the end of the threads. The new
 * ranks may come to the core that the rank waits on.
 */
#include <pthread.h>
#include <stdlib.h>

#include "../check.h"

enum { THREADS = 2, ROUNDS = 150 };

static const char *program;
static MPI_Comm comms[THREADS];

static void *spawn(void *argument)
{
    MPI_Comm *comm = argument, child;
    int got = -1;

    MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, *comm, &child, MPI_ERRCODES_IGNORE);
    MPI_Recv(&got, 1, MPI_INT, 0, 1, child, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, 77);
    MPI_Comm_disconnect(&child);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    MPI_Comm parent;
    int provided, value = 77;

    program = argv[0];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        MPI_Send(&value, 1, MPI_INT, 0, 1, parent);
        MPI_Comm_disconnect(&parent);
        MPI_Finalize();
        return 0;
    }
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_SELF, &comms[i]);
    /* Without mpiexec nothing can be spawned. */
    for (int round = 0; round < ROUNDS && getenv("PMI_SIZE") != NULL; round++) {
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, spawn, &comms[i]);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return 0;
}
