/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that wait only for each other, or poll for messages that cannot arrive, in virtual time and
 * with
 * --check. */
#include <time.h>

#include "bugs.h"

/* Much of it for a look, little for a test: in virtual time it takes as long as the looks of the
 * others, which are counted. */
static void pause_ms(int ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

    nanosleep(&t, NULL);
}

/* options: --virtual core:4 --compute none --deadlock-after 0.1 --polling-after 0.3
 * says: deadlock: ranks 0-1 can make no progress: 0 has only polled for 0.3 s, for messages that
 * cannot arrive
 * says: rank 1: in MPI_Recv from rank 0, tag 2 on MPI_COMM_WORLD, at @recv
 * says:   cause: rank 0 polls for a message with tag 1 from rank 1 (at @test), rank 1 waits for a
 * message with tag 2 from rank 0
 */
BUG(virtual_poll_test)
{
    MPI_Request request;
    int flag = 0;

    if (rank == 0) {
        MPI_Irecv(others, 1, MPI_INT, 1, 1, world, &request);
        while (!flag)
            MPI_Test(&request, &flag, ignore); // @test
        MPI_Send(numbers, 1, MPI_INT, 1, 2, world);
        return;
    }
    if (!wrong) {
        pause_ms(100);
        MPI_Send(numbers, 1, MPI_INT, 0, 1, world);
    }
    MPI_Recv(others, 1, MPI_INT, 0, 2, world, ignore); // @recv
}

/* A message with another tag is there; the other rank is at its end.
 * ranks: 3
 * options: --virtual core:4 --compute none --deadlock-after 0.1 --polling-after 0.3
 * says: deadlock: ranks 0-2 can make no progress: 0 has only polled for 0.3 s, for messages that
 * cannot arrive
 * says:   cause: rank 0 polls for a message with tag 1 from rank 1 (at @probe); rank 1 has called
 * MPI_Finalize
 */
BUG(virtual_poll_iprobe)
{
    int flag = 0;

    if (rank == 1)
        MPI_Send(numbers, 1, MPI_INT, 0, wrong ? 2 : 1, world);
    while (rank == 0 && !flag)
        MPI_Iprobe(1, 1, world, &flag, ignore); // @probe
    if (rank == 0)
        MPI_Recv(others, 1, MPI_INT, 1, MPI_ANY_TAG, world, ignore);
}

/* A loop with a deadline is none; nor is one for a message that takes long.
 * options: --virtual core:4 --compute none --deadlock-after 0.1 --polling-after 0.3
 * says: cause: rank 0 polls in MPI_Ibarrier on MPI_COMM_WORLD for rank 1 (at @test), rank 1 waits
 * for a message with tag 2 from rank 0
 */
BUG(virtual_poll_ibarrier)
{
    double end = MPI_Wtime() + 0.2;
    MPI_Request request;
    int flag = 0;

    if (rank == 1 && wrong)
        MPI_Recv(others, 1, MPI_INT, 0, 2, world, ignore);
    while (rank == 0 && !wrong && !flag && MPI_Wtime() < end)
        MPI_Iprobe(1, 1, world, &flag, ignore);
    MPI_Ibarrier(world, &request);
    for (flag = 0; !flag;)
        MPI_Test(&request, &flag, ignore); // @test
}

/* Others exchange messages all the time.
 * ranks: 4
 * options: --virtual core:4 --compute none --deadlock-after 0.1
 * says: deadlock: ranks 0-1 can make no progress, whatever the others do
 * says: rank 0: in MPI_Recv from rank 1, tag 7 on MPI_COMM_WORLD, at @first
 * says: rank 1: in MPI_Ssend to rank 0, tag 8 on MPI_COMM_WORLD, at @second
 * says:   cause: rank 0 waits for a message with tag 7 from rank 1, rank 1 waits until rank 0
 * receives its message with tag 8
 */
BUG(virtual_cycle)
{
    if (rank == 0)
        MPI_Recv(others, 1, MPI_INT, 1, wrong ? 7 : 8, world, ignore); // @first
    if (rank == 1)
        MPI_Ssend(numbers, 1, MPI_INT, 0, 8, world); // @second
    for (long i = 0; rank >= 2 && (wrong || i < 100000); i++)
        MPI_Sendrecv(numbers, 1, MPI_INT, 5 - rank, 1, others, 1, MPI_INT, 5 - rank, 1, world,
                     ignore);
}

/* The same with --check.
 * options: --check --deadlock-after 0.1 --polling-after 0.3
 * says: deadlock: ranks 0-1 can make no progress: 0 has only polled for 0.3 s, for messages that
 * cannot arrive
 * says: rank 0: in MPI_Test, at @test
 * says:   cause: rank 1 waits for a message from any rank; no rank will send one
 */
BUG(check_poll_test)
{
    MPI_Request request;
    int flag = 0;

    if (rank == 0) {
        MPI_Irecv(others, 1, MPI_INT, 1, 1, world, &request);
        while (!flag)
            MPI_Test(&request, &flag, ignore); // @test
        MPI_Send(numbers, 1, MPI_INT, 1, 2, world);
        return;
    }
    if (!wrong) {
        pause_ms(600);
        MPI_Send(numbers, 1, MPI_INT, 0, 1, world);
    }
    MPI_Recv(others, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, ignore);
}

/* A send that waits only because of --check is let go, though a rank polls.
 * options: --check=sends --deadlock-after 0.1 --polling-after 0.3
 * code: 120
 * says: warning: rank 0: MPI_Send at @send works only because messages are buffered*
 * [needs-buffering]
 * not: deadlock
 */
BUG(check_poll_buffered)
{
    int flag = 0;

    if (rank == 0) {
        MPI_Send(numbers, 1, MPI_INT, 1, 1, world); // @send
        MPI_Send(numbers, 1, MPI_INT, 1, 2, world);
        return;
    }
    while (!flag)
        MPI_Iprobe(0, wrong ? 2 : 1, world, &flag, ignore);
    MPI_Recv(others, 1, MPI_INT, 0, 1, world, ignore);
    MPI_Recv(others, 1, MPI_INT, 0, 2, world, ignore);
}

/* ... and though a rank sleeps.
 * ranks: 3
 * options: --check=sends --deadlock-after 0.1
 * code: 120
 * says: MPI_Send at @send works only because messages are buffered; without that, rank 0 waits
 * until rank 1 receives its message with tag 5, rank 1 waits until rank 0 receives its message with
 * tag 5 [needs-buffering] not: deadlock
 */
BUG(check_sends_beside_sleep)
{
    if (rank == 2) {
        pause_ms(600);
        return;
    }
    if (!wrong && rank == 0)
        MPI_Recv(others, 1, MPI_INT, 1, 5, world, ignore);
    MPI_Send(numbers, 1, MPI_INT, 1 - rank, 5, world); // @send
    if (wrong || rank == 1)
        MPI_Recv(others, 1, MPI_INT, 1 - rank, 5, world, ignore);
}

/* options: --virtual core:2 --compute none
 * says: rank 1: in MPI_Recv from rank 0, tag 7 on MPI_COMM_WORLD, at @here
 * says:   cause: rank 1 waits for a message with tag 7 from rank 0; rank 0 has called MPI_Finalize;
 * a message with tag 8 from rank 0 is there, sent at @send */
BUG(virtual_other_tag)
{
    if (rank == 0)
        MPI_Send(numbers, 1, MPI_INT, 1, wrong ? 8 : 7, world); // @send
    else
        MPI_Recv(others, 1, MPI_INT, 0, 7, world, ignore); // @here
}
