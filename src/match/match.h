/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matching of messages and receives.
 *
 * A rank has a table of posted receives and a table of unexpected messages. Both are hashed by
 * (context, source, tag), so that exact receives are O(1) with any number of entries. A receive
 * with wildcards is stored under its wildcard key; an arriving message looks up to four keys up
 * (exact, any source, any tag, any both), of which those without entries cost nothing, and takes
 * the receive posted first. A wildcard receive walks the unexpected messages in arrival order.
 *
 * Ranks in real time (src/mpi) and in virtual time (src/sim) match by these tables. They belong to
 * one thread at a time.
 */
#ifndef XY_MATCH_MATCH_H
#define XY_MATCH_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

/* In a receive; MPI's own numbers. */
enum { XY_MATCH_ANY_SOURCE = -1, XY_MATCH_ANY_TAG = -2 };

/* Ranks that share a core leave each other so many bytes, each message with its head, before a
 * sender lets the others run: what has left the caches takes twice as long to receive. */
enum { XY_MATCH_LEFT = 128 << 10, XY_MATCH_HEAD = 256 };

typedef struct {
    uint32_t context;
    int source; /* rank in the communicator, or XY_MATCH_ANY_SOURCE */
    int tag;    /* or XY_MATCH_ANY_TAG */
} xy_envelope_t;

/* Link of an entry in a bucket (all entries of one hash, in order). */
typedef struct xy_match_entry {
    xy_envelope_t envelope;
    uint32_t hash;
    uint64_t order;                                   /* of posting or arrival */
    struct xy_match_entry *next, *previous;           /* in the bucket */
    struct xy_match_entry *list_next, *list_previous; /* unexpected: in arrival order */
} xy_match_entry_t;

typedef struct {
    xy_match_entry_t *head, *tail;
} xy_match_bucket_t;

typedef struct {
    xy_match_bucket_t *buckets;
    uint32_t mask; /* buckets - 1 */
    uint32_t count;
} xy_match_table_t;

typedef struct {
    xy_match_table_t posted;
    xy_match_table_t unexpected;
    xy_match_entry_t *first, *last; /* unexpected, in arrival order */
    uint32_t wildcards[4];          /* posted receives: [1] any source, [2] any tag, [3] both */
    uint64_t order;
} xy_match_t;

xy_status_t xy_match_init(xy_match_t *match);
void xy_match_cleanup(xy_match_t *match);

void xy_match_post(xy_match_t *match, xy_match_entry_t *receive);
void xy_match_unpost(xy_match_t *match, xy_match_entry_t *receive);
/* The receive posted first that takes a message with this exact envelope, taken out; or NULL. */
xy_match_entry_t *xy_match_arrive(xy_match_t *match, const xy_envelope_t *envelope);

void xy_match_keep(xy_match_t *match, xy_match_entry_t *message);
void xy_match_drop(xy_match_t *match, xy_match_entry_t *message);
/* The message that a receive with this envelope (wildcards allowed) takes first; left in; or NULL.
 */
xy_match_entry_t *xy_match_find(const xy_match_t *match, const xy_envelope_t *envelope);

#endif
