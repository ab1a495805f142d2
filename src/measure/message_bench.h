/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between two processes, measured by the probe and fitted (private to the component).
 *
 *   measure_bench_t pair = {.words = &words, .a = 0, .b = 1};      (words start the probe)
 *   st = measure_bench_run(&pair, &message);
 */
#ifndef XY_MEASURE_MESSAGE_BENCH_H
#define XY_MEASURE_MESSAGE_BENCH_H

#include "cost/cost.h"
#include "measure/measure_process.h"

/* The time limit of the probe. */
enum { COST_PROBE_LIMIT = 600, COST_LAUNCHES_MAX = 9 };

typedef struct {
    const xy_vec_t *words; /* of char *: start the processes; the arguments follow */
    unsigned a, b;         /* two of them */
    double largest;        /* bytes; 0: 4 MiB */
    /* Two that share a core, while others are busy on theirs (`words`); and of char *, alone: for
     * large messages, up to those that no cache holds. A core that is there would help to copy
     * them. NULL: no core is shared. */
    const xy_vec_t *alone;
    const xy_vec_t *sizes; /* of uint64_t: these instead; NULL or empty: chosen here */
    /* Sizes, as uint64_t, that are measured twice, but not shown to the model. NULL or empty: a
     * few, unless `sizes` are given. */
    const xy_vec_t *held_out;
    xy_vec_t *held; /* of xy_message_sample_t: two of each that was held out, appended */
    double seconds; /* for one size; 0: 0.1 */
    int launches;   /* 0: three; up to COST_LAUNCHES_MAX */
    double budget;  /* seconds: no launch is begun that would not end within them, but the first; 0:
                       any */
    /* Called with how much of it is done, 0 to 1; may be NULL. */
    void (*step)(void *arg, double part);
    void *arg;
} measure_bench_t;

/* Powers of two and what lies in the middle, in three launches; after the first and the second,
 * sizes are added between two where the time jumps, until the jump is between two that are 5 %
 * apart: protocols change there. Sizes that contradict their neighbours are measured again. On
 * success the caller owns what *message_p points to, with no clusters. EIO: the command failed.
 * EINVAL: it gave no times, or they are too noisy. Both are reported. */
xy_status_t measure_bench_run(const measure_bench_t *pair, xy_message_cost_t *message_p);

/* Run the probe with these arguments (ended by NULL) after `words`, reading its lines. It ends
 * itself soon after `seconds`. */
xy_status_t measure_probe_run(const xy_vec_t *words, const char *const *arguments, double seconds,
                              measure_line_fn line, void *arg);

/* One line about it. */
void measure_bench_report(const xy_message_cost_t *m, FILE *report);

#endif
