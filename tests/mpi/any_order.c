/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several receives from any source at a time: MPI_Waitany and its relatives give the messages of a
 * sender in their order, which programs rely on although the standard leaves it open.
 *
 *   mpiexec -n 3 any_order
 */
#include "check.h"

enum { MESSAGES = 300, RECEIVES = 5, RANKS_MOST = 64 };

typedef struct {
    MPI_Request requests[RECEIVES];
    int values[RECEIVES];
    int next[RANKS_MOST]; /* of each sender */
    int to_post, to_come;
} box_t;

static void post(box_t *box, int i)
{
    if (box->to_post-- > 0)
        MPI_Irecv(&box->values[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                  &box->requests[i]);
}

static void take(box_t *box, int i, const MPI_Status *status)
{
    CHECK_EQUAL(box->values[i], box->next[status->MPI_SOURCE]++);
    box->to_come--;
    post(box, i);
}

/* In one of four ways. */
static void receive_some(box_t *box, int way)
{
    MPI_Status statuses[RECEIVES];
    int indices[RECEIVES], count = 0, flag = 0;

    if (way == 0) {
        MPI_Waitany(RECEIVES, box->requests, &indices[0], &statuses[0]);
        count = 1;
    } else if (way == 1) {
        while (!flag)
            MPI_Testany(RECEIVES, box->requests, &indices[0], &flag, &statuses[0]);
        count = 1;
    } else if (way == 2) {
        MPI_Waitsome(RECEIVES, box->requests, &count, indices, statuses);
    } else {
        while (count == 0)
            MPI_Testsome(RECEIVES, box->requests, &count, indices, statuses);
    }
    for (int i = 0; i < count; i++)
        take(box, indices[i], &statuses[i]);
}

static void receive(int size, int way)
{
    box_t box = {.to_post = (size - 1) * MESSAGES, .to_come = (size - 1) * MESSAGES};

    for (int i = 0; i < RECEIVES; i++) {
        box.requests[i] = MPI_REQUEST_NULL;
        post(&box, i);
    }
    while (box.to_come > 0)
        receive_some(&box, way);
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= RANKS_MOST);
    for (int way = 0; way < 4; way++) {
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; rank > 0 && i < MESSAGES; i++)
            MPI_Send(&i, 1, MPI_INT, 0, i % 3, MPI_COMM_WORLD);
        if (rank == 0)
            receive(size, way);
    }
    MPI_Finalize();
    return 0;
}
