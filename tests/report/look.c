/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job to look at: one rank computes until a file is there, and the others wait for it.
 *
 *   look FILE
 *
 * The last rank computes; rank 0 receives from it, rank 1 from rank 0, and all others are in a
 * barrier. Then all of them exchange messages until a second file, FILE.end, is there.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static void compute_until(const char *path)
{
    while (access(path, F_OK) != 0)
        usleep(1000);
}

static void exchange(int rank, int size)
{
    char out[1000] = "", in[1000];

    MPI_Sendrecv(out, sizeof(out), MPI_CHAR, (rank + 1) % size, 1, in, sizeof(in), MPI_CHAR,
                 (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    char end[512];
    int rank, size, token = 1, is_over = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    snprintf(end, sizeof(end), "%s.end", argv[1]);
    if (rank == size - 1) {
        compute_until(argv[1]);
        MPI_Send(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    } else if (rank == 0) {
        MPI_Recv(&token, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* chain */
        MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD); /* all */
    while (!is_over) {
        for (int i = 0; i < 100; i++)
            exchange(rank, size);
        is_over = rank == 0 && access(end, F_OK) == 0;
        MPI_Bcast(&is_over, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
