/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that the standard does not allow, and that other libraries may let pass. */
#include <pthread.h>

#include "bugs.h"

static const int ones[2] = {1, 1}, places[2] = {0, 1};

/* says: rank 1: MPI_Reduce: MPI_IN_PLACE is not allowed for this buffer (MPI_ERR_BUFFER; at @here)
 */
BUG(in_place_beside_root)
{
    void *from = wrong || rank == 0 ? MPI_IN_PLACE : numbers;

    MPI_Reduce(from, others, 4, MPI_INT, MPI_SUM, 0, world); // @here
}

/* ranks: 3
 * says: rank 2: MPI_Ireduce: MPI_IN_PLACE is not allowed for this buffer (MPI_ERR_BUFFER; at @here)
 */
BUG(in_place_in_ireduce)
{
    void *from = rank == 0 || (wrong && rank == 2) ? MPI_IN_PLACE : numbers;
    MPI_Request request;

    MPI_Ireduce(from, others, 4, MPI_INT, MPI_SUM, 0, world, &request); // @here
    MPI_Wait(&request, ignore);
}

/* says: rank *: MPI_Allgatherv: MPI_IN_PLACE is not allowed for this buffer (MPI_ERR_BUFFER; at
 * @here) */
BUG(in_place_received_allgatherv)
{
    void *to = wrong ? MPI_IN_PLACE : others;

    MPI_Allgatherv(numbers, 1, MPI_INT, to, ones, places, MPI_INT, world); // @here
}

/* says: rank *: MPI_Alltoallv: MPI_IN_PLACE is not allowed for this buffer (MPI_ERR_BUFFER; at
 * @here) */
BUG(in_place_received_alltoallv)
{
    void *to = wrong ? MPI_IN_PLACE : others;

    MPI_Alltoallv(numbers, ones, places, MPI_INT, to, ones, places, MPI_INT, world); // @here
}

/* says: rank 0: MPI_Gatherv: MPI_IN_PLACE is not allowed for this buffer (MPI_ERR_BUFFER; at @here)
 */
BUG(in_place_received_gatherv)
{
    void *to = wrong ? MPI_IN_PLACE : others;

    MPI_Gatherv(numbers, 1, MPI_INT, to, ones, places, MPI_INT, 0, world); // @here
}

/* says: rank 1: MPI_Scatterv: MPI_IN_PLACE is not allowed for this buffer (MPI_ERR_BUFFER; at
 * @here) */
BUG(in_place_sent_scatterv)
{
    void *from = wrong ? MPI_IN_PLACE : numbers;

    MPI_Scatterv(from, ones, places, MPI_INT, others, 1, MPI_INT, 1, world); // @here
}

/* code: 10
 * says: rank *: MPI_Allreduce: MPI_REPLACE is an operation of one-sided communication, and not of
 * reductions (MPI_ERR_OP; at @here) */
BUG(replace_allreduce)
{
    MPI_Allreduce(numbers, others, 4, MPI_INT, wrong ? MPI_REPLACE : MPI_MAX, world); // @here
}

/* ranks: 1
 * code: 10
 * says: rank 0: MPI_Reduce_local: MPI_NO_OP is an operation of one-sided communication, and not of
 * reductions (MPI_ERR_OP; at @here) */
BUG(no_op_reduce_local)
{
    MPI_Reduce_local(numbers, others, 4, MPI_INT, wrong ? MPI_NO_OP : MPI_BOR); // @here
}

/* code: 7
 * says: rank *: MPI_Request_free: the request of a nonblocking collective cannot be freed; call
 * MPI_Wait (MPI_ERR_REQUEST; at @here) */
BUG(collective_request_freed)
{
    MPI_Request request;

    MPI_Ibarrier(world, &request);
    if (wrong)
        MPI_Request_free(&request); // @here
    else
        MPI_Wait(&request, ignore);
}

/* ranks: 1
 * code: 7
 * says: rank 0: MPI_Start: the request was completed or freed before; it was that of MPI_Send_init
 * at @made (MPI_ERR_REQUEST; at @here) */
BUG(start_of_freed)
{
    MPI_Request request, copy;

    MPI_Send_init(numbers, 1, MPI_INT, MPI_PROC_NULL, 0, world, &request); // @made
    copy = request;
    if (wrong)
        MPI_Request_free(&request);
    MPI_Start(&copy); // @here
    MPI_Wait(&copy, ignore);
    MPI_Request_free(&copy);
}

#if MPI_VERSION >= 4
/* code: 7
 * says: rank *: MPI_Startall: the request was completed or freed before; it was that of
 * MPI_Barrier_init at @made (MPI_ERR_REQUEST; at @here) */
BUG(startall_of_freed)
{
    MPI_Request request, copy;

    MPI_Barrier_init(world, MPI_INFO_NULL, &request); // @made
    copy = request;
    if (wrong)
        MPI_Request_free(&request);
    MPI_Startall(1, &copy); // @here
    MPI_Wait(&copy, ignore);
    MPI_Request_free(&copy);
}
#endif

/* ranks: 1
 * code: 7
 * says: rank 0: MPI_Request_free: the request was completed or freed before; it was that of
 * MPI_Recv_init at @made (MPI_ERR_REQUEST; at @here) */
BUG(request_freed_twice)
{
    MPI_Request request, copy;

    MPI_Recv_init(numbers, 1, MPI_INT, MPI_PROC_NULL, 0, world, &request); // @made
    copy = request;
    MPI_Request_free(&request);
    if (wrong)
        MPI_Request_free(&copy); // @here
}

#if MPI_VERSION >= 4
/* before: yes
 * code: 5
 * says: rank *: MPI_Barrier: MPI_COMM_WORLD needs MPI_Init, and the program has sessions only; make
 * a communicator with MPI_Comm_create_from_group (MPI_ERR_COMM; at @here) */
BUG(world_of_session)
{
    MPI_Session session;

    if (!wrong)
        MPI_Init(NULL, NULL);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Barrier(world); // @here
    MPI_Session_finalize(&session);
    if (!wrong)
        MPI_Finalize();
}

/* before: yes
 * ranks: 1
 * code: 5
 * says: rank 0: MPI_Comm_dup: MPI_COMM_SELF needs MPI_Init, and the program has sessions only; *
 * (MPI_ERR_COMM; at @here) */
BUG(self_of_session)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm twin;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://SELF", &group);
    if (wrong)
        MPI_Comm_dup(MPI_COMM_SELF, &twin); // @here
    else
        MPI_Comm_create_from_group(group, "twin", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &twin);
    MPI_Comm_free(&twin);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
}

/* before: yes
 * ranks: 1
 * says: rank 0: MPI_Comm_rank was called after MPI_Session_finalize and without MPI_Init; move it
 * before (at @here) */
BUG(after_session)
{
    MPI_Session session;

    if (!wrong)
        MPI_Init(NULL, NULL);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_finalize(&session);
    MPI_Comm_rank(world, &rank); // @here
    if (!wrong)
        MPI_Finalize();
}
#endif

static void *finalize(void *argument)
{
    MPI_Finalize(); // @finalize
    return argument;
}

/* before: yes
 * code: 16
 * says: rank *: MPI_Finalize: called by a thread other than that of MPI_Init; call it in the main
 * thread (MPI_ERR_OTHER; at @finalize) */
BUG(finalized_by_thread)
{
    pthread_t thread;
    int provided;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    if (wrong) {
        pthread_create(&thread, NULL, finalize, NULL);
        pthread_join(thread, NULL);
    } else {
        finalize(NULL);
    }
}

static MPI_Request shared;

static void *wait_for_shared(void *argument)
{
    MPI_Request request = shared;

    MPI_Wait(&request, ignore); // @wait
    return argument;
}

/* Rank 1 sends when rank 0 has ended the job, or has no other thread.
 * before: yes
 * code: 7
 * says: rank 0: MPI_Wait: the request of MPI_Irecv at @start is waited for already, by another
 * thread or earlier in the list of requests; one call completes a request (MPI_ERR_REQUEST; at
 * @wait) */
BUG(waited_for_by_two)
{
    pthread_t thread;
    int provided;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(world, &rank);
    if (rank == 0) {
        MPI_Irecv(others, 1, MPI_INT, 1, 0, world, &shared); // @start
        if (wrong)
            pthread_create(&thread, NULL, wait_for_shared, NULL);
        else
            MPI_Send(numbers, 1, MPI_INT, 1, 1, world);
        wait_for_shared(NULL);
    } else {
        MPI_Recv(others, 1, MPI_INT, 0, 1, world, ignore);
        MPI_Send(numbers, 1, MPI_INT, 0, 0, world);
    }
    MPI_Finalize();
}

/* code: 7
 * says: rank 0: MPI_Waitall: the request of MPI_Irecv at @start is waited for already, by another
 * thread or earlier in the list of requests; one call completes a request (MPI_ERR_REQUEST; at
 * @here) */
BUG(listed_twice)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};

    if (rank == 0) {
        MPI_Irecv(others, 1, MPI_INT, 1, 0, world, &requests[0]); // @start
        if (wrong)
            requests[1] = requests[0];
        else
            MPI_Send(numbers, 1, MPI_INT, 1, 1, world);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); // @here
    } else {
        MPI_Recv(others, 1, MPI_INT, 0, 1, world, ignore);
        MPI_Send(numbers, 1, MPI_INT, 0, 0, world);
    }
}

/* Two blocks of two numbers each, the second at the end of the first or at its second number. */
static MPI_Datatype make_blocks(bool overlap)
{
    MPI_Datatype type;
    int lengths[2] = {2, 2}, displacements[2] = {0, overlap ? 1 : 2};

    MPI_Type_indexed(2, lengths, displacements, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

/* code: 3
 * says: rank 1: MPI_Recv: the datatype has blocks that overlap; it can be sent, and not received
 * into (MPI_ERR_TYPE; at @here) */
BUG(overlap_received)
{
    MPI_Datatype blocks = make_blocks(true), apart = make_blocks(false);

    if (rank == 0)
        MPI_Send(numbers, 1, blocks, 1, 0, world);
    else
        MPI_Recv(others, 1, wrong ? blocks : apart, 0, 0, world, ignore); // @here
    MPI_Type_free(&blocks);
    MPI_Type_free(&apart);
}

/* A number each second of its bytes.
 * code: 3
 * says: rank 1: MPI_Irecv: the datatype has blocks that overlap; it can be sent, and not received
 * into (MPI_ERR_TYPE; at @here) */
BUG(overlap_of_elements)
{
    MPI_Datatype close;
    MPI_Request request;

    MPI_Type_create_resized(MPI_INT, 0, 2, &close);
    MPI_Type_commit(&close);
    if (rank == 0) {
        MPI_Send(numbers, 4, close, 1, 0, world);
    } else {
        if (wrong)
            MPI_Irecv(others, 4, close, 0, 0, world, &request); // @here
        else
            MPI_Irecv(others, 4, MPI_INT, 0, 0, world, &request);
        MPI_Wait(&request, ignore);
    }
    MPI_Type_free(&close);
}

/* Columns of a matrix, resized to one number: they lie inside of each other, and do not overlap
 * until there are more of them than the matrix has columns.
 * code: 3
 * says: rank 1: MPI_Recv: the datatype has blocks that overlap; it can be sent, and not received
 * into (MPI_ERR_TYPE; at @here) */
BUG(overlap_of_columns)
{
    MPI_Datatype column, close;

    MPI_Type_vector(8, 1, 16, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, (MPI_Aint)sizeof(int), &close);
    MPI_Type_commit(&close);
    if (rank == 0)
        MPI_Send(numbers, 8 * (wrong ? 17 : 16), MPI_INT, 1, 0, world);
    else
        MPI_Recv(others, wrong ? 17 : 16, close, 0, 0, world, ignore); // @here
    MPI_Type_free(&column);
    MPI_Type_free(&close);
}

/* The root sends with it, which is right.
 * code: 3
 * says: rank 1: MPI_Bcast: the datatype has blocks that overlap; it can be sent, and not received
 * into (MPI_ERR_TYPE; at @here) */
BUG(overlap_bcast)
{
    MPI_Datatype blocks = make_blocks(true), apart = make_blocks(false);

    MPI_Bcast(others, 1, wrong || rank == 0 ? blocks : apart, 0, world); // @here
    MPI_Type_free(&blocks);
    MPI_Type_free(&apart);
}

/* code: 3
 * says: rank 0: MPI_Get: the datatype has blocks that overlap; it can be sent, and not received
 * into (MPI_ERR_TYPE; at @here) */
BUG(overlap_get)
{
    MPI_Datatype blocks = make_blocks(true), apart = make_blocks(false);
    MPI_Win win;

    MPI_Win_create(numbers, 64, sizeof(int), MPI_INFO_NULL, world, &win);
    MPI_Win_fence(0, win);
    if (rank == 0)
        MPI_Get(others, 1, wrong ? blocks : apart, 1, 0, 1, blocks, win); // @here
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Type_free(&blocks);
    MPI_Type_free(&apart);
}

static void meet(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int bytes;

    (void)in;
    (void)inout;
    (void)count;
    MPI_Type_size(*type, &bytes);
    MPI_Comm_size(world, &size);
    if (wrong)
        MPI_Barrier(world); // @meet
}

static void reduce_with(MPI_User_function *function, bool is_nonblocking)
{
    MPI_Request request;
    MPI_Op op;

    MPI_Op_create(function, 1, &op);
    if (is_nonblocking) {
        MPI_Iallreduce(numbers, others, 4, MPI_INT, op, world, &request);
        MPI_Wait(&request, ignore);
    } else {
        MPI_Reduce(numbers, others, 4, MPI_INT, op, 0, world);
    }
    MPI_Op_free(&op);
}

/* says: rank *: MPI_Barrier was called in an operation of the program (MPI_Op_create), which must
 * not communicate (at @meet) */
BUG(barrier_in_operation)
{
    reduce_with(meet, false);
}

/* ranks: 4
 * says: rank *: MPI_Barrier was called in an operation of the program (MPI_Op_create), which must
 * not communicate (at @meet) */
BUG(barrier_in_ioperation)
{
    reduce_with(meet, true);
}

static void send(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in;
    (void)inout;
    if (wrong)
        MPI_Send(in, *count, *type, MPI_PROC_NULL, 0, world); // @send
}

/* ranks: 3
 * says: rank *: MPI_Send was called in an operation of the program (MPI_Op_create), which must not
 * communicate (at @send) */
BUG(send_in_operation)
{
    reduce_with(send, true);
}

/* Only the root has made a mistake, and has not taken part: the others complete when it calls
 * again.
 * code: 9
 * says: MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD with
 * errorcode 9 (at @here)
 */
BUG(alias_returned)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int errors = 0;

    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    for (int i = 0; i < 3; i++) {
        int *first = wrong || rank > 0 ? numbers : others;

        if (MPI_Reduce(first, numbers, 4, MPI_INT, MPI_SUM, 0, world) == MPI_ERR_BUFFER) {
            errors++;
            MPI_Reduce(others, numbers, 4, MPI_INT, MPI_SUM, 0, world);
        }
        if (MPI_Gather(first, 4, MPI_INT, numbers, 4, MPI_INT, 0, world) == MPI_ERR_BUFFER) {
            errors++;
            MPI_Gather(others, 4, MPI_INT, numbers, 4, MPI_INT, 0, world);
        }
        if (MPI_Igather(first, 4, MPI_INT, numbers, 4, MPI_INT, 0, world, &request) ==
            MPI_ERR_BUFFER) {
            errors++;
            MPI_Igather(others, 4, MPI_INT, numbers, 4, MPI_INT, 0, world, &request);
        }
        MPI_Wait(&request, ignore);
    }
    MPI_Barrier(world);
    if (errors > 0)
        MPI_Abort(world, errors); // @here
    if (wrong)
        MPI_Barrier(MPI_COMM_WORLD);
}

/* The start fails, and not the call that made the request.
 * says: rank 0: MPI_Start: no buffer is attached for a message of 16 bytes; attach one with
 * MPI_Buffer_attach (MPI_ERR_BUFFER; at @start) */
BUG(start_without_buffer)
{
    static char buffer[4096];
    MPI_Request request;
    int bytes;
    void *detached;

    if (!wrong)
        MPI_Buffer_attach(buffer, sizeof(buffer));
    if (rank == 0) {
        MPI_Bsend_init(numbers, 4, MPI_INT, 1, 0, world, &request);
        MPI_Start(&request); // @start
        MPI_Wait(&request, ignore);
        MPI_Request_free(&request);
    } else {
        MPI_Recv(others, 4, MPI_INT, 0, 0, world, ignore);
    }
    if (!wrong)
        MPI_Buffer_detach(&detached, &bytes);
}

/* right: no
 * says: rank 0 calls MPI_Comm_spawn with root 0 at @here, rank 1 calls MPI_Comm_spawn with root 1
 * at
 * @here */
BUG(spawn_roots)
{
    char command[] = "none";
    MPI_Comm made;

    MPI_Comm_spawn(command, MPI_ARGV_NULL, 1, MPI_INFO_NULL, rank, world, &made, NULL); // @here
}
