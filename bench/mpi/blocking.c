/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking collectives alone: the median time of a call on all ranks, from the first one's
 * beginning to the last one's end, a line "NAME BYTES SECONDS" each. Plain MPI.
 *
 *   blocking [REPETITIONS]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 6, SIZES = 3 };
static const char *const names[CALLS] = {"barrier",   "bcast",     "reduce",
                                         "allreduce", "allgather", "alltoall"};

static void call(int what, char *in, char *out, int bytes)
{
    int n = bytes / (int)sizeof(double);

    switch (what) {
    case 0:
        MPI_Barrier(MPI_COMM_WORLD);
        break;
    case 1:
        MPI_Bcast(in, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        break;
    case 2:
        MPI_Reduce(in, out, n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        break;
    case 3:
        MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        break;
    case 4:
        MPI_Allgather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, MPI_COMM_WORLD);
        break;
    default:
        MPI_Alltoall(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, MPI_COMM_WORLD);
        break;
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* One sample: as many calls as make it long enough for the clock. */
static double sample(int what, char *in, char *out, int bytes, int calls)
{
    double begin, end, first, last;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (int i = 0; i < calls; i++)
        call(what, in, out, bytes);
    end = MPI_Wtime();
    MPI_Reduce(&begin, &first, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return (last - first) / calls;
}

int main(int argc, char **argv)
{
    static const int sizes[SIZES] = {8, 4096, 1 << 20};
    int rank, ranks, repetitions = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 21;
    double *times = malloc((size_t)repetitions * sizeof(double));
    char *in, *out;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    in = calloc((size_t)ranks, 1 << 20);
    out = calloc((size_t)ranks, 1 << 20);
    for (int what = 0; what < CALLS; what++)
        for (int s = 0; s < (what == 0 ? 1 : SIZES); s++) {
            int calls = sizes[s] > 100000 ? 1 : 100;

            sample(what, in, out, sizes[s], calls);
            for (int i = 0; i < repetitions; i++)
                times[i] = sample(what, in, out, sizes[s], calls);
            qsort(times, (size_t)repetitions, sizeof(*times), by_value);
            if (rank == 0)
                printf("%s %d %.9f\n", names[what], what == 0 ? 0 : sizes[s],
                       times[repetitions / 2]);
        }
    MPI_Finalize();
    free(in);
    free(out);
    free(times);
    return 0;
}
