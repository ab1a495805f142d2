/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flows: nonblocking collectives as graphs.
 *
 * Most collectives are meetings (coll.h): no algorithm, no messages. A nonblocking one is a flow
 * instead, run by an executor (exec.h) from the graph of an algorithm, when it is asked for:
 *
 *   progress threads    each rank's part of the graph is the schedule of its progress fiber
 *   split-tree          the leaf levels of a tree run on the cores of the ranks
 *   a named algorithm   of the user's choice
 *
 * A rank's start is its arrival at the executor: operations whose ranks have all arrived may begin,
 * the others are in nobody's way. Who does which operation:
 *
 *   start    (split) by the ranks, inside start calls: the last arrival that an operation waited
 *            for does it, so that nobody ever waits there
 *   wait     (split) by ranks in Wait or Test, their own ones first
 *   thread   (threads) by the progress fiber of one rank: a copy by the sender's, a reduction by
 *            the receiver's
 *   common   everything else: by communication cores, and by ranks that wait
 *
 * Operations of the program (MPI_Op_create) run on a worker of a rank: such reductions are meetings
 * always. Data that is not contiguous is packed in the start call and unpacked at the end. In the v
 * and w variants a rank does not know the counts of others: the last one to arrive builds the
 * graph. The graphs of all others are built by the first and kept for the next time.
 *
 * Everything that ranks of a communicator share is behind the lock of its mpi_flows_t; a flow is
 * counted: one for the run, one for each call that is not over, one for whoever works on it.
 */
#ifndef XY_MPI_NBC_NBC_H
#define XY_MPI_NBC_NBC_H

#include <pthread.h>
#include <stdatomic.h>

#include "exec/exec.h"
#include "mpi/coll/coll.h"
#include "mpi/runtime/settings.h"

/* What an executor is made for. */
typedef struct {
    xy_collective_t collective;
    bool is_in_place;
    bool is_threads;
    bool is_kept; /* counts fit in here: it may be used again */
    int root;
    int split;
    uint64_t count, element;
    const xy_coll_algorithm_t *algorithm;
} flow_shape_t;

typedef struct flow_plan {
    flow_shape_t shape;
    int ranks;
    xy_graph_t *graph;
    xy_exec_t *exec;
    struct flow_plan *next; /* among the idle ones */
} flow_plan_t;

/* One side of a member's call as the graph sees it: blocks in packed elements. */
typedef struct {
    char *base;
    int blocks;
    bool is_packed;            /* `base` is memory of ours */
    uint64_t *offsets, *bytes; /* [blocks], v and w only */
} flow_side_t;

typedef struct flow_member {
    flow_side_t send, receive;
    void *memory; /* of the arrays */
    void *input;  /* a copy of what was in place, or NULL */
} flow_member_t;

typedef struct mpi_flow {
    mpi_coll_t *coll;
    uint64_t number;
    const coll_kind_t *kind;
    int root, first;
    uint64_t bytes;
    const mpi_op_t *op;
    mpi_type_t *type; /* of a reduction; held */
    mpi_progress_t progress;
    int arrived;
    flow_plan_t *plan;
    _Atomic int references;
    _Atomic int start_ready, wait_ready; /* operations in queues of these kinds */
    struct mpi_flow *next;               /* of those of the communicator that are not complete */
    struct mpi_flow *later, *earlier;    /* of all that run */
    coll_call_t *calls[];                /* [size] */
} mpi_flow_t;

/* Of a communicator, in its mpi_coll_t. */
typedef struct mpi_flows {
    pthread_mutex_t lock;
    mpi_flow_t *open;  /* not all have arrived */
    flow_plan_t *idle; /* the one used last first */
    int idle_count;
    double
        computed[XY_COLL_COUNT]; /* seconds between start and Wait, a running mean; 0: none yet */
} mpi_flows_t;

/* Is this nonblocking call a flow? All members come to the same answer. */
bool mpi_flow_wants(const coll_call_t *call);
/* Start `call` as a flow; it belongs to its request. Does not park. */
void mpi_flow_start(mpi_rank_t *self, coll_call_t *call);
/* `self` tests, or will wait for these requests: it does what is ready, its own operations first.
 */
void mpi_flow_progress(mpi_rank_t *self);
void mpi_flow_wait(mpi_rank_t *self, const MPI_Request requests[], int count);
/* Called by an idle worker: do ready operations. False: there was nothing to do. */
bool mpi_flow_help(mpi_worker_t *worker);
/* Completions of calls of this worker's ranks that others left there. */
void mpi_flow_complete(mpi_worker_t *worker);
/* The rank has come to Wait for a call of its own, or Test found it over: what it did between is
 * the computation that `adaptive` and `--comm-cores auto` go by. */
void mpi_flow_measure(coll_call_t *call);
/* The computation of all cores of ranks between a start and its Wait, in transfers of the buffer;
 * 0: nothing was measured. All ranks have ended. */
double mpi_flow_measured(const mpi_job_t *job);

xy_status_t mpi_flows_create(mpi_coll_t *coll);
void mpi_flows_destroy(mpi_coll_t *coll);

/* ---- Between the files of this part ---- */

/* Queues of an executor: start, then one for each rank's wait, then one for each rank's thread. */
enum { FLOW_QUEUE_START = 0, FLOW_QUEUE_RANKS = 1 };

void flow_hold(mpi_flow_t *flow);
void flow_release(mpi_flow_t *flow);
/* Do an operation that was taken, and wake who may take what became ready. */
void flow_do(mpi_flow_t *flow, xy_op_id_t op);
/* What the executor tells: an operation came to a queue; `rank`'s call is over, which its worker
 * hears at once or in its mailbox; all is done. */
void flow_ready(void *flow, int queue);
void flow_rank_over(void *flow, int rank);
void flow_over(void *flow);

xy_collective_t flow_collective(const coll_call_t *call);
/* Members may have counts that others do not know. */
bool flow_is_late(const coll_call_t *call);
/* Fill call->member; packs. XY_ENOMEM is silent. */
xy_status_t flow_member_make(coll_call_t *call);
/* The flow takes what is in place for `is_in_place`, whatever this member said. */
xy_status_t flow_member_adjust(coll_call_t *call, bool is_in_place);
/* The member's data is where the program wants it; frees the member. */
void flow_member_finish(coll_call_t *call);

/* The shape that a call asks for, by its settings. */
void flow_shape_make(const coll_call_t *call, flow_shape_t *shape);
/* A plan for it; `calls` [size] are all there where flow_is_late. Says what is wrong. */
xy_status_t flow_plan_make(mpi_flow_t *flow, const flow_shape_t *shape, const coll_call_t *call,
                           flow_plan_t **plan_p);
void flow_plan_destroy(flow_plan_t *plan);

/* Split-tree: how many levels, for a call that is a tree. */
int flow_split_levels(const coll_call_t *call, const flow_shape_t *shape);

#endif
