/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers of calls that a prediction does not know, in variables with values. expect: asked */
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int v = 0, s = 0, flag = 0, topo = 5, *ub;
    char data[64];
    MPI_Init(&argc, &argv);
    MPI_Get_version(&v, &s);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &ub, &flag);
    MPI_Topo_test(MPI_COMM_WORLD, &topo);
    if (v >= 3)
        MPI_Barrier(MPI_COMM_WORLD);
    if (flag)
        MPI_Bcast(data, 10, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (topo != 5)
        MPI_Bcast(data, 20, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
