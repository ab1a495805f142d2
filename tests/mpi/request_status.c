/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Request_get_status and its forms: what they say, and that requests stay. */
#include "check.h"

enum { N = 4, TAG = 5 };

static int query(void *state, MPI_Status *status)
{
    MPI_Status_set_elements(status, MPI_INT, *(int *)state);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int release(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int cancel(void *state, int is_complete)
{
    (void)state, (void)is_complete;
    return MPI_SUCCESS;
}

static void check_nothing(void)
{
    MPI_Request none[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status;
    int flag = 0, index = 0, count = 0, indices[2];

    MPI_Request_get_status_all(2, none, &flag, MPI_STATUSES_IGNORE);
    CHECK(flag);
    flag = 0;
    MPI_Request_get_status_any(2, none, &index, &flag, &status);
    CHECK(flag && index == MPI_UNDEFINED);
    CHECK_EQUAL(status.MPI_SOURCE, MPI_ANY_SOURCE);
    MPI_Request_get_status_some(2, none, &count, indices, MPI_STATUSES_IGNORE);
    CHECK_EQUAL(count, MPI_UNDEFINED);
    CHECK_EQUAL(MPI_Request_get_status_all(-1, none, &flag, MPI_STATUSES_IGNORE), MPI_ERR_COUNT);
}

/* Messages to the next rank come one by one, in the order 2, 0, 3, 1. */
static void check_messages(void)
{
    static const int order[N] = {2, 0, 3, 1};
    int rank, p, data[N], flag, index, count, indices[N], out;
    MPI_Request requests[N];
    MPI_Status statuses[N], status;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    for (int i = 0; i < N; i++)
        MPI_Irecv(&data[i], 1, MPI_INT, (rank + p - 1) % p, TAG + i, MPI_COMM_WORLD, &requests[i]);
    MPI_Request_get_status_any(N, requests, &index, &flag, &status);
    CHECK(!flag && index == MPI_UNDEFINED);
    MPI_Request_get_status_some(N, requests, &count, indices, statuses);
    CHECK_EQUAL(count, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) {
        MPI_Send(&order[i], 1, MPI_INT, (rank + 1) % p, TAG + order[i], MPI_COMM_WORLD);
        for (flag = 0; !flag;)
            MPI_Request_get_status(requests[order[i]], &flag, &status);
        CHECK_EQUAL(status.MPI_TAG, TAG + order[i]);
        MPI_Request_get_status_any(N, requests, &index, &flag, &status);
        CHECK(flag);
        CHECK_EQUAL(status.MPI_TAG, TAG + index);
        MPI_Request_get_status_some(N, requests, &count, indices, statuses);
        CHECK_EQUAL(count, i + 1);
        for (int k = 0; k < count; k++)
            CHECK_EQUAL(statuses[k].MPI_TAG, TAG + indices[k]);
        MPI_Request_get_status_all(N, requests, &flag, statuses);
        CHECK_EQUAL(flag, i == N - 1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < N; i++) {
        MPI_Get_count(&statuses[i], MPI_INT, &out);
        CHECK_EQUAL(out, 1);
        CHECK_EQUAL(statuses[i].MPI_TAG, TAG + i);
        CHECK(requests[i] != MPI_REQUEST_NULL);
    }
    MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++)
        CHECK_EQUAL(data[i], i);
}

/* The program says what the status of its own operations is. */
static void check_generalized(void)
{
    int elements = 6, flag, count;
    MPI_Request request;
    MPI_Status status;

    MPI_Grequest_start(query, release, cancel, &elements, &request);
    MPI_Request_get_status(request, &flag, &status);
    CHECK(!flag);
    MPI_Grequest_complete(request);
    MPI_Request_get_status(request, &flag, &status);
    CHECK(flag);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_EQUAL(count, 6);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    check_nothing();
    check_messages();
    check_generalized();
    MPI_Finalize();
    return 0;
}
