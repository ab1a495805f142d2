/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions by value and by reference, and a recursion over halves. */
#include <mpi.h>

static void bounds(int rank, int size, int *first, int *last)
{
    *first = rank * 2 / size;
    *last = *first + 1 + (rank + 1) % 2;
}

static void spread(int low, int high, int rank, int *value)
{
    while (high - low > 1) {
        int middle = (low + high) / 2;

        if (rank == low)
            MPI_Send(value, 1, MPI_INT, middle, 7, MPI_COMM_WORLD);
        if (rank == middle)
            MPI_Recv(value, 1, MPI_INT, low, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank < middle)
            high = middle;
        else
            low = middle;
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    int value = 1, first, last;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    bounds(rank, size, &first, &last);
    for (int i = first; i < last; i++)
        MPI_Bcast(&value, i + 1, MPI_CHAR, 0, MPI_COMM_SELF);
    spread(0, size, rank, &value);
    MPI_Finalize();
    return 0;
}
