/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the files of the part. */
#ifndef XY_MPI_VIRTUAL_PRIVATE_H
#define XY_MPI_VIRTUAL_PRIVATE_H

#include "mpi/coll/coll.h"
#include "mpi/virtual/virtual.h"
#include "mpi/virtual/virtual_code.h"

/* One that the job gives turns: a rank, or a thread of it. */
typedef struct {
    mpi_rank_t *rank;
    int32_t number;        /* in the job */
    double ahead;          /* seconds that its code took, and that the job has not been told of */
    virtual_since_t since; /* timed: when the program's code began to run; wall 0: it does not */
    bool has_turn;
    mpi_message_t found;       /* message found by its last probe */
    struct mpi_thread *thread; /* NULL: it is the rank */
} virtual_turn_t;

typedef struct {
    virtual_turn_t own;
    double factor;                               /* timed: what a second of its code takes there */
    uint64_t receives;                           /* that it has started */
    struct virtual_send *first_left, *last_left; /* messages to it that it has not received */
} virtual_rank_t;

enum { VIRTUAL_THREADS = 16384 }; /* of all ranks at a time */

typedef struct {
    const virtual_config_t *config;
    xy_vjob_t *job;
    mpi_worker_t *worker;
    xy_fiber_t *driver;
    virtual_rank_t *ranks;    /* [capacity] */
    virtual_turn_t **threads; /* [VIRTUAL_THREADS] by their numbers after those of ranks; or NULL */
    virtual_looks_t looks;    /* timed */
    xy_trace_t *trace;
    void (*stuck)(void); /* reports, and ends the process */
} virtual_t;

extern virtual_t virtual;

/* The turn of the calling thread; NULL: it runs the fibers of ranks. */
extern _Thread_local virtual_turn_t *virtual_thread __attribute__((tls_model("initial-exec")));

static inline virtual_turn_t *virtual_turn(const mpi_rank_t *self)
{
    return virtual_thread != NULL ? virtual_thread : &virtual.ranks[self->world].own;
}

/* The number of the caller in the job. */
static inline int32_t virtual_number(const mpi_rank_t *self)
{
    return virtual_turn(self)->number;
}

/* ---- Turns (drive.c) ---- */

/* Around everything that a rank asks of the job: its code has run until now, and runs again. */
void virtual_enter(mpi_rank_t *self);
void virtual_leave(mpi_rank_t *self);
/* A call of the job was false: others continue until it is the rank's turn again. */
void virtual_give_way(mpi_rank_t *self);
/* A call of the job failed, and has said why. */
void virtual_fail(void) __attribute__((noreturn));
/* As mpi_clock_t.look. */
void virtual_look(mpi_rank_t *self);

/* ---- Times of another run (times.c) ---- */

/* `size` ranks must be there, and as many as `most` may be. */
xy_status_t virtual_times_read(const char *path, int size, int most);
/* Seconds that the code of the rank took before the call that it makes now. */
double virtual_times_before(int rank, const char *name);

/* ---- Messages (virtual_messages.c) ---- */

extern const struct mpi_p2p_engine virtual_messages;
/* No rank can continue, and reports come: requests are complete in the job, although the rank that
 * waits for others as well has not looked. */
void virtual_note_over(void);
/* Callbacks of the job. */
void virtual_capture(void *owner, void *send_data);
void virtual_copy(void *owner, void *send_data, void *receive_data);
void virtual_drop(void *owner, void *send_data);
void virtual_refuse_unready(void *owner, void *send_data);

/* ---- Collectives (colls.c) ---- */

/* One member's part of a collective: the `engine` of its request. */
typedef struct {
    struct virtual_coll *coll;
    xy_vreq_t *request;
    coll_call_t *call;
} virtual_part_t;

extern const coll_engine_ops_t virtual_colls;
/* The part of a member has ended: it takes its data. */
void virtual_part_finish(virtual_part_t *part);

#endif
