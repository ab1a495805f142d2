/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_ERRORS_RETURN: each call returns the class that the standard says, and the job goes on. */
#include "check.h"

typedef struct {
    MPI_Comm world; /* a duplicate, whose errors return */
    int rank, size, from[64], to[64];
} state_t;

static void check_messages(state_t *s)
{
    MPI_Request request;

    CHECK_EQUAL(MPI_Send(s->from, -1, MPI_INT, 0, 0, s->world), MPI_ERR_COUNT);
    CHECK_EQUAL(MPI_Send(s->from, 1, MPI_DATATYPE_NULL, 0, 0, s->world), MPI_ERR_TYPE);
    CHECK_EQUAL(MPI_Send(s->from, 1, MPI_INT, s->size, 0, s->world), MPI_ERR_RANK);
    CHECK_EQUAL(MPI_Send(s->from, 1, MPI_INT, MPI_ANY_SOURCE, 0, s->world), MPI_ERR_RANK);
    CHECK_EQUAL(MPI_Send(s->from, 1, MPI_INT, 0, -2, s->world), MPI_ERR_TAG);
    CHECK_EQUAL(MPI_Send(s->from, 1, MPI_INT, 0, MPI_ANY_TAG, s->world), MPI_ERR_TAG);
    CHECK_EQUAL(MPI_Send(NULL, 1, MPI_INT, 0, 0, s->world), MPI_ERR_BUFFER);
    CHECK_EQUAL(MPI_Send(MPI_IN_PLACE, 1, MPI_INT, 0, 0, s->world), MPI_ERR_BUFFER);
    CHECK_EQUAL(MPI_Bsend(s->from, 1, MPI_INT, 0, 0, s->world), MPI_ERR_BUFFER);
    CHECK_EQUAL(MPI_Recv(s->to, 1, MPI_INT, -9, 0, s->world, MPI_STATUS_IGNORE), MPI_ERR_RANK);
    CHECK_EQUAL(MPI_Probe(s->size, 0, s->world, MPI_STATUS_IGNORE), MPI_ERR_RANK);
    CHECK_EQUAL(MPI_Irecv(s->to, 1, MPI_INT, 0, -3, s->world, &request), MPI_ERR_TAG);
    CHECK_EQUAL(MPI_Sendrecv(s->from, 1, MPI_INT, 0, 0, s->from, 1, MPI_INT, 0, 0, s->world,
                             MPI_STATUS_IGNORE),
                MPI_ERR_BUFFER);
    CHECK_EQUAL(MPI_Send(s->from, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
}

static void check_collectives(state_t *s)
{
    const int negative[] = {-1};

    CHECK_EQUAL(MPI_Bcast(s->to, 1, MPI_INT, s->size, s->world), MPI_ERR_ROOT);
    CHECK_EQUAL(MPI_Bcast(s->to, -1, MPI_INT, 0, s->world), MPI_ERR_COUNT);
    CHECK_EQUAL(MPI_Bcast(NULL, 1, MPI_INT, 0, s->world), MPI_ERR_BUFFER);
    CHECK_EQUAL(MPI_Allreduce(s->from, s->to, 1, MPI_INT, MPI_OP_NULL, s->world), MPI_ERR_OP);
    CHECK_EQUAL(MPI_Allreduce(s->from, s->to, 1, MPI_DOUBLE, MPI_BAND, s->world), MPI_ERR_OP);
    CHECK_EQUAL(MPI_Allreduce(s->to, s->to, 1, MPI_INT, MPI_SUM, s->world), MPI_ERR_BUFFER);
    CHECK_EQUAL(MPI_Alltoallv(s->from, NULL, NULL, MPI_INT, s->to, NULL, NULL, MPI_INT, s->world),
                MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Reduce_scatter(s->from, s->to, negative, MPI_INT, MPI_SUM, s->world),
                MPI_ERR_COUNT);
    CHECK_EQUAL(MPI_Allgather(s->from, 2, MPI_INT, s->to, 1, MPI_INT, s->world), MPI_ERR_TRUNCATE);
    CHECK_EQUAL(MPI_Allgather(s->from, 1, MPI_INT, s->to, 2, MPI_INT, s->world), MPI_ERR_COUNT);
    CHECK_EQUAL(MPI_Alltoall(s->from, 1, MPI_INT, s->to, 2, MPI_INT, s->world), MPI_ERR_COUNT);
    CHECK_EQUAL(MPI_Neighbor_allgather(s->from, 1, MPI_INT, s->to, 1, MPI_INT, s->world),
                MPI_ERR_TOPOLOGY);
}

static void check_objects(state_t *s)
{
    MPI_Datatype type = MPI_INT;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Op op = MPI_SUM;
    MPI_Comm made;
    int dims[] = {s->size + 1}, periods[] = {0};

    CHECK_EQUAL(MPI_Comm_split(s->world, -7, 0, &made), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Cart_create(s->world, 1, dims, periods, 0, &made), MPI_ERR_DIMS);
    CHECK_EQUAL(MPI_Comm_remote_size(s->world, dims), MPI_ERR_COMM);
    CHECK_EQUAL(MPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT);
    type = MPI_INT;
    CHECK_EQUAL(MPI_Type_free(&type), MPI_ERR_TYPE);
    CHECK_EQUAL(MPI_Op_free(&op), MPI_ERR_OP);
    CHECK_EQUAL(MPI_Start(&request), MPI_ERR_REQUEST);
    CHECK_EQUAL(MPI_Request_free(&request), MPI_ERR_REQUEST);
    CHECK_EQUAL(MPI_Waitall(-1, &request, MPI_STATUSES_IGNORE), MPI_ERR_COUNT);
}

/* A rank sends to itself. */
static void check_truncation(state_t *s)
{
    MPI_Status status[2];
    MPI_Request request[2];
    int index[2], count, flag;

    MPI_Isend(s->from, 2, MPI_INT, s->rank, 0, s->world, request);
    CHECK_EQUAL(MPI_Recv(s->to, 1, MPI_INT, s->rank, 0, s->world, status), MPI_ERR_TRUNCATE);
    MPI_Get_count(status, MPI_INT, &count);
    CHECK_EQUAL(count, 1);
    CHECK_EQUAL(MPI_Wait(request, MPI_STATUS_IGNORE), MPI_SUCCESS);

    MPI_Irecv(s->to, 1, MPI_INT, s->rank, 1, s->world, &request[0]);
    MPI_Irecv(s->to + 8, 2, MPI_INT, s->rank, 2, s->world, &request[1]);
    MPI_Send(s->from, 2, MPI_INT, s->rank, 1, s->world);
    MPI_Send(s->from, 2, MPI_INT, s->rank, 2, s->world);
    CHECK_EQUAL(MPI_Waitall(2, request, status), MPI_ERR_IN_STATUS);
    CHECK_EQUAL(status[0].MPI_ERROR, MPI_ERR_TRUNCATE);
    CHECK_EQUAL(status[1].MPI_ERROR, MPI_SUCCESS);
    CHECK(request[0] == MPI_REQUEST_NULL && request[1] == MPI_REQUEST_NULL);

    MPI_Irecv(s->to, 1, MPI_INT, s->rank, 3, s->world, request);
    MPI_Send(s->from, 2, MPI_INT, s->rank, 3, s->world);
    CHECK_EQUAL(MPI_Waitsome(1, request, &count, index, status), MPI_ERR_IN_STATUS);
    CHECK_EQUAL(count, 1);
    CHECK_EQUAL(status[0].MPI_ERROR, MPI_ERR_TRUNCATE);

    MPI_Irecv(s->to, 1, MPI_INT, s->rank, 4, s->world, request);
    MPI_Send(s->from, 2, MPI_INT, s->rank, 4, s->world);
    CHECK_EQUAL(MPI_Waitany(1, request, index, status), MPI_ERR_TRUNCATE);
    CHECK_EQUAL(index[0], 0);

    MPI_Irecv(s->to, 1, MPI_INT, s->rank, 5, s->world, request);
    MPI_Send(s->from, 2, MPI_INT, s->rank, 5, s->world);
    do
        count = MPI_Testall(1, request, &flag, status);
    while (!flag && count == MPI_SUCCESS);
    CHECK_EQUAL(count, MPI_ERR_IN_STATUS);
    CHECK_EQUAL(status[0].MPI_ERROR, MPI_ERR_TRUNCATE);
}

/* MPI_DATATYPE_NULL where there is nothing; others have data. */
static void check_absent(state_t *s)
{
    enum { MOST = 64 };
    MPI_Datatype types[MOST];
    int counts[MOST] = {0}, offsets[MOST] = {0}, value = 7, others = 5;
    MPI_Datatype null = MPI_DATATYPE_NULL;
    MPI_Request request;
    MPI_Status status;
    MPI_Comm ring;
    int periodic = 1;

    CHECK(s->size <= MOST);
    MPI_Irecv(NULL, 0, null, s->rank, 0, s->world, &request);
    CHECK_EQUAL(MPI_Send(NULL, 0, null, s->rank, 0, s->world), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Wait(&request, &status), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Bcast(NULL, 0, null, 0, s->world), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Allreduce(s->from, s->to, 0, null, MPI_SUM, s->world), MPI_ERR_TYPE);
    CHECK_EQUAL(MPI_Alltoallv(NULL, counts, offsets, null, NULL, counts, offsets, null, s->world),
                MPI_SUCCESS);
    for (int r = 0; r < s->size; r++) { /* one message, around a ring */
        types[r] = r == (s->rank + 1) % s->size ? MPI_INT : null;
        counts[r] = types[r] == MPI_INT;
    }
    value = s->rank;
    if (s->size > 2) {
        MPI_Datatype back[MOST];
        int got[MOST];

        for (int r = 0; r < s->size; r++) {
            back[r] = (r + 1) % s->size == s->rank ? MPI_INT : null;
            got[r] = back[r] == MPI_INT;
        }
        CHECK_EQUAL(
            MPI_Alltoallw(&value, counts, offsets, types, &others, got, offsets, back, s->world),
            MPI_SUCCESS);
        CHECK_EQUAL(others, (s->rank + s->size - 1) % s->size);
        types[0] = null;
        CHECK_EQUAL(
            MPI_Alltoallw(&value, got, offsets, types, &others, got, offsets, types, MPI_COMM_SELF),
            got[0] == 0 ? MPI_SUCCESS : MPI_ERR_TYPE);
    }
    MPI_Cart_create(s->world, 1, &s->size, &periodic, 0, &ring);
    {
        const MPI_Datatype send[2] = {null, MPI_INT}, receive[2] = {MPI_INT, null};
        const int sent[2] = {0, 1}, received[2] = {1, 0};
        const MPI_Aint places[2] = {0, 0};

        others = -1;
        if (s->size > 2) {
            CHECK_EQUAL(MPI_Neighbor_alltoallw(&value, sent, places, send, &others, received,
                                               places, receive, ring),
                        MPI_SUCCESS);
            CHECK_EQUAL(others, (s->rank + s->size - 1) % s->size);
        }
    }
    MPI_Comm_free(&ring);
}

/* Three bytes end within the first of two numbers that lie apart. */
static void check_cut(state_t *s)
{
    char letters[3] = "abc";
    MPI_Datatype apart;
    MPI_Request request;

    MPI_Type_vector(2, 1, 3, MPI_INT, &apart);
    MPI_Type_commit(&apart);
    MPI_Irecv(s->to, 1, apart, s->rank, 0, s->world, &request);
    MPI_Send(letters, 3, MPI_CHAR, s->rank, 0, s->world);
    CHECK_EQUAL(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    MPI_Type_free(&apart);
}

static void check_windows(state_t *s)
{
    MPI_Win win;
    int *base;

    MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, s->world, &base, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK_EQUAL(MPI_Put(s->from, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    CHECK_EQUAL(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
    CHECK_EQUAL(MPI_Win_lock(12345, 0, 0, win), MPI_ERR_LOCKTYPE);
    CHECK_EQUAL(MPI_Win_lock(MPI_LOCK_SHARED, s->size, 0, win), MPI_ERR_RANK);
    MPI_Win_fence(0, win);
    CHECK_EQUAL(MPI_Put(s->from, 1, MPI_INT, 0, 16, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    CHECK_EQUAL(MPI_Put(s->from, -1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_COUNT);
    CHECK_EQUAL(MPI_Accumulate(s->from, 1, MPI_INT, 0, 0, 1, MPI_FLOAT, MPI_SUM, win),
                MPI_ERR_TYPE);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    state_t s = {.rank = 0};

    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &s.world);
    MPI_Comm_set_errhandler(s.world, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* of what has no communicator */
    MPI_Comm_rank(s.world, &s.rank);
    MPI_Comm_size(s.world, &s.size);
    check_messages(&s);
    check_collectives(&s);
    check_objects(&s);
    check_truncation(&s);
    check_absent(&s);
    check_cut(&s);
    check_windows(&s);
    MPI_Barrier(s.world); /* nothing was left behind */
    MPI_Comm_free(&s.world);
    MPI_Finalize();
    return 0;
}
