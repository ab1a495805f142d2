/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges between any two processes, or with a free slot, with the real distances. Private to the
 * component.
 *
 *   place_exchange_t x;
 *   st = place_exchange_init(&x, q, q->capacity, UINT32_MAX);
 *   place_exchange_start(&x, slot_of);        (slot_of[v]: where v begins; x.leaf[slot] is its
 * leaf) place_exchange_run(&x); leaf = x.leaf[x.slot_of[v]]; place_exchange_cleanup(&x);
 *
 * A table has the cost of each process on each leaf, so that the gain of an exchange is known at
 * once and only the neighbours of the two are updated.         Cost = O(rounds * p^2 + exchanges *
 * n)
 */
#ifndef XY_PLACE_EXCHANGE_H
#define XY_PLACE_EXCHANGE_H

#include "place/strategy.h"

typedef struct {
    const xy_problem_t *q;
    uint32_t slots, leaves; /* leaves that have slots; they are the first ones */
    uint32_t *leaf;         /* of each slot */
    uint32_t *holder;       /* process in each slot; UINT32_MAX: free */
    uint32_t *slot_of;
    double *distance; /* leaves x leaves */
    double *pay;      /* processes x leaves: what a process would pay on a leaf */
    double *paid;     /* per process: what it pays where it is */
    double *least;    /* per process: what it would pay on the best leaf of all */
    double *link;     /* per process: its traffic with the one that looks for an exchange */
} place_exchange_t;

/* Slots of the first leaves by their capacities, at most slots_max. Cleanup is needed after failure
 * too. Silent ENOMEM. */
xy_status_t place_exchange_init(place_exchange_t *x, const xy_problem_t *q,
                                const uint32_t *capacity, uint32_t slots_max);
void place_exchange_cleanup(place_exchange_t *x);

void place_exchange_start(place_exchange_t *x, const uint32_t *slot_of);
/* Until no exchange of two gains. */
void place_exchange_run(place_exchange_t *x);
double place_exchange_cost(const place_exchange_t *x);

/* A placement made cheaper in this way, where the tables are small; else it stays. `capacity` holds
 * what is there. Silent ENOMEM. */
xy_status_t place_exchange(const xy_problem_t *q, const uint32_t *capacity, uint32_t *leaf_of);

#endif
