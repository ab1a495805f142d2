/* SPDX-License-Identifier: BSD-3-Clause */
/* Allreduce in all ways to call it; prints how many results are sums over all ranks, how many are
 * the contribution of rank 0, and how many are something else. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LONGEST = 70000, KINDS = 5 };

static int rank, ranks, sums, firsts, others;
static long mine[LONGEST], result[LONGEST];

static long value(int r, int i)
{
    return (long)(r + 1) * 1000003 + (long)i * (r + 7);
}

static long sum(int i)
{
    long s = 0;

    for (int r = 0; r < ranks; r++)
        s += value(r, i);
    return s;
}

static void call(int kind, int count)
{
    int is_in_place = kind == 2;
    const void *from = is_in_place ? MPI_IN_PLACE : (void *)mine;
    MPI_Request request = MPI_REQUEST_NULL;

    for (int i = 0; i < count; i++) {
        mine[i] = value(rank, i);
        result[i] = is_in_place ? mine[i] : -1;
    }
    if (kind == 0 || kind == 2)
        MPI_Allreduce(from, result, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    else if (kind == 1)
        MPI_Iallreduce(from, result, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &request);
    else if (kind == 3)
        MPI_Allreduce_init(from, result, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                           &request);
    else
        MPI_Barrier(MPI_COMM_WORLD); /* another collective in between */
    if (kind == 3)
        MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (kind == 3)
        MPI_Request_free(&request);
}

static void look(int count)
{
    int is_sum = 1, is_first = 1;

    for (int i = 0; i < count; i++) {
        is_sum &= result[i] == sum(i);
        is_first &= result[i] == value(0, i);
    }
    sums += is_sum;
    firsts += !is_sum && is_first;
    others += !is_sum && !is_first;
}

int main(int argc, char **argv)
{
    static const int counts[] = {1, 7, 512, LONGEST};
    int counted[3], all[3];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int c = 0; c < 4; c++)
        for (int kind = 0; kind < KINDS; kind++) {
            call(kind, counts[c]);
            if (kind < 4)
                look(counts[c]);
        }
    counted[0] = sums;
    counted[1] = firsts;
    counted[2] = others;
    MPI_Reduce(counted, all, 3, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("sums %d first %d other %d\n", all[0] / ranks, all[1] / ranks, all[2]);
    MPI_Finalize();
    return 0;
}
