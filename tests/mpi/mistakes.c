/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the mistake its argument names; mistakes.sh looks at what is said about it. Four ranks. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 1 << 20 };

static int rank, size, next, previous, numbers[LARGE], others[LARGE];
static const MPI_Comm world = MPI_COMM_WORLD;

/* Everybody waits for the rank before. */
static void circle_recv(void)
{
    MPI_Recv(others, 1, MPI_INT, previous, 17, world, MPI_STATUS_IGNORE);
}

static void circle_any(void)
{
    MPI_Recv(others, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, MPI_STATUS_IGNORE);
}

/* Too much to be copied ahead: no send ends before somebody receives. */
static void circle_send(void)
{
    MPI_Send(numbers, LARGE, MPI_INT, next, 18, world);
    MPI_Recv(others, LARGE, MPI_INT, previous, 18, world, MPI_STATUS_IGNORE);
}

static void circle_ssend(void)
{
    MPI_Ssend(numbers, 1, MPI_INT, next, 19, world);
    MPI_Recv(others, 1, MPI_INT, previous, 19, world, MPI_STATUS_IGNORE);
}

static void wrong_tag(void)
{
    MPI_Send(numbers, 1, MPI_INT, next, 20, world);
    MPI_Recv(others, 1, MPI_INT, previous, 21, world, MPI_STATUS_IGNORE);
}

static void wait_one(void)
{
    MPI_Request request;

    MPI_Irecv(others, 1, MPI_INT, previous, 22, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void wait_all(void)
{
    MPI_Request requests[2];

    MPI_Isend(numbers, 1, MPI_INT, next, 23, world, &requests[0]);
    MPI_Irecv(others, 1, MPI_INT, previous, 24, world, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void wait_any(void)
{
    MPI_Request request;
    int index;

    MPI_Irecv(others, 1, MPI_INT, previous, 25, world, &request);
    MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE);
}

static void probe(void)
{
    MPI_Probe(previous, 26, world, MPI_STATUS_IGNORE);
}

/* Rank 0 is late: it waits for a message, the others for rank 0. */
static void barrier_without_0(void)
{
    if (rank == 0)
        MPI_Recv(others, 1, MPI_INT, 3, 27, world, MPI_STATUS_IGNORE);
    MPI_Barrier(world);
}

static void last_one_left(void)
{
    if (rank != size - 1)
        MPI_Recv(others, 1, MPI_INT, size - 1, 28, world, MPI_STATUS_IGNORE);
}

static void nonblocking_without_0(void)
{
    MPI_Request request;

    if (rank == 0)
        circle_any();
    MPI_Iallreduce(numbers, others, 1, MPI_INT, MPI_SUM, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void other_collective(void)
{
    if (rank == 2)
        MPI_Bcast(numbers, 1, MPI_INT, 1, world);
    else
        MPI_Allreduce(numbers, others, 1, MPI_INT, MPI_SUM, world);
}

static void other_root(void)
{
    MPI_Bcast(numbers, 1, MPI_INT, rank == 2 ? 3 : 1, world);
}

static void other_size(void)
{
    MPI_Allreduce(numbers, others, rank == 2 ? 5 : 4, MPI_INT, MPI_SUM, world);
}

static void other_nonblocking(void)
{
    MPI_Request request;

    if (rank == 2)
        MPI_Ibarrier(world, &request);
    else
        MPI_Iscan(numbers, others, 1, MPI_INT, MPI_SUM, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void other_barrier(void)
{
    MPI_Request request;

    if (rank != 2) {
        MPI_Barrier(world);
        return;
    }
    MPI_Ibarrier(world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* A persistent collective meets no nonblocking one; */
static void other_persistent(void)
{
    MPI_Request request;

    if (rank == 2) {
        MPI_Iallreduce(numbers, others, 4, MPI_INT, MPI_SUM, world, &request);
    } else {
        MPI_Allreduce_init(numbers, others, 4, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &request);
        MPI_Start(&request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* requests are made in the same order, and may be started in any; */
static void other_init(void)
{
    MPI_Request request[2];

    MPI_Bcast_init(numbers, 1, MPI_INT, rank == 2, world, MPI_INFO_NULL, &request[0]);
    MPI_Bcast_init(numbers, 1, MPI_INT, rank != 2, world, MPI_INFO_NULL, &request[1]);
    MPI_Startall(2, request);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
}

/* and who waits for one that others do not start is named. */
static void persistent_without_0(void)
{
    MPI_Request request;

    MPI_Allreduce_init(numbers, others, 1, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &request);
    if (rank == 0)
        circle_any();
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Ranks 0 and 1 on one side of an intercommunicator, 2 and 3 on the other. */
static void inter_bcast(int root)
{
    MPI_Comm half, inter;

    MPI_Comm_split(world, rank / 2, rank, &half);
    MPI_Intercomm_create(half, 0, world, rank < 2 ? 2 : 0, 6, &inter);
    MPI_Bcast(numbers, 1, MPI_INT, root, inter);
}

static void inter_other_root(void)
{
    inter_bcast(rank < 2 ? 0 : rank == 2 ? MPI_PROC_NULL : MPI_ROOT);
}

static void inter_no_root(void)
{
    inter_bcast(rank < 2 ? 0 : MPI_PROC_NULL);
}

static void inter_two_sides(void)
{
    inter_bcast(MPI_PROC_NULL);
}

/* Calls that make communicators are told apart, and from the end. */
static void other_maker(void)
{
    MPI_Comm made;

    if (rank == 2)
        MPI_Comm_split(world, rank / 2, 0, &made);
    else
        MPI_Comm_dup(world, &made);
}

static void other_maker_first(void)
{
    MPI_Comm made;

    if (rank == 0)
        MPI_Comm_dup(world, &made);
    else
        MPI_Comm_split(world, rank / 2, 0, &made);
}

static void other_topology(void)
{
    MPI_Comm made;

    if (rank == 2)
        MPI_Cart_create(world, 1, &size, (const int[]){0}, 0, &made);
    else
        MPI_Comm_dup(world, &made);
}

static void maker_at_end(void)
{
    MPI_Comm made;

    if (rank != 2)
        MPI_Comm_dup(world, &made);
}

static void other_variant(void)
{
    const int counts[] = {1, 1, 1, 1}, places[] = {0, 1, 2, 3};

    if (rank == 2)
        MPI_Allgatherv(numbers, 1, MPI_INT, others, counts, places, MPI_INT, world);
    else
        MPI_Allgather(numbers, 1, MPI_INT, others, 1, MPI_INT, world);
}

/* One of them may be a schedule when the other is direct: options of mpiexec say so. */
static void other_engine(void)
{
    MPI_Request request;

    if (rank == 2)
        MPI_Ibcast(numbers, 1, MPI_INT, 1, world, &request);
    else
        MPI_Ibarrier(world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void other_engine_blocking(void)
{
    MPI_Request request;

    if (rank != 2) {
        MPI_Barrier(world);
        return;
    }
    MPI_Ibcast(numbers, 1, MPI_INT, 1, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The barriers would match if schedules were not counted. */
static void one_more(void)
{
    MPI_Request request;

    if (rank == 2)
        MPI_Ibcast(numbers, 1, MPI_INT, 1, world, &request);
    MPI_Barrier(world);
    if (rank == 2)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The two upper ranks, in reverse order: the report must name them as the world does. */
static void other_in_part(void)
{
    MPI_Comm half;

    MPI_Comm_split(world, rank / 2, -rank, &half);
    if (rank == 2)
        MPI_Gather(numbers, 1, MPI_INT, others, 1, MPI_INT, 0, half);
    else if (rank == 3)
        MPI_Alltoall(numbers, 1, MPI_INT, others, 1, MPI_INT, half);
    else
        MPI_Barrier(half);
}

/* Ranks that have left a small rooted collective, and one that did not make the same call. */
static void left_bcast(void)
{
    MPI_Bcast(numbers, rank == 2 ? 5 : 4, MPI_INT, 1, world);
    MPI_Barrier(world);
}

static void left_large(void)
{
    MPI_Bcast(numbers, rank == 2 ? 2000 : 4, MPI_INT, 1, world);
    MPI_Barrier(world);
}

static void left_reduce(void)
{
    if (rank == 2)
        MPI_Barrier(world);
    else
        MPI_Reduce(numbers, others, 4, MPI_INT, MPI_SUM, 0, world);
    MPI_Barrier(world);
}

static void left_root(void)
{
    MPI_Reduce(numbers, others, 4, MPI_INT, MPI_SUM, rank == 2 ? 0 : 2, world);
    MPI_Barrier(world);
}

static void left_one_more(void)
{
    if (rank == 2)
        MPI_Gather(numbers, 1, MPI_INT, others, 1, MPI_INT, 1, world);
    MPI_Scan(numbers, others, 4, MPI_INT, MPI_SUM, world);
}

/* No data for rank 2: it goes on to the next collective. */
static void left_empty(void)
{
    MPI_Allreduce(numbers, others, rank == 2 ? 0 : 4, MPI_INT, MPI_SUM, world);
    MPI_Barrier(world);
}

/* The one without data comes first, and has gone on when the others come. */
static void left_empty_first(void)
{
    MPI_Allreduce(numbers, others, rank == 0 ? 0 : 4, MPI_INT, MPI_SUM, world);
    MPI_Barrier(world);
}

static void left_empty_rooted(void)
{
    MPI_Bcast(numbers, rank == 2 ? 0 : 4, MPI_INT, 1, world);
}

static void too_long(void)
{
    if (rank == 0)
        MPI_Send(numbers, 10, MPI_INT, 1, 29, world);
    if (rank == 1)
        MPI_Recv(others, 5, MPI_INT, 0, 29, world, MPI_STATUS_IGNORE);
}

static void too_long_large(void)
{
    if (rank == 0)
        MPI_Send(numbers, LARGE, MPI_INT, 1, 30, world);
    if (rank == 1)
        MPI_Recv(others, LARGE - 1, MPI_INT, 0, 30, world, MPI_STATUS_IGNORE);
}

/* The others are in a call, or compute: the job ends at once. */
static void abort_while_waiting(void)
{
    if (rank == 2)
        MPI_Abort(world, 42);
    if (rank == 3)
        for (;;)
            MPI_Iprobe(0, 0, world, &(int){0}, MPI_STATUS_IGNORE);
    MPI_Barrier(world);
}

#define MISTAKE(name)                                                                              \
    {                                                                                              \
#name, name                                                                                \
    }

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*make)(void);
    } mistakes[] = {
        MISTAKE(circle_recv),
        MISTAKE(circle_any),
        MISTAKE(circle_send),
        MISTAKE(circle_ssend),
        MISTAKE(wrong_tag),
        MISTAKE(wait_one),
        MISTAKE(wait_all),
        MISTAKE(wait_any),
        MISTAKE(probe),
        MISTAKE(barrier_without_0),
        MISTAKE(last_one_left),
        MISTAKE(nonblocking_without_0),
        MISTAKE(other_collective),
        MISTAKE(other_root),
        MISTAKE(other_size),
        MISTAKE(other_nonblocking),
        MISTAKE(other_barrier),
        MISTAKE(other_persistent),
        MISTAKE(other_init),
        MISTAKE(persistent_without_0),
        MISTAKE(inter_other_root),
        MISTAKE(inter_no_root),
        MISTAKE(inter_two_sides),
        MISTAKE(other_in_part),
        MISTAKE(other_maker),
        MISTAKE(other_maker_first),
        MISTAKE(other_topology),
        MISTAKE(maker_at_end),
        MISTAKE(other_variant),
        MISTAKE(other_engine),
        MISTAKE(other_engine_blocking),
        MISTAKE(one_more),
        MISTAKE(left_bcast),
        MISTAKE(left_large),
        MISTAKE(left_reduce),
        MISTAKE(left_root),
        MISTAKE(left_one_more),
        MISTAKE(left_empty),
        MISTAKE(left_empty_first),
        MISTAKE(left_empty_rooted),
        MISTAKE(too_long),
        MISTAKE(too_long_large),
        MISTAKE(abort_while_waiting),
    };

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]) && argc > 1; i++)
        if (strcmp(argv[1], mistakes[i].name) == 0)
            mistakes[i].make();
    MPI_Finalize();
    return 0;
}
