/* SPDX-License-Identifier: BSD-3-Clause */
/* Partners by recursive halving; pieces are halves of what is left. ranks: 4 7 */
#include <mpi.h>
#include <stdlib.h>

static void spread(char *data, int n, int lo, int hi, int me)
{
    if (lo == hi)
        return;
    int mid = lo + (hi - lo + 1) / 2, half = n / 2;

    if (me == lo)
        MPI_Send(data + n - half, half, MPI_CHAR, mid, hi, MPI_COMM_WORLD);
    else if (me == mid)
        MPI_Recv(data, half, MPI_CHAR, lo, hi, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (me < mid)
        spread(data, n - half, lo, mid - 1, me);
    else
        spread(data, half, mid, hi, me);
}

static int collect(char *data, int n, int lo, int hi, int me)
{
    int mid, half;

    if (lo == hi)
        return n;
    mid = lo + (hi - lo + 1) / 2, half = n / 2;
    n = me < mid ? collect(data, n - half, lo, mid - 1, me) : collect(data, half, mid, hi, me);
    if (me == mid)
        MPI_Ssend(data, n, MPI_CHAR, lo, hi, MPI_COMM_WORLD);
    if (me == lo) {
        MPI_Status s;
        int more;
        MPI_Recv(data + n, 4096, MPI_CHAR, mid, hi, MPI_COMM_WORLD, &s);
        MPI_Get_count(&s, MPI_CHAR, &more);
        n += more;
    }
    return n;
}

int main(int argc, char **argv)
{
    int me, p;
    char *data = malloc(8192);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    spread(data, 1000, 0, p - 1, me);
    if (collect(data, 1000, 0, p - 1, me) == 1000 && me == 0)
        MPI_Send(data, 1, MPI_CHAR, 0, 9, MPI_COMM_SELF),
            MPI_Recv(data, 1, MPI_CHAR, 0, 9, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
