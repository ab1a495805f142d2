/* SPDX-License-Identifier: BSD-3-Clause */
/* A machine made from a part of another one, and the comparison of two. */
#include <string.h>

#include "machine/machine_internal.h"

typedef struct {
    const xy_machine_t *m;
    const xy_bitset_t *leaves; /* NULL: all */
    machine_builder_t builder;
    uint32_t *draft_of; /* XY_OBJ_NONE: left out */
} copy_t;

static bool is_kept(const copy_t *c, xy_obj_t o)
{
    uint32_t first = c->m->first_leaf[o];

    return c->leaves == NULL || xy_bitset_next(c->leaves, first) < first + c->m->leaf_count[o];
}

static xy_status_t copy_gpu(copy_t *c, const xy_gpu_t *gpu)
{
    xy_gpu_t copy = *gpu;
    xy_status_t st = machine_builder_name(&c->builder, c->m->names[gpu->name], &copy.name);

    return st == XY_OK ? machine_builder_gpu(&c->builder, &copy) : st;
}

/* Copies the groups of GPUs at an object. */
static xy_status_t copy_gpus(copy_t *c, xy_obj_t o)
{
    uint32_t first, count = machine_gpu_groups_of(c->m, o, &first);
    xy_status_t st = XY_OK;

    for (uint32_t i = first; st == XY_OK && i < first + count; i++) {
        const xy_gpu_group_t *g = &c->m->gpu_groups[i];

        st = machine_builder_gpu_group(&c->builder, g);
        for (uint32_t k = 0; st == XY_OK && k < g->gpu_count; k++)
            st = copy_gpu(c, &c->m->gpus[g->first_gpu + k]);
        for (uint32_t k = 0; st == XY_OK && k < g->peer_count; k++)
            st = machine_builder_peer(&c->builder, &c->m->gpu_peers[g->first_peer + k]);
    }
    return st;
}

/* Copies an object and opens it in the builder; the caller closes it. */
static xy_status_t copy_object(copy_t *c, xy_obj_t o)
{
    const xy_machine_t *m = c->m;
    machine_draft_t d = {.type = m->type[o],
                         .bytes = m->bytes[o],
                         .physical = m->physical[o],
                         .flags = m->flags[o] & XY_EXCLUDED};
    xy_status_t st = machine_builder_name(&c->builder, xy_machine_object_name(m, o), &d.name);

    if (st == XY_OK)
        st = machine_builder_link(&c->builder, m->links[m->link_of[o]], &d.link);
    if (st == XY_OK)
        st = machine_builder_open(&c->builder, &d, &c->draft_of[o]);
    return st == XY_OK ? copy_gpus(c, o) : st;
}

/* Copies the kept objects below `top`. */
static xy_status_t copy_below(copy_t *c, xy_obj_t top)
{
    xy_status_t st = XY_OK;

    for (uint32_t i = 0; st == XY_OK && i < c->m->child_count[top]; i++) {
        xy_obj_t o = c->m->first_child[top] + i;

        if (!is_kept(c, o))
            continue;
        st = copy_object(c, o);
        if (st == XY_OK)
            st = copy_below(c, o);
        machine_builder_close(&c->builder);
    }
    return st;
}

/* Copies the grids of kept objects, with the cells of kept children. */
static xy_status_t copy_grids(copy_t *c)
{
    const xy_machine_t *m = c->m;
    uint32_t *cells = xy_malloc((m->cell_count + 1) * sizeof(*cells));
    xy_status_t st = cells != NULL ? XY_OK : xy_fail_memory("copying a machine");

    for (uint32_t i = 0; st == XY_OK && i < m->grid_count; i++) {
        const xy_grid_t *g = &m->grids[i];
        xy_obj_t first = m->first_child[g->object];
        uint32_t count = 0;

        for (uint32_t k = 0; k < m->child_count[g->object]; k++)
            if (c->draft_of[first + k] != XY_OBJ_NONE)
                cells[count++] = m->cells[g->first_cell + k];
        if (c->draft_of[g->object] != XY_OBJ_NONE && count > 0)
            st = machine_builder_grid(&c->builder, c->draft_of[g->object], g, cells, count);
    }
    xy_free(cells);
    return st;
}

/* Copies the routes whose ends are both kept. */
static xy_status_t copy_routes(copy_t *c)
{
    xy_status_t st = XY_OK;

    for (uint32_t i = 0; st == XY_OK && i < c->m->route_count; i++) {
        xy_route_t r = c->m->routes[i];

        r.a = c->draft_of[r.a];
        r.b = c->draft_of[r.b];
        if (r.a != XY_OBJ_NONE && r.b != XY_OBJ_NONE)
            st = machine_builder_route(&c->builder, &r);
    }
    return st;
}

/* The new root stands for the old one, or above `top` when that is another object. */
static xy_status_t copy_part(copy_t *c, xy_obj_t top, xy_machine_t **machine_p)
{
    xy_status_t st = machine_builder_init(&c->builder, c->m->name, c->m->source);

    if (st == XY_OK && top == 0) {
        XY_VEC_AT(&c->builder.drafts, machine_draft_t, 0).bytes = c->m->bytes[0];
        XY_VEC_AT(&c->builder.drafts, machine_draft_t, 0).flags = c->m->flags[0] & XY_EXCLUDED;
        c->draft_of[0] = 0;
        st = copy_gpus(c, 0);
    }
    if (st == XY_OK && top != 0)
        st = copy_object(c, top);
    if (st == XY_OK)
        st = copy_below(c, top);
    if (st == XY_OK)
        st = copy_grids(c);
    if (st == XY_OK)
        st = copy_routes(c);
    if (st == XY_OK)
        st = machine_builder_finish(&c->builder, machine_p);
    machine_builder_cleanup(&c->builder);
    return st;
}

static xy_status_t copy(const xy_machine_t *m, xy_obj_t top, const xy_bitset_t *leaves,
                        xy_machine_t **machine_p)
{
    copy_t c = {.m = m, .leaves = leaves};
    xy_status_t st;

    c.draft_of = xy_malloc(m->count * sizeof(*c.draft_of));
    if (c.draft_of == NULL)
        return xy_fail_memory("copying a machine");
    memset(c.draft_of, 0xff, m->count * sizeof(*c.draft_of));
    st = copy_part(&c, top, machine_p);
    xy_free(c.draft_of);
    return st;
}

xy_status_t xy_machine_subtree(const xy_machine_t *m, xy_obj_t object, xy_machine_t **machine_p)
{
    if (object >= m->count)
        return xy_fail(XY_EINVAL, "%s has no object %u; it has %u", m->name, object, m->count);
    return copy(m, object, NULL, machine_p);
}

xy_status_t xy_machine_restrict(const xy_machine_t *m, const xy_bitset_t *leaves,
                                xy_machine_t **machine_p)
{
    if (xy_bitset_next(leaves, 0) >= m->leaves)
        return xy_fail(XY_EINVAL, "%s: no leaf is left; choose some of 0-%u", m->name,
                       m->leaves - 1);
    return copy(m, 0, leaves, machine_p);
}

xy_status_t xy_machine_restrict_usable(const xy_machine_t *m, xy_machine_t **machine_p)
{
    xy_bitset_t set;
    xy_status_t st;

    if (xy_bitset_init(&set, m->leaves) != XY_OK)
        return xy_fail_memory("copying a machine");
    for (uint32_t i = 0; i < m->leaves; i++)
        if (xy_machine_is_usable(m, m->leaf[i]))
            xy_bitset_set(&set, i);
    st = xy_machine_restrict(m, &set, machine_p);
    xy_bitset_cleanup(&set);
    return st;
}
