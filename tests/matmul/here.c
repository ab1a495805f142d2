/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank's prediction of its own job equals the job's time:
 *
 *   mpiexec --virtual MACHINE -n P here CORES BYTES     the same times, to a billionth
 *   mpiexec -n P here CORES                             so many cores, though each rank is bound to
 * one
 *
 * Pairs of ranks exchange messages of so many bytes, time after time; ranks of one core take turns.
 * Compared is what each further exchange takes. Prints "right".
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <xylem.h>

#define CLOCK 2e-7

enum { LARGE = 100000, FEW = 10, MORE = 30 };

static char buffers[2][LARGE];

static double predict(const xylem_platform *here, int ranks, int bytes, int times)
{
    xylem_script *s;
    double seconds = -1;

    if (xylem_script_create(ranks, &s) != 0)
        return -1;
    for (int self = 0; self < ranks; self++)
        for (int i = 0; i < times; i++) {
            int peer = self % 2 == 0 ? self + 1 : self - 1;

            xylem_script_irecv(s, self, peer, 0, (unsigned long)bytes);
            xylem_script_isend(s, self, peer, 0, (unsigned long)bytes);
            xylem_script_wait(s, self);
        }
    if (xylem_script_run(s, here, &seconds) != 0)
        seconds = -1;
    xylem_script_free(s);
    return seconds;
}

/* When so many more are over. */
static double exchange(int rank, int bytes, int times)
{
    int peer = rank % 2 == 0 ? rank + 1 : rank - 1;

    for (int i = 0; i < times; i++)
        MPI_Sendrecv(buffers[0], bytes, MPI_CHAR, peer, 0, buffers[1], bytes, MPI_CHAR, peer, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return MPI_Wtime();
}

int main(int argc, char **argv)
{
    int rank, ranks, bytes = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 8, wrong = 0;
    xylem_platform *here = NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (bytes < 1 || bytes > LARGE || (argc > 2 && ranks % 2 != 0) ||
        xylem_platform_create(NULL, NULL, &here) != 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (argc < 2) {
        printf("%d\n", xylem_platform_cores(here));
    } else if (xylem_platform_cores(here) < (int)strtol(argv[1], NULL, 10)) {
        printf("rank %d sees %d cores\n", rank, xylem_platform_cores(here));
        wrong = 1;
    }
    if (argc > 2) {
        double start = exchange(rank, bytes, FEW), took = exchange(rank, bytes, MORE - FEW) - start;
        double predicted = predict(here, ranks, bytes, MORE) - predict(here, ranks, bytes, FEW);

        MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (fabs(took - predicted) > CLOCK) {
            printf("rank %d: %.12g s predicted, %.12g s measured\n", rank, predicted, took);
            wrong = 1;
        }
    }
    xylem_platform_free(here);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0 && argc > 1)
        puts(wrong ? "WRONG" : "right");
    MPI_Finalize();
    return wrong;
}
