/* SPDX-License-Identifier: BSD-3-Clause */
/* For any MPI: each rank writes the cores that it may use to a file, NAME.RANK. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    char name[256];
    cpu_set_t set;
    FILE *file;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof(name), "%s.%d", argv[1], rank);
    file = fopen(name, "w");
    if (file == NULL)
        MPI_Abort(MPI_COMM_WORLD, 3);
    sched_getaffinity(0, sizeof(set), &set);
    for (int c = 0; c < CPU_SETSIZE; c++)
        if (CPU_ISSET(c, &set))
            fprintf(file, " %d", c);
    fprintf(file, "\n");
    fclose(file);
    MPI_Finalize();
    return 0;
}
