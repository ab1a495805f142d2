/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank that waits in any of these ways lets the other rank of its core make the file. */
#include <mpi.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

static void wait_once(int way)
{
    struct timespec t = {0, 1000000};
    struct timeval v = {0, 1000};
    int flag;

    switch (way) {
    case 0:
        sched_yield();
        break;
    case 1:
        usleep(1000);
        break;
    case 2:
        nanosleep(&t, NULL);
        break;
    case 3:
        clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
        break;
    case 4:
        select(0, NULL, NULL, NULL, &v);
        break;
    case 5:
        poll(NULL, 0, 1);
        break;
    case 6:
        sleep(0);
        break;
    default:
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    char name[32];
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int way = 0; way < 8; way++) {
        snprintf(name, sizeof(name), "way%d", way);
        if (rank == way % 2)
            while (access(name, F_OK) != 0)
                wait_once(way);
        else
            fclose(fopen(name, "w"));
    }
    MPI_Finalize();
    return 0;
}
