/* SPDX-License-Identifier: BSD-3-Clause */
/* Every rank has its own handler, which runs with the rank's variables. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t seen;
static int rank;

static void on_first(int number)
{
    seen += number == SIGUSR1 ? 1 + rank : 100;
}

static void on_second(int number, siginfo_t *info, void *context)
{
    (void)context;
    seen += number == info->si_signo ? 10 : 1000;
}

int main(int argc, char **argv)
{
    struct sigaction action, old;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (signal(SIGUSR1, on_first) != SIG_DFL || signal(SIGUSR1, on_first) != on_first)
        printf("wrong old handler\n");
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = on_second;
    action.sa_flags = SA_SIGINFO;
    if (rank != 1)
        sigaction(SIGUSR2, &action, &old);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        kill(getpid(), SIGUSR1);
        kill(getpid(), SIGUSR2);
    }
    while (seen < (rank != 1 ? 11 : 1) + rank)
        usleep(1000);
    printf("%d saw %d\n", rank, (int)seen);
    MPI_Finalize();
    return 0;
}
