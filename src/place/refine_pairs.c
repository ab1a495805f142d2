/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges on a tree (Kernighan and Lin between two groups, many pairs of groups).
 *
 * Items live in groups; all places of a group are equal. For two groups that talk to each other,
 * items change places one pair after the other, the pair that gains most first, each item once, and
 * what comes after the best moment is taken back. A gain counts distances to all items, not only
 * across the two groups, so that a move towards a third group under the same switch is worth what
 * it is worth.
 *
 *   level 0: items are processes, groups are what holds leaves (a package)
 *   level 1: items are packages, groups are nodes; and so on up the tree
 *
 * Only pairs in which some exchange could gain are looked at, and after the first round only those
 * with a group that changed.
 */
#include <string.h>

#include "place/refine_pairs.h"

enum { PATIENCE = 6 };

double refine_distance(const refine_state_t *s, uint32_t a, uint32_t b)
{
    if (s->table != NULL)
        return s->table[(size_t)a * s->groups + b];
    if (a == b)
        return s->self[a];
    for (uint32_t l = s->levels - 1; l > 0; l--) {
        size_t row = (size_t)l * s->groups;

        if (s->ancestor[row + a] == s->ancestor[row + b])
            return s->height[a] + s->height[b] - 2 * s->above[row + a];
    }
    return s->height[a] + s->height[b] - 2 * s->above[a];
}

void refine_enter(refine_state_t *s, uint32_t v, uint32_t group)
{
    s->group_of[v] = group;
    s->position[v] = s->count[group];
    s->members[s->start[group] + s->count[group]++] = v;
}

static void leave(refine_state_t *s, uint32_t v)
{
    uint32_t group = s->group_of[v], last = s->members[s->start[group] + --s->count[group]];

    s->members[s->start[group] + s->position[v]] = last;
    s->position[last] = s->position[v];
}

/* How much nearer `to` is to a group than `from` is; remembered while one pair is at work. */
static double nearer(refine_state_t *s, uint32_t from, uint32_t to, uint32_t other)
{
    if (s->mark[other] != s->stamp) {
        s->mark[other] = s->stamp;
        s->best[other] = refine_distance(s, from, other) - refine_distance(s, to, other);
    }
    return s->best[other];
}

/* The gains of all items of a group that go to the other group of the pair; returns the sum of
 * their sizes. `sign` is -1 for the second group: what is nearer for one is farther for the other.
 */
static double compute_gains(refine_state_t *s, uint32_t group, uint32_t a, uint32_t b, double sign)
{
    const place_graph_t *g = s->g;
    double sum = 0;

    for (uint32_t i = 0; i < s->count[group]; i++) {
        uint32_t v = s->members[s->start[group] + i];
        double gain = 0;

        for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++)
            gain += g->w[k] * nearer(s, a, b, s->group_of[g->to[k]]);
        s->gain[v] = sign * gain;
        sum += gain < 0 ? -gain : gain;
    }
    return sum;
}

/* Move v into the other group of the pair; neighbours in the pair learn of it. `both` is what a
 * link between the two groups costs more than two links inside, together. */
static void move(refine_state_t *s, uint32_t v, uint32_t to, double both)
{
    const place_graph_t *g = s->g;
    uint32_t from = s->group_of[v];

    leave(s, v);
    refine_enter(s, v, to);
    s->gain[v] = -s->gain[v];
    for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++) {
        uint32_t u = g->to[k];

        if (s->group_of[u] == from)
            s->gain[u] += g->w[k] * both;
        else if (s->group_of[u] == to)
            s->gain[u] -= g->w[k] * both;
    }
}

/* The free item of a group that gains most; UINT32_MAX: none. With `beside`, what it and `beside`
 * have between them counts against it, because both move. */
static uint32_t best_item(refine_state_t *s, uint32_t group, uint32_t beside, double both,
                          double *gain_p)
{
    uint32_t best = UINT32_MAX, *m = &s->members[s->start[group]];
    double most = -1e300;

    if (beside != UINT32_MAX)
        for (uint32_t k = s->g->first[beside]; k < s->g->first[beside + 1]; k++)
            s->link[s->g->to[k]] = s->g->w[k] * both;
    for (uint32_t i = 0; i < s->count[group]; i++) {
        double gain = s->gain[m[i]] - (beside != UINT32_MAX ? s->link[m[i]] : 0);

        if (s->locked[m[i]] != s->stamp && gain > most) {
            most = gain;
            best = m[i];
        }
    }
    if (beside != UINT32_MAX)
        for (uint32_t k = s->g->first[beside]; k < s->g->first[beside + 1]; k++)
            s->link[s->g->to[k]] = 0;
    *gain_p = most;
    return best;
}

static void step(refine_state_t *s, uint32_t v, uint32_t to, double both, uint32_t *moves)
{
    s->locked[v] = s->stamp;
    s->moved_from[*moves] = s->group_of[v];
    s->moved[(*moves)++] = v;
    move(s, v, to, both);
}

/* The next exchange or single move between a and b; false: nothing is free. */
static bool next_step(refine_state_t *s, uint32_t a, uint32_t b, double both, double *sum,
                      uint32_t *moves)
{
    double ga, gb, together = -1e300;
    uint32_t u = best_item(s, a, UINT32_MAX, 0, &ga);
    uint32_t v = best_item(s, b, u, both, &gb);
    bool has_room_b = s->count[b] < s->room[b], has_room_a = s->count[a] < s->room[a];

    if (u != UINT32_MAX && v != UINT32_MAX)
        together = ga + gb;
    if (has_room_b && u != UINT32_MAX && ga >= together) {
        step(s, u, b, both, moves);
        *sum += ga;
        return true;
    }
    if (has_room_a && v != UINT32_MAX) {
        double alone;
        uint32_t single = best_item(s, b, UINT32_MAX, 0, &alone);

        if (alone >= together) {
            step(s, single, a, both, moves);
            *sum += alone;
            return true;
        }
    }
    if (together < -1e299)
        return false;
    step(s, u, b, both, moves);
    step(s, v, a, both, moves);
    *sum += together;
    return true;
}

/* Kernighan and Lin between two groups; what was gained. */
static double improve_pair(refine_state_t *s, uint32_t a, uint32_t b)
{
    double both = 2 * refine_distance(s, a, b) - s->self[a] - s->self[b], sum = 0, best = 0;
    double scale;
    uint32_t moves = 0, kept = 0, stalled = 0;

    s->stamp++;
    scale = compute_gains(s, a, a, b, 1) + compute_gains(s, b, a, b, -1);
    while (stalled < PATIENCE && next_step(s, a, b, both, &sum, &moves)) {
        if (sum > best + 1e-9 * scale) {
            best = sum;
            kept = moves;
            stalled = 0;
        } else {
            stalled++;
        }
    }
    while (moves > kept) {
        uint32_t v = s->moved[--moves];

        leave(s, v);
        refine_enter(s, v, s->moved_from[moves]);
    }
    return best;
}

/* How much v talks with everything: conn of its group and of all nodes above the groups that it
 * talks to. The groups are listed in s->near; returns how many. */
static uint32_t listen(refine_state_t *s, uint32_t v, double *total_p)
{
    const place_graph_t *g = s->g;
    uint32_t found = 0;
    double total = 0;

    for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++) {
        uint32_t group = s->group_of[g->to[k]];

        if (s->talk[group] == 0)
            s->near[found++] = group;
        s->talk[group] += g->w[k];
        total += g->w[k];
    }
    for (uint32_t i = 0; i < found; i++)
        for (uint32_t x = s->node[s->near[i]]; x != 0; x = s->t->parent[x])
            s->node_talk[x] += s->talk[s->near[i]];
    *total_p = total;
    return found;
}

static void forget(refine_state_t *s, uint32_t found)
{
    for (uint32_t i = 0; i < found; i++) {
        s->talk[s->near[i]] = 0;
        for (uint32_t x = s->node[s->near[i]]; x != 0; x = s->t->parent[x])
            s->node_talk[x] = 0;
    }
}

/* The cost of v in a group, without terms that are the same everywhere: a distance is the two
 * heights less twice the common part, and the common part is a sum over nodes above both. */
static double cost_in(const refine_state_t *s, uint32_t group, double total)
{
    double sum = total * s->height[group];

    for (uint32_t x = s->node[group]; x != 0; x = s->t->parent[x])
        sum -= 2 * (s->node_height[x] - s->node_height[s->t->parent[x]]) * s->node_talk[x];
    return sum;
}

/* The best offers of group `a`, one for each group that it talks to. */
static xy_status_t make_offers(refine_state_t *s, uint32_t a, uint32_t *listed)
{
    uint32_t count = 0;

    s->stamp++;
    s->ease[a] = s->count[a] < s->room[a] ? 0 : -1e300;
    for (uint32_t i = 0; i < s->count[a]; i++) {
        uint32_t v = s->members[s->start[a] + i], found, x = s->node[a];
        double total, here, loss;

        found = listen(s, v, &total);
        here = cost_in(s, a, total);
        loss = x == 0 ? 0 : -2 * s->talk[a] * (s->node_height[x] - s->node_height[s->t->parent[x]]);
        if (loss > s->ease[a])
            s->ease[a] = loss;
        for (uint32_t k = 0; k < found; k++) {
            uint32_t b = s->near[k];
            double gain;

            if (b == a)
                continue;
            gain = here - cost_in(s, b, total);
            if (s->mark[b] != s->stamp) {
                s->mark[b] = s->stamp;
                s->best[b] = gain;
                listed[count++] = b;
            } else if (gain > s->best[b]) {
                s->best[b] = gain;
            }
        }
        forget(s, found);
    }
    for (uint32_t k = 0; k < count; k++)
        if (xy_vec_append(&s->offers, &(refine_offer_t){a, listed[k], s->best[listed[k]]}) != XY_OK)
            return XY_ENOMEM;
    return XY_OK;
}

/* Offers of all groups that changed or have a neighbour that did, and an index of them by `to`. */
static xy_status_t collect_offers(refine_state_t *s, uint32_t *listed)
{
    refine_offer_t *offers;

    s->offers.count = 0;
    for (uint32_t a = 0; a < s->groups; a++) {
        s->offer_first[a] = (uint32_t)s->offers.count;
        if (s->is_asked[a] && make_offers(s, a, listed) != XY_OK)
            return XY_ENOMEM;
    }
    s->offer_first[s->groups] = (uint32_t)s->offers.count;
    offers = s->offers.data;
    xy_free(s->answers);
    s->answers = xy_malloc((s->offers.count + 1) * sizeof(*s->answers));
    if (s->answers == NULL)
        return XY_ENOMEM;
    memset(s->answer_first, 0, ((size_t)s->groups + 2) * sizeof(*s->answer_first));
    for (size_t k = 0; k < s->offers.count; k++)
        s->answer_first[offers[k].to + 2]++;
    for (uint32_t a = 0; a < s->groups; a++)
        s->answer_first[a + 2] += s->answer_first[a + 1];
    for (size_t k = 0; k < s->offers.count; k++)
        s->answers[s->answer_first[offers[k].to + 1]++] = (uint32_t)k;
    return XY_OK;
}

/* Work on the pairs of group `a` with groups of a higher number in which an exchange of the best
 * offers would gain, or the best offer against an item of little weight. */
static double improve_group(refine_state_t *s, uint32_t a)
{
    const refine_offer_t *offers = s->offers.data;
    double gained = 0;

    for (uint32_t k = s->offer_first[a]; k < s->offer_first[a + 1]; k++)
        s->offered[offers[k].to] = offers[k].gain;
    for (uint32_t k = s->answer_first[a]; k < s->answer_first[a + 1]; k++) {
        const refine_offer_t *o = &offers[s->answers[k]];
        uint32_t b = o->from;
        double give = s->offered[b], take = o->gain, gain;

        if (b < a || !s->is_asked[a] || (!s->changed[a] && !s->changed[b]))
            continue;
        if ((give < s->ease[a] ? s->ease[a] : give) + (take < s->ease[b] ? s->ease[b] : take) <= 0)
            continue;
        gain = improve_pair(s, a, b);
        if (gain > 0) {
            gained += gain;
            s->is_next[a] = s->is_next[b] = 1;
        }
    }
    return gained;
}

xy_status_t refine_sweep(refine_state_t *s, uint32_t *order, uint64_t *random, double *gained)
{
    xy_status_t st = collect_offers(s, order);

    if (st != XY_OK)
        return st;
    place_shuffle(order, s->groups, random);
    memset(s->is_next, 0, s->groups);
    for (uint32_t i = 0; i < s->groups; i++)
        *gained += improve_group(s, order[i]);
    memcpy(s->changed, s->is_next, s->groups);
    memcpy(s->is_asked, s->is_next, s->groups);
    for (size_t k = 0; k < s->offers.count; k++)
        if (s->changed[XY_VEC_AT(&s->offers, refine_offer_t, k).to])
            s->is_asked[XY_VEC_AT(&s->offers, refine_offer_t, k).from] = 1;
    return XY_OK;
}
