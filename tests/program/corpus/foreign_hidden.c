/* SPDX-License-Identifier: BSD-3-Clause */
/* The struct that a foreign function gets points to what it may write. expect: asked */
#include <mpi.h>
#include <string.h>

struct inner {
    int count;
};
struct outer {
    struct inner *in;
};
void library_fill(struct outer *s) __attribute__((weak));
int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    struct inner in = {5};
    struct outer out = {&in};
    char data[64] = {0};

    if (library_fill)
        library_fill(&out);
    MPI_Bcast(data, in.count, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
