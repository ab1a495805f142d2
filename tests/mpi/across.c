/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * across WHAT: mistakes of ranks in different processes, and correct programs that look like them.
 * across.py says what is printed, and names the lines by the comments here.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, last, data[100000];

static int is(const char *what, const char *name)
{
    return strcmp(what, name) == 0;
}

static void messages(const char *what)
{
    if (is(what, "truncate") && rank == 0)
        MPI_Send(data, 4, MPI_INT, last, 0, MPI_COMM_WORLD); /* long */
    if (is(what, "truncate") && rank == last)
        MPI_Recv(data, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* short */
    if (is(what, "truncate-large") && rank == 0)
        MPI_Send(data, 100000, MPI_INT, last, 0, MPI_COMM_WORLD); /* long large */
    if (is(what, "truncate-large") && rank == last)
        MPI_Recv(data, 50000, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* short large */
    if (is(what, "types") && rank == 0)
        MPI_Send(data, 4, MPI_INT, last, 0, MPI_COMM_WORLD); /* ints */
    if (is(what, "types") && rank == last)
        MPI_Recv(data, 2, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* doubles */
    if (is(what, "ready") && rank == 0)
        MPI_Rsend(data, 4, MPI_INT, last, 3, MPI_COMM_WORLD); /* unready */
    if (is(what, "ready"))
        for (;;) /* never received, and no rank ends */
            sleep(1);
    if (is(what, "ring"))
        MPI_Recv(data, 1, MPI_INT, (rank + 1) % (last + 1), 0, MPI_COMM_WORLD, /* nothing */
                 MPI_STATUS_IGNORE);
    if (is(what, "absent") && rank == last)
        MPI_Recv(data, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is(what, "absent") && rank < last)
        MPI_Barrier(MPI_COMM_WORLD);
}

static void collectives(const char *what)
{
    MPI_Comm comm;

    if (is(what, "root"))
        MPI_Bcast(data, 1, MPI_INT, rank == last ? last : 0, MPI_COMM_WORLD); /* bcast */
    if (is(what, "size"))
        MPI_Allreduce(data, data + 10, rank == last ? 2 : 1, MPI_INT, MPI_SUM, /* allreduce */
                      MPI_COMM_WORLD);
    if (is(what, "kind") && rank == last)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm); /* dup */
    else if (is(what, "kind"))
        MPI_Bcast(data, 1, MPI_INT, 0, MPI_COMM_WORLD); /* other */
    if (is(what, "late") && rank == last)               /* the others wait for long, and rightly */
        sleep(2);
    if (is(what, "late"))
        MPI_Barrier(MPI_COMM_WORLD);
}

/* Communicators that the last rank wants in another way. */
static void topologies(const char *what)
{
    int size = last + 1, dims[2] = {size, 1}, periods[2] = {0, 0}, remain[2] = {rank == last, 1},
        to = (rank + 1) % size;
    int index[8], edges[8];
    MPI_Comm comm = MPI_COMM_NULL, sub;

    if (is(what, "grid") && rank == last)
        periods[1] = 1;
    for (int i = 0; i < size; i++) {
        index[i] = i + 1;
        edges[i] = rank == last && i == 1 ? 0 : (i + 1) % size;
    }
    if (is(what, "grid") || is(what, "remain"))
        MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm); /* grid */
    if (is(what, "remain"))
        MPI_Cart_sub(comm, remain, &sub); /* remain */
    if (is(what, "graph"))
        MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 1, &comm); /* graph */
    if (is(what, "dist"))
        MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, (int[]){1}, &to, MPI_UNWEIGHTED,
                              MPI_INFO_NULL, rank == last, &comm); /* dist */
}

/* Rank 0 has the last rank and waits for a message; the others want its memory, too. */
static void locks(MPI_Win win, int all)
{
    if (rank == 0)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Recv(data, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (all)
        MPI_Win_lock_all(0, win); /* lock all */
    else
        MPI_Win_lock(MPI_LOCK_SHARED, last, 0, win); /* lock */
}

static void windows(const char *what)
{
    MPI_Win win;
    void *memory;

    if (is(what, "window"))
        MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    if (is(what, "kinds") && rank == last)
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    else
        MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_set_name(win, "table");
    if (is(what, "lock") || is(what, "lock-all"))
        locks(win, is(what, "lock-all"));
    MPI_Win_fence(0, win);
    if (is(what, "range") && rank == 0)
        MPI_Put(data, 4, MPI_INT, last, 13, 4, MPI_INT, win); /* too far */
    if (is(what, "fence") && rank == last)
        MPI_Win_free(&win); /* free */
    MPI_Win_fence(0, win);  /* fence */
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &last);
    last--;
    messages(what);
    collectives(what);
    topologies(what);
    if (is(what, "abort") && rank == last)
        MPI_Abort(MPI_COMM_WORLD, 17);
    if (is(what, "abort"))
        MPI_Recv(data, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is(what, "window") || is(what, "kinds") || is(what, "lock") || is(what, "lock-all") ||
        is(what, "range") || is(what, "fence"))
        windows(what);
    MPI_Finalize();
    return is(what, "code") && rank == last ? 5 : 0;
}
