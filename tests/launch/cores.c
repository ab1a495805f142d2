/* SPDX-License-Identifier: BSD-3-Clause */
/* For any MPI: print the cores that each rank may use. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    char text[16 * CPU_SETSIZE];
    cpu_set_t set;
    int rank, n;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    n = snprintf(text, sizeof(text), "%d:", rank);
    sched_getaffinity(0, sizeof(set), &set);
    for (int c = 0; c < CPU_SETSIZE; c++)
        if (CPU_ISSET(c, &set))
            n += snprintf(text + n, sizeof(text) - (size_t)n, " %d", c);
    puts(text);
    MPI_Finalize();
    return 0;
}
