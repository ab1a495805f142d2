/* SPDX-License-Identifier: BSD-3-Clause */
/* Dense C: commas, nested conditions, assignments in conditions, short circuits with effects. */
#include <mpi.h>

static char x[1000];
static int calls;
static int tick(int v)
{
    return calls++, v;
}

int main(int argc, char **argv)
{
    int r, s, n, i, j, k = 0;

    MPI_Init(&argc, &argv), MPI_Comm_rank(MPI_COMM_WORLD, &r), MPI_Comm_size(MPI_COMM_WORLD, &s);
    for (i = 0, j = 10; i < j; i += 2, --j)
        (i & 2 ? (void)MPI_Barrier(MPI_COMM_WORLD)
               : (void)MPI_Bcast(x, i + j, MPI_CHAR, 0, MPI_COMM_WORLD));
    n = tick(0) && tick(1) || tick(2) && !tick(0);
    n += (k = 5, k += tick(3)) ? k > 7 ? k == 8 ? 80 : 70 : 60 : 50;
    while ((j = tick(i) - 3) > 0 && (i -= 2, i > 0))
        k += j;
    if ((n > 10 && (k = tick(n))) || (k = 1))
        MPI_Bcast(x, k + calls, MPI_CHAR, 0, MPI_COMM_WORLD);
    r == 0 && s > 1 && MPI_Send(x, calls, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    r != 1 || MPI_Recv(x, 1000, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int a[4] = {0}, *p = a;
    *p++ = 1, *p++ = a[0]++ + 1, p[a[0] - 1] += 7;
    MPI_Bcast(x, a[0] * 100 + a[1] * 10 + a[3], MPI_CHAR, 0, MPI_COMM_WORLD);
    return MPI_Finalize();
}
