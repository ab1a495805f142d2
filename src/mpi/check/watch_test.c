/* SPDX-License-Identifier: BSD-3-Clause */
#include "testing/mpi_p2p.h"

#include <sys/wait.h>
#include <unistd.h>

#include "mpi/check/check.h"

enum { LOOKS_MOST = 2000 };

static void begin(mpi_job_t *job)
{
    CHECK(mpi_watch_begin(job, 0) == XY_OK);
}

/* In a process of its own: ranks that are stuck do not end. */
static void run_watched(int ranks, void (*body)(int, int))
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        ranks_prepare = begin;
        run_ranks(ranks, 2, 0, XMPI_EAGER_LIMIT, body);
        _exit(9); /* the last rank ends the process before */
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void send(int to)
{
    MPI_Send(NULL, 0, MPI_INT, to, 0, MPI_COMM_WORLD);
}

static void receive(int from)
{
    MPI_Recv(NULL, 0, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The others have come so far, and park soon. */
static void await_both(void)
{
    receive(0);
    receive(1);
    xy_watcher_sleep(0.05);
}

static void look_until_found(void)
{
    for (int i = 0; i < LOOKS_MOST; i++) {
        if (mpi_watch_look() == XMPI_WATCH_PARKED)
            _exit(0);
        xy_watcher_sleep(0.005);
    }
    _exit(1);
}

/* They were parked at the last look, and are now, but have run in between: not the same park. */
static void park_again(int rank, int size)
{
    (void)size;
    if (rank < 2) {
        send(2);
        receive(rank + 1);
        if (rank == 1)
            send(0);
        send(2);
        receive(1 - rank);
        return;
    }
    await_both();
    CHECK(mpi_watch_look() == XMPI_WATCH_NONE);
    send(1);
    await_both();
    CHECK(mpi_watch_look() == XMPI_WATCH_NONE);
    look_until_found();
}

static void test_a_park_counts_once_it_was_seen(void **state)
{
    (void)state;
    run_watched(3, park_again);
}

/* The awaited message comes between two looks, and is not handled before the second. */
static void come_late(int rank, int size)
{
    (void)size;
    if (rank < 2) {
        send(2);
        receive(rank + 1);
        if (rank == 1)
            send(0);
        MPI_Barrier(MPI_COMM_WORLD);
        return;
    }
    await_both();
    for (int i = 0; i < 20; i++)
        CHECK(mpi_watch_look() == XMPI_WATCH_NONE);
    send(1);
    for (int i = 0; i < 20; i++)
        CHECK(mpi_watch_look() == XMPI_WATCH_NONE);
    MPI_Barrier(MPI_COMM_WORLD);
    _exit(0);
}

static void test_a_chain_with_an_end_is_none(void **state)
{
    (void)state;
    run_watched(3, come_late);
}

/* Ranks 0 to 2 share a worker, which has packets left for which a ring had no room: what its ranks
 * have sent may not have come. They wait for each other, but nothing is known until it is empty. */
static void keep_packets(int rank, int size)
{
    (void)size;
    if (rank == 2) {
        mpi_self->worker->spills++;
        send(0);
        send(1);
        send(3);
        receive(3);
        mpi_self->worker->spills--;
        send(3);
        receive(3);
    } else if (rank < 2) {
        receive(2);
        send(3);
        receive(1 - rank);
    } else if (rank == 3) {
        receive(2);
        await_both();
        for (int i = 0; i < 20; i++)
            CHECK(mpi_watch_look() == XMPI_WATCH_NONE);
        send(2);
        receive(2);
        look_until_found();
    }
}

static void test_packets_without_room_are_waited_for(void **state)
{
    (void)state;
    run_watched(5, keep_packets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_park_counts_once_it_was_seen),
        cmocka_unit_test(test_a_chain_with_an_end_is_none),
        cmocka_unit_test(test_packets_without_room_are_waited_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
