/* SPDX-License-Identifier: BSD-3-Clause */
/* Pointers to functions: tables, callbacks, members, functions of MPI. */
#include <mpi.h>
#include <stdlib.h>
typedef void (*phase_fn)(int n, MPI_Comm c);
typedef struct {
    int (*send)(void *, int, int);
    int (*recv)(void *, int, int);
    void *own;
} ops_t;
typedef struct {
    MPI_Comm comm;
    int tag;
    char data[1000];
} channel_t;
static double data[1000];
static void spread(int n, MPI_Comm c)
{
    MPI_Bcast(data, n, MPI_DOUBLE, 0, c);
}
static void add(int n, MPI_Comm c)
{
    double sum[1000];
    MPI_Reduce(data, sum, n, MPI_DOUBLE, MPI_SUM, 0, c);
}
static const phase_fn phases[] = {spread, add, spread};
static int do_send(void *p, int n, int to)
{
    channel_t *q = p;
    return MPI_Send(q->data, n, MPI_CHAR, to, q->tag, q->comm);
}
static int do_recv(void *p, int n, int from)
{
    channel_t *q = p;
    return MPI_Recv(q->data, n, MPI_CHAR, from, q->tag, q->comm, MPI_STATUS_IGNORE);
}
static void shift(int *ring, int step)
{
    int to = (ring[0] + step) % ring[1], from = (ring[0] + ring[1] - step % ring[1]) % ring[1];
    MPI_Sendrecv_replace(data, 10 * step, MPI_DOUBLE, to, 0, from, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
}
static void for_each(int last, void (*f)(int *, int), int *ring)
{
    for (int i = 1; i <= last; i++)
        (*f)(ring, i);
}
int main(int argc, char **argv)
{
    int ring[2];
    channel_t *channel = malloc(sizeof(*channel));
    ops_t ops = {do_send, &do_recv, channel};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &ring[0]);
    MPI_Comm_size(MPI_COMM_WORLD, &ring[1]);
    channel->tag = 5;
    channel->comm = MPI_COMM_WORLD;
    for (unsigned i = 0; i < sizeof(phases) / sizeof(*phases); i++)
        phases[i](100 * (int)i + 1, MPI_COMM_WORLD);
    if (ring[0] % 2 == 0 && ring[0] + 1 < ring[1])
        ops.send(ops.own, 100, ring[0] + 1);
    else if (ring[0] % 2 != 0)
        ops.recv(ops.own, 100, ring[0] - 1);
    for_each(3, shift, ring);
    for (int i = 0; i < 3; i++)
        (i == 1 ? MPI_Barrier : MPI_Barrier)(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
