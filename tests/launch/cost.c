/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints "WRONG KIB MAPPINGS": wrong words of a library in all ranks, memory of the process that is
 * no file's, and mappings of the prototype of all ranks' data. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cost_check(int index);

static int count_lines(const char *path, const char *text, long *value)
{
    FILE *file = fopen(path, "r");
    char line[1024];
    int count = 0;

    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        if (strstr(line, text) != NULL) {
            *value = atol(strstr(line, text) + strlen(text));
            count++;
        }
    if (file != NULL)
        fclose(file);
    return count;
}

int main(int argc, char **argv)
{
    int rank, own = 0, wrong = 0;
    long kib = 0, unused = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 1 << 17; i++)
        own += cost_check(i);
    MPI_Reduce(&own, &wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        count_lines("/proc/self/smaps_rollup", "Anonymous:", &kib);
        printf("%d %ld %d\n", wrong, kib, count_lines("/proc/self/maps", "memfd:data", &unused));
    }
    MPI_Finalize();
    return 0;
}
