/* SPDX-License-Identifier: BSD-3-Clause */
/* What a replay consists of, between the files that make it and the one that runs it. */
#ifndef XY_PROGRAM_REPLAY_OPS_H
#define XY_PROGRAM_REPLAY_OPS_H

#include "program/replay.h"

typedef enum {
    REPLAY_COMPUTE,
    REPLAY_SEND,
    REPLAY_RECEIVE,
    REPLAY_COLLECTIVE,
    REPLAY_WAIT,
} replay_kind_t;

typedef struct {
    replay_kind_t kind;
    int32_t peer; /* of a message; of a collective: its number in `colls` */
    int32_t tag;
    int32_t request; /* what it starts is request `request` of the process */
    union {
        double seconds;
        uint64_t bytes;
        struct {
            uint32_t first, count; /* in `waits` */
        } wait;
    };
} replay_op_t;

typedef struct {
    xy_vec_t ops;   /* of replay_op_t */
    xy_vec_t waits; /* of int32_t: requests */
    int32_t requests;
} replay_proc_t;

/* What one process gives to a collective. */
typedef struct {
    int32_t comm;
    xy_vjob_coll_t call; /* `counts` is made when it starts: */
    uint64_t share;      /* ... equal blocks of so many elements; 0: it has none */
} replay_coll_t;

typedef struct {
    int32_t count;
    int32_t *procs; /* [count] */
} replay_comm_t;

struct xy_replay {
    int32_t procs;
    replay_proc_t *proc; /* [procs] */
    xy_vec_t colls;      /* of replay_coll_t */
    xy_vec_t comms;      /* of replay_comm_t */
    double scale;        /* the run takes so many times what is replayed of it */
    bool has_computation;
};

/* NULL: memory ran out, in silence. */
xy_replay_t *replay_new(int32_t procs);
/* Adds at the end of a process; XY_ENOMEM in silence. */
xy_status_t replay_add(replay_proc_t *p, const replay_op_t *op);
xy_status_t replay_add_wait(replay_proc_t *p, const int32_t *requests, size_t count);

#endif
