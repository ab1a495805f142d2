/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided communication with ranks of other processes.
 *
 * The origin checks everything and sends a letter (p2p/remote.h), which names the window, the
 * address and the layout in the process of the target. There the worker of the target does the
 * operation, or, while its ranks compute, a helper at its gate: the program of the target takes no
 * part.
 *
 *   origin                                  in the process of the target
 *   PUT, data                          ->
 *   PUT_LARGE, and a message           ->   receives it into the window; DONE
 *   GET                                ->   RESULT, data
 *   GET_LARGE                          ->   a message, from the window
 *   ACCUMULATE, data                   ->   RESULT, data: if it fetches
 *   SWAP, two elements                 ->   RESULT
 *   TYPE, a part of a layout           ->   for the operations that follow
 *   LOCK, LOCK_ALL                     ->   ANSWER, when it is granted
 *   UNLOCK, UNLOCK_ALL, FLUSH, FIND    ->   ANSWER
 *   NOTE                               ->   for its watch (rma_watch_t)
 *   SEVERAL, letters                   ->   each of them
 *
 * Small puts and accumulates are held back until the next letter to the same member that is not one
 * of them, such as the FLUSH of MPI_Win_flush: they leave together, as SEVERAL.
 *
 * Letters of one rank to another are handled in the order in which they were sent. So are
 * accumulates, of which a large one is several letters; an ANSWER says that all before it are done;
 * and the message of MPI_Win_complete comes behind the operations that it completes. Large messages
 * go their own way: an operation is pending until its DONE, RESULT or message has come.
 *
 * Handlers never wait. Operations may wait when much is in flight; these waits need no call of the
 * target.
 */
#ifndef XY_MPI_RMA_FAR_H
#define XY_MPI_RMA_FAR_H

#include "mpi/rma/rma.h"
#include "mpi/rma/rma_operation.h"

typedef enum {
    RMA_FAR_PUT,
    RMA_FAR_PUT_LARGE,
    RMA_FAR_GET,
    RMA_FAR_GET_LARGE,
    RMA_FAR_ACCUMULATE,
    RMA_FAR_SWAP,
    RMA_FAR_TYPE,
    RMA_FAR_FLUSH,
    RMA_FAR_FIND,
    RMA_FAR_NOTE,
    RMA_FAR_LOCK,
    RMA_FAR_LOCK_ALL,
    RMA_FAR_UNLOCK,
    RMA_FAR_UNLOCK_ALL,
    RMA_FAR_RESULT,
    RMA_FAR_DONE,
    RMA_FAR_ANSWER,
    RMA_FAR_SEVERAL,
} rma_far_kind_t;

/* The fields of a letter in its head (remote_head_t: `flags` is the kind). */
typedef struct {
    uint64_t window;  /* mpi_win_t of the receiver; of an answer: what it was asked for */
    uint64_t id;      /* identifies the answer: rma_pending_t or rma_answers_t of the origin */
    uint64_t address; /* in the process of the target */
    int64_t count;    /* elements of the type */
    uint64_t offset;  /* of the first byte, among the data bytes of all of them; FIND: the end */
    uint64_t bytes;   /* of data, from there on */
    int32_t origin;   /* rank in the window */
    uint16_t type;    /* of the predefined ones; or RMA_FAR_SLOT and more: one that was described */
    uint8_t op;       /* of the predefined ones */
    uint8_t flag;     /* ACCUMULATE: it fetches; LOCK: exclusively; FIND: there are holes */
} rma_far_wire_t;

_Static_assert(sizeof(rma_far_wire_t) == REMOTE_WORDS, "fits");

/* Layouts that an origin has described to a target; both keep so many. */
enum { RMA_FAR_SLOTS = 8, RMA_FAR_SLOT = XMPI_TYPE_TABLE };

/* The data of a member of a window about another one, of another process. */
struct rma_peer {
    int rank;           /* in the window */
    uint64_t unflushed; /* as an origin: bytes, heads included, since the last FLUSH */
    char *held;         /* letters that were not sent yet, held_size bytes; or NULL */
    size_t held_size;
    bool is_listed; /* in rma_far_t.dirty */
    rma_peer_t *next_dirty;
    mpi_type_t *described[RMA_FAR_SLOTS]; /* by this member to the other; held */
    unsigned next_slot;
    mpi_type_t *known[RMA_FAR_SLOTS]; /* as a target: what the other has described */
    char *description;                /* that has come in part */
};

/* A rank waits for `left` answers. On its stack. */
struct rma_answers {
    mpi_request_t request;
    mpi_win_t *win;
    int left;
    uint64_t value;      /* of the last one */
    rma_answers_t *next; /* of those that wait for all that is pending */
};

/* An operation that is not over when its call returns. */
struct rma_pending {
    mpi_win_t *win;
    rma_side_t to;          /* where results go; its type is held, or NULL */
    uint64_t left;          /* bytes, or DONE */
    mpi_request_t *request; /* of the program, or NULL */
    /* In a job that survives: */
    int target;
    bool is_message; /* ends with its message, as that does */
    rma_pending_t *next, **link;
};

/* `memory`; NULL: the job ends. What others wait for cannot just fail. */
void *rma_far_memory(void *memory);

/* ---- Letters ---- */

/* To member `to` of the window, of another process. `wire->window` and `origin` are filled in. */
void rma_far_send(mpi_win_t *win, int to, rma_far_kind_t kind, rma_far_wire_t *wire,
                  const void *data, size_t size);
/* Send what is held for `target`, or for RMA_EVERYWHERE. */
void rma_far_drain(const mpi_win_t *win, int target);
/* The next letter of SEVERAL, from *at on; false: there is none. *wire has the window and the
 * origin, and gets the rest. */
bool rma_far_next(const char **at, const char *end, rma_far_kind_t *kind, rma_far_wire_t *wire,
                  const char **data, size_t *size_p);
/* The answer to `letter`, with these words. */
void rma_far_reply(int process, int world, rma_far_kind_t kind, const rma_far_wire_t *wire,
                   const void *data, size_t size);
/* Into the trace, if there is one: data of an operation `name` (NULL: of the call that the rank is
 * in) has left for member `peer`, or has come from it. `tag`: RMA_TAG_LETTER, or of the message. */
void rma_far_trace(const mpi_win_t *win, int peer, int tag, size_t bytes, bool is_sent,
                   const char *name);
/* Data bytes that fit into a letter of an accumulate: whole elements of `element`. */
size_t rma_far_room(size_t element);

/* ---- Answers ---- */

/* `left` of them will come, for the call that the rank is in. */
void rma_answers_begin(rma_answers_t *answers, mpi_win_t *win, int left);
/* Send a letter that `target` answers: one more will come. */
void rma_answers_ask(rma_answers_t *answers, mpi_win_t *win, int target, rma_far_kind_t kind,
                     rma_far_wire_t wire);
void rma_answers_wait(mpi_rank_t *self, rma_answers_t *answers); /* parks */
/* One has come; on the worker of the rank that waits, or at its gate. */
void rma_answers_come(rma_answers_t *answers, uint64_t value);

/* ---- Peers and their types (far_types.c) ---- */

rma_peer_t *rma_far_peer(mpi_win_t *win, int rank);
/* The number of `type` in letters to `peer`, which is described first if it has to be. */
uint16_t rma_far_type(mpi_win_t *win, rma_peer_t *peer, mpi_type_t *type);
/* The type behind a number in letters of `peer`. */
mpi_type_t *rma_far_known(const rma_peer_t *peer, uint16_t type);
/* A part of a description has come. */
void rma_far_describe(rma_peer_t *peer, const rma_far_wire_t *wire, const char *data);
void rma_far_destroy(mpi_win_t *win);

/* ---- Operations, whose arguments are right. They may park. ---- */

void rma_far_put(mpi_rank_t *self, rma_operation_t *o, const rma_side_t *origin);
void rma_far_get(rma_operation_t *o, const rma_side_t *origin);
/* `origin` is NULL with MPI_NO_OP, `result` where nothing is fetched. */
void rma_far_accumulate(mpi_rank_t *self, rma_operation_t *o, const mpi_type_t *element,
                        const mpi_op_t *op, const rma_side_t *origin, const rma_side_t *result);
void rma_far_swap(mpi_rank_t *self, rma_operation_t *o, const void *origin, const void *compare,
                  void *result);
/* Is [low, high) attached by `target` of a dynamic window? Asks it. */
bool rma_far_is_attached(mpi_win_t *win, int target, uint64_t low, uint64_t high, bool has_holes);

/* Let the next message to `target` say that all before it is done. */
void rma_far_follow(mpi_win_t *win, int target);

/* Messages with the data of large operations: `over` is called when it has come, with `extra` in
 * the request. To or from a member of another process, as `win->owner`; `name` for traces, as
 * above. */
void rma_part_receive(mpi_win_t *win, int from, int tag, const rma_side_t *side,
                      void (*over)(mpi_request_t *part), void *extra);
void rma_part_send(mpi_win_t *win, int to, int tag, const rma_side_t *side, uint64_t bytes,
                   const char *name);

/* Something of a pending operation has come: bytes, or its DONE. */
void rma_pending_come(rma_pending_t *pending, uint64_t bytes);
/* Its target has failed. */
void rma_pending_fail(rma_pending_t *pending);

/* ---- Handling (far_serve.c) ---- */

/* A letter for a rank of this process: mpi_remote_one_sided. */
void rma_far_told(mpi_win_t *win, int from, const rma_far_wire_t *wire, const char *data);
void rma_far_serve(mpi_worker_t *worker, const remote_letter_t *letter);

/* ---- Locks of targets here, for origins elsewhere (locks.c) ---- */

/* The letter `wire` of a rank of another process: answered when the lock is its own. */
void rma_far_lock(mpi_win_t *win, int process, int world, bool is_all, const rma_far_wire_t *wire);
void rma_far_unlock(mpi_win_t *win, int origin, bool is_all);

#endif
