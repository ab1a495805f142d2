/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors that the functions of generalized requests return: each call that invokes them returns
 * them, or puts them into a status. */
#include "check.h"

#include <stdbool.h>

typedef struct {
    int query_error, free_error, cancel_error;
    int queried, freed, cancelled;
} state_t;

static int query_fn(void *extra, MPI_Status *status)
{
    state_t *state = extra;

    state->queried++;
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 5;
    status->MPI_TAG = 6;
    return state->query_error;
}

static int free_fn(void *extra)
{
    state_t *state = extra;

    state->freed++;
    return state->free_error;
}

static int cancel_fn(void *extra, int complete)
{
    state_t *state = extra;

    state->cancelled += complete ? 10 : 1;
    return state->cancel_error;
}

static MPI_Request start(state_t *state, int query_error, int free_error)
{
    MPI_Request request;

    *state = (state_t){.query_error = query_error, .free_error = free_error};
    CHECK_EQUAL(MPI_Grequest_start(query_fn, free_fn, cancel_fn, state, &request), MPI_SUCCESS);
    return request;
}

static MPI_Request done(state_t *state, int query_error, int free_error)
{
    MPI_Request request = start(state, query_error, free_error);

    CHECK_EQUAL(MPI_Grequest_complete(request), MPI_SUCCESS);
    return request;
}

/* The call that completes the request. */
enum { WAIT, TEST, WAITANY, TESTANY, SINGLE };

static int complete_one(int how, MPI_Request *request, MPI_Status *status)
{
    int flag = 1, index = 0, error;

    if (how == WAIT)
        error = MPI_Wait(request, status);
    else if (how == TEST)
        error = MPI_Test(request, &flag, status);
    else if (how == WAITANY)
        error = MPI_Waitany(1, request, &index, status);
    else
        error = MPI_Testany(1, request, &index, &flag, status);
    CHECK(flag);
    CHECK_EQUAL(index, 0);
    return error;
}

/* The first error is what the call returns. */
static void check_one(int how, int query_error, int free_error, bool has_status)
{
    MPI_Status status;
    state_t state;
    MPI_Request request = done(&state, query_error, free_error);
    int expected = query_error != MPI_SUCCESS ? query_error : free_error;

    CHECK_EQUAL(complete_one(how, &request, has_status ? &status : MPI_STATUS_IGNORE), expected);
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_EQUAL(state.queried, 1);
    CHECK_EQUAL(state.freed, 1);
    if (has_status)
        CHECK(status.MPI_SOURCE == 5 && status.MPI_TAG == 6);
}

enum { WAITALL, TESTALL, WAITSOME, TESTSOME, SEVERAL };

static int complete_several(int how, int n, MPI_Request *requests, MPI_Status *statuses)
{
    int flag = 1, count = n, indices[4], error;

    if (how == WAITALL)
        error = MPI_Waitall(n, requests, statuses);
    else if (how == TESTALL)
        error = MPI_Testall(n, requests, &flag, statuses);
    else if (how == WAITSOME)
        error = MPI_Waitsome(n, requests, &count, indices, statuses);
    else
        error = MPI_Testsome(n, requests, &count, indices, statuses);
    CHECK(flag);
    CHECK_EQUAL(count, n);
    return error;
}

static void check_several(int how, int error, bool has_statuses)
{
    state_t states[4];
    MPI_Request requests[4];
    MPI_Status statuses[4];

    requests[0] = done(&states[0], MPI_SUCCESS, MPI_SUCCESS);
    requests[1] = done(&states[1], error, MPI_SUCCESS);
    requests[2] = done(&states[2], MPI_SUCCESS, error);
    requests[3] = done(&states[3], MPI_SUCCESS, MPI_SUCCESS);
    CHECK_EQUAL(complete_several(how, 4, requests, has_statuses ? statuses : MPI_STATUSES_IGNORE),
                has_statuses ? MPI_ERR_IN_STATUS : error);
    for (int i = 0; i < 4; i++) {
        CHECK(requests[i] == MPI_REQUEST_NULL);
        CHECK_EQUAL(states[i].freed, 1);
        if (has_statuses)
            CHECK_EQUAL(statuses[i].MPI_ERROR, i == 1 || i == 2 ? error : MPI_SUCCESS);
    }
}

/* A query leaves the request; a freed request has none. */
static void check_others(int error)
{
    state_t state;
    MPI_Status status;
    MPI_Request request = done(&state, error, MPI_SUCCESS), kept;
    int flag;

    CHECK_EQUAL(MPI_Request_get_status(request, &flag, &status), error);
    CHECK_EQUAL(state.freed, 0);
    state.query_error = MPI_SUCCESS;
    CHECK_EQUAL(MPI_Wait(&request, &status), MPI_SUCCESS);
    request = done(&state, error, error);
    CHECK_EQUAL(MPI_Request_free(&request), error);
    CHECK_EQUAL(state.queried, 0);
    CHECK_EQUAL(state.freed, 1);
    request = kept = start(&state, MPI_SUCCESS, error);
    CHECK_EQUAL(MPI_Request_free(&request), MPI_SUCCESS);
    CHECK_EQUAL(state.freed, 0);
    CHECK_EQUAL(MPI_Grequest_complete(kept), error);
    CHECK_EQUAL(state.freed, 1);
    request = start(&state, MPI_SUCCESS, MPI_SUCCESS);
    state.cancel_error = error;
    CHECK_EQUAL(MPI_Cancel(&request), error);
    CHECK_EQUAL(state.cancelled, 1);
    MPI_Grequest_complete(request);
    CHECK_EQUAL(MPI_Cancel(&request), error);
    CHECK_EQUAL(state.cancelled, 11);
    CHECK_EQUAL(MPI_Wait(&request, &status), MPI_SUCCESS);
}

static void check_error(int error)
{
    for (int status = 0; status < 2; status++) {
        for (int how = 0; how < SINGLE; how++) {
            check_one(how, MPI_SUCCESS, MPI_SUCCESS, status);
            check_one(how, error, MPI_SUCCESS, status);
            check_one(how, MPI_SUCCESS, error, status);
            check_one(how, error, MPI_ERR_OTHER, status);
        }
        for (int how = 0; how < SEVERAL; how++)
            check_several(how, error, status);
    }
    check_others(error);
}

int main(int argc, char **argv)
{
    int class, code;

    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    check_error(MPI_ERR_ARG);
    check_error(class);
    check_error(code);
    MPI_Finalize();
    return 0;
}
