/* SPDX-License-Identifier: BSD-3-Clause */
/* Bits of a shift register choose between a message left, right, both or none. */
#include <mpi.h>
#include <stdbool.h>

static bool step(unsigned *lfsr)
{
    unsigned bit = ((*lfsr >> 0) ^ (*lfsr >> 2) ^ (*lfsr >> 3) ^ (*lfsr >> 5)) & 1u;

    *lfsr = (*lfsr >> 1) | (bit << 15);
    return *lfsr & 1;
}

int main(int argc, char **argv)
{
    unsigned lfsr = 0xACE1u;
    int rank, size;
    char a[64], b[64];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int l = (rank + size - 1) % size, r = (rank + 1) % size;
    for (int i = 0; i < 15; ++i) {
        bool go_left = step(&lfsr), go_right = step(&lfsr);
        unsigned char n = (unsigned char)(lfsr >> 3) & 63;

        if (go_left && go_right) {
            MPI_Request q[2];
            MPI_Isend(a, n, MPI_CHAR, l, 0, MPI_COMM_WORLD, q);
            MPI_Isend(a, n / 2, MPI_CHAR, r, 1, MPI_COMM_WORLD, q + 1);
            MPI_Recv(b, 64, MPI_CHAR, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(b, 64, MPI_CHAR, l, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        } else if (go_left ^ go_right) {
            MPI_Sendrecv(a, n, MPI_CHAR, go_left ? l : r, 2, b, 64, MPI_CHAR, go_left ? r : l, 2,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Finalize();
    return 0;
}
