/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI calls inside conditions, and errors that are looked at where they come from. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, flag = 0, err;
    char a[40], b[80];
    MPI_Request rq;

    if (MPI_Init(&argc, &argv) != MPI_SUCCESS)
        return 1;
    if (MPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS ||
        MPI_Comm_size(MPI_COMM_WORLD, &size) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 0) {
        for (int i = 1; i < size; i++)
            if ((err = MPI_Send(a, 10 * i, MPI_CHAR, i, 0, MPI_COMM_WORLD)) != MPI_SUCCESS) {
                char text[MPI_MAX_ERROR_STRING];
                int len;
                MPI_Error_string(err, text, &len);
                fprintf(stderr, "%.*s\n", len, text);
                MPI_Abort(MPI_COMM_WORLD, err);
            }
    } else if ((err = MPI_Irecv(b, 80, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &rq)) == MPI_SUCCESS) {
        while (MPI_Test(&rq, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && !flag)
            ;
    }
    for (int i = 0; MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS && i < 2; i++)
        MPI_Bcast(a, 5 + i, MPI_CHAR, i, MPI_COMM_WORLD);
    err = rank == 0   ? MPI_Send(a, 3, MPI_CHAR, 1, 4, MPI_COMM_WORLD)
          : rank == 1 ? MPI_Recv(b, 3, MPI_CHAR, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
                      : MPI_SUCCESS;
    return MPI_Finalize() == MPI_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
