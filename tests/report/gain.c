/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs with something to gain, for xylem advise: gain NAME [fixed]. Each has a form in
 * which the remedy that changes the program is applied. GAIN_ROUNDS makes runs longer.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xylem_mpi.h>

enum { UNIT = 20000, FEW = 64, SMALL = 400, LARGE = 2 << 20 };

#define SECONDS 20e-6 /* of a unit, in virtual time */

static int rank, size, is_fixed, rounds = 40;
static char *buffer;
static volatile double sink;

/* So many units of work. */
static void work(double units)
{
    double x = 1;

    for (long i = 0; i < (long)(units * UNIT); i++)
        x = x * 1.0000001 + 1e-9;
    sink = x;
    xylem_compute(units * SECONDS);
}

/* Rank 0 has three times the work of the others; fixed: all have the same. */
static void imbalance(void)
{
    double mean = (size + 2.0) / size, sum, own = rank;

    for (int i = 0; i < rounds; i++) {
        work(is_fixed ? 4 * mean : rank == 0 ? 12 : 4);
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* Many messages of 8 bytes; fixed: one. */
static void small(void)
{
    int to = rank ^ 1;

    for (int i = 0; i < rounds; i++) {
        work(1);
        for (int k = 0; k < (is_fixed ? 1 : SMALL); k++)
            if (rank % 2 == 0)
                MPI_Send(buffer, is_fixed ? 8 * SMALL : 8, MPI_CHAR, to, 0, MPI_COMM_WORLD);
            else
                MPI_Recv(buffer, is_fixed ? 8 * SMALL : 8, MPI_CHAR, to, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    }
}

/* An odd rank waits for data and then does other work; fixed: it works meanwhile. */
static void late(void)
{
    for (int i = 0; i < rounds; i++) {
        if (rank % 2 == 0) {
            work(8);
            MPI_Send(buffer, FEW, MPI_CHAR, rank + 1, 0, MPI_COMM_WORLD);
        } else if (is_fixed) {
            MPI_Request request;

            MPI_Irecv(buffer, FEW, MPI_CHAR, rank - 1, 0, MPI_COMM_WORLD, &request);
            work(8);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(buffer, FEW, MPI_CHAR, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            work(8);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Large messages are sent before the receiver comes; fixed: their sender does not wait for it. */
static void early(void)
{
    for (int i = 0; i < rounds; i++) {
        if (rank % 2 == 0) {
            MPI_Request request = MPI_REQUEST_NULL;

            if (is_fixed)
                MPI_Isend(buffer, LARGE / 16, MPI_CHAR, rank + 1, 0, MPI_COMM_WORLD, &request);
            else
                MPI_Send(buffer, LARGE / 16, MPI_CHAR, rank + 1, 0, MPI_COMM_WORLD);
            work(8);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            work(8);
            MPI_Recv(buffer, LARGE / 16, MPI_CHAR, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* The work grows with the rank: ranks that follow each other should not share a core. */
static void slope(void)
{
    for (int i = 0; i < rounds; i++) {
        work(is_fixed ? (size + 1) / 2.0 : rank + 1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Each rank needs the sum only after its next piece of work; fixed: it does not wait before. */
static void sum(void)
{
    double all = 0, own = rank;

    for (int i = 0; i < rounds; i++) {
        MPI_Request request;

        work(rank == i % size ? 6 : 2);
        if (is_fixed)
            MPI_Iallreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        else
            MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        work(rank == (i + 1) % size ? 6 : 2);
        if (is_fixed)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* Large vectors are reduced while the ranks work. */
static void vector(void)
{
    for (int i = 0; i < rounds; i++) {
        MPI_Request request;

        MPI_Iallreduce(buffer, buffer + LARGE / 2, LARGE / 16, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
                       &request);
        work(40);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* Pairs exchange large messages while they work; nobody moves them before the wait. */
static void exchange(void)
{
    for (int i = 0; i < rounds; i++) {
        MPI_Request request[2];

        MPI_Irecv(buffer, LARGE / 4, MPI_CHAR, rank ^ 1, 0, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(buffer + LARGE / 2, LARGE / 4, MPI_CHAR, rank ^ 1, 0, MPI_COMM_WORLD,
                  &request[1]);
        work(20);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
}

/* A pipeline in which each rank works on what it gets. */
static void pipeline(void)
{
    for (int i = 0; i < rounds; i++) {
        if (rank > 0)
            MPI_Recv(buffer, FEW, MPI_CHAR, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(2);
        if (rank < size - 1)
            MPI_Send(buffer, FEW, MPI_CHAR, rank + 1, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"imbalance", imbalance}, {"small", small},       {"late", late},
               {"early", early},         {"slope", slope},       {"sum", sum},
               {"vector", vector},       {"exchange", exchange}, {"pipeline", pipeline}};
    int code = 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    is_fixed = argc > 2 && strcmp(argv[2], "fixed") == 0;
    if (getenv("GAIN_ROUNDS") != NULL)
        rounds = atoi(getenv("GAIN_ROUNDS"));
    buffer = calloc(LARGE, 1);
    for (size_t i = 0; buffer != NULL && argc > 1 && i < sizeof(all) / sizeof(all[0]); i++)
        if (strcmp(all[i].name, argv[1]) == 0) {
            all[i].run();
            code = 0;
        }
    free(buffer);
    MPI_Finalize();
    return code;
}
