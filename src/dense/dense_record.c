/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operations of an algorithm: it runs once for each rank with a record in the place of data and
 * messages. What is predicted from it are then the calls of a real run, with their sizes and in
 * their order.
 */
#include <stdio.h>
#include <stdlib.h>

#include "dense/dense.h"

void dense_record_add(const dense_t *p, const dense_op_t *op)
{
    dense_record_t *r = p->record;
    dense_ops_t *of = &r->of[p->rank];

    if (op->kind == DENSE_COMPUTE && of->count > 0 &&
        of->ops[of->count - 1].kind == DENSE_COMPUTE) {
        of->ops[of->count - 1].seconds += op->seconds;
        return;
    }
    if (of->count == of->room) {
        int room = 2 * of->room + 16;
        dense_op_t *more = realloc(of->ops, (size_t)room * sizeof(*more));

        if (more == NULL) {
            r->failed = true;
            return;
        }
        of->ops = more;
        of->room = room;
    }
    of->ops[of->count++] = *op;
}

bool dense_record(const dense_t *p, const dense_algorithm_t *algorithm, int steps,
                  dense_record_t *record)
{
    static double nothing[1];
    dense_t rank = *p;

    *record = (dense_record_t){.ranks = p->ranks, .steps = steps};
    record->of = calloc((size_t)p->ranks, sizeof(*record->of));
    record->rects = calloc((size_t)p->ranks, sizeof(*record->rects));
    record->groups = calloc(2 * (size_t)p->ranks + 2, sizeof(*record->groups));
    record->failed = record->of == NULL || record->rects == NULL || record->groups == NULL;
    rank.record = record;
    rank.a = rank.b = nothing;
    rank.c = nothing;
    rank.pivots = NULL;
    rank.info = NULL;
    for (rank.rank = 0; rank.rank < p->ranks && !record->failed; rank.rank++)
        record->failed |= algorithm->run(&rank) != 0;
    if (record->failed)
        fprintf(stderr, "%s: out of memory while predicting %s\n", p->routine->name,
                algorithm->name);
    return !record->failed;
}

void dense_record_cleanup(dense_record_t *record)
{
    for (int r = 0; record->of != NULL && r < record->ranks; r++)
        free(record->of[r].ops);
    free(record->of);
    free(record->rects);
    free(record->groups);
    *record = (dense_record_t){0};
}
