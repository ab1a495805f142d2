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
 *           message I J BYTES BLOCKING NONBLOCKING SEND RECEIVE GAP
 *
 * First come "library TEXT" and "host I NAME", "step K N" tells how far it is, and after "end"
 * there is nothing more to come. After LIFE seconds it ends itself, whoever else is gone by then.
 *
 * Short messages are timed in batches. All sizes are measured one after the other in each pass, and
 * what is printed is the least over the passes of the lower quartile of each: disturbances add, and
 * last longer than a size takes.
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

enum {
    TAG = 7,
    RUNS_MAX = 400,
    RUNS_MIN = 3,
    PINGS_MIN = 5,
    WINDOW = 16,
    SIZES_MAX = 256,
    FIGURES = 5
};

static int rank, size;

static int by_value(const void *a, const void *b)
{
    const double *p = a, *q = b;

    return (*p > *q) - (*p < *q);
}

static double quartile(double *t, int n)
{
    qsort(t, (size_t)n, sizeof(*t), by_value);
    return t[n / 4];
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

/* ---- Latencies ---- */

/* Round trips of a byte, the first two of which warm up. The byte tells the other one whether there
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
static double send_overhead(const game_t *g, double unused)
{
    MPI_Request request;
    double took = 0;

    (void)unused;
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
static double stream(const game_t *g, double length)
{
    MPI_Request requests[WINDOW];
    double begin = MPI_Wtime();
    int count = (int)length;
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

/* Both go on until the first says that it is over. */
static int goes_on(const game_t *g, int wanted)
{
    char word = (char)wanted;

    if (g->is_first)
        MPI_Send(&word, 1, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD);
    else
        MPI_Recv(&word, 1, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return word;
}

/* Timings of `batch` round trips each, per message: at least so many, and for so many seconds. */
static double time_trips(const game_t *g, void (*trip)(const game_t *), int batch, int least,
                         double seconds)
{
    double times[RUNS_MAX], end = MPI_Wtime() + seconds;
    int n = -1; /* the first one warms up */

    while (goes_on(g, n < least || (n < RUNS_MAX && MPI_Wtime() < end))) {
        double begin = MPI_Wtime();

        for (int k = 0; k < batch; k++)
            trip(g);
        if (n >= 0)
            times[n] = (MPI_Wtime() - begin) / 2 / batch;
        n++;
    }
    return quartile(times, n);
}

typedef double (*once_fn)(const game_t *g, double argument);

static double time_once(const game_t *g, once_fn once, double argument, double seconds)
{
    double times[RUNS_MAX], end = MPI_Wtime() + seconds;
    int n = 0;

    while (goes_on(g, n < RUNS_MIN || (n < RUNS_MAX && MPI_Wtime() < end)))
        times[n++] = once(g, argument);
    return quartile(times, n);
}

/* How many round trips make a timing that the clock can resolve; the first decides for both. */
static int choose_batch(const game_t *g)
{
    double once = time_trips(g, blocking, 1, 1, 0);
    int batch = once < 20e-6 ? (int)(20e-6 / fmax(once, 1e-7)) + 1 : 1;

    if (g->is_first)
        MPI_Send(&batch, 1, MPI_INT, g->other, TAG, MPI_COMM_WORLD);
    else
        MPI_Recv(&batch, 1, MPI_INT, g->other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return batch;
}

/* Everything of one size; both sides of the pair call it, the first one's times count. */
static void measure_size(const game_t *g, double seconds, double result[FIGURES])
{
    int batch = choose_batch(g);
    double one, many;

    result[0] = time_trips(g, blocking, batch, RUNS_MIN, seconds * 0.4);
    result[1] = time_trips(g, nonblocking, batch, RUNS_MIN, seconds * 0.4);
    result[2] = time_once(g, send_overhead, 0, seconds * 0.05);
    result[3] = time_once(g, receive_overhead, result[0], seconds * 0.05);
    one = time_once(g, stream, 1, seconds * 0.05);
    many = time_once(g, stream, WINDOW, seconds * 0.05);
    result[4] = fmax((many - one) / (WINDOW - 1), 0);
}

/* All sizes in each pass, as long as they keep to the time: where latencies are long, one pass is
 * enough. Results keep the least. */
static void measure_sizes(game_t g, const double *sizes, int count, double seconds, int passes,
                          double results[][FIGURES])
{
    double end = MPI_Wtime() + count * seconds * (passes - 1) / passes;

    for (int pass = 0; goes_on(&g, pass == 0 || (pass < passes && MPI_Wtime() < end)); pass++) {
        for (int i = 0; i < count; i++) {
            double result[FIGURES];

            g.bytes = (int)sizes[i];
            measure_size(&g, seconds / passes, result);
            for (int k = 0; k < FIGURES; k++)
                results[i][k] = pass == 0 ? result[k] : fmin(results[i][k], result[k]);
            if (rank == 0)
                say_step(pass * count + i + 1, passes * count);
        }
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

/* Our own launcher writes the arguments. */
static int number(const char *text)
{
    return (int)strtol(text, NULL, 10);
}

static int read_sizes(char *text, double *sizes)
{
    int n = 0;

    for (char *word = strtok(text, ","); word != NULL && n < SIZES_MAX; word = strtok(NULL, ","))
        sizes[n++] = strtod(word, NULL);
    return n;
}

/* The processes of a pair measure; the first of them tells process 0, which prints. */
static void measure_pair(int a, int b, char *text, double seconds, int passes)
{
    static double sizes[SIZES_MAX], results[SIZES_MAX][FIGURES];
    int count = read_sizes(text, sizes), is_playing = rank == a || rank == b;
    double largest = 1;

    for (int i = 0; i < count; i++)
        largest = fmax(largest, sizes[i]);
    rest();
    if (is_playing) {
        game_t g = {.other = rank == a ? b : a, .is_first = rank == a};

        g.buffer = calloc(1, (size_t)largest);
        if (g.buffer == NULL)
            MPI_Abort(MPI_COMM_WORLD, 1);
        measure_sizes(g, sizes, count, seconds, passes, results);
        free(g.buffer);
    }
    rest();
    if (rank == a && a != 0)
        MPI_Send(results, SIZES_MAX * FIGURES, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD);
    if (rank == 0 && a != 0)
        MPI_Recv(results, SIZES_MAX * FIGURES, MPI_DOUBLE, a, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; rank == 0 && i < count; i++)
        printf("message %d %d %.0f %.9g %.9g %.9g %.9g %.9g\n", a, b, sizes[i], results[i][0],
               results[i][1], results[i][2], results[i][3], results[i][4]);
}

/* All processes tell their hosts; process 0 prints them, and everybody learns whether there are
 * several. */
static int introduce(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING], name[MPI_MAX_PROCESSOR_NAME] = {0};
    char *names = calloc((size_t)size, sizeof(name));
    int length, is_many = 0;

    if (names == NULL)
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
    for (int i = 0; i < size; i++) {
        const char *other = names + (size_t)i * sizeof(name);

        if (rank == 0)
            printf("host %d %s\n", i, other);
        is_many |= strcmp(other, names) != 0;
    }
    free(names);
    return is_many;
}

/* Before MPICH 4.2, MPI_Finalize over UCX may never end: it closes connections, which the other
 * side must answer, but may not any more, because it has closed its own and waits in a barrier that
 * does not look at the network. Where messages take long to arrive, it does not end as a rule. What
 * we came for is said, so we leave without it. */
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

    /* Whoever started us may be gone: a launcher's daemon that dies takes us along, and when that
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
    else if (argc > 6 && strcmp(argv[1], "pair") == 0)
        measure_pair(number(argv[2]), number(argv[3]), argv[4], strtod(argv[5], NULL),
                     number(argv[6]));
    leave(is_many);
    return 0;
}
