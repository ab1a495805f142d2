/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective operations as the messages of the calling rank. */
#include "monitor.h"

static void where(MPI_Comm comm, int *rank, int *size)
{
    PMPI_Comm_rank(comm, rank);
    PMPI_Comm_size(comm, size);
}

/* Binomial tree: ranks count from the root; a rank whose lowest set bit is b is a child of the rank
 * without it, and its own children have lower bits. `is_blocks`: whole subtrees travel. */
static void tree(MPI_Comm comm, int root, double bytes, int is_down, int is_blocks)
{
    int rank, size, me, bit;

    where(comm, &rank, &size);
    me = (rank - root + size) % size;
    for (bit = 1; bit < size && !(me & bit); bit <<= 1)
        if (is_down && me + bit < size) {
            int below = size - (me + bit) < bit ? size - (me + bit) : bit;

            monitor_bytes(comm, (me + bit + root) % size, is_blocks ? bytes * below : bytes,
                          MONITOR_COLLECTIVE);
        }
    if (!is_down && me != 0) {
        int below = size - me < bit ? size - me : bit;

        monitor_bytes(comm, (me - bit + root) % size, is_blocks ? bytes * below : bytes,
                      MONITOR_COLLECTIVE);
    }
}

void monitor_tree_down(MPI_Comm comm, int root, double bytes)
{
    tree(comm, root, bytes, 1, 0);
}

void monitor_tree_up(MPI_Comm comm, int root, double bytes)
{
    tree(comm, root, bytes, 0, 0);
}

void monitor_tree_scatter(MPI_Comm comm, int root, double bytes)
{
    tree(comm, root, bytes, 1, 1);
}

void monitor_tree_gather(MPI_Comm comm, int root, double bytes)
{
    tree(comm, root, bytes, 0, 1);
}

/* With a size that is no power of two the even ones of the first pairs hand over to their partner
 * and get the result back. */
void monitor_doubling(MPI_Comm comm, double bytes)
{
    int rank, size, power = 1, rest, me;

    where(comm, &rank, &size);
    while (2 * power <= size)
        power *= 2;
    rest = size - power;
    if (rank < 2 * rest && rank % 2 == 0) {
        monitor_bytes(comm, rank + 1, bytes, MONITOR_COLLECTIVE);
        return;
    }
    me = rank < 2 * rest ? rank / 2 : rank - rest;
    for (int bit = 1; bit < power; bit <<= 1) {
        int other = me ^ bit;

        monitor_bytes(comm, other < rest ? 2 * other + 1 : other + rest, bytes, MONITOR_COLLECTIVE);
    }
    if (rank < 2 * rest)
        monitor_bytes(comm, rank - 1, bytes, MONITOR_COLLECTIVE);
}

void monitor_dissemination(MPI_Comm comm)
{
    int rank, size;

    where(comm, &rank, &size);
    for (int step = 1; step < size; step <<= 1)
        monitor_bytes(comm, (rank + step) % size, 0, MONITOR_COLLECTIVE);
}

void monitor_ring(MPI_Comm comm, double bytes)
{
    int rank, size;

    where(comm, &rank, &size);
    for (int step = 1; step < size; step++)
        monitor_bytes(comm, (rank + 1) % size, bytes, MONITOR_COLLECTIVE);
}

/* Pairwise exchange: every rank gets its block from every other. */
void monitor_halving(MPI_Comm comm, double bytes)
{
    int rank, size;

    where(comm, &rank, &size);
    for (int step = 1; step < size; step++)
        monitor_bytes(comm, (rank + step) % size, bytes / size, MONITOR_COLLECTIVE);
}

void monitor_chain(MPI_Comm comm, double bytes)
{
    int rank, size;

    where(comm, &rank, &size);
    if (rank + 1 < size)
        monitor_bytes(comm, rank + 1, bytes, MONITOR_COLLECTIVE);
}
