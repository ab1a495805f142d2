/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partitioned communication: one persistent request for a buffer whose parts are sent one by one,
 * as threads finish them.
 *
 * Each partition of the sender is one message, which begins with MPI_Pready. The receiver may have
 * divided its buffer in another way; the division of the sender comes with the head, a message that
 * MPI_Psend_init sends and MPI_Precv_init receives:
 *
 *   sender     head(4 partitions of 6 bytes)    |  0  |  1  |  2  |  3  |      one message each
 *   receiver   3 partitions of 8 bytes          |   0   |   1   |   2   |      0 is there with 0, 1
 *
 * Heads have the tag of the program in a context of their own, so that they match in the order of
 * the init calls; messages have tags that no other partition of the sender has on the communicator,
 * so that those of several rounds match in order. A receive that was started before its head has
 * come posts its messages when it comes.
 */
#ifndef XY_MPI_P2P_PARTITIONED_H
#define XY_MPI_P2P_PARTITIONED_H

#include "mpi/p2p/request.h"

typedef struct {
    int partitions; /* of the sender, which have the tags from `first_tag` on */
    int first_tag;
    uint64_t bytes;   /* of each */
    const void *site; /* of MPI_Psend_init; in another process it means nothing */
} mpi_partitioned_head_t;

typedef struct mpi_partitioned {
    mpi_request_t *whole; /* NULL: the program has freed it */
    int users;            /* the whole, and the head while it is under way */
    int partitions;
    uint64_t bytes; /* of one */
    bool is_met;    /* a receive whose head has come; a send always is */
    bool is_wrong;  /* the sender gives more than there is room for */
    mpi_partitioned_head_t head;
    mpi_request_t *hello; /* the head, while it is under way */
    mpi_comm_t heads, data;
    mpi_request_t *parts; /* under way, by next_part; for engines (p2p_engine.h) */
    int pending;          /* of this round: messages that are not over, and what may start some */
    int ready;            /* send: partitions that were marked */
    unsigned char *over;  /* [head.partitions]: marked ready, or arrived, in this round */
    char *staging;        /* receive: where no partition of the sender begins with an element */
    struct mpi_partitioned *next, *previous; /* sends of the rank on the communicator */
} mpi_partitioned_t;

static inline bool mpi_request_is_partitioned(const mpi_request_t *request)
{
    return request->kind == XMPI_KIND_PSEND || request->kind == XMPI_KIND_PRECV;
}

static inline mpi_partitioned_t *mpi_partitioned_of(const mpi_request_t *request)
{
    return request->extra;
}

/* Is partition `i` of the request, in its own division, missing in this round: not marked ready, or
 * not arrived? `over` is p->over, or a copy of it. */
bool mpi_partitioned_misses(const mpi_partitioned_t *p, bool is_receive, const unsigned char *over,
                            int i);
/* As "1, 3-5", those that are missing; `size` cuts it. False: none is. */
bool mpi_partitioned_list_missing(const mpi_partitioned_t *p, bool is_receive,
                                  const unsigned char *over, char *text, size_t size);

/* A fresh request for `t`, which is one partition of `partitions`. */
int mpi_partitioned_new(mpi_rank_t *self, const mpi_transfer_t *t, int partitions, bool is_receive,
                        mpi_request_t **request_p);
/* Partition `i` of an active send, which was not marked in this round, is marked. */
int mpi_partitioned_ready(mpi_rank_t *self, mpi_request_t *request, int i);
/* Raise that both sides have given different amounts. */
int mpi_partitioned_raise(const mpi_request_t *request);

#endif
