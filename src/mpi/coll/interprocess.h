/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of members in several processes: messages on a hidden context, in the order of a
 * *schedule*.
 *
 *   schedule_receive(s, parent, buffer, count, type);
 *   schedule_wait(s);                                    (for all that was started before)
 *   schedule_send(s, child, buffer, count, type);
 *
 * The members of one process meet (interprocess.c). When all have arrived, one schedule works for
 * them: it reads and writes the buffers of all, and exchanges messages with other processes on
 * behalf of one of them, the *speaker*. So data crosses the network once for each process, and
 * collectives have as many partners as there are processes. Reductions whose order of ranks
 * alternates between processes have a schedule for each member instead, and so have
 * intercommunicators.
 *
 * A schedule runs on the worker of its member, or of the speaker, and continues when messages
 * complete: in any call of a rank there, in the worker's poll function, or at its gate while its
 * ranks compute. It does not distinguish blocking, nonblocking and persistent collectives.
 */
#ifndef XY_MPI_COLL_INTERPROCESS_H
#define XY_MPI_COLL_INTERPROCESS_H

#include <pthread.h>

#include "mpi/coll/coll.h"

enum { INTERPROCESS_SAID = 8 };

typedef struct interprocess_meeting interprocess_meeting_t;
typedef struct interprocess_adapted interprocess_adapted_t;

/* The members of a communicator in parts: a part for each process, or for each member. */
typedef struct {
    int parts;
    int *part_of;    /* [size] */
    int *first;      /* [parts]: the first member of each */
    int *place;      /* [size]: place of a member in its part */
    int *member;     /* [size]: members, part by part, in increasing order */
    int *begin;      /* [parts + 1]: where those of a part begin in `member` */
    bool is_ordered; /* the members of part i come before those of part i + 1 */
} interprocess_layout_t;

/* The shared part of a communicator with members in several processes (NULL there: in one). */
typedef struct coll_interprocess {
    interprocess_layout_t layout; /* by process */
    int own;                      /* the part of this process */
    int link; /* to the job of members of another one (p2p/peer_link.h); 0: all are of this one */
    /* The claims of the first member here about the last collectives, and the call site of a member
     * of another process in the one that is reported. */
    pthread_mutex_t lock;
    struct {
        uint64_t number; /* + 1; 0: none */
        coll_claim_t claim;
    } said[INTERPROCESS_SAID];
    _Atomic int told;
    _Atomic(const void *) told_at;
    interprocess_meeting_t *meetings; /* of collectives that not all members here have called */
    xy_coll_reconsidered_t *reconsidered;
    interprocess_adapted_t *adapting; /* of the schedule that is being made; or NULL */
} coll_interprocess_t;

/* The interprocess part of `group`; *interprocess_p stays NULL when all members are in this
 * process. XY_ENOMEM is silent. */
xy_status_t coll_interprocess_create(const mpi_group_t *group,
                                     coll_interprocess_t **interprocess_p);
void coll_interprocess_destroy(coll_interprocess_t *interprocess);

xy_status_t coll_interprocess_begin(const mpi_job_t *job);
/* Run a schedule that only the worker itself may run. False: there is none (mpi_far_t). */
bool coll_interprocess_run_staying(mpi_worker_t *worker);
void coll_interprocess_end(void);

/* Start a call that has its number. */
void coll_interprocess_start(mpi_rank_t *self, coll_call_t *call);

/* The tag of the messages of a call. */
int coll_interprocess_tag(const coll_call_t *call);

/* ---- Do the members say the same? (interprocess_claim.c) ---- */

/* Compare what a member says with what others of this process have said. */
void coll_interprocess_say(const coll_call_t *call);
/* The same for its messages. */
void coll_interprocess_claim(const coll_call_t *call, uint64_t words[2]);
/* A message of another process says something else than its receive (mpi_remote_differs). */
struct remote_letter;
void coll_interprocess_differs(const mpi_request_t *receive, const struct remote_letter *letter);
/* A call is complete: are there messages of it, or of an earlier one, without a receive? */
void coll_interprocess_look_back(const coll_call_t *call);
/* No rank can move: such messages may say why. */
void coll_interprocess_compare_stuck(const mpi_waiter_t *waiter);

/* ---- Schedules (interprocess_schedule.c) ---- */

typedef struct schedule schedule_t;

/* Messages of one lane are waited for together: those of a segment, while the next ones travel. */
enum { SCHEDULE_LANES = 4 };

/* An empty schedule of `call`, which reports call `named`, for the members of `meeting`, or (NULL)
 * the one. */
schedule_t *schedule_new(coll_call_t *call, const mpi_call_t *named,
                         interprocess_meeting_t *meeting);
/* Start or continue it: now, or when another one on its worker yields. */
void schedule_run_soon(schedule_t *s);
/* The call of the schedule that has started this message. */
const coll_call_t *schedule_call_of(const mpi_request_t *part);

void schedule_send(schedule_t *s, int peer, const void *buffer, int64_t count,
                   const mpi_type_t *type);
void schedule_receive(schedule_t *s, int peer, void *buffer, int64_t count, const mpi_type_t *type);
/* The lane of what is added from now on (modulo SCHEDULE_LANES); 0 at first. */
void schedule_lane(schedule_t *s, int64_t lane);
void schedule_wait_lane(schedule_t *s, int64_t lane);
void schedule_wait(schedule_t *s); /* for all lanes */
void schedule_copy(schedule_t *s, void *to, int64_t to_count, const mpi_type_t *to_type,
                   const void *from, int64_t from_count, const mpi_type_t *from_type);
/* inout = in op inout, with the operation and type of the call. */
void schedule_reduce(schedule_t *s, const void *in, void *inout, int64_t count);
/* inout = inout op in; `in` may change. */
void schedule_reduce_after(schedule_t *s, void *inout, void *in, int64_t count);
typedef void (*schedule_fn)(void *arg);
void schedule_do(schedule_t *s, schedule_fn fn, void *arg);
/* Memory for the duration of the call; never NULL. */
void *schedule_memory(schedule_t *s, size_t bytes);
/* The same for `count` elements of `type`: where the first one would be. */
void *schedule_vector(schedule_t *s, int64_t count, const mpi_type_t *type);
const mpi_type_t *interprocess_bytes_type(void);
/* Ends the job. */
void coll_interprocess_out_of_memory(void) __attribute__((noreturn, cold));

/* ---- Members of one process (interprocess.c, interprocess_reduce.c, interprocess_move.c) ---- */

typedef struct {
    const interprocess_layout_t *layout;
    int own;             /* the number of the part */
    int members;         /* of it */
    coll_call_t **calls; /* [members], by place */
    coll_call_t *call;   /* the speaker's */
} interprocess_part_t;

/* Does one schedule work for all members of a process? The same in all processes. */
bool interprocess_is_together(const coll_call_t *call);
/* The schedule is complete: end the calls of all members. */
void interprocess_meeting_end(interprocess_meeting_t *meeting);
/* The member of a part that speaks with other parts, where `root` does for its own. */
int interprocess_speaker(const interprocess_layout_t *s, int part, int root);
/* Plain bytes to one member, of `all` bytes that the members here get: so many that they go past
 * the caches, as inside one process. */
void interprocess_copy(void *to, const void *from, size_t bytes, uint64_t all);
void interprocess_build_reduction(schedule_t *s, const interprocess_part_t *part);
void interprocess_build_move(schedule_t *s, const interprocess_part_t *part);

/* Elements [begin, begin + count) of a vector of `total` that all members here shall have
 * (interprocess_move.c). */
typedef struct {
    const interprocess_part_t *part;
    const void *from; /* the whole vector */
    const mpi_type_t *type;
    int64_t begin, count, total;
} interprocess_share_t;

void schedule_share(schedule_t *s, const interprocess_share_t *all, int64_t begin, int64_t count);

/* ---- Which algorithm between processes (interprocess_choose.c) ---- */

typedef enum {
    INTERPROCESS_BINOMIAL, /* a tree */
    INTERPROCESS_CHAIN,    /* pieces from process to process */
    INTERPROCESS_SCATTER,  /* each gets its part, then they gather the parts */
    INTERPROCESS_DOUBLING, /* of how many a sum stands for */
    INTERPROCESS_RING,
    INTERPROCESS_HALVING, /* the vector, while sums double; then they gather */
    INTERPROCESS_LINEAR,  /* everyone to everyone */
    INTERPROCESS_BRUCK,   /* each round doubles what everyone has */
} interprocess_way_t;

typedef struct {
    interprocess_way_t way;
    const xy_coll_algorithm_t *algorithm; /* of src/coll */
    int64_t piece;                        /* bytes of a pipelined message; trees and chains */
    double seconds;
} interprocess_choice_t;

typedef struct {
    double latency;   /* seconds */
    double bandwidth; /* bytes per second */
    uint64_t eager;   /* bytes of the largest message that is sent at once */
} interprocess_cost_t;

/* For a vector, or (allgather) a block of each part, of so many bytes. */
interprocess_choice_t interprocess_choose(const interprocess_part_t *part,
                                          xy_collective_t collective, uint64_t bytes);
interprocess_choice_t interprocess_choose_by(const interprocess_cost_t *cost,
                                             xy_collective_t collective, int parts, uint64_t bytes);

/* ---- Reconsidering it (interprocess_adapt.c) ---- */

/* A call like `pick` begins, which has the algorithm of the plan (NULL: the usual choice). Returns
 * another one that it shall have; or NULL. */
const xy_coll_algorithm_t *interprocess_adapt_begin(const interprocess_part_t *part,
                                                    const xy_coll_reconsider_t *how,
                                                    const xy_coll_pick_t *pick, uint64_t bytes);
/* Measure the call, if it is one of these, and decide with the last one of a window. */
void interprocess_adapt_end(schedule_t *s, const interprocess_part_t *part);
void interprocess_adapt_cleanup(coll_interprocess_t *interprocess);

/* ---- Trees ---- */

/* A member's place in a tree. */
enum { INTERPROCESS_CHILDREN = 64 };
typedef struct {
    int parent; /* -1: it is the root */
    int children;
    int child[INTERPROCESS_CHILDREN]; /* the one with most below itself first */
} interprocess_tree_t;

/* The tree of the speaker of `part` among those of all parts, below that of part `top`; or in a
 * chain. */
void interprocess_tree_parts(const interprocess_layout_t *s, int part, int top, int root,
                             bool is_chain, interprocess_tree_t *tree);
/* The tree of a member among [first, end) in the order of their ranks: below a member are those
 * that follow it. The root is `first`. */
void interprocess_tree_ordered(int first, int end, int rank, interprocess_tree_t *tree);

/* The schedule of a member of an intercommunicator (interprocess_intercomm.c). */
void interprocess_build_inter(schedule_t *s, const coll_call_t *call);

#endif
