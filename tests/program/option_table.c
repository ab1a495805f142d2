/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of options with pointers to variables; bool, bit-fields, old-style functions. */
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
struct option {
    const char *name;
    int *target;
    int preset;
};
static int count, times;
static const struct option options[] = {{"count", &count, 5}, {"times", &times, 2}};
static bool is_on = true;
static inline int clamp(int x, int low, int high)
{
    return x < low ? low : x > high ? high : x;
}
int main(int argc, char *argv[])
{
    int rank, size, i, j;
    struct {
        int small : 3;
        unsigned wide : 5;
    } bits = {.wide = 2};
    int *p = NULL, **pp = &p;
    char data[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (i = 0; i < 2; i++)
        *options[i].target = options[i].preset;
    for (i = 1; i + 1 < argc; i += 2)
        for (j = 0; j < 2; j++)
            if (!strcmp(argv[i], options[j].name))
                *options[j].target = atoi(argv[i + 1]);
    p = malloc(4 * sizeof *p);
    if (!p)
        MPI_Abort(MPI_COMM_WORLD, 1);
    (*pp)[2] = clamp(count, 1, 40);
    for (i = 0; i < times && is_on; i++) {
        do {
            if (rank == 0)
                break;
            MPI_Send(data, p[2] + (int)bits.wide, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        } while (0);
        if (!rank)
            for (j = 1; j < size; ++j)
                MPI_Recv(data, 64, MPI_CHAR, j, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    free(p);
    MPI_Finalize();
    return 0;
}
