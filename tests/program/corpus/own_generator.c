/* SPDX-License-Identifier: BSD-3-Clause */
/* A linear congruential generator of the program decides about lengths and partners. */
#include <mpi.h>
#include <stdint.h>

static uint64_t state;

static uint32_t draw(void)
{
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(state >> 33);
}

static uint32_t xorshift(uint32_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 17;
    return *s ^= *s << 5;
}

int main(int argc, char **argv)
{
    int rank, size;
    char out[600] = {0}, in[600];
    uint32_t x = 2463534242u;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    state = 42;
    for (int i = 0; i < 10; i++) {
        unsigned shift = 1 + draw() % (unsigned)size, n = draw() % 500, m = xorshift(&x) % 500;

        MPI_Sendrecv(out, (int)n, MPI_CHAR, (int)(rank + shift) % size, i, in, 600, MPI_CHAR,
                     (int)(rank + size * 2 - shift) % size, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (m & 1)
            MPI_Bcast(out, (int)m, MPI_CHAR, (int)(m % size), MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
