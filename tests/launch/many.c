/* SPDX-License-Identifier: BSD-3-Clause */
/* How many mappings and how much memory a job of many ranks takes. Pages of files that many images
 * map are one page of memory each. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    char line[512];
    int rank, mappings = 0;
    long kib = 0;
    FILE *file;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        file = fopen("/proc/self/maps", "r");
        while (fgets(line, sizeof(line), file) != NULL)
            mappings++;
        fclose(file);
        file = fopen("/proc/self/smaps_rollup", "r");
        while (fgets(line, sizeof(line), file) != NULL)
            if (strncmp(line, "Pss:", 4) == 0)
                sscanf(line + 4, "%ld", &kib);
        fclose(file);
        printf("%d %ld\n", mappings, kib);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
