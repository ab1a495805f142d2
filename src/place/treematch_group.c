/* SPDX-License-Identifier: BSD-3-Clause */
/* Choosing the groups of one level of TreeMatch. */
#include <stdlib.h>
#include <string.h>

#include "place/treematch.h"

/* The allowed extra cost of the groups in order. */
#define CREDIT 1.001

/* Groups that are listed; where exchanges follow, a tenth. */
enum { LIST_MAX = 30000, EXACT_ITEMS = 16, EXACT_STEPS = 200000, ORDERS = 10, LESS = 10 };

static uint64_t choose(uint64_t n, uint32_t k)
{
    uint64_t c = 1;

    for (uint32_t i = 1; i <= k; i++) {
        c = c * (n - k + i) / i;
        if (c > UINT64_C(1) << 40)
            return c;
    }
    return c;
}

static bool can_list(uint64_t n, uint32_t k, const treematch_way_t *way)
{
    return k <= n && choose(n, k) <= (way->is_plain ? LIST_MAX : LIST_MAX / LESS);
}

typedef struct {
    uint32_t index; /* of its members: list.members[index * k ...] */
    double weight;  /* traffic to all other vertices */
    double inside;  /* among its members, twice */
} group_t;

typedef struct {
    uint32_t n, k, count;
    double *traffic; /* n x n */
    double *sum;     /* of each row */
    uint32_t *members;
    group_t *groups;
    uint8_t *is_taken;
    uint32_t *chosen, *best; /* n / k groups */
    double best_weight;
    uint32_t steps, steps_max;
    uint32_t *first_of; /* groups by their first member, for the exact search */
} list_t;

static void list_cleanup(list_t *l)
{
    xy_free(l->traffic);
    xy_free(l->sum);
    xy_free(l->members);
    xy_free(l->groups);
    xy_free(l->is_taken);
    xy_free(l->chosen);
    xy_free(l->best);
    xy_free(l->first_of);
}

/* Allocates the list of all groups of `k` items; nothing is left allocated on failure. */
static xy_status_t list_init(list_t *l, const place_graph_t *g, uint32_t k)
{
    uint32_t n = g->n, count = (uint32_t)choose(n, k);

    *l = (list_t){.n = n, .k = k, .count = count, .best_weight = -1};
    l->traffic = xy_calloc((size_t)n * n, sizeof(*l->traffic));
    l->sum = xy_calloc(n, sizeof(*l->sum));
    l->members = xy_malloc((size_t)count * k * sizeof(*l->members));
    l->groups = xy_malloc((size_t)count * sizeof(*l->groups));
    l->is_taken = xy_calloc(n, 1);
    l->chosen = xy_malloc((size_t)n * sizeof(*l->chosen));
    l->best = xy_malloc((size_t)n * sizeof(*l->best));
    l->first_of = xy_calloc((size_t)n + 1, sizeof(*l->first_of));
    if (l->traffic == NULL || l->sum == NULL || l->members == NULL || l->groups == NULL ||
        l->is_taken == NULL || l->chosen == NULL || l->best == NULL || l->first_of == NULL) {
        list_cleanup(l);
        return XY_ENOMEM;
    }
    for (uint32_t v = 0; v < n; v++)
        for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++) {
            l->traffic[(size_t)v * n + g->to[e]] = g->w[e];
            l->sum[v] += g->w[e];
        }
    return XY_OK;
}

/* Step 1: all groups, in the order of their members, and what they say to the others: the sums of
 * their members' rows less what stays inside, in both directions. */
static void list_groups(list_t *l)
{
    uint32_t *m = l->members;

    for (uint32_t i = 0; i < l->k; i++)
        m[i] = i;
    for (uint32_t c = 0; c < l->count; c++, m += l->k) {
        group_t *group = &l->groups[c];
        uint32_t i = l->k;

        *group = (group_t){c, 0, 0};
        for (uint32_t a = 0; a < l->k; a++) {
            group->weight += l->sum[m[a]];
            for (uint32_t b = 0; b < l->k; b++)
                group->inside += l->traffic[(size_t)m[a] * l->n + m[b]];
        }
        group->weight -= group->inside;
        l->first_of[m[0] + 1] = c + 1;
        if (c + 1 == l->count)
            break;
        memcpy(m + l->k, m, l->k * sizeof(*m));
        while (m[l->k + i - 1] == l->n - l->k + i - 1)
            i--;
        for (uint32_t next = m[l->k + i - 1] + 1; i <= l->k; i++)
            m[l->k + i - 1] = next++;
    }
    for (uint32_t v = 1; v <= l->n; v++)
        if (l->first_of[v] == 0)
            l->first_of[v] = l->first_of[v - 1];
}

/* Step 2, without building the graph: does a group share a member with those taken? */
static bool is_compatible(const list_t *l, const group_t *group)
{
    for (uint32_t i = 0; i < l->k; i++)
        if (l->is_taken[l->members[(size_t)group->index * l->k + i]])
            return false;
    return true;
}

static void mark(list_t *l, uint32_t index, uint8_t value)
{
    for (uint32_t i = 0; i < l->k; i++)
        l->is_taken[l->members[(size_t)index * l->k + i]] = value;
}

static void remember(list_t *l, double weight)
{
    if (l->best_weight >= 0 && weight >= l->best_weight)
        return;
    l->best_weight = weight;
    memcpy(l->best, l->chosen, (size_t)(l->n / l->k) * sizeof(*l->best));
}

/* Step 3, exactly: the lowest free item is in one of the groups that begin with it. */
static void search(list_t *l, uint32_t depth, double weight)
{
    uint32_t v = 0;

    if (depth == l->n / l->k) {
        remember(l, weight);
        return;
    }
    while (l->is_taken[v])
        v++;
    for (uint32_t c = l->first_of[v]; c < l->first_of[v + 1] && l->steps < l->steps_max; c++) {
        const group_t *group = &l->groups[c];

        l->steps++;
        if (!is_compatible(l, group) ||
            (l->best_weight >= 0 && weight + group->weight >= l->best_weight))
            continue;
        mark(l, c, 1);
        l->chosen[depth] = c;
        search(l, depth + 1, weight + group->weight);
        mark(l, c, 0);
    }
}

static int lighter(const void *a, const void *b)
{
    const group_t *x = a, *y = b;

    if (x->weight != y->weight)
        return x->weight < y->weight ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static int closer(const void *a, const void *b)
{
    const group_t *x = a, *y = b;

    if (x->inside != y->inside)
        return x->inside > y->inside ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Step 3, by trying: groups in their order from the `skip`-th on, then what was skipped. */
static void try_order(list_t *l, const group_t *sorted, uint32_t skip)
{
    uint32_t depth = 0;
    double weight = 0;

    memset(l->is_taken, 0, l->n);
    for (uint32_t i = 0; i < l->count && depth < l->n / l->k; i++) {
        const group_t *group = &sorted[(i + skip) % l->count];

        if (!is_compatible(l, group))
            continue;
        mark(l, group->index, 1);
        l->chosen[depth++] = group->index;
        weight += group->weight;
    }
    if (depth == l->n / l->k)
        remember(l, weight);
    memset(l->is_taken, 0, l->n);
}

static int compare_index(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* Groups the items by `k` with the least traffic between groups, from the list of all groups. */
static xy_status_t group_by_list(const place_graph_t *g, uint32_t k, const treematch_way_t *way,
                                 uint32_t *group_of)
{
    list_t l;
    group_t *sorted;

    if (list_init(&l, g, k) != XY_OK)
        return XY_ENOMEM;
    list_groups(&l);
    sorted = xy_malloc((size_t)l.count * sizeof(*sorted));
    if (sorted == NULL) {
        list_cleanup(&l);
        return XY_ENOMEM;
    }
    memcpy(sorted, l.groups, (size_t)l.count * sizeof(*sorted));
    qsort(sorted, l.count, sizeof(*sorted), closer);
    try_order(&l, sorted, 0);
    qsort(sorted, l.count, sizeof(*sorted), lighter);
    for (uint32_t skip = 0; skip < ORDERS && skip < l.count; skip++)
        try_order(&l, sorted, skip);
    l.steps_max = way->is_plain ? EXACT_STEPS : EXACT_STEPS / LESS;
    if (l.n <= EXACT_ITEMS)
        search(&l, 0, 0);
    /* Numbered by first member, so that equal choices give the same answer everywhere. */
    qsort(l.best, l.n / k, sizeof(*l.best), compare_index);
    for (uint32_t i = 0; i < l.n / k; i++)
        for (uint32_t j = 0; j < k; j++)
            group_of[l.members[(size_t)l.best[i] * k + j]] = i;
    xy_free(sorted);
    list_cleanup(&l);
    return XY_OK;
}

typedef struct {
    double w;
    uint32_t v;
} heavy_t;

static int heavier(const void *a, const void *b)
{
    const heavy_t *x = a, *y = b;

    if (x->w != y->w)
        return x->w > y->w ? -1 : 1;
    return x->v < y->v ? -1 : x->v > y->v;
}

/* Add to the group the free vertex with most traffic to its members, given by `link`. */
static uint32_t grow(const place_graph_t *g, const uint32_t *group_of, const double *link,
                     const uint32_t *member, uint32_t count)
{
    uint32_t best = UINT32_MAX;

    for (uint32_t i = 0; i < count; i++)
        for (uint32_t e = g->first[member[i]]; e < g->first[member[i] + 1]; e++) {
            uint32_t u = g->to[e];

            if (group_of[u] == UINT32_MAX && (best == UINT32_MAX || link[u] > link[best]))
                best = u;
        }
    return best;
}

/* Too many groups to list: each grows from the vertex with the heaviest link that is left. */
static xy_status_t group_greedily(const place_graph_t *g, uint32_t k, uint32_t *group_of)
{
    heavy_t *order = xy_malloc((size_t)g->n * sizeof(*order));
    double *link = xy_calloc(g->n, sizeof(*link));
    uint32_t *member = xy_malloc((size_t)k * sizeof(*member)), next = 0, spare = 0;

    if (order == NULL || link == NULL || member == NULL) {
        xy_free(order);
        xy_free(link);
        xy_free(member);
        return XY_ENOMEM;
    }
    memset(group_of, 0xff, (size_t)g->n * sizeof(*group_of));
    for (uint32_t v = 0; v < g->n; v++) {
        order[v] = (heavy_t){0, v};
        for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++)
            order[v].w = g->w[e] > order[v].w ? g->w[e] : order[v].w;
    }
    qsort(order, g->n, sizeof(*order), heavier);
    for (uint32_t group = 0; group < g->n / k; group++) {
        for (uint32_t count = 0; count < k; count++) {
            uint32_t v = grow(g, group_of, link, member, count);

            if (v == UINT32_MAX && count == 0) {
                while (group_of[order[next].v] != UINT32_MAX)
                    next++;
                v = order[next].v;
            } else if (v == UINT32_MAX) { /* no traffic with it: one of those with least traffic */
                while (group_of[order[g->n - 1 - spare].v] != UINT32_MAX)
                    spare++;
                v = order[g->n - 1 - spare].v;
            }
            group_of[v] = group;
            member[count] = v;
            for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++)
                link[g->to[e]] += g->w[e];
        }
        for (uint32_t i = 0; i < k; i++)
            for (uint32_t e = g->first[member[i]]; e < g->first[member[i] + 1]; e++)
                link[g->to[e]] = 0;
    }
    xy_free(order);
    xy_free(link);
    xy_free(member);
    return XY_OK;
}

/* Neighbours in number: programs often number their processes so that neighbours talk. */
static void group_in_order(const place_graph_t *g, uint32_t k, uint32_t *group_of)
{
    for (uint32_t v = 0; v < g->n; v++)
        group_of[v] = v / k;
}

/* Number groups by their first members, so that equal choices give the same answer everywhere. */
static void renumber(uint32_t n, uint32_t *group_of, uint32_t *number)
{
    uint32_t next = 0;

    memset(number, 0xff, (size_t)n * sizeof(*number));
    for (uint32_t v = 0; v < n; v++) {
        if (number[group_of[v]] == UINT32_MAX)
            number[group_of[v]] = next++;
        group_of[v] = number[group_of[v]];
    }
}

static double cost_of(const place_graph_t *g, const uint32_t *group_of)
{
    double sum = 0;

    for (uint32_t v = 0; v < g->n; v++)
        for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++)
            sum += group_of[v] != group_of[g->to[e]] ? g->w[e] : 0;
    return sum;
}

static uint32_t least_factor(uint32_t k)
{
    for (uint32_t f = 2; f * f <= k; f++)
        if (k % f == 0)
            return f;
    return k;
}

/* Groups of a prime number first, then groups of those: pairs of pairs. */
static xy_status_t group_by_factors(const place_graph_t *g, uint32_t k, const treematch_way_t *way,
                                    uint32_t *group_of)
{
    uint32_t f = least_factor(k), *above = xy_malloc((size_t)g->n / f * sizeof(*above));
    place_graph_t coarse;
    xy_status_t st = above != NULL ? treematch_group(g, f, way, group_of) : XY_ENOMEM;

    if (st == XY_OK)
        st = place_graph_contract(g, group_of, g->n / f, &coarse);
    if (st == XY_OK) {
        st = treematch_group(&coarse, k / f, way, above);
        for (uint32_t v = 0; st == XY_OK && v < g->n; v++)
            group_of[v] = above[group_of[v]];
        place_graph_cleanup(&coarse);
    }
    xy_free(above);
    return st;
}

static xy_status_t group_by_weight(const place_graph_t *g, uint32_t k, const treematch_way_t *way,
                                   uint32_t *group_of)
{
    if (way->is_factored && least_factor(k) < k)
        return group_by_factors(g, k, way, group_of);
    return can_list(g->n, k, way) ? group_by_list(g, k, way, group_of)
                                  : group_greedily(g, k, group_of);
}

/* The groups in order, and those that were found by weight, both improved by exchanges; the better
 * ones. Between equals those in order: they are the more regular ones, for the levels above. */
static xy_status_t group_well(const place_graph_t *g, uint32_t k, const treematch_way_t *way,
                              uint32_t *other, uint32_t *group_of)
{
    xy_status_t st = group_by_weight(g, k, way, other);

    group_in_order(g, k, group_of);
    if (st == XY_OK && !way->is_plain)
        st = treematch_exchange(g, k, way->seed, other);
    if (st == XY_OK && !way->is_plain)
        st = treematch_exchange(g, k, way->seed, group_of);
    if (st == XY_OK && cost_of(g, other) * CREDIT < cost_of(g, group_of))
        memcpy(group_of, other, (size_t)g->n * sizeof(*other));
    return st;
}

xy_status_t treematch_group(const place_graph_t *g, uint32_t k, const treematch_way_t *way,
                            uint32_t *group_of)
{
    uint32_t *other;
    xy_status_t st;

    if (k == g->n) {
        memset(group_of, 0, (size_t)g->n * sizeof(*group_of));
        return XY_OK;
    }
    other = xy_malloc((size_t)g->n * sizeof(*other));
    if (other == NULL)
        return XY_ENOMEM;
    st = group_well(g, k, way, other, group_of);
    if (st == XY_OK)
        renumber(g->n, group_of, other);
    xy_free(other);
    return st;
}
