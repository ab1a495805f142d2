/* SPDX-License-Identifier: BSD-3-Clause */
/* A variadic function without influence on messages. */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>

#define LOG(level, ...)                                                                            \
    do {                                                                                           \
        if ((level) <= verbosity)                                                                  \
            say(__FILE__, __LINE__, __VA_ARGS__);                                                  \
    } while (0)

static int verbosity = 1, lines;

static void say(const char *file, int line, const char *format, ...)
{
    va_list list;

    printf("%s:%d: ", file, line);
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    lines++;
}

int main(int argc, char **argv)
{
    int rank, size;
    float x[100];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    LOG(1, "rank %d of %d\n", rank, size);
    LOG(2, "never\n");
    if (rank == 0)
        LOG(0, "root\n");
    MPI_Allreduce(MPI_IN_PLACE, x, 10 * size, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Sendrecv(x, lines, MPI_FLOAT, (rank + 1) % size, 0, x + 50, 10, MPI_FLOAT,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
