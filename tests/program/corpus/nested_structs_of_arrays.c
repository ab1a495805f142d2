/* SPDX-License-Identifier: BSD-3-Clause */
/* Levels of a multigrid in an array of structs with arrays of structs in them. */
#include <mpi.h>
#include <stdlib.h>

enum { LEVELS = 4, SIDES = 4 };

struct level {
    int n, active;
    struct side {
        int peer, length;
        double *out, *in;
    } side[SIDES];
};

static void exchange(struct level *l, int tag)
{
    MPI_Request r[2 * SIDES];
    struct side *s;
    int k = 0;

    for (s = l->side; s < l->side + SIDES; s++)
        MPI_Irecv(s->in, s->length, MPI_DOUBLE, s->peer, tag + (int)(s - l->side), MPI_COMM_WORLD,
                  &r[k++]);
    for (s = l->side; s < l->side + SIDES; s++)
        MPI_Isend(s->out, s->length, MPI_DOUBLE, s->peer, tag + ((int)(s - l->side) ^ 1),
                  MPI_COMM_WORLD, &r[k++]);
    MPI_Waitall(k, r, MPI_STATUSES_IGNORE);
}

static void cycle(struct level *levels, int at)
{
    struct level *l = &levels[at];

    if (!l->active)
        return;
    exchange(l, 10 * at);
    if (at + 1 < LEVELS)
        cycle(levels, at + 1);
    exchange(l, 100 + 10 * at);
}

int main(int argc, char **argv)
{
    static struct level levels[LEVELS];
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < LEVELS; i++) {
        levels[i].n = 64 >> i;
        levels[i].active = levels[i].n >= 16;
        for (int s = 0; s < SIDES; s++) {
            struct side *d = levels[i].side + s;
            int by = s < 2 ? 1 : 2;

            d->peer = (rank + (s & 1 ? by : size * 2 - by)) % size;
            d->length = levels[i].n / (s < 2 ? 1 : 2);
            d->out = malloc(2 * d->length * sizeof(double));
            d->in = d->out + d->length;
        }
    }
    cycle(levels, 0);
    MPI_Finalize();
    return 0;
}
