/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that have nothing to do leave early, from several places. ranks: 3 5 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int size, rank;

static void finish(int code)
{
    MPI_Finalize();
    exit(code);
}

static int role(void)
{
    if (rank >= 4)
        return 2;
    return rank % 2;
}

static int serve(char *x)
{
    MPI_Status s;

    for (;;) {
        MPI_Recv(x, 100, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
        if (s.MPI_TAG == 9)
            return s.MPI_SOURCE;
        if (s.MPI_TAG == 1) {
            MPI_Send(x, 20 + s.MPI_SOURCE, MPI_CHAR, s.MPI_SOURCE, 2, MPI_COMM_WORLD);
            continue;
        }
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

int main(int argc, char **argv)
{
    char x[100];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    switch (role()) {
    case 2:
        finish(0);
    case 1:
        serve(x);
        break;
    default:
        if (rank + 1 >= size)
            finish(0);
        for (int i = 0; i < 3; i++) {
            MPI_Send(x, 10 * i + 1, MPI_CHAR, rank + 1, 1, MPI_COMM_WORLD);
            MPI_Recv(x, 100, MPI_CHAR, rank + 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (i == 1 && rank == 2)
                break;
        }
        MPI_Send(NULL, 0, MPI_CHAR, rank + 1, 9, MPI_COMM_WORLD);
    }
    if (role() == 1)
        return MPI_Finalize();
    finish(EXIT_SUCCESS);
}
