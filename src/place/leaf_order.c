/* SPDX-License-Identifier: BSD-3-Clause */
/* Strategies that look at nothing but the order of the leaves. */
#include <stdlib.h>

#include "place/strategy_internal.h"

/*
 * The slots of a target, for strategies that go along its leaves: each leaf has one, or as many as
 * it may run where the caller said how many.
 *
 *   slots_t slots = slots_begin(q);
 *   leaf_of[0] = slots_leaf(&slots, 0);
 *   leaf_of[1] = slots_leaf(&slots, 7);      (never backwards)
 */
typedef struct {
    const xy_problem_t *q;
    uint32_t leaf;
    uint64_t end; /* the first slot behind those of `leaf` */
} slots_t;

static uint32_t slots_of(const xy_problem_t *q, uint32_t leaf)
{
    return q->is_capacity_given ? q->capacity[leaf] : 1;
}

static uint64_t slots_count(const xy_problem_t *q, uint32_t begin, uint32_t end)
{
    uint64_t count = 0;

    for (uint32_t leaf = begin; leaf < end; leaf++)
        count += slots_of(q, leaf);
    return count;
}

static slots_t slots_begin(const xy_problem_t *q)
{
    return (slots_t){q, 0, slots_of(q, 0)};
}

static uint32_t slots_leaf(slots_t *s, uint64_t slot)
{
    while (slot >= s->end)
        s->end += slots_of(s->q, ++s->leaf);
    return s->leaf;
}

/*
 * Packed: neighbours in rank are neighbours in the machine, from the first leaf on. With more ranks
 * than leaves, consecutive ranks share a leaf.
 *
 *   4 leaves, 3 ranks: 0 1 2        4 leaves, 6 ranks: 0 0 1 2 2 3              Cost = O(p)
 */
static xy_status_t packed(const xy_problem_t *q, uint32_t *leaf_of)
{
    uint64_t count = slots_count(q, 0, q->target->leaves);
    slots_t slots = slots_begin(q);

    for (uint32_t r = 0; r < q->n; r++)
        leaf_of[r] = slots_leaf(&slots, q->n <= count ? r : r * count / q->n);
    return XY_OK;
}

const xy_strategy_t place_strategy_packed = {
    .name = "packed",
    .describe = "consecutive ranks on consecutive cores, from the first on",
    .place = packed,
};

/*
 * Scatter: ranks spread evenly over all leaves, which leaves room beside each for its threads.
 *
 *   leaf = floor(r * leaves / ranks)       8 leaves, 3 ranks: 0 2 5             Cost = O(p)
 */
static xy_status_t scatter(const xy_problem_t *q, uint32_t *leaf_of)
{
    uint64_t count = slots_count(q, 0, q->target->leaves);
    slots_t slots = slots_begin(q);

    for (uint32_t r = 0; r < q->n; r++)
        leaf_of[r] = slots_leaf(&slots, r * count / q->n);
    return XY_OK;
}

const xy_strategy_t place_strategy_scatter = {
    .name = "scatter",
    .describe = "spread evenly over all cores",
    .place = scatter,
};

/*
 * Scatter over NUMA nodes: balanced between the nodes, spread inside each.
 *
 * Node j gets the ranks [first_j, first_j+1) with first_j = ceil(ranks * leaves before j / leaves);
 * for nodes of equal size that is ceil(j * ranks / nodes). Inside, rank r sits on the leaf
 * floor((r - first_j) * leaves of j / ranks of j).
 *
 *   2 nodes of 4 leaves:  3 ranks: 0 2 4    6: 0 1 2 4 5 6    7: 0 1 2 3 4 5 6    Cost = O(p)
 */
static uint32_t end_of_node(const xy_target_t *t, uint32_t leaf)
{
    uint32_t end = leaf + 1;

    while (end < t->leaves && t->numa[end] == t->numa[leaf])
        end++;
    return end;
}

/* Spreads the processes evenly over NUMA nodes, and inside each over its leaves. */
static xy_status_t scatter_numa(const xy_problem_t *q, uint32_t *leaf_of)
{
    const xy_target_t *t = q->target;
    uint64_t all = slots_count(q, 0, t->leaves), before = 0;
    slots_t slots = slots_begin(q);
    uint32_t r = 0;

    for (uint32_t leaf = 0, end; leaf < t->leaves; leaf = end) {
        uint64_t here, first = r, count;

        end = end_of_node(t, leaf);
        here = slots_count(q, leaf, end);
        count = ((before + here) * q->n + all - 1) / all - first;
        for (uint64_t i = 0; i < count; i++)
            leaf_of[r++] = slots_leaf(&slots, before + i * here / count);
        before += here;
    }
    return XY_OK;
}

const xy_strategy_t place_strategy_scatter_numa = {
    .name = "scatter_numa",
    .describe = "balanced over NUMA nodes, spread inside each",
    .place = scatter_numa,
};

/*
 * Round robin: rank r on core r modulo the number of cores, which are counted as the operating
 * system numbers them, host after host. Firmware often numbers cores across packages, so that
 * neighbours in number are far apart:
 *
 *      leaves   0 1 | 2 3      physical   0 2 | 1 3      5 ranks   0+4 2 | 1 3
 *
 * Cost = O(n log n)
 */
typedef struct {
    uint32_t host, physical, leaf;
} core_t;

static int compare_cores(const void *a, const void *b)
{
    const core_t *x = a, *y = b;

    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    if (x->physical != y->physical)
        return x->physical < y->physical ? -1 : 1;
    return x->leaf < y->leaf ? -1 : x->leaf > y->leaf;
}

/* Places the processes in the order of physical numbers, host by host, in turn. */
static xy_status_t in_turn(const xy_problem_t *q, uint32_t *leaf_of)
{
    const xy_target_t *t = q->target;
    core_t *order = xy_malloc((size_t)t->leaves * sizeof(*order));
    uint32_t rank = 0;

    if (order == NULL)
        return XY_ENOMEM;
    for (uint32_t i = 0; i < t->leaves; i++)
        order[i] = (core_t){t->host[i], t->physical[i], i};
    qsort(order, t->leaves, sizeof(*order), compare_cores);
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
    .place = in_turn,
};

/*
 * Random: any leaf for any rank; what a placement has to beat. The same for the same seed.  Cost =
 * O(n)
 */
static xy_status_t at_random(const xy_problem_t *q, uint32_t *leaf_of)
{
    uint64_t state = q->seed;
    uint32_t *slots, count = 0, rank = 0;

    for (uint32_t leaf = 0; leaf < q->target->leaves; leaf++)
        count += q->capacity[leaf];
    slots = xy_malloc((size_t)count * sizeof(*slots));
    if (slots == NULL)
        return XY_ENOMEM;
    for (uint32_t leaf = 0, i = 0; leaf < q->target->leaves; leaf++)
        for (uint32_t k = 0; k < q->capacity[leaf]; k++)
            slots[i++] = leaf;
    for (; rank < q->n; rank++) {
        uint32_t j = rank + place_random_below(&state, count - rank);

        leaf_of[rank] = slots[j];
        slots[j] = slots[rank];
    }
    xy_free(slots);
    return XY_OK;
}

const xy_strategy_t place_strategy_random = {
    .name = "random",
    .describe = "a random core for each rank",
    .place = at_random,
};
