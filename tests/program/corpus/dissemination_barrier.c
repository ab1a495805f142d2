/* SPDX-License-Identifier: BSD-3-Clause */
/* A barrier of messages, checked against rounds of log2. ranks: 3 5 8 */
#include <assert.h>
#include <mpi.h>

static int rounds(int p)
{
    int k = 0;
    for (p--; p; p >>= 1)
        k++;
    return k;
}

static int barrier(MPI_Comm c)
{
    int r, p, k = 0;

    MPI_Comm_rank(c, &r);
    MPI_Comm_size(c, &p);
    for (int d = 1; d < p; d += d, k++)
        MPI_Sendrecv(NULL, 0, MPI_BYTE, (r + d) % p, k, NULL, 0, MPI_BYTE, (r - d + p) % p, k, c,
                     MPI_STATUS_IGNORE);
    assert(k == rounds(p));
    return k;
}

int main(int argc, char **argv)
{
    int k;
    char x[16];

    MPI_Init(&argc, &argv);
    k = barrier(MPI_COMM_WORLD);
    k += barrier(MPI_COMM_WORLD);
    MPI_Bcast(x, k, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
