/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives of three ranks, each in a phase of its own, with blocks that differ. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, data[16] = {0}, out[16], to[3], from[3];
    const int counts[3] = {1, 2, 3}, offsets[3] = {0, 1, 3}, apart[3] = {0, 5, 10};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Scatterv(data, counts, offsets, MPI_INT, out, counts[rank], MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    MPI_Gatherv(rank == 2 ? MPI_IN_PLACE : data, counts[rank], MPI_INT, out, counts, offsets,
                MPI_INT, 2, MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    MPI_Allgatherv(data, counts[rank], MPI_INT, out, counts, offsets, MPI_INT, MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    MPI_Reduce_scatter(data, out, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    for (int i = 0; i < 3; i++)
        to[i] = from[i] = rank + i;
    MPI_Alltoallv(data, to, apart, MPI_INT, out, from, apart, MPI_INT, MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    MPI_Gather(rank == 1 ? MPI_IN_PLACE : data, 1, MPI_INT, out, 1, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    MPI_Allreduce(data, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    MPI_Exscan(data, out, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
