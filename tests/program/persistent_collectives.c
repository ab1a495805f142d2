/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent collectives, started in other orders than they were made; numbers that they carry
 * decide what is sent. */
#include <mpi.h>
static double a[256], b[256];
int main(int argc, char **argv)
{
    int rank, size, rounds = 0, most = 0, one, counts[64], at[64];
    MPI_Request r[8];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < size; i++) {
        counts[i] = 1 + i;
        at[i] = i * (i + 1) / 2;
    }
    MPI_Bcast_init(&rounds, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    MPI_Allreduce_init(&one, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
    MPI_Allgatherv_init(a, 1 + rank, MPI_DOUBLE, b, counts, at, MPI_DOUBLE, MPI_COMM_WORLD,
                        MPI_INFO_NULL, &r[2]);
    MPI_Alltoall_init(a, 4, MPI_DOUBLE, b, 4, MPI_DOUBLE, MPI_COMM_WORLD, MPI_INFO_NULL, &r[3]);
    MPI_Reduce_init(a, b, 100, MPI_DOUBLE, MPI_SUM, size - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[4]);
    MPI_Scan_init(a, b, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[5]);
    MPI_Gather_init(a, 3, MPI_DOUBLE, b, 3, MPI_DOUBLE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[6]);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &r[7]);
    rounds = rank == 0 ? 3 : 0;
    MPI_Start(&r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    for (int i = 0; i < rounds; i++) {
        one = rank + i;
        most = 0;
        MPI_Start(&r[1]);
        MPI_Wait(&r[1], MPI_STATUS_IGNORE);
        for (int k = 0; k < most; k++) {
            MPI_Start(&r[rank % 2 == 0 ? 2 : 3]);
            MPI_Start(&r[rank % 2 == 0 ? 3 : 2]);
            MPI_Waitall(2, &r[2], MPI_STATUSES_IGNORE);
        }
        MPI_Startall(4, &r[4]);
        MPI_Waitall(4, &r[4], MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 8; i++)
        MPI_Request_free(&r[i]);
    MPI_Finalize();
    return 0;
}
