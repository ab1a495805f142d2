/* SPDX-License-Identifier: BSD-3-Clause */
/* Flags in bit-fields steer who sends. */
#include <mpi.h>

struct flags {
    unsigned int is_root : 1;
    unsigned int level : 3;
    int delta : 4;
};

int main(int argc, char **argv)
{
    int rank, size;
    struct flags f = {0};
    char d[64];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    f.is_root = rank == 0;
    f.level = (unsigned)(rank + 6);
    f.delta = rank - 2;
    MPI_Sendrecv(d, f.level + 1, MPI_CHAR, (rank + 1) % size, 0, d + 32, 32, MPI_CHAR,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(d, f.delta + 8, MPI_CHAR, (rank + 1) % size, 0, d + 32, 32, MPI_CHAR,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (f.is_root)
        for (int i = 1; i < size; i++)
            MPI_Send(d, i, MPI_CHAR, i, 1, MPI_COMM_WORLD);
    else
        MPI_Recv(d, 64, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
