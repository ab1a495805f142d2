/* SPDX-License-Identifier: BSD-3-Clause */
/* All memory of the program comes from one block, aligned by hand. */
#include <mpi.h>
#include <stddef.h>
#include <stdlib.h>

static unsigned char pool[1 << 14];
static size_t used;

static void *take(size_t bytes)
{
    void *p;

    used = (used + 15) & ~(size_t)15;
    if (used + bytes > sizeof(pool))
        return NULL;
    p = pool + used;
    used += bytes;
    return p;
}

#define NEW(type, n) ((type *)take((n) * sizeof(type)))

struct plan {
    int steps;
    int *lengths;
};

int main(int argc, char **argv)
{
    int rank, size;
    struct plan *plan;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    plan = NEW(struct plan, 1);
    plan->steps = 4;
    plan->lengths = NEW(int, plan->steps);
    for (int i = 0; i < plan->steps; i++)
        plan->lengths[i] = 3 * i + 1;
    double *a = NEW(double, 100), *b = NEW(double, 100);
    for (int i = 0; i < plan->steps; i++)
        MPI_Sendrecv(a, plan->lengths[i], MPI_DOUBLE, (rank + 1) % size, i, b, 100, MPI_DOUBLE,
                     (rank + size - 1) % size, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(a, (int)(used / 64), MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
