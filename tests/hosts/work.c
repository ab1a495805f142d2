/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job that something happens to: all ranks exchange messages for some seconds. With `survive`,
 * those that are left go on without the others.
 *
 *   work SECONDS [survive]     makes the file `ready` when all ranks run, and prints "done"
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 60000 };

/* One round; `goes_on` comes from the first rank. */
static int play(MPI_Comm comm, int *goes_on)
{
    static char out[BYTES], in[BYTES];
    int rank, size, code;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    code = MPI_Sendrecv(out, BYTES, MPI_CHAR, (rank + 1) % size, 0, in, BYTES, MPI_CHAR,
                        (rank + size - 1) % size, 0, comm, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS)
        code = MPI_Bcast(goes_on, 1, MPI_INT, 0, comm);
    return code;
}

int main(int argc, char **argv)
{
    MPI_Comm comm = MPI_COMM_WORLD, next;
    int rank, size, goes_on = 1;
    double end;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(comm, &rank);
    if (argc > 2)
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Barrier(comm);
    if (rank == 0)
        fclose(fopen("ready", "w"));
    end = MPI_Wtime() + atof(argv[1]);
    while (goes_on) {
        MPI_Comm_rank(comm, &rank);
        if (rank == 0)
            goes_on = MPI_Wtime() < end;
        if (play(comm, &goes_on) == MPI_SUCCESS)
            continue;
        MPIX_Comm_revoke(comm);
        MPIX_Comm_shrink(comm, &next);
        comm = next;
        goes_on = 1;
    }
    MPI_Comm_size(comm, &size);
    if (rank == 0)
        printf("done by %d\n", size);
    MPI_Finalize();
    return 0;
}
