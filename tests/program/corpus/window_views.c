/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of windows that is read and written as several types. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
struct box {
    int n;
    char name[12];
    double x[3];
};
static void store(void *where, int v)
{
    int k = v * 2;
    memcpy(where, &k, sizeof k);
}
static int peek(const char *p)
{
    int k;
    memcpy(&k, p, 4);
    return k;
}
int main(int argc, char **argv)
{
    int rank, size;
    void *raw;
    struct box *boxes, got;
    MPI_Win win, win2, win3;
    char *bytes, data[1000], room[1000];
    int *q;
    short table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    PMPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &raw, &win);
    bytes = raw;
    q = (int *)(bytes + 16);
    store(bytes + 8, rank + 3);
    q[0] = 0;
    boxes = malloc(2 * sizeof *boxes);
    memset(boxes, 0, 2 * sizeof *boxes);
    boxes[1].n = rank + 1;
    strcpy(boxes[1].name, rank % 2 ? "odd one" : "even");
    boxes[1].x[2] = 2.5 * rank;
    MPI_Win_create(boxes, 2 * sizeof *boxes, sizeof *boxes, MPI_INFO_NULL, MPI_COMM_WORLD, &win2);
    MPI_Win_create(table, sizeof table, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win3);
    MPI_Win_fence(0, win);
    MPI_Win_fence(0, win2);
    MPI_Win_fence(0, win3);
    int got8;
    MPI_Get(&got8, 1, MPI_INT, (rank + 1) % size, 8, 1, MPI_INT, win);
    MPI_Get(&got, sizeof got, MPI_BYTE, (rank + 1) % size, 1, sizeof got, MPI_BYTE, win2);
    short s = (short)(rank + 10);
    MPI_Accumulate(&s, 1, MPI_SHORT, (rank + 1) % size, 2, 1, MPI_SHORT, MPI_SUM, win3);
    MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 16, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_fence(0, win2);
    MPI_Win_fence(0, win3);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Sendrecv(data, got8 + strlen(got.name), MPI_CHAR, right, 0, room, 1000, MPI_CHAR, left, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(data, (int)got.x[2] + got.n, MPI_CHAR, right, 0, room, 1000, MPI_CHAR, left, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(data, q[0] + 1 + peek(bytes + 16), MPI_CHAR, right, 0, room, 1000, MPI_CHAR, left,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(data, table[2], MPI_CHAR, right, 0, room, 1000, MPI_CHAR, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Win_free(&win3);
    MPI_Win_free(&win2);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
