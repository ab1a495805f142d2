/* SPDX-License-Identifier: BSD-3-Clause */
/* A nonblocking collective beside computation, then an end as the argument says; trace.sh looks at
 * what was recorded. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1 << 18 };

static volatile double sink;

static void compute(double seconds)
{
    double begin = MPI_Wtime();

    while (MPI_Wtime() - begin < seconds)
        sink = sink * 0.5 + 1;
}

int main(int argc, char **argv)
{
    const char *ending = argc > 1 ? argv[1] : "";
    double *in, *out;
    MPI_Request request;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    in = calloc(COUNT, sizeof(*in));
    out = calloc(COUNT, sizeof(*out));
    for (int i = 0; i < 3; i++) {
        MPI_Iallreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        compute(2e-3);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (strcmp(ending, "abort") == 0 && rank == 1)
        MPI_Abort(MPI_COMM_WORLD, 5);
    if (strcmp(ending, "deadlock") == 0)
        MPI_Recv(&rank, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(ending, "fault") == 0 && rank == 1)
        raise(SIGSEGV);
    if (strcmp(ending, "hang") == 0)
        compute(1e9);
    while (strcmp(ending, "poll") == 0)
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &rank, MPI_STATUS_IGNORE);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
