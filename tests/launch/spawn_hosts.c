/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spawned ranks and their parents make one communicator, and say where they run.
 *
 *   spawn_hosts RANKS [KEY VALUE]     with this info key
 *   spawn_hosts RANKS respawn         the last rank ends; RANKS new ones take its place
 *   spawn_hosts RANKS abort           the new ranks end with code 5 when all have met
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The communicator of the survivors. */
static MPI_Comm lose_one(void)
{
    MPI_Comm left;
    int rank, size;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == size - 1)
        raise(SIGKILL);
    while (MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS)
        continue;
    MPIX_Comm_revoke(MPI_COMM_WORLD);
    MPIX_Comm_shrink(MPI_COMM_WORLD, &left);
    MPI_Comm_set_errhandler(left, MPI_ERRORS_ARE_FATAL);
    return left;
}

static MPI_Comm spawn(char **argv, MPI_Comm comm)
{
    char *aborting[] = {"abort", NULL};
    MPI_Info info = MPI_INFO_NULL;
    MPI_Comm children;
    int aborts = argv[2] != NULL && strcmp(argv[2], "abort") == 0;

    if (argv[2] != NULL && argv[3] != NULL) {
        MPI_Info_create(&info);
        MPI_Info_set(info, argv[2], argv[3]);
    }
    MPI_Comm_spawn(argv[0], aborts ? aborting : MPI_ARGV_NULL, atoi(argv[1]), info, 0, comm,
                   &children, MPI_ERRCODES_IGNORE);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    return children;
}

int main(int argc, char **argv)
{
    MPI_Comm others, all, comm = MPI_COMM_WORLD;
    int rank, size, length, sum, one = 1, is_child;
    char host[MPI_MAX_PROCESSOR_NAME];

    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&others);
    is_child = others != MPI_COMM_NULL;
    if (!is_child && argc == 3 && strcmp(argv[2], "respawn") == 0)
        comm = lose_one();
    if (!is_child)
        others = spawn(argv, comm);
    MPI_Intercomm_merge(others, is_child, &all);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    if (is_child && argc == 2)
        MPI_Abort(MPI_COMM_WORLD, 5);
    if (!is_child && argc == 3 && strcmp(argv[2], "abort") == 0)
        MPI_Recv(&sum, 1, MPI_INT, 0, 0, others, MPI_STATUS_IGNORE);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(all, &size);
    MPI_Get_processor_name(host, &length);
    printf("%s %d on %s: %d of %d\n", is_child ? "child" : "parent", rank, host, sum, size);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&others);
    MPI_Finalize();
    return 0;
}
