/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges on every level of a tree, from the leaves up. What moves on a level, where it may
 * stand, and how groups of one level become the items of the next; the exchanges are in
 * refine_pairs.c.
 */
#include <string.h>

#include "place/refine.h"
#include "place/refine_pairs.h"

typedef refine_state_t state_t;

/* Frees the state and zeroes it. */
static void state_cleanup(state_t *s)
{
    void *all[] = {s->group_of, s->position,    s->locked,       s->gain,    s->link,
                   s->node,     s->start,       s->count,        s->room,    s->members,
                   s->ancestor, s->mark,        s->height,       s->above,   s->self,
                   s->table,    s->changed,     s->is_next,      s->moved,   s->moved_from,
                   s->near,     s->best,        s->ease,         s->talk,    s->node_talk,
                   s->answers,  s->offer_first, s->answer_first, s->offered, s->is_asked};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        xy_free(all[i]);
    xy_vec_cleanup(&s->offers);
    *s = (state_t){0};
}

/* Where items may stand on one level of the tree. */
typedef struct {
    uint32_t count;
    uint32_t *node;     /* in the target's tree */
    uint32_t *capacity; /* items per place */
    uint32_t *group;    /* of each place */
    uint32_t groups;
    uint32_t *group_node;
    bool is_own_group; /* several items share a place: each place is a group */
} places_t;

/* Allocates the arrays of the state; returns false without memory, and state_cleanup() frees the
 * rest. */
static bool state_allocate(state_t *s, uint32_t items, uint32_t groups, uint32_t levels)
{
    size_t n = (size_t)items + 1, m = (size_t)groups + 2;
    bool ok = (s->group_of = xy_malloc(n * sizeof(uint32_t))) != NULL;

    ok = ok && (s->position = xy_malloc(n * sizeof(uint32_t))) != NULL;
    ok = ok && (s->locked = xy_calloc(n, sizeof(uint32_t))) != NULL;
    ok = ok && (s->moved = xy_malloc(2 * n * sizeof(uint32_t))) != NULL;
    ok = ok && (s->moved_from = xy_malloc(2 * n * sizeof(uint32_t))) != NULL;
    ok = ok && (s->gain = xy_malloc(n * sizeof(double))) != NULL;
    ok = ok && (s->link = xy_calloc(n, sizeof(double))) != NULL;
    ok = ok && (s->start = xy_calloc(m + 1, sizeof(uint32_t))) != NULL;
    ok = ok && (s->count = xy_calloc(m, sizeof(uint32_t))) != NULL;
    ok = ok && (s->room = xy_calloc(m, sizeof(uint32_t))) != NULL;
    ok = ok && (s->mark = xy_calloc(m, sizeof(uint32_t))) != NULL;
    ok = ok && (s->near = xy_malloc(m * sizeof(uint32_t))) != NULL;
    ok = ok && (s->best = xy_malloc(m * sizeof(double))) != NULL;
    ok = ok && (s->offered = xy_malloc(m * sizeof(double))) != NULL;
    ok = ok && (s->is_asked = xy_malloc(m)) != NULL;
    ok = ok && (s->ease = xy_malloc(m * sizeof(double))) != NULL;
    ok = ok && (s->talk = xy_calloc(m, sizeof(double))) != NULL;
    ok = ok && (s->node = xy_malloc(m * sizeof(uint32_t))) != NULL;
    ok = ok && (s->offer_first = xy_malloc(m * sizeof(uint32_t))) != NULL;
    ok = ok && (s->answer_first = xy_malloc(m * sizeof(uint32_t))) != NULL;
    ok = ok && (s->node_talk = xy_calloc(s->t->nodes, sizeof(double))) != NULL;
    ok = ok && (s->ancestor = xy_malloc(m * levels * sizeof(uint32_t))) != NULL;
    ok = ok && (s->above = xy_malloc(m * levels * sizeof(double))) != NULL;
    ok = ok && (s->height = xy_malloc(m * sizeof(double))) != NULL;
    ok = ok && (s->self = xy_malloc(m * sizeof(double))) != NULL;
    ok = ok && (s->changed = xy_malloc(m)) != NULL;
    ok = ok && (s->is_next = xy_malloc(m)) != NULL;
    if (ok && groups <= REFINE_TABLE_MAX)
        ok = (s->table = xy_malloc((size_t)groups * groups * sizeof(double) + 1)) != NULL;
    return ok;
}

/* Heights and ancestors of the groups; the table of all distances when they are few. */
static void state_distances(state_t *s, const xy_target_t *t, const double *height,
                            const places_t *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t g = p->group[i], top = p->group_node[g];

        s->height[g] = height[p->node[i]];
        s->self[g] = 2 * (height[p->node[i]] - height[top]);
    }
    for (uint32_t g = 0; g < s->groups; g++)
        for (uint32_t node = p->group_node[g], l = s->levels; l > 0; l--) {
            size_t at = (size_t)(l - 1) * s->groups + g;

            while (t->level[node] > l - 1)
                node = t->parent[node];
            s->ancestor[at] = node;
            s->above[at] = height[node];
        }
    if (s->table != NULL) {
        double *table = s->table;

        s->table = NULL; /* refine_distance() computes now */
        for (uint32_t a = 0; a < s->groups; a++)
            for (uint32_t b = 0; b < s->groups; b++)
                table[(size_t)a * s->groups + b] = refine_distance(s, a, b);
        s->table = table;
    }
}

/* Fills the state with the items at their places; cleaned up on failure. */
static xy_status_t state_init(state_t *s, const place_graph_t *g, const xy_target_t *t,
                              const double *height, const places_t *p, const uint32_t *place_of)
{
    *s = (state_t){.g = g,
                   .t = t,
                   .node_height = height,
                   .groups = p->groups,
                   .levels = t->depth,
                   .offers = XY_VEC_INIT(refine_offer_t)};
    if (!state_allocate(s, g->n, p->groups, s->levels)) {
        state_cleanup(s);
        return XY_ENOMEM;
    }
    for (uint32_t i = 0; i < p->count; i++)
        s->room[p->group[i]] += p->capacity[i];
    s->members = NULL;
    for (uint32_t i = 0; i < p->groups; i++)
        s->start[i + 1] =
            s->start[i] + s->room[i] + 1; /* one more while an exchange is half done */
    s->members = xy_malloc(((size_t)s->start[p->groups] + 1) * sizeof(uint32_t));
    if (s->members == NULL) {
        state_cleanup(s);
        return XY_ENOMEM;
    }
    memcpy(s->node, p->group_node, (size_t)p->groups * sizeof(*s->node));
    for (uint32_t v = 0; v < g->n; v++)
        refine_enter(s, v, p->group[place_of[v]]);
    memset(s->changed, 1, p->groups);
    memset(s->is_asked, 1, p->groups);
    state_distances(s, t, height, p);
    return XY_OK;
}

/* Items that left their group get the places that others left. */
static xy_status_t settle(const state_t *s, const places_t *p, uint32_t *place_of)
{
    uint32_t *left = xy_malloc(((size_t)p->count + 1) * sizeof(*left));
    uint32_t *first = xy_malloc(((size_t)p->groups + 1) * sizeof(*first));

    if (left == NULL || first == NULL) {
        xy_free(left);
        xy_free(first);
        return XY_ENOMEM;
    }
    for (uint32_t i = p->count; i > 0; i--)
        first[p->group[i - 1]] = i - 1;
    memcpy(left, p->capacity, (size_t)p->count * sizeof(*left));
    for (uint32_t v = 0; v < s->g->n; v++)
        if (p->group[place_of[v]] == s->group_of[v])
            left[place_of[v]]--;
    for (uint32_t v = 0; v < s->g->n; v++) {
        uint32_t g = s->group_of[v];

        if (p->group[place_of[v]] == g)
            continue;
        while (left[first[g]] == 0 || p->group[first[g]] != g)
            first[g]++;
        left[first[g]]--;
        place_of[v] = first[g];
    }
    xy_free(left);
    xy_free(first);
    return XY_OK;
}

static void places_cleanup(places_t *p)
{
    xy_free(p->node);
    xy_free(p->capacity);
    xy_free(p->group);
    xy_free(p->group_node);
    *p = (places_t){0};
}

/* Allocates `count` places; nothing is left allocated on failure. */
static xy_status_t places_allocate(places_t *p, uint32_t count)
{
    size_t bytes = ((size_t)count + 1) * sizeof(uint32_t);

    *p = (places_t){.count = count};
    p->node = xy_malloc(bytes);
    p->capacity = xy_malloc(bytes);
    p->group = xy_malloc(bytes);
    p->group_node = xy_malloc(bytes);
    if (p->node != NULL && p->capacity != NULL && p->group != NULL && p->group_node != NULL)
        return XY_OK;
    places_cleanup(p);
    return XY_ENOMEM;
}

/* Groups of the places: those with the same parent, or each for itself. Group numbers follow the
 * order of parents, in which siblings are together because nodes are in level order within one
 * level; `number` has one entry per node. */
static void places_group(places_t *p, const xy_target_t *t, uint32_t *number)
{
    memset(number, 0xff, (size_t)t->nodes * sizeof(*number));
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t node = p->is_own_group || p->node[i] == 0 ? p->node[i] : t->parent[p->node[i]];

        if (number[node] == UINT32_MAX) {
            number[node] = p->groups;
            p->group_node[p->groups++] = node;
        }
        p->group[i] = number[node];
    }
}

/* The leaves as places. They can share a group when each takes one process and all leaves of a
 * parent are equally far from it. */
static xy_status_t places_of_leaves(places_t *p, const xy_target_t *t, const uint32_t *capacity,
                                    const double *height, uint32_t *number)
{
    if (places_allocate(p, t->leaves) != XY_OK)
        return XY_ENOMEM;
    memset(number, 0xff, (size_t)t->nodes * sizeof(*number));
    for (uint32_t i = 0; i < t->leaves; i++) {
        uint32_t node = t->node_of[i], parent = t->parent[node];

        p->node[i] = node;
        p->capacity[i] = capacity[i];
        if (number[parent] == UINT32_MAX)
            number[parent] = node;
        if (capacity[i] > 1 || height[node] != height[number[parent]])
            p->is_own_group = true;
    }
    places_group(p, t, number);
    return XY_OK;
}

/* Are all groups alike, so that whole groups may change places? */
static bool are_alike(const places_t *p, const xy_target_t *t, const double *height,
                      const uint32_t *room)
{
    for (uint32_t i = 1; i < p->groups; i++) {
        uint32_t a = p->group_node[0], b = p->group_node[i];

        if (t->level[a] != t->level[b] || t->leaf_count[a] != t->leaf_count[b] ||
            t->child_count[a] != t->child_count[b] || height[a] != height[b] || room[0] != room[i])
            return false;
    }
    return true;
}

typedef struct {
    const xy_target_t *t;
    const double *height;
    uint32_t sweeps;
    uint64_t random;
    uint32_t *order, *number;
} job_t;

/* Improves the places at one level of the hierarchy by sweeps of exchanges; the caller cleans up
 * `s` on success. */
static xy_status_t refine_level(job_t *job, const place_graph_t *g, const places_t *p,
                                uint32_t *place_of, state_t *s)
{
    xy_status_t st = state_init(s, g, job->t, job->height, p, place_of);

    if (st != XY_OK)
        return st;
    for (uint32_t i = 0; st == XY_OK && i < job->sweeps && p->groups > 1; i++) {
        double gained = 0;

        st = refine_sweep(s, job->order, &job->random, &gained);
        if (!(gained > 0))
            break;
    }
    if (st == XY_OK)
        st = settle(s, p, place_of);
    if (st != XY_OK)
        state_cleanup(s);
    return st;
}

/* The groups of one level become the items and places of the next. */
static xy_status_t places_above(const places_t *below, const xy_target_t *t, places_t *p,
                                uint32_t *number)
{
    if (places_allocate(p, below->groups) != XY_OK)
        return XY_ENOMEM;
    for (uint32_t i = 0; i < below->groups; i++) {
        p->node[i] = below->group_node[i];
        p->capacity[i] = 1;
    }
    places_group(p, t, number);
    return XY_OK;
}

/* Refine above the leaves, level by level. `item_of` is the group that each process is in. */
static xy_status_t refine_above(job_t *job, const place_graph_t *leaf_graph, places_t *below,
                                state_t *s, uint32_t *item_of, uint32_t *leaf_of)
{
    const xy_target_t *t = job->t;
    uint32_t processes = leaf_graph->n;
    place_graph_t finer = {0};
    const place_graph_t *g = leaf_graph;
    uint32_t *place_of = xy_malloc(((size_t)t->leaves + 1) * sizeof(*place_of));
    xy_status_t st = place_of != NULL ? XY_OK : XY_ENOMEM;

    while (st == XY_OK && below->groups > 1 && are_alike(below, t, job->height, s->room)) {
        place_graph_t coarse;
        places_t p;

        st = place_graph_contract(g, s->group_of, below->groups, &coarse);
        if (st != XY_OK)
            break;
        for (uint32_t v = 0; v < processes; v++)
            item_of[v] = s->group_of[item_of[v]];
        place_graph_cleanup(&finer);
        finer = coarse;
        g = &finer;
        state_cleanup(s);
        st = places_above(below, t, &p, job->number);
        if (st != XY_OK)
            break;
        for (uint32_t i = 0; i < p.count; i++)
            place_of[i] = i;
        st = refine_level(job, g, &p, place_of, s);
        for (uint32_t v = 0; st == XY_OK && v < processes; v++)
            leaf_of[v] +=
                t->first_leaf[p.node[place_of[item_of[v]]]] - t->first_leaf[p.node[item_of[v]]];
        places_cleanup(below);
        *below = p;
    }
    place_graph_cleanup(&finer);
    xy_free(place_of);
    return st;
}

xy_status_t place_refine_tree(const place_graph_t *g, const xy_target_t *t,
                              const uint32_t *capacity, const double *height, uint32_t sweeps,
                              uint64_t seed, uint32_t *leaf_of)
{
    job_t job = {.t = t, .height = height, .sweeps = sweeps, .random = seed};
    uint32_t *item_of = xy_malloc(((size_t)g->n + 1) * sizeof(*item_of));
    places_t places = {0};
    state_t s = {0};
    xy_status_t st = XY_ENOMEM;

    job.order = xy_malloc(((size_t)t->nodes + 1) * sizeof(*job.order));
    job.number = xy_malloc(((size_t)t->nodes + 1) * sizeof(*job.number));
    if (item_of != NULL && job.order != NULL && job.number != NULL)
        st = places_of_leaves(&places, t, capacity, height, job.number);
    if (st == XY_OK)
        st = refine_level(&job, g, &places, leaf_of, &s);
    if (st == XY_OK) {
        for (uint32_t v = 0; v < g->n; v++)
            item_of[v] = v;
        st = refine_above(&job, g, &places, &s, item_of, leaf_of);
    }
    state_cleanup(&s);
    places_cleanup(&places);
    xy_free(item_of);
    xy_free(job.order);
    xy_free(job.number);
    return st;
}
