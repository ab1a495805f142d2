/* SPDX-License-Identifier: BSD-3-Clause */
/* Mistakes of spawned ranks, and of those that spawn: the first argument selects one. */
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

int main(int argc, char **argv)
{
    const char *mistake = argc > 1 ? argv[1] : "none";
    MPI_Comm parent, inter;
    int rank, x = 0;

    if (strcmp(mistake, "early") == 0 && getenv("SPAWNED"))
        return 4;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    inter = parent;
    if (parent == MPI_COMM_NULL)
        MPI_Comm_spawn(strcmp(mistake, "missing") == 0 ? "no-such-program" : argv[0], argv + 1, 2,
                       MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    if (strcmp(mistake, "deadlock") == 0)
        MPI_Recv(&x, 1, MPI_INT, 0, 7, inter, MPI_STATUS_IGNORE);
    if (parent != MPI_COMM_NULL && rank == 1 && strcmp(mistake, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 9);
    if (parent != MPI_COMM_NULL && rank == 1 && strcmp(mistake, "crash") == 0)
        abort();
    if (parent == MPI_COMM_NULL && rank == 1 && strcmp(mistake, "abort-parent") == 0)
        MPI_Abort(MPI_COMM_WORLD, 8);
    if (strcmp(mistake, "connect") == 0 && parent != MPI_COMM_NULL) {
        char port[MPI_MAX_PORT_NAME];

        if (rank == 0)
            MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
        if (rank == 1)
            MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    }
    MPI_Comm_disconnect(&inter);
    MPI_Finalize();
    return strcmp(mistake, "exit") == 0 && parent != MPI_COMM_NULL ? 3 : 0;
}
