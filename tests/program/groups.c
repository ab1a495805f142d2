/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups by ranges and differences; communicators that only their members make. */
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Group world, evens, rest, first;
    MPI_Comm sub = MPI_COMM_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    int(*range)[3] = malloc(sizeof(int[1][3]));
    range[0][0] = 0;
    range[0][1] = size - 1;
    range[0][2] = 2;
    MPI_Group_range_incl(world, 1, range, &evens);
    MPI_Group_difference(world, evens, &rest);
    MPI_Group_incl(world, 2, (int[]){1, 0}, &first);
    MPI_Comm_create_group(MPI_COMM_WORLD, rank % 2 ? rest : evens, rank % 2, &sub);
    int sr, ss;
    MPI_Comm_rank(sub, &sr);
    MPI_Comm_size(sub, &ss);
    double v[100];
    for (int i = 0; i < ss; i++)
        MPI_Bcast(v, 10 * (i + 1), MPI_DOUBLE, i, sub);
    int gr;
    MPI_Group_rank(first, &gr);
    MPI_Comm pair;
    MPI_Comm_create(MPI_COMM_WORLD, first, &pair);
    if (gr != MPI_UNDEFINED) {
        MPI_Allreduce(MPI_IN_PLACE, v, 5, MPI_DOUBLE, MPI_SUM, pair);
        MPI_Comm_free(&pair);
    }
    MPI_Finalize();
    return 0;
}
