/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends in the way its argument names; endings.sh looks at the message and the exit code. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static void fail_in_handler(MPI_Comm *comm, int *code, ...)
{
    MPI_Abort(*comm, *code + 100);
}

int main(int argc, char **argv)
{
    const char *ending = argc > 1 ? argv[1] : "";
    MPI_Errhandler handler;
    MPI_Comm comm = MPI_COMM_WORLD;
    int rank, size, other;

    if (strcmp(ending, "before") == 0)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(ending, "abort") == 0 && rank == size - 1)
        MPI_Abort(MPI_COMM_WORLD, atoi(argv[2]));
    if (strcmp(ending, "abort_named") == 0 && rank == size - 1) {
        MPI_Comm_dup(MPI_COMM_SELF, &comm);
        MPI_Comm_set_name(comm, "heartwood");
        MPI_Abort(comm, 5);
    }
    if (strcmp(ending, "fatal") == 0 && rank == size - 1)
        MPI_Send(&rank, 1, MPI_INT, size + 7, 0, MPI_COMM_WORLD);
    if (strcmp(ending, "handler") == 0) {
        MPI_Comm_create_errhandler(fail_in_handler, &handler);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
        MPI_Comm_remote_size(MPI_COMM_WORLD, &other);
    }
    if (strcmp(ending, "errors_abort") == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ABORT);
        MPI_Comm_remote_size(MPI_COMM_WORLD, &other);
    }
    if (strcmp(ending, "twice") == 0)
        MPI_Init(&argc, &argv);
    if (strcmp(ending, "no_file") == 0) {
        MPI_File file = MPI_FILE_NULL;

        MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
        MPI_File_open(MPI_COMM_WORLD, "no/such/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    }
    MPI_Finalize();
    if (strcmp(ending, "after") == 0)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return strcmp(ending, "return") == 0 ? 7 : 0;
}
