/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The activity of a rank, reported as it happens: to its trace, and to a tool that has registered
 * for events (bindings/tool_event.c). Ranks that have neither pay one branch for a call and for a
 * message.
 */
#ifndef XY_MPI_RUNTIME_OBSERVE_H
#define XY_MPI_RUNTIME_OBSERVE_H

#include "mpi/runtime/rank.h"

typedef enum {
    XMPI_EVENT_SENT,       /* a message is about to leave: receiver, tag */
    XMPI_EVENT_RECEIVED,   /* a message has met its receive: sender, tag */
    XMPI_EVENT_UNEXPECTED, /* a message has come before its receive: sender, tag */
    XMPI_EVENT_COLLECTIVE, /* a collective begins: which, root or -1 */
    XMPI_EVENTS
} mpi_event_kind_t;

typedef struct {
    mpi_event_kind_t kind;
    int number, tag; /* ranks are those of the job */
    uint64_t bytes;
} mpi_event_t;

/* All of it is called with the gate of the rank closed. */
typedef struct mpi_listener {
    unsigned wants; /* 1 << kind */
    /* On the worker of the rank: perhaps while another rank of it runs. */
    void (*happened)(mpi_rank_t *rank, const mpi_event_t *event);
    /* The rank itself, or a thread of it, enters or leaves a call. */
    void (*in_call)(mpi_rank_t *rank);
    /* The rank has ended. */
    void (*forget)(mpi_rank_t *rank);
} mpi_listener_t;

static inline bool mpi_event_is_wanted(const mpi_rank_t *rank, mpi_event_kind_t kind)
{
    return rank->listener != NULL && (rank->listener->wants >> kind & 1) != 0;
}

/* For a rank that is observed. */
static inline void mpi_event_tell(mpi_rank_t *rank, mpi_event_t event)
{
    if (mpi_event_is_wanted(rank, event.kind))
        rank->listener->happened(rank, &event);
}

#endif
