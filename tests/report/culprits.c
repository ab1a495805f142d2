/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs in which a rank delays others that it does not talk to, or not in the call that waits:
 * culprits NAME. The call that ends the culprit's work is marked in the line above it with
 * "late: NAME". They also run in real time and under other MPIs: work is a loop there, or, with
 * CULPRITS_SLEEP, a sleep, which ranks of one core have at the same time.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 12, LARGE = 1 << 19 };

static int rank, size;
static char buffer[LARGE], other[LARGE];

void xylem_compute(double seconds) __attribute__((weak));

/* So many milliseconds of work. */
static void work(double milliseconds)
{
    if (getenv("CULPRITS_SLEEP") != NULL) {
        usleep((useconds_t)(1000 * atof(getenv("CULPRITS_SLEEP")) * milliseconds));
        return;
    }
    if (xylem_compute != NULL && getenv("CULPRITS_LOOP") == NULL) {
        xylem_compute(milliseconds * 1e-3);
        return;
    }
    volatile double x = 1;
    for (long i = 0; i < (long)(milliseconds * 4e5); i++)
        x = x * 0.999999 + 1e-9;
}

/* A ring of exchanges; rank 2 has a larger part, and the delay goes round. */
static void ring(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    for (int i = 0; i < ROUNDS; i++) {
        work(rank == 2 ? 2 : 1);
        /* late: ring */
        MPI_Sendrecv(buffer, 1024, MPI_CHAR, right, 0, other, 1024, MPI_CHAR, left, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(buffer, 1024, MPI_CHAR, left, 1, other, 1024, MPI_CHAR, right, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Each round another rank has more work: nobody is the culprit, the rounds are. */
static void rotating(void)
{
    double sum = 0, own = rank;

    for (int i = 0; i < ROUNDS; i++) {
        work(i % size == rank ? 4 : 1);
        /* late: rotating */
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* Rows and columns: rank 3 is late in its row, which is late in the columns. */
static void grid(void)
{
    MPI_Comm row, column;
    double sum = 0, own = rank;

    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &column);
    for (int i = 0; i < ROUNDS; i++) {
        work(rank == 3 ? 3 : 1);
        /* late: grid */
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, row);
        MPI_Allreduce(&sum, &own, 1, MPI_DOUBLE, MPI_MAX, column);
    }
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
}

/* The root works on what it gathered while the others wait for its answer. */
static void amdahl(void)
{
    double all[64], own = rank;

    for (int i = 0; i < ROUNDS; i++) {
        work(1);
        MPI_Gather(&own, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (rank == 0)
            work(2);
        /* late: amdahl */
        MPI_Bcast(&own, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
}

/* Rank 0 waits for all of many receives; the one of rank 3 comes late. */
static void many(void)
{
    MPI_Request requests[64];

    for (int i = 0; i < ROUNDS; i++) {
        if (rank == 0) {
            for (int r = 1; r < size; r++)
                MPI_Irecv(buffer + 64 * r, 64, MPI_CHAR, r, 0, MPI_COMM_WORLD, &requests[r - 1]);
            work(0.2);
            MPI_Waitall(size - 1, requests, MPI_STATUSES_IGNORE);
        } else {
            work(rank == 3 ? 3 : 0.5);
            /* late: many */
            MPI_Send(buffer, 64, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Workers return results to rank 0, which takes them one by one: the workers wait for it. */
static void bottleneck(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (rank > 0) {
            work(1);
            MPI_Ssend(&i, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
            continue;
        }
        for (int r = 1; r < size; r++) {
            /* late: bottleneck */
            MPI_Recv(buffer, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            work(1);
        }
    }
}

/* A wave: each rank needs the result of the one before; the last of each round starts the next. */
static void wave(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (rank > 0 || i > 0)
            MPI_Recv(buffer, 256, MPI_CHAR, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        work(1);
        if (rank < size - 1 || i < ROUNDS - 1)
            /* late: wave */
            MPI_Send(buffer, 256, MPI_CHAR, (rank + 1) % size, 0, MPI_COMM_WORLD);
    }
}

/* Rank 3 is late for rank 2, which is therefore late for rank 1, which is late for the large send
 * of rank 0. */
static void through(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == 3) {
            work(3);
            /* late: through */
            MPI_Send(buffer, 8, MPI_CHAR, 2, 0, MPI_COMM_WORLD);
        } else if (rank == 2) {
            MPI_Recv(buffer, 8, MPI_CHAR, 3, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Ssend(buffer, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(buffer, 8, MPI_CHAR, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(buffer, LARGE, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == 0) {
            MPI_Send(buffer, LARGE, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Ranks take pieces of work from a counter; rank 1 takes the large one last. */
static void counter(void)
{
    static long next;
    long one = 1, mine = 0;
    MPI_Win window;

    MPI_Win_create(&next, rank == 0 ? sizeof next : 0, sizeof next, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &window);
    MPI_Win_lock_all(0, window);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Fetch_and_op(&one, &mine, MPI_LONG, 0, 0, MPI_SUM, window);
        MPI_Win_flush(0, window);
        work(1);
    }
    if (rank == 1)
        work(20);
    /* late: counter */
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&window);
}

/* Neighbours of a line exchange; rank 0 has more work, and the delay moves one rank each round. */
static void stencil(void)
{
    MPI_Comm line;
    int periodic = 0;
    char in[2], out[2] = {1, 2};

    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &line);
    for (int i = 0; i < 2 * ROUNDS; i++) {
        work(rank == 0 ? 1.5 : 1);
        /* late: stencil */
        MPI_Neighbor_alltoall(out, 1, MPI_CHAR, in, 1, MPI_CHAR, line);
    }
    MPI_Comm_free(&line);
}

/* Two groups; the leader of the second comes late to the meeting of the leaders, and all wait. */
static void leaders(void)
{
    MPI_Comm group;
    double sum = 0, own = rank;

    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &group);
    for (int i = 0; i < ROUNDS; i++) {
        work(1);
        MPI_Reduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, group);
        if (rank == 2)
            work(2);
        if (rank == 0)
            MPI_Recv(&sum, 1, MPI_DOUBLE, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 2)
            /* late: leaders */
            MPI_Send(&sum, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        if (rank == 0)
            MPI_Send(&sum, 1, MPI_DOUBLE, 2, 1, MPI_COMM_WORLD);
        if (rank == 2)
            MPI_Recv(&sum, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Bcast(&sum, 1, MPI_DOUBLE, 0, group);
    }
    MPI_Comm_free(&group);
}

/* A scan: rank 1 is late, the ranks above it wait, rank 0 does not. */
static void prefix(void)
{
    double sum = 0, own = rank;

    for (int i = 0; i < ROUNDS; i++) {
        work(rank == 1 ? 3 : 1);
        /* late: prefix */
        MPI_Scan(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        work(1);
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buffer, 8, MPI_CHAR, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } PROGRAMS[] = {{"ring", ring},       {"rotating", rotating}, {"grid", grid},
                    {"amdahl", amdahl},   {"many", many},         {"bottleneck", bottleneck},
                    {"wave", wave},       {"through", through},   {"counter", counter},
                    {"stencil", stencil}, {"leaders", leaders},   {"prefix", prefix}};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; argc > 1 && i < sizeof PROGRAMS / sizeof PROGRAMS[0]; i++)
        if (strcmp(argv[1], PROGRAMS[i].name) == 0)
            PROGRAMS[i].run();
    MPI_Finalize();
    return 0;
}
