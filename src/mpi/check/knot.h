/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding ranks that wait for each other forever.
 *
 * A wait can end only when a certain rank acts, or any one of several, or all of several. A set of
 * ranks is a knot when each of them waits only for ranks of the set: none of them will act again,
 * whatever the others do. To find the largest such set, begin with all waiting ranks, and remove
 * those that a rank outside may help until nothing changes.
 */
#ifndef XY_MPI_CHECK_KNOT_H
#define XY_MPI_CHECK_KNOT_H

#include <stdbool.h>

typedef enum {
    KNOT_OPEN,   /* it may end by itself */
    KNOT_RANK,   /* it ends when `rank` acts */
    KNOT_SEND,   /* the same, if `rank` still has the message: see knot_rank_t.messages */
    KNOT_ANY_OF, /* one of `ranks` is enough */
    KNOT_ALL_OF, /* all of `ranks` are needed */
} knot_kind_t;

/* All ranks are ranks of the world. */
typedef struct {
    knot_kind_t kind;
    int rank;
    const int *ranks; /* NULL: the first `count` of the world */
    int count;
    const void *message; /* KNOT_SEND: which */
} knot_wait_t;

typedef struct {
    bool is_parked; /* false: it may act */
    bool is_any;    /* one of its waits is enough; else all must end */
    const knot_wait_t *waits;
    int count;
    const void *const *messages; /* that were sent to it, and that it has not received */
    int messages_count;
} knot_rank_t;

/* Sets stuck[r] for the members of the largest knot; returns how many they are. */
int check_knot_find(const knot_rank_t *ranks, int size, bool *stuck);
/* The rank of the knot that a wait is for, for a wait that no rank outside may end; -1: there are
 * several. */
int check_knot_partner(const knot_rank_t *ranks, const bool *stuck, int rank,
                       const knot_wait_t *wait);
/* May a rank outside of `stuck` end this wait of `rank`, or may it end by itself? */
bool check_knot_is_open(const knot_rank_t *ranks, const bool *stuck, int rank,
                        const knot_wait_t *wait);

#endif
