/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program's view of virtual time. Each word of the command line is a part of it:
 *
 *   mpiexec --virtual core:4 --compute none -n 2 virtual clocks ping deadlock ...
 */
#include <math.h>
#include <mpi.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>
#include <xylem_mpi.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "virtual.c:%d: rank %d: failed: %s\n", __LINE__, rank, #condition);    \
            MPI_Abort(MPI_COMM_WORLD, 3);                                                          \
        }                                                                                          \
    } while (0)

enum { EPOCH = 946684800 };
static int rank, size;

static double seconds(const struct timespec *t)
{
    return (double)t->tv_sec + 1e-9 * (double)t->tv_nsec;
}

/* A look at a clock takes 25 ns; all clocks are one. */
static int is_near(double a, double b)
{
    return fabs(a - b) < 2e-6;
}

static void check_clocks(void)
{
    static const clockid_t ids[] = {CLOCK_MONOTONIC,        CLOCK_MONOTONIC_RAW,
                                    CLOCK_BOOTTIME,         CLOCK_PROCESS_CPUTIME_ID,
                                    CLOCK_MONOTONIC_COARSE, CLOCK_THREAD_CPUTIME_ID};
    double now = MPI_Wtime();
    struct timespec t;
    struct timeval day;
    struct tms ticks;
    struct rusage usage;

    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        CHECK(clock_gettime(ids[i], &t) == 0);
        CHECK(is_near(seconds(&t), now));
    }
    clock_gettime(CLOCK_REALTIME, &t);
    CHECK(is_near(seconds(&t) - EPOCH, now));
    CHECK(timespec_get(&t, TIME_UTC) == TIME_UTC && is_near(seconds(&t) - EPOCH, now));
    CHECK(gettimeofday(&day, NULL) == 0);
    CHECK(is_near((double)(day.tv_sec - EPOCH) + 1e-6 * (double)day.tv_usec, now));
    CHECK(time(NULL) == EPOCH + (time_t)now);
    CHECK(clock() == (clock_t)(now * CLOCKS_PER_SEC) || is_near((double)clock() * 1e-6, now));
    CHECK(fabs((double)times(&ticks) - now * (double)sysconf(_SC_CLK_TCK)) <= 1);
    CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
    CHECK(is_near((double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec, now));
}

/* Sleeps take what they say and no time at all. */
static void check_sleeps(void)
{
    struct timespec pause = {1000, 500000000}, until;
    struct timeval limit = {3, 250000};
    double begin = MPI_Wtime();

    sleep(3600);
    usleep(500000);
    nanosleep(&pause, NULL);
    CHECK(poll(NULL, 0, 1500) == 0);
    CHECK(select(0, NULL, NULL, NULL, &limit) == 0);
    CHECK(is_near(MPI_Wtime() - begin, 3600 + 0.5 + 1000.5 + 1.5 + 3.25));
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 10;
    CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == 0);
    CHECK(is_near(MPI_Wtime(), seconds(&until)));
    check_clocks();
}

/* Loops that wait for a moment, or for a message, end. */
static void check_polling(void)
{
    double end = MPI_Wtime() + 0.01;
    MPI_Request request;
    int flag = 0, value = 0, tests = 0;

    while (MPI_Wtime() < end)
        ;
    CHECK(MPI_Wtime() < end + 1e-6);
    if (rank == 0) {
        MPI_Irecv(&value, 1, MPI_INT, size - 1, 5, MPI_COMM_WORLD, &request);
        for (; !flag; tests++)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK(value == 77);
        CHECK(tests > 900 && tests < 1100); /* a millisecond, a test takes a microsecond */
        for (flag = 0; !flag;)
            MPI_Iprobe(size - 1, 6, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        MPI_Recv(&value, 1, MPI_INT, size - 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == size - 1) {
        value = 77;
        usleep(1000);
        MPI_Send(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
        usleep(1000);
        MPI_Send(&value, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
    }
}

/* To the last rank and back: the time of a round, without the look at the clock. */
static void ping(int bytes)
{
    char *data = calloc((size_t)bytes + 1, 1);
    double begin;

    MPI_Barrier(MPI_COMM_WORLD);
    sleep(1); /* the barrier is over everywhere */
    begin = MPI_Wtime();
    if (rank == 0) {
        MPI_Send(data, bytes, MPI_CHAR, size - 1, 1, MPI_COMM_WORLD);
        MPI_Recv(data, bytes, MPI_CHAR, size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("ping %d %.2f ns\n", bytes, 1e9 * (MPI_Wtime() - begin) - 25);
    } else if (rank == size - 1) {
        MPI_Recv(data, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(data, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    }
    free(data);
}

/* Whoever sends first is received first, also from any rank. */
static void check_order(void)
{
    for (int i = 1; rank == 0 && i < size; i++) {
        MPI_Status status;
        int value;

        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status);
        CHECK(status.MPI_SOURCE == size - i);
        printf("from %d at %.1f\n", status.MPI_SOURCE, floor(MPI_Wtime()));
    }
    if (rank > 0) {
        sleep((unsigned)(size - rank));
        MPI_Send(&rank, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The data of a message is that of its send, whatever becomes of the buffers. */
static void check_data(void)
{
    enum { MOST = 200000 };
    static char out[MOST], in[MOST];

    for (int bytes = 1; bytes <= MOST; bytes *= 7)
        for (int turn = 0; turn < 3; turn++) {
            memset(out, rank + turn, (size_t)bytes);
            if (rank == 0 && size > 1) {
                MPI_Send(out, bytes, MPI_CHAR, 1, turn, MPI_COMM_WORLD);
                memset(out, 99, (size_t)bytes);
            } else if (rank == 1) {
                if (turn == 1)
                    usleep(1000);
                MPI_Recv(in, bytes, MPI_CHAR, 0, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                CHECK(in[0] == turn && in[bytes - 1] == turn);
            }
            memset(out, rank == 0 ? turn + 1 : 0, (size_t)bytes);
            MPI_Bcast(out, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
            CHECK(out[0] == turn + 1 && out[bytes - 1] == turn + 1);
            memset(out, -1, (size_t)bytes);
        }
}

static void memory(void)
{
    enum { BYTES = 8 << 20 };
    char *block = malloc(BYTES), line[256];
    FILE *file;

    memset(block, rank, BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    file = fopen("/proc/self/status", "r");
    while (rank == 0 && fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, "VmRSS:", 6) == 0)
            printf("%ld MiB\n", strtol(line + 6, NULL, 10) / 1024);
    fclose(file);
    free(block);
}

/* A ring whose ranks may be put where they are near their neighbours. Ranks 0 and 2 of the world
 * are on one node, 1 and 3 on the other. */
static void ring(void)
{
    int periodic = 1, world[4], near = 0;
    MPI_Comm comm;

    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 1, &comm);
    MPI_Allgather(&rank, 1, MPI_INT, world, 1, MPI_INT, comm);
    for (int i = 0; i < size; i++)
        near += world[i] % 2 == world[(i + 1) % size] % 2;
    if (rank == 0)
        printf("neighbours on the same node: %d\n", near);
    MPI_Comm_free(&comm);
}

/* Rank 0 comes later than all others, which wait for its message. */
static void come_late(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int value = 0;

    if (rank == 0)
        sleep(3);
    for (int r = 1; rank == 0 && r < size; r++)
        MPI_Send(&rank, 1, MPI_INT, r, 8, MPI_COMM_WORLD);
    if (rank > 0)
        MPI_Irecv(&value, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void take_part(const char *name)
{
    if (strcmp(name, "clocks") == 0)
        check_clocks();
    else if (strcmp(name, "sleeps") == 0)
        check_sleeps();
    else if (strcmp(name, "polling") == 0)
        check_polling();
    else if (strncmp(name, "ping:", 5) == 0)
        ping(atoi(name + 5));
    else if (strcmp(name, "late") == 0)
        come_late();
    else if (strcmp(name, "order") == 0)
        check_order();
    else if (strcmp(name, "data") == 0)
        check_data();
    else if (strcmp(name, "memory") == 0)
        memory();
    else if (strcmp(name, "ring") == 0)
        ring();
    else if (strcmp(name, "compute") == 0)
        xylem_compute(1.5);
    else if (strcmp(name, "cos") == 0)
        printf("%.3f\n", cos((double)size));
    else if (strcmp(name, "time") == 0)
        printf("rank %d ends at %.9f\n", rank, MPI_Wtime());
    else if (strcmp(name, "deadlock") == 0)
        MPI_Recv(&size, 1, MPI_INT, (rank + 1) % size, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (strcmp(name, "disagree") == 0 && rank > 0)
        MPI_Bcast(&size, 1, MPI_INT, 0, MPI_COMM_WORLD);
    else
        MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 1; i < argc; i++)
        take_part(argv[i]);
    MPI_Finalize();
    return 0;
}
