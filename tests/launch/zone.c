/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank in a time zone of its own. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
    static const char *const zones[] = {"AAA-1", "BBB+2", "CCC-3DDD"};
    time_t when = 1000000000;
    struct tm tm, again;
    char text[64];
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank < 3)
        setenv("TZ", zones[rank], 1);
    tzset();
    for (int i = 0; i < 100; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        localtime_r(&when, &tm);
        again = *localtime(&when);
        if (tm.tm_hour != again.tm_hour || mktime(&again) != when)
            printf("rank %d is in another zone\n", rank);
    }
    strftime(text, sizeof(text), "%H:%M %Z", &tm);
    printf("%d: %s %s %ld %d, %s", rank, text, tzname[0], timezone, daylight != 0, ctime(&when));
    MPI_Finalize();
    return 0;
}
