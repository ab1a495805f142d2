/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages and collectives from and to parts of arrays and structs; all of it steers. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
static char b[1024];
static void say(long v)
{
    MPI_Bcast(b, (int)((v % 700 + 700) % 700), MPI_CHAR, 0, MPI_COMM_WORLD);
}
typedef struct {
    int id;
    short part[5];
    char text[10];
    double x;
    struct {
        int u, v;
    } in[2];
    int *more;
} rec;
static int rank, size;
static void share(void *p, int n, MPI_Datatype t, int root)
{
    MPI_Bcast(p, n, t, root, MPI_COMM_WORLD);
}
static int *receive(int *to, int n, int from)
{
    MPI_Recv(to, n, MPI_INT, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return to + n;
}
static void both(int *out, int *in, int n)
{
    MPI_Request q[2];
    MPI_Irecv(in, n, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, q);
    MPI_Isend(out, n, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, q + 1);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
}
int main(int argc, char **argv)
{
    int a[10] = {0}, c[10] = {0}, *p, n = 0;
    rec r = {0}, all[8];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 10; i++)
        a[i] = 10 * rank + i;
    both(a + 2, &c[5], 3), n = c[6] + c[4], share(&n, 1, MPI_INT, 2), say(n);
    if (rank == 1)
        r.id = 7, r.part[3] = 33, strcpy(r.text, "abc"), r.x = 2.5, r.in[1].v = 44;
    share(&r.id, 1, MPI_INT, 1), share(&r.part[2], 3, MPI_SHORT, 1), share(r.text, 10, MPI_CHAR, 1),
        share(&r.x, 1, MPI_DOUBLE, 1), share(r.in, 4, MPI_INT, 1);
    say(r.id), say(r.part[3]), say((long)strlen(r.text)), say((long)(r.x * 10)), say(r.in[1].v);
    r.id = rank * 3, r.in[0].u = rank + 60;
    MPI_Allgather(&r, sizeof r, MPI_BYTE, all, sizeof r, MPI_BYTE, MPI_COMM_WORLD),
        say(all[size - 1].id), say(all[1].in[0].u), say(all[0].part[3]);
    if (rank == 0) {
        p = c;
        for (int i = 1; i < size; i++)
            p = receive(p, i, i);
        say((long)(p - c));
        say(c[0] + c[1] + p[-1]);
    } else {
        MPI_Send(&a[rank], rank, MPI_INT, 0, 3, MPI_COMM_WORLD);
        int k = size * (size - 1) / 2;
        say(k), say(11 + 22 + 10 * (size - 1) + 2 * (size - 1) - 1);
    }
    int *dyn = malloc(size * 2 * sizeof(int)), pair[2] = {rank, rank * rank};
    MPI_Gather(pair, 2, MPI_INT, dyn, 2, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0)
        for (int i = 0; i < size; i++)
            dyn[2 * i + 1] += dyn[2 * i];
    MPI_Scatter(dyn, 2, MPI_INT, pair, 2, MPI_INT, 0, MPI_COMM_WORLD),
        n = pair[1], share(&n, 1, MPI_INT, size - 1), say(n);
    int at[8], counts[8];
    for (int i = 0; i < size; i++)
        counts[i] = i + 1, at[i] = i * (i + 1) / 2;
    int *line = calloc(at[size - 1] + size, sizeof(int));
    MPI_Allgatherv(a, rank + 1, MPI_INT, line, counts, at, MPI_INT, MPI_COMM_WORLD),
        say(line[at[2] + 1]), say(line[at[size - 1] + size - 1]);
    MPI_Request q[4];
    MPI_Send_init(&a[0], 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, &q[0]);
    MPI_Recv_init(&c[9], 1, MPI_INT, (rank + size - 1) % size, 5, MPI_COMM_WORLD, &q[1]);
    for (int i = 0; i < 3; i++) {
        a[0] = 100 + rank + 10 * i;
        MPI_Startall(2, q);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        n = c[9];
        share(&n, 1, MPI_INT, 0), say(n);
    }
    MPI_Sendrecv(a, 3, MPI_INT, (rank + 1) % size, 6, a + 5, 3, MPI_INT, (rank + size - 1) % size,
                 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
        n = a[7], share(&n, 1, MPI_INT, 1), say(n);
    MPI_Sendrecv_replace(&a[1], 2, MPI_INT, (rank + 1) % size, 6, (rank + size - 1) % size, 6,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE),
        n = a[2] + a[3], share(&n, 1, MPI_INT, 1), say(n);
    long wide[3] = {rank, 2L << 33, -5};
    int narrow = (int)(wide[1] >> 30);
    MPI_Allreduce(MPI_IN_PLACE, wide, 3, MPI_LONG, MPI_SUM, MPI_COMM_WORLD), say(wide[0]),
        say(wide[1] >> 32), say(-wide[2]), say(narrow);
    char word[2][8] = {"", "zz"};
    if (rank == 0)
        strcpy(word[0], "steer"), MPI_Send(word[0], 6, MPI_CHAR, 1, 8, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(word[1], 8, MPI_CHAR, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
            MPI_Send(word[1] + 2, 3, MPI_CHAR, 0, 9, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Recv(word[1], 8, MPI_CHAR, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    share(word, 16, MPI_CHAR, 0), say(word[1][0]), say((long)strlen(word[0]));
    unsigned char flags[4] = {1, 2, 4, 200};
    MPI_Bcast(flags + rank % 1, 4, MPI_UNSIGNED_CHAR, 3, MPI_COMM_WORLD), say(flags[3]);
    MPI_Finalize();
    return 0;
}
