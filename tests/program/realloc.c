/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks in an array that grows. */
#include <mpi.h>
#include <stdlib.h>
/* blocks owned by a hash; refined where a deterministic rule says */
typedef struct {
    int id, level, owner;
} block;
static block *blocks;
static int nblocks, cap;
static void add(int id, int level, int s)
{
    if (nblocks == cap) {
        cap = cap ? 2 * cap : 4;
        blocks = realloc(blocks, cap * sizeof *blocks);
    }
    blocks[nblocks].id = id;
    blocks[nblocks].level = level;
    blocks[nblocks++].owner = (id * 7 + level) % s;
}
static void refine(int s, int maxl)
{
    int n = nblocks;
    for (int i = 0; i < n; i++)
        if (blocks[i].level < maxl && blocks[i].id % 3 == 0) {
            add(2 * blocks[i].id + 1, blocks[i].level + 1, s);
            add(2 * blocks[i].id + 2, blocks[i].level + 1, s);
        }
}
int main(int argc, char **argv)
{
    int r, s, L = argc > 1 ? atoi(argv[1]) : 2;
    double b[512];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &r);
    MPI_Comm_size(MPI_COMM_WORLD, &s);
    for (int i = 0; i < 6; i++)
        add(i, 0, s);
    for (int l = 0; l < L; l++) {
        refine(s, L);
        for (int i = 0; i + 1 < nblocks; i++) {
            int a = blocks[i].owner, c = blocks[i + 1].owner;
            if (a == c)
                continue;
            if (r == a)
                MPI_Send(b, 8 << blocks[i].level, MPI_DOUBLE, c, i, MPI_COMM_WORLD);
            if (r == c)
                MPI_Recv(b, 8 << blocks[i].level, MPI_DOUBLE, a, i, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
