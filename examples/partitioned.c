/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partitioned communication: one message whose parts leave as they are finished.
 *
 *   mpicc -O2 partitioned.c -o partitioned && mpiexec -n 4 ./partitioned
 *
 * Each rank computes a list of numbers in eight parts and sends it to its right neighbour. The
 * request is made once; MPI_Start begins a round, MPI_Pready says that a part is finished and may
 * leave, here in an order that changes, as if threads had computed them. The receiver divides its
 * buffer in four parts and adds those that are there while the others are still on their way:
 *
 *   sender     |  0 |  1 |  2 |  3 |  4 |  5 |  6 |  7 |     MPI_Pready(i, request)
 *   receiver   |    0    |    1    |    2    |    3    |     MPI_Parrived(request, i, &flag)
 *
 * MPI_Wait ends the round on both sides. Needs MPI 4.
 */
#include <mpi.h>
#include <stdio.h>

enum { NUMBERS = 8000, PARTS = 8, OTHER_PARTS = 4, ROUNDS = 5 };

static void compute(long *numbers, int part, int round, int rank)
{
    for (int i = part * (NUMBERS / PARTS); i < (part + 1) * (NUMBERS / PARTS); i++)
        numbers[i] = (long)i * (round + 1) + rank;
}

static long add(const long *numbers, int part)
{
    long sum = 0;

    for (int i = part * (NUMBERS / OTHER_PARTS); i < (part + 1) * (NUMBERS / OTHER_PARTS); i++)
        sum += numbers[i];
    return sum;
}

/* Add each part as soon as it is there. */
static long add_all(const long *numbers, MPI_Request request)
{
    int is_added[OTHER_PARTS] = {0}, left = OTHER_PARTS, is_there;
    long sum = 0;

    while (left > 0)
        for (int part = 0; part < OTHER_PARTS; part++) {
            if (is_added[part])
                continue;
            MPI_Parrived(request, part, &is_there);
            if (is_there) {
                sum += add(numbers, part);
                is_added[part] = 1;
                left--;
            }
        }
    return sum;
}

int main(int argc, char **argv)
{
    static long mine[NUMBERS], others[NUMBERS];
    long sum = 0, total;
    MPI_Request send, receive;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Psend_init(mine, PARTS, NUMBERS / PARTS, MPI_LONG, (rank + 1) % size, 0, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &send);
    MPI_Precv_init(others, OTHER_PARTS, NUMBERS / OTHER_PARTS, MPI_LONG, (rank + size - 1) % size,
                   0, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);

    for (int round = 0; round < ROUNDS; round++) {
        MPI_Start(&receive);
        MPI_Start(&send);
        for (int i = 0; i < PARTS; i++) {
            int part = (3 * i + round) % PARTS;

            compute(mine, part, round, rank);
            MPI_Pready(part, send);
        }
        sum += add_all(others, receive);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
    }

    MPI_Request_free(&send);
    MPI_Request_free(&receive);
    MPI_Reduce(&sum, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks have received numbers whose sum is %ld\n", size, total);
    MPI_Finalize();
    return 0;
}
