/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs with a drawn cause of waiting: drawn PATTERN CAUSE PHASE CULPRIT OTHER FACTOR. In each
 * round all ranks work and communicate twice; the cause is extra work of one rank in one of the two
 * phases. The call behind the work of a phase is marked in the line above it with "late: PATTERN
 * PHASE". With DRAWN_SLEEP the work is a sleep, for real time.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xylem_mpi.h>

enum { LARGE = 1 << 17 };

static int rank, size;
static MPI_Comm row, column;
static MPI_Win window;
static double own, sum;
static char out[2 * LARGE], in[2 * LARGE];

static void work(double units)
{
    if (getenv("DRAWN_SLEEP") != NULL)
        usleep((useconds_t)(1e6 * atof(getenv("DRAWN_SLEEP")) * units));
    else
        xylem_compute(1e-3 * units);
}

static void ring(int phase)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    if (phase == 0)
        /* late: ring 0 */
        MPI_Sendrecv(out, 8, MPI_CHAR, right, 0, in, 8, MPI_CHAR, left, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    else
        /* late: ring 1 */
        MPI_Sendrecv(out, 8, MPI_CHAR, left, 1, in, 8, MPI_CHAR, right, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
}

/* Large messages to both neighbours of a line; the second phase is a sum of all. */
static void halo(int phase)
{
    int right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    MPI_Request request[4];

    if (phase == 1) {
        /* late: halo 1 */
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        return;
    }
    /* late: halo 0 */
    MPI_Irecv(in, LARGE, MPI_CHAR, left, 0, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(in + LARGE, LARGE, MPI_CHAR, right, 0, MPI_COMM_WORLD, &request[1]);
    MPI_Isend(out, LARGE, MPI_CHAR, left, 0, MPI_COMM_WORLD, &request[2]);
    MPI_Isend(out + LARGE, LARGE, MPI_CHAR, right, 0, MPI_COMM_WORLD, &request[3]);
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
}

/* The same neighbours, small messages, and nothing that all take part in. */
static void line(int phase)
{
    int right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;

    if (phase == 0) {
        /* late: line 0 */
        MPI_Send(out, 64, MPI_CHAR, right, 0, MPI_COMM_WORLD);
        MPI_Recv(in, 64, MPI_CHAR, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        /* late: line 1 */
        MPI_Send(out, 64, MPI_CHAR, left, 1, MPI_COMM_WORLD);
        MPI_Recv(in, 64, MPI_CHAR, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Rank 0 hears of all, and answers. */
static void star(int phase)
{
    for (int r = 1; r < size && rank == 0; r++)
        if (phase == 0)
            /* late: star 0 of 0 */
            MPI_Recv(in, 8, MPI_CHAR, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            /* late: star 1 of 0 */
            MPI_Send(out, 8, MPI_CHAR, r, 1, MPI_COMM_WORLD);
    if (rank == 0)
        return;
    if (phase == 0)
        /* late: star 0 */
        MPI_Send(out, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    else
        /* late: star 1 */
        MPI_Recv(in, 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void tree(int phase)
{
    if (phase == 0)
        /* late: tree 0 */
        MPI_Reduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, size / 2, MPI_COMM_WORLD);
    else
        /* late: tree 1 */
        MPI_Allgather(&own, 8, MPI_CHAR, in, 8, MPI_CHAR, MPI_COMM_WORLD);
}

static void all(int phase)
{
    if (phase == 0)
        /* late: all 0 */
        MPI_Alltoall(out, 16, MPI_CHAR, in, 16, MPI_CHAR, MPI_COMM_WORLD);
    else
        /* late: all 1 */
        MPI_Barrier(MPI_COMM_WORLD);
}

static void prefix(int phase)
{
    if (phase == 0)
        /* late: prefix 0 */
        MPI_Scan(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else
        /* late: prefix 1 */
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Partners at a distance of 1, then of 2; those beyond the end have none. */
static void butterfly(int phase)
{
    int peer = rank ^ (phase + 1);

    if (peer >= size)
        peer = MPI_PROC_NULL;
    if (phase == 0)
        /* late: butterfly 0 */
        MPI_Sendrecv(out, 8, MPI_CHAR, peer, 0, in, 8, MPI_CHAR, peer, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    else
        /* late: butterfly 1 */
        MPI_Sendrecv(out, 8, MPI_CHAR, peer, 1, in, 8, MPI_CHAR, peer, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
}

static void grid(int phase)
{
    if (phase == 0)
        /* late: grid 0 */
        MPI_Barrier(row);
    else
        /* late: grid 1 */
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, column);
}

/* Stages that hand over their results, and wait until these are taken. */
static void pipe_(int phase)
{
    if (phase == 0)
        /* late: pipe 0 */
        MPI_Recv(in, 64, MPI_CHAR, rank > 0 ? rank - 1 : MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    else
        /* late: pipe 1 */
        MPI_Ssend(out, 64, MPI_CHAR, rank + 1 < size ? rank + 1 : MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

static void fence(int phase)
{
    if (phase == 0) {
        /* late: fence 0 */
        MPI_Put(out, 8, MPI_CHAR, (rank + 1) % size, 0, 8, MPI_CHAR, window);
        MPI_Win_fence(0, window);
    } else {
        /* late: fence 1 */
        MPI_Win_fence(0, window);
    }
}

static void started(int phase)
{
    MPI_Request request;

    if (phase == 0) {
        /* late: started 0 */
        MPI_Iallreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        /* late: started 1 */
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* What the rank works more than a unit. */
static double extra(char *const *argv, int round, int phase)
{
    const char *cause = argv[2];
    int culprit = atoi(argv[4]), other = atoi(argv[5]);
    double factor = atof(argv[6]);

    if (phase != atoi(argv[3]))
        return 0;
    if (strcmp(cause, "turns") == 0)
        return round % size == rank ? factor : 0;
    if (strcmp(cause, "pair") == 0 && rank == other)
        return factor;
    if (rank != culprit)
        return 0;
    if (strcmp(cause, "bursts") == 0)
        return round % 3 == 0 ? 3 * factor : 0;
    if (strcmp(cause, "once") == 0)
        return round == 2 ? 3 * size * factor : 0;
    return factor;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*communicate)(int phase);
    } PATTERNS[] = {{"ring", ring}, {"halo", halo},  {"line", line},     {"star", star},
                    {"tree", tree}, {"all", all},    {"prefix", prefix}, {"butterfly", butterfly},
                    {"grid", grid}, {"pipe", pipe_}, {"fence", fence},   {"started", started}};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &column);
    MPI_Win_create(in, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    for (size_t i = 0; argc == 7 && i < sizeof PATTERNS / sizeof PATTERNS[0]; i++)
        for (int round = 0; round < 3 * size && strcmp(argv[1], PATTERNS[i].name) == 0; round++)
            for (int phase = 0; phase < 2; phase++) {
                work(1 + extra(argv, round, phase));
                PATTERNS[i].communicate(phase);
            }
    MPI_Win_free(&window);
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
    MPI_Finalize();
    return argc == 7 ? 0 : 1;
}
