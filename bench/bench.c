/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 9, QUICK_ROUNDS = 3 };

static int quick;

void bench_init(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") != 0) {
            fprintf(stderr, "usage: %s [--quick]\n", argv[0]);
            exit(2);
        }
        quick = 1;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
}

int bench_is_quick(void)
{
    return quick;
}

double bench_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

void bench_rate(const char *name, bench_round_fn round, long n, const char *unit, double scale)
{
    double times[ROUNDS];
    int rounds = quick ? QUICK_ROUNDS : ROUNDS;

    if (quick && n >= 10)
        n /= 10;
    for (int i = 0; i < rounds; i++) {
        times[i] = round(n);
        if (times[i] < 0.0) {
            fprintf(stderr, "bench: %s could not be run\n", name);
            exit(1);
        }
        times[i] *= scale / (double)n;
    }
    qsort(times, (size_t)rounds, sizeof(times[0]), compare);
    printf("%-36s %12.4g %-12s (%.4g .. %.4g, %d rounds)\n", name, times[rounds / 2], unit,
           times[0], times[rounds - 1], rounds);
}

void bench_value(const char *name, double value, const char *unit)
{
    printf("%-36s %12.4g %s\n", name, value, unit);
}

void bench_use(const void *result)
{
    __asm__ volatile("" : : "r"(result) : "memory");
}
