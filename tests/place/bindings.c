/* SPDX-License-Identifier: BSD-3-Clause */
/* Print "RANK CPU" when the rank is bound to one CPU, "RANK -" otherwise. */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    cpu_set_t set;
    int rank, cpu = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof(set), &set);
    while (cpu < CPU_SETSIZE && !CPU_ISSET(cpu, &set))
        cpu++;
    if (CPU_COUNT(&set) == 1)
        printf("%d %d\n", rank, cpu);
    else
        printf("%d -\n", rank);
    MPI_Finalize();
    return 0;
}
