/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All measurements of messages of one size between two processes.
 */
#ifndef XY_MEASURE_PROBE_TRIPS_H
#define XY_MEASURE_PROBE_TRIPS_H

#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "pace.h"

enum {
    TAG = 7,
    RUNS_MAX = 400,
    RUNS_MIN = 3,
    PINGS_MIN = 5,
    WINDOW = 16,
    SIZES_MAX = 256,
    LARGE = 4 << 20 /* bytes; of more, a message takes milliseconds */
};
/* Timings by batches, and then by single calls. */
enum { BLOCKING, NONBLOCKING, EXCHANGE, KINDS };
enum { SEND = KINDS, RECEIVE, GAP, HOLD, FIGURES };
enum { PASSES_MAX = 16 };

static int rank, size;
static MPI_Comm duo; /* of the pair that is measured */

static inline void say_step(int done, int all)
{
    printf("step %d %d\n", done, all);
    fflush(stdout);
}

/* Messages leave one buffer and come into another, as in most programs: what is sent stays in the
 * caches of both sides, and no core takes lines from another that has just written them. */
typedef struct {
    char *out, *in; /* room for the largest message */
    int bytes, other, is_first;
    int eager;  /* bytes of the largest message whose send does not wait; 0: not known */
    int is_far; /* on another host */
} game_t;

static void blocking(const game_t *g)
{
    if (g->is_first)
        MPI_Send(g->out, g->bytes, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD);
    MPI_Recv(g->in, g->bytes, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!g->is_first)
        MPI_Send(g->out, g->bytes, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD);
}

static void nonblocking(const game_t *g)
{
    MPI_Request request;

    for (int step = 0; step < 2; step++) {
        if (step == !g->is_first)
            MPI_Isend(g->out, g->bytes, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD, &request);
        else
            MPI_Irecv(g->in, g->bytes, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* Both send at the same time, twice: one exchange each way of a round trip. */
static void exchange(const game_t *g)
{
    for (int step = 0; step < 2; step++)
        MPI_Sendrecv(g->out, g->bytes, MPI_CHAR, g->other, TAG, g->in, g->bytes, MPI_CHAR, g->other,
                     TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* How long a start of a send keeps the sender. */
static double send_overhead(const game_t *g, double unused)
{
    MPI_Request request;
    double took = 0;

    (void)unused;
    if (g->is_first) {
        double begin = MPI_Wtime();

        MPI_Isend(g->out, g->bytes, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD, &request);
        took = MPI_Wtime() - begin;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(g->in, g->bytes, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
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
        MPI_Recv(g->in, g->bytes, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        took = MPI_Wtime() - begin;
    } else {
        MPI_Send(g->out, g->bytes, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD);
    }
    return took;
}

/* A stream of messages, in windows where sends wait for receives, and one byte back when all are
 * there. */
static double stream(const game_t *g, double length)
{
    MPI_Request requests[WINDOW];
    double begin = MPI_Wtime();
    int count = (int)length, open = 0;
    char byte = 0;

    for (int i = 0; i < count; i++) {
        if (!g->is_first)
            MPI_Recv(g->in, g->bytes, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else if (g->bytes <= g->eager)
            MPI_Send(g->out, g->bytes, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD);
        else
            MPI_Isend(g->out, g->bytes, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD, &requests[open++]);
        if (open == WINDOW || (open > 0 && i == count - 1)) {
            MPI_Waitall(open, requests, MPI_STATUSES_IGNORE);
            open = 0;
        }
    }
    if (g->is_first)
        MPI_Recv(&byte, 1, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(&byte, 1, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD);
    return MPI_Wtime() - begin;
}

/* How long a send keeps the sender when its receive waits: until the system has its data, or until
 * it has heard that the data is there. */
static double hold(const game_t *g, double unused)
{
    MPI_Request request;
    double took = 0;
    char byte = 0;

    (void)unused;
    if (g->is_first) {
        double begin;

        MPI_Recv(&byte, 1, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        begin = MPI_Wtime();
        MPI_Send(g->out, g->bytes, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD);
        took = MPI_Wtime() - begin;
    } else {
        MPI_Irecv(g->in, g->bytes, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD, &request);
        MPI_Send(&byte, 1, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return took;
}

/* Both continue until the first signals the end. */
static int goes_on(const game_t *g, int wanted)
{
    char word = (char)wanted;

    if (g->is_first)
        MPI_Send(&word, 1, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD);
    else
        MPI_Recv(&word, 1, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return word;
}

/* Timings of milliseconds are not disturbed by microseconds: fewer are enough. */
static int least_runs(double seconds, int usual)
{
    return isfinite(seconds) && seconds > 2e-3 && usual > 2 ? 2 : usual;
}

/* One byte to the second process and back, or there only. */
static void meet(const game_t *g, int is_answered)
{
    char byte = 0;

    for (int step = 0; step <= is_answered; step++)
        if (step == !g->is_first)
            MPI_Send(&byte, 1, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD);
        else
            MPI_Recv(&byte, 1, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* One timing of `batch` round trips, per message, with looks before and after; the first one gets
 * the looks of the other. No look of the second falls into the time of the first, also where both
 * share a core. */
static timing_t time_batch(const game_t *g, void (*trip)(const game_t *), int batch)
{
    timing_t t = {0};
    double begin;

    t.look[0] = look();
    meet(g, 1);
    begin = MPI_Wtime();
    for (int k = 0; k < batch; k++)
        trip(g);
    t.seconds = (MPI_Wtime() - begin) / 2 / batch;
    meet(g, 0);
    t.look[1] = look();
    if (g->is_first)
        MPI_Recv(&t.look[2], 4, MPI_DOUBLE, g->other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(&t.look[0], 4, MPI_DOUBLE, g->other, TAG, MPI_COMM_WORLD);
    return t;
}

/* Timings into the pool (NULL: none): at least so many, and for so many seconds. The least of them.
 */
static double time_trips(const game_t *g, void (*trip)(const game_t *), int batch, int least,
                         double seconds, pool_t *pool)
{
    double end = MPI_Wtime() + seconds, best_time = INFINITY;
    int n = -1; /* the first one warms up */

    for (; goes_on(g, n < least_runs(best_time * batch, least) ||
                          (n < TIMINGS_MAX && MPI_Wtime() < end));
         n++) {
        timing_t t = time_batch(g, trip, batch);

        if (n < 0)
            continue;
        best_time = fmin(best_time, t.seconds);
        if (g->is_first && pool != NULL)
            add_timing(pool, &t);
    }
    return best_time;
}

typedef double (*once_fn)(const game_t *g, double argument);

static double time_once(const game_t *g, once_fn once, double argument, double seconds)
{
    double times[RUNS_MAX], begin = MPI_Wtime(), end = begin + seconds, first = INFINITY;
    int n = 0;

    while (goes_on(g, n < least_runs(first, RUNS_MIN) || (n < RUNS_MAX && MPI_Wtime() < end))) {
        times[n++] = once(g, argument);
        first = fmin(first, MPI_Wtime() - begin);
    }
    return median(times, n);
}

/* The first decides for both. */
static int agree(const game_t *g, int number)
{
    if (g->is_first)
        MPI_Send(&number, 1, MPI_INT, g->other, TAG, MPI_COMM_WORLD);
    else
        MPI_Recv(&number, 1, MPI_INT, g->other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return number;
}

/* How many round trips make a timing that the clock can resolve, and that is long against what the
 * first of them meets in cold caches: one alone takes several times as long as those of a loop. */
static int choose_batch(const game_t *g)
{
    int batch = 1;

    for (int step = 0; step < 2; step++) {
        double once = time_trips(g, blocking, batch, 1, 0, NULL);

        batch = agree(g, once < 40e-6 ? (int)(40e-6 / fmax(once, 1e-8)) + 1 : 1);
    }
    return batch;
}

/* How far apart messages of a stream are. It is so long that what the receiver has not taken yet
 * piles up, where the library lets it, but takes a millisecond at most. Of messages that take many
 * milliseconds a few are enough. */
static double find_gap(const game_t *g, double seconds)
{
    double one = time_once(g, stream, 1, seconds / 2);
    int length = agree(g, one > 10e-3 ? WINDOW / 4 : WINDOW);
    double window = time_once(g, stream, length, seconds / 4);
    int windows = agree(g, (int)fmin(fmax(1e-3 / fmax(window, 1e-9), 1), WINDOW));
    double many = windows > 1 ? time_once(g, stream, windows * length, seconds / 4) : window;

    return fmax((many - one) / (windows * length - 1), 0);
}

/* The measurements of one size: timings of both kinds; of send, receive and gap one value of each
 * pass. */
typedef struct {
    double bytes;
    pool_t *pool[KINDS];
    double value[FIGURES - KINDS][PASSES_MAX];
} size_data_t;

/* Everything of one size in one pass; both sides of the pair call it, the first one's times count.
 */
static void measure_size(const game_t *g, double seconds, int pass, size_data_t *d)
{
    int batch = choose_batch(g);
    double took = time_trips(g, blocking, batch, RUNS_MIN, seconds * 0.3, d->pool[BLOCKING]);

    if (g->bytes > LARGE)
        return;
    time_trips(g, nonblocking, batch, RUNS_MIN, seconds * 0.2, d->pool[NONBLOCKING]);
    if (agree(g, took < 2e-3)) /* they are of interest inside a node */
        time_trips(g, exchange, batch, RUNS_MIN, seconds * 0.15, d->pool[EXCHANGE]);
    d->value[SEND - KINDS][pass] = time_once(g, send_overhead, 0, seconds * 0.05);
    d->value[RECEIVE - KINDS][pass] = time_once(g, receive_overhead, took, seconds * 0.05);
    d->value[GAP - KINDS][pass] = find_gap(g, seconds * 0.1);
    if (g->is_far && g->bytes > g->eager)
        d->value[HOLD - KINDS][pass] = time_once(g, hold, 0, seconds * 0.05);
}

/* The same order on both sides: a Fisher-Yates shuffle by a generator of our own. */
static void shuffle(int *order, int count, uint64_t *random)
{
    for (int i = 0; i < count; i++) {
        int k;

        *random = *random * 6364136223846793005u + 1442695040888963407u;
        k = (int)((*random >> 33) % (uint64_t)(i + 1));
        order[i] = order[k];
        order[k] = i;
    }
}

/* All sizes in each pass, as long as they keep to the time: where latencies are long, one pass is
 * enough. The number of passes made. */
static int measure_sizes(game_t g, size_data_t *data, int count, double seconds, int passes)
{
    double end = MPI_Wtime() + count * seconds * (passes - 1) / passes;
    int order[SIZES_MAX], pass = 0;
    uint64_t random = 1;

    for (; goes_on(&g, pass == 0 || (pass < passes && MPI_Wtime() < end)); pass++) {
        shuffle(order, count, &random);
        for (int i = 0; i < count; i++) {
            g.bytes = (int)data[order[i]].bytes;
            if (g.bytes > LARGE && pass > 0)
                continue;
            measure_size(&g, seconds / passes, pass, &data[order[i]]);
            if (rank == 0)
                say_step(pass * count + i + 1, passes * count);
        }
    }
    return pass;
}

/* Pools of all sizes to one time for each; both kinds by one clock. */
static void conclude(size_data_t *data, pool_t *pools, int count, int passes,
                     double results[][FIGURES])
{
    double spread;
    pace_t pace;

    choose_pace(pools, KINDS * count, &pace);
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < KINDS; k++) {
            results[i][k] = sum_up(data[i].pool[k], &pace, &spread);
            free(data[i].pool[k]->timing);
        }
        for (int k = KINDS; k < FIGURES && data[i].bytes <= LARGE; k++)
            results[i][k] = median(data[i].value[k - KINDS], passes);
    }
}

/* Whether a send of so many bytes ends before its receive begins; both sides know. The receiver
 * begins it when it hears the answer. */
static int is_eager(const game_t *g, int bytes)
{
    MPI_Request request;
    int is_over = 0;

    if (g->is_first) {
        double end = MPI_Wtime() + 0.01;

        MPI_Isend(g->out, bytes, MPI_CHAR, g->other, TAG + 1, MPI_COMM_WORLD, &request);
        while (!is_over && MPI_Wtime() < end)
            MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
        MPI_Send(&is_over, 1, MPI_INT, g->other, TAG, MPI_COMM_WORLD);
        if (!is_over)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&is_over, 1, MPI_INT, g->other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(g->in, bytes, MPI_CHAR, g->other, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return is_over;
}

/* The largest eager message, below `largest`; 0: none is, or all are. */
static int find_eager(const game_t *g, int largest)
{
    int low = 0, high = largest;

    if (is_eager(g, largest))
        return 0;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;

        if (is_eager(g, middle))
            low = middle;
        else
            high = middle;
    }
    return low;
}

#endif
