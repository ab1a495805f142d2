/* SPDX-License-Identifier: BSD-3-Clause */
#include "cost/measure.h"

#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* A few more runs than three that agree: a neighbour may have been busy all the time. */
enum { RUNS_MAX = 2000, RUNS_MIN = 3, RUNS_ENOUGH = 8, RUNS_FOR_RANKS = 8 };

double cost_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double cost_waited(void)
{
    char text[64];
    unsigned long long ran, waited;
    ssize_t n;
    int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return 0;
    n = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    /* NOLINTNEXTLINE(cert-err34-c) */
    return sscanf(text, "%llu %llu", &ran, &waited) == 2 ? (double)waited * 1e-9 : 0;
}

void cost_warm_up(double seconds)
{
    double end = cost_now() + seconds;

    while (cost_now() < end)
        for (volatile int i = 0; i < 10000; i++)
            continue;
}

static int by_value(const void *a, const void *b)
{
    const double *p = a, *q = b;

    return (*p > *q) - (*p < *q);
}

double cost_median(double *values, long n, double *spread_p)
{
    double middle, low, high;

    qsort(values, (size_t)n, sizeof(*values), by_value);
    middle = (values[(n - 1) / 2] + values[n / 2]) / 2;
    if (n >= RUNS_FOR_RANKS) {
        /* The ranks that hold the median with 95 %: n/2 -+ 1.96 sqrt(n)/2. */
        long half = (long)ceil(0.98 * sqrt((double)n));
        long first = n / 2 - half, last = n / 2 + half;

        low = values[first > 0 ? first : 0];
        high = values[last < n ? last : n - 1];
    } else {
        low = values[0];
        high = values[n - 1];
    }
    *spread_p = middle > 0 ? (high - low) / (2 * middle) : 0;
    return middle;
}

cost_measure_t cost_best(double *values, long n)
{
    cost_measure_t m = {.repetitions = n};

    m.typical = cost_median(values, n, &m.spread);
    m.seconds = m.paced = values[n > 1];
    m.spread = m.seconds > 0 ? (values[n > 2 ? 2 : n - 1] - values[0]) / m.seconds : 0;
    return m;
}

/* One timing of `batch` runs, per run; *code_p: what the last of them returned. */
static double time_runs(cost_run_fn run, void *arg, long batch, bool is_threaded, int *code_p)
{
    double waited = is_threaded ? 0 : cost_waited(), begin = cost_now(), took;

    for (long i = 0; i < batch; i++)
        if ((*code_p = run(arg)) != 0)
            return 0;
    took = cost_now() - begin;
    if (!is_threaded)
        took = fmax(took - (cost_waited() - waited), 0.2 * took);
    return took / (double)batch;
}

/* How many runs make a timing that the clock can resolve. */
static long choose_batch(double once, bool has_before)
{
    const double enough = 20e-6;

    if (has_before || once >= enough)
        return 1;
    return once > enough / 10000 ? (long)(enough / once) + 1 : 10000;
}

/* ---- A series of runs ---- */

typedef struct {
    const cost_measure_limits_t *limits;
    double begin;
    cost_pace_t before;                        /* the pace in front of the next run */
    double all[RUNS_MAX];                      /* every run */
    double seconds[RUNS_MAX], paced[RUNS_MAX]; /* those that nobody disturbed */
    long count, alone;
} series_t;

/* Wait, not for long, until the core is alone. */
static void await_quiet(series_t *s)
{
    const cost_pace_t *reference = s->limits->reference;
    double end = cost_now() + 0.02;

    if (reference == NULL)
        return;
    do
        s->before = cost_pace_now();
    while (!cost_pace_is_alone(&s->before, reference) && cost_now() < end);
}

static void add_run(series_t *s, double seconds)
{
    const cost_pace_t *reference = s->limits->reference;
    cost_pace_t after, middle;

    s->all[s->count++] = seconds;
    if (reference == NULL)
        return;
    after = cost_pace_now();
    middle = (cost_pace_t){.latency = (s->before.latency + after.latency) / 2};
    if (cost_pace_is_alone(&s->before, reference) && cost_pace_is_alone(&after, reference)) {
        s->seconds[s->alone] = seconds;
        s->paced[s->alone++] = seconds * cost_pace_scale(&middle, reference);
    }
}

/* The quartile, and how far it is from the tenth; sorts. */
static double quartile(double *values, long n, double *spread_p)
{
    qsort(values, (size_t)n, sizeof(*values), by_value);
    *spread_p = (values[n / 2] - values[n / 10]) / values[n / 4];
    return values[n / 4];
}

static cost_measure_t sum_up(series_t *s)
{
    cost_measure_t m = cost_best(s->all, s->count);
    double ignored;

    if (s->alone < RUNS_MIN)
        return m;
    m.alone = s->alone;
    m.seconds = quartile(s->seconds, s->alone, &ignored);
    m.paced = quartile(s->paced, s->alone, &m.spread);
    return m;
}

static bool is_enough(series_t *s)
{
    double spread, elapsed = cost_now() - s->begin;

    if (s->count < RUNS_MIN)
        return false;
    if (elapsed > s->limits->seconds_max || s->count == RUNS_MAX)
        return true;
    if (s->count % RUNS_ENOUGH != 0) /* sorting them takes a while, too */
        return false;
    if (s->limits->reference == NULL)
        return cost_best(s->all, s->count).spread <= s->limits->tight;
    if (s->alone < RUNS_ENOUGH)
        return false;
    quartile(s->paced, s->alone, &spread);
    return spread <= s->limits->tight;
}

int cost_measure(cost_run_fn run, cost_run_fn before, void *arg,
                 const cost_measure_limits_t *limits, cost_measure_t *measure_p)
{
    static _Thread_local series_t s;
    int code = before != NULL ? before(arg) : 0;
    double once = 0;
    long batch;

    s.limits = limits;
    s.begin = cost_now();
    s.count = s.alone = 0;
    /* The first run meets cold caches and pages; the second tells how long one takes. */
    for (int i = 0; i < 2 && code == 0; i++) {
        once = time_runs(run, arg, 1, limits->is_threaded, &code);
        if (code == 0 && before != NULL)
            code = before(arg);
    }
    batch = choose_batch(once, before != NULL);
    while (code == 0 && !is_enough(&s)) {
        double seconds;

        await_quiet(&s);
        seconds = time_runs(run, arg, batch, limits->is_threaded, &code);
        if (code == 0)
            add_run(&s, seconds);
        if (code == 0 && before != NULL)
            code = before(arg);
    }
    if (code != 0)
        return code;
    *measure_p = sum_up(&s);
    return 0;
}
