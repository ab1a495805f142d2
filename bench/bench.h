/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by bench programs: the clock, rounds, and the output of results.
 *
 *   static double round_push(long n) { ...; return seconds; }
 *
 *   bench_init(argc, argv);
 *   bench_rate("vec push", round_push, 1000000, "ns/element", 1e9);
 *
 * prints the median of several rounds and their spread: `vec push  1.9 ns/element  (1.8 .. 2.4, 9
 * rounds)`.
 */
#ifndef XY_BENCH_BENCH_H
#define XY_BENCH_BENCH_H

/* Reads --quick; anything else ends the program with the usage. */
void bench_init(int argc, char **argv);

/* Whether a short round was asked for. */
int bench_is_quick(void);

/* Seconds of the monotonic clock. */
double bench_now(void);

/* Does `n` things and returns the seconds they took; negative: it could not. */
typedef double (*bench_round_fn)(long n);

/* Run `round` with `n` (a tenth of it when quick) several times and print the median of seconds
 * per thing times `scale`. Ends the program when a round could not be run. */
void bench_rate(const char *name, bench_round_fn round, long n, const char *unit, double scale);

/* Print one value that was measured otherwise. */
void bench_value(const char *name, double value, const char *unit);

/* Keeps the compiler from removing the work whose result it is. */
void bench_use(const void *result);

#endif
