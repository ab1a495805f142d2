/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank of a job in several processes does something, and the others wait for it:
 * several [WHAT RANK]; or all send messages: several messages. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Leave the number of the process in a file, and wait for that to go. */
static void wait_for_sign(void)
{
    FILE *file = fopen("pid", "w");

    fprintf(file, "%d\n", (int)getpid());
    fclose(file);
    while (access("pid", F_OK) == 0)
        usleep(1000);
}

static void act(const char *what)
{
    static const int four[4];

    if (strcmp(what, "late_abort") == 0)
        wait_for_sign();
    if (strcmp(what, "abort") == 0 || strcmp(what, "late_abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
    else if (strcmp(what, "exit") == 0)
        exit(5);
    else if (strcmp(what, "kill") == 0)
        kill(getpid(), SIGKILL);
    else if (strcmp(what, "stop") == 0)
        kill(getpid(), SIGSTOP);
    else if (strcmp(what, "fault") == 0)
        abort();
    else if (strcmp(what, "long") == 0)
        MPI_Send(four, 4, MPI_INT, 1, 99, MPI_COMM_WORLD);
    else if (strcmp(what, "sleep") == 0) {
        fclose(fopen("asleep", "w")); /* all ranks run: for a test that waits for it */
        sleep(100);
    }
}

/* A ring. */
static void talk(int rank, int size)
{
    char bytes[500] = "";

    for (int i = 0; i < 4; i++)
        MPI_Sendrecv_replace(bytes, sizeof(bytes), MPI_CHAR, (rank + 1) % size, 0,
                             (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Hosts have clocks of their own, and say so. */
static int says_clock(const char *host)
{
    char first[256];
    int *is_global, flag, differs;

    memcpy(first, host, sizeof(first));
    MPI_Bcast(first, sizeof(first), MPI_CHAR, 0, MPI_COMM_WORLD);
    differs = strcmp(first, host) != 0;
    MPI_Allreduce(MPI_IN_PLACE, &differs, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &is_global, &flag);
    return flag && (!differs || !*is_global);
}

int main(int argc, char **argv)
{
    int rank, size, sum = 0;
    char host[256] = "", line[256], directory[1024] = "";
    const char *word = getenv("XYLEM_TEST_WORD");

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (argc > 2) {
        if (rank == atoi(argv[2]))
            act(argv[1]);
        MPI_Recv(&sum, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (argc == 2 && strcmp(argv[1], "messages") == 0)
        talk(rank, size);
    gethostname(host, sizeof(host) - 1);
    if (!says_clock(host))
        return 4;
    if (getcwd(directory, sizeof(directory)) == NULL)
        return 3;
    printf("rank %d of %d here %s of %s on %s in %s with %s sum %d\n", rank, size,
           getenv("OMPI_COMM_WORLD_LOCAL_RANK"), getenv("OMPI_COMM_WORLD_LOCAL_SIZE"), host,
           directory, word != NULL ? word : "nothing", sum);
    if (rank == 0)
        while (fgets(line, sizeof(line), stdin) != NULL)
            printf("input %s", line);
    MPI_Finalize();
    return argc > 1 && argc < 3 && rank == 1 ? atoi(argv[1]) : 0;
}
