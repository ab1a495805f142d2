/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays of variable length as parameters, and a table in two dimensions that says who sends how
 * much. */
#include <mpi.h>

static void fill(int n, int traffic[n][n])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            traffic[i][j] = i == j ? 0 : (i * 5 + j * 3) % 17;
}

static int column_sum(int n, int traffic[][n], int j)
{
    int s = 0;
    for (int i = 0; i < n; ++i)
        s += traffic[i][j];
    return s;
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int traffic[size][size];
    char data[64], room[64];
    MPI_Request r[size];

    fill(size, traffic);
    for (int j = 0; j < size; j++)
        MPI_Isend(data, traffic[rank][j], MPI_CHAR, j, 0, MPI_COMM_WORLD, &r[j]);
    for (int i = 0; i < size; i++)
        MPI_Recv(room, traffic[i][rank], MPI_CHAR, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(size, r, MPI_STATUSES_IGNORE);
    MPI_Bcast(data, column_sum(size, traffic, 0), MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
