/* SPDX-License-Identifier: BSD-3-Clause */
/* Particles of integer positions move and migrate to the owners of their cells. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int x, v;
} particle;

typedef struct {
    particle *at;
    int count, room;
} bag;

static void bag_add(bag *b, particle p)
{
    if (b->count == b->room) {
        b->room = b->room ? 2 * b->room : 4;
        b->at = realloc(b->at, b->room * sizeof(particle));
    }
    b->at[b->count++] = p;
}

int main(int argc, char **argv)
{
    int rank, size;
    bag mine = {0};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int width = 10, length = width * size;
    for (int i = 0; i < 12; i++)
        bag_add(&mine, (particle){rank * width + i % width, i % 5 - 2});
    for (int step = 0; step < 4; step++) {
        bag out[2] = {{0}, {0}}, stay = {0};
        for (int i = 0; i < mine.count; i++) {
            particle p = mine.at[i];
            p.x = (p.x + p.v + length) % length;
            if (p.x / width == rank)
                bag_add(&stay, p);
            else
                bag_add(&out[p.v > 0], p);
        }
        free(mine.at);
        mine = stay;
        for (int d = 0; d < 2; d++) {
            int to = (rank + (d ? 1 : size - 1)) % size, from = (rank + (d ? size - 1 : 1)) % size,
                n;
            MPI_Sendrecv(&out[d].count, 1, MPI_INT, to, 0, &n, 1, MPI_INT, from, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            particle *in = malloc((n + 1) * sizeof(particle));
            MPI_Sendrecv(out[d].at, out[d].count * (int)sizeof(particle), MPI_BYTE, to, 1, in,
                         n * (int)sizeof(particle), MPI_BYTE, from, 1, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            for (int i = 0; i < n; i++)
                bag_add(&mine, in[i]);
            free(in);
            free(out[d].at);
        }
    }
    MPI_Finalize();
    return 0;
}
