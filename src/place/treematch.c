/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TreeMatch (Jeannot, Mercier, Tessier): from the leaves up, processes that talk are grouped.
 *
 * For a level of arity k, in turn: all groups of k are listed with what their members send to
 * all others; groups that share a member exclude each other; a set of groups of least weight
 * that share none is chosen, exactly when there are few, else by trying the lightest first and
 * other orders; members change places while that leaves less between the groups; each group becomes
 * one process whose messages are the sums. Only the shape of the tree counts on the way up, not its
 * weights; of several ways up the cheapest is taken.
 *
 *      8 processes, arity 2:  28 groups   {0,4} {1,5} {2,6} {3,7}   then {04 15} {26 37}
 *
 * A tree with more leaves than processes gets silent ones. Where the groups are too many to list,
 * they grow greedily from the heaviest pair; an arity that is no prime is also taken in its
 * factors. An irregular tree is walked in the order of the regular one around it. Cost = C(p, k)
 * groups per level, or O(p^2) where they are not listed
 */
#include <string.h>

#include "place/strategy_internal.h"
#include "place/treematch.h"

/* Each way is gone at most TURNS_MAX times, and so often that it takes WORK processes together. */
enum { ARITIES_MAX = 96, TINY = 32, WORK = 2048, TURNS_MAX = 8 };

/* The arities from the leaves up. */
typedef struct {
    uint32_t count;
    uint32_t value[ARITIES_MAX];
    uint64_t product;
} arities_t;

static void push(arities_t *a, uint32_t value)
{
    if (value > 1 && a->count < ARITIES_MAX) {
        a->value[a->count++] = value;
        a->product *= value;
    }
}

/* The regular tree around the target; with several processes on a leaf the lowest level is the leaf
 * itself. */
static void find_arities(const xy_problem_t *q, arities_t *a)
{
    const xy_target_t *t = q->target;
    uint32_t most[ARITIES_MAX] = {0}, shared = 1;
    uint64_t wanted = 0;

    *a = (arities_t){.product = 1};
    for (uint32_t i = 0; i < t->leaves; i++) {
        shared = q->capacity[i] > shared ? q->capacity[i] : shared;
        wanted += q->capacity[i];
    }
    for (uint32_t i = 0; i < t->nodes; i++)
        if (t->level[i] < ARITIES_MAX && t->child_count[i] > most[t->level[i]])
            most[t->level[i]] = t->child_count[i];
    push(a, shared);
    for (uint32_t level = t->depth < ARITIES_MAX ? t->depth : ARITIES_MAX; level > 0; level--)
        push(a, most[level - 1]);
    if (a->product <= 2 * wanted && a->product >= wanted)
        return;
    *a = (arities_t){.product = 1}; /* too irregular: pairs of pairs */
    while (a->product < wanted)
        push(a, 2);
}

/* Group the items of one level; their sequences of processes are joined in `sequence`. */
static xy_status_t climb(place_graph_t *g, uint32_t k, const treematch_way_t *way,
                         uint32_t *sequence, uint32_t each)
{
    uint32_t groups = g->n / k, *group_of = xy_malloc((size_t)g->n * sizeof(*group_of));
    uint32_t *joined = xy_malloc((size_t)g->n * each * sizeof(*joined));
    uint32_t *filled = xy_calloc(groups, sizeof(*filled));
    place_graph_t coarse;
    xy_status_t st = XY_ENOMEM;

    if (group_of != NULL && joined != NULL && filled != NULL)
        st = treematch_group(g, k, way, group_of);
    if (st == XY_OK)
        st = place_graph_contract(g, group_of, groups, &coarse);
    if (st == XY_OK) {
        for (uint32_t v = 0; v < g->n; v++) {
            uint32_t at = (group_of[v] * k + filled[group_of[v]]++) * each;

            memcpy(&joined[at], &sequence[(size_t)v * each], each * sizeof(*joined));
        }
        memcpy(sequence, joined, (size_t)g->n * each * sizeof(*joined));
        place_graph_cleanup(g);
        *g = coarse;
    }
    xy_free(group_of);
    xy_free(joined);
    xy_free(filled);
    return st;
}

/* Processes in the order of the sequence go to the leaves; silent ones keep theirs free when the
 * tree is regular. */
static void lay_out(const xy_problem_t *q, const uint32_t *sequence, uint64_t length,
                    uint32_t *leaf_of)
{
    uint64_t slots = 0;
    uint32_t leaf = 0, used = 0;

    for (uint32_t i = 0; i < q->target->leaves; i++)
        slots += q->capacity[i];
    for (uint64_t i = 0; i < length; i++) {
        bool is_silent = sequence[i] >= q->graph->n;

        if (is_silent && slots != length)
            continue;
        while (used == q->capacity[leaf]) {
            leaf++;
            used = 0;
        }
        if (!is_silent)
            leaf_of[sequence[i]] = leaf;
        used++;
    }
}

/* The graph with silent processes behind the others. */
static xy_status_t pad(const place_graph_t *g, uint32_t n, place_graph_t *padded)
{
    xy_status_t st = place_graph_init(padded, n, g->first[g->n], false);

    if (st != XY_OK)
        return st;
    memcpy(padded->first, g->first, ((size_t)g->n + 1) * sizeof(*g->first));
    for (uint32_t v = g->n; v < n; v++)
        padded->first[v + 1] = g->first[g->n];
    memcpy(padded->to, g->to, (size_t)g->first[g->n] * sizeof(*g->to));
    memcpy(padded->w, g->w, (size_t)g->first[g->n] * sizeof(*g->w));
    return XY_OK;
}

/* Once up the tree. */
static xy_status_t match(const xy_problem_t *q, const arities_t *a, const treematch_way_t *way,
                         uint32_t *leaf_of)
{
    uint32_t n = (uint32_t)a->product, each = 1;
    uint32_t *sequence = xy_malloc((size_t)n * sizeof(*sequence));
    place_graph_t g;
    xy_status_t st = sequence != NULL ? pad(q->graph, n, &g) : XY_ENOMEM;

    if (st != XY_OK) {
        xy_free(sequence);
        return st;
    }
    for (uint32_t i = 0; i < n; i++)
        sequence[i] = i;
    for (uint32_t i = 0; st == XY_OK && i < a->count; i++) {
        st = climb(&g, a->value[i], way, sequence, each);
        each *= a->value[i];
    }
    if (st == XY_OK)
        lay_out(q, sequence, n, leaf_of);
    place_graph_cleanup(&g);
    xy_free(sequence);
    return st;
}

static uint32_t count_turns(uint32_t n)
{
    uint32_t turns = WORK / n;

    if (n <= TINY) /* nearly every group is seen */
        return 1;
    return turns < 1 ? 1 : turns > TURNS_MAX ? TURNS_MAX : turns;
}

/* Groups that are equally good below may differ above, and going up cannot tell: several ways are
 * gone where that takes little time, and the cheapest answer is taken. */
static xy_status_t place(const xy_problem_t *q, uint32_t *leaf_of)
{
    uint32_t ways = 1 + 2 * count_turns(q->n);
    uint32_t *other = xy_malloc((size_t)q->n * sizeof(*other));
    double least = 0;
    arities_t a;
    xy_status_t st = other != NULL ? XY_OK : XY_ENOMEM;

    find_arities(q, &a);
    for (uint32_t i = 0; st == XY_OK && i < ways; i++) {
        treematch_way_t way = {.is_plain = i == 0, .is_factored = i % 2 == 0, .seed = 1 + i / 2};
        double cost;

        st = match(q, &a, &way, other);
        cost = st == XY_OK ? place_cost(q, other) : 0;
        if (st == XY_OK && (i == 0 || cost < least)) {
            memcpy(leaf_of, other, (size_t)q->n * sizeof(*other));
            least = cost;
        }
    }
    xy_free(other);
    return st;
}

const xy_strategy_t place_strategy_treematch = {
    .name = "treematch",
    .describe = "groups of processes from the leaves up, by the shape of the tree alone",
    .limit = 20000,
    .needs_matrix = true,
    .place = place,
};
