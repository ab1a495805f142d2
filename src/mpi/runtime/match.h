/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matching: which message meets which receive.
 *
 * A rank has a table of posted receives and a table of unexpected messages. Both are hashed by
 * (context, source, tag), so that exact receives are O(1) with any number of entries. A receive
 * with wildcards is stored under its wildcard key; an arriving message looks up to four keys up
 * (exact, any source, any tag, any both), of which those without entries cost nothing, and takes
 * the receive posted first. A wildcard receive walks the unexpected messages in arrival order.
 */
#ifndef XY_MPI_RUNTIME_MATCH_H
#define XY_MPI_RUNTIME_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

/* In the context of messages that the program does not see: of calls that make communicators, and
 * of neighbourhood collectives. */
#define XMPI_CONTEXT_SHADOW    0x80000000u
#define XMPI_CONTEXT_NEIGHBORS 0x40000000u

typedef struct {
    uint32_t context;
    int source; /* rank in the communicator, or MPI_ANY_SOURCE */
    int tag;    /* or MPI_ANY_TAG */
} mpi_envelope_t;

/* Link of an entry in a bucket (all entries of one hash, in order). */
typedef struct mpi_entry {
    mpi_envelope_t envelope;
    uint32_t hash;
    uint64_t order;                              /* of posting or arrival */
    struct mpi_entry *next, *previous;           /* in the bucket */
    struct mpi_entry *list_next, *list_previous; /* unexpected: in arrival order */
} mpi_entry_t;

typedef struct {
    mpi_entry_t **heads, **tails; /* of each bucket */
    uint32_t mask;                /* buckets - 1 */
    uint32_t count;
} mpi_table_t;

typedef struct {
    mpi_table_t posted;
    mpi_table_t unexpected;
    mpi_entry_t *first, *last; /* unexpected, in arrival order */
    uint32_t wildcards[4];     /* posted receives: [1] any source, [2] any tag, [3] both */
    uint64_t order;
} mpi_match_t;

xy_status_t mpi_match_init(mpi_match_t *match);
void mpi_match_cleanup(mpi_match_t *match);

void mpi_match_post(mpi_match_t *match, mpi_entry_t *receive);
void mpi_match_unpost(mpi_match_t *match, mpi_entry_t *receive);
/* The receive posted first that takes a message with this exact envelope, taken out; or NULL. */
mpi_entry_t *mpi_match_arrive(mpi_match_t *match, const mpi_envelope_t *envelope);

void mpi_match_keep(mpi_match_t *match, mpi_entry_t *message);
void mpi_match_drop(mpi_match_t *match, mpi_entry_t *message);
/* The message that a receive with this envelope (wildcards allowed) takes first; left in; or NULL.
 */
mpi_entry_t *mpi_match_find(const mpi_match_t *match, const mpi_envelope_t *envelope);

#endif
