/* SPDX-License-Identifier: BSD-3-Clause */
/* A pool of receives; MPI_Waitsome says which are complete. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, left, n, *which, i;
    double *rooms, out[30] = {0};
    MPI_Request *pool;
    MPI_Status *st;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        pool = malloc((size - 1) * sizeof(MPI_Request));
        which = malloc((size - 1) * sizeof(int));
        st = malloc((size - 1) * sizeof(MPI_Status));
        rooms = malloc(30 * size * sizeof(double));
        for (i = 1; i < size; i++)
            MPI_Irecv(rooms + 30 * i, 30, MPI_DOUBLE, i, MPI_ANY_TAG, MPI_COMM_WORLD, pool + i - 1);
        left = 2 * (size - 1);
        while (left > 0) {
            MPI_Waitsome(size - 1, pool, &n, which, st);
            for (i = 0; i < n; i++) {
                int from = which[i] + 1;

                left--;
                if (st[i].MPI_TAG == 1)
                    MPI_Irecv(rooms + 30 * from, 30, MPI_DOUBLE, from, 2, MPI_COMM_WORLD,
                              &pool[which[i]]);
                else
                    MPI_Send(out, from, MPI_DOUBLE, from, 3, MPI_COMM_WORLD);
            }
        }
        free(pool);
        free(which);
        free(st);
        free(rooms);
    } else {
        MPI_Send(out, 10 + rank, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
        MPI_Send(out, 20 + rank, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD);
        MPI_Recv(out, 30, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
