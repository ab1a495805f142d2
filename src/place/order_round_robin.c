/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Round robin: rank r on core r modulo the number of cores, which are counted as the operating
 * system numbers them, host after host. Firmware often numbers cores across packages, so that
 * neighbours in number are far apart:
 *
 *      leaves   0 1 | 2 3      physical   0 2 | 1 3      5 ranks   0+4 2 | 1 3      Cost = O(n log
 * n)
 */
#include <stdlib.h>

#include "place/strategy_internal.h"

typedef struct {
    uint32_t host, physical, leaf;
} place_t;

static int compare(const void *a, const void *b)
{
    const place_t *x = a, *y = b;

    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    if (x->physical != y->physical)
        return x->physical < y->physical ? -1 : 1;
    return x->leaf < y->leaf ? -1 : x->leaf > y->leaf;
}

/* Places the processes in the order of physical numbers, host by host, in turn. */
static xy_status_t place(const xy_problem_t *q, uint32_t *leaf_of)
{
    const xy_target_t *t = q->target;
    place_t *order = xy_malloc((size_t)t->leaves * sizeof(*order));
    uint32_t rank = 0;

    if (order == NULL)
        return XY_ENOMEM;
    for (uint32_t i = 0; i < t->leaves; i++)
        order[i] = (place_t){t->host[i], t->physical[i], i};
    qsort(order, t->leaves, sizeof(*order), compare);
    for (uint32_t turn = 0; rank < q->n; turn++)
        for (uint32_t i = 0; i < t->leaves && rank < q->n; i++)
            if (!q->is_capacity_given || turn < q->capacity[order[i].leaf])
                leaf_of[rank++] = order[i].leaf;
    xy_free(order);
    return XY_OK;
}

const xy_strategy_t place_strategy_round_robin = {
    .name = "round-robin",
    .describe = "rank r on core r modulo cores, in physical order",
    .place = place,
};
