/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of a broadcast, for estimates. Private to the component. */
#ifndef XY_DENSE_DENSE_TREE_H
#define XY_DENSE_DENSE_TREE_H

#include <stdbool.h>

typedef enum { DENSE_TREE, DENSE_CHAIN, DENSE_RING } dense_tree_kind_t;

typedef struct {
    dense_tree_kind_t kind;
    double bytes;
    int count;    /* members; the root is number 0 */
    int pieces;   /* of a chain, */
    double piece; /* ... bytes of each but the last */
} dense_tree_t;

typedef struct {
    bool is_send; /* else it is received */
    int peer;     /* number of a member */
    double bytes;
    double shared; /* sent: bytes that cross the link until this message has, when all that leave at
                      once share it fairly */
    int skipped;   /* private */
} dense_tree_step_t;

/* Xylem's choice of a tree for so many bytes and members, by the latency and the seconds per byte.
 */
dense_tree_t dense_tree(double bytes, int count, double alpha, double beta);
/* The next message of member v; *step_p is 0 at first. False: there is none. */
bool dense_tree_step(const dense_tree_t *x, int v, int *step_p, dense_tree_step_t *s);

#endif
