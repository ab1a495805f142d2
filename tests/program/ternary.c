/* SPDX-License-Identifier: BSD-3-Clause */
/* Partners and sizes chosen by ?: and bits. */
#include <mpi.h>
static int a[64], b[64];
int main(int argc, char **argv)
{
    int rank, size, partner, count;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int bit = 1; bit < size; bit <<= 1) {
        partner = rank ^ bit;
        partner = partner < size ? partner : MPI_PROC_NULL;
        count = bit > 2 ? 64 : bit == 2 ? 32 : 16;
        MPI_Sendrecv(a, count, MPI_INT, partner, 0, b, count, MPI_INT, partner, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
