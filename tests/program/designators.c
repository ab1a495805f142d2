/* SPDX-License-Identifier: BSD-3-Clause */
/* A plan in a table with designated places and members. */
#include <mpi.h>
#include <stdlib.h>
enum op { OP_BCAST, OP_RED, OP_SHIFT, OP_N };
static const struct step {
    enum op op;
    int n, arg;
} plan[] = {
    [0] = {OP_BCAST, .n = 100, .arg = 0},
    [2] = {.op = OP_SHIFT, .n = 30, .arg = 1},
    {OP_RED, 10, 0},
    [5] = {OP_SHIFT, 5, -1},
    {OP_BCAST, 1 << 10, 1},
};
int main(int argc, char **argv)
{
    int r, s;
    double *x = malloc(1 << 16), *y = malloc(1 << 16);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &r);
    MPI_Comm_size(MPI_COMM_WORLD, &s);
    for (const struct step *p = plan; p < plan + sizeof plan / sizeof plan[0]; p++)
        switch (p->op) {
        case OP_BCAST:
            MPI_Bcast(x, p->n, MPI_DOUBLE, p->arg % s, MPI_COMM_WORLD);
            break;
        case OP_RED:
            MPI_Reduce(x, y, p->n, MPI_DOUBLE, MPI_SUM, p->arg, MPI_COMM_WORLD);
            break;
        case OP_SHIFT:
            MPI_Sendrecv(x, p->n, MPI_DOUBLE, (r + p->arg + s) % s, 4, y, p->n, MPI_DOUBLE,
                         (r - p->arg + s) % s, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            break;
        case OP_N:
            break;
        }
    MPI_Finalize();
    return 0;
}
