/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams of threads of OpenMP, by the functions that gcc's compiled programs call. The runtime is
 * loaded where it is installed, and runs in a process of its own: its threads end with it.
 */
#include "measure/calibrate.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/calibrate_internal.h"
#include "measure/timing.h"

enum { TIMES = 40, ROUNDS = 50, CHUNKS = 400, WORK = 100, SECONDS_MAX = 60 };

typedef struct {
    void (*parallel)(void (*run)(void *), void *data, unsigned threads, unsigned flags);
    void (*barrier)(void);
    bool (*start)(long first, long end, long step, long chunk, long *first_p, long *end_p);
    bool (*next)(long *first_p, long *end_p);
    void (*end)(void);
} runtime_t;

static runtime_t runtime;

/* Loads the runtime. False: it, or one of its functions, is not there. */
static bool load(void)
{
    void *library = dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL);

    if (library == NULL)
        return false;
    *(void **)&runtime.parallel = dlsym(library, "GOMP_parallel");
    *(void **)&runtime.barrier = dlsym(library, "GOMP_barrier");
    *(void **)&runtime.start = dlsym(library, "GOMP_loop_dynamic_start");
    *(void **)&runtime.next = dlsym(library, "GOMP_loop_dynamic_next");
    *(void **)&runtime.end = dlsym(library, "GOMP_loop_end");
    return runtime.parallel != NULL && runtime.barrier != NULL && runtime.start != NULL &&
           runtime.next != NULL && runtime.end != NULL;
}

static void nothing(void *data)
{
    (void)data;
}

static void meet(void *data)
{
    (void)data;
    for (int i = 0; i < ROUNDS; i++)
        runtime.barrier();
}

/* The work of a pass, some tenths of a microsecond: without it a thread would take several chunks
 * before another one sees that the counter has changed. */
static void work(void)
{
    volatile double kept = 1;
    double x = kept;

    for (int i = 0; i < WORK; i++)
        x = x * 0.999 + 0.001;
    kept = x;
}

/* Each thread does as many passes. */
static void work_alone(void *data)
{
    (void)data;
    for (int i = 0; i < CHUNKS; i++)
        work();
}

/* The same, one pass for each chunk of a dynamic loop. */
static void step(void *data)
{
    long first, end, *threads = data;

    if (runtime.start(0, CHUNKS * *threads, 1, 1, &first, &end))
        do
            work();
        while (runtime.next(&first, &end));
    runtime.end();
}

/* The measured parts, how often each is done in one run, and what a run does beside it. */
static const struct {
    const char *name;
    void (*run)(void *data);
    int rounds, inside;
    void (*beside)(void *data);
} parts[] = {
    {XY_COSTS_TEAM, nothing, ROUNDS, 1, NULL},
    {XY_COSTS_MEETING, meet, 1, ROUNDS, nothing},
    {XY_COSTS_CHUNK, step, 1, CHUNKS, work_alone},
};
enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

typedef struct {
    double seconds[PARTS][TIMES];
} times_t;

/* Times of a team that runs a function so often; the first runs do not count. */
static void time_runs(void (*run)(void *data), long threads, int rounds, double seconds[TIMES])
{
    for (int i = -3; i < TIMES; i++) {
        double begin = measure_now();

        for (int round = 0; round < rounds; round++)
            runtime.parallel(run, &threads, (unsigned)threads, 0);
        if (i >= 0)
            seconds[i] = (measure_now() - begin) / rounds;
    }
}

/* Times of the parts of one team. */
static void measure(long threads, times_t *t)
{
    for (int part = 0; part < PARTS; part++) {
        double beside[TIMES] = {0}, least = 0, spread;

        if (parts[part].beside != NULL) {
            time_runs(parts[part].beside, threads, 5, beside);
            least = measure_median(beside, TIMES, &spread);
        }
        time_runs(parts[part].run, threads, parts[part].rounds, t->seconds[part]);
        for (int i = 0; i < TIMES; i++) {
            double took = t->seconds[part][i] - least;

            t->seconds[part][i] = (took > 0 ? took : 0) / parts[part].inside;
        }
    }
}

/* Writes all bytes to a pipe. False: its other end is closed. */
static bool write_all(int fd, const void *data, size_t size)
{
    const char *at = data;

    while (size > 0) {
        ssize_t n = write(fd, at, size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* Reads so many bytes from a pipe. False: there are fewer. */
static bool read_all(int fd, void *data, size_t size)
{
    char *at = data;

    while (size > 0) {
        ssize_t n = read(fd, at, size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* Measures a team in a process of its own. False: it did not end well. */
static bool measure_apart(long threads, times_t *t)
{
    int ends[2], status = 0;
    bool is_read;
    pid_t child;

    if (pipe(ends) != 0)
        return false;
    child = fork();
    if (child == 0) {
        alarm(SECONDS_MAX);
        close(ends[0]);
        measure(threads, t);
        _exit(write_all(ends[1], t, sizeof(*t)) ? 0 : 1);
    }
    close(ends[1]);
    is_read = child > 0 && read_all(ends[0], t, sizeof(*t));
    close(ends[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return is_read && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Stores and reports the medians of one team. */
static xy_status_t keep(const xy_calibration_t *c, long threads, times_t *t, xy_costs_t *costs)
{
    xy_status_t st = XY_OK;

    for (int part = 0; part < PARTS && st == XY_OK; part++) {
        char text[64];

        snprintf(text, sizeof(text), "%s of %ld thread%s", parts[part].name, threads,
                 xy_s((uint64_t)threads));
        st = xy_calibrate_constant(c, parts[part].name, text, threads, -1, t->seconds[part], TIMES,
                                   costs);
    }
    return st;
}

xy_status_t xy_calibrate_teams(const xy_calibration_t *c, long cores, xy_costs_t *costs)
{
    xy_status_t st = XY_OK;
    times_t t;

    if (!load()) {
        xy_warn("libgomp.so.1 was not found: teams of OpenMP are not measured");
        return XY_OK;
    }
    for (long threads = 1; threads <= cores && st == XY_OK;
         threads = threads < cores && 2 * threads > cores ? cores : 2 * threads) {
        double begin = measure_now();

        if (!measure_apart(threads, &t)) {
            xy_warn("a team of %ld thread%s of OpenMP could not be measured", threads,
                    xy_s((uint64_t)threads));
            return XY_OK;
        }
        calibrate_step(c, measure_now() - begin);
        st = keep(c, threads, &t, costs);
    }
    return st;
}
