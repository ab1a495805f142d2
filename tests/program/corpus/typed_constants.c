/* SPDX-License-Identifier: BSD-3-Clause */
/* Constants of long and float types decide how numbers are computed. */
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    char x[2000];
    float f = 0.3f, g = 1e6f;
    int n = 3000000, i;
    long long big;
    MPI_Init(&argc, &argv);
    for (i = 0; i < 40; i++)
        f = f * 1.1f + 0.01f;
    MPI_Bcast(x, (int)(f * 1000.f) % 1000, MPI_CHAR, 0, MPI_COMM_WORLD);
    g = g * 1.0000001f;
    MPI_Bcast(x, (int)((f - 13.0f) * g) % 1000 + 1000, MPI_CHAR, 0, MPI_COMM_WORLD);
    big = n * 1000L * 1000L / 7;
    MPI_Bcast(x, (int)(big % 997), MPI_CHAR, 0, MPI_COMM_WORLD);
    big = (5LL << 33) ^ 3L;
    MPI_Bcast(x, (int)(big >> 30) + (int)(big & 3), MPI_CHAR, 0, MPI_COMM_WORLD);
    big = 1L - 2u;
    MPI_Bcast(x, (int)(-big * 10) + (-1L < 1u) + (-1 < 1u), MPI_CHAR, 0, MPI_COMM_WORLD);
    big = labs(-5L) + (sizeof(int) - 5 > 0) + (~0L >> 62) + (0x80000000 > 0) +
          (2147483648 - 2147483647);
    MPI_Bcast(x, (int)big + 10, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
