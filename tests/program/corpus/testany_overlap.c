/* SPDX-License-Identifier: BSD-3-Clause */
/* Work between tests: whichever of two requests is complete is handled. */
#include <mpi.h>
#include <stdio.h>

static void work(double *x)
{
    for (int i = 0; i < 1000; i++)
        x[i % 100] += i;
}

int main(int argc, char **argv)
{
    int rank, size, index, flag, rounds = 0;
    double a[100] = {0}, l[100], r[100];
    MPI_Request req[4];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Irecv(l, 100, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &req[0]);
    MPI_Irecv(r, 100, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &req[1]);
    MPI_Isend(a, 40 + rank, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &req[2]);
    MPI_Isend(a, 90 - rank, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &req[3]);
    int got = 0;
    while (got < 2) {
        work(a);
        rounds++;
        MPI_Testany(2, req, &index, &flag, MPI_STATUS_IGNORE);
        if (!flag || index == MPI_UNDEFINED)
            continue;
        got++;
        if (index == 0)
            MPI_Send(l, 7, MPI_DOUBLE, right, 2, MPI_COMM_WORLD);
        else
            MPI_Send(r, 8, MPI_DOUBLE, left, 3, MPI_COMM_WORLD);
    }
    MPI_Waitall(2, req + 2, MPI_STATUSES_IGNORE);
    MPI_Recv(l, 100, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(r, 100, MPI_DOUBLE, right, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
