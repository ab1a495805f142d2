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
 *   plogp     T = L + g(bytes): the gap measured at each size (Kielmann)
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
    double send;        /* until Send or Isend returns: the sender's overhead */
    double receive;     /* of a Recv whose message is there: the receiver's overhead */
    double gap;         /* between messages of a long stream */
    double exchange;    /* a Sendrecv of both with each other */
    double burst;       /* XY_MESSAGE_BURST nonblocking ones of both with each other, at once */
    double self;        /* a nonblocking one of a process to itself */
    double hold;   /* until a Send whose receive waits is complete; of large ones, between nodes */
    double pieces; /* as blocking, of a message that is sent from two places; likewise */
} xy_message_sample_t;

typedef enum { XY_MESSAGE_BLOCKING, XY_MESSAGE_NONBLOCKING, XY_MESSAGE_KINDS } xy_message_kind_t;

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

/* Where many processes share a core, and another core has as many. Seconds of a core for a message
 * of one byte, of XY_MESSAGE_BCAST and of XY_MESSAGE_BULK bytes, between two of them while all
 * others do the same; of one of XY_MESSAGE_SMALL, of XY_MESSAGE_MEDIUM and of XY_MESSAGE_BCAST
 * bytes between a process of one core and one of the other; and of collectives of all: a barrier, a
 * broadcast and an alltoall of XY_MESSAGE_SMALL bytes. And of a core for a copy of XY_MESSAGE_BCAST
 * bytes where each process has XY_MESSAGE_BLOCKS such blocks and as much room, and copies all of
 * them, in no order, while the others do the same; and where it has XY_MESSAGE_SOME, and
 * XY_MESSAGE_FEW; `ordered`: from places one after the other, to places in no order, as an alltoall
 * of all does where there are so many. `left`: an alltoall of XY_MESSAGE_WORD bytes, which are left
 * for the others before they are taken. */
typedef struct {
    double message, large;
    double across, medium_across, large_across;
    double barrier, bcast, alltoall, left;
    double bulk;
    double block, some, few, ordered;
} xy_crowd_t;

typedef struct {
    xy_message_sample_t *samples; /* by size, each size once */
    size_t count;
    xy_message_lines_t kind[XY_MESSAGE_KINDS];
    xy_loggp_t loggp;
    double plogp_latency; /* L of PLogP; its functions are in the samples. 0: not measured */
    /* Bytes of the largest message whose send ended before its receive began; 0: not measured.
     * Larger ones wait for their receiver. The fit does not set it. */
    double eager;
    /* Collectives of the two processes, seconds; 0: not measured. Likewise not set by the fit. */
    double barrier, bcast; /* an MPI_Barrier, an MPI_Bcast of XY_MESSAGE_BCAST bytes */
    double copy, reduce; /* a copy of as many bytes by one process, a sum of as many and as many */
    double allreduce;    /* an MPI_Allreduce of as many */
    double small_bcast, small_allreduce; /* the same of XY_MESSAGE_SMALL bytes, one after another */
    /* MPI_Reduce to the first process, one after another, of XY_MESSAGE_BCAST and of
     * XY_MESSAGE_SMALL bytes; each with a message back, of as many bytes, before the next one; and
     * MPI_Bcast from the first, of the latter, each after a message to it. */
    double reduce_stream, small_reduce_stream;
    double reduce_back, small_reduce_back, small_bcast_back;
    /* MPI_Scatter from the first process, and MPI_Gather to it, one after another, of
     * XY_MESSAGE_SMALL bytes for each. */
    double small_scatter_stream, small_gather_stream;
    /* Adding vectors, block by block, to one that stays in the first cache, in units of copying
     * them: of so many bytes that they do not. */
    double read;
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
    xy_crowd_t crowd;  /* of XY_MESSAGE_CROWD */
    xy_crowd_t throng; /* of XY_MESSAGE_THRONG, without `some`, `few` and `left` */
} xy_message_model_t;

enum {
    XY_MESSAGE_BCAST = 4096,
    XY_MESSAGE_SMALL = 64,
    XY_MESSAGE_WORD = 8,
    XY_MESSAGE_MEDIUM = 1024,
    XY_MESSAGE_BULK = 65536,
    XY_MESSAGE_BLOCKS = 64,
    XY_MESSAGE_SOME = 16,
    XY_MESSAGE_FEW = 4,
    XY_MESSAGE_CROWD = 8,
    XY_MESSAGE_THRONG = 32,
    XY_MESSAGE_BURST = 4
};

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
void xy_message_cleanup(xy_message_model_t *model); /* of a zeroed one too */

/* The time of a message by the model of that name (NULL: the default), which must exist and have
 * been measured: see below. Never negative; marked when outside of what was measured. */
xy_estimate_t xy_message_value(const xy_message_model_t *model, const char *name,
                               xy_message_kind_t kind, double bytes);

/* The seconds of an exchange of so many bytes, of a burst, of a message to itself, until a send is
 * complete, or of a message in pieces, between the measured sizes by a straight line; outside, as
 * much longer than a message as at the nearest. 0: not measured. */
double xy_message_exchange(const xy_message_model_t *model, double bytes);
double xy_message_burst(const xy_message_model_t *model, double bytes);
double xy_message_self(const xy_message_model_t *model, double bytes);
double xy_message_hold(const xy_message_model_t *model, double bytes);
double xy_message_pieces(const xy_message_model_t *model, double bytes);

/* Change the model as if latencies and bandwidths were `latency` and `bandwidth` times as large.
 * Measured times scale as a message of their size does; what a processor does alone stays. */
void xy_message_scale(xy_message_model_t *model, double latency, double bandwidth);

const char *const *xy_message_models(void);          /* names, the default first, ended by NULL */
const char *xy_message_model_text(const char *name); /* NULL: no such model */
bool xy_message_has(const xy_message_model_t *model, const char *name, xy_message_kind_t kind);

#endif
