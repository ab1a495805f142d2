/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays of arrays, pointers to rows, pointers to pointers, comparisons and differences of
 * pointers. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static char b[1024];
static void say(long v)
{
    MPI_Bcast(b, (int)v, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static int cube[2][3][4];
static int sum_row(int (*rows)[4], int n)
{
    int s = 0;

    for (int(*r)[4] = rows; r != rows + n; ++r)
        for (int *p = *r; p < *r + 4; p++)
            s += *p;
    return s;
}

static void swap(int **a, int **c)
{
    int *t = *a;

    *a = *c;
    *c = t;
}

struct tree {
    int key[3];
    struct tree *kid[2], **where;
};

int main(int argc, char **argv)
{
    int *flat = &cube[0][0][0], *ends[2], **pp = ends;
    struct tree t = {{1, 2, 3}}, u = t, *p = &t;

    MPI_Init(&argc, &argv);
    for (int i = 0; i < 24; i++)
        flat[i] = i;
    say(cube[1][2][3] + (*cube)[1][2] + *(*(cube[1] + 1) + 1));
    say(sum_row(cube[1], 2)), say(sum_row(&cube[0][2], 1));
    ends[0] = cube[0][1], ends[1] = cube[1][2] + 3;
    say(ends[1] - ends[0]), say(*ends[0]), say(ends[1][-1]);
    swap(pp, pp + 1);
    say(**pp++ > 30 ? 0 : *pp - cube[0][0]);
    pp--, say(*pp > pp[1]), say((*pp)[-2]);
    p->kid[0] = &u, u.where = &p->kid[1], *u.where = p, u.key[1] = 70;
    say(p->kid[0]->key[1]), say((*p->kid[0]->where)->key[2]), say(p->kid[1]->kid[1] == p);
    p = p->kid[0], say(p->key[0] + (p->kid[0] == NULL) * 10);
    memcpy(cube[0], cube[1], sizeof cube[0]), say(cube[0][0][0]),
        say(memcmp(cube[0], cube[1], sizeof *cube) == 0);
    memset(&cube[1][1], 0, sizeof cube[1][1]), say(sum_row(cube[1], 3));
    int *h = malloc(5 * sizeof *h), *e = h + 5, *m;
    for (m = e; m > h;)
        m--, *m = (int)(e - m);
    say(h[0] * 10 + h[4]), say(m == h), say(*(h + (e - h) / 2));
    char *bytes = (char *)h;
    bytes[4] = 99, say(h[1]), say(*(short *)(bytes + 16));
    free(h);
    MPI_Finalize();
    return 0;
}
