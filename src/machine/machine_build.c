/* SPDX-License-Identifier: BSD-3-Clause */
/* The builder: objects opened and closed in tree order, turned into a machine at the end. */
#include <string.h>

#include "machine/machine_internal.h"

enum { GPUS_MAX = 1 << 20 };

static const char doing[] = "building the machine";

static machine_draft_t *draft_at(const machine_builder_t *b, size_t i)
{
    return &XY_VEC_AT(&b->drafts, machine_draft_t, i);
}

xy_status_t machine_builder_init(machine_builder_t *b, const char *name, const char *source)
{
    machine_draft_t root = {.type = XY_OBJ_MACHINE, .physical = XY_OBJ_NONE};
    uint32_t id;

    *b = (machine_builder_t){
        .drafts = XY_VEC_INIT(machine_draft_t),
        .links = XY_VEC_INIT(xy_bundle_t),
        .names = XY_VEC_INIT(char *),
        .groups = XY_VEC_INIT(xy_gpu_group_t),
        .gpus = XY_VEC_INIT(xy_gpu_t),
        .peers = XY_VEC_INIT(xy_gpu_peer_t),
        .routes = XY_VEC_INIT(xy_route_t),
        .grids = XY_VEC_INIT(xy_grid_t),
        .cells = XY_VEC_INIT(uint32_t),
    };
    xy_hash_init(&b->name_index, XY_HASH_STRING);
    b->name = xy_strdup(name);
    b->source = xy_strdup(source);
    if (b->name == NULL || b->source == NULL || xy_vec_push(&b->links) == NULL)
        return xy_fail_memory(doing);
    /* Id 0 is "no name" and "link not known". */
    if (machine_builder_name(b, "", &id) != XY_OK)
        return XY_ENOMEM;
    return machine_builder_open(b, &root, &id);
}

void machine_builder_cleanup(machine_builder_t *b)
{
    for (size_t i = 0; i < b->names.count; i++)
        xy_free(XY_VEC_AT(&b->names, char *, i));
    xy_vec_cleanup(&b->names);
    xy_hash_cleanup(&b->name_index);
    xy_vec_cleanup(&b->drafts);
    xy_vec_cleanup(&b->links);
    xy_vec_cleanup(&b->groups);
    xy_vec_cleanup(&b->gpus);
    xy_vec_cleanup(&b->peers);
    xy_vec_cleanup(&b->routes);
    xy_vec_cleanup(&b->grids);
    xy_vec_cleanup(&b->cells);
    xy_free(b->name);
    xy_free(b->source);
    b->name = b->source = NULL;
}

xy_status_t machine_builder_open(machine_builder_t *b, const machine_draft_t *draft,
                                 uint32_t *index_p)
{
    machine_draft_t *d = xy_vec_push(&b->drafts);

    if (d == NULL)
        return xy_fail_memory(doing);
    *d = *draft;
    d->parent = b->depth > 0 ? b->open[b->depth - 1] : XY_OBJ_NONE;
    d->level = (uint8_t)b->depth;
    *index_p = (uint32_t)(b->drafts.count - 1);
    b->open[b->depth++] = *index_p;
    return XY_OK;
}

void machine_builder_close(machine_builder_t *b)
{
    b->depth--;
}

/* The groups of what is repeated are the last ones: they were added since `first` was opened. Peers
 * are relative to their group and never change: the copies share them. */
static xy_status_t repeat_groups(machine_builder_t *b, size_t from, size_t to, uint32_t offset)
{
    for (size_t i = from; i < to; i++) {
        xy_gpu_group_t group = XY_VEC_AT(&b->groups, xy_gpu_group_t, i);
        uint32_t first_gpu = group.first_gpu;

        if (b->gpus.count + group.gpu_count > GPUS_MAX)
            return xy_fail(XY_ELIMIT, "%s: more than %d GPUs", b->source, GPUS_MAX);
        group.host += offset;
        group.first_gpu = (uint32_t)b->gpus.count;
        if (xy_vec_append(&b->groups, &group) != XY_OK)
            return xy_fail_memory(doing);
        for (uint32_t g = 0; g < group.gpu_count; g++) {
            xy_gpu_t gpu = XY_VEC_AT(&b->gpus, xy_gpu_t, first_gpu + g);

            gpu.group = (uint32_t)(b->groups.count - 1);
            if (xy_vec_append(&b->gpus, &gpu) != XY_OK)
                return xy_fail_memory(doing);
        }
    }
    return XY_OK;
}

/* The grids of what is repeated are the last ones, too; the copies share their cells. */
static xy_status_t repeat_grids(machine_builder_t *b, size_t from, size_t to, uint32_t offset)
{
    for (size_t i = from; i < to; i++) {
        xy_grid_t grid = XY_VEC_AT(&b->grids, xy_grid_t, i);

        grid.object += offset;
        if (xy_vec_append(&b->grids, &grid) != XY_OK)
            return xy_fail_memory(doing);
    }
    return XY_OK;
}

xy_status_t machine_builder_repeat(machine_builder_t *b, uint32_t first, uint32_t times)
{
    size_t size = b->drafts.count - first, groups = b->groups.count, from = groups;
    size_t grids = b->grids.count, from_grid = grids;
    xy_status_t st = XY_OK;

    if (times == 0)
        return XY_OK;
    if (xy_vec_push_many(&b->drafts, size * times) == NULL)
        return xy_fail_memory(doing);
    while (from > 0 && XY_VEC_AT(&b->groups, xy_gpu_group_t, from - 1).host >= first)
        from--;
    while (from_grid > 0 && XY_VEC_AT(&b->grids, xy_grid_t, from_grid - 1).object >= first)
        from_grid--;
    for (uint32_t t = 1; st == XY_OK && t <= times; t++) {
        machine_draft_t *copy = draft_at(b, first + t * size);
        uint32_t offset = (uint32_t)(t * size);

        memcpy(copy, draft_at(b, first), size * sizeof(*copy));
        for (size_t i = 1; i < size; i++)
            copy[i].parent += offset;
        st = repeat_groups(b, from, groups, offset);
        if (st == XY_OK)
            st = repeat_grids(b, from_grid, grids, offset);
    }
    return st;
}

xy_status_t machine_builder_name(machine_builder_t *b, const char *name, uint32_t *id_p)
{
    uintptr_t known = (uintptr_t)xy_hash_get(&b->name_index, XY_HASH_KEY(name));
    char *copy;

    if (known != 0) {
        *id_p = (uint32_t)(known - 1);
        return XY_OK;
    }
    copy = xy_strdup(name);
    if (copy == NULL || xy_vec_append(&b->names, &copy) != XY_OK) {
        xy_free(copy);
        return xy_fail_memory(doing);
    }
    if (xy_hash_set(&b->name_index, XY_HASH_KEY(copy), (void *)(uintptr_t)b->names.count) != XY_OK)
        return xy_fail_memory(doing);
    *id_p = (uint32_t)(b->names.count - 1);
    return XY_OK;
}

/* Machines have a handful of kinds of links, used in runs: looking at the latest few is enough to
 * keep the table short, and a miss only costs an entry. */
xy_status_t machine_builder_link(machine_builder_t *b, xy_bundle_t links, uint32_t *id_p)
{
    size_t tries = 16, i = b->links.count;

    if (links.link.latency == 0 && links.link.bandwidth == 0) {
        *id_p = 0;
        return XY_OK;
    }
    while (i-- > 0 && tries-- > 0) {
        const xy_bundle_t *known = &XY_VEC_AT(&b->links, xy_bundle_t, i);

        if (known->link.latency == links.link.latency &&
            known->link.bandwidth == links.link.bandwidth && known->count == links.count) {
            *id_p = (uint32_t)i;
            return XY_OK;
        }
    }
    if (xy_vec_append(&b->links, &links) != XY_OK)
        return xy_fail_memory(doing);
    *id_p = (uint32_t)(b->links.count - 1);
    return XY_OK;
}

xy_status_t machine_builder_gpu_group(machine_builder_t *b, const xy_gpu_group_t *group)
{
    xy_gpu_group_t *g = xy_vec_push(&b->groups);

    if (g == NULL)
        return xy_fail_memory(doing);
    *g = *group;
    g->host = b->open[b->depth - 1];
    g->first_gpu = (uint32_t)b->gpus.count;
    g->first_peer = (uint32_t)b->peers.count;
    g->gpu_count = g->peer_count = 0;
    return XY_OK;
}

xy_status_t machine_builder_gpu(machine_builder_t *b, const xy_gpu_t *gpu)
{
    xy_gpu_t *g = xy_vec_push(&b->gpus);

    if (g == NULL)
        return xy_fail_memory(doing);
    *g = *gpu;
    g->group = (uint32_t)(b->groups.count - 1);
    XY_VEC_AT(&b->groups, xy_gpu_group_t, g->group).gpu_count++;
    return XY_OK;
}

xy_status_t machine_builder_peer(machine_builder_t *b, const xy_gpu_peer_t *peer)
{
    if (xy_vec_append(&b->peers, peer) != XY_OK)
        return xy_fail_memory(doing);
    XY_VEC_AT(&b->groups, xy_gpu_group_t, b->groups.count - 1).peer_count++;
    return XY_OK;
}

xy_status_t machine_builder_route(machine_builder_t *b, const xy_route_t *route)
{
    return xy_vec_append(&b->routes, route) == XY_OK ? XY_OK : xy_fail_memory(doing);
}

xy_status_t machine_builder_grid(machine_builder_t *b, uint32_t object, const xy_grid_t *grid,
                                 const uint32_t *cells, uint32_t count)
{
    xy_grid_t *g = xy_vec_push(&b->grids);
    uint32_t *copy = xy_vec_push_many(&b->cells, count);

    if (g == NULL || copy == NULL)
        return xy_fail_memory(doing);
    *g = *grid;
    g->object = object;
    g->first_cell = (uint32_t)(b->cells.count - count);
    memcpy(copy, cells, count * sizeof(*cells));
    draft_at(b, object)->flags |= XY_OBJ_GRID;
    return XY_OK;
}

/* Calls for the scope: the next draft at or after `i` that is of `type` and not inside a node of
 * its own, or the end. */
static size_t scope_next(const machine_builder_t *b, uint32_t first, uint8_t type, size_t i)
{
    for (; i < b->drafts.count; i++) {
        const machine_draft_t *d = draft_at(b, i);

        if (d->type == type)
            return i;
        if (d->type == XY_OBJ_NODE && i != first)
            while (i + 1 < b->drafts.count && draft_at(b, i + 1)->level > d->level)
                i++;
    }
    return i;
}

uint32_t machine_builder_scope_count(const machine_builder_t *b, uint32_t first, uint8_t type)
{
    uint32_t count = 0;

    for (size_t i = scope_next(b, first, type, first); i < b->drafts.count;
         i = scope_next(b, first, type, i + 1))
        count++;
    return count;
}

void machine_builder_number(machine_builder_t *b, uint32_t first, uint8_t type,
                            const uint32_t *numbers)
{
    for (size_t i = scope_next(b, first, type, first); i < b->drafts.count;
         i = scope_next(b, first, type, i + 1))
        draft_at(b, i)->physical = *numbers++;
}
