/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests: operations that have been started and not yet been completed by the program.
 *
 * A request belongs to one rank and is touched by that rank's worker only; completions that happen
 * on another worker come as packets. So `is_done` is a plain flag.
 */
#ifndef XY_MPI_P2P_REQUEST_H
#define XY_MPI_P2P_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi.h"
#include "mpi/p2p/transfer.h"

typedef enum {
    XMPI_KIND_SEND,
    XMPI_KIND_RECV,
    XMPI_KIND_COLL,
    XMPI_KIND_GENERALIZED,
    XMPI_KIND_REMOTE, /* MPI_Rput and its like */
    XMPI_KIND_FLUSH,  /* of an attached buffer */
    XMPI_KIND_PSEND,  /* partitioned (partitioned.h) */
    XMPI_KIND_PRECV,
    XMPI_KIND_FILE, /* MPI_File_iread and its like; `extra` points to a text: why it has failed */
} mpi_request_kind_t;

typedef struct {
    int source, tag, error; /* as in MPI_Status */
    bool is_cancelled;
    uint64_t bytes;           /* received */
    uint64_t truncated_bytes; /* sent, and not received for lack of room; and then: */
    const void *sent_at;      /* where the sender called */
} mpi_completion_t;

struct mpi_request {
    xy_match_entry_t entry; /* receive: in the posted table (must be first) */
    mpi_request_kind_t kind;
    mpi_mode_t mode;
    bool is_done;
    bool is_persistent; /* and then: */
    bool is_active;
    bool is_posted;  /* receive: sits in the posted table */
    bool is_freed;   /* the program gave the handle up; goes back to the pool when done */
    bool is_message; /* from MPI_Imrecv */
    mpi_rank_t *owner;
    mpi_waiter_t *waiter; /* its completion counts for this one; or NULL */
    mpi_comm_t *comm;     /* referenced while the request lives */
    void *buffer;         /* of a collective: its mpi_meeting_t, where time is counted, or NULL */
    int64_t count;
    mpi_type_t *type; /* referenced, or NULL */
    uint64_t bytes;   /* of a send: packed size; of a receive: capacity */
    int peer, tag;    /* ranks in comm as the program gave them */
    mpi_call_t call;  /* where it was started */
    mpi_completion_t completion;
    void (*start)(mpi_request_t *request);   /* persistent: MPI_Start */
    void (*release)(mpi_request_t *request); /* kind-specific clean-up; may be NULL */
    void *extra; /* of the kind (collective, generalized), or of what it is part of */
    union {
        mpi_request_t *partner; /* receive: the send whose bytes a communication core copies */
        void *engine;           /* started by another engine (p2p_engine.h) */
        uint64_t given;         /* send to another process: bytes that have left (remote.h) */
    };
    mpi_request_t *next_free; /* in its pool; of a receive, in a mailbox (offload.c) */
    mpi_request_t *next_part; /* of what it is part of; one in a mailbox may be such a part */
    mpi_request_t *next_made; /* among all of its worker */
};

/* A fresh request of the calling rank from its worker's pool; NULL: memory ran out (reported). */
mpi_request_t *mpi_request_new(mpi_rank_t *self, mpi_request_kind_t kind);
/* Fill `request` (on the stack or from the pool) for an operation of `self`, and for one on `t`. */
void mpi_request_init(mpi_request_t *request, mpi_rank_t *self, mpi_request_kind_t kind);
void mpi_request_describe(mpi_request_t *request, const mpi_transfer_t *t);
/* Give it back, with its references. */
void mpi_request_free(mpi_request_t *request);

/* Called on the owner's worker: the operation is complete. Readies the one that waits for this. */
void mpi_request_complete(mpi_request_t *request);

/* The same for a request whose owner may live on another worker. Called on `worker`. */
void mpi_request_done(mpi_worker_t *worker, mpi_request_t *request);

/* Into the account of its owner, which is observed and waits for it. */
void mpi_request_account(const mpi_request_t *request) __attribute__((cold));

/* `self` is going to wait for `requests`, or tests (NULL): what asked for it progresses. */
static inline void mpi_request_before_wait(mpi_rank_t *self, mpi_request_t *const *requests,
                                           int count)
{
    if (__builtin_expect(self->deferred != NULL || self->schedules > 0, 0))
        mpi_layers_wait(self, requests, count);
}

/* `self` tests, and not all of them (`any`: none) are done: what asked for it progresses, other
 * ranks run. */
void mpi_request_look(mpi_rank_t *self, mpi_request_t *const *requests, int count, bool any);
/* Park until `request` is done; one thread may wait for it at a time. Polls first. */
void mpi_request_wait(mpi_rank_t *self, mpi_request_t *request);

/* ... until all that the rank has started on `comm` is done. */
void mpi_requests_wait_on(mpi_rank_t *self, const mpi_comm_t *comm);

static inline mpi_request_t *mpi_request_of(MPI_Request handle)
{
    return (mpi_request_t *)(void *)handle;
}

static inline MPI_Request mpi_request_handle(mpi_request_t *request)
{
    return (MPI_Request)(void *)request;
}

/* Raise what went wrong with a finished request (truncation); MPI_SUCCESS when nothing did. */
int mpi_request_raise(const mpi_request_t *request);
/* The end of a finished request in Wait and Test: status out, error raised when `raise`, persistent
 * ones become inactive, others are freed and *handle becomes MPI_REQUEST_NULL. Returns the error.
 */
int mpi_request_finish(MPI_Request *handle, MPI_Status *status, bool raise);
/* Generalized requests (grequest.c): query_fn; free_fn, after which the request can be freed; both;
 * and cancel_fn, whose error is raised. The others return what the functions of the program return,
 * for mpi_grequest_raise or a status. */
int mpi_grequest_query(mpi_request_t *request, MPI_Status *status);
int mpi_grequest_release(mpi_request_t *request);
int mpi_grequest_finish(mpi_request_t *request, MPI_Status *status);
int mpi_grequest_cancel(mpi_request_t *request);
int mpi_grequest_raise(int error);

/* MPI_REQUEST_NULL or an inactive persistent request: nothing to wait for. */
static inline bool mpi_request_is_empty(MPI_Request handle)
{
    return handle == MPI_REQUEST_NULL || !mpi_request_of(handle)->is_active;
}

/* A handle that was completed or freed before, and kept. Another request may have its memory by
 * now; it is not told apart then. */
static inline bool mpi_request_is_over(MPI_Request handle)
{
    return handle != MPI_REQUEST_NULL && !mpi_request_of(handle)->is_active &&
           !mpi_request_of(handle)->is_persistent;
}
/* Raise it. */
int mpi_request_refuse_over(MPI_Request handle);
/* Raise: `request` is waited for already, by another thread or earlier in the list of requests. */
int mpi_request_refuse_waiter(const mpi_request_t *request) __attribute__((cold));
/* No handle names it any more: it is freed when it is complete, or now. Returns what a generalized
 * request raises. */
int mpi_request_abandon(mpi_request_t *request);

/* The empty status, and an completion as a status, which leaves MPI_ERROR alone. MPI_STATUS_IGNORE
 * is fine. */
void mpi_status_set_empty(MPI_Status *status);
void mpi_status_set(MPI_Status *status, const mpi_completion_t *completion);

/* Free the pools of the workers. */
void mpi_requests_cleanup(mpi_job_t *job);

#endif
