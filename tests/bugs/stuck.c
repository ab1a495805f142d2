/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that wait only for each other, or poll for messages that cannot arrive, while others go on.
 * The right ones wait as long, and are helped at last. */
#include <time.h>

#include "bugs.h"

enum { LONG_MS = 300, FOR_EVER_MS = 50000 }; /* of --deadlock-after 0.1, and of a test */

static void pause_ms(int ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

    nanosleep(&t, NULL);
}

/* The others of a wrong one go on until the job is ended. */
static void go_on(void)
{
    pause_ms(wrong ? FOR_EVER_MS : LONG_MS);
}

/* ranks: 3
 * options: --deadlock-after 0.1
 * says: deadlock: ranks 0-1 can make no progress, whatever the others do
 * says: rank 0: in MPI_Recv from rank 1, tag 7 on MPI_COMM_WORLD, at @here
 * says: rank 1: in MPI_Recv from rank 0, tag 7 on MPI_COMM_WORLD, at @there
 * says: rank 2: in its own code
 * says:   cause: rank 0 waits for a message with tag 7 from rank 1, rank 1 waits for a message with
 * tag 7 from rank 0
 */
BUG(cycle_while_one_sleeps)
{
    if (rank == 2) {
        go_on();
        if (!wrong)
            MPI_Send(numbers, 1, MPI_INT, 0, 7, world);
    } else if (rank == 0) {
        MPI_Recv(others, 1, MPI_INT, wrong ? 1 : 2, 7, world, ignore); // @here
        MPI_Send(numbers, 1, MPI_INT, 1, 7, world);
    } else {
        MPI_Recv(others, 1, MPI_INT, 0, 7, world, ignore); // @there
        MPI_Send(numbers, 1, MPI_INT, 0, 7, world);
        if (!wrong)
            return;
    }
    if (!wrong && rank == 0)
        MPI_Recv(others, 1, MPI_INT, 1, 7, world, ignore);
}

/* Others exchange messages all the time.
 * ranks: 5
 * options: --deadlock-after 0.1
 * says: deadlock: ranks 0-2 can make no progress, whatever the others do
 * says:   cause: rank 0 waits for a message with tag 1 from rank 1, rank 1 waits for a message with
 * tag 1 from rank 2, rank 2 waits for a message with tag 1 from rank 0
 */
BUG(cycle_beside_traffic)
{
    double end = MPI_Wtime() + (wrong ? FOR_EVER_MS : LONG_MS) * 1e-3;
    int goes = 1;

    if (rank < 3) {
        int from = wrong ? (rank + 1) % 3 : rank == 0 ? 3 : rank - 1;

        MPI_Recv(others, 1, MPI_INT, from, 1, world, ignore);
        if (wrong || rank < 2)
            MPI_Send(numbers, 1, MPI_INT, (rank + 1) % 3, 1, world);
        return;
    }
    while (goes) {
        goes = MPI_Wtime() < end;
        MPI_Bcast(&goes, 1, MPI_INT, 0, MPI_COMM_SELF);
        if (rank == 3)
            MPI_Send(&goes, 1, MPI_INT, 4, 2, world);
        else
            MPI_Recv(&goes, 1, MPI_INT, 3, 2, world, ignore);
    }
    if (!wrong && rank == 3)
        MPI_Send(numbers, 1, MPI_INT, 0, 1, world);
}

/* A receive from any rank of a communicator, all of whose members wait.
 * ranks: 4
 * options: --deadlock-after 0.1
 * says: deadlock: ranks 0,2 can make no progress, whatever the others do
 * says: ranks 0,2: in MPI_Recv from any rank, tag 5 on even ones, at @here
 * says:   cause: rank 0 waits for a message with tag 5 from any rank; no rank will send one
 */
BUG(cycle_any_source)
{
    MPI_Comm half;

    MPI_Comm_split(world, rank % 2, rank, &half);
    MPI_Comm_set_name(half, rank % 2 == 0 ? "even ones" : "odd ones");
    if (rank % 2 == 1) {
        go_on();
        if (!wrong && rank == 1)
            MPI_Send(numbers, 1, MPI_INT, 2, 5, world);
    } else if (wrong || rank == 0) {
        MPI_Recv(others, 1, MPI_INT, MPI_ANY_SOURCE, 5, half, ignore); // @here
    } else {
        MPI_Recv(others, 1, MPI_INT, MPI_ANY_SOURCE, 5, world, ignore);
        MPI_Send(numbers, 1, MPI_INT, 0, 5, half);
    }
    MPI_Comm_free(&half);
}

/* ranks: 3
 * options: --deadlock-after 0.1
 * says: deadlock: ranks 0-1 can make no progress, whatever the others do
 * says: rank 0: in MPI_Waitany, at @wait, for MPI_Irecv from rank 1, tag 1 on MPI_COMM_WORLD, at
 * @one; for MPI_Irecv from rank 1, tag 2 on MPI_COMM_WORLD, at @two
 */
BUG(cycle_waitany)
{
    MPI_Request requests[2];
    int index;

    if (rank == 0) {
        MPI_Irecv(others, 1, MPI_INT, 1, 1, world, &requests[0]);                 // @one
        MPI_Irecv(others + 1, 1, MPI_INT, wrong ? 1 : 2, 2, world, &requests[1]); // @two
        MPI_Waitany(2, requests, &index, ignore);                                 // @wait
        MPI_Send(numbers, 1, MPI_INT, 1, 3, world);
        MPI_Waitany(2, requests, &index, ignore);
    } else if (rank == 1) {
        MPI_Recv(others, 1, MPI_INT, 0, 3, world, ignore);
        MPI_Send(numbers, 1, MPI_INT, 0, 1, world);
    } else {
        go_on();
        if (!wrong)
            MPI_Send(numbers, 1, MPI_INT, 0, 2, world);
    }
}

/* Of two messages that a rank waits for one never comes.
 * ranks: 3
 * options: --deadlock-after 0.1
 * says: deadlock: ranks 0-1 can make no progress, whatever the others do
 * says:   cause: rank 0 waits for a message with tag 1 from rank 1, rank 1 waits for a message with
 * tag 3 from rank 0
 */
BUG(cycle_waitall)
{
    MPI_Request requests[2];

    if (rank == 0) {
        MPI_Irecv(others, 1, MPI_INT, 2, 2, world, &requests[0]);
        MPI_Irecv(others + 1, 1, MPI_INT, 1, 1, world, &requests[1]);
        if (!wrong)
            MPI_Send(numbers, 1, MPI_INT, 1, 3, world);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        if (wrong)
            MPI_Send(numbers, 1, MPI_INT, 1, 3, world);
    } else if (rank == 1) {
        MPI_Recv(others, 1, MPI_INT, 0, 3, world, ignore);
        MPI_Send(numbers, 1, MPI_INT, 0, 1, world);
    } else {
        go_on();
        MPI_Send(numbers, 1, MPI_INT, 0, 2, world);
    }
}

/* ranks: 4
 * options: --deadlock-after 0.1
 * says: deadlock: ranks 0-1 can make no progress, whatever the others do
 * says: rank 0: in MPI_Barrier on low ones, at @barrier
 * says:   cause: rank 0 waits in MPI_Barrier on low ones for rank 1, rank 1 waits for a message
 * with tag 4 from rank 0
 */
BUG(cycle_barrier)
{
    MPI_Comm half;

    MPI_Comm_split(world, rank / 2, rank, &half);
    MPI_Comm_set_name(half, rank / 2 == 0 ? "low ones" : "high ones");
    if (rank >= 2)
        go_on();
    if (!wrong && rank == 2)
        MPI_Send(numbers, 1, MPI_INT, 1, 4, world);
    if (rank == 1)
        MPI_Recv(others, 1, MPI_INT, wrong ? 0 : 2, 4, world, ignore);
    MPI_Barrier(half); // @barrier
    if (wrong && rank == 0)
        MPI_Send(numbers, 1, MPI_INT, 1, 4, world);
    MPI_Comm_free(&half);
}

/* In the right one the root is late: that a leaf waits for it, and another leaf for this one, is no
 * circle. In several processes leaves of one process wait for each other, as MPI allows.
 * ranks: 4
 * alone: yes
 * options: --deadlock-after 0.1
 * says: deadlock: ranks 0-1 can make no progress, whatever the others do
 * says:   cause: rank 0 waits in MPI_Bcast on three for rank 1, rank 1 waits for a message with tag
 * 6 from rank 0
 */
BUG(cycle_bcast)
{
    int root = wrong ? 1 : 2;
    MPI_Comm three;

    MPI_Comm_split(world, rank / 3, rank, &three);
    MPI_Comm_set_name(three, "three");
    if (rank >= 2)
        go_on();
    if (rank == 1)
        MPI_Recv(others, 1, MPI_INT, 0, 6, world, ignore);
    if (rank < 3)
        MPI_Bcast(numbers, 1, MPI_INT, root, three);
    if (rank == 0)
        MPI_Send(numbers, 1, MPI_INT, 1, 6, world);
    MPI_Comm_free(&three);
}

/* A rank that has started a barrier and waits for another message is not missing in it.
 * ranks: 3
 * options: --deadlock-after 0.1
 * says: deadlock: ranks 0-1 can make no progress, whatever the others do
 */
BUG(cycle_ibarrier)
{
    MPI_Request request;

    if (rank == 2)
        go_on();
    if (!wrong || rank != 1)
        MPI_Ibarrier(world, &request);
    if (rank == 1)
        MPI_Recv(others, 1, MPI_INT, 0, 1, world, ignore);
    if (wrong && rank == 1)
        MPI_Ibarrier(world, &request);
    MPI_Wait(&request, ignore);
    if (rank == 0)
        MPI_Send(numbers, 1, MPI_INT, 1, 1, world);
}

/* Both wait until their large message is received.
 * ranks: 3
 * options: --deadlock-after 0.1
 * says: deadlock: ranks 0-1 can make no progress, whatever the others do
 * says:   cause: rank 0 waits until rank 1 receives its message with tag 6, rank 1 waits until rank
 * 0 receives its message with tag 6
 */
BUG(cycle_large_sends)
{
    if (rank == 2) {
        go_on();
        if (!wrong)
            MPI_Send(numbers, 1, MPI_INT, 1, 5, world);
        return;
    }
    if (!wrong && rank == 1) {
        MPI_Recv(others, 1, MPI_INT, 2, 5, world, ignore);
        MPI_Recv(others, LARGE, MPI_INT, 0, 6, world, ignore);
    }
    MPI_Send(numbers, LARGE, MPI_INT, 1 - rank, 6, world);
    if (wrong || rank == 0)
        MPI_Recv(others, LARGE, MPI_INT, 1 - rank, 6, world, ignore);
}

/* ranks: 3
 * options: --deadlock-after 0.1
 * says: deadlock: ranks 0-1 can make no progress, whatever the others do
 * says: rank 1: in MPI_Probe from rank 0, tag 8 on MPI_COMM_WORLD, at @probe
 * says:   cause: rank 0 waits until rank 1 receives its message with tag 9, rank 1 waits for a
 * message with tag 8 from rank 0; a message with tag 9 from rank 0 is there, sent at @ssend
 */
BUG(cycle_probe)
{
    MPI_Status status;

    if (rank == 0) {
        MPI_Ssend(numbers, 1, MPI_INT, 1, 9, world); // @ssend
    } else if (rank == 1) {
        if (!wrong)
            MPI_Probe(2, 8, world, &status);
        else
            MPI_Probe(0, 8, world, &status); // @probe
        MPI_Recv(others, 1, MPI_INT, 0, 9, world, ignore);
        MPI_Recv(others, 1, MPI_INT, 2, 8, world, ignore);
    } else {
        go_on();
        if (!wrong)
            MPI_Send(numbers, 1, MPI_INT, 1, 8, world);
    }
}

/* The partner has come to its end.
 * ranks: 3
 * options: --deadlock-after 0.1
 * says: deadlock: ranks 0-1 can make no progress, whatever the others do
 * says: rank 0: in MPI_Finalize on MPI_COMM_WORLD, at main.c:*
 * says:   cause: rank 1 waits for a message with tag 7 from rank 0; rank 0 has called MPI_Finalize;
 * a message with tag 8 from rank 0 is there, sent at @send
 */
BUG(cycle_partner_has_ended)
{
    if (rank == 0)
        MPI_Send(numbers, 1, MPI_INT, 1, wrong ? 8 : 7, world); // @send
    if (rank == 1)
        MPI_Recv(others, 1, MPI_INT, 0, 7, world, ignore);
    if (rank == 2)
        go_on();
}

/* Its receiver has come to its end.
 * ranks: 3
 * options: --deadlock-after 0.1
 * says: deadlock: ranks 0-1 can make no progress, whatever the others do
 * says: rank 1: in MPI_Send to rank 0, tag 7 on MPI_COMM_WORLD, at @send
 * says:   cause: rank 1 waits until rank 0 receives its message with tag 7; rank 0 has called
 * MPI_Finalize
 */
BUG(cycle_receiver_has_ended)
{
    if (rank == 1)
        MPI_Send(numbers, LARGE, MPI_INT, 0, 7, world); // @send
    if (rank == 0 && !wrong)
        MPI_Recv(others, LARGE, MPI_INT, 1, 7, world, ignore);
    if (rank == 2)
        go_on();
}

/* Many pairs; one of them waits in vain.
 * ranks: 64
 * options: --deadlock-after 0.1
 * says: deadlock: ranks 62-63 can make no progress, whatever the others do
 */
BUG(cycle_one_pair_of_many)
{
    double end = MPI_Wtime() + (wrong ? FOR_EVER_MS : LONG_MS) * 1e-3;
    int partner = rank ^ 1;

    do {
        if (wrong && rank >= 62)
            MPI_Recv(others, 1, MPI_INT, partner, 1, world, ignore);
        numbers[0] = MPI_Wtime() < end;
        MPI_Sendrecv(numbers, 1, MPI_INT, partner, 1, others, 1, MPI_INT, partner, 1, world,
                     ignore);
    } while (rank % 2 == 0 ? numbers[0] : others[0]);
}

/* Seconds of polling that must not be reported, and computing between tests. */
enum { POLLING_MS = 1000 };

static void compute(void)
{
    static volatile int sink;

    for (int i = 0; i < 20000; i++)
        sink += i;
}

/* In the right one the message comes late.
 * options: --deadlock-after 0.1 --polling-after 0.3
 * says: deadlock: ranks 0-1 can make no progress: 0 has only polled for 0.3 s, for messages that
 * cannot arrive
 * says: rank 1: in MPI_Recv from rank 0, tag 2 on MPI_COMM_WORLD, at @recv
 * says:   cause: rank 0 polls for a message with tag 1 from rank 1 (at @test), rank 1 waits for a
 * message with tag 2 from rank 0
 */
BUG(poll_test)
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
        pause_ms(POLLING_MS);
        MPI_Send(numbers, 1, MPI_INT, 0, 1, world);
    }
    MPI_Recv(others, 1, MPI_INT, 0, 2, world, ignore); // @recv
}

/* Both poll; the right ones leave by a clock.
 * options: --deadlock-after 0.1 --polling-after 0.3
 * says: deadlock: ranks 0-1 can make no progress: 0-1 have only polled for 0.3 s, for messages
 * that cannot arrive says:   cause: rank 0 polls for a message with tag 1 from rank 1 (at @probe),
 * rank 1 polls for a message with tag 1 from rank 0 (at @probe)
 */
BUG(poll_iprobe)
{
    double end = MPI_Wtime() + POLLING_MS * 1e-3;
    int flag = 0, probes = 0;

    while (!flag && (wrong || ++probes % 256 != 0 || MPI_Wtime() < end))
        MPI_Iprobe(1 - rank, 1, world, &flag, ignore); // @probe
}

/* The right one leaves by a clock of the C library.
 * options: --deadlock-after 0.1 --polling-after 0.3
 * says: deadlock: ranks 0-1 can make no progress: 0 has only polled for 0.3 s, for messages that
 * cannot arrive
 */
BUG(poll_improbe)
{
    struct timespec begin, now;
    MPI_Message message;
    int flag = 0;

    if (rank == 0) {
        clock_gettime(CLOCK_MONOTONIC, &begin);
        do {
            MPI_Improbe(MPI_ANY_SOURCE, 1, world, &flag, &message, ignore);
            if (!wrong)
                clock_gettime(CLOCK_MONOTONIC, &now);
        } while (!flag && (wrong || now.tv_sec - begin.tv_sec < 2));
        MPI_Send(numbers, 1, MPI_INT, 1, 2, world);
        return;
    }
    MPI_Recv(others, 1, MPI_INT, 0, 2, world, ignore);
}

/* The right one works between its tests, and is done at last.
 * ranks: 3
 * options: --deadlock-after 0.1 --polling-after 0.3
 * says: deadlock: ranks 0-2 can make no progress: 0 has only polled for 0.3 s, for messages that
 * cannot arrive
 */
BUG(poll_testany)
{
    MPI_Request requests[2];
    int flag = 0, index, turns = 0;

    if (rank > 0) {
        MPI_Recv(others, 1, MPI_INT, 0, 2, world, ignore);
        MPI_Send(numbers, 1, MPI_INT, 0, 1, world);
        return;
    }
    MPI_Irecv(others, 1, MPI_INT, 1, 1, world, &requests[0]);
    MPI_Irecv(others + 1, 1, MPI_INT, 2, 1, world, &requests[1]);
    while (!flag && (wrong || turns++ < 20000)) {
        MPI_Testany(2, requests, &index, &flag, ignore);
        if (!wrong)
            compute();
    }
    MPI_Send(numbers, 1, MPI_INT, 1, 2, world);
    MPI_Send(numbers, 1, MPI_INT, 2, 2, world);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* The right one sleeps between its tests.
 * ranks: 3
 * options: --deadlock-after 0.1 --polling-after 0.3
 * says: deadlock: ranks 0-* can make no progress: 0 has only polled for 0.3 s, for messages that
 * cannot arrive
 */
BUG(poll_testall)
{
    MPI_Request requests[2];
    int flag = 0, turns = 0;

    if (rank == 2) {
        MPI_Send(numbers, 1, MPI_INT, 0, 1, world);
        go_on();
        return;
    }
    if (rank == 1) {
        MPI_Recv(others, 1, MPI_INT, 0, 2, world, ignore);
        MPI_Send(numbers, 1, MPI_INT, 0, 1, world);
        return;
    }
    MPI_Irecv(others, 1, MPI_INT, 1, 1, world, &requests[0]);
    MPI_Irecv(others + 1, 1, MPI_INT, 2, 1, world, &requests[1]);
    while (!flag && (wrong || turns++ < 1000)) {
        MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
        if (!wrong)
            pause_ms(1);
    }
    MPI_Send(numbers, 1, MPI_INT, 1, 2, world);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* The sender has come to its end.
 * options: --deadlock-after 0.1 --polling-after 0.3
 * says: rank 1: in MPI_Finalize on MPI_COMM_WORLD, at main.c:*
 * says:   cause: rank 0 polls for a message with tag 1 from rank 1 (at @test); rank 1 has called
 * MPI_Finalize; a message with tag 2 from rank 1 is there, sent at @send
 */
BUG(poll_testsome)
{
    MPI_Request request;
    int count = 0, index;

    if (rank == 1) {
        MPI_Send(numbers, 1, MPI_INT, 0, wrong ? 2 : 1, world); // @send
        return;
    }
    MPI_Irecv(others, 1, MPI_INT, 1, 1, world, &request);
    while (count == 0)
        MPI_Testsome(1, &request, &count, &index, MPI_STATUSES_IGNORE); // @test
}

/* A barrier that one never calls.
 * options: --deadlock-after 0.1 --polling-after 0.3
 * says: cause: rank 0 polls in MPI_Ibarrier on MPI_COMM_WORLD for rank 1 (at @test), rank 1 waits
 * for a message with tag 2 from rank 0
 */
BUG(poll_ibarrier)
{
    MPI_Request request;
    int flag = 0;

    if (rank == 1 && wrong)
        MPI_Recv(others, 1, MPI_INT, 0, 2, world, ignore);
    MPI_Ibarrier(world, &request);
    while (!flag)
        MPI_Test(&request, &flag, ignore); // @test
    if (rank == 0 && wrong)
        MPI_Send(numbers, 1, MPI_INT, 1, 2, world);
}
