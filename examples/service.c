/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two jobs that are started by themselves and meet: one serves, the other asks.
 *
 *   mpicc -O2 service.c -o service
 *   export XYLEM_NAMES=$(mktemp -d)
 *   mpiexec -n 2 ./service serve & mpiexec -n 3 ./service ask
 *
 * The server opens a port and publishes a name for it, in a file of the directory; the client looks
 * the name up and connects. What they have then is an intercommunicator: here each rank of the
 * client sends a number to the server, which adds them up and sends the sum to all.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void serve(int rank)
{
    char port[MPI_MAX_PORT_NAME];
    int clients, sum, none = 0;
    MPI_Comm inter;

    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name("adder", MPI_INFO_NULL, port);
    }
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    MPI_Comm_remote_size(inter, &clients);
    MPI_Reduce(&none, &sum, 1, MPI_INT, MPI_SUM, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    MPI_Bcast(&sum, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    MPI_Comm_disconnect(&inter);
    if (rank == 0) {
        MPI_Unpublish_name("adder", MPI_INFO_NULL, port);
        MPI_Close_port(port);
        printf("served %d ranks\n", clients);
    }
}

static void ask(int rank)
{
    char port[MPI_MAX_PORT_NAME];
    int number = 10 + rank, sum;
    MPI_Comm inter;

    if (rank == 0) { /* the server may not be there yet */
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        while (MPI_Lookup_name("adder", MPI_INFO_NULL, port) != MPI_SUCCESS)
            ;
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    }
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    MPI_Reduce(&number, NULL, 1, MPI_INT, MPI_SUM, 0, inter);
    MPI_Bcast(&sum, 1, MPI_INT, 0, inter);
    MPI_Comm_disconnect(&inter);
    if (rank == 0)
        printf("the sum is %d\n", sum);
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc == 2 && strcmp(argv[1], "serve") == 0)
        serve(rank);
    else if (argc == 2 && strcmp(argv[1], "ask") == 0)
        ask(rank);
    else if (rank == 0)
        fprintf(stderr, "usage: service serve | ask\n");
    MPI_Finalize();
    return 0;
}
