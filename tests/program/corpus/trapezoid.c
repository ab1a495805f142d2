/* SPDX-License-Identifier: BSD-3-Clause */
/* The trapezoidal rule with input that is broadcast as a derived type, which has gaps.
 * arguments: 0 2 1024
 * expect: asked */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct input {
    double a, b;
    int n;
};

static double f(double x)
{
    return x * x + 1.0;
}

static void Build_mpi_type(struct input *p, MPI_Datatype *type)
{
    int lengths[3] = {1, 1, 1};
    MPI_Datatype types[3] = {MPI_DOUBLE, MPI_DOUBLE, MPI_INT};
    MPI_Aint at[3], base;

    MPI_Get_address(&p->a, &base);
    at[0] = 0;
    MPI_Get_address(&p->b, &at[1]);
    MPI_Get_address(&p->n, &at[2]);
    at[1] -= base;
    at[2] -= base;
    MPI_Type_create_struct(3, lengths, at, types, type);
    MPI_Type_commit(type);
}

static double Trap(double left, double right, int count, double h)
{
    double estimate = (f(left) + f(right)) / 2.0;
    int i;

    for (i = 1; i <= count - 1; i++)
        estimate += f(left + i * h);
    return estimate * h;
}

int main(int argc, char **argv)
{
    int my_rank, comm_sz, local_n;
    struct input in;
    double h, local_a, local_b, local_int, total_int;
    MPI_Datatype input_t;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &comm_sz);
    if (my_rank == 0) {
        in.a = atof(argv[1]);
        in.b = atof(argv[2]);
        in.n = atoi(argv[3]);
    }
    Build_mpi_type(&in, &input_t);
    MPI_Bcast(&in, 1, input_t, 0, MPI_COMM_WORLD);
    MPI_Type_free(&input_t);
    h = (in.b - in.a) / in.n;
    local_n = in.n / comm_sz;
    local_a = in.a + my_rank * local_n * h;
    local_b = local_a + local_n * h;
    local_int = Trap(local_a, local_b, local_n, h);
    MPI_Reduce(&local_int, &total_int, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (my_rank == 0)
        printf("With n = %d the integral is %.15e\n", in.n, total_int);
    MPI_Finalize();
    return 0;
}
