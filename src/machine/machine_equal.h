/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests and fuzzing only: are two machines the same, apart from where they come from? */
#ifndef XY_MACHINE_EQUAL_H
#define XY_MACHINE_EQUAL_H

#include <string.h>

#include "machine/machine.h"

static inline bool same_link(xy_link_t a, xy_link_t b)
{
    return a.latency == b.latency && a.bandwidth == b.bandwidth;
}

/* Returns whether two machines have equal object trees. */
static inline bool same_tree(const xy_machine_t *a, const xy_machine_t *b)
{
    size_t n = a->count;

    if (a->count != b->count || a->leaves != b->leaves ||
        memcmp(a->child_count, b->child_count, n * sizeof(*a->child_count)) != 0 ||
        memcmp(a->physical, b->physical, n * sizeof(*a->physical)) != 0 ||
        memcmp(a->bytes, b->bytes, n * sizeof(*a->bytes)) != 0 ||
        memcmp(a->type, b->type, n) != 0 || memcmp(a->flags, b->flags, n) != 0)
        return false;
    for (xy_obj_t o = 0; o < a->count; o++)
        if (strcmp(xy_machine_object_name(a, o), xy_machine_object_name(b, o)) != 0 ||
            !same_link(xy_machine_link(a, o), xy_machine_link(b, o)) ||
            xy_machine_parallel(a, o) != xy_machine_parallel(b, o))
            return false;
    return true;
}

/* Returns whether two machines have equal GPUs. */
static inline bool same_gpus(const xy_machine_t *a, const xy_machine_t *b)
{
    if (a->gpu_group_count != b->gpu_group_count || a->gpu_count != b->gpu_count ||
        a->gpu_peer_count != b->gpu_peer_count)
        return false;
    for (uint32_t i = 0; i < a->gpu_group_count; i++) {
        const xy_gpu_group_t *x = &a->gpu_groups[i], *y = &b->gpu_groups[i];

        if (x->host != y->host || x->gpu_count != y->gpu_count || x->peer_count != y->peer_count ||
            !same_link(x->shared, y->shared) || !same_link(x->peer, y->peer))
            return false;
    }
    for (uint32_t i = 0; i < a->gpu_count; i++) {
        const xy_gpu_t *x = &a->gpus[i], *y = &b->gpus[i];

        if (x->memory != y->memory || x->physical != y->physical || x->flags != y->flags ||
            strcmp(a->names[x->name], b->names[y->name]) != 0 || !same_link(x->in, y->in) ||
            !same_link(x->out, y->out) || !same_link(x->kernel, y->kernel))
            return false;
    }
    for (uint32_t i = 0; i < a->gpu_peer_count; i++) {
        const xy_gpu_peer_t *x = &a->gpu_peers[i], *y = &b->gpu_peers[i];

        if (x->a != y->a || x->b != y->b || !same_link(x->link, y->link))
            return false;
    }
    return true;
}

/* Returns whether two machines, whose trees are equal, have equal grids. */
static inline bool same_grids(const xy_machine_t *a, const xy_machine_t *b)
{
    if (a->grid_count != b->grid_count)
        return false;
    for (uint32_t i = 0; i < a->grid_count; i++) {
        const xy_grid_t *x = &a->grids[i], *y = &b->grids[i];

        if (x->object != y->object || x->is_torus != y->is_torus ||
            x->dimensions != y->dimensions ||
            memcmp(x->size, y->size, x->dimensions * sizeof(*x->size)) != 0 ||
            !same_link(x->link, y->link) ||
            memcmp(&a->cells[x->first_cell], &b->cells[y->first_cell],
                   a->child_count[x->object] * sizeof(*a->cells)) != 0)
            return false;
    }
    return true;
}

static inline bool testing_machine_equal(const xy_machine_t *a, const xy_machine_t *b)
{
    if (strcmp(a->name, b->name) != 0 || a->route_count != b->route_count)
        return false;
    for (uint32_t i = 0; i < a->route_count; i++) {
        const xy_route_t *x = &a->routes[i], *y = &b->routes[i];

        if (x->a != y->a || x->b != y->b || !same_link(x->link, y->link))
            return false;
    }
    return same_tree(a, b) && same_gpus(a, b) && same_grids(a, b);
}

#endif
