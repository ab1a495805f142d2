/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The activity of each core, recorded while a job runs, for `--trace`.
 *
 * One row per worker; its time is cut into states, each written when the next one begins:
 *   compute   a rank is in its own code
 *   MPI       a rank runs inside a call, which the label names
 *   progress  pieces of a collective or of a large copy, its own or another worker's
 *   wait      all ranks of the core wait, and it looks for work; a communication core likewise
 *   idle      it sleeps
 * While pieces of a nonblocking collective are worked on, a message from each core with members to
 * itself is in progress: the part of it during computation is overlap. A point-to-point message
 * goes from the core of the sender, when it is sent, to that of the receiver, when it meets its
 * receive; of many, only those that a filter lets through. The data of a one-sided operation is
 * such a message, too, during its call.
 *
 * Besides the drawn states, each rank's calls are recorded with their places in the program, and
 * its parts in collectives; with the messages, later predictions can replay the run.
 *
 * The file is written beside its place as FILE.part and renamed when the job ends, however it ends.
 * Memory is bounded by the buffers of the rows. Off, each hook is one predicted branch.
 */
#ifndef XY_MPI_RUNTIME_TRACE_H
#define XY_MPI_RUNTIME_TRACE_H

#include "mpi/runtime/rank.h"
#include "trace/trace.h"

typedef struct mpi_trace mpi_trace_t;

/* A state of a core, to come back to. */
typedef struct {
    uint32_t kind, label;
    int64_t id;
} mpi_trace_state_t;

/* Record the workers of `job` from now on; before it runs, after mpi_job_create with is_traced. */
xy_status_t mpi_trace_start(mpi_job_t *job, const char *path, const char *title);
/* In virtual time the clock of the job records calls instead (job_clock.h). */
void mpi_trace_virtual(mpi_job_t *job);
/* The point-to-point messages to record: "all" (also NULL), "none", a size (those with at least so
 * many bytes), "ranks:LIST" (those from or to these ranks). Before mpi_trace_start. EUSAGE: none of
 * these. */
xy_status_t mpi_trace_filter(const char *which, int size);
/* The job has ended: close and rename. Nothing to do without a trace. */
xy_status_t mpi_trace_finish(void);
/* The process ends at once: the same in silence. Any thread, signal handlers too; not in a child of
 * fork. */
void mpi_trace_cut(void);

/* The hook of idle workers: see xy_pool_config_t. */
void mpi_trace_idle(xy_worker_t *w, xy_idle_t what, xy_fiber_t *fiber);

/* Slow halves of the hooks below. */
mpi_trace_state_t mpi_trace_put_begin(mpi_trace_t *trace, const char *name);
void mpi_trace_put_end(mpi_trace_t *trace, mpi_trace_state_t before);
/* The work since the last begin was `bytes` of a collective that ranks of `worker` wait for. */
void mpi_trace_put_message(mpi_trace_t *trace, const mpi_worker_t *worker, uint64_t bytes);

/* A point-to-point message. Both ends say the same of it: ranks are those of MPI_COMM_WORLD. */
typedef struct {
    int from, to, tag;
    uint32_t context;
    uint64_t bytes;
    const char *name; /* of what was sent, which lives for ever; NULL: what the sender is doing */
} mpi_trace_message_t;

/* `self`, which has a trace, takes part in a collective. */
void mpi_trace_put_collective(mpi_rank_t *self, const xy_trace_collective_t *c);
void mpi_trace_put_sent(mpi_trace_t *trace, const mpi_trace_message_t *m);
void mpi_trace_put_received(mpi_trace_t *trace, const mpi_trace_message_t *m);
/* The same without a second end: a rank of the worker of `trace` has moved it, in the call that it
 * is in. */
void mpi_trace_put_moved(mpi_trace_t *trace, const mpi_trace_message_t *m);

/* Work on pieces begins on the worker of `trace` (NULL: not recorded); `name` lives for ever. */
static inline mpi_trace_state_t mpi_trace_begin(mpi_trace_t *trace, const char *name)
{
    if (__builtin_expect(trace != NULL, 0))
        return mpi_trace_put_begin(trace, name);
    return (mpi_trace_state_t){0};
}

/* The current activity of the core. */
mpi_trace_state_t mpi_trace_state(const mpi_trace_t *trace);

static inline void mpi_trace_end(mpi_trace_t *trace, mpi_trace_state_t before)
{
    if (__builtin_expect(trace != NULL, 0))
        mpi_trace_put_end(trace, before);
}

#endif
