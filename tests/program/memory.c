/* SPDX-License-Identifier: BSD-3-Clause */
/* memset and memcpy of what steers, and a struct copied. */
#include <mpi.h>
#include <string.h>
typedef struct {
    int counts[4], used;
} plan_t;
static char data[100];
int main(int argc, char **argv)
{
    int counts[4] = {1, 2, 3, 4}, copy[4];
    plan_t plan, other;
    MPI_Init(&argc, &argv);
    memset(copy, 0, sizeof(copy));
    memcpy(copy + 2, counts, 2 * sizeof(int));
    for (int i = 0; i < 4; i++)
        plan.counts[i] = copy[i] + counts[i];
    plan.used = 3;
    other = plan;
    for (int i = 0; i < other.used; i++)
        MPI_Bcast(data, other.counts[i], MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
