/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations: the nodes of graphs. Include graph/graph.h instead. */
#ifndef XY_GRAPH_GRAPH_OP_H
#define XY_GRAPH_GRAPH_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

typedef enum {
    XY_OP_NONE,    /* only a point in the order */
    XY_OP_COMPUTE, /* a task: `seconds` of work, or a kernel of the program */
    XY_OP_MOVE,    /* copy `bytes` from one place to another; between ranks it is a message */
    XY_OP_REDUCE,  /* to = from op to (is_left: from comes first), `bytes` of it; likewise */
    XY_OP_COMBINE, /* to = from op other (is_left likewise): a reduction without a copy before it */
} xy_op_kind_t;

/* Buffers of a rank taking part in a collective. */
enum { XY_BUFFER_SEND, XY_BUFFER_RECEIVE, XY_BUFFER_TEMPORARY /* and above: more temporaries */ };

/* A place: an offset in a buffer of a rank. */
typedef struct {
    int32_t rank;
    int32_t buffer;
    uint64_t offset;
} xy_spot_t;

/* The function of a task in real time. buffers[i] is the address of the datum of its access i. */
typedef struct {
    void (*run)(void *const *buffers, const void *arg);
    const void *arg;
} xy_task_code_t;

typedef struct {
    xy_op_kind_t kind;
    int32_t priority;
    double seconds; /* COMPUTE, when it is declared */

    /* On buffers: MOVE, REDUCE, COMBINE. */
    int32_t actor; /* the rank (or worker) on whose behalf it is done: the receiver of a message */
    int32_t level; /* of a tree, 1 at the leaves; 0: not part of a tree. Split-tree cuts here */
    bool is_left;  /* REDUCE, COMBINE: `from` is the left operand */
    /* Shared memory: the executing thread reads and writes the buffers itself; it is no message,
     * and the ranks whose buffers they are take no part. */
    bool is_direct;
    /* Part of one piece of work with the operation added before it: the core that does that one
     * does this one next, before anything else. */
    bool is_chained;
    xy_spot_t from, to;
    xy_spot_t other; /* COMBINE */
    uint64_t bytes;

    /* Tasks. */
    int32_t iteration;          /* for pictures and policies */
    int64_t position[3];        /* likewise: where in the domain */
    const xy_task_code_t *code; /* belongs to the builder; NULL: the engine's caller supplies it */
} xy_op_t;
_Static_assert(sizeof(xy_op_t) == 128, "an operation is two lines of a cache");

typedef int32_t xy_op_id_t; /* dense, from 0, in the order in which they were added */

typedef struct xy_graph xy_graph_t;

#endif
