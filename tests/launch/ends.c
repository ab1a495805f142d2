/* SPDX-License-Identifier: BSD-3-Clause */
/* Ways to end. The last rank does what the first argument says; the others wait for it, or go on.
 */
#include <assert.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *how;
static int rank, size;

static void at_exit(void)
{
    printf("%d atexit\n", rank);
}

static void at_quick(void)
{
    printf("%d quick\n", rank);
}

static void overflow(volatile char *above)
{
    volatile char here[4096];

    here[0] = above != NULL ? above[0] : 0;
    overflow(here);
    here[1] = 0;
}

static void *from_thread(void *arg)
{
    (void)arg;
    exit(21);
}

/* Signals that end a process, and so the job. */
static void end_by_signal(void)
{
    int ends[2];

    if (strcmp(how, "alarm") == 0) {
        alarm(1);
        sleep(100);
    }
    if (strcmp(how, "pipe") == 0 && pipe(ends) == 0) {
        close(ends[0]);
        (void)!write(ends[1], "", 1);
    }
    if (strcmp(how, "xcpu") == 0)
        raise(SIGXCPU);
    if (strcmp(how, "realtime") == 0)
        raise(SIGRTMIN + 3);
    if (strcmp(how, "default") == 0) { /* as handlers do that want the usual end */
        if (signal(SIGVTALRM, SIG_IGN) != SIG_DFL || signal(SIGVTALRM, SIG_DFL) != SIG_IGN)
            exit(22);
        raise(SIGVTALRM);
    }
}

/* Leave no room in standard output, a pipe, for what the end of the job writes. */
static void fill_output(void)
{
    int flags = fcntl(STDOUT_FILENO, F_GETFL);

    fcntl(STDOUT_FILENO, F_SETFL, flags | O_NONBLOCK);
    while (write(STDOUT_FILENO, "", 1) == 1)
        continue;
    fcntl(STDOUT_FILENO, F_SETFL, flags);
}

static void end_inside(void)
{
    pthread_t thread;

    end_by_signal();

    if (strcmp(how, "exit9") == 0)
        exit(9);
    if (strcmp(how, "full") == 0)
        fill_output();
    if (strcmp(how, "_exit") == 0 || strcmp(how, "full") == 0)
        _exit(8);
    if (strcmp(how, "quick") == 0)
        quick_exit(10);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "assert") == 0)
        assert(rank < 0);
    if (strcmp(how, "segv") == 0)
        *(volatile int *)8 = 1;
    if (strcmp(how, "fpe") == 0)
        raise(SIGFPE);
    if (strcmp(how, "overflow") == 0)
        overflow(NULL);
    if (strcmp(how, "abort37") == 0)
        MPI_Abort(MPI_COMM_WORLD, 37);
    if (strcmp(how, "abort0") == 0)
        MPI_Abort(MPI_COMM_WORLD, 0);
    if (strcmp(how, "inside") == 0)
        MPI_Recv((void *)16, 1000, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(how, "thread") == 0) {
        pthread_create(&thread, NULL, from_thread, NULL);
        pthread_join(thread, NULL);
    }
}

int main(int argc, char **argv)
{
    char big[1000] = "";

    how = argv[1];
    atexit(at_exit);
    at_quick_exit(at_quick);
    if (strcmp(how, "early") == 0)
        return atoi(getenv("PMI_RANK")) == 1 ? 5 : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(how, "nofinalize") == 0)
        return 0;
    if (strcmp(how, "deadlock") == 0)
        MPI_Recv(big, 1, MPI_CHAR, (rank + 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(how, "inside") == 0 && rank == 0)
        MPI_Send(big, 1000, MPI_CHAR, size - 1, 5, MPI_COMM_WORLD);
    if (strcmp(how, "full") == 0) {
        printf("%d", rank);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == size - 1)
        end_inside();
    if (strcmp(how, "sleep") == 0)
        sleep(100);
    while (strcmp(how, "poll") == 0) { /* freed at once: what a report reads may be gone */
        MPI_Comm comm;
        int flag;

        MPI_Comm_dup(MPI_COMM_SELF, &comm);
        for (int i = 0; i < 1000; i++) {
            MPI_Iprobe(MPI_ANY_SOURCE, i, comm, &flag, MPI_STATUS_IGNORE);
            MPI_Get_address(big, &(MPI_Aint){0});
        }
        MPI_Comm_free(&comm);
    }
    if (strncmp(how, "return", 6) != 0 && strcmp(how, "late") != 0)
        MPI_Barrier(MPI_COMM_WORLD); /* never ends: one is missing */
    MPI_Finalize();
    if (strcmp(how, "late") == 0 && rank == size - 1)
        exit(6);
    return strcmp(how, "return7") == 0 ? 7 : 0;
}
