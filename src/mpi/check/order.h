/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The events of other ranks that a rank may know of. Events have times of one logical clock:
 *
 *   uint64_t end = check_order_now();           (rank 1 has unlocked a window)
 *   if (check_order_heard(self) < end)          (rank 2: no chain of messages leads here)
 *       ...
 *
 * A chain of messages from an event to a rank has a last message, sent after the event. So the
 * knowledge of a rank is one number, the latest sending time of all messages that it has received:
 * if that is less than the time of an event, the rank is certainly not ordered after the event.
 * Unknown calls count as having received everything.
 */
#ifndef XY_MPI_CHECK_ORDER_H
#define XY_MPI_CHECK_ORDER_H

#include "mpi/runtime/runtime.h"

/* Before ranks run. */
xy_status_t check_order_begin(int ranks);
/* A place on the stack, at one distance from the frame of the caller of the rank's MPI call. NULL:
 * not known. */
const char *check_order_anchor(const mpi_rank_t *self);
/* False: the call is part of another one, such as an operation of the program. A call that was not
 * entered as others are (mpi_enter_local) has its anchor at `frame`. */
bool check_order_is_outer(const mpi_rank_t *self, const char *frame);
/* The time of an event: later than all before. */
uint64_t check_order_now(void);
/* UINT64_MAX: not known. */
uint64_t check_order_heard(const mpi_rank_t *self);
/* The rank has seen what others have done, through memory. */
void check_order_hear_all(const mpi_rank_t *self);
/* A message leaves for `to`, a rank of the world. */
void check_order_send(int to);
/* A one-sided operation has changed memory of a rank of the world. */
void check_order_write(int to);
/* The rank enters a collective of a communicator; `is_barrier`: no member leaves it before all have
 * entered. */
void check_order_meet(const mpi_rank_t *self, const mpi_comm_t *comm, bool is_barrier);

/* A collective of a communicator, in any process of the job. */
typedef struct {
    uint64_t comm, number; /* 0: none */
} check_meeting_t;

/* The barrier after which the rank has heard of nothing that other ranks have done. Events of two
 * ranks after the same barrier have no order. */
check_meeting_t check_order_barrier(const mpi_rank_t *self);

#endif
