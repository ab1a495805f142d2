/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From drafts in tree order to a machine in level order.
 *
 * A stable sort by level does it: siblings, which a walk in tree order meets in turn among the
 * objects of their level, end up contiguous, and a parent before its children.
 */
#include <stdlib.h>
#include <string.h>

#include "machine/machine_internal.h"

static const machine_draft_t *drafts_of(const machine_builder_t *b)
{
    return b->drafts.data;
}

/* Allocates the arrays of a machine; the caller destroys it after a failure. */
static xy_status_t allocate(xy_machine_t *m, uint32_t count, uint32_t leaves)
{
    uint32_t **const arrays[] = {&m->parent,     &m->first_child, &m->child_count, &m->first_leaf,
                                 &m->leaf_count, &m->logical,     &m->physical,    &m->name_of,
                                 &m->link_of,    &m->typed};
    uint8_t **const bytes[] = {&m->type, &m->level, &m->flags};
    bool failed = false;

    for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++)
        failed |= (*arrays[i] = xy_calloc(count, sizeof(uint32_t))) == NULL;
    for (size_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i++)
        failed |= (*bytes[i] = xy_calloc(count, 1)) == NULL;
    m->bytes = xy_calloc(count, sizeof(*m->bytes));
    m->leaf = xy_calloc(leaves, sizeof(*m->leaf));
    m->usable_before = xy_calloc((size_t)leaves + 1, sizeof(*m->usable_before));
    m->count = count;
    m->leaves = leaves;
    if (failed || m->bytes == NULL || m->leaf == NULL || m->usable_before == NULL)
        return XY_ENOMEM;
    return XY_OK;
}

/* place[draft] = object. */
static void sort_by_level(const machine_builder_t *b, xy_machine_t *m, uint32_t *place)
{
    const machine_draft_t *d = drafts_of(b);
    uint32_t next[XY_MACHINE_DEPTH_MAX + 1] = {0};

    for (uint32_t i = 0; i < m->count; i++) {
        next[d[i].level + 1]++;
        if (d[i].level + 1U > m->depth)
            m->depth = d[i].level + 1U;
    }
    for (int l = 0; l < XY_MACHINE_DEPTH_MAX; l++)
        next[l + 1] += next[l];
    for (uint32_t i = 0; i < m->count; i++)
        place[i] = next[d[i].level]++;
}

/* Copies the drafts into the arrays of the machine, at the positions `place`. */
static void fill(const machine_builder_t *b, xy_machine_t *m, const uint32_t *place)
{
    const machine_draft_t *d = drafts_of(b);
    machine_numbering_t numbering = {0};
    uint32_t leaf = 0;

    for (uint32_t i = 0; i < m->count; i++) {
        uint32_t o = place[i];
        uint32_t by_place = machine_numbering_next(&numbering, d[i].type, d[i].level);
        bool is_leaf = i + 1 == m->count || d[i + 1].level <= d[i].level;

        m->type[o] = d[i].type;
        m->level[o] = d[i].level;
        m->flags[o] = d[i].flags;
        m->bytes[o] = d[i].bytes;
        m->name_of[o] = d[i].name;
        m->link_of[o] = d[i].link;
        m->physical[o] = d[i].physical == XY_OBJ_NONE ? by_place : d[i].physical;
        m->parent[o] = i == 0 ? XY_OBJ_NONE : place[d[i].parent];
        if (i > 0 && m->child_count[m->parent[o]]++ == 0)
            m->first_child[m->parent[o]] = o;
        m->first_leaf[o] = leaf;
        if (is_leaf)
            m->leaf[leaf++] = o;
    }
}

/* Sets the logical numbers of objects and the lists of objects by type. */
static void number_by_type(const machine_builder_t *b, xy_machine_t *m, const uint32_t *place)
{
    uint32_t next[XY_OBJ_TYPES];

    for (uint32_t o = 0; o < m->count; o++)
        m->typed_first[m->type[o] + 1]++;
    for (int t = 0; t < XY_OBJ_TYPES; t++)
        m->typed_first[t + 1] += m->typed_first[t];
    memcpy(next, m->typed_first, sizeof(next));
    for (uint32_t i = 0; i < b->drafts.count; i++) {
        uint32_t o = place[i];
        uint8_t t = m->type[o];

        m->logical[o] = next[t] - m->typed_first[t];
        m->typed[next[t]++] = o;
    }
}

/* Reasons go down to everything below, then up where all children share them. */
static void spread_flags(xy_machine_t *m)
{
    for (uint32_t o = 1; o < m->count; o++)
        m->flags[o] |= m->flags[m->parent[o]] & XY_EXCLUDED;
    for (uint32_t o = m->count; o-- > 0;) {
        uint8_t common = XY_EXCLUDED;

        for (uint32_t c = 0; c < m->child_count[o]; c++)
            common &= m->flags[m->first_child[o] + c];
        if (m->child_count[o] > 0)
            m->flags[o] |= common;
    }
}

static void count_leaves(xy_machine_t *m)
{
    for (uint32_t o = m->count; o-- > 0;) {
        if (m->child_count[o] == 0)
            m->leaf_count[o] = 1;
        if (o > 0)
            m->leaf_count[m->parent[o]] += m->leaf_count[o];
    }
    for (uint32_t i = 0; i < m->leaves; i++)
        m->usable_before[i + 1] = m->usable_before[i] + ((m->flags[m->leaf[i]] & XY_EXCLUDED) == 0);
}

static int compare_hosts(const void *a, const void *b)
{
    const xy_gpu_group_t *x = a, *y = b;

    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    return x->first_gpu < y->first_gpu ? -1 : x->first_gpu > y->first_gpu;
}

/* Groups sorted by host, GPUs and peers in the order of their groups. */
static xy_status_t take_gpus(machine_builder_t *b, xy_machine_t *m, const uint32_t *place)
{
    xy_gpu_group_t *groups = b->groups.data;
    xy_gpu_t *gpus = b->gpus.data;
    size_t peers = 0;

    for (size_t i = 0; i < b->groups.count; i++) {
        groups[i].host = place[groups[i].host];
        peers += groups[i].peer_count;
    }
    if (b->groups.count > 1)
        qsort(groups, b->groups.count, sizeof(*groups), compare_hosts);
    m->gpus = xy_calloc(b->gpus.count, sizeof(*gpus));
    m->gpu_peers = xy_calloc(peers, sizeof(*m->gpu_peers));
    if (m->gpus == NULL || m->gpu_peers == NULL)
        return XY_ENOMEM;
    for (uint32_t i = 0; i < b->groups.count; i++) {
        xy_gpu_group_t *g = &groups[i];

        for (uint32_t k = 0; k < g->gpu_count; k++) {
            m->gpus[m->gpu_count + k] = gpus[g->first_gpu + k];
            m->gpus[m->gpu_count + k].group = i;
        }
        for (uint32_t k = 0; k < g->peer_count; k++)
            m->gpu_peers[m->gpu_peer_count + k] =
                XY_VEC_AT(&b->peers, xy_gpu_peer_t, g->first_peer + k);
        g->first_gpu = m->gpu_count;
        g->first_peer = m->gpu_peer_count;
        m->gpu_count += g->gpu_count;
        m->gpu_peer_count += g->peer_count;
    }
    m->gpu_group_count = (uint32_t)b->groups.count;
    m->gpu_groups = xy_vec_take(&b->groups);
    return XY_OK;
}

static xy_status_t number_gpus(xy_machine_t *m)
{
    uint32_t *by_place;
    xy_status_t st = machine_gpu_numbers(m, &by_place);

    if (st != XY_OK)
        return st;
    for (uint32_t i = 0; i < m->gpu_count; i++)
        if (m->gpus[i].physical == XY_OBJ_NONE)
            m->gpus[i].physical = by_place[i];
    xy_free(by_place);
    return XY_OK;
}

/* Moves the routes into the machine and indexes them by their ends. */
static xy_status_t take_routes(machine_builder_t *b, xy_machine_t *m, const uint32_t *place)
{
    m->route_count = (uint32_t)b->routes.count;
    m->routes = xy_vec_take(&b->routes);
    for (uint32_t i = 0; i < m->route_count; i++) {
        xy_route_t *r = &m->routes[i];
        uint32_t a = place[r->a], c = place[r->b];

        r->a = a < c ? a : c;
        r->b = a < c ? c : a;
        m->flags[a] |= XY_OBJ_ROUTED;
        m->flags[c] |= XY_OBJ_ROUTED;
        if (xy_hash_set(&m->route_index, (uint64_t)r->a << 32 | r->b, r) != XY_OK)
            return XY_ENOMEM;
    }
    return XY_OK;
}

static int compare_grids(const void *a, const void *b)
{
    const xy_grid_t *x = a, *y = b;

    return x->object < y->object ? -1 : x->object > y->object;
}

/* Moves the grids into the machine, sorted by object. */
static void take_grids(machine_builder_t *b, xy_machine_t *m, const uint32_t *place)
{
    m->grid_count = (uint32_t)b->grids.count;
    m->grids = xy_vec_take(&b->grids);
    m->cell_count = (uint32_t)b->cells.count;
    m->cells = xy_vec_take(&b->cells);
    for (uint32_t i = 0; i < m->grid_count; i++)
        m->grids[i].object = place[m->grids[i].object];
    if (m->grid_count > 1)
        qsort(m->grids, m->grid_count, sizeof(*m->grids), compare_grids);
}

static void take_tables(machine_builder_t *b, xy_machine_t *m)
{
    m->name = b->name;
    m->source = b->source;
    b->name = b->source = NULL;
    m->name_count = (uint32_t)b->names.count;
    m->names = xy_vec_take(&b->names);
    m->link_count = (uint32_t)b->links.count;
    m->links = xy_vec_take(&b->links);
}

static uint32_t count_draft_leaves(const machine_builder_t *b)
{
    const machine_draft_t *d = drafts_of(b);
    uint32_t leaves = 0;

    for (size_t i = 0; i < b->drafts.count; i++)
        leaves += i + 1 == b->drafts.count || d[i + 1].level <= d[i].level;
    return leaves;
}

xy_status_t machine_builder_finish(machine_builder_t *b, xy_machine_t **machine_p)
{
    uint32_t count = (uint32_t)b->drafts.count;
    uint32_t *place = xy_malloc(count * sizeof(*place));
    xy_machine_t *m = xy_calloc(1, sizeof(*m));

    if (m == NULL || place == NULL)
        goto failed;
    xy_hash_init(&m->route_index, XY_HASH_U64);
    if (allocate(m, count, count_draft_leaves(b)) != XY_OK)
        goto failed;
    sort_by_level(b, m, place);
    fill(b, m, place);
    number_by_type(b, m, place);
    spread_flags(m);
    count_leaves(m);
    if (take_gpus(b, m, place) != XY_OK || number_gpus(m) != XY_OK ||
        take_routes(b, m, place) != XY_OK)
        goto failed;
    take_grids(b, m, place);
    take_tables(b, m);
    xy_free(place);
    *machine_p = m;
    return XY_OK;
failed:
    xy_free(place);
    xy_machine_destroy(m);
    return xy_fail_memory("building the machine");
}

void xy_machine_destroy(xy_machine_t *m)
{
    if (m == NULL)
        return;
    void *const arrays[] = {
        m->parent,  m->first_child, m->child_count, m->first_leaf, m->leaf_count,
        m->logical, m->physical,    m->name_of,     m->link_of,    m->bytes,
        m->type,    m->level,       m->flags,       m->leaf,       m->usable_before,
        m->typed,   m->links,       m->gpu_groups,  m->gpus,       m->gpu_peers,
        m->routes,  m->grids,       m->cells,       m->name,       m->source};

    for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++)
        xy_free(arrays[i]);
    for (uint32_t i = 0; i < m->name_count; i++)
        xy_free(m->names[i]);
    xy_free(m->names);
    xy_hash_cleanup(&m->route_index);
    xy_free(m);
}
