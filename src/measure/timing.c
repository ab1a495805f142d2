/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/timing.h"

#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "measure/interference.h"

enum { RUNS_MAX = 2000, RUNS_MIN = 3, RUNS_ENOUGH = 8, RUNS_FOR_RANKS = 8, COUNTED_MIN = 5 };

/* A run that lost no more of the core than this was not disturbed. */
static const double undisturbed = 0.01;
/* A run that takes so long does not notice how warm the caches were. */
static const double warm_enough = 10e-3;

double measure_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Seconds that this thread has waited for a processor; 0 where the kernel does not tell. */
static double time_waited(void)
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

void measure_warm_up(double seconds)
{
    double end = measure_now() + seconds;

    while (measure_now() < end)
        for (volatile int i = 0; i < 10000; i++)
            continue;
}

static int by_value(const void *a, const void *b)
{
    const double *p = a, *q = b;

    return (*p > *q) - (*p < *q);
}

double measure_median(double *values, long n, double *spread_p)
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

measure_time_t measure_best(double *values, long n)
{
    measure_time_t m = {.repetitions = n};

    m.typical = measure_median(values, n, &m.spread);
    m.seconds = m.paced = values[n > 1];
    m.spread = m.seconds > 0 ? (values[n > 2 ? 2 : n - 1] - values[0]) / m.seconds : 0;
    return m;
}

/* ---- The pool ---- */

static double rank_of(const measure_pool_t *pool, const measure_run_t *run)
{
    return pool->is_paced ? run->disturbed : run->seconds;
}

void measure_pool_add(measure_pool_t *pool, measure_run_t run)
{
    long at = pool->repetitions++ % COST_POOL_MAX;

    if (pool->count < COST_POOL_MAX) {
        pool->run[pool->count++] = run;
        return;
    }
    /* The worst is replaced; among equals another one each time, so that all visits count. */
    for (long i = 0, k = at; i < COST_POOL_MAX; i++, k = (k + 1) % COST_POOL_MAX)
        if (rank_of(pool, &pool->run[k]) > rank_of(pool, &pool->run[at]))
            at = k;
    if (rank_of(pool, &run) <= rank_of(pool, &pool->run[at]))
        pool->run[at] = run;
}

static int by_disturbance(const void *a, const void *b)
{
    const measure_run_t *p = a, *q = b;

    return (p->disturbed > q->disturbed) - (p->disturbed < q->disturbed);
}

/* Sorts; the number of runs that count, which come first: the undisturbed ones if they are
 * some, else the half that was disturbed least. */
static long choose_counted(measure_run_t *run, long n)
{
    long half = n / 2 > COUNTED_MIN ? n / 2 : COUNTED_MIN, quiet = 0;

    qsort(run, (size_t)n, sizeof(*run), by_disturbance);
    while (quiet < n && run[quiet].disturbed <= undisturbed)
        quiet++;
    if (quiet >= COUNTED_MIN)
        return quiet;
    return half < n ? half : n;
}

/* Returns the median of the undisturbed runs of a pool, with spread and error. */
static measure_time_t sum_paced(const measure_pool_t *pool)
{
    measure_run_t run[COST_POOL_MAX];
    double seconds[COST_POOL_MAX], paced[COST_POOL_MAX], ignored, range;
    measure_time_t m = {.repetitions = pool->repetitions, .typical = pool->typical};

    memcpy(run, pool->run, (size_t)pool->count * sizeof(*run));
    m.counted = choose_counted(run, pool->count);
    for (long i = 0; i < m.counted; i++) {
        seconds[i] = run[i].seconds;
        paced[i] = run[i].paced;
    }
    m.disturbed = run[m.counted - 1].disturbed;
    m.seconds = measure_median(seconds, m.counted, &ignored);
    m.paced = measure_median(paced, m.counted, &ignored);
    range = (paced[3 * (m.counted - 1) / 4] - paced[(m.counted - 1) / 4]) / m.paced;
    m.spread = range / 2;
    /* For errors like Gauss's: 1.96 * 1.25 sigma / sqrt(n), and the quartiles are 1.35 sigma
     * apart. Of few runs the quartiles say little. */
    m.error = m.counted >= COUNTED_MIN ? 1.8 * range / sqrt((double)m.counted) : 1;
    return m;
}

measure_time_t measure_pool_sum(const measure_pool_t *pool)
{
    double seconds[COST_POOL_MAX];
    measure_time_t m;

    if (pool->count == 0)
        return (measure_time_t){0};
    if (pool->is_paced)
        return sum_paced(pool);
    for (long i = 0; i < pool->count; i++)
        seconds[i] = pool->run[i].seconds;
    m = measure_best(seconds, pool->count);
    m.repetitions = pool->repetitions;
    m.typical = pool->typical;
    return m;
}

/* ---- A series of runs ---- */

typedef struct {
    measure_run_fn run, before;
    void *arg;
    const measure_limits_t *limits;
    measure_pool_t *pool;
    double begin, all[RUNS_MAX]; /* every run by the wall clock */
    long count, batch;
    int code; /* last return value of the run */
} series_t;

/* Wait, not for long, until the core is alone. */
static void await_quiet(const measure_speed_t *reference)
{
    double end = measure_now() + 0.02;
    measure_speed_t now;

    do
        now = measure_speed_now();
    while (!measure_speed_is_alone(&now, reference) && measure_now() < end);
}

/* One timing of `batch` runs, per run, less what the thread waited and what watching took. */
static double time_runs(series_t *s, long batch)
{
    bool is_threaded = s->limits->is_threaded;
    double waited = is_threaded ? 0 : time_waited(), begin = measure_now(), took;

    for (long i = 0; i < batch; i++)
        if ((s->code = s->run(s->arg)) != 0)
            return 0;
    took = measure_now() - begin;
    if (s->limits->reference != NULL)
        took = fmax(took - measure_interference_spent(), 0.5 * took);
    if (!is_threaded)
        took = fmax(took - (time_waited() - waited), 0.2 * took);
    return took / (double)batch;
}

/* Times one batch of runs, with the interference of other programs. */
static measure_run_t run_once(series_t *s, long batch)
{
    const measure_speed_t *reference = s->limits->reference;
    measure_run_t r = {0};
    measure_interference_t w;

    if (s->before != NULL && (s->code = s->before(s->arg)) != 0)
        return r;
    if (reference == NULL) {
        r.seconds = r.paced = time_runs(s, batch);
        return r;
    }
    await_quiet(reference);
    measure_interference_start(reference, s->limits->may_interrupt);
    r.seconds = time_runs(s, batch);
    w = measure_interference_stop();
    r.paced = r.seconds * w.speed;
    r.disturbed = w.disturbed;
    s->pool->looks += w.looks;
    s->pool->below += w.below;
    if (w.below > 0)
        s->pool->below_ratio = w.below_ratio;
    return r;
}

static void add_run(series_t *s, measure_run_t r)
{
    s->all[s->count++] = r.seconds;
    measure_pool_add(s->pool, r);
}

/* How many runs make a timing that the clock can resolve. */
static long choose_batch(double once, bool has_before)
{
    const double enough = 20e-6;

    if (has_before || once >= enough)
        return 1;
    return once > enough / 10000 ? (long)(enough / once) + 1 : 10000;
}

/* Returns whether the runs so far determine the time, or the limits are reached. */
static bool is_enough(const series_t *s)
{
    long least = s->limits->runs_min > 0 ? s->limits->runs_min : RUNS_MIN;
    measure_time_t m;

    if (s->count < least)
        return false;
    if (measure_now() - s->begin > s->limits->seconds_max || s->count == RUNS_MAX)
        return true;
    if (s->count % RUNS_ENOUGH != 0) /* sorting them takes a while, too */
        return false;
    m = measure_pool_sum(s->pool);
    return s->pool->is_paced ? m.error <= s->limits->tight && m.disturbed <= undisturbed
                             : m.spread <= s->limits->tight;
}

/* The first run meets cold caches and pages; the second shows how long one takes. */
static void start(series_t *s)
{
    measure_run_t first = run_once(s, 1);

    if (s->code != 0)
        return;
    s->batch = 1;
    if (first.seconds >= warm_enough) {
        add_run(s, first);
        return;
    }
    first = run_once(s, 1);
    s->batch = choose_batch(first.seconds, s->before != NULL);
}

int measure_repeat(measure_run_fn run, measure_run_fn before, void *arg,
                   const measure_limits_t *limits, measure_pool_t *pool)
{
    static _Thread_local series_t s;
    double spread;

    s.run = run;
    s.before = before;
    s.arg = arg;
    s.limits = limits;
    s.pool = pool;
    s.begin = measure_now();
    s.count = s.code = 0;
    pool->is_paced = limits->reference != NULL;
    start(&s);
    while (s.code == 0 && !is_enough(&s)) {
        measure_run_t r = run_once(&s, s.batch);

        if (s.code == 0)
            add_run(&s, r);
    }
    if (s.code != 0)
        return s.code;
    pool->typical = measure_median(s.all, s.count, &spread);
    return 0;
}
