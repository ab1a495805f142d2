/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands made by an X-macro: an enum, their names and their functions. arguments: ring sum ring
 * quit sum */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define COMMANDS(X) X(ring, 10) X(sum, 20) X(quit, 0)

enum {
#define AS_ENUM(name, n) CMD_##name,
    COMMANDS(AS_ENUM)
#undef AS_ENUM
        CMD_COUNT
};
static const char *const names[] = {
#define AS_TEXT(name, n) #name,
    COMMANDS(AS_TEXT)
#undef AS_TEXT
};
static int rank, size, running = 1;
static double x[32], y[32];

static void do_ring(int n)
{
    MPI_Sendrecv(x, n, MPI_DOUBLE, (rank + 1) % size, 1, y, 32, MPI_DOUBLE,
                 (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void do_sum(int n)
{
    MPI_Allreduce(x, y, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void do_quit(int n)
{
    running = n;
}

static void perform(int command)
{
    switch (command) {
#define AS_CASE(name, n)                                                                           \
    case CMD_##name:                                                                               \
        do_##name(n);                                                                              \
        break;
        COMMANDS(AS_CASE)
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 1; i < argc && running; i++) {
        int c;
        for (c = 0; c < CMD_COUNT; c++)
            if (!strcmp(argv[i], names[c]))
                break;
        if (c == CMD_COUNT)
            fprintf(stderr, "unknown command %s\n", argv[i]);
        perform(c);
    }
    MPI_Finalize();
    return 0;
}
