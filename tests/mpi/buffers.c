/* SPDX-License-Identifier: BSD-3-Clause */
/* Attached buffers: of ranks, of communicators, automatic ones; and flushing them. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { LARGE = 100000, ROOM = LARGE + MPI_BSEND_OVERHEAD }; /* one that does not leave at once */

static void receive(int source, int tag, MPI_Comm comm, char *data)
{
    MPI_Status status;
    int count;

    MPI_Recv(data, LARGE, MPI_CHAR, source, tag, comm, &status);
    MPI_Get_count(&status, MPI_CHAR, &count);
    CHECK_EQUAL(count, LARGE);
    CHECK(data[0] == tag && data[LARGE - 1] == tag);
}

/* A message fills the buffer of its communicator, and no other. */
static void check_accounts(MPI_Comm comm, char *data, char *buffer)
{
    int rank, p, size, next, previous;
    char *found;
    MPI_Comm other;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &p);
    next = (rank + 1) % p;
    previous = (rank + p - 1) % p;
    MPI_Comm_dup(comm, &other);
    CHECK_EQUAL(MPI_Comm_attach_buffer(comm, buffer, ROOM), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Comm_attach_buffer(comm, buffer, ROOM), MPI_ERR_BUFFER);
    CHECK_EQUAL(MPI_Buffer_attach(buffer + ROOM, ROOM), MPI_SUCCESS);
    memset(data, 1, LARGE);
    CHECK_EQUAL(MPI_Bsend(data, LARGE, MPI_CHAR, next, 1, comm), MPI_SUCCESS);
    memset(data, 2, LARGE);
    CHECK_EQUAL(MPI_Bsend(data, LARGE, MPI_CHAR, next, 2, other), MPI_SUCCESS); /* of the rank */
    MPI_Barrier(comm);
    receive(previous, 1, comm, data);
    receive(previous, 2, other, data);
    CHECK_EQUAL(MPI_Comm_detach_buffer(comm, &found, &size), MPI_SUCCESS);
    CHECK(found == buffer && size == ROOM);
    CHECK_EQUAL(MPI_Comm_detach_buffer(comm, &found, &size), MPI_ERR_BUFFER);
    CHECK_EQUAL(MPI_Buffer_detach(&found, &size), MPI_SUCCESS);
    CHECK(found == buffer + ROOM);
    MPI_Comm_free(&other);
}

/* A flush waits for what was sent before it, and for nothing that is sent later. */
static void check_flush(MPI_Comm comm, char *data, char *buffer, int is_real)
{
    MPI_Request flushes[2];
    MPI_Count size;
    int rank, p, flag;
    char *found;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &p);
    MPI_Comm_attach_buffer_c(comm, buffer, 2 * ROOM);
    CHECK_EQUAL(MPI_Comm_flush_buffer(comm), MPI_SUCCESS);
    MPI_Comm_iflush_buffer(comm, &flushes[0]);
    MPI_Wait(&flushes[0], MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; i++) {
        memset(data, 3 + i, LARGE);
        MPI_Bsend(data, LARGE, MPI_CHAR, (rank + 1) % p, 3 + i, comm);
        MPI_Comm_iflush_buffer(comm, &flushes[i]);
    }
    MPI_Testall(2, flushes, &flag, MPI_STATUSES_IGNORE);
    CHECK(!is_real || !flag);
    receive((rank + p - 1) % p, 3, comm, data);
    MPI_Wait(&flushes[0], MPI_STATUS_IGNORE);
    MPI_Barrier(comm);
    if (is_real) { /* the second message still lies there */
        MPI_Request_get_status(flushes[1], &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
    }
    MPI_Barrier(comm);
    receive((rank + p - 1) % p, 4, comm, data);
    MPI_Wait(&flushes[1], MPI_STATUS_IGNORE);
    MPI_Comm_detach_buffer_c(comm, &found, &size);
    CHECK(found == buffer && size == 2 * ROOM);
}

/* A message needs less than MPI_BSEND_OVERHEAD: a size computed with MPICH's constant suffices. */
static void check_overhead(char *data, char *buffer)
{
    enum { MPICH_OVERHEAD = 96 };
    int rank, p, size;
    void *found;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Buffer_attach(buffer, LARGE + MPICH_OVERHEAD);
    memset(data, 1, LARGE);
    CHECK_EQUAL(MPI_Bsend(data, LARGE, MPI_CHAR, (rank + 1) % p, 1, MPI_COMM_WORLD), MPI_SUCCESS);
    receive((rank + p - 1) % p, 1, MPI_COMM_WORLD, data);
    MPI_Buffer_detach(&found, &size);
    MPI_Buffer_attach(buffer, LARGE);
    CHECK_EQUAL(MPI_Bsend(data, LARGE, MPI_CHAR, (rank + 1) % p, 1, MPI_COMM_WORLD),
                MPI_ERR_BUFFER);
    MPI_Buffer_detach(&found, &size);
}

/* As much as the messages need. */
static void check_automatic(char *data)
{
    MPI_Request request;
    int rank, p, size = 5;
    void *found;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    CHECK_EQUAL(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0), MPI_SUCCESS);
    for (int i = 0; i < 10; i++) {
        memset(data, i, LARGE);
        MPI_Bsend(data, LARGE, MPI_CHAR, (rank + 1) % p, i, MPI_COMM_WORLD);
    }
    CHECK_EQUAL(MPI_Buffer_iflush(&request), MPI_SUCCESS);
    for (int i = 9; i >= 0; i--)
        receive((rank + p - 1) % p, i, MPI_COMM_WORLD, data);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(MPI_Buffer_flush(), MPI_SUCCESS);
    MPI_Buffer_detach(&found, &size);
    CHECK(found == MPI_BUFFER_AUTOMATIC);
    CHECK_EQUAL(size, 0);
}

int main(int argc, char **argv)
{
    char *data, *buffer;
    MPI_Comm comm;
    int is_real;

    MPI_Init(&argc, &argv);
    is_real = argc < 2; /* in virtual time the model keeps messages, and buffers are empty */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    data = malloc(LARGE);
    buffer = malloc(2 * ROOM);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    check_accounts(comm, data, buffer);
    check_flush(comm, data, buffer, is_real);
    check_overhead(data, buffer);
    check_automatic(data);
    MPI_Comm_attach_buffer(comm, buffer, ROOM); /* goes with it */
    MPI_Comm_free(&comm);
    free(buffer);
    free(data);
    MPI_Finalize();
    return 0;
}
