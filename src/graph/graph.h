/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Graphs: what must be done. Operations on data, and which must be over before which.
 *
 *   xy_graph_t *g;
 *   xy_graph_create(&g);
 *   a = xy_graph_add(g, &(xy_op_t){.kind = XY_OP_MOVE, .from = {0, XY_BUFFER_SEND, 0},
 *                                  .to = {1, XY_BUFFER_RECEIVE, 0}, .bytes = n, .actor = 1});
 *   b = xy_graph_add(g, ...);
 *   xy_graph_order(g, a, b);               (b after a)
 *   xy_graph_seal(g);                      (now it can be interpreted)
 *
 * A collective is a graph built by one algorithm in coll/, a stencil a graph built by stencil/, a
 * program a graph unfolded by program/. `exec` runs it in real time, `sim` in virtual time, and
 * counting it gives the cost formula: an algorithm is written once and each of the three checks the
 * other two.
 *
 * Two ways to say what an operation touches. Collectives name buffers of ranks (xy_spot_t), task
 * programs register data handles and say how each operation accesses them. Either way the order can
 * follow from sequential consistency (xy_graph_touch, xy_graph_task): an operation comes after the
 * last writer of what it reads, and after the last readers and writer of what it writes. Who builds
 * the graph then writes down one sequential program, and whatever may run at the same time does.
 *
 * A graph is built by one thread. After the seal it never changes and any thread may read it.
 */
#ifndef XY_GRAPH_GRAPH_H
#define XY_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

typedef enum {
    XY_OP_NONE,    /* only a point in the order */
    XY_OP_COMPUTE, /* `seconds` of work, or a kernel of the program */
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

typedef struct {
    xy_op_kind_t kind;
    int32_t actor; /* the rank (or worker) on whose behalf it is done: the receiver of a message */
    int32_t level; /* of a tree, 1 at the leaves; 0: not part of a tree. Split-tree cuts here */
    int32_t priority;
    bool is_left; /* REDUCE, COMBINE: `from` is the left operand */
    /* Shared memory: whoever does it reads and writes the buffers itself; it is no message, and the
     * ranks whose buffers they are take no part. */
    bool is_direct;
    /* Part of one piece of work with the operation added before it: the core that does that one
     * does this one next, before anything else. */
    bool is_chained;
    xy_spot_t from, to;
    xy_spot_t other; /* COMBINE */
    uint64_t bytes;
    double seconds;      /* COMPUTE, when it is declared */
    int32_t iteration;   /* task programs: for pictures and policies */
    int64_t position[3]; /* likewise: where in the domain */
    void *user;          /* of whoever built it */
} xy_op_t;

typedef int32_t xy_op_id_t; /* dense, from 0, in the order of xy_graph_add */

typedef enum { XY_ACCESS_READ = 1, XY_ACCESS_WRITE = 2, XY_ACCESS_READ_WRITE = 3 } xy_access_mode_t;

typedef struct {
    int32_t data; /* handle */
    xy_access_mode_t mode;
} xy_access_t;

typedef struct {
    uint64_t bytes;
    int32_t home;        /* memory where it lives at the beginning and the end; 0: main memory */
    int64_t position[3]; /* locality mark, for pictures; -1: none */
    void *user;          /* its address in main memory, or whatever the program needs */
} xy_data_t;

typedef struct xy_graph xy_graph_t;

xy_status_t xy_graph_create(xy_graph_t **graph_p);
void xy_graph_destroy(xy_graph_t *graph); /* NULL is fine */

/* Building. When memory runs out the graph remembers it and the seal says so: ids are always valid
 * to pass on. `before` and `after` may repeat: an order given twice counts once. */
xy_op_id_t xy_graph_add(xy_graph_t *graph, const xy_op_t *op);
void xy_graph_order(xy_graph_t *graph, xy_op_id_t before, xy_op_id_t after);
/* Add an operation on places; the order follows from the bytes that it reads and writes. Buffers
 * are numbered below XY_BUFFERS_MAX, and all that touches them comes through here. An operation of
 * no bytes touches nothing. */
enum { XY_BUFFERS_MAX = 16 };
xy_op_id_t xy_graph_touch(xy_graph_t *graph, const xy_op_t *op);
int32_t xy_graph_data(xy_graph_t *graph, const xy_data_t *data);
/* Add an operation with its accesses; the order follows from them. */
xy_op_id_t xy_graph_task(xy_graph_t *graph, const xy_op_t *op, const xy_access_t *accesses, int n);
/* XY_ENOMEM: memory ran out while building (said here). XY_EINVAL: the order has a cycle, or names
 * an operation, data or place that is none (said). After a failure it can only be destroyed. */
xy_status_t xy_graph_seal(xy_graph_t *graph);

/* Reading, after the seal. */
int32_t xy_graph_ops(const xy_graph_t *graph);
const xy_op_t *xy_graph_op(const xy_graph_t *graph, xy_op_id_t id);
int32_t xy_graph_successors(const xy_graph_t *graph, xy_op_id_t id, const xy_op_id_t **list_p);
int32_t xy_graph_predecessors(const xy_graph_t *graph, xy_op_id_t id); /* how many */
int32_t xy_graph_data_count(const xy_graph_t *graph);
const xy_data_t *xy_graph_datum(const xy_graph_t *graph, int32_t data);
int32_t xy_graph_accesses(const xy_graph_t *graph, xy_op_id_t id, const xy_access_t **list_p);
int32_t xy_graph_ranks(const xy_graph_t *graph);   /* highest rank of a place or actor + 1 */
int32_t xy_graph_buffers(const xy_graph_t *graph); /* highest buffer number used + 1 */
/* Bytes needed of buffer `buffer` of `rank` (highest offset + bytes); 0: unused. */
uint64_t xy_graph_buffer_bytes(const xy_graph_t *graph, int32_t rank, int32_t buffer);
/* The same work in pieces: a MOVE, REDUCE or COMBINE of more than `piece` bytes (> 0, a multiple of
 * the size of an element) becomes several of at most that, and a piece waits only for what touches
 * its own bytes; so a chain turns into a pipeline. Operations keep their actor, level, priority and
 * user, but none is chained any more. The caller owns *cut_p, which is sealed. XY_EINVAL: the graph
 * has data handles (said). XY_ENOMEM (said). */
xy_status_t xy_graph_cut(const xy_graph_t *graph, uint64_t piece, xy_graph_t **cut_p);

/* An order that respects all dependencies: by depth, then id. ops entries; caller does not own. */
const xy_op_id_t *xy_graph_topological(const xy_graph_t *graph);

/* The counting interpretation: the longest path, where an operation takes seconds_of(op, arg) and
 * any number of them run at once. Negative: memory ran out, in silence. */
double xy_graph_longest_path(const xy_graph_t *graph,
                             double (*seconds_of)(const xy_op_t *op, void *arg), void *arg);

#endif
