/* SPDX-License-Identifier: BSD-3-Clause */
/* What is left at the end: messages never received, requests never completed. */
#include <unistd.h>

#include "bugs.h"

static char buffer[1000 + MPI_BSEND_OVERHEAD];

/* The communicator is gone when the job ends.
 * code: 0
 * says: rank 1: 1 message never received: from rank 0, tag 3 on brief, which was freed, 4 bytes,
 * sent by MPI_* at @here */
BUG(left_on_freed_communicator)
{
    MPI_Comm brief;

    MPI_Comm_dup(world, &brief);
    MPI_Comm_set_name(brief, "brief");
    if (rank == 0)
        MPI_Send(numbers, 1, MPI_INT, 1, 3, brief); // @here
    MPI_Barrier(world);
    if (!wrong && rank == 1)
        MPI_Recv(others, 1, MPI_INT, 0, 3, brief, ignore);
    MPI_Comm_free(&brief);
}

/* ranks: 3
 * code: 0
 * says: rank 2: 1 message never received: from rank 1, tag 3 on pair, 4 bytes, sent by MPI_* at
 * @here */
BUG(left_in_part)
{
    MPI_Comm pair;

    MPI_Comm_split(world, rank > 0, rank, &pair);
    MPI_Comm_set_name(pair, rank > 0 ? "pair" : "alone");
    if (rank == 1)
        MPI_Send(numbers, 1, MPI_INT, 1, 3, pair); // @here
    if (!wrong && rank == 2)
        MPI_Recv(others, 1, MPI_INT, 0, 3, pair, ignore);
    MPI_Barrier(world);
    if (!wrong)
        MPI_Comm_free(&pair);
}

/* code: 0
 * says: rank 1: 1 message never received: from rank 0, tag 3, 400 bytes, sent by MPI_* at @here */
BUG(left_bsend)
{
    void *detached;
    int bytes;

    MPI_Buffer_attach(buffer, sizeof(buffer));
    if (rank == 0)
        MPI_Bsend(numbers, 100, MPI_INT, 1, 3, world); // @here
    else if (!wrong)
        MPI_Recv(others, 100, MPI_INT, 0, 3, world, ignore);
    if (!wrong)
        MPI_Buffer_detach(&detached, &bytes);
}

/* ranks: 64
 * code: 0
 * says: rank 0: 63 messages never received; the first: from rank *, tag 1, 4 bytes, sent by MPI_*
 * at @here
 */
BUG(left_by_63)
{
    if (rank > 0)
        MPI_Send(numbers, 1, MPI_INT, 0, 1, world); // @here
    for (int r = 1; !wrong && rank == 0 && r < size; r++)
        MPI_Recv(others, 1, MPI_INT, r, 1, world, ignore);
}

/* One of two: the other tag was meant.
 * code: 0
 * says: rank 0: 1 message never received: from rank 1, tag 2, 8 bytes, sent by MPI_* at @second */
BUG(left_second)
{
    if (rank == 1) {
        MPI_Send(numbers, 1, MPI_INT, 0, 1, world);
        MPI_Send(numbers, 2, MPI_INT, 0, 2, world); // @second
    } else {
        MPI_Recv(others, 2, MPI_INT, 1, 1, world, ignore);
        if (!wrong)
            MPI_Recv(others, 2, MPI_INT, 1, 2, world, ignore);
    }
}

/* Looked at and not taken.
 * code: 0
 * says: rank 1: 1 message never received: from rank 0, tag 5, 4 bytes, sent by MPI_* at @here */
BUG(left_after_probe)
{
    if (rank == 0)
        MPI_Send(numbers, 1, MPI_INT, 1, 5, world); // @here
    if (rank == 1)
        MPI_Probe(0, 5, world, ignore);
    if (!wrong && rank == 1)
        MPI_Recv(others, 1, MPI_INT, 0, 5, world, ignore);
}

/* ranks: 1
 * code: 0
 * says: rank 0: 1 message never received: from rank 0, tag 1, 4 bytes, sent by MPI_* at @here */
BUG(left_to_itself)
{
    MPI_Request request;

    MPI_Isend(numbers, 1, MPI_INT, 0, 1, world, &request); // @here
    if (!wrong)
        MPI_Recv(others, 1, MPI_INT, 0, 1, world, ignore);
    MPI_Wait(&request, ignore);
}

/* ranks: 3
 * code: 0
 * says: ranks 0-2: 1 request never completed: that of MPI_Iallreduce (at @here); *
 */
BUG(iallreduce_never_completed)
{
    MPI_Request request;

    MPI_Iallreduce(numbers, others, 1, MPI_INT, MPI_SUM, world, &request); // @here
    if (!wrong)
        MPI_Wait(&request, ignore);
}

/* code: 0
 * says: rank 0: 3 requests never completed: those of MPI_Isend (at @here); complete * with
 * MPI_Wait or MPI_Test before MPI_Finalize
 */
BUG(sends_never_completed)
{
    MPI_Request requests[3];

    for (int i = 0; i < 3; i++)
        if (rank == 0)
            MPI_Isend(numbers, 1, MPI_INT, 1, i, world, &requests[i]); // @here
        else
            MPI_Recv(others, 1, MPI_INT, 0, i, world, ignore);
    if (!wrong && rank == 0)
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
}

/* code: 0
 * says: ranks 0-1: 1 request never completed: that of MPI_Comm_idup (at @here); *
 */
BUG(idup_never_completed)
{
    MPI_Request request;
    MPI_Comm made;

    MPI_Comm_idup(world, &made, &request); // @here
    if (wrong)
        return;
    MPI_Wait(&request, ignore);
    MPI_Comm_free(&made);
}

/* Tested, but never until it was done.
 * code: 0
 * says: rank 1: 1 request never completed: that of MPI_Irecv (at @here); *
 */
BUG(tested_once)
{
    MPI_Request request;
    int flag = 0;

    if (rank == 1) {
        MPI_Irecv(others, 1, MPI_INT, 0, 3, world, &request); // @here
        do
            MPI_Test(&request, &flag, ignore);
        while (!wrong && !flag);
    }
    MPI_Barrier(wrong ? world : MPI_COMM_SELF);
    if (rank == 0)
        MPI_Send(numbers, 1, MPI_INT, 1, 3, world);
}

#if MPI_VERSION >= 4
/* code: 0
 * says: ranks 0-1: 1 request never completed: that of MPI_Start of MPI_Barrier_init (at @start);
 * *
 */
BUG(persistent_never_completed)
{
    MPI_Request request;

    MPI_Barrier_init(world, MPI_INFO_NULL, &request);
    MPI_Start(&request); // @start
    if (wrong)
        return;
    MPI_Wait(&request, ignore);
    MPI_Request_free(&request);
}
#endif

/* code: 0
 * says: rank 1: 1 message taken by MPI_Mprobe and never received by MPI_Mrecv: from rank 0, tag 4,
 * 8 bytes, sent by MPI_* at @send, taken at @take */
BUG(left_after_mprobe)
{
    MPI_Message message;

    if (rank == 0)
        MPI_Send(numbers, 2, MPI_INT, 1, 4, world); // @send
    else
        MPI_Mprobe(0, 4, world, &message, ignore); // @take
    if (rank == 1 && !wrong)
        MPI_Mrecv(others, 2, MPI_INT, &message, ignore);
}

/* code: 0
 * ranks: 3
 * says: rank 2: 2 messages taken by MPI_Mprobe and never received by MPI_Mrecv; the first: from
 * rank 1, tag 0 on pair, which was freed, 4 bytes, sent by MPI_* at @send, taken at @take */
BUG(left_after_improbe)
{
    MPI_Message messages[2];
    MPI_Comm pair;
    int flag;

    MPI_Comm_split(world, rank > 0, 0, &pair);
    MPI_Comm_set_name(pair, "pair");
    for (int i = 0; i < 2 && rank == 1; i++)
        MPI_Send(numbers, 1, MPI_INT, 1, i, pair); // @send
    MPI_Barrier(world);
    for (int i = 0; i < 2 && rank == 2; i++)
        for (flag = 0; !flag;)
            MPI_Improbe(0, i, pair, &flag, &messages[i], ignore); // @take
    for (int i = 1; i >= 0 && rank == 2 && !wrong; i--)
        MPI_Mrecv(others, 1, MPI_INT, &messages[i], ignore);
    MPI_Comm_free(&pair);
}

/* The receiver has called MPI_Finalize when the message is sent.
 * code: 0
 * says: rank 1: 1 message never received: from rank 0, tag 6, 4 bytes, sent by MPI_* at @here */
BUG(left_to_finished)
{
    if (rank == 0) {
        usleep(wrong ? 20000 : 0);
        MPI_Send(numbers, 1, MPI_INT, 1, 6, world); // @here
    } else if (!wrong) {
        MPI_Recv(others, 1, MPI_INT, 0, 6, world, ignore);
    }
}

/* ---- In virtual time ---- */

/* The second is still on its way when all ranks are in MPI_Finalize.
 * options: --virtual core:2 --compute none
 * code: 0
 * says: rank 1: 2 messages never received; the first: from rank 0, tag 3, 4 bytes, sent by MPI_* at
 * @here */
BUG(left_virtual)
{
    if (rank == 0) {
        MPI_Send(numbers, 1, MPI_INT, 1, 3, world); // @here
        MPI_Send(numbers, 1000, MPI_INT, 1, 4, world);
    } else if (!wrong) {
        MPI_Recv(others, 1, MPI_INT, 0, 3, world, ignore);
        MPI_Recv(others, 1000, MPI_INT, 0, 4, world, ignore);
    }
}

/* A message that a receive has met is none that is left.
 * options: --virtual core:2 --compute none
 * code: 0
 * says: rank 1: 1 request never completed: that of MPI_Irecv (at @here); * */
BUG(left_virtual_request)
{
    MPI_Request request;

    if (rank == 0) {
        MPI_Send(numbers, 1, MPI_INT, 1, 3, world);
        return;
    }
    MPI_Irecv(others, 1, MPI_INT, 0, 3, world, &request); // @here
    if (!wrong)
        MPI_Wait(&request, ignore);
}

/* options: --virtual core:2 --compute none
 * code: 0
 * says: rank 1: 1 message taken by MPI_Mprobe and never received by MPI_Mrecv: from rank 0, tag 4,
 * 8 bytes, sent by MPI_* at @send, taken at @take */
BUG(left_virtual_mprobe)
{
    MPI_Message message;

    if (rank == 0)
        MPI_Send(numbers, 2, MPI_INT, 1, 4, world); // @send
    else
        MPI_Mprobe(0, 4, world, &message, ignore); // @take
    if (rank == 1 && !wrong)
        MPI_Mrecv(others, 2, MPI_INT, &message, ignore);
}

static void start_one(int tag)
{
    MPI_Request request;

    MPI_Irecv(others + tag, 1, MPI_INT, 1 - rank, tag, world, &request); // @one
    if (!wrong)
        MPI_Cancel(&request);
    if (!wrong)
        MPI_Wait(&request, ignore);
}

/* Each place has a line of its own.
 * ranks: 2
 * code: 0
 * says: ranks 0-1: 2 requests never completed: those of MPI_Irecv (at @one); complete them *
 * says: rank 0: 1 request never completed: that of MPI_Ibarrier (at @here); complete it *
 */
BUG(left_in_two_places)
{
    MPI_Request request = MPI_REQUEST_NULL;

    start_one(1);
    start_one(2);
    if (rank == 0)
        MPI_Ibarrier(MPI_COMM_SELF, &request); // @here
    if (!wrong)
        MPI_Wait(&request, ignore);
}

/* One line for all ranks.
 * ranks: 200
 * code: 0
 * says: warning: ranks 0-199: 1 request never completed: that of MPI_Irecv (at @all); complete it *
 */
BUG(left_by_200)
{
    MPI_Request request;

    MPI_Irecv(others, 1, MPI_INT, rank, 1, world, &request); // @all
    if (!wrong)
        MPI_Send(numbers, 1, MPI_INT, rank, 1, world);
    if (!wrong)
        MPI_Wait(&request, ignore);
}

#if MPI_VERSION >= 4
/* The ranks of a session do not end together: others may still wait for their requests.
 * before: yes
 * ranks: 4
 * code: 0
 * says: warning: rank 0: 1 request never completed: that of MPI_Iallreduce (at @start); * */
BUG(left_in_session)
{
    MPI_Session session;
    MPI_Request request;
    MPI_Group group;
    MPI_Comm comm;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Group_rank(group, &rank);
    MPI_Comm_create_from_group(group, "left", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Iallreduce(numbers, others, 1, MPI_INT, MPI_SUM, comm, &request); // @start
    if (!wrong || rank != 0)
        MPI_Wait(&request, ignore);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
}
#endif
