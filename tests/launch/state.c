/* SPDX-License-Identifier: BSD-3-Clause */
/* State of the C library: each rank prints what a process of its own would have. */
#include <errno.h>
#include <getopt.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void meet(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void options(int argc, char **argv)
{
    static const struct option table[] = {{"size", required_argument, NULL, 's'},
                                          {"flag", no_argument, NULL, 'f'},
                                          {NULL, 0, NULL, 0}};
    int c;

    while ((c = getopt_long(argc, argv, "ab:s:f", table, NULL)) != -1) {
        printf(" %c", c);
        if (optarg != NULL)
            printf("=%s", optarg);
        meet();
    }
    printf(" rest");
    for (; optind < argc; optind++)
        printf(" %s", argv[optind]);
    printf("\n");
}

int main(int argc, char **argv)
{
    char words[] = "one two three";
    unsigned short seed[3] = {1, 2, 3};
    time_t when;
    struct tm *tm;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("%d: options", rank);
    options(argc, argv);
    printf("%d: first %d", rank, rand());
    srand(rank + 1u);
    srand48(rank);
    meet();
    printf(" seeded %d", rand());
    meet();
    printf(" %d", rand());
    printf(" %ld %.6f", random(), drand48());
    seed48(seed);
    meet();
    printf(" %ld\n", lrand48());
    printf("%d: words %s", rank, strtok(words, " "));
    meet();
    printf(" %s", strtok(NULL, " "));
    meet();
    printf(" %s\n", strtok(NULL, " "));
    when = 86400 * (rank + 1);
    tm = gmtime(&when);
    errno = rank + 1;
    meet();
    printf("%d: day %d errno %d\n", rank, tm->tm_mday, errno);
    MPI_Finalize();
    return 0;
}
