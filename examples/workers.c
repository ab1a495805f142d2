/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job that grows: it spawns four ranks of the same program, gives each a part of a loop, and adds
 * up what they return.
 *
 *   mpicc -O2 workers.c -o workers && mpiexec -n 1 --usize 5 ./workers
 *
 * The new ranks have an MPI_COMM_WORLD of their own, and an intercommunicator to those who have
 * spawned them. --usize 5 keeps cores ready for five ranks; without it they share the core of the
 * first one.
 */
#include <mpi.h>
#include <stdio.h>

enum { WORKERS = 4, STEPS = 1000000 };

/* The part of rank `rank` of pi = integral of 4 / (1 + x^2) from 0 to 1. */
static double part(int rank, int size, int steps)
{
    double sum = 0;

    for (int i = rank; i < steps; i += size) {
        double x = (i + 0.5) / steps;

        sum += 4 / (1 + x * x);
    }
    return sum / steps;
}

static void work(MPI_Comm managers)
{
    int rank, size, steps;
    double own;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Bcast(&steps, 1, MPI_INT, 0, managers);
    own = part(rank, size, steps);
    MPI_Reduce(&own, NULL, 1, MPI_DOUBLE, MPI_SUM, 0, managers);
    MPI_Comm_disconnect(&managers);
}

static void manage(const char *program)
{
    int rank, steps = STEPS, root;
    double pi = 0;
    MPI_Comm workers;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_Comm_spawn(program, MPI_ARGV_NULL, WORKERS, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &workers,
                       MPI_ERRCODES_IGNORE) == MPI_SUCCESS) {
        root = rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
        MPI_Bcast(&steps, 1, MPI_INT, root, workers);
        MPI_Reduce(NULL, &pi, 1, MPI_DOUBLE, MPI_SUM, root, workers);
        MPI_Comm_disconnect(&workers);
    } else {
        pi = part(0, 1, steps);
    }
    if (rank == 0)
        printf("pi is about %.8f\n", pi);
}

int main(int argc, char **argv)
{
    MPI_Comm managers;

    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&managers);
    if (managers == MPI_COMM_NULL)
        manage(argv[0]);
    else
        work(managers);
    MPI_Finalize();
    return 0;
}
