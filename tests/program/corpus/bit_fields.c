/* SPDX-License-Identifier: BSD-3-Clause */
/* Flags in bit-fields steer who sends. */
#include <mpi.h>

struct flags {
    unsigned int is_root : 1;
    unsigned int level : 3;
    int delta : 4;
    _Bool on : 1;
};

/* The values of steps, which wrap around and know what was there before. */
static int steps(struct flags *at, char *d)
{
    struct flags f = {1, 7, 7, 1}, *p = &f;
    int n = 1;

    n += 2 * p->on++;
    n += 4 * p->on--;
    n += 8 * p->on--;
    n += 16 * p->on++;
    n += 32 * p->on;
    MPI_Bcast(d, n, MPI_CHAR, 0, MPI_COMM_WORLD);
    n = 10 + p->level++;
    n += p->level--;
    n += p->level + p->delta++;
    n += p->delta--;
    at++->level = 5;
    return n + p->delta + at[-1].level;
}

int main(int argc, char **argv)
{
    int rank, size;
    struct flags f = {0}, after[2];
    char d[64];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    f.is_root = rank == 0;
    f.level = (unsigned)(rank + 6);
    f.delta = rank - 2;
    MPI_Sendrecv(d, f.level + 1, MPI_CHAR, (rank + 1) % size, 0, d + 32, 32, MPI_CHAR,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(d, f.delta + 8, MPI_CHAR, (rank + 1) % size, 0, d + 32, 32, MPI_CHAR,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (f.is_root)
        for (int i = 1; i < size; i++)
            MPI_Send(d, i, MPI_CHAR, i, 1, MPI_COMM_WORLD);
    else
        MPI_Recv(d, 64, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(d, steps(after, d), MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
