/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way from one object to another: up the tree, across the grid of the common ancestor or over a
 * route, and down.
 *
 *            ancestor                    ancestor with a grid
 *          //        \\                     x ------- y
 *         x            y                   |         |
 *         |            |                   a         b
 *         a            b
 *
 * Parallel links are chosen by the destination alone, upwards and downwards. So all messages to one
 * node use the same link of each switch, as with the forwarding tables of real networks, and
 * messages to nodes with different numbers modulo the links keep apart.
 */
#include "machine/machine_internal.h"

typedef struct {
    const xy_machine_t *m;
    uint32_t destination; /* the physical number of its node */
    xy_wire_fn fn;
    void *context;
} way_t;

/* Level order: the one with the larger index is never above the other. */
xy_obj_t xy_machine_common_ancestor(const xy_machine_t *m, xy_obj_t a, xy_obj_t b)
{
    while (a != b) {
        if (a > b)
            a = m->parent[a];
        else
            b = m->parent[b];
    }
    return a;
}

/* The child of `top` that is or holds `object`, which is below it. */
static xy_obj_t child_above(const xy_machine_t *m, xy_obj_t object, xy_obj_t top)
{
    while (m->parent[object] != top)
        object = m->parent[object];
    return object;
}

/* The grid that joins two children of `top`, and their cells; NULL: none does. */
static const xy_grid_t *grid_between(const xy_machine_t *m, xy_obj_t a, xy_obj_t b, xy_obj_t top,
                                     uint32_t *from_p, uint32_t *to_p)
{
    const xy_grid_t *g = a != top && b != top ? xy_machine_grid(m, top) : NULL;

    if (g == NULL)
        return NULL;
    *from_p = m->cells[g->first_cell + child_above(m, a, top) - m->first_child[top]];
    *to_p = m->cells[g->first_cell + child_above(m, b, top) - m->first_child[top]];
    return g;
}

uint32_t xy_machine_hops(const xy_machine_t *m, xy_obj_t a, xy_obj_t b)
{
    xy_obj_t top = xy_machine_common_ancestor(m, a, b);
    uint32_t levels = (uint32_t)m->level[a] + m->level[b] - 2U * m->level[top], from, to;
    const xy_grid_t *g = grid_between(m, a, b, top, &from, &to);

    return g == NULL ? levels : levels - 2 + xy_grid_distance(g, from, to);
}

static void cross_link(const way_t *w, xy_obj_t object, uint32_t direction)
{
    w->fn(w->context, &(xy_wire_t){.kind = XY_WIRE_LINK,
                                   .owner = object,
                                   .number = w->destination % xy_machine_parallel(w->m, object),
                                   .direction = direction,
                                   .link = xy_machine_link(w->m, object)});
}

static void climb(const way_t *w, xy_obj_t object, xy_obj_t top)
{
    for (; object != top; object = w->m->parent[object])
        cross_link(w, object, 0);
}

static void descend(const way_t *w, xy_obj_t top, xy_obj_t object)
{
    xy_obj_t below[XY_MACHINE_DEPTH_MAX];
    int count = 0;

    for (; object != top; object = w->m->parent[object])
        below[count++] = object;
    while (count-- > 0)
        cross_link(w, below[count], 1);
}

/* Crosses the tree, and the grid at its top. */
static void cross_tree(const way_t *w, xy_obj_t a, xy_obj_t b, xy_obj_t top)
{
    uint32_t from, to;
    const xy_grid_t *g = grid_between(w->m, a, b, top, &from, &to);

    climb(w, a, top);
    if (g != NULL)
        xy_grid_route(g, (uint32_t)(g - w->m->grids), from, to, w->fn, w->context);
    descend(w, top, b);
}

/* The topmost end of a route from `object` to below `top`. */
static xy_obj_t routed_above(const xy_machine_t *m, xy_obj_t object, xy_obj_t top)
{
    xy_obj_t routed = XY_OBJ_NONE;

    for (; object != top; object = m->parent[object])
        if (m->flags[object] & XY_OBJ_ROUTED)
            routed = object;
    return routed;
}

/* The route that joins the topmost routed objects on both sides, *x_p and *y_p; or NULL. */
static const xy_route_t *route_between(const xy_machine_t *m, xy_obj_t a, xy_obj_t b, xy_obj_t top,
                                       xy_obj_t *x_p, xy_obj_t *y_p)
{
    xy_obj_t x = routed_above(m, a, top), y = routed_above(m, b, top);

    if (x == XY_OBJ_NONE || y == XY_OBJ_NONE)
        return NULL;
    *x_p = x;
    *y_p = y;
    return xy_hash_get(&m->route_index, x < y ? (uint64_t)x << 32 | y : (uint64_t)y << 32 | x);
}

/* The number by which parallel links are chosen. */
static uint32_t destination_of(const xy_machine_t *m, xy_obj_t object)
{
    xy_obj_t node = xy_machine_above(m, object, XY_OBJ_NODE);

    node = node != XY_OBJ_NONE ? node : object;
    return m->physical[node] != XY_OBJ_NONE ? m->physical[node] : 0;
}

void xy_machine_route(const xy_machine_t *m, xy_obj_t a, xy_obj_t b, xy_wire_fn fn, void *context)
{
    way_t w = {m, destination_of(m, b), fn, context};
    xy_obj_t top = xy_machine_common_ancestor(m, a, b), x, y;
    const xy_route_t *route = route_between(m, a, b, top, &x, &y);

    if (route == NULL || route->link.bandwidth <= 0) {
        cross_tree(&w, a, b, top);
        return;
    }
    climb(&w, a, x);
    fn(context, &(xy_wire_t){.kind = XY_WIRE_ROUTE,
                             .owner = (uint32_t)(route - m->routes),
                             .direction = x != route->a,
                             .link = route->link});
    descend(&w, y, b);
}

static void add_wire(void *context, const xy_wire_t *wire)
{
    xy_link_t *path = context, link = wire->link;

    path->latency += link.latency;
    if (link.bandwidth > 0 && (path->bandwidth == 0 || link.bandwidth < path->bandwidth))
        path->bandwidth = link.bandwidth;
}

xy_link_t xy_machine_path(const xy_machine_t *m, xy_obj_t a, xy_obj_t b)
{
    xy_link_t path = {0};
    xy_obj_t top = xy_machine_common_ancestor(m, a, b), x, y;
    const xy_route_t *route = route_between(m, a, b, top, &x, &y);

    cross_tree(&(way_t){m, destination_of(m, b), add_wire, &path}, a, b, top);
    if (route != NULL && route->link.latency > 0)
        path.latency = route->link.latency;
    if (route != NULL && route->link.bandwidth > 0)
        path.bandwidth = route->link.bandwidth;
    return path;
}
