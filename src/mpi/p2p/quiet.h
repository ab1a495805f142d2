/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deadlocks of ranks in several processes: no rank can move when all workers of all processes
 * sleep and no message is on its way.
 *
 * Process 0 detects this. When it is quiet itself it asks the others, each of which answers whether
 * it is, how often its workers have been woken, and how many messages it has sent and handled. If
 * all are quiet and all sent messages have been handled, it asks once more. The same answers from
 * all prove that nothing has happened between the two questions anywhere, so there was a moment,
 * between them, at which all were quiet and nothing was on its way: no rank will ever move. One
 * wake or one message in between makes the answers differ. (A single round would not do: a message
 * may be handled by one process after it has answered and wake another that is about to.)
 *
 * With --check some ranks wait only because of that option (mpi_reviver_t). Before process 0 calls
 * it a deadlock it asks one process after the other to let some continue: receives from any source
 * first; then sends, for which it asks all for the places of their ranks, to report the reason. A
 * process that gets quiet then notifies process 0, which avoids delays.
 */
#ifndef XY_MPI_P2P_QUIET_H
#define XY_MPI_P2P_QUIET_H

#include "mpi/runtime/runtime.h"

/* The counts of this process; messages for ranks. */
typedef struct {
    _Atomic uint64_t sent, handled;
    _Atomic int pieces; /* of large messages, on their way */
} mpi_traffic_t;

typedef enum {
    XMPI_QUIET_ASK,
    XMPI_QUIET_ANSWER,
    XMPI_QUIET_REPORT, /* where are the ranks? No rank will ever move. */
    XMPI_QUIET_WAITS,  /* the same, but some may */
    XMPI_QUIET_LINES,
    XMPI_QUIET_REVIVE,  /* `round` is what; and the cause */
    XMPI_QUIET_REVIVED, /* `is_quiet`: no, nothing */
    XMPI_QUIET_CALL     /* this process is quiet now */
} quiet_kind_t;

/* The messages. */
typedef struct {
    uint32_t kind;
    uint32_t round;
    uint32_t is_quiet;
    uint32_t wakes;
    uint32_t has_more; /* the text continues in the next message of this kind */
    uint64_t sent, handled;
} mpi_quiet_t;

/* On the thread of the network: the next step, if it is time; and how long it may sleep, at most
 * `seconds`. */
void mpi_quiet_look(void);
double mpi_quiet_pause(double seconds);
/* A message of another process; `text` of XMPI_QUIET_LINES and XMPI_QUIET_REVIVE. */
void mpi_quiet_message(int from, const mpi_quiet_t *message, const char *text);
/* A worker has nothing to do and goes to sleep. */
void mpi_quiet_call(void);
/* A process is not reached any more. */
void mpi_quiet_lost(int process, const char *why);

/* p2p_network.c: a text that is longer than a message travels in several; only XMPI_QUIET_LINES has
 * such texts. */
void mpi_network_send_quiet(int process, const mpi_quiet_t *quiet, const char *text);
const mpi_traffic_t *mpi_network_traffic(void);

#endif
