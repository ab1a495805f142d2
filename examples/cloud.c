/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cloud of particles that drifts around a ring: work that moves from rank to rank.
 *
 *   mpicc -O2 cloud.c -o cloud && mpiexec -n 16 --balance load ./cloud 120000 2000
 *
 * Each rank owns a range of the cells of the ring. In each step a rank looks at all pairs of
 * particles in each of its cells and counts those that are close; then all particles move, and
 * those that leave the range of a rank are sent to their new owner with MPI_Alltoallv. Where the
 * cloud is, cells are full, and the work grows with the square of that: few ranks do nearly all of
 * it, others after a while. Nothing in the program shares the work out again.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 960, CELL = 1024, REACH = 16, DRIFT = 40 };

typedef struct {
    int x, v; /* place on the ring, and steps per turn */
} particle_t;

static int rank, size;
static particle_t *own; /* of this rank */
static int count, room;

static unsigned draw(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* The first cell of rank r, and of the one behind it. */
static int first_cell(int r)
{
    return (int)((long)CELLS * r / size);
}

static int owner_of(const particle_t *p)
{
    return (int)(((long)(p->x / CELL + 1) * size - 1) / CELLS);
}

static void add(particle_t p)
{
    if (count == room) {
        room = 2 * room + 64;
        own = realloc(own, (size_t)room * sizeof(*own));
        if (own == NULL)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    own[count++] = p;
}

/* The sum of twelve draws is nearly a normal distribution. All ranks draw all particles. */
static void make_cloud(int particles)
{
    unsigned state = 1;

    for (int i = 0; i < particles; i++) {
        int sum = 0;
        particle_t p;

        for (int k = 0; k < 12; k++)
            sum += (int)(draw(&state) % 1024);
        p.x = (CELLS / 4 * CELL + (sum - 6 * 1024) * 96) % (CELLS * CELL);
        p.x += p.x < 0 ? CELLS * CELL : 0;
        p.v = DRIFT + (int)(draw(&state) % 3) - 1;
        if (owner_of(&p) == rank)
            add(p);
    }
}

/* The particles that are close to another one of their cell, as pairs. `places` and `ends` are
 * memory for the places in the order of cells. */
static long count_pairs(int *places, int *ends)
{
    int first = first_cell(rank), cells = first_cell(rank + 1) - first;
    long pairs = 0;

    memset(ends, 0, (size_t)(cells + 1) * sizeof(int));
    for (int i = 0; i < count; i++)
        ends[own[i].x / CELL - first + 1]++;
    for (int c = 0; c < cells; c++)
        ends[c + 1] += ends[c];
    for (int i = 0; i < count; i++)
        places[ends[own[i].x / CELL - first]++] = own[i].x;
    for (int c = 0, from = 0; c < cells; from = ends[c++])
        for (int i = from; i < ends[c]; i++)
            for (int j = from; j < i; j++)
                pairs += abs(places[i] - places[j]) <= REACH;
    return pairs;
}

/* All move; those that are elsewhere afterwards go there. */
static void move(void)
{
    int *sent = calloc(4 * (size_t)size, sizeof(int)), *got = sent + size;
    int *from = got + size, *at = from + size, leaving = 0, coming = 0, kept = 0;
    particle_t *away, *come;
    MPI_Datatype pair;

    for (int i = 0; i < count; i++) {
        own[i].x = (own[i].x + own[i].v) % (CELLS * CELL);
        sent[owner_of(&own[i])] += owner_of(&own[i]) != rank;
    }
    for (int r = 0; r < size; r++) {
        from[r] = leaving;
        leaving += sent[r];
    }
    away = malloc(((size_t)leaving + 1) * sizeof(*away));
    for (int i = 0; i < count; i++)
        if (owner_of(&own[i]) == rank)
            own[kept++] = own[i];
        else
            away[from[owner_of(&own[i])]++] = own[i];
    count = kept;
    MPI_Alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++) {
        from[r] -= sent[r];
        at[r] = coming;
        coming += got[r];
    }
    come = malloc(((size_t)coming + 1) * sizeof(*come));
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Alltoallv(away, sent, from, pair, come, got, at, pair, MPI_COMM_WORLD);
    MPI_Type_free(&pair);
    for (int i = 0; i < coming; i++)
        add(come[i]);
    free(away);
    free(come);
    free(sent);
}

int main(int argc, char **argv)
{
    int particles = argc > 1 ? atoi(argv[1]) : 120000, steps = argc > 2 ? atoi(argv[2]) : 2000;
    long pairs = 0, all;
    int *places, *ends;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    make_cloud(particles);
    places = malloc(((size_t)particles + 1) * sizeof(int));
    ends = malloc((CELLS + 2) * sizeof(int));
    for (int step = 0; step < steps; step++) {
        pairs += count_pairs(places, ends);
        move();
    }
    MPI_Reduce(&pairs, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d particles in %d steps: %ld pairs were close\n", particles, steps, all);
    free(places);
    free(ends);
    free(own);
    MPI_Finalize();
    return 0;
}
