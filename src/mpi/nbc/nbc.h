/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Schedules: nonblocking collectives as graphs.
 *
 * Most collectives are direct (coll.h): no algorithm, no messages. A nonblocking one is a schedule
 * instead, run by an executor (exec.h) from the graph of an algorithm, when it is asked for:
 *
 *   progress threads    each rank's part of the graph is the schedule of its progress fiber
 *   split-tree          the leaf levels of a tree run on the cores of the ranks
 *   a named algorithm   of the user's choice
 *
 * A rank's start is its arrival at the executor: operations whose ranks have all arrived may begin
 * without the others. The operations are done by:
 *
 *   start    (split) by the ranks, inside start calls: the last arrival that an operation waited
 *            for does it, so that no rank ever waits there
 *   wait     (split) by ranks in Wait or Test, their own ones first
 *   thread   (threads) by the progress fiber of one rank: a copy by the sender's, a reduction by
 *            the receiver's
 *   common   everything else: by communication cores, and by ranks that wait
 *
 * Operations of the program (MPI_Op_create) run on a worker of a rank: such reductions are direct
 * always. Data that is not contiguous is packed in the start call and unpacked at the end. In the v
 * and w variants a rank does not know the counts of others: the last one to arrive builds the
 * graph. The graphs of all others are built by the first and kept for the next time; those of
 * persistent collectives all are, since their counts stay.
 *
 * The shared data of a communicator is protected by the lock of its nbc_comm_t. A schedule is
 * counted by reference: one for the run, one for each incomplete call, one for each thread that
 * works on it.
 */
#ifndef XY_MPI_NBC_NBC_H
#define XY_MPI_NBC_NBC_H

#include <pthread.h>
#include <stdatomic.h>

#include "exec/exec.h"
#include "mpi/coll/coll.h"
#include "sched/sched.h"
#include "sim/sim.h"

/* How the progress threads of a collective run. */
typedef struct {
    const xy_threads_t *place;
    const xy_order_t *order;
    int priority; /* 0 where the order has none */
} nbc_way_t;

typedef struct nbc_family nbc_family_t;

/* The key of an executor. */
typedef struct {
    xy_collective_t collective;
    bool is_in_place;
    bool is_threads;
    bool is_kept;  /* counts fit in here, or stay: it may be used again */
    bool is_split; /* a tree whose leaf levels may be the ranks' to do */
    int root;
    int split; /* so many of them */
    uint64_t count, element;
    const xy_coll_algorithm_t *algorithm;
} nbc_shape_t;

typedef struct nbc_cached_schedule {
    nbc_shape_t shape;
    int ranks;
    xy_graph_t *graph;
    xy_exec_t *exec;
    struct nbc_cached_schedule *next; /* among the idle ones */
} nbc_cached_schedule_t;

/* One side of a member's call as the graph sees it: blocks in packed elements. */
typedef struct {
    char *base;
    int blocks;
    bool is_packed;            /* `base` is memory of ours */
    uint64_t *offsets, *bytes; /* [blocks], v and w only */
} nbc_side_t;

typedef struct nbc_rank_args {
    nbc_side_t send, receive;
    void *memory; /* of the arrays */
    void *input;  /* a copy of what was in place, or NULL */
} nbc_rank_args_t;

typedef struct nbc_schedule {
    mpi_coll_t *coll;
    uint64_t number;
    coll_claim_t claim; /* of the first to start it */
    const mpi_op_t *op;
    mpi_type_t *type; /* of a reduction; held */
    mpi_progress_t progress;
    nbc_family_t *family; /* of the progress threads; NULL: there are none */
    int arrived;
    nbc_cached_schedule_t *cached;
    _Atomic int references;
    struct nbc_schedule *next;            /* of those of the communicator that are not complete */
    struct nbc_schedule *later, *earlier; /* of all that run */
    coll_call_t *calls[];                 /* [size] */
} nbc_schedule_t;

/* The data of a communicator, in its mpi_coll_t. */
typedef struct nbc_comm {
    pthread_mutex_t lock;
    nbc_schedule_t *open;        /* not all have arrived */
    nbc_cached_schedule_t *idle; /* the one used last first */
    int idle_count;
    struct nbc_forecast *forecasts;
    int forecast_count;
    /* Seconds between start and Wait, a running mean; 0: none yet. */
    double computed[XY_COLL_COUNT];
} nbc_comm_t;

static inline nbc_comm_t *nbc_of(const mpi_coll_t *coll)
{
    return coll->scheduled;
}

/* `self` tests, or is going to wait: it does what is ready, its own operations first. */
void nbc_progress(mpi_rank_t *self);
/* Called by an idle worker: do ready operations. False: there was nothing to do. */
bool nbc_help(mpi_worker_t *worker);
/* Completions of calls of this worker's ranks that others left there. */
void nbc_complete(mpi_worker_t *worker);
/* The computation of all cores of ranks between a start and its Wait, in transfers of the buffer;
 * 0: nothing was measured. All ranks have ended. */
double nbc_measured(const mpi_job_t *job);

/* Describe the progress threads, their work, and how many turns they had, supervisors included:
 * lines of text. All ranks have ended. */
void nbc_threads_tell(const mpi_job_t *job, xy_text_t *text);
/* The same for the levels of split-tree. */
void nbc_splits_tell(xy_text_t *text);
void nbc_splits_reset(void); /* before a job */

/* The scheduled engine of collectives. */
extern const coll_engine_ops_t nbc_engine;

/* ---- Between the files of nbc ---- */

/* Queues of an executor: start, then one for each rank's wait, then one for each rank's thread. */
enum { NBC_QUEUE_START = 0, NBC_QUEUE_RANKS = 1 };

void nbc_schedule_hold(nbc_schedule_t *schedule);
void nbc_schedule_release(nbc_schedule_t *schedule);
/* Do an operation that was taken, and wake who may take what became ready. */
void nbc_do_op(nbc_schedule_t *schedule, xy_op_id_t op);
/* Callbacks of the executor: an operation came to a queue; `rank`'s call is complete, and
 * its worker is notified at once or in its mailbox; all is done. */
void nbc_on_ready(void *schedule, int queue);
void nbc_on_rank_over(void *schedule, int rank);
void nbc_on_over(void *schedule);

/* Members may have counts that others do not know. */
bool nbc_needs_all_counts(const coll_call_t *call);
bool nbc_wants(const coll_call_t *call);
/* The computation of ranks between start and Wait, for `adaptive` and `--comm-cores auto`. */
void nbc_measured_call(const coll_call_t *call, double seconds);
/* Fill call->rank_args, unless a start before has; packs. XY_ENOMEM is silent. */
xy_status_t nbc_rank_args_make(coll_call_t *call);
/* The schedule takes what is in place for `is_in_place`, whatever this member said. */
xy_status_t nbc_rank_args_adjust(coll_call_t *call, bool is_in_place);
/* The member's data is where the program wants it. Frees the member, unless it starts again. */
void nbc_rank_args_finish(coll_call_t *call);
void nbc_rank_args_destroy(coll_call_t *call); /* there may be none */

/* The data of a call: the collective, the elements and their size. */
void nbc_shape_size(const coll_call_t *call, nbc_shape_t *shape);
/* The shape that a call asks for, by its settings. With the lock of its communicator's nbc_comm_t
 * for a collective that may be split. */
void nbc_shape_make(const coll_call_t *call, nbc_shape_t *shape);
/* A graph and executor for it; `calls` [size] are all there where nbc_needs_all_counts. Says what
 * is wrong. */
xy_status_t nbc_cached_make(nbc_schedule_t *schedule, const nbc_shape_t *shape,
                            const coll_call_t *call, nbc_cached_schedule_t **cached_p);
void nbc_cached_destroy(nbc_cached_schedule_t *cached);

/* Choose what the settings leave to the model: the levels of a split, and how progress threads run.
 * With the lock of the communicator's nbc_comm_t. */
void nbc_shape_choose(const coll_call_t *call, nbc_shape_t *shape, nbc_way_t *way);
/* The graph that progress threads would execute, of a call whose counts are known. */
xy_status_t nbc_graph_make(const coll_call_t *call, const nbc_shape_t *shape, xy_graph_t **graph_p);

/* ---- The model (nbc_model.c) ---- */

void nbc_model_choose(const coll_call_t *call, nbc_shape_t *shape, nbc_way_t *way);
void nbc_model_forget(nbc_comm_t *nbc);
/* A call for xy_sim_choose(), with all settings open. */
xy_sim_case_t nbc_split_case(const coll_call_t *call, const nbc_shape_t *shape);

/* The costs of messages, for choosing algorithms: calibrated, or the default. */
extern xy_coll_link_t nbc_link;

extern const mpi_layer_t mpi_nbc_layer;

#endif
