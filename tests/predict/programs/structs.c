/* SPDX-License-Identifier: BSD-3-Clause */
/* A struct of parameters steers the exchange. */
#include <mpi.h>

typedef struct {
    int steps, step, bytes;
    int peer[8];
} plan_t;

static void plan_make(plan_t *plan, int rank, int size)
{
    for (int bit = 1; bit < size; bit *= 2)
        plan->peer[plan->steps++] = rank ^ bit;
    plan->bytes = plan->steps > 2 ? 5000 : 100;
}

int main(int argc, char **argv)
{
    int rank, size;
    static char data[10000];
    plan_t plan = {0};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    plan_make(&plan, rank, size);
    for (plan.step = 0; plan.step < plan.steps; plan.step++)
        if (plan.peer[plan.step] < size)
            MPI_Sendrecv(data, plan.bytes, MPI_CHAR, plan.peer[plan.step], 0, data + 5000,
                         plan.bytes, MPI_CHAR, plan.peer[plan.step], 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
