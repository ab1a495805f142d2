/* SPDX-License-Identifier: BSD-3-Clause */
/* A cache of fixed size with a doubly linked list: misses are messages to the owner of a page. */
#include <mpi.h>
#include <stddef.h>
#include <string.h>

#define SLOTS 4

struct slot {
    int page;
    struct slot *prev, *next;
};

static struct slot slots[SLOTS], list;
static int used;

static void unlink_slot(struct slot *s)
{
    s->prev->next = s->next;
    s->next->prev = s->prev;
}

static void push_front(struct slot *s)
{
    s->next = list.next;
    s->prev = &list;
    list.next->prev = s;
    list.next = s;
}

static int lookup(int page)
{
    struct slot *s;

    for (s = list.next; s != &list; s = s->next)
        if (s->page == page) {
            unlink_slot(s);
            push_front(s);
            return 1;
        }
    s = used < SLOTS ? &slots[used++] : list.prev;
    if (s->next)
        unlink_slot(s);
    s->page = page;
    push_front(s);
    return 0;
}

int main(int argc, char **argv)
{
    int rank, size, misses = 0;
    char page[256];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    list.next = list.prev = &list;
    for (int i = 0; i < 20; i++) {
        int p = (i * i + i / 3) % 7;
        if (lookup(p))
            continue;
        misses++;
        if (rank == p % size) {
            for (int r = 0; r < size; r++)
                if (r != rank)
                    MPI_Send(page, 64 + p, MPI_CHAR, r, i, MPI_COMM_WORLD);
        } else {
            MPI_Recv(page, 256, MPI_CHAR, p % size, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Bcast(page, misses, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
