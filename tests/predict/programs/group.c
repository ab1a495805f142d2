/* SPDX-License-Identifier: BSD-3-Clause */
/* A communicator from a group. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    int members[8], count = 0, x = 0;
    MPI_Group all, some;
    MPI_Comm comm;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    for (int i = 0; i < size && count < 8; i += 2)
        members[count++] = i;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, count, members, &some);
    MPI_Comm_create(MPI_COMM_WORLD, some, &comm);
    if (comm != MPI_COMM_NULL) {
        MPI_Bcast(&x, 1, MPI_INT, count - 1, comm);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    MPI_Finalize();
    return 0;
}
