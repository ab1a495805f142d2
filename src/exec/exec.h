/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The real clock: running the graph of a collective in memory.
 *
 *   xy_exec_options_t o = {.reduce = add, .on_rank = complete_request, .arg = call};
 *   xy_exec_create(graph, procs, &o, &e);
 *   xy_exec_arrive(e, rank, send, receive);            (each rank, in its start call)
 *   while (xy_exec_take(e, &op))                       (any core with time to spare)
 *       xy_exec_do(e, op);
 *
 * An operation becomes ready when all before it are complete and the ranks whose buffers it touches
 * have arrived. Any idle thread takes ready operations: communication cores, ranks that wait, one
 * thread or many; no thread ever waits in here, and there is no lock. A rank is complete, and is
 * notified, when no operation will touch its buffers again; temporaries belong to the executor.
 *
 * With `queue` the caller assigns each operation to a queue, from which xy_exec_take_own takes:
 * each progress thread has a queue, and so has each rank that does the lowest levels of a tree
 * itself.
 */
#ifndef XY_EXEC_EXEC_H
#define XY_EXEC_EXEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "graph/graph.h"

typedef struct xy_exec xy_exec_t;

typedef struct {
    /* out = left op right, `bytes` of whole elements. out is left, or right, or overlaps neither.
     * Called by the thread that does the operation. NULL: the graph has no reductions. */
    void (*reduce)(void *arg, const void *left, const void *right, void *out, uint64_t bytes);
    /* Copy `op->bytes`; NULL: memcpy. For data that is not packed in memory: `op` has the places.
     */
    void (*copy)(void *arg, const xy_op_t *op, void *to, const void *from);
    /* Rank's buffers are its own again. Called once per rank, by the thread that did the last
     * operation that touched them (or by xy_exec_arrive); or NULL. */
    void (*on_rank)(void *arg, int rank);
    /* All ranks came and all is done. Called once, last; the executor may be reset or destroyed in
     * it. Or NULL. */
    void (*on_over)(void *arg);
    void *arg;
    /* The queue that offers an operation, 0 .. queues - 1, or -1 for the common one. Called while
     * the executor is made, with the `arg` above. NULL: the common one offers all. */
    int (*queue)(void *arg, const xy_op_t *op);
    int queues;
    /* An operation came to `queue`, which is not the common one. Called by the thread that made it
     * ready; another thread may have taken it before. Or NULL. */
    void (*on_ready)(void *arg, int queue);
} xy_exec_options_t;

/* An executor of `graph` (final; it must live longer) for ranks 0 .. ranks - 1, with its
 * temporaries, ready for a first run. XY_EINVAL: the graph has more ranks, or reductions and there
 * is no `reduce` (reported). XY_ENOMEM (reported). */
xy_status_t xy_exec_create(const xy_graph_t *graph, int ranks, const xy_exec_options_t *options,
                           xy_exec_t **exec_p);
void xy_exec_destroy(xy_exec_t *exec); /* NULL is fine; no thread may be inside */
/* Back to before the first arrival, for another run of the same graph with another `arg`. No thread
 * may be inside, and the last run must be over or have never begun. */
void xy_exec_reset(xy_exec_t *exec, void *arg);

/* The rest: any thread, at any time, at once; does not park. */

/* `rank` takes part, with these buffers, which must have the sizes of xy_graph_buffer_bytes;
 * NULL where that is 0. Once per run. Returns how many operations became ready for
 * xy_exec_take, so that the caller can wake as many cores. */
int xy_exec_arrive(xy_exec_t *exec, int rank, const void *send, void *receive);

/* Take a ready operation. False: none right now. Who takes one must do it. */
bool xy_exec_take(xy_exec_t *exec, xy_op_id_t *op_p);
bool xy_exec_take_own(xy_exec_t *exec, int queue, xy_op_id_t *op_p);
/* False: all queues but the common one are empty right now. */
bool xy_exec_has_own(const xy_exec_t *exec);
/* How many operations `queue` offers in one run. */
int xy_exec_queue_ops(const xy_exec_t *exec, int queue);

/* Do an operation that was taken; it may be the last one, so that `exec` is gone afterwards if
 * on_over destroys it. Returns as xy_exec_arrive does. */
int xy_exec_do(xy_exec_t *exec, xy_op_id_t id);

#endif
