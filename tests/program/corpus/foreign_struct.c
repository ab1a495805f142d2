/* SPDX-License-Identifier: BSD-3-Clause */
/* A function of another library fills a struct. expect: asked */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

struct state {
    int n;
    int m;
};
void library_fill(struct state *s, int rank) __attribute__((weak));
int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    struct state s = {3, 4};

    if (library_fill != NULL)
        library_fill(&s, rank);
    MPI_Bcast(&s, s.n, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
