/* SPDX-License-Identifier: BSD-3-Clause */
/* Unsigned arithmetic that wraps, and 64-bit numbers. */
#include <mpi.h>
#include <stdint.h>
static char data[64];
int main(int argc, char **argv)
{
    int rank, size;
    unsigned seed = 12345;
    uint64_t wide = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 8; i++) {
        seed = seed * 1103515245u + 12345u;
        wide = wide * 6364136223846793005u + 1442695040888963407u;
        MPI_Bcast(data, (int)(seed >> 16 & 31) + (int)(wide >> 60), MPI_CHAR,
                  (int)(seed % (unsigned)size), MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
