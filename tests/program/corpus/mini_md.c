/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells of atoms in a box: a mini-application with an input deck of defaults and a link of structs.
 * arguments: -nx 4 -steps 3 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct domain_st {
    int procs[3], coord[3], rank, size;
} Domain;

typedef struct box_st {
    int cells[3];
    int *count;
} Box;

typedef struct sim_st {
    int nx, steps;
    Domain *domain;
    Box *box;
    struct {
        int face[6];
        int room;
        char *out, *in;
    } halo;
} Sim;

static void parse(Sim *s, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-nx") == 0 || strcmp(argv[i], "-x") == 0)
            s->nx = atoi(argv[++i]);
        else if (strncmp(argv[i], "-steps", 6) == 0)
            s->steps = atoi(argv[++i]);
        else {
            fprintf(stderr, "what is %s?\n", argv[i]);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
}

static Domain *make_domain(void)
{
    Domain *d = calloc(1, sizeof(Domain));

    MPI_Comm_rank(MPI_COMM_WORLD, &d->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &d->size);
    MPI_Dims_create(d->size, 3, d->procs);
    d->coord[0] = d->rank % d->procs[0];
    d->coord[1] = d->rank / d->procs[0] % d->procs[1];
    d->coord[2] = d->rank / (d->procs[0] * d->procs[1]);
    return d;
}

static int neighbour(const Domain *d, int axis, int by)
{
    int c[3];

    memcpy(c, d->coord, sizeof(c));
    c[axis] = (c[axis] + by + d->procs[axis]) % d->procs[axis];
    return c[0] + d->procs[0] * (c[1] + d->procs[1] * c[2]);
}

static Box *make_box(const Domain *d, int nx)
{
    Box *b = malloc(sizeof(*b));
    int total = 1;

    for (int i = 0; i < 3; i++)
        total *= b->cells[i] = nx / d->procs[i] > 0 ? nx / d->procs[i] : 1;
    b->count = malloc(total * sizeof(int));
    for (int i = 0; i < total; i++)
        b->count[i] = 1 + (i + d->rank) % 3;
    return b;
}

int main(int argc, char **argv)
{
    Sim *s = calloc(1, sizeof(Sim));

    MPI_Init(&argc, &argv);
    s->nx = 2;
    s->steps = 1;
    parse(s, argc, argv);
    s->domain = make_domain();
    s->box = make_box(s->domain, s->nx);
    for (int f = 0; f < 6; f++)
        s->halo.face[f] = neighbour(s->domain, f / 2, f % 2 ? 1 : -1);
    s->halo.room = 1 << 12;
    s->halo.out = malloc(s->halo.room);
    s->halo.in = malloc(s->halo.room);
    for (int step = 0; step < s->steps; step++)
        for (int f = 0; f < 6; f++) {
            int atoms = 0, axis = f / 2, bytes;
            MPI_Status st;
            for (int i = 0; i < s->box->cells[axis]; i++)
                atoms += s->box->count[i];
            MPI_Sendrecv(s->halo.out, atoms * 24, MPI_BYTE, s->halo.face[f], f, s->halo.in,
                         s->halo.room, MPI_BYTE, s->halo.face[f ^ 1], f, MPI_COMM_WORLD, &st);
            MPI_Get_count(&st, MPI_BYTE, &bytes);
            s->box->count[0] = 1 + bytes / 24 % 4;
        }
    MPI_Finalize();
    return 0;
}
