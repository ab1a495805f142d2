/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communication continues while ranks compute: the promise of communication cores.
 *
 * Ranks start an operation and then look at their buffers, in code that calls no MPI function,
 * until the data is there. Nothing but a communication core can have moved it. Time plays no part:
 * when all ranks have started the operation, all communication cores sleep and the data is not
 * there, it never comes.
 *
 * Where a copy could also be made too early, by the rank that starts it, the communication core is
 * kept busy meanwhile: the data must not be there before the core is let go.
 */
#include "testing/mpi_p2p.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "base/base.h"
#include "testing/fiber.h"

/* DEADLINE: seconds, for what the looks below do not see. LOOKS: so often communication cores are
 * seen asleep in a row before that is believed, as one may wake another between two looks. */
enum { LARGE = 1 << 20, DEADLINE = 100, LOOKS = 10000 };

/* ---- Looking without MPI ---- */

static _Atomic int started; /* how many calls of ranks have started their operations */

/* Will no communication core do anything until it is rung? */
static bool do_cores_sleep(void)
{
    for (int w = mpi_job->workers - mpi_job->comm_workers; w < mpi_job->workers; w++)
        if (!testing_worker_sleeps(mpi_job->worker[w].base))
            return false;
    return true;
}

/* Wait until all `bytes` at `at` are `value`; `calls`: when so many have started, communication
 * cores have all that they need. */
static void await(const volatile char *at, size_t bytes, char value, int calls)
{
    double begin = xy_now();

    for (size_t i = 0; i < bytes; i++)
        for (int looks = 0; at[i] != value;) {
            bool is_over = atomic_load(&started) >= calls && do_cores_sleep();

            looks = is_over ? looks + 1 : 0;
            CHECK(looks < LOOKS || at[i] == value); /* communication cores have work left */
            CHECK(xy_now() - begin < DEADLINE);
            sched_yield();
        }
}

static void await_flag(_Atomic int *flag, int value)
{
    double begin = xy_now();

    while (atomic_load(flag) != value) {
        CHECK(xy_now() - begin < DEADLINE);
        sched_yield();
    }
}

/* Test data whose sum over two ranks is made of bytes 2. */
static char *bytes_of(char value, size_t bytes)
{
    char *buffer = malloc(bytes);

    CHECK(buffer != NULL);
    memset(buffer, value, bytes);
    return buffer;
}

/* ---- Collectives ---- */

static size_t bytes; /* of each block */

/* Start one, look at `result` until it is there, complete. */
static void arrives(MPI_Request request, char *result, size_t all, char value)
{
    int size, call = atomic_fetch_add(&started, 1);

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    await(result, all, value, (call / size + 1) * size);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    memset(result, 0, all);
    /* All have looked before the buffers change. */
    MPI_Barrier(MPI_COMM_WORLD);
}

static void collectives(int rank, int size)
{
    size_t all = bytes * (size_t)size;
    char *in = bytes_of(1, all), *out = bytes_of(0, all), *own = rank == 1 ? in : out;
    int n = (int)bytes;
    MPI_Request request;

    MPI_Ibcast(own, n, MPI_CHAR, 1, MPI_COMM_WORLD, &request);
    arrives(request, own, bytes, 1);
    memset(in, 1, all);
    MPI_Iallreduce(in, out, n, MPI_SIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD, &request);
    arrives(request, out, bytes, (char)size);
    MPI_Iallgather(in, n, MPI_CHAR, out, n, MPI_CHAR, MPI_COMM_WORLD, &request);
    arrives(request, out, all, 1);
    MPI_Ialltoall(in, n, MPI_CHAR, out, n, MPI_CHAR, MPI_COMM_WORLD, &request);
    arrives(request, out, all, 1);
    MPI_Igather(in, n, MPI_CHAR, out, n, MPI_CHAR, 0, MPI_COMM_WORLD, &request);
    arrives(request, out, rank == 0 ? all : 0, 1);
    MPI_Iscatter(in, n, MPI_CHAR, out, n, MPI_CHAR, 1, MPI_COMM_WORLD, &request);
    arrives(request, out, bytes, 1);
    MPI_Ireduce(in, out, n, MPI_SIGNED_CHAR, MPI_SUM, 0, MPI_COMM_WORLD, &request);
    arrives(request, out, rank == 0 ? bytes : 0, (char)size);
    MPI_Iscan(in, out, n, MPI_SIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD, &request);
    arrives(request, out, bytes, (char)(rank + 1));
    free(in);
    free(out);
}

static void run_all(int ranks, int cores)
{
    atomic_store(&started, 0);
    run_ranks(ranks, cores, 0, 1024, collectives);
}

/* One rank on each core of its own, several ranks on one core, several communication cores. */
static void run_collectives(void)
{
    for (bytes = 8; bytes <= LARGE / 4; bytes *= LARGE / 32) {
        ranks_comm_workers = 1;
        run_all(2, 2);
        run_all(4, 1);
        ranks_comm_workers = 2;
        run_all(5, 2);
    }
    ranks_comm_workers = 0;
}

static void test_direct_collectives(void **state)
{
    (void)state;
    run_collectives();
}

static void test_scheduled_collectives(void **state)
{
    static const xy_collective_t collective[] = {
        XY_COLL_BCAST,  XY_COLL_ALLREDUCE, XY_COLL_ALLGATHER, XY_COLL_ALLTOALL,
        XY_COLL_GATHER, XY_COLL_SCATTER,   XY_COLL_REDUCE,    XY_COLL_SCAN};

    (void)state;
    for (size_t i = 0; i < sizeof(collective) / sizeof(collective[0]); i++) {
        xy_coll_request_t q = {.collective = collective[i],
                               .procs = 5,
                               .count = 8,
                               .element = 1,
                               .is_commutative = true};

        assert_int_equal(xy_coll_choose(&q, &xy_coll_link_default, NULL,
                                        &ranks_settings.algorithm[collective[i]]),
                         XY_OK);
    }
    run_collectives();
    memset(ranks_settings.algorithm, 0, sizeof(ranks_settings.algorithm));
}

static void test_progress_threads(void **state)
{
    (void)state;
    ranks_settings.progress = XMPI_PROGRESS_THREADS;
    run_collectives();
    ranks_settings.progress = XMPI_PROGRESS_TASKS;
}

/* ---- Large messages ---- */

/* The communication core: it does its work (FREE), nothing (BUSY), and says when (HELD). */
enum { FREE, BUSY, HELD, END };
static _Atomic int core_state;

static void core_main(void *arg)
{
    (void)arg;
    while (atomic_load(&core_state) != END) {
        int wanted = BUSY;

        if (atomic_compare_exchange_strong(&core_state, &wanted, HELD))
            while (atomic_load(&core_state) == HELD)
                sched_yield();
        xy_fiber_sleep(1e-5);
    }
}

static void keep_core(mpi_job_t *job)
{
    atomic_store(&core_state, FREE);
    assert_int_equal(
        xy_fiber_create(xy_pool_worker(job->pool, job->workers - 1), core_main, NULL, NULL), XY_OK);
}

static void hold_core(void)
{
    atomic_store(&core_state, BUSY);
    await_flag(&core_state, HELD);
}

static char *volatile receive_buffer;
static _Atomic int stage;

/* Both ranks on one core: the call that finds its partner leaves the copy to the communication
 * core. `sends_last`: that call is the Isend, else the Irecv. */
static void near(int rank, bool sends_last)
{
    char *buffer = bytes_of((char)(rank == 0), LARGE);
    bool is_last = (rank == 0) == sends_last;
    MPI_Request request;

    if (rank == 1)
        receive_buffer = buffer;
    if (is_last) {
        MPI_Recv(NULL, 0, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        hold_core();
    }
    if (rank == 0)
        MPI_Isend(buffer, LARGE, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
    else
        MPI_Irecv(buffer, LARGE, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
    if (is_last) {
        for (size_t i = 0; i < LARGE; i++)
            CHECK(receive_buffer[i] == 0);
        atomic_store(&core_state, FREE);
        await(receive_buffer, LARGE, 1, 0);
    } else {
        MPI_Send(NULL, 0, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(buffer);
}

static void near_messages(int rank, int size)
{
    (void)size;
    near(rank, true);
    near(rank, false);
    MPI_Barrier(MPI_COMM_WORLD);
    atomic_store(&core_state, END);
}

static void test_messages_on_one_core(void **state)
{
    (void)state;
    ranks_comm_workers = 1;
    ranks_prepare = keep_core;
    run_ranks(2, 1, 0, 1024, near_messages);
    ranks_prepare = NULL;
    ranks_comm_workers = 0;
}

/* Two cores: the receiver computes from before the message is sent until it is there. */
static void far_messages(int rank, int size)
{
    char *buffer = bytes_of((char)(rank == 0), LARGE);
    MPI_Request request;

    (void)size;
    if (rank == 0) {
        await_flag(&stage, 1);
        MPI_Isend(buffer, LARGE, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
        atomic_store(&started, 1);
        await_flag(&stage, 2);
    } else {
        MPI_Irecv(buffer, LARGE, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
        atomic_store(&stage, 1);
        await(buffer, LARGE, 1, 1);
        atomic_store(&stage, 2);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(buffer);
}

static void test_messages_between_cores(void **state)
{
    (void)state;
    ranks_comm_workers = 1;
    atomic_store(&stage, 0);
    atomic_store(&started, 0);
    run_ranks(2, 2, 0, 1024, far_messages);
    ranks_comm_workers = 0;
}

/* The communication core comes while the receiver is inside the library, and goes away again: the
 * receiver has to look for the message itself when it leaves. The collective of one rank shows when
 * the core has come: it goes through the same ring, after the message. */
static void tries_in_vain(int rank, int size)
{
    char *buffer = bytes_of((char)(rank == 0), LARGE), one = 1, two = 0;
    MPI_Request request, marker;

    (void)size;
    if (rank == 0) {
        await_flag(&stage, 1);
        MPI_Isend(buffer, LARGE, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
        MPI_Iallreduce(&one, &two, 1, MPI_SIGNED_CHAR, MPI_SUM, MPI_COMM_SELF, &marker);
        await(&two, 1, 1, 0);
        atomic_store(&stage, 2);
        await_flag(&stage, 3);
        MPI_Wait(&marker, MPI_STATUS_IGNORE);
    } else {
        MPI_Irecv(buffer, LARGE, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
        mpi_go_inside(mpi_self);
        atomic_store(&stage, 1);
        await_flag(&stage, 2);
        mpi_go_outside(mpi_self);
        await(buffer, LARGE, 1, 0);
        atomic_store(&stage, 3);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(buffer);
}

static void test_receiver_inside(void **state)
{
    (void)state;
    ranks_comm_workers = 1;
    atomic_store(&stage, 0);
    run_ranks(2, 2, 0, 1024, tries_in_vain);
    ranks_comm_workers = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_direct_collectives),     cmocka_unit_test(test_scheduled_collectives),
        cmocka_unit_test(test_progress_threads),       cmocka_unit_test(test_messages_on_one_core),
        cmocka_unit_test(test_messages_between_cores), cmocka_unit_test(test_receiver_inside),
    };

#ifdef __SANITIZE_THREAD__
    return 0; /* looking at memory that others write is what these tests are about */
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
