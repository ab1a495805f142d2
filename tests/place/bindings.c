/* SPDX-License-Identifier: BSD-3-Clause */
/* Write "HOST CPUS", the processors that this rank is bound to, into the file rank.RANK: launchers
 * may mix the lines of several ranks. */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char host[256] = "?", name[32];
    cpu_set_t set;
    FILE *file;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof(name), "rank.%d", rank);
    file = fopen(name, "w");
    if (file == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    gethostname(host, sizeof(host) - 1);
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof(set), &set);
    fprintf(file, "%s ", host);
    for (int cpu = 0, n = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set))
            fprintf(file, "%s%d", n++ > 0 ? "," : "", cpu);
    fputs("\n", file);
    fclose(file);
    MPI_Finalize();
    return 0;
}
