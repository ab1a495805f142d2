/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals before, in and after MPI_Init belong to the program, whatever library carries its
 * messages. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>

static volatile sig_atomic_t came;

static void count(int number)
{
    (void)number;
    came++;
}

int main(int argc, char **argv)
{
    const int mine[] = {SIGUSR1, SIGUSR2, SIGHUP}, others[] = {SIGFPE, SIGILL, SIGPIPE};
    int rank, sum, right = 1;
    struct sigaction now;

    for (int i = 0; i < 3; i++)
        signal(mine[i], count);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) {
        raise(mine[i]);
        right = right && sigaction(mine[i], NULL, &now) == 0 && now.sa_handler == count;
        right = right && sigaction(others[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL;
    }
    if (right && came == 3)
        printf("rank %d: the handlers are mine\n", rank);
    MPI_Finalize();
    return 0;
}
