/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of one rank each in one job: messages of all sizes, and the ways in which it can end.
 * `joined handles` prints constants for callers that are not compiled. */
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MANY = 1 << 17 };

static int rank, size;

static void fail(const char *what)
{
    fprintf(stderr, "rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

/* Round the ring: small and large. */
static void pass_on(int count)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    int *out = malloc((size_t)count * sizeof(int)), *in = malloc((size_t)count * sizeof(int));

    for (int i = 0; i < count; i++)
        out[i] = rank * 7 + i;
    MPI_Sendrecv(out, count, MPI_INT, to, 1, in, count, MPI_INT, from, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < count; i++)
        if (in[i] != from * 7 + i)
            fail("a message is wrong");
    free(out);
    free(in);
}

static void misbehave(const char *how)
{
    int x;

    if (strcmp(how, "deadlock") == 0)
        MPI_Recv(&x, 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(how, "orphans") == 0 && rank == 0) /* the process that started them has ended */
        kill(atoi(getenv("STARTER")), SIGKILL);
    if (strcmp(how, "orphans") == 0)
        sleep(300);
    if (rank != 1)
        return;
    if (strcmp(how, "crash") == 0)
        abort();
    if (strcmp(how, "exit") == 0)
        exit(0);
    if (strcmp(how, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
}

int main(int argc, char **argv)
{
    int sum;

    if (argc > 1 && strcmp(argv[1], "handles") == 0) {
        printf("WORLD=%ld INT=%ld SUM=%ld\n", (long)(intptr_t)MPI_COMM_WORLD,
               (long)(intptr_t)MPI_INT, (long)(intptr_t)MPI_SUM);
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1)
        misbehave(argv[1]);
    pass_on(1);
    pass_on(MANY);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks, sum %d\n", size, sum);
    MPI_Finalize();
    return 0;
}
