/* SPDX-License-Identifier: BSD-3-Clause */
/* The usable cores of a machine tree. */
#include "place/cores.h"

/* What shares a memory: the NUMA node, or, where none is known, the node. */
static xy_obj_t memory_of_leaf(const xy_machine_t *m, xy_obj_t leaf)
{
    xy_obj_t numa = xy_machine_above(m, leaf, XY_OBJ_NUMA);

    return numa != XY_OBJ_NONE ? numa : xy_machine_above(m, leaf, XY_OBJ_NODE);
}

static xy_obj_t core_of_leaf(const xy_machine_t *m, xy_obj_t leaf)
{
    xy_obj_t core = xy_machine_above(m, leaf, XY_OBJ_CORE);

    return core != XY_OBJ_NONE ? core : leaf;
}

xy_status_t xy_cores_init(xy_cores_t *cores, const xy_machine_t *m)
{
    xy_obj_t last_core = XY_OBJ_NONE, last_node = XY_OBJ_NONE;
    xy_cores_t made;
    xy_status_t st = place_cores_allocate(&made, (int)m->leaves);

    if (st != XY_OK)
        return st;
    for (uint32_t i = 0; i < m->leaves; i++) {
        xy_obj_t leaf = m->leaf[i], core, node;

        if (!xy_machine_is_usable(m, leaf))
            continue;
        core = core_of_leaf(m, leaf);
        node = memory_of_leaf(m, leaf);
        if (core == last_core)
            continue;
        place_cores_append(&made,
                           m->physical[leaf] != XY_OBJ_NONE ? (int)m->physical[leaf] : (int)i,
                           node != last_node);
        last_core = core;
        last_node = node;
    }
    if (made.count == 0) {
        xy_cores_cleanup(&made);
        return xy_fail(XY_EINVAL, "no core of '%s' may be used", m->name);
    }
    *cores = made;
    return XY_OK;
}
