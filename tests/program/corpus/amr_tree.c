/* SPDX-License-Identifier: BSD-3-Clause */
/* A quadtree refined by a rule; leaves are dealt to ranks along the curve, and their sides
 * exchanged. */
#include <mpi.h>
#include <stdlib.h>

typedef struct node {
    struct node *child[4];
    int level, x, y, owner;
} node;

static int leaves, rank, size;

static node *grow(int level, int x, int y)
{
    node *n = calloc(1, sizeof(node));

    n->level = level;
    n->x = x;
    n->y = y;
    if (level < 2 || (level < 4 && x == y)) {
        for (int i = 0; i < 4; i++)
            n->child[i] = grow(level + 1, 2 * x + (i & 1), 2 * y + (i >> 1));
    } else {
        leaves++;
    }
    return n;
}

static void deal(node *n, int *next)
{
    if (n->child[0] == NULL) {
        n->owner = (int)((long)(*next)++ * size / leaves);
        return;
    }
    for (int i = 0; i < 4; i++)
        deal(n->child[i], next);
}

static node *find(node *n, int level, int x, int y)
{
    if (x < 0 || y < 0 || x >= 1 << level || y >= 1 << level)
        return NULL;
    for (int l = level - 1; l >= 0 && n->child[0]; l--)
        n = n->child[(x >> l & 1) + 2 * (y >> l & 1)];
    return n;
}

static void exchange(node *root, node *n)
{
    static char side[1024];

    if (n->child[0]) {
        for (int i = 0; i < 4; i++)
            exchange(root, n->child[i]);
        return;
    }
    node *right = find(root, n->level, n->x + 1, n->y);
    if (right == NULL || right->owner == n->owner)
        return;
    if (n->owner == rank)
        MPI_Send(side, 16 << n->level, MPI_CHAR, right->owner, n->level, MPI_COMM_WORLD);
    else if (right->owner == rank)
        MPI_Recv(side, 1024, MPI_CHAR, n->owner, n->level, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int next = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    node *root = grow(0, 0, 0);
    deal(root, &next);
    exchange(root, root);
    MPI_Finalize();
    return 0;
}
