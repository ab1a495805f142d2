/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine that moves messages: this part itself (message.c), a simulated job, in virtual time,
 * or, with --check, one that examines them first (src/mpi/check). An engine registers before ranks
 * run. A request that it has started and that is not done belongs to it: `engine` of the request is
 * its own.
 *
 * Requests complete only inside calls of their rank: `wait` and `test` detect completion, set
 * is_done and call mpi_request_complete for parts of others (multi_request.h).
 */
#ifndef XY_MPI_P2P_P2P_ENGINE_H
#define XY_MPI_P2P_P2P_ENGINE_H

#include "mpi/p2p/message.h"

typedef struct mpi_p2p_engine {
    /* As mpi_send_start, mpi_recv_start and mpi_recv_message; a buffered send has no request. */
    bool (*send)(mpi_rank_t *self, const mpi_transfer_t *t, uint64_t bytes, mpi_request_t *request);
    void (*receive)(mpi_rank_t *self, mpi_request_t *request);
    void (*receive_message)(mpi_rank_t *self, mpi_request_t *request, mpi_message_t *message);
    /* Until all that are pending, or with `any` at least one, are done; a look at them. */
    void (*wait)(mpi_rank_t *self, mpi_request_t *const *requests, int count, bool any);
    void (*test)(mpi_rank_t *self, mpi_request_t *const *requests, int count, bool any);
    /* A message that fits, or NULL when there is none and `waits` is false. Valid until the rank
     * does something else, unless `takes`. */
    mpi_message_t *(*probe)(mpi_rank_t *self, const xy_envelope_t *envelope, mpi_comm_t *comm,
                            bool waits, bool takes);
    /* For a request that is not done: MPI_Cancel of a send or receive, MPI_Request_free. */
    void (*cancel)(mpi_rank_t *self, mpi_request_t *request);
    void (*free)(mpi_request_t *request);
    /* The program has completed the request, or knows that it is complete; may be NULL. */
    void (*finish)(mpi_request_t *request);
    /* A message of a request for several (multi_request.h) begins: the buffer that it is to use,
     * that of `t` if it sends; may be NULL. */
    const void *(*part)(mpi_request_t *whole, const mpi_transfer_t *t, bool is_receive);
    /* A partition that was received has come into `buffer`; may be NULL. */
    void (*part_over)(const mpi_request_t *whole, const void *buffer);
    /* Between workers and processes; may be NULL. On the worker of the receiver: is there a receive
     * for a message that has met none? */
    bool (*expects)(const mpi_rank_t *to, const xy_envelope_t *envelope);
    /* Data of another process is going to be read from or written to a buffer of the program, on
     * its worker: where this is set, the network itself does not write there. */
    void (*touch)(const void *buffer, int64_t count, mpi_type_t *type);
    /* A receive of an observed rank has met its message, whose data are going to be written, and
     * all of it has come; on its worker. May be NULL. */
    void (*meet)(const mpi_request_t *receive);
    void (*arrive)(const mpi_request_t *receive);
} mpi_p2p_engine_t;

/* NULL: message.c. Written before ranks run. */
extern const mpi_p2p_engine_t *mpi_p2p_engine;

static inline void mpi_engine_finish(mpi_request_t *request)
{
    if (__builtin_expect(mpi_p2p_engine != NULL, 0) && mpi_p2p_engine->finish != NULL)
        mpi_p2p_engine->finish(request);
}

static inline void mpi_engine_touch(const void *buffer, int64_t count, mpi_type_t *type)
{
    if (__builtin_expect(mpi_p2p_engine != NULL, 0) && mpi_p2p_engine->touch != NULL)
        mpi_p2p_engine->touch(buffer, count, type);
}

/* A receive that takes messages later than they come is none for the queues. */
static inline bool mpi_engine_expects(const mpi_rank_t *to, const xy_envelope_t *envelope)
{
    return mpi_p2p_engine != NULL && mpi_p2p_engine->expects != NULL &&
           mpi_p2p_engine->expects(to, envelope);
}

static inline void mpi_engine_meet(const mpi_request_t *receive)
{
    if (mpi_p2p_engine != NULL && mpi_p2p_engine->meet != NULL)
        mpi_p2p_engine->meet(receive);
}

static inline void mpi_engine_arrive(const mpi_request_t *receive)
{
    if (__builtin_expect(mpi_p2p_engine != NULL, 0) && mpi_p2p_engine->arrive != NULL)
        mpi_p2p_engine->arrive(receive);
}

#endif
