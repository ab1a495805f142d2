/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Virtual time, with computation that is timed: rank 0 waits for a partitioned message whose sender
 * computes before it is made. The receives of the partitions begin in that wait, and what others
 * compute meanwhile is no computation of rank 0.
 */
#include "check.h"

/* Processor time of this rank; no call that lets others run. */
static void compute(void)
{
    volatile double x = 1;

    for (int i = 0; i < 30000000; i++)
        x = x * 0.999 + 1;
}

int main(int argc, char **argv)
{
    double begin, took[2] = {0, 0};
    int rank, data[4] = {0};
    MPI_Request request;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    begin = MPI_Wtime();
    if (rank == 0) {
        MPI_Precv_init(data, 2, 2, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
    } else {
        compute();
        took[1] = MPI_Wtime() - begin;
        MPI_Psend_init(data, 2, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready_range(0, 1, request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    took[0] = MPI_Wtime() - begin;
    MPI_Bcast(&took[1], 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    CHECK(took[1] > 1e-3);
    CHECK(took[0] < 1.5 * took[1]);
    MPI_Finalize();
    return 0;
}
