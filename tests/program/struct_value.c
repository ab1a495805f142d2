/* SPDX-License-Identifier: BSD-3-Clause */
/* Structs by value, with initial values, in an array. */
#include <mpi.h>
typedef struct {
    int root, count;
    const char *name;
} phase_t;
static const phase_t phases[] = {{0, 10, "first"}, {1, 200, "second"}, {.count = 3, .root = 0}};
static char data[1000];
static void run(phase_t p, int size)
{
    MPI_Bcast(data, p.count, MPI_CHAR, p.root % size, MPI_COMM_WORLD);
}
int main(int argc, char **argv)
{
    phase_t last = {.root = 0, .count = 17};
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (unsigned i = 0; i < sizeof(phases) / sizeof(phases[0]); i++)
        run(phases[i], size);
    run(last, size);
    MPI_Finalize();
    return 0;
}
