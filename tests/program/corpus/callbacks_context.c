/* SPDX-License-Identifier: BSD-3-Clause */
/* Callbacks with a context pointer; a loop calls them for every neighbour. */
#include <mpi.h>
#include <stdlib.h>

typedef int (*visit_fn)(int peer, void *context);

struct send_context {
    const char *data;
    int length, calls;
};
struct recv_context {
    char *room;
    int calls, *lengths;
};

static int for_neighbours(int rank, int size, visit_fn visit, void *context)
{
    int sum = 0;

    for (int d = 1; d < size; d *= 2)
        sum += visit((rank + d) % size, context) + visit((rank - d + size) % size, context);
    return sum;
}

static int send_one(int peer, void *context)
{
    struct send_context *c = context;
    MPI_Request r;

    MPI_Isend(c->data, c->length + c->calls++, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &r);
    MPI_Request_free(&r);
    return c->length;
}

static int recv_one(int peer, void *context)
{
    struct recv_context *c = context;
    MPI_Status s;

    MPI_Recv(c->room, 500, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &s);
    MPI_Get_count(&s, MPI_CHAR, &c->lengths[c->calls++]);
    return 1;
}

int main(int argc, char **argv)
{
    char data[500], room[500];
    int rank, size, lengths[32];
    struct send_context s = {data, 20, 0};
    struct recv_context r = {.room = room, .lengths = lengths};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    s.length += rank;
    int n = for_neighbours(rank, size, send_one, &s);
    n += for_neighbours(rank, size, recv_one, &r);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Sendrecv(data, n % 100 + lengths[0], MPI_CHAR, (rank + 1) % size, 1, room, 500, MPI_CHAR,
                 (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
