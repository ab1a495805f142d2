/* SPDX-License-Identifier: BSD-3-Clause */
/* Every rank has its own handler, which runs with the rank's variables. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t seen;
static int rank;
static volatile int *calls; /* shared by all ranks and their children; NULL: not counted */

static void on_first(int number)
{
    if (calls != NULL)
        ++*calls;
    seen += number == SIGUSR1 ? 1 + rank : 100;
}

static void on_second(int number, siginfo_t *info, void *context)
{
    (void)context;
    seen += number == info->si_signo ? 10 : 1000;
}

/* A child that a rank has forked has the handler of that rank alone. */
static void check_child(void)
{
    MPI_Aint address = 0;

    if (rank == 0)
        address =
            (MPI_Aint)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    MPI_Bcast(&address, 1, MPI_AINT, 0, MPI_COMM_WORLD);
    calls = (volatile int *)address;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        pid_t child = fork();

        if (child == 0) {
            raise(SIGUSR1);
            _exit(0);
        }
        waitpid(child, NULL, 0);
        if (*calls != 1)
            printf("%d handlers in the child\n", *calls);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    calls = NULL;
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
    check_child();
    MPI_Finalize();
    return 0;
}
