/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages round a ring and a sum. An argument adds something: left leaves a datatype, op adds with
 * an operation of the program, heap writes behind an array, wait waits for a message that nobody
 * sends.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank;

static void add(void *in, void *inout, int *length, MPI_Datatype *type)
{
    if (*type == MPI_INT)
        for (int i = 0; i < *length; i++)
            ((int *)inout)[i] += ((int *)in)[i];
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int size, got = -1, sum = 0;
    int *volatile memory = malloc(sizeof(int));
    MPI_Datatype left;
    MPI_Op op = MPI_SUM;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 3, &got, 1, MPI_INT,
                 (rank + size - 1) % size, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(what, "op") == 0)
        MPI_Op_create(add, 1, &op);
    MPI_Allreduce(&got, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    if (strcmp(what, "op") == 0)
        MPI_Op_free(&op);
    if (strcmp(what, "left") == 0)
        MPI_Type_contiguous(3, MPI_INT, &left); /* line 40 */
    if (strcmp(what, "wait") == 0)
        MPI_Recv(&got, 1, MPI_INT, (rank + 1) % size, 4, MPI_COMM_WORLD, /* line 42 */
                 MPI_STATUS_IGNORE);
    if (strcmp(what, "heap") == 0)
        memory[1] = sum;
    free(memory);
    printf("sum %d\n", sum);
    MPI_Finalize();
    return 0;
}
