/* SPDX-License-Identifier: BSD-3-Clause */
/* Structs by value and by pointer through several functions, nested, in arrays, and with functions
 * in them. */
#include <mpi.h>
#include <stddef.h>
#include <string.h>

static char b[512];
static void say(int v)
{
    MPI_Bcast(b, v, MPI_CHAR, 0, MPI_COMM_WORLD);
}

typedef struct point {
    short x, y;
} point;
typedef struct box {
    point lo, hi;
    char label[8];
    int (*area)(const struct box *);
    struct box *inner;
} box;

static int plain(const box *p)
{
    return (p->hi.x - p->lo.x) * (p->hi.y - p->lo.y);
}
static int ring(const box *p)
{
    return plain(p) - (p->inner ? p->inner->area(p->inner) : 0);
}
static point moved(point p, int by)
{
    return p.x += by, p.y -= by, p;
}
static box make(int w, int h)
{
    box v = {.hi = {w, h}, .label = "box", .area = plain};

    v.label[3] = (char)('0' + w % 10);
    return v;
}
static box *larger(box *a, box *c)
{
    return a->area(a) > c->area(c) ? a : c;
}
static void exchange(box *a, box *c)
{
    box t = *a;

    *a = *c, *c = t;
}
static point centers[3][2];
static point *center(int i)
{
    return centers[i % 3];
}

int main(int argc, char **argv)
{
    box a = make(5, 6), c = make(3, 4), all[3] = {a, c}, *p = all;
    point q = moved((point){10, 20}, 3);

    MPI_Init(&argc, &argv);
    say(a.area(&a)), say(c.label[3]), say((int)strlen(a.label)), say(q.x + q.y), say(moved(q, 4).x);
    a.inner = &c, a.area = ring, say(a.area(&a)), say(larger(&a, &c)->area(&c)),
    say(larger(&a, &c) == &a);
    exchange(&a, all + 1), say(a.hi.x), say(all[1].area(&all[1])), say(all[1].inner == &c);
    p[2] = p[0], p[2].lo = (point){1, 1}, say(p[2].area(p + 2)), say((p++)->hi.y), say(p->hi.y);
    (++p)->hi = moved(p->lo, 2), say(p->hi.x * 10 + (p->hi.y < 0 ? 0 : p->hi.y));
    center(4)->x = 7, center(4)[1] = (point){.y = 9}, say(centers[1][0].x * 10 + centers[1][1].y);
    memcpy(&centers[2], &centers[1], sizeof centers[1]), say(center(2)[1].y),
        centers[0][0] = centers[2][1];
    say(centers[0]->y + (*centers)[1].x), say((int)offsetof(box, label) + (int)sizeof(point));
    short *s = &centers[0][0].x;
    s[1] += 5, say(centers[0]->y), say(s[4] * 3);
    MPI_Finalize();
    return 0;
}
