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

enum { TIMES = 40, ROUNDS = 50, CHUNKS = 400, SECONDS_MAX = 60 };

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

/* A loop whose passes do nothing, one pass for each chunk. */
static void step(void *data)
{
    long first, end, *threads = data;

    if (runtime.start(0, CHUNKS * *threads, 1, 1, &first, &end))
        while (runtime.next(&first, &end))
            ;
    runtime.end();
}

/* The measured parts, and how often each is done in one run. */
static const struct {
    const char *name;
    void (*run)(void *data);
    int rounds, inside;
} parts[] = {
    {XY_COSTS_TEAM, nothing, ROUNDS, 1},
    {XY_COSTS_MEETING, meet, 1, ROUNDS},
    {XY_COSTS_CHUNK, step, 1, CHUNKS},
};
enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

typedef struct {
    double seconds[PARTS][TIMES];
} times_t;

/* Times of one team, without those of the team itself for what happens inside of it. */
static void measure(long threads, times_t *t)
{
    double spread, team = 0;

    for (int part = 0; part < PARTS; part++) {
        for (int i = -3; i < TIMES; i++) {
            double begin = measure_now(), took;

            for (int round = 0; round < parts[part].rounds; round++)
                runtime.parallel(parts[part].run, &threads, (unsigned)threads, 0);
            took = (measure_now() - begin) / parts[part].rounds;
            if (i >= 0)
                t->seconds[part][i] =
                    part == 0 ? took : (took > team ? took - team : 0) / parts[part].inside;
        }
        if (part == 0)
            team = measure_median(t->seconds[0], TIMES, &spread);
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
