/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of tests like a benchmark suite: names chosen on the command line, each a function with
 * its own sizes. arguments: -t allreduce,pingpong -m 256 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name;
    void (*run)(size_t bytes, MPI_Comm comm);
    size_t least;
    unsigned flags;
} test_t;

enum { PAIRS = 1 << 0, ALL = 1 << 1, INPLACE = 1 << 2 };

static char *sbuf, *rbuf;

static void pingpong(size_t n, MPI_Comm c)
{
    int r;
    MPI_Comm_rank(c, &r);
    if (r > 1)
        return;
    if (r == 0)
        MPI_Send(sbuf, (int)n, MPI_BYTE, 1, 0, c),
            MPI_Recv(rbuf, (int)n, MPI_BYTE, 1, 0, c, MPI_STATUS_IGNORE);
    else
        MPI_Recv(rbuf, (int)n, MPI_BYTE, 0, 0, c, MPI_STATUS_IGNORE),
            MPI_Send(sbuf, (int)n, MPI_BYTE, 0, 0, c);
}

static void allreduce(size_t n, MPI_Comm c)
{
    MPI_Allreduce(sbuf, rbuf, (int)(n / sizeof(float)), MPI_FLOAT, MPI_SUM, c);
}

static void exchange(size_t n, MPI_Comm c)
{
    int r, s;
    MPI_Comm_rank(c, &r);
    MPI_Comm_size(c, &s);
    MPI_Sendrecv(sbuf, (int)n, MPI_BYTE, (r + 1) % s, 0, rbuf, (int)n, MPI_BYTE, (r + s - 1) % s, 0,
                 c, MPI_STATUS_IGNORE);
}

static const test_t tests[] = {{"pingpong", pingpong, 1, PAIRS},
                               {"exchange", exchange, 0, ALL},
                               {"allreduce", allreduce, 4, ALL | INPLACE}};

int main(int argc, char **argv)
{
    char *list = NULL;
    size_t most = 1024;

    MPI_Init(&argc, &argv);
    for (int i = 1; i < argc; i++)
        if (argv[i][0] == '-' && argv[i][1] == 't')
            list = argv[++i];
        else if (argv[i][0] == '-' && argv[i][1] == 'm')
            most = (size_t)atol(argv[++i]);
    sbuf = malloc(most);
    rbuf = malloc(most);
    for (size_t t = 0; t < sizeof tests / sizeof *tests; t++) {
        if (list && !strstr(list, tests[t].name))
            continue;
        for (size_t n = tests[t].least; n <= most; n = n ? n * 4 : 1) {
            MPI_Barrier(MPI_COMM_WORLD);
            if (tests[t].flags & (PAIRS | ALL))
                tests[t].run(n, MPI_COMM_WORLD);
        }
    }
    free(sbuf);
    free(rbuf);
    MPI_Finalize();
    return 0;
}
