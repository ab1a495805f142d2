/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures messages between hosts, one process on each. Compiled with the installed mpicc and
 * started by `xylem calibrate --hosts`; its answers are lines on standard output:
 *
 *   probe latency REPETITIONS          latencies of all pairs, in rounds in which each process
 *                                      takes part in one pair:  "latency I J SECONDS"
 *   probe pairs LARGEST SECONDS I J... messages of growing size between I and J, one pair after the
 *                                      other:  "message I J BYTES BLOCKING NONBLOCKING SEND RECEIVE
 * GAP"
 *
 * First come "library TEXT" and "host I NAME". A time is the second fastest of all.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TAG = 7, RUNS_MAX = 400, WINDOW = 16 };

static int rank, size;

/* The second least value. */
static double best(const double *t, int n)
{
    double first = INFINITY, second = INFINITY;

    for (int i = 0; i < n; i++) {
        if (t[i] < first) {
            second = first;
            first = t[i];
        } else if (t[i] < second) {
            second = t[i];
        }
    }
    return n > 1 ? second : first;
}

/* ---- Latencies ---- */

static double ping(int other, int is_first, int repetitions)
{
    double times[RUNS_MAX];
    char byte = 0;

    for (int i = -2; i < repetitions; i++) {
        double begin = MPI_Wtime();

        if (is_first)
            MPI_Send(&byte, 1, MPI_CHAR, other, TAG, MPI_COMM_WORLD);
        MPI_Recv(&byte, 1, MPI_CHAR, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!is_first)
            MPI_Send(&byte, 1, MPI_CHAR, other, TAG, MPI_COMM_WORLD);
        if (i >= 0)
            times[i] = (MPI_Wtime() - begin) / 2;
    }
    return best(times, repetitions);
}

/* The circle method: process n - 1 stays, the others turn; in each of the n - 1 rounds everybody
 * meets one other, and in all of them everybody once. An odd number has one that rests. */
static int opponent(int me, int round, int n)
{
    if (me == n - 1)
        return round;
    if (me == round)
        return n - 1;
    return ((2 * round - me) % (n - 1) + (n - 1)) % (n - 1);
}

static void measure_latencies(int repetitions)
{
    int n = size + size % 2;
    double *mine = calloc((size_t)size, sizeof(*mine)), *all = NULL;

    if (repetitions > RUNS_MAX)
        repetitions = RUNS_MAX;
    if (rank == 0)
        all = calloc((size_t)size * (size_t)size, sizeof(*all));
    if (mine == NULL || (rank == 0 && all == NULL))
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int round = 0; round < n - 1; round++) {
        int other = opponent(rank, round, n);

        MPI_Barrier(MPI_COMM_WORLD);
        if (other < size && other != rank)
            mine[other] = ping(other, rank < other, repetitions);
    }
    MPI_Gather(mine, size, MPI_DOUBLE, all, size, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    /* The one who starts measures a round trip; the other also waits for the start. */
    for (int i = 0; rank == 0 && i < size; i++)
        for (int j = i + 1; j < size; j++)
            printf("latency %d %d %.9g\n", i, j, all[i * size + j]);
    free(all);
    free(mine);
}

/* ---- Messages ---- */

typedef struct {
    char *buffer;
    int bytes, other, is_first;
} game_t;

static void blocking(const game_t *g)
{
    if (g->is_first)
        MPI_Send(g->buffer, g->bytes, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD);
    MPI_Recv(g->buffer, g->bytes, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!g->is_first)
        MPI_Send(g->buffer, g->bytes, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD);
}

static void nonblocking(const game_t *g)
{
    MPI_Request request;

    for (int step = 0; step < 2; step++) {
        if (step == !g->is_first)
            MPI_Isend(g->buffer, g->bytes, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD, &request);
        else
            MPI_Irecv(g->buffer, g->bytes, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* How long a start of a send keeps the sender. */
static double send_overhead(const game_t *g)
{
    MPI_Request request;
    double took = 0;

    if (g->is_first) {
        double begin = MPI_Wtime();

        MPI_Isend(g->buffer, g->bytes, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD, &request);
        took = MPI_Wtime() - begin;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(g->buffer, g->bytes, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return took;
}

/* A receive whose message has had time to come. */
static double receive_overhead(const game_t *g, double arrival)
{
    double took = 0;

    if (g->is_first) {
        double begin = MPI_Wtime();
        int flag;

        do
            MPI_Iprobe(g->other, TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        while (!flag || MPI_Wtime() - begin < 2 * arrival);
        begin = MPI_Wtime();
        MPI_Recv(g->buffer, g->bytes, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        took = MPI_Wtime() - begin;
    } else {
        MPI_Send(g->buffer, g->bytes, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD);
    }
    return took;
}

/* A stream of messages, and one byte back when all are there. */
static double stream(const game_t *g, int count)
{
    MPI_Request requests[WINDOW];
    double begin = MPI_Wtime();
    char byte = 0;

    if (g->is_first) {
        for (int i = 0; i < count; i++)
            MPI_Isend(g->buffer, g->bytes, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        MPI_Recv(&byte, 1, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        for (int i = 0; i < count; i++)
            MPI_Recv(g->buffer, g->bytes, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Send(&byte, 1, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD);
    }
    return MPI_Wtime() - begin;
}

static double time_trips(const game_t *g, void (*trip)(const game_t *), int runs)
{
    double times[RUNS_MAX];

    for (int i = -1; i < runs; i++) {
        double begin = MPI_Wtime();

        trip(g);
        if (i >= 0)
            times[i] = (MPI_Wtime() - begin) / 2;
    }
    return best(times, runs);
}

/* Everything of one size; both sides of the pair call it, the first one's times count. */
static void measure_size(const game_t *g, double seconds, double result[5])
{
    double once = time_trips(g, blocking, 2), times[RUNS_MAX], one, many;
    int runs = once > 0 ? (int)fmin(seconds / 5 / (2 * once), RUNS_MAX) : RUNS_MAX, few;

    runs = runs < 5 ? 5 : runs;
    MPI_Sendrecv_replace(&runs, 1, MPI_INT, g->other, TAG, g->other, TAG, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    /* Each has the other's number now: both take the first one's. */
    if (g->is_first)
        runs = once > 0 ? (int)fmin(fmax(seconds / 5 / (2 * once), 5), RUNS_MAX) : RUNS_MAX;
    few = runs < 20 ? runs : 20;
    result[0] = time_trips(g, blocking, runs);
    result[1] = time_trips(g, nonblocking, runs);
    for (int i = 0; i < few; i++)
        times[i] = send_overhead(g);
    result[2] = best(times, few);
    for (int i = 0; i < few; i++)
        times[i] = receive_overhead(g, result[0]);
    result[3] = best(times, few);
    for (int i = 0; i < few; i++)
        times[i] = stream(g, 1);
    one = best(times, few);
    for (int i = 0; i < few; i++)
        times[i] = stream(g, WINDOW);
    many = best(times, few);
    result[4] = (many - one) / (WINDOW - 1);
}

static void measure_pair(int a, int b, double largest, double seconds)
{
    char *buffer = calloc(1, (size_t)largest + 1);
    double result[5];

    if (buffer == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    /* Powers of two and what lies in the middle of them. */
    for (double power = 1; power <= largest; power *= 2)
        for (int half = 0; half < 2; half++) {
            double bytes = power + half * power / 2;
            game_t g = {.buffer = buffer, .bytes = (int)bytes, .is_first = rank == a};

            if (bytes > largest || bytes != floor(bytes))
                continue;
            g.other = g.is_first ? b : a;
            measure_size(&g, seconds, result);
            if (g.is_first && rank != 0)
                MPI_Send(result, 5, MPI_DOUBLE, 0, TAG + 1, MPI_COMM_WORLD);
        }
    free(buffer);
}

/* Process 0 prints what the first of the pair sends it, also when it is the first itself. */
static void report_pair(int a, int b, double largest, double seconds)
{
    for (double power = 1; power <= largest; power *= 2)
        for (int half = 0; half < 2; half++) {
            double bytes = power + half * power / 2, r[5];

            if (bytes > largest || bytes != floor(bytes))
                continue;
            if (a == 0) {
                char *buffer = calloc(1, (size_t)bytes);
                game_t g = {.buffer = buffer, .bytes = (int)bytes, .other = b, .is_first = 1};

                if (buffer == NULL)
                    MPI_Abort(MPI_COMM_WORLD, 1);
                measure_size(&g, seconds, r);
                free(buffer);
            } else {
                MPI_Recv(r, 5, MPI_DOUBLE, a, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
            printf("message %d %d %.0f %.9g %.9g %.9g %.9g %.9g\n", a, b, bytes, r[0], r[1], r[2],
                   r[3], fmax(r[4], 0));
            fflush(stdout);
        }
}

/* A barrier in which those that have nothing to do leave the processor and the network alone. */
static void rest(void)
{
    MPI_Request request;
    int is_over = 0;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (;;) {
        MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
        if (is_over)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

static void measure_pairs(int argc, char **argv)
{
    double largest = atof(argv[2]), seconds = atof(argv[3]);

    for (int i = 4; i + 1 < argc; i += 2) {
        int a = atoi(argv[i]), b = atoi(argv[i + 1]);

        rest();
        if (rank == 0 && b != 0)
            report_pair(a, b, largest, seconds);
        else if (rank == a || rank == b)
            measure_pair(a, b, largest, seconds);
    }
    rest();
}

static void introduce(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING], name[MPI_MAX_PROCESSOR_NAME] = {0};
    char *names = NULL;
    int length;

    MPI_Get_processor_name(name, &length);
    if (rank == 0)
        names = calloc((size_t)size, sizeof(name));
    MPI_Gather(name, sizeof(name), MPI_CHAR, names, sizeof(name), MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank != 0)
        return;
    MPI_Get_library_version(text, &length);
    text[strcspn(text, ",\n")] = '\0';
    printf("library %s\n", text);
    for (int i = 0; names != NULL && i < size; i++)
        printf("host %d %s\n", i, names + (size_t)i * sizeof(name));
    free(names);
}

/* The last argument is how long it may live: whoever started it may be gone by then. */
int main(int argc, char **argv)
{
    if (argc > 1)
        alarm((unsigned)atoi(argv[--argc]));
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    introduce();
    if (argc > 2 && strcmp(argv[1], "latency") == 0)
        measure_latencies(atoi(argv[2]));
    else if (argc > 3 && strcmp(argv[1], "pairs") == 0)
        measure_pairs(argc, argv);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
