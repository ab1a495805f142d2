/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers of operations that the program has started and not completed. Until then it must not
 * change send buffers, nor touch receive buffers; no two operations may use the same bytes if one
 * of them receives.
 */
#ifndef XY_MPI_CHECK_PENDING_H
#define XY_MPI_CHECK_PENDING_H

#include "mpi/check/area.h"
#include "mpi/p2p/p2p.h"
#include "mpi/rma/rma.h"

xy_status_t check_pending_begin(int ranks);
/* `self` passes a buffer: does it lie in memory that is there, is it long enough, and has it the
 * right type? Returns whether all of it is in one block of the heap. */
bool check_pending_memory(const mpi_rank_t *self, const check_area_t *area, bool is_receive);
/* `self` starts to send from or receive into this buffer: does another operation use it? With a
 * request of a nonblocking call it is pending from now on. */
void check_pending_start(mpi_rank_t *self, const mpi_transfer_t *t, mpi_request_t *request,
                         bool is_receive);
/* The same for one of the buffers of an operation that has several; `request` NULL: it blocks. */
void check_pending_block(mpi_rank_t *self, const mpi_transfer_t *t, const mpi_request_t *request,
                         bool is_receive);
/* The receive buffers of a collective are known: those without a protected page are received into
 * memory of the library until the program completes the request. `buffer`, or what the call is to
 * use in its place. */
void *check_pending_apart(const mpi_request_t *request, void *buffer);
/* check_pending_block for a message of a request for several; its buffer, as check_pending_apart
 * returns it. */
const void *check_pending_part(mpi_rank_t *self, const mpi_transfer_t *t,
                               const mpi_request_t *whole, bool is_receive);
/* Data has come for a part that is received: the program may ask for it, and use it. */
void check_pending_part_over(const mpi_request_t *whole, const void *buffer);
/* The same for counts or displacements. */
void check_pending_vector(mpi_rank_t *self, const mpi_transfer_t *t, const mpi_request_t *request);
/* A call of `self` receives two of its blocks into the same bytes. */
void check_pending_twice(const mpi_rank_t *self, int first, int second);
/* A message is going to be written into the buffer of a receive. On the worker, as are those below:
 * receives of `rank` may have got their messages; this one has. */
void check_pending_meet(const mpi_request_t *receive);
void check_pending_arrive(mpi_rank_t *rank);
void check_pending_arrived(const mpi_request_t *receive);
/* The program has completed the request, or has freed it before it was complete. */
void check_pending_finish(mpi_request_t *request);
void check_pending_forget(const mpi_request_t *request);
typedef enum { CHECK_USE_ORIGIN, CHECK_USE_RESULT } check_use_t;

/* `self` has begun a one-sided operation on member `target` with this buffer of its own. It ends
 * with the operations on that target, or with a request. */
void check_pending_window(mpi_rank_t *self, const mpi_win_t *win, int target,
                          const mpi_transfer_t *t, check_use_t use);
void check_pending_bind(const mpi_rank_t *self, const mpi_win_t *win, const mpi_request_t *request);
/* Forget the operations on a target, or RMA_EVERYWHERE, whose buffers are free again. */
void check_pending_settle(const mpi_rank_t *self, const mpi_win_t *win, int target);
/* The rank is going to wait or tests: has it changed the buffers of its receives? */
void check_pending_look(mpi_rank_t *self);

/* The rank enters a call, or leaves one: what a collective or an access to a file has received by
 * now is known. */
void check_pending_call(const mpi_rank_t *self);

#endif
