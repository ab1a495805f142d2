/* SPDX-License-Identifier: BSD-3-Clause */
/* For the unit tests of this component: which operation comes before which. */
#ifndef XY_TESTING_GRAPH_H
#define XY_TESTING_GRAPH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "testing/base.h"

enum { TESTING_OPS = 256 };

typedef struct {
    uint64_t before[TESTING_OPS][TESTING_OPS / 64]; /* bit i of row j: i comes before j */
} testing_reach_t;

static inline bool testing_is_before(const testing_reach_t *r, int i, int j)
{
    return (r->before[j][i / 64] >> (i % 64) & 1) != 0;
}

static inline void testing_reach(const xy_graph_t *graph, testing_reach_t *r)
{
    const xy_op_id_t *order = xy_graph_topological(graph);

    memset(r, 0, sizeof(*r));
    for (int k = 0; k < xy_graph_ops(graph); k++) {
        const xy_op_id_t *after;
        int i = order[k], n = xy_graph_successors(graph, i, &after);

        for (int s = 0; s < n; s++) {
            r->before[after[s]][i / 64] |= UINT64_C(1) << (i % 64);
            for (int w = 0; w < TESTING_OPS / 64; w++)
                r->before[after[s]][w] |= r->before[i][w];
        }
    }
}

/* The longest path, where an operation takes seconds_of(op) and any number of them run at once. */
static inline double testing_longest_path(const xy_graph_t *graph,
                                          double (*seconds_of)(const xy_op_t *op))
{
    const xy_op_id_t *order = xy_graph_topological(graph);
    double *start = calloc((size_t)xy_graph_ops(graph) + 1, sizeof(*start)), longest = 0;

    for (int k = 0; start != NULL && k < xy_graph_ops(graph); k++) {
        const xy_op_id_t *after;
        int n = xy_graph_successors(graph, order[k], &after);
        double end = start[order[k]] + seconds_of(xy_graph_op(graph, order[k]));

        longest = end > longest ? end : longest;
        for (int s = 0; s < n; s++)
            start[after[s]] = end > start[after[s]] ? end : start[after[s]];
    }
    free(start);
    return longest;
}

static inline bool testing_overlap(xy_spot_t a, uint64_t na, xy_spot_t b, uint64_t nb)
{
    return na > 0 && nb > 0 && a.rank == b.rank && a.buffer == b.buffer &&
           a.offset < b.offset + nb && b.offset < a.offset + na;
}

/* Does one of the two write what the other touches? */
static inline bool testing_conflict(const xy_op_t *a, const xy_op_t *b)
{
    if (testing_overlap(a->to, a->bytes, b->to, b->bytes) ||
        testing_overlap(a->to, a->bytes, b->from, b->bytes) ||
        testing_overlap(a->from, a->bytes, b->to, b->bytes))
        return true;
    return (b->kind == XY_OP_COMBINE && testing_overlap(a->to, a->bytes, b->other, b->bytes)) ||
           (a->kind == XY_OP_COMBINE && testing_overlap(a->other, a->bytes, b->to, b->bytes));
}

#endif
