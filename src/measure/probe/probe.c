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
 *           message I J BYTES BLOCKING NONBLOCKING SEND RECEIVE GAP EXCHANGE HOLD
 *       (HOLD of those between hosts whose sends wait; of more than 4 MiB BLOCKING alone, in one
 *       pass; the others are 0)
 *       and the largest message whose send ends before its receive begins, if there is one:
 *           eager BYTES
 *       and, where the two are alone, how long they take for a barrier, one of them for a copy of
 *       4 KiB and for adding as much to as much, both for an allreduce of 4 KiB, a broadcast and an
 * allreduce of 64 bytes; then the sender of a stream of 64 bytes for a message (0: sends wait);
 * then both for a reduce to the first of them, a scatter from it and a gather to it, of 64 bytes
 * for each, and for a message to the first and a broadcast of as many from it: meet SECONDS SECONDS
 * ... and what all timings took in units of as many medians, and what code takes while both
 *       compute, in units of its processor time on one core alone (0: not measured):
 *           pace TIMES TIMES
 *
 *   probe among 0 1 SIZES SECONDS PASSES LIFE
 *       the same while all others send messages to each other, 2 and 3, 4 and 5, ...: cores that
 *       share something with others are not alone in a job
 *   probe alone I J SIZES SECONDS PASSES LIFE
 *       messages only, neither their limit nor what the two take together
 *
 *   probe crowd EACH LIFE
 *       where EACH processes share a core: seconds of an alltoall of 64 bytes of all:
 *           crowd SECONDS
 *
 *   probe together SETS SECONDS LIFE
 *       streams of messages of so many bytes between all pairs of a set at once, so long
 *       (4096@0:2,1:3;65536@0:4,1:5: two sets of two pairs): how much they carry together, in units
 *       of what the first pair carries alone, and in bytes per second:
 *           together SET PAIRS TIMES RATE
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "meetings.h"

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

/* Measures the latency of every pair of ranks, in rounds of disjoint pairs; rank 0 prints them. */
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

static int is_many; /* hosts */

/* The results of the first of a pair, for process 0, which prints. */
typedef struct {
    double results[SIZES_MAX][FIGURES];
    int eager;
    double meet[MEETINGS];
    double pace, compute;
} report_t;

/* Measures messages of the sizes in `text` between ranks `a` and `b`; rank 0 prints the results. */
static void measure_pair(int a, int b, char *text, double seconds, int passes, char mode)
{
    static size_data_t data[SIZES_MAX];
    static pool_t pools[KINDS * SIZES_MAX];
    static report_t report;
    int count = read_sizes(text, data, pools), is_playing = rank == a || rank == b;
    int is_among = mode == 'm', is_alone = mode == 'l', has_meet;
    double largest = LONG;

    passes = passes < 1 ? 1 : passes > PASSES_MAX ? PASSES_MAX : passes;
    for (int i = 0; i < count; i++)
        largest = fmax(largest, data[i].bytes);
    has_meet = (size == 2 || is_among) && !is_alone;
    MPI_Comm_split(MPI_COMM_WORLD, is_playing, rank != a, &duo);
    rest();
    if (is_playing) {
        game_t g = {.other = rank == a ? b : a, .is_first = rank == a, .is_far = is_many};

        g.out = calloc(1, (size_t)largest);
        g.in = calloc(1, (size_t)largest);
        if (g.out == NULL || g.in == NULL)
            MPI_Abort(MPI_COMM_WORLD, 1);
        memset(g.out, 1, (size_t)largest); /* pages of its own */
        g.eager = report.eager = is_alone ? 0 : find_eager(&g, (int)largest);
        passes = measure_sizes(g, data, count, seconds, passes);
        if (has_meet) {
            measure_meetings(&g, seconds, report.meet);
            report.compute = is_among ? 0 : measure_compute(&g, fmax(seconds, 0.02));
        }
        free(g.out);
        free(g.in);
        if (is_among && rank == a)
            tell_others();
    } else if (is_among) {
        keep_busy();
    }
    rest();
    if (rank == a) {
        report.pace = mean_pace(pools, KINDS * count);
        conclude(data, pools, count, passes, report.results);
    }
    if (rank == a && a != 0)
        MPI_Send(&report, sizeof(report), MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
    if (rank == 0 && a != 0)
        MPI_Recv(&report, sizeof(report), MPI_CHAR, a, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 0)
        return;
    for (int i = 0; i < count; i++)
        printf("message %d %d %.0f %.9g %.9g %.9g %.9g %.9g %.9g %.9g\n", a, b, data[i].bytes,
               report.results[i][BLOCKING], report.results[i][NONBLOCKING], report.results[i][SEND],
               report.results[i][RECEIVE], report.results[i][GAP], report.results[i][EXCHANGE],
               report.results[i][HOLD]);
    if (report.eager > 0)
        printf("eager %d\n", report.eager);
    for (int i = 0; has_meet && i < MEETINGS; i++)
        printf("%s%.9g%s", i == 0 ? "meet " : " ", report.meet[i], i + 1 < MEETINGS ? "" : "\n");
    if (has_meet && !is_many)
        printf("pace %.9g %.9g\n", report.pace, report.compute);
}

/* ---- Many on one core ---- */

static void all_alltoall(const game_t *g)
{
    MPI_Alltoall(g->out, SMALL, MPI_CHAR, g->in, SMALL, MPI_CHAR, MPI_COMM_WORLD);
}

/* Seconds of one, the median of runs. */
static double time_all(const game_t *g, void (*trip)(const game_t *), int batch)
{
    enum { RUNS = 48 };
    double times[RUNS];

    for (int run = 0; run < RUNS; run++) {
        double begin;

        MPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
        for (int i = 0; i < batch; i++)
            trip(g);
        MPI_Barrier(MPI_COMM_WORLD);
        times[run] = (MPI_Wtime() - begin) / batch;
    }
    return median(times, RUNS);
}

/* Measures an alltoall of all ranks; rank 0 prints it. */
static void measure_crowd(void)
{
    enum { ALLTOALLS = 25, LINE = 64, LINES = 256 };
    size_t room = (size_t)size * SMALL;
    /* Not all at the same place of a page, where they would share few places of the first cache. */
    size_t shift = (size_t)(37 * rank % LINES) * LINE, shifts = (size_t)2 * LINES * LINE;
    char *memory = calloc(1, 2 * room + shifts);
    game_t g = {0};
    double alltoall;

    if (memory == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memset(memory, 1, 2 * room + shifts); /* pages of its own */
    g.out = memory + shift;
    g.in = g.out + room + (size_t)101 * LINE;
    alltoall = time_all(&g, all_alltoall, ALLTOALLS);
    if (rank == 0)
        printf("crowd %.9g\n", alltoall);
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

/* Messages in windows on both sides, and one byte back when all are there. The receiver asks for
 * all messages of a window at once: where each is asked for, one after the other would leave the
 * line empty in between. `in` has room for a window. */
static double flow(const game_t *g, int windows)
{
    MPI_Request requests[WINDOW];
    double begin = MPI_Wtime();
    char byte = 0;

    for (int w = 0; w < windows; w++) {
        for (int i = 0; i < WINDOW; i++) {
            if (g->is_first)
                MPI_Isend(g->out, g->bytes, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD, &requests[i]);
            else
                MPI_Irecv(g->in + (size_t)i * (size_t)g->bytes, g->bytes, MPI_CHAR, g->other, TAG,
                          MPI_COMM_WORLD, &requests[i]);
        }
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    }
    if (g->is_first)
        MPI_Recv(&byte, 1, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(&byte, 1, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD);
    return MPI_Wtime() - begin;
}

/* So many windows that they last so long, and a round trip takes a tenth of the time at most: while
 * the first byte and the byte back are on their way, the pair leaves the line empty, which says
 * nothing about the line. The first decides for both. */
static int choose_windows(const game_t *g, double seconds, double *trip)
{
    double one;

    meet(g, 1);
    *trip = MPI_Wtime();
    meet(g, 1);
    *trip = MPI_Wtime() - *trip;
    one = fmax(flow(g, 1) - *trip, fmax(*trip / 100, 1e-6));
    return agree(g, (int)fmin(ceil(fmax(10 * *trip, seconds) / one), 1024));
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
    char *buffer = calloc(WINDOW, (size_t)bytes + 1);
    double sent = 0, took = 0, trip = 0, all = 0, longest = 0;
    int windows = 1;
    game_t g;

    if (buffer == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < count; i++) { /* each of them alone */
        MPI_Barrier(MPI_COMM_WORLD);
        if (find_pair(pairs + i, 1, bytes, buffer, &g))
            windows = choose_windows(&g, seconds, &trip);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (find_pair(pairs, count, bytes, buffer, &g)) {
        took = flow(&g, windows);
        took = fmax(took - trip, took / 2);
        sent = g.is_first ? (double)windows * WINDOW * bytes : 0;
        took = g.is_first ? took : 0;
    }
    rest();
    MPI_Reduce(&sent, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    free(buffer);
    return all / fmax(longest, 1e-9);
}

/* Measures the bandwidth of sets of pairs, alone and at once; rank 0 prints the ratios. */
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
            printf("together %d %d %.9g %.9g\n", set, count, all / fmax(alone, 1), all);
    }
    free(pairs);
}

/* All processes send their hosts; process 0 prints them, and all processes learn whether there are
 * several. */
static void introduce(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING], name[MPI_MAX_PROCESSOR_NAME] = {0};
    char *names = calloc((size_t)size, sizeof(name));
    int length, cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
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
}

/* Before MPICH 4.2, MPI_Finalize over UCX may never end: it closes connections, which the other
 * side must answer, but may not any more, because it has closed its own and waits in a barrier that
 * does not look at the network. Where messages take long to arrive, it does not end as a rule. What
 * is needed has been printed, so the process ends without it. */
static void leave(void)
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
    MPI_Finalize();
}

int main(int argc, char **argv)
{
    /* The parent may be gone: a launcher's daemon that dies takes us along, and when that
     * was not noticed, time does. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (argc > 1)
        alarm((unsigned)number(argv[--argc]));
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    introduce();
    if (argc > 2 && strcmp(argv[1], "latency") == 0)
        measure_latencies(number(argv[2]));
    else if (argc > 6) /* pair, among, alone */
        measure_pair(number(argv[2]), number(argv[3]), argv[4], strtod(argv[5], NULL),
                     number(argv[6]), argv[1][1]);
    else if (argc > 2 && strcmp(argv[1], "crowd") == 0 && number(argv[2]) > 0)
        measure_crowd();
    else if (argc > 3 && strcmp(argv[1], "together") == 0)
        measure_together(argv[2], strtod(argv[3], NULL));
    leave();
    return 0;
}
