/* SPDX-License-Identifier: BSD-3-Clause */
/* A program for --adapt: computes (sleeps, which virtual time follows), and communicates.
 *
 *   adapted STEPS MICROSECONDS COLLECTIVE BYTES [far]
 *
 * COLLECTIVE: allreduce, bcast, iallreduce or none. `far`: also an exchange with the rank half of
 * the ranks away. Where ADAPTED_FAILS is set, the last rank fails at the end.
 */
#include <mpi.h>
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

int main(int argc, char **argv)
{
    int steps = atoi(argv[1]), us = atoi(argv[2]), n = atoi(argv[4]) / (int)sizeof(double);
    double *data = calloc((size_t)n + 1, sizeof(*data)),
           *result = calloc((size_t)n + 1, sizeof(*data));
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
        collective(argv[3], data, result, n);
        if (argc > 5)
            MPI_Sendrecv(data, n, MPI_DOUBLE, other, 0, result, n, MPI_DOUBLE,
                         (rank + size - size / 2) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (argc == 5 && strcmp(argv[3], "none") != 0)
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
