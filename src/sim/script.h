/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job whose processes are known beforehand: the computations, sends, receives and waits of each
 * in order, independent of data and time.
 *
 *   xy_script_t *s = xy_script_new(2);
 *   xy_script_add(&s->proc[0], &(xy_script_op_t){.kind = XY_SCRIPT_SEND, .peer = 1, .bytes = 8});
 *   ...
 *   st = xy_script_run(s, &(xy_script_run_t){.job = config}, &seconds, NULL);
 *   xy_script_destroy(s);
 *
 * A script that is made does not change by running it; several threads may run it at once.
 */
#ifndef XY_SIM_SCRIPT_H
#define XY_SIM_SCRIPT_H

#include "sim/job.h"

typedef enum {
    XY_SCRIPT_COMPUTE,
    XY_SCRIPT_SEND,
    XY_SCRIPT_RECEIVE,
    XY_SCRIPT_COLLECTIVE,
    XY_SCRIPT_WAIT,
} xy_script_kind_t;

typedef struct {
    xy_script_kind_t kind;
    int32_t peer; /* of a message; of a collective: its number in `colls` */
    int32_t tag;
    int32_t request; /* it starts request `request` of the process */
    uint32_t mark;   /* free for the caller; nothing depends on it */
    union {
        double seconds;
        uint64_t bytes;
        struct {
            uint32_t first, count; /* in `waits` */
        } wait;
    };
} xy_script_op_t;

typedef struct {
    xy_vec_t ops;   /* of xy_script_op_t */
    xy_vec_t waits; /* of int32_t: requests */
    int32_t requests;
} xy_script_proc_t;

/* The arguments of one process of a collective. */
typedef struct {
    int32_t comm;
    xy_vjob_coll_t call; /* `counts` is made when it starts: */
    uint64_t share;      /* ... equal blocks of so many elements; 0: it has none */
} xy_script_coll_t;

typedef struct {
    int32_t count;
    int32_t *procs; /* [count] */
} xy_script_comm_t;

typedef struct {
    int32_t procs;
    xy_script_proc_t *proc; /* [procs] */
    xy_vec_t colls;         /* of xy_script_coll_t */
    xy_vec_t comms;         /* of xy_script_comm_t */
} xy_script_t;

/* NULL: memory ran out, in silence. */
xy_script_t *xy_script_new(int32_t procs);
void xy_script_destroy(xy_script_t *script); /* NULL is fine */
/* Adds at the end of a process; XY_ENOMEM in silence. */
xy_status_t xy_script_add(xy_script_proc_t *p, const xy_script_op_t *op);
xy_status_t xy_script_add_wait(xy_script_proc_t *p, const int32_t *requests, size_t count,
                               uint32_t mark);

typedef struct {
    xy_vjob_config_t job; /* all but `procs` and the callbacks */
    double speed;         /* computation is so many times as fast; 0: 1 */
    /* Says that processes wait for each other, among them this one. NULL: the run fails in
     * silence. */
    void (*stuck)(int32_t proc);
} xy_script_run_t;

/* `pairs` (of xy_vjob_pair_t, which the caller cleans up) is for jobs that count them; or NULL.
 * EINVAL: processes wait for each other. */
xy_status_t xy_script_run(const xy_script_t *script, const xy_script_run_t *config,
                          double *seconds_p, xy_vec_t *pairs);

#endif
