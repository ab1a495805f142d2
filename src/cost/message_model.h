/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages: the cost of one between two places, from measurements at some sizes.
 *
 *   xy_message_model_t m;
 *   st = xy_message_fit(samples, count, &m);
 *   e = xy_message_value(&m, NULL, XY_MESSAGE_BLOCKING, 65536);      (e.seconds)
 *   xy_message_cleanup(&m);
 *
 * The same measurements give several models, named by a word; L is a number of bytes:
 *   linear    T = b + a L on each interval (the default)
 *   hockney   T = latency + L / tau(L), tau(L) = a L + b on each interval, as in Achour's thesis
 *   loggp     T = L + 2o + (bytes - 1) G: one straight line, and what the processors spend of it
 *   plogp     T = L + g(bytes): the gap as a function of the size (Kielmann)
 *
 * Samples that contradict their neighbours are left out. The intervals of `linear` are the cheapest
 * explanation of the others: a new one must reduce the sum of the squared relative errors by more
 * than 3 ln n times the squared noise, the difference of samples from their neighbours, at least 1
 * %. Those of `hockney` come from progressive linear regression: one is extended, sample by sample,
 * while a line explains it (R^2 >= 0.99); else it is closed and the next starts at its last sample.
 * Nothing here parks; models may be read from any thread.
 */
#ifndef XY_COST_MESSAGE_MODEL_H
#define XY_COST_MESSAGE_MODEL_H

#include "cost/fit.h"

/* Times in seconds; 0 is "not measured". */
typedef struct {
    double bytes;
    double blocking;    /* half a round trip of Send and Recv */
    double nonblocking; /* the same with Isend, Irecv and Wait */
    double gap;         /* between messages of a long stream */
    double exchange;    /* a Sendrecv of both with each other */
    /* From these come figures of the model. A file does not have them. */
    double send;    /* until Send or Isend returns: the sender's overhead */
    double receive; /* of a Recv whose message is there: the receiver's overhead */
    double hold;    /* until a Send whose receive waits is complete; of large ones, between nodes */
} xy_message_sample_t;

/* The curves. The first two are messages; models but that of lines are of these. */
typedef enum {
    XY_MESSAGE_BLOCKING,
    XY_MESSAGE_NONBLOCKING,
    XY_MESSAGE_GAP,
    XY_MESSAGE_EXCHANGE,
    XY_MESSAGE_KINDS
} xy_message_kind_t;

enum {
    XY_MESSAGE_WAYS = XY_MESSAGE_NONBLOCKING + 1, /* to send a message */
    XY_MESSAGE_INTERVALS = 5                      /* of a curve, at most */
};

/* y = a x + b from start to end. */
typedef struct {
    double start, end, a, b;
    long samples;
    double error_max; /* relative */
} xy_line_t;

typedef struct {
    xy_line_t *line; /* by start */
    size_t count;
} xy_lines_t;

typedef struct {
    double latency;       /* of the smallest message, seconds; 0: this kind was not measured */
    xy_lines_t bandwidth; /* tau(L), bytes per second; may be empty: the latency is all there is */
    xy_lines_t time;      /* T(L), seconds */
    double error_mean, error_max; /* of T(L), relative, over the samples that were fitted */
    long dropped;                 /* outliers (outlier.h), which were not; not stored */
    /* The mean relative error at `held_count` sizes that the model was not shown; 0: none was. */
    double held_out;
    long held_count;
} xy_message_lines_t;

typedef struct {
    double latency, overhead, gap, per_byte; /* L, o, g (0: not measured), G */
} xy_loggp_t;

typedef struct {
    xy_message_sample_t *samples; /* by size, each size once */
    size_t count;
    xy_message_lines_t kind[XY_MESSAGE_KINDS]; /* of at most XY_MESSAGE_INTERVALS lines */
    xy_loggp_t loggp;
    double plogp_latency; /* L of PLogP. 0: not measured */
    /* How long a large send between nodes whose receive waits keeps the sender, in units of the
     * message; 0: not measured. */
    double hold;
    /* Bytes of the largest message whose send ended before its receive began; 0: not measured.
     * Larger ones wait for their receiver. The fit does not set it. */
    double eager;
    /* Collectives of the two processes, seconds; 0: not measured. Likewise not set by the fit. */
    double barrier;
    double copy,
        reduce;       /* of XY_MESSAGE_BCAST bytes by one process, a sum of as many and as many */
    double allreduce; /* an MPI_Allreduce of as many */
    double small_bcast, small_allreduce; /* the same of XY_MESSAGE_SMALL bytes, one after another */
    double small_bcast_back; /* a message to the root, and then such a broadcast from it */
    /* MPI_Reduce to the first process, MPI_Scatter from it and MPI_Gather to it, one after another,
     * of XY_MESSAGE_SMALL bytes (of each). */
    double small_reduce, small_scatter, small_gather;
    /* The sender's time for a message of a stream of XY_MESSAGE_SMALL bytes: a sender to several
     * does not wait for the slowest. 0: not measured, or sends wait. */
    double issue;
    /* Means of many timings in units of their medians, by which all times here were multiplied:
     * what cores lose that others have them for a while counts in a program, and not in a median.
     */
    double pace;
    /* Seconds that code takes while both cores compute, in units of its processor time on one core
     * while the other rests. */
    double compute;
    /* Of one core: seconds of an alltoall of XY_MESSAGE_SMALL bytes of XY_MESSAGE_CROWD processes
     * on it and as many on another core. */
    double alltoall;
} xy_message_model_t;

/* The ends of messages: processes of one core; processes of Xylem on two cores of a node;
 * likewise of another library; hosts. At most 12 figures belong to each. */
typedef enum {
    XY_PAIR_CORE,
    XY_PAIR_CORES,
    XY_PAIR_OTHER,
    XY_PAIR_HOSTS,
    XY_PAIRS
} xy_message_pair_t;

/* A figure of a model, by its name in a file of costs. */
typedef struct {
    const char *name;
    size_t offset; /* of a double in xy_message_model_t, or in a sample */
    /* A change of the network changes it as a message of so many bytes; < 0: it does not. */
    double bytes;
    const char *unit, *text;
    unsigned pairs; /* 1 << xy_message_pair_t of those that it belongs to */
} xy_figure_t;

enum { XY_MESSAGE_BCAST = 4096, XY_MESSAGE_SMALL = 64, XY_MESSAGE_CROWD = 8 };

/* Progressive linear regression of y > 0 against x, increasing. R^2 is that of the thesis; a line
 * that misses no sample by 2 % is good whatever its R^2, which is small for what hardly changes.
 * `error_max`: relative error that ends an interval too; INFINITY: none does. On success the
 * caller frees lines_p->line; the lines are at least one. EINVAL is silent: x does not increase, or
 * there are no samples. ENOMEM is reported. */
xy_status_t xy_progressive_fit(const double *x, const double *y, size_t count, double r2_min,
                               double error_max, xy_lines_t *lines_p);
/* The value of the line for x; of the nearest one outside all of them. */
double xy_lines_value(const xy_lines_t *lines, double x);

/* All models from the samples, in any order. On success the caller cleans *model_p up. EINVAL: no
 * samples, a negative size or time, or no time of either kind. */
xy_status_t xy_message_fit(const xy_message_sample_t *samples, size_t count,
                           xy_message_model_t *model_p);
/* Fit the curves that the samples have and the model has not: files of version 1. ENOMEM. */
xy_status_t xy_message_complete(xy_message_model_t *model);
void xy_message_cleanup(xy_message_model_t *model); /* of a zeroed one too */

/* The time of a message by the model of that name (NULL: the default), which must exist and have
 * been measured: see below. Never negative; marked when outside of what was measured. */
xy_estimate_t xy_message_value(const xy_message_model_t *model, const char *name,
                               xy_message_kind_t kind, double bytes);

/* The seconds of a curve by its lines; 0: it was not measured. */
double xy_message_curve(const xy_message_model_t *model, xy_message_kind_t kind, double bytes);

/* The figures of a model beside its curves, and its curves, in the order of their kinds, as figures
 * of samples; both lists are ended by a NULL name. */
const xy_figure_t *xy_message_figures(void);
const xy_figure_t *xy_message_curves(void);
/* The place of a figure in a model, or in a sample. */
static inline double *xy_figure_place(void *of, const xy_figure_t *figure)
{
    return (double *)(void *)((char *)of + figure->offset);
}

/* Change the model as if latencies and bandwidths were `latency` and `bandwidth` times as large.
 * Measured times scale as a message of their size does; what a processor does alone stays. */
void xy_message_scale(xy_message_model_t *model, double latency, double bandwidth);

const char *const *xy_message_models(void);          /* names, the default first, ended by NULL */
const char *xy_message_model_text(const char *name); /* NULL: no such model */
bool xy_message_has(const xy_message_model_t *model, const char *name, xy_message_kind_t kind);

#endif
