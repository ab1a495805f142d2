/* SPDX-License-Identifier: BSD-3-Clause */
/* A program for --adapt: computes (sleeps, which virtual time follows), and communicates.
 *
 *   adapted STEPS MICROSECONDS COLLECTIVE BYTES [far|busy]
 *
 * COLLECTIVE: allreduce, bcast, iallreduce or none. `far`: also an exchange with the rank half of
 * the ranks away. `busy`: in the second half of the steps, every fourth rank sends to the next one
 * meanwhile. Where ADAPTED_FAILS is set, the last rank fails at the end.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef ADAPTED_LARGE
/* More than mpiexec sets aside for a rank: it starts itself again. */
static _Thread_local volatile char large[ADAPTED_LARGE];
#endif

static void collective(const char *name, double *data, double *result, int n)
{
    MPI_Request request;

    if (strcmp(name, "allreduce") == 0) {
        MPI_Allreduce(data, result, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    } else if (strcmp(name, "bcast") == 0) {
        MPI_Bcast(data, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        memcpy(result, data, (size_t)n * sizeof(*data));
    } else if (strcmp(name, "iallreduce") == 0) {
        MPI_Iallreduce(data, result, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* Messages of some ranks keep the network busy, one after the other. */
static void keep_busy(int rank, int size, bool is_over)
{
    enum { BYTES = 8 << 20 };
    static char *data;
    static MPI_Request requests[2];
    int is_done = 1;

    if (rank % 4 != 3)
        return;
    if (data == NULL)
        data = calloc(2, BYTES);
    else if (is_over)
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    else
        MPI_Testall(2, requests, &is_done, MPI_STATUSES_IGNORE);
    if (is_over || !is_done)
        return;
    MPI_Irecv(data, BYTES, MPI_CHAR, (rank + size - 4) % size, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(data + BYTES, BYTES, MPI_CHAR, (rank + 4) % size, 1, MPI_COMM_WORLD, &requests[1]);
}

int main(int argc, char **argv)
{
    int steps = atoi(argv[1]), us = atoi(argv[2]), n = atoi(argv[4]) / (int)sizeof(double);
    double *data = calloc((size_t)n + 1, sizeof(*data)),
           *result = calloc((size_t)n + 1, sizeof(*data));
    bool is_busy = argc > 5 && strcmp(argv[5], "busy") == 0;
    int rank, size, other;

#ifdef ADAPTED_LARGE
    large[0] = 1;
#endif
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    other = (rank + size / 2) % size;
    for (int i = 0; i < n; i++)
        data[i] = strcmp(argv[3], "bcast") == 0 ? i : rank + i;
    for (int s = 0; s < steps; s++) {
        if (us > 0)
            usleep((unsigned)us);
        if (is_busy && s >= steps / 2)
            keep_busy(rank, size, s == steps - 1);
        collective(argv[3], data, result, n);
        if (argc > 5 && !is_busy)
            MPI_Sendrecv(data, n, MPI_DOUBLE, other, 0, result, n, MPI_DOUBLE,
                         (rank + size - size / 2) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if ((argc == 5 || is_busy) && strcmp(argv[3], "none") != 0)
        for (int i = 0; i < n; i += n / 7 + 1) {
            double wanted = strcmp(argv[3], "bcast") == 0 ? i : size * (size - 1) / 2.0 + size * i;

            if (result[i] != wanted) {
                printf("rank %d: %g, not %g\n", rank, result[i], wanted);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
        }
    if (getenv("ADAPTED_FAILS") != NULL && rank == size - 1)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Finalize();
    free(data);
    free(result);
    return 0;
}
