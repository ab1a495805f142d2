/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs that survive (--survive): the failure of a rank is an error of the calls that need it.
 *
 * mpiexec detects failures and reports them to all processes in one order: the list of failed ranks
 * of one process is a prefix of that of another. So a length of the list identifies the same set of
 * failed ranks in all processes.
 *
 *   mpi_survive_fail_process(2);      (mpiexec has noticed it; any thread)
 *   mpi_survive_error(comm, 5)        (MPIX_ERR_PROC_FAILED, if rank 5 of it was there)
 *
 * A notice ends the waits for the rank, on the worker of each waiting rank: receives without a
 * message are taken back, and so are sends to live processes, whose answers still come. Messages
 * that a dead process has sent come first: its requests end when its connection is closed
 * (mpi_survive_lost), after which the transport touches no buffer of them.
 *
 * Collectives are messages here (coll/interprocess.h): those on communicators with a failed member
 * end with an error in all processes.
 *
 * mpiexec also coordinates agreements (mpi_agree_start): it knows the failed ranks, and the job
 * ends with it. Revocations go through it as well.
 */
#ifndef XY_MPI_P2P_SURVIVE_H
#define XY_MPI_P2P_SURVIVE_H

#include "mpi/p2p/request.h"

/* Messages of processes to mpiexec, and its answers. */
typedef enum { XMPI_AGREE_FLAG, XMPI_AGREE_SHRINK, XMPI_AGREE_END } mpi_agree_kind_t;

typedef struct {
    uint32_t context, number; /* the communicator, and which of its agreements */
    int32_t rank;             /* world rank of the one who says it */
    int32_t kind;
    int32_t flag;
    int32_t acked;     /* how many of the list it has acknowledged */
    uint32_t proposal; /* a new context */
    int32_t size;      /* of the members, which follow as world ranks (int32_t) */
} mpi_agree_ask_t;

typedef struct {
    uint32_t context, number;
    int32_t flag;      /* bitwise and of all */
    int32_t failures;  /* how many of the list had failed */
    int32_t acked;     /* that all have acknowledged */
    uint32_t proposal; /* of the first member that lives */
} mpi_agree_answer_t;

/* How this process reaches mpiexec. Any thread. */
typedef struct {
    void (*lost)(int process); /* it is not reached any more, and nothing is known of its end */
    void (*failed)(int rank);  /* of this process: it has ended before MPI_Finalize */
    void (*revoke)(uint32_t context);
    void (*agree)(const void *ask, size_t size);
} mpi_survive_ops_t;

/* Does the job survive? Written before ranks run. */
extern bool mpi_survives;

/* Before the processes are connected; `process_of` [started] lives as long as the job. Each process
 * may have `room` more ranks, which it spawns: they follow those that are started. */
xy_status_t mpi_survive_setup(const mpi_survive_ops_t *ops, const int *process_of, int started,
                              int room, int processes);
/* The ranks are there: they send and receive with an eye to failures. */
void mpi_survive_begin(mpi_job_t *job);
void mpi_survive_end(void);

/* ---- Notices of mpiexec; any thread ---- */

void mpi_survive_fail_process(int process);
void mpi_survive_fail_rank(int rank);
void mpi_survive_revoke(uint32_t context);
void mpi_survive_agreed(const mpi_agree_answer_t *answer);

/* ---- The network ---- */

/* The connection to a process is closed: nothing comes from there, inside an event. */
void mpi_survive_lost(int process);
/* After events: end the requests of processes that are lost. */
void mpi_survive_settle(void);

/* ---- Ranks ---- */

/* How many have failed, and the world rank of number `i` of them. */
int mpi_survive_count(void);
int mpi_survive_rank(int i);
bool mpi_survive_is_revoked(const mpi_comm_t *comm);
/* Number of failures in [from, to) of the list that are members of `comm` (both groups). */
int mpi_survive_members(const mpi_comm_t *comm, int from, int to);
/* Has mpiexec reported the rank as failed, or the process as dead? */
bool mpi_survive_is_failed(int world);
bool mpi_survive_is_dead(int process);
/* The error class that keeps a call on `comm` from working, or MPI_SUCCESS. `peer`: of a message,
 * or MPI_UNDEFINED of a collective. */
int mpi_survive_error(const mpi_comm_t *comm, int peer);
static inline bool mpi_survive_is_class(int error)
{
    return error == MPIX_ERR_PROC_FAILED || error == MPIX_ERR_PROC_FAILED_PENDING ||
           error == MPIX_ERR_REVOKED;
}
/* Raise it. */
int mpi_survive_raise(mpi_comm_t *comm, int error);
/* A receive from any source that has ended as MPIX_ERR_PROC_FAILED_PENDING waits again. True: it
 * has got a message. */
bool mpi_survive_again(mpi_request_t *request);
/* `self` has acknowledged failures in `comm`: all of its receives there that are pending. */
void mpi_survive_acknowledge(mpi_rank_t *self, const mpi_comm_t *comm);
/* Was the request made for the program's handle, not for one call? */
bool mpi_survive_is_kept(const mpi_request_t *request);
/* Has the process of a rank failed, and has `worker` handled all that came from there? */
bool mpi_survive_is_over(const mpi_worker_t *worker, int world);
/* Has a rank failed, and will nothing come from it? That of a live process has ended by itself. */
bool mpi_survive_is_gone(const mpi_worker_t *worker, int world);
/* The calling rank has ended before MPI_Finalize. */
void mpi_survive_leave(mpi_rank_t *self);

/* ---- Between survive.c and survive_messages.c ---- */

/* Has any rank failed, or any communicator been revoked? */
bool mpi_survive_has_notices(void);
/* The end of the messages from a rank's process, which are all in the mailboxes: its number, 0: not
 * yet; and how many of them there are. */
int mpi_survive_end_of(int world);
int mpi_survive_ends(void);
/* Something has changed: all workers end the requests that wait in vain. Any thread. */
void mpi_survive_look(void);

/* ---- Agreements ---- */

const mpi_survive_ops_t *mpi_survive_ops(void);

/* The purpose of an agreement, until it is complete. */
typedef struct mpi_agree {
    mpi_agree_answer_t answer; /* where it is */
    mpi_request_t *request;    /* completes then; `extra` is this */
    struct mpi_agree *next;
    /* On the worker, before the request is complete; or NULL. */
    void (*done)(struct mpi_agree *agree);
} mpi_agree_t;

/* Start one on the members of `comm` (both groups), whose `kind` and values are the same kind in
 * all; `agree->request` is set, and belongs to `self`. XY_ENOMEM is silent. */
xy_status_t mpi_agree_start(mpi_rank_t *self, mpi_comm_t *comm, mpi_agree_kind_t kind, int flag,
                            mpi_agree_t *agree);
/* The same, and wait for it. */
xy_status_t mpi_agree_run(mpi_rank_t *self, mpi_comm_t *comm, mpi_agree_kind_t kind, int flag,
                          mpi_agree_answer_t *answer_p);
/* All live members of `comm` call this: do all pass true? *is_whole_p: none has failed. Both are
 * the same in all. Parks. */
bool mpi_agree_all(mpi_rank_t *self, mpi_comm_t *comm, bool is_fine, bool *is_whole_p);

#endif
