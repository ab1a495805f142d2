/* SPDX-License-Identifier: BSD-3-Clause */
/* A token that counts how often it went round. */
#include <mpi.h>
#include <stdio.h>

enum { TAG_TOKEN = 5, ROUNDS = 3 };

int main(int argc, char **argv)
{
    int me, np;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);

    int token, next = (me + 1) % np, prev = (me == 0 ? np : me) - 1;
    do {
        if (me == 0) {
            static int round = 0;
            token = ++round;
            MPI_Send(&token, 1, MPI_INT, next, TAG_TOKEN, MPI_COMM_WORLD);
            MPI_Recv(&token, 1, MPI_INT, prev, TAG_TOKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&token, 1, MPI_INT, prev, TAG_TOKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&token, 1, MPI_INT, next, TAG_TOKEN, MPI_COMM_WORLD);
        }
    } while (token < ROUNDS);
    MPI_Finalize();
    return 0;
}
