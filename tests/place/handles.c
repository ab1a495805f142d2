/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that look like the one before and are not: another phase, another type or communicator
 * that may have got the handle of the one that was freed. */
#include <mpi.h>

static int rank;

/* `times` messages from 0 to 1. */
static void send(MPI_Comm comm, int count, MPI_Datatype type, int times)
{
    int data[8] = {0};

    for (int i = 0; i < times; i++)
        if (rank == 0)
            MPI_Send(data, count, type, 1, 0, comm);
        else if (rank == 1)
            MPI_Recv(data, count, type, 0, 0, comm, MPI_STATUS_IGNORE);
}

static void send_ints(MPI_Comm comm, int ints, int times)
{
    MPI_Datatype type;

    MPI_Type_contiguous(ints, MPI_INT, &type);
    MPI_Type_commit(&type);
    send(comm, 1, type, times);
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    send_ints(comm, 2, 3);
    send_ints(comm, 5, 2);
    send(comm, 5, MPI_INT, 1);
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    send(comm, 5, MPI_INT, 1);
    MPI_Pcontrol(1);
    send(comm, 5, MPI_INT, 7);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
