/* SPDX-License-Identifier: BSD-3-Clause */
/* Pending messages in a linked list; each node owns its request and is freed when it is complete.
 */
#include <mpi.h>
#include <stdlib.h>

struct pending {
    MPI_Request request;
    char *data;
    int length;
    struct pending *next;
};

static struct pending *head;

static void post(int to, int tag, int length)
{
    struct pending *p = malloc(sizeof(*p));

    p->data = calloc(length + 1, 1);
    p->length = length;
    MPI_Isend(p->data, p->length, MPI_CHAR, to, tag, MPI_COMM_WORLD, &p->request);
    p->next = head;
    head = p;
}

static int drain(void)
{
    int bytes = 0;

    while (head != NULL) {
        struct pending *p = head;

        head = p->next;
        MPI_Wait(&p->request, MPI_STATUS_IGNORE);
        bytes += p->length;
        free(p->data);
        free(p);
    }
    return bytes;
}

int main(int argc, char **argv)
{
    int rank, size, bytes, all;
    char room[256];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < size; i++)
        if (i != rank)
            post(i, 3, 10 * rank + i);
    for (int i = 0; i < size - 1; i++)
        MPI_Recv(room, 256, MPI_CHAR, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    bytes = drain();
    MPI_Allreduce(&bytes, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(room, all % 200, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
