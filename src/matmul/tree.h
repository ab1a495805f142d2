/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of a broadcast, for estimates. Private to the component. */
#ifndef XY_MATMUL_TREE_H
#define XY_MATMUL_TREE_H

#include <stdbool.h>

typedef enum { MATMUL_TREE, MATMUL_CHAIN, MATMUL_RING } matmul_tree_kind_t;

typedef struct {
    matmul_tree_kind_t kind;
    double bytes;
    int count;    /* members; the root is number 0 */
    int pieces;   /* of a chain, */
    double piece; /* ... bytes of each but the last */
} matmul_tree_t;

typedef struct {
    bool is_send; /* else it is received */
    int peer;     /* number of a member */
    double bytes;
    double shared; /* sent: bytes that cross the link until this message has, when all that leave at
                      once share it fairly */
    int skipped;   /* private */
} matmul_tree_step_t;

/* Xylem's choice for so many bytes and members, by the latency and the seconds per byte. */
matmul_tree_t matmul_tree(double bytes, int count, double alpha, double beta);
/* The next message of member v; *step_p is 0 at first. False: there is none. */
bool matmul_tree_step(const matmul_tree_t *x, int v, int *step_p, matmul_tree_step_t *s);

#endif
