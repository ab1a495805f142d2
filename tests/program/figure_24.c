/* SPDX-License-Identifier: BSD-3-Clause */
/* The example of a task graph in Achour's thesis: rank 0 sends to each, all compute. */
#include <mpi.h>
static double x[100];
static void comp_func1(double *v, int n)
{
    for (int i = 0; i < n; i++)
        v[i] += 1;
}
static void comp_func2(double *v, int n)
{
    for (int i = 0; i < n; i++)
        v[i] *= 2;
}
int main(int argc, char **argv)
{
    int proc, procs, p;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &proc);
    MPI_Comm_size(MPI_COMM_WORLD, &procs);
    if (proc == 0) {
        for (p = 1; p < procs; p++)
            MPI_Send(x, 100, MPI_DOUBLE, p, 0, MPI_COMM_WORLD);
        comp_func1(x, 100);
    } else {
        MPI_Recv(x, 100, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        comp_func2(x, 100);
    }
    MPI_Finalize();
    return 0;
}
