/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the parts of message_bench.c: the results of the launches of the probe so far.
 *
 *   message_launch.c   starts the probe and reads its lines
 *   message_sizes.c    which sizes, in how many launches, and what several launches say together
 *   message_again.c    sizes that contradict their neighbours are measured again
 *   message_bench.c    the model
 */
#ifndef XY_MEASURE_MESSAGE_BENCH_INTERNAL_H
#define XY_MEASURE_MESSAGE_BENCH_INTERNAL_H

#include "measure/message_bench.h"

enum { BENCH_SIZES_MAX = 200 };
/* Collectives of two, as the probe tells them. */
enum {
    BENCH_BARRIER,
    BENCH_COPY,
    BENCH_REDUCE,
    BENCH_ALLREDUCE,
    BENCH_SMALL_BCAST,
    BENCH_SMALL_ALLREDUCE,
    BENCH_ISSUE,
    BENCH_SMALL_REDUCE,
    BENCH_SMALL_SCATTER,
    BENCH_SMALL_GATHER,
    BENCH_SMALL_BCAST_BACK,
    BENCH_MEETINGS
};

typedef struct {
    const measure_bench_t *pair;
    double done, share; /* of all there is to do: before this run, of this run */
    char library[128];
    xy_vec_t samples;  /* of xy_message_sample_t */
    xy_vec_t held_out; /* of uint64_t: sizes that the model is not shown */
    xy_vec_t held;     /* of xy_message_sample_t: two of each of them */
    double eager;      /* bytes, of the last launch; 0: not measured */
    double meet[BENCH_MEETINGS][COST_LAUNCHES_MAX]; /* seconds of each launch */
    int met;                                        /* launches that told them */
    double pace[COST_LAUNCHES_MAX];                 /* means in units of medians, of each launch */
    double compute[COST_LAUNCHES_MAX]; /* code on both cores, of one alone; 0: not measured */
    int paced;                         /* launches that told them */
    double begin;                      /* of the first launch */
    int launched;
} bench_t;

/* message_launch.c */
int bench_launches(const measure_bench_t *pair);
/* Whether another launch, as long as those before it, ends within the time. */
bool bench_has_time(const bench_t *r);
/* These sizes in one launch; what it tells is appended. */
xy_status_t bench_measure_sizes(bench_t *r, const double *sizes, size_t count);

/* message_sizes.c */
size_t bench_list_sizes(double largest, double sizes[BENCH_SIZES_MAX]);
size_t bench_take_sizes(const xy_vec_t *given, double sizes[BENCH_SIZES_MAX]);
/* The sizes to be held out: what was asked for; else a few between the others. */
xy_status_t bench_list_held(bench_t *r, const double *sizes, size_t count, bool is_given);
/* All sizes in each launch; after each, sizes are added where the time jumps. */
xy_status_t bench_measure_all(bench_t *r, double *sizes, size_t count, bool is_given);
/* The samples of all launches by size, each size once: medians. */
xy_status_t bench_merge(xy_vec_t *samples, xy_vec_t *merged);
double bench_middle(double *values, size_t n); /* sorts the values */

/* message_again.c */
xy_status_t bench_measure_again(bench_t *r);
double bench_time(const xy_message_sample_t *s, xy_message_kind_t kind);
void bench_take_faster(double *t, double other);

#endif
