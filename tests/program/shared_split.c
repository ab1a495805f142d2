/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators of nodes and of their leaders. */
#include <mpi.h>
#include <stdlib.h>
static int depth_of(MPI_Comm c)
{
    int s, d = 0;
    MPI_Comm_size(c, &s);
    while (s > 1) {
        s = (s + 1) / 2;
        d++;
    }
    return d;
}
int main(int argc, char **argv)
{
    double x[256];
    MPI_Init(&argc, &argv);
    MPI_Comm c, n;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    int d = depth_of(c);
    for (int l = 0; l < d; l++) {
        int r, s;
        MPI_Comm_rank(c, &r);
        MPI_Comm_size(c, &s);
        MPI_Allreduce(MPI_IN_PLACE, x, 256 >> l, MPI_DOUBLE, MPI_SUM, c);
        if (s == 1)
            break;
        MPI_Comm_split(c, r < (s + 1) / 2, r, &n);
        MPI_Comm_free(&c);
        c = n;
    }
    MPI_Comm_free(&c);
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int nr;
    MPI_Comm_rank(node, &nr);
    MPI_Comm leaders;
    MPI_Comm_split(MPI_COMM_WORLD, nr == 0 ? 0 : MPI_UNDEFINED, 0, &leaders);
    MPI_Reduce(nr ? x : MPI_IN_PLACE, x, 100, MPI_DOUBLE, MPI_SUM, 0, node);
    if (leaders != MPI_COMM_NULL)
        MPI_Allreduce(MPI_IN_PLACE, x, 100, MPI_DOUBLE, MPI_SUM, leaders);
    MPI_Bcast(x, 100, MPI_DOUBLE, 0, node);
    MPI_Finalize();
    return 0;
}
