/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures messages between processes. `xylem calibrate` has it under Xylem's own MPI for this
 * machine, and compiles it with another mpicc for hosts; its answers are lines on standard output:
 *
 *   probe latency REPETITIONS LIFE
 *       latencies of all pairs, in rounds in which each process takes part in one pair; where they
 *       are long, of fewer repetitions:
 *           latency I J SECONDS
 *   probe pair I J SIZES SECONDS PASSES LIFE
 *       messages of these sizes (with commas) between I and J:
 *           message I J BYTES BLOCKING NONBLOCKING SEND RECEIVE GAP EXCHANGE BURST SELF
 *       (of more than 4 MiB BLOCKING alone, in one pass; the others are 0)
 *       and the largest message whose send ends before its receive begins, if there is one:
 *           eager BYTES
 *       and, where the two are alone, how long they take for a barrier, a broadcast of 4 KiB, one
 *       of them for a copy of as much and for adding as much to as much, both for an allreduce of
 *       4 KiB, a broadcast and an allreduce of 64 bytes:
 *           meet SECONDS SECONDS SECONDS SECONDS SECONDS SECONDS SECONDS
 *
 *   probe among 0 1 SIZES SECONDS PASSES LIFE
 *       the same while all others send messages to each other, 2 and 3, 4 and 5, ...: cores that
 *       share something with others are not alone in a job
 *   probe alone I J SIZES SECONDS PASSES LIFE
 *       messages only, neither their limit nor what the two take together
 *
 *   probe crowd EACH LIFE
 *       messages of a byte, and of 4 KiB, between the processes of all pairs (0 and 1, 2 and 3,
 *       ...) at once, where EACH of them share a core: seconds of that core for one:
 *           crowd SECONDS SECONDS
 *
 *   probe together SETS SECONDS LIFE
 *       streams of messages of so many bytes between all pairs of a set at once, so long
 *       (4096@0:2,1:3;65536@0:4,1:5: two sets of two pairs): how much they carry together, in units
 *       of what the first pair carries alone:
 *           together SET PAIRS TIMES
 *
 * First come "library TEXT" and "host I NAME CORES", "step K N" reports progress, and after "end"
 * there is nothing more to come. After LIFE seconds it ends itself, even if other processes are
 * gone.
 *
 * Short messages are timed in batches. All sizes are measured in each pass, in another order each
 * time. Before and after each timing both processes measure the pace of their core: one loop shows
 * its frequency, another, which fills the core, whether other work is on it. Of the timings of a
 * size those during which both cores were alone count, if they are half of all, by their median,
 * told at the usual frequency of the two cores in this run where that makes timings of one size
 * agree better (a copy follows the core, a wire does not). Another run may find the cores at
 * another frequency, and so may a program: times of this one are not those of another.
 */
#include <math.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "loops.h"

enum {
    TAG = 7,
    BURST_TAG = 16,
    RUNS_MAX = 400,
    RUNS_MIN = 3,
    PINGS_MIN = 5,
    WINDOW = 16,
    SIZES_MAX = 256,
    LARGE = 4 << 20 /* bytes; of more, a message takes milliseconds */
};
/* What is timed by batches, and then by single calls. */
enum { BLOCKING, NONBLOCKING, EXCHANGE, BURST, SELF, KINDS, SEND = KINDS, RECEIVE, GAP, FIGURES };
enum { TIMINGS_MAX = 100, PASSES_MAX = 16 }; /* timings of a size in one pass */
enum { AT_ONCE = 4, BURST_MOST = 1 << 20 /* bytes of one message */ };

static int rank, size;
static MPI_Comm duo; /* of the pair that is measured */

static int by_value(const void *a, const void *b)
{
    const double *p = a, *q = b;

    return (*p > *q) - (*p < *q);
}

static double median(double *t, int n)
{
    qsort(t, (size_t)n, sizeof(*t), by_value);
    return t[n / 2];
}

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

/* ---- The pace of a core ---- */

typedef struct {
    double latency; /* seconds of a loop in which one operation waits for the next: frequency */
    double ratio;   /* to it of a loop that fills the core: more when other work is on it */
} look_t;

static look_t look(void)
{
    enum { TURNS = 800 };
    double begin = MPI_Wtime(), middle;
    look_t now;

    loop_throughput(TURNS);
    middle = MPI_Wtime();
    loop_latency(TURNS);
    now.latency = fmax(MPI_Wtime() - middle, 1e-9);
    now.ratio = (middle - begin) / now.latency;
    return now;
}

/* One timing, and two looks at each of the cores: here and there, before and after. */
typedef struct {
    double seconds, disturbed;
    look_t look[4];
} timing_t;

/* All timings of one size. */
typedef struct {
    timing_t *timing;
    int count, room;
} pool_t;

static void add_timing(pool_t *pool, const timing_t *timing)
{
    if (pool->count == pool->room) {
        pool->room = pool->room > 0 ? 2 * pool->room : TIMINGS_MAX;
        pool->timing = realloc(pool->timing, (size_t)pool->room * sizeof(*pool->timing));
        if (pool->timing == NULL)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    pool->timing[pool->count++] = *timing;
}

/* What all looks say about the two cores: the ratio of one that is alone, the usual latency. */
typedef struct {
    double alone[2], latency[2];
    int is_wall; /* frequency is no concern */
} pace_t;

/* A value that is less than `part` of all looks' at one of the cores. */
static double look_quantile(const pool_t *pools, int count, int side, int of_ratio, double part)
{
    size_t n = 0, all = 0;
    double *values, value = 1;

    for (int i = 0; i < count; i++)
        all += 2 * (size_t)pools[i].count;
    values = calloc(all + 1, sizeof(*values));
    if (values == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 2 * pools[i].count; k++) {
            const look_t *l = &pools[i].timing[k / 2].look[2 * side + k % 2];

            values[n++] = of_ratio ? l->ratio : l->latency;
        }
    qsort(values, n, sizeof(*values), by_value);
    if (n > 0)
        value = values[(size_t)(part * (double)(n - 1))];
    free(values);
    return value;
}

/* How much of the cores others took, the sum of all looks; a look that was itself interrupted may
 * show less than nothing by its ratio, but takes longer than any frequency makes it. */
static double disturbance(const timing_t *t, const pace_t *pace)
{
    const double slowest = 1.4;
    double sum = 0;

    for (int k = 0; k < 4; k++) {
        sum += fmax(t->look[k].ratio / pace->alone[k / 2], 1) - 1;
        sum += t->look[k].latency > slowest * pace->latency[k / 2];
    }
    return sum;
}

/* By the faster look at each core, and within reason: an interrupted one is no frequency. */
static double at_pace(const timing_t *t, const pace_t *pace)
{
    double scale = 0;

    for (int side = 0; side < 2; side++)
        scale += pace->latency[side] / 2 /
                 fmin(t->look[2 * side].latency, t->look[2 * side + 1].latency);
    return t->seconds * fmin(fmax(scale, 0.7), 1.4);
}

static int by_disturbance(const void *a, const void *b)
{
    const timing_t *p = a, *q = b;

    return (p->disturbed > q->disturbed) - (p->disturbed < q->disturbed);
}

/* How many timings count, the least disturbed first: those on cores that were alone, when they are
 * half of all. Where cores are seldom alone, as on a machine that is a part of a larger one,
 * programs will not find them alone either, and all count. */
static int choose_counted(const pool_t *pool)
{
    const double undisturbed = 0.15; /* all four looks together */
    int n = 0;

    while (n < pool->count && pool->timing[n].disturbed <= undisturbed)
        n++;
    return n >= 5 && 2 * n >= pool->count ? n : pool->count;
}

/* The time of one size, and how far the timings that count are apart. */
static double sum_up(pool_t *pool, const pace_t *pace, double *spread)
{
    double *values = calloc((size_t)pool->count + 1, sizeof(*values)), middle;
    int n;

    if (values == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    *spread = 0;
    for (int i = 0; i < pool->count; i++)
        pool->timing[i].disturbed = disturbance(&pool->timing[i], pace);
    qsort(pool->timing, (size_t)pool->count, sizeof(*pool->timing), by_disturbance);
    n = choose_counted(pool);
    for (int i = 0; i < n; i++)
        values[i] = pace->is_wall ? pool->timing[i].seconds : at_pace(&pool->timing[i], pace);
    qsort(values, (size_t)n, sizeof(*values), by_value);
    middle = values[n / 2];
    if (n > 0)
        *spread = (values[3 * n / 4] - values[n / 4]) / middle;
    free(values);
    return middle;
}

/* The usual pace of this run; and whether timings of one size, all in all, agree better by that or
 * by the wall clock. */
static void choose_pace(pool_t *pools, int count, pace_t *pace)
{
    double apart[2] = {0};

    for (int side = 0; side < 2; side++) {
        pace->alone[side] = look_quantile(pools, count, side, 1, 0.02);
        pace->latency[side] = look_quantile(pools, count, side, 0, 0.5);
    }
    for (int wall = 0; wall < 2; wall++)
        for (int i = 0; i < count; i++) {
            double spread;

            pace->is_wall = wall;
            sum_up(&pools[i], pace, &spread);
            apart[wall] += spread;
        }
    pace->is_wall = apart[1] <= apart[0];
}

/* ---- Latencies ---- */

/* Round trips of a byte, the first two of which warm up. The byte shows the other one whether there
 * are more to come; after half a second a few are enough. */
static double ping(int other, int is_first, int repetitions)
{
    double times[RUNS_MAX], end = MPI_Wtime() + 0.5;
    int n = -2;

    for (char more = 1; more; n++) {
        double begin = MPI_Wtime();

        more = (char)(n + 1 < repetitions && (n + 1 < PINGS_MIN || begin < end));
        if (is_first)
            MPI_Send(&more, 1, MPI_CHAR, other, TAG, MPI_COMM_WORLD);
        MPI_Recv(&more, 1, MPI_CHAR, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!is_first)
            MPI_Send(&more, 1, MPI_CHAR, other, TAG, MPI_COMM_WORLD);
        if (n >= 0)
            times[n] = (MPI_Wtime() - begin) / 2;
    }
    return best(times, n);
}

/* The circle method: process n - 1 stays, the others turn; in each of the n - 1 rounds every
 * process meets one other, and in all of them every other once. An odd number has one that rests.
 */
static int opponent(int me, int round, int n)
{
    if (me == n - 1)
        return round;
    if (me == round)
        return n - 1;
    return ((2 * round - me) % (n - 1) + (n - 1)) % (n - 1);
}

static void say_step(int done, int all)
{
    printf("step %d %d\n", done, all);
    fflush(stdout);
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
        if (rank == 0)
            say_step(round + 1, n - 1);
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

/* Messages leave one buffer and come into another, as in most programs: what is sent stays in the
 * caches of both sides, and no core takes lines from another that has just written them. */
typedef struct {
    char *out, *in; /* room for AT_ONCE messages of up to BURST_MOST bytes, or for one */
    int bytes, other, is_first;
    int eager; /* bytes of the largest message whose send does not wait; 0: not known */
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

/* Several to each other at once, twice. */
static void burst(const game_t *g)
{
    MPI_Request requests[2 * AT_ONCE];
    size_t bytes = (size_t)g->bytes;

    for (int step = 0; step < 2; step++) {
        for (int i = 0; i < AT_ONCE; i++)
            MPI_Irecv(g->in + i * bytes, g->bytes, MPI_CHAR, g->other, BURST_TAG + i,
                      MPI_COMM_WORLD, &requests[i]);
        for (int i = 0; i < AT_ONCE; i++)
            MPI_Isend(g->out + i * bytes, g->bytes, MPI_CHAR, g->other, BURST_TAG + i,
                      MPI_COMM_WORLD, &requests[AT_ONCE + i]);
        MPI_Waitall(2 * AT_ONCE, requests, MPI_STATUSES_IGNORE);
    }
}

/* The first one to itself, twice: no other process and no switch to it. */
static void alone(const game_t *g)
{
    MPI_Request requests[2];

    for (int step = 0; step < 2 && g->is_first; step++) {
        MPI_Irecv(g->in, g->bytes, MPI_CHAR, rank, TAG, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(g->out, g->bytes, MPI_CHAR, rank, TAG, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
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

/* What takes milliseconds is not disturbed by microseconds: fewer are enough. */
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

/* How many round trips make a timing that the clock can resolve. */
static int choose_batch(const game_t *g)
{
    double once = time_trips(g, blocking, 1, 1, 0, NULL);

    return agree(g, once < 40e-6 ? (int)(40e-6 / fmax(once, 1e-7)) + 1 : 1);
}

/* How far apart messages of a stream are. It is so long that what the receiver has not taken yet
 * piles up, where the library lets it, but takes a millisecond at most. */
static double find_gap(const game_t *g, double seconds)
{
    double one = time_once(g, stream, 1, seconds / 2);
    double window = time_once(g, stream, WINDOW, seconds / 4);
    int windows = agree(g, (int)fmin(fmax(1e-3 / fmax(window, 1e-9), 1), WINDOW));
    double many = windows > 1 ? time_once(g, stream, windows * WINDOW, seconds / 4) : window;

    return fmax((many - one) / (windows * WINDOW - 1), 0);
}

/* What is known of one size: timings of both kinds; of send, receive and gap one value of each
 * pass.
 */
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
    if (agree(g, took < 2e-3)) { /* they are of interest inside a node */
        time_trips(g, exchange, batch, RUNS_MIN, seconds * 0.15, d->pool[EXCHANGE]);
        if (g->bytes <= BURST_MOST)
            time_trips(g, burst, (batch + 1) / 2, RUNS_MIN, seconds * 0.15, d->pool[BURST]);
        time_trips(g, alone, batch, RUNS_MIN, seconds * 0.05, d->pool[SELF]);
    }
    d->value[SEND - KINDS][pass] = time_once(g, send_overhead, 0, seconds * 0.05);
    d->value[RECEIVE - KINDS][pass] = time_once(g, receive_overhead, took, seconds * 0.05);
    d->value[GAP - KINDS][pass] = find_gap(g, seconds * 0.1);
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

/* ---- Collectives of two ---- */

enum { BCAST = 4096, SMALL = 64, MEETINGS = 7 };

static void twice_barrier(const game_t *g)
{
    (void)g;
    MPI_Barrier(duo);
    MPI_Barrier(duo);
}

static void twice_bcast(const game_t *g)
{
    char *buffer = g->is_first ? g->out : g->in;

    MPI_Bcast(buffer, BCAST, MPI_CHAR, 0, duo);
    MPI_Bcast(buffer, BCAST, MPI_CHAR, 0, duo);
}

static void twice_small_bcast(const game_t *g)
{
    char *buffer = g->is_first ? g->out : g->in;

    MPI_Bcast(buffer, SMALL, MPI_CHAR, 0, duo);
    MPI_Bcast(buffer, SMALL, MPI_CHAR, 0, duo);
}

static void twice_allreduce(const game_t *g)
{
    for (int i = 0; i < 2; i++)
        MPI_Allreduce(g->out, g->in, BCAST / (int)sizeof(double), MPI_DOUBLE, MPI_SUM, duo);
}

static void twice_small_allreduce(const game_t *g)
{
    for (int i = 0; i < 2; i++)
        MPI_Allreduce(g->out, g->in, SMALL / (int)sizeof(double), MPI_DOUBLE, MPI_SUM, duo);
}

static void twice_copy(const game_t *g)
{
    for (int i = 0; i < 2; i++) {
        memcpy(g->in, g->out, BCAST);
        __asm__ volatile("" : : "r"(g->in) : "memory"); /* not to be left out */
    }
}

static void twice_add(const game_t *g)
{
    for (int i = 0; i < 2; i++)
        MPI_Reduce_local(g->out, g->in, BCAST / (int)sizeof(double), MPI_DOUBLE, MPI_SUM);
}

static double time_meeting(const game_t *g, void (*trip)(const game_t *), double seconds)
{
    pool_t pool = {0};
    double values[TIMINGS_MAX];

    time_trips(g, trip, 100, RUNS_MIN, seconds, &pool);
    for (int i = 0; i < pool.count && i < TIMINGS_MAX; i++)
        values[i] = pool.timing[i].seconds;
    free(pool.timing);
    return pool.count > 0 ? median(values, pool.count < TIMINGS_MAX ? pool.count : TIMINGS_MAX) : 0;
}

/* Seconds of one; buffers have room for a broadcast. */
static void measure_meetings(const game_t *g, double seconds, double times[MEETINGS])
{
    times[0] = time_meeting(g, twice_barrier, seconds);
    times[1] = time_meeting(g, twice_bcast, seconds);
    times[2] = time_meeting(g, twice_copy, seconds / 10);
    memset(g->in, 0, BCAST); /* numbers */
    memset(g->out, 0, BCAST);
    times[3] = time_meeting(g, twice_add, seconds / 10);
    times[4] = time_meeting(g, twice_allreduce, seconds);
    times[5] = time_meeting(g, twice_small_bcast, seconds);
    times[6] = time_meeting(g, twice_small_allreduce, seconds);
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

/* ---- The others of a job ---- */

static int is_told(void)
{
    int flag;

    MPI_Iprobe(0, TAG + 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    return flag;
}

/* Pairs of those that are not measured are busy until process 0 tells them, with small messages:
 * hardware threads of one core would share its memory pipes with copies. */
static void keep_busy(void)
{
    char out[SMALL] = {0}, in[SMALL];
    const game_t g = {
        .out = out, .in = in, .bytes = SMALL, .other = rank ^ 1, .is_first = rank % 2 == 0};

    if (g.other >= size)
        return;
    while (goes_on(&g, g.is_first && !is_told()))
        for (int i = 0; i < 32; i++)
            blocking(&g);
    if (g.is_first)
        MPI_Recv(NULL, 0, MPI_CHAR, 0, TAG + 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void tell_others(void)
{
    for (int other = 2; other + 1 < size; other += 2)
        MPI_Send(NULL, 0, MPI_CHAR, other, TAG + 2, MPI_COMM_WORLD);
}

/* Our own launcher writes the arguments. */
static int number(const char *text)
{
    return (int)strtol(text, NULL, 10);
}

static int read_sizes(char *text, size_data_t *data, pool_t *pools)
{
    int n = 0;

    for (char *word = strtok(text, ","); word != NULL && n < SIZES_MAX; word = strtok(NULL, ",")) {
        data[n].bytes = strtod(word, NULL);
        for (int k = 0; k < KINDS; k++)
            data[n].pool[k] = &pools[KINDS * n + k];
        n++;
    }
    return n;
}

/* What the first of a pair has found, for process 0, which prints. */
typedef struct {
    double results[SIZES_MAX][FIGURES];
    int eager;
    double meet[MEETINGS];
} report_t;

static void measure_pair(int a, int b, char *text, double seconds, int passes, char mode)
{
    static size_data_t data[SIZES_MAX];
    static pool_t pools[KINDS * SIZES_MAX];
    static report_t report;
    int count = read_sizes(text, data, pools), is_playing = rank == a || rank == b;
    int is_among = mode == 'm', is_alone = mode == 'l', has_meet;
    double largest = BCAST;

    passes = passes < 1 ? 1 : passes > PASSES_MAX ? PASSES_MAX : passes;
    for (int i = 0; i < count; i++)
        largest = fmax(largest, fmax(data[i].bytes, AT_ONCE * fmin(data[i].bytes, BURST_MOST)));
    has_meet = (size == 2 || is_among) && !is_alone;
    MPI_Comm_split(MPI_COMM_WORLD, is_playing, rank != a, &duo);
    rest();
    if (is_playing) {
        game_t g = {.other = rank == a ? b : a, .is_first = rank == a};

        g.out = calloc(1, (size_t)largest);
        g.in = calloc(1, (size_t)largest);
        if (g.out == NULL || g.in == NULL)
            MPI_Abort(MPI_COMM_WORLD, 1);
        memset(g.out, 1, (size_t)largest); /* pages of its own */
        g.eager = report.eager = is_alone ? 0 : find_eager(&g, (int)largest);
        passes = measure_sizes(g, data, count, seconds, passes);
        if (has_meet)
            measure_meetings(&g, seconds, report.meet);
        free(g.out);
        free(g.in);
        if (is_among && rank == a)
            tell_others();
    } else if (is_among) {
        keep_busy();
    }
    rest();
    if (rank == a)
        conclude(data, pools, count, passes, report.results);
    if (rank == a && a != 0)
        MPI_Send(&report, sizeof(report), MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
    if (rank == 0 && a != 0)
        MPI_Recv(&report, sizeof(report), MPI_CHAR, a, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 0)
        return;
    for (int i = 0; i < count; i++)
        printf("message %d %d %.0f %.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g\n", a, b, data[i].bytes,
               report.results[i][BLOCKING], report.results[i][NONBLOCKING], report.results[i][SEND],
               report.results[i][RECEIVE], report.results[i][GAP], report.results[i][EXCHANGE],
               report.results[i][BURST], report.results[i][SELF]);
    if (report.eager > 0)
        printf("eager %d\n", report.eager);
    for (int i = 0; has_meet && i < MEETINGS; i++)
        printf("%s%.9g%s", i == 0 ? "meet " : " ", report.meet[i], i + 1 < MEETINGS ? "" : "\n");
}

/* ---- Many on one core ---- */

static double time_crowd(game_t *g, int each, int bytes)
{
    enum { RUNS = 48, BATCH = 100 };
    double times[RUNS];

    g->bytes = bytes;
    for (int run = 0; run < RUNS; run++) {
        double begin;

        MPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
        for (int i = 0; i < BATCH && g->other < size; i++)
            blocking(g);
        MPI_Barrier(MPI_COMM_WORLD);
        times[run] = (MPI_Wtime() - begin) / BATCH / each;
    }
    return median(times, RUNS);
}

static void measure_crowd(int each)
{
    char *memory = calloc(2, BCAST);
    game_t g = {.out = memory, .other = rank ^ 1, .is_first = rank % 2 == 0};
    double small, large;

    if (memory == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    g.in = memory + BCAST;
    small = time_crowd(&g, each, 1);
    large = time_crowd(&g, each, BCAST);
    if (rank == 0)
        printf("crowd %.9g %.9g\n", small, large);
    free(memory);
}

/* ---- Several pairs at once ---- */

typedef struct {
    int a, b;
} pair_t;

/* The pairs of a set; how many. */
static int read_set(char *text, int *bytes_p, pair_t *pairs, int most)
{
    char *save = NULL, *at = strchr(text, '@');
    int n = 0;

    *bytes_p = number(text);
    text = at != NULL ? at + 1 : text;

    for (char *word = strtok_r(text, ",", &save); word != NULL && n < most;
         word = strtok_r(NULL, ",", &save)) {
        char *colon = strchr(word, ':');

        if (colon != NULL)
            pairs[n++] = (pair_t){number(word), number(colon + 1)};
    }
    return n;
}

/* So many windows that they last so long, and the byte back takes a tenth of the time at most:
 * while it is on its way, the pair leaves the line empty, which says nothing about the line. The
 * first decides for both. */
static int choose_windows(const game_t *g, double seconds)
{
    double back, one;

    meet(g, 1);
    back = MPI_Wtime();
    meet(g, 1);
    back = MPI_Wtime() - back;
    one = fmax(stream(g, WINDOW) - back, fmax(back / 100, 1e-6));
    return agree(g, (int)fmin(ceil(fmax(10 * back, seconds) / one), 1024));
}

/* The pair of `pairs` that this process belongs to. 0: to none. */
static int find_pair(const pair_t *pairs, int count, int bytes, char *buffer, game_t *g)
{
    for (int i = 0; i < count; i++)
        if (rank == pairs[i].a || rank == pairs[i].b) {
            *g = (game_t){
                .out = buffer, .in = buffer, .bytes = bytes, .is_first = rank == pairs[i].a};
            g->other = g->is_first ? pairs[i].b : pairs[i].a;
            return 1;
        }
    return 0;
}

/* Bytes per second of the first `count` pairs at once, at process 0: what all have sent by the time
 * that the last needs. The sum of their rates would be more where some get the line before others.
 */
static double rate_together(const pair_t *pairs, int count, int bytes, double seconds)
{
    char *buffer = calloc(1, (size_t)bytes + 1);
    double sent = 0, took = 0, all = 0, longest = 0;
    int windows = 1;
    game_t g;

    if (buffer == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < count; i++) { /* each of them alone */
        MPI_Barrier(MPI_COMM_WORLD);
        if (find_pair(pairs + i, 1, bytes, buffer, &g))
            windows = choose_windows(&g, seconds);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (find_pair(pairs, count, bytes, buffer, &g)) {
        took = stream(&g, (double)windows * WINDOW);
        sent = g.is_first ? (double)windows * WINDOW * bytes : 0;
        took = g.is_first ? took : 0;
    }
    rest();
    MPI_Reduce(&sent, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    free(buffer);
    return all / fmax(longest, 1e-9);
}

static void measure_together(char *text, double seconds)
{
    pair_t *pairs = calloc((size_t)size, sizeof(*pairs));
    char *save = NULL;
    int set = 0;

    if (pairs == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (char *word = strtok_r(text, ";", &save); word != NULL;
         word = strtok_r(NULL, ";", &save), set++) {
        int bytes, count = read_set(word, &bytes, pairs, size);
        double alone = rate_together(pairs, 1, bytes, seconds);
        double all = rate_together(pairs, count, bytes, seconds);

        if (rank == 0)
            printf("together %d %d %.9g\n", set, count, all / fmax(alone, 1));
    }
    free(pairs);
}

/* All processes send their hosts; process 0 prints them, and all processes learn whether there are
 * several. */
static int introduce(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING], name[MPI_MAX_PROCESSOR_NAME] = {0};
    char *names = calloc((size_t)size, sizeof(name));
    int length, is_many = 0, cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    int *all = calloc((size_t)size, sizeof(*all));

    if (names == NULL || all == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Get_processor_name(name, &length);
    MPI_Allgather(name, sizeof(name), MPI_CHAR, names, sizeof(name), MPI_CHAR, MPI_COMM_WORLD);
    MPI_Get_library_version(text, &length);
    text[strcspn(text, ",\n")] = '\0';
    for (char *c = text; *c != '\0'; c++)
        if (*c == '\t')
            *c = ' ';
    if (rank == 0)
        printf("library %s\n", text);
    MPI_Gather(&cores, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        const char *other = names + (size_t)i * sizeof(name);

        if (rank == 0)
            printf("host %d %s %d\n", i, other, all[i]);
        is_many |= strcmp(other, names) != 0;
    }
    free(all);
    free(names);
    return is_many;
}

/* Before MPICH 4.2, MPI_Finalize over UCX may never end: it closes connections, which the other
 * side must answer, but may not any more, because it has closed its own and waits in a barrier that
 * does not look at the network. Where messages take long to arrive, it does not end as a rule. What
 * is needed has been printed, so the process ends without it. */
static void leave(int is_many)
{
    if (rank == 0)
        puts("end");
    fflush(stdout);
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40200000
    if (is_many) {
        MPI_Barrier(MPI_COMM_WORLD);
        _exit(0);
    }
#endif
    (void)is_many;
    MPI_Finalize();
}

int main(int argc, char **argv)
{
    int is_many;

    /* The parent may be gone: a launcher's daemon that dies takes us along, and when that
     * was not noticed, time does. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (argc > 1)
        alarm((unsigned)number(argv[--argc]));
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    is_many = introduce();
    if (argc > 2 && strcmp(argv[1], "latency") == 0)
        measure_latencies(number(argv[2]));
    else if (argc > 6) /* pair, among, alone */
        measure_pair(number(argv[2]), number(argv[3]), argv[4], strtod(argv[5], NULL),
                     number(argv[6]), argv[1][1]);
    else if (argc > 2 && strcmp(argv[1], "crowd") == 0 && number(argv[2]) > 0)
        measure_crowd(number(argv[2]));
    else if (argc > 3 && strcmp(argv[1], "together") == 0)
        measure_together(argv[2], strtod(argv[3], NULL));
    leave(is_many);
    return 0;
}
