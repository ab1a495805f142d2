/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs with one cause of waiting each, for virtual time: planted NAME. The call that waits is
 * marked in the line above it with "waits: NAME", that of the culprit with "late: NAME".
 */
#include <mpi.h>
#include <string.h>
#include <unistd.h>
#include <xylem_mpi.h>

enum { ROUNDS = 10, LARGE = 1 << 20, MANY = 20000 };

static int rank, size;
static char buffer[LARGE];

/* Rank 0 computes; each of the others passes its message on at once. */
static void chain(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (rank > 0)
            /* waits: chain */
            MPI_Recv(buffer, 8, MPI_CHAR, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        xylem_compute(rank == 0 ? 1e-3 : 1e-6);
        if (rank < size - 1)
            /* late: chain */
            MPI_Send(buffer, 8, MPI_CHAR, rank + 1, 0, MPI_COMM_WORLD);
    }
}

/* Rank 2 has twice the work. */
static void imbalance(void)
{
    double sum = 0, own = rank;

    for (int i = 0; i < ROUNDS; i++) {
        xylem_compute(rank == 2 ? 2e-3 : 1e-3);
        /* waits: imbalance, late: imbalance */
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        xylem_compute(1e-4);
        MPI_Bcast(&sum, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
}

/* Rank 1 comes late to a barrier. */
static void barrier(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        xylem_compute(1e-5);
        if (rank == 1)
            xylem_compute(3e-3);
        /* waits: barrier, late: barrier */
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* The root of a broadcast is late. */
static void root(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        xylem_compute(rank == 3 ? 2e-3 : 1e-4);
        /* waits: root, late: root */
        MPI_Bcast(buffer, 64, MPI_CHAR, 3, MPI_COMM_WORLD);
    }
}

/* Rank 1 receives large messages late. */
static void receiver(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == 1)
            xylem_compute(2e-3);
        if (rank == 0)
            /* waits: receiver */
            MPI_Send(buffer, LARGE, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        if (rank == 1)
            /* late: receiver */
            MPI_Recv(buffer, LARGE, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* The wait for a nonblocking receive, whose send comes late. */
static void waiting(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Request request;

        if (rank == 0) {
            MPI_Irecv(buffer, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
            xylem_compute(1e-4);
            /* waits: waiting */
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        if (rank == 1) {
            xylem_compute(2e-3);
            /* late: waiting */
            MPI_Send(buffer, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        }
    }
}

/* All want the window of rank 0; rank 3 keeps it long. */
static void lock(void)
{
    MPI_Win window;

    MPI_Win_create(buffer, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int i = 0; i < ROUNDS; i++) {
        xylem_compute(1e-5 * (rank == 3 ? 1 : 2));
        /* waits: lock */
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        xylem_compute(rank == 3 ? 2e-3 : 1e-6);
        MPI_Put(buffer, 8, MPI_CHAR, 0, 8 * rank, 8, MPI_CHAR, window);
        /* late: lock */
        MPI_Win_unlock(0, window);
    }
    MPI_Win_free(&window);
}

/* Nobody waits, but there are very many messages of a few bytes. */
static void small(void)
{
    for (int i = 0; i < MANY && rank < 2; i++) {
        if (rank == 0)
            /* waits: small */
            MPI_Send(buffer, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(buffer, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < MANY && rank >= 2; i++)
        if (rank == 2)
            MPI_Send(buffer, 8, MPI_CHAR, 3, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(buffer, 8, MPI_CHAR, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Rank 3 is slower everywhere. */
static void slow(void)
{
    double sum = 0, own = rank;

    for (int i = 0; i < ROUNDS; i++) {
        xylem_compute(rank == 3 ? 3e-3 : 1e-3);
        /* waits: slow, late: slow */
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        xylem_compute(rank == 3 ? 3e-4 : 1e-4);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Rank 0 writes while the others wait. */
static void file(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == 0)
            usleep(2000);
        else
            xylem_compute(1e-5);
        /* waits: file, late: file */
        MPI_Bcast(buffer, 64, MPI_CHAR, 0, MPI_COMM_WORLD);
    }
}

/* Rank 2 comes late to a fence. */
static void fence(void)
{
    MPI_Win window;

    MPI_Win_create(buffer, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int i = 0; i < ROUNDS; i++) {
        xylem_compute(rank == 2 ? 2e-3 : 1e-4);
        /* waits: fence, late: fence */
        MPI_Win_fence(0, window);
    }
    MPI_Win_free(&window);
}

/* The root of a reduction waits for rank 3, the last to send. */
static void reduce(void)
{
    double sum = 0, own = rank;

    for (int i = 0; i < ROUNDS; i++) {
        xylem_compute(rank == 3 ? 2e-3 : 1e-4);
        /* waits: reduce, late: reduce */
        MPI_Reduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    }
}

/* Likewise a root that gathers, from rank 1. */
static void gather(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        xylem_compute(rank == 1 ? 2e-3 : 1e-4);
        /* waits: gather, late: gather */
        MPI_Gather(buffer, 8, MPI_CHAR, buffer + 64, 8, MPI_CHAR, 0, MPI_COMM_WORLD);
    }
}

/* All exchange with all, and rank 0 is late. */
static void alltoall(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        xylem_compute(rank == 0 ? 2e-3 : 1e-4);
        /* waits: alltoall, late: alltoall */
        MPI_Alltoall(buffer, 64, MPI_CHAR, buffer + LARGE / 2, 64, MPI_CHAR, MPI_COMM_WORLD);
    }
}

/* The ring turns as slowly as rank 1. */
static void shift(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        xylem_compute(rank == 1 ? 2e-3 : 1e-4);
        /* waits: shift, late: shift */
        MPI_Sendrecv(buffer, 8, MPI_CHAR, (rank + 1) % size, 0, buffer + 64, 8, MPI_CHAR,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* A small synchronous send waits for its receive. */
static void synchronous(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == 1)
            xylem_compute(2e-3);
        if (rank == 0)
            /* waits: synchronous */
            MPI_Ssend(buffer, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        if (rank == 1)
            /* late: synchronous */
            MPI_Recv(buffer, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* A nonblocking collective whose last member starts late. */
static void nonblocking(void)
{
    double sum = 0, own = rank;

    for (int i = 0; i < ROUNDS; i++) {
        MPI_Request request;

        xylem_compute(rank == 2 ? 2e-3 : 1e-4);
        /* late: nonblocking */
        MPI_Iallreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        /* waits: nonblocking */
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* Two halves: in one of them rank 3 is late. */
static void halves(void)
{
    MPI_Comm half;

    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
    for (int i = 0; i < ROUNDS; i++) {
        xylem_compute(rank == 3 ? 2e-3 : 1e-4);
        /* waits: halves, late: halves */
        MPI_Barrier(half);
    }
    MPI_Comm_free(&half);
}

/* A persistent receive, whose send comes late. */
static void persistent(void)
{
    MPI_Request request;

    if (rank == 0)
        MPI_Recv_init(buffer, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == 0) {
            MPI_Start(&request);
            /* waits: persistent */
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        if (rank == 1) {
            xylem_compute(2e-3);
            /* late: persistent */
            MPI_Send(buffer, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        }
    }
    if (rank == 0)
        MPI_Request_free(&request);
}

/* Rank 0 looks for a message before it receives it; the sender is late. */
static void probe(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == 0) {
            /* waits: probe */
            MPI_Probe(1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(buffer, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (rank == 1) {
            xylem_compute(2e-3);
            /* late: probe */
            MPI_Send(buffer, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        }
    }
}

/* Rank 0 hands out work, and takes long to make it. */
static void manager(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        for (int to = 1; to < size && rank == 0; to++) {
            xylem_compute(1e-3);
            /* late: manager */
            MPI_Send(buffer, 64, MPI_CHAR, to, 0, MPI_COMM_WORLD);
        }
        if (rank > 0) {
            /* waits: manager */
            MPI_Recv(buffer, 64, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            xylem_compute(1e-4);
        }
    }
}

/* One after the other: the computation of all ranks is in a row. */
static void serial(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (rank > 0 || i > 0)
            /* waits: serial */
            MPI_Recv(buffer, 8, MPI_CHAR, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        xylem_compute(1e-3);
        if (rank < size - 1 || i < ROUNDS - 1)
            /* late: serial */
            MPI_Send(buffer, 8, MPI_CHAR, (rank + 1) % size, 0, MPI_COMM_WORLD);
    }
}

/* Large messages are there in time, but nobody moves them before the wait. */
static void progress(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Request request[2];

        MPI_Irecv(buffer, LARGE / 2, MPI_CHAR, rank ^ 1, 0, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(buffer + LARGE / 2, LARGE / 2, MPI_CHAR, rank ^ 1, 0, MPI_COMM_WORLD,
                  &request[1]);
        xylem_compute(1e-4);
        /* waits: progress */
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
}

/* Balanced: nothing to find. What is between the two calls of MPI_Pcontrol is not counted. */
static void balanced(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        xylem_compute(1e-3);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Pcontrol(0);
    xylem_compute(rank == 0 ? 1.0 : 1e-3);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    xylem_compute(1e-3);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"chain", chain},
               {"imbalance", imbalance},
               {"barrier", barrier},
               {"root", root},
               {"receiver", receiver},
               {"waiting", waiting},
               {"lock", lock},
               {"small", small},
               {"slow", slow},
               {"file", file},
               {"fence", fence},
               {"reduce", reduce},
               {"gather", gather},
               {"alltoall", alltoall},
               {"shift", shift},
               {"synchronous", synchronous},
               {"nonblocking", nonblocking},
               {"halves", halves},
               {"persistent", persistent},
               {"probe", probe},
               {"manager", manager},
               {"serial", serial},
               {"progress", progress},
               {"balanced", balanced}};
    int code = 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (argc > 1 && strcmp(all[i].name, argv[1]) == 0) {
            all[i].run();
            code = 0;
        }
    MPI_Finalize();
    return code;
}
