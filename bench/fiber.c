/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of fibers: switches, yields, wakes between workers, creation, memory. */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "fiber/fiber.h"
#include "fiber/switch.h"

/* The bare switch ----------------------------------------------------------------------------- */

static void *bare_context[2];

/* One loop for both sides: they return to the same place, as fibers of one program do. */
static __attribute__((noinline)) void bare_loop(int self, long n)
{
    for (long i = 0; i < n; i++)
        fiber_switch(&bare_context[self], bare_context[self ^ 1]);
}

static void bare_entry(void)
{
    bare_loop(1, LONG_MAX);
}

static double round_bare(long n)
{
    static _Alignas(64) char stack[65536];
    double start;

    bare_context[1] = fiber_switch_prepare(stack, stack + sizeof(stack), bare_entry);
    start = bench_now();
    bare_loop(0, n / 2);
    return bench_now() - start;
}

/* Fibers of one worker ------------------------------------------------------------------------ */

static xy_fiber_t *pair[2];
static long turns;
static double begun, ended;

static xy_pool_t *pool_of(int workers, const int *cpus, double spin)
{
    xy_pool_config_t config = {.workers = workers, .cpus = cpus, .spin_seconds = spin};
    xy_pool_t *pool;

    if (xy_pool_create(&config, &pool) != XY_OK)
        exit(1);
    return pool;
}

static xy_fiber_t *spawn(xy_pool_t *pool, int worker, xy_fiber_fn fn, intptr_t arg)
{
    xy_fiber_t *fiber;

    if (xy_fiber_create(xy_pool_worker(pool, worker), fn, (void *)arg, &fiber) != XY_OK)
        exit(1);
    return fiber;
}

/* Runs the pool; the seconds between the first and the last turn. */
static double run(xy_pool_t *pool)
{
    begun = 0;
    if (xy_pool_run(pool) != XY_OK)
        exit(1);
    xy_pool_destroy(pool);
    return ended - begun;
}

static void ping_ready(void *arg)
{
    xy_fiber_t *other = pair[(intptr_t)arg ^ 1];

    begun = begun == 0 ? bench_now() : begun;
    for (long i = 0; i < turns; i++) {
        xy_fiber_ready(other);
        xy_fiber_park();
    }
    ended = bench_now();
    xy_fiber_ready(other);
}

static double round_ready_park(long n)
{
    xy_pool_t *pool = pool_of(1, NULL, 0);

    turns = n / 2;
    for (intptr_t i = 0; i < 2; i++)
        pair[i] = spawn(pool, 0, ping_ready, i);
    return run(pool);
}

static void yield_turns(void *arg)
{
    (void)arg;
    xy_fiber_yield(); /* all stacks exist when the clock starts */
    begun = begun == 0 ? bench_now() : begun;
    for (long i = 0; i < turns; i++)
        xy_fiber_yield();
    ended = bench_now();
}

static double yields(long n, int fibers)
{
    xy_pool_t *pool = pool_of(1, NULL, 0);

    turns = n / fibers;
    for (int i = 0; i < fibers; i++)
        xy_fiber_release(spawn(pool, 0, yield_turns, 0));
    return run(pool);
}

static double round_yield_2(long n)
{
    return yields(n, 2);
}

static double round_yield_1000(long n)
{
    return yields(n, 1000);
}

static double round_yield_10000(long n)
{
    return yields(n, 10000);
}

/* Wakes between two workers ------------------------------------------------------------------- */

static int cpus[2] = {0, 1};

static void ping_wake(void *arg)
{
    intptr_t me = (intptr_t)arg;

    if (me == 0) {
        begun = bench_now();
        xy_fiber_wake(pair[1]);
    }
    for (long i = 1; i < turns; i++) {
        xy_fiber_park();
        xy_fiber_wake(pair[me ^ 1]);
    }
    xy_fiber_park();
    if (me == 1)
        xy_fiber_wake(pair[0]);
    else
        ended = bench_now();
}

static double wakes(long n, double spin)
{
    xy_pool_t *pool = pool_of(2, sysconf(_SC_NPROCESSORS_ONLN) > 1 ? cpus : NULL, spin);

    turns = n / 2;
    for (intptr_t i = 0; i < 2; i++)
        pair[i] = spawn(pool, (int)i, ping_wake, i);
    return run(pool);
}

static double round_wake_spinning(long n)
{
    return wakes(n, 1.0);
}

static double round_wake_sleeping(long n)
{
    return wakes(n, 0.0);
}

/* Creation and memory ------------------------------------------------------------------------- */

static void do_nothing(void *arg)
{
    (void)arg;
}

static double round_create(long n)
{
    xy_pool_t *pool = pool_of(1, NULL, 0);
    double start = bench_now(), seconds;

    for (long i = 0; i < n; i++)
        xy_fiber_release(spawn(pool, 0, do_nothing, 0));
    seconds = bench_now() - start;
    run(pool);
    return seconds;
}

static double round_life(long n)
{
    xy_pool_t *pool = pool_of(1, NULL, 0);
    double start = bench_now();

    for (long i = 0; i < n; i++)
        xy_fiber_release(spawn(pool, 0, do_nothing, 0));
    run(pool);
    return bench_now() - start;
}

static void respawn(void *arg)
{
    begun = begun == 0 ? bench_now() : begun;
    if ((intptr_t)arg > 0)
        xy_fiber_create(xy_worker_self(), respawn, (void *)((intptr_t)arg - 1), NULL);
    else
        ended = bench_now();
}

static double round_reuse(long n)
{
    xy_pool_t *pool = pool_of(1, NULL, 0);

    xy_fiber_release(spawn(pool, 0, respawn, (intptr_t)n));
    return run(pool);
}

/* The value of a line of /proc/self/status, in bytes. */
static double proc_bytes(const char *name)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long kib = 0;

    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            kib = strtol(line + strlen(name), NULL, 10);
    if (file != NULL)
        fclose(file);
    return 1024.0 * (double)kib;
}

static double count_mappings(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    double lines = 0;

    for (int c = 0; file != NULL && (c = getc(file)) != EOF;)
        lines += c == '\n';
    if (file != NULL)
        fclose(file);
    return lines;
}

static double rss[2], tables[2], mappings[2];

static void park_then_measure(void *arg)
{
    if ((intptr_t)arg == 0) {
        xy_fiber_park();
        return;
    }
    rss[1] = proc_bytes("VmRSS:");
    tables[1] = proc_bytes("VmPTE:");
    mappings[1] = count_mappings();
    xy_pool_stop(xy_worker_pool(xy_worker_self()));
}

static void memory(int fibers)
{
    xy_pool_t *pool = pool_of(1, NULL, 0);

    rss[0] = proc_bytes("VmRSS:");
    tables[0] = proc_bytes("VmPTE:");
    mappings[0] = count_mappings();
    for (int i = 0; i <= fibers; i++)
        spawn(pool, 0, park_then_measure, i == fibers);
    run(pool);
    bench_value("memory per parked fiber", (rss[1] - rss[0]) / fibers, "bytes");
    bench_value("  page tables per fiber", (tables[1] - tables[0]) / fibers, "bytes");
    bench_value("  mappings for all of them", mappings[1] - mappings[0], "");
}

int main(int argc, char **argv)
{
    bench_init(argc, argv);
    memory(10000); /* first: freed memory would be used again */
    bench_rate("bare switch", round_bare, 20000000, "ns", 1e9);
    bench_rate("ready + park, 2 fibers", round_ready_park, 10000000, "ns", 1e9);
    bench_rate("yield, 2 fibers", round_yield_2, 10000000, "ns", 1e9);
    bench_rate("yield, 1000 fibers", round_yield_1000, 5000000, "ns", 1e9);
    bench_rate("yield, 10000 fibers", round_yield_10000, 5000000, "ns", 1e9);
    bench_rate("wake, other worker spins", round_wake_spinning, 2000000, "ns", 1e9);
    bench_rate("wake, other worker sleeps", round_wake_sleeping, 50000, "ns", 1e9);
    bench_rate("create", round_create, 10000, "ns", 1e9);
    bench_rate("create, run, end; new stacks", round_life, 10000, "ns", 1e9);
    bench_rate("create, run, end; used stacks", round_reuse, 1000000, "ns", 1e9);
    return 0;
}
