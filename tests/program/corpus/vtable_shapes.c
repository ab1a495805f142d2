/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects with a table of functions; a list of them is asked for its volumes. */
#include <mpi.h>
#include <stdlib.h>

struct shape;
struct shape_ops {
    int (*volume)(const struct shape *);
    void (*grow)(struct shape *, int);
};
struct shape {
    const struct shape_ops *ops;
    int a, b, c;
};

static int box_volume(const struct shape *s)
{
    return s->a * s->b * s->c;
}
static void box_grow(struct shape *s, int by)
{
    s->c += by;
}
static int cube_volume(const struct shape *s)
{
    return s->a * s->a * s->a;
}
static void cube_grow(struct shape *s, int by)
{
    s->a += by;
}

static const struct shape_ops box_ops = {box_volume, box_grow},
                              cube_ops = {.grow = cube_grow, .volume = cube_volume};

static struct shape *make(const struct shape_ops *ops, int a, int b, int c)
{
    struct shape *s = malloc(sizeof *s);

    *s = (struct shape){ops, a, b, c};
    return s;
}

int main(int argc, char **argv)
{
    struct shape *all[3];
    int rank, size;
    char *data = calloc(1000, 1), *room = malloc(1000);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    all[0] = make(&box_ops, 2, 3, rank);
    all[1] = make(&cube_ops, 3, 0, 0);
    all[2] = make(&box_ops, 1, 1, 1);
    for (int step = 0; step < 3; step++)
        for (int i = 0; i < 3; i++) {
            MPI_Sendrecv(data, all[i]->ops->volume(all[i]), MPI_CHAR, (rank + 1) % size, 0, room,
                         1000, MPI_CHAR, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            all[i]->ops->grow(all[i], i + 1);
        }
    for (int i = 0; i < 3; i++)
        free(all[i]);
    MPI_Finalize();
    return 0;
}
