/* SPDX-License-Identifier: BSD-3-Clause */
/* The usable cores of a machine tree. */
#include "place/core_list.h"

/* The scope of a shared memory: the NUMA node, or, where none is known, the node. */
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

/* The next leaf from `i` on that may be used and is not of the core `last`. */
static uint32_t next_core(const xy_machine_t *m, uint32_t i, xy_obj_t last)
{
    while (i < m->leaves &&
           (!xy_machine_is_usable(m, m->leaf[i]) || core_of_leaf(m, m->leaf[i]) == last))
        i++;
    return i;
}

xy_status_t xy_cores_init(xy_cores_t *cores, const xy_machine_t *m)
{
    xy_obj_t core = XY_OBJ_NONE, last_node = XY_OBJ_NONE;
    xy_cores_t made;
    xy_status_t st = place_cores_allocate(&made, (int)m->leaves);

    if (st != XY_OK)
        return st;
    for (uint32_t i = next_core(m, 0, core); i < m->leaves; i = next_core(m, i + 1, core)) {
        xy_obj_t leaf = m->leaf[i], node = memory_of_leaf(m, leaf);

        place_cores_append(&made,
                           m->physical[leaf] != XY_OBJ_NONE ? (int)m->physical[leaf] : (int)i,
                           node != last_node);
        core = core_of_leaf(m, leaf);
        last_node = node;
    }
    if (made.count == 0) {
        xy_cores_cleanup(&made);
        return xy_fail(XY_EINVAL, "no core of '%s' may be used", m->name);
    }
    *cores = made;
    return XY_OK;
}

xy_status_t xy_cores_machine(const xy_machine_t *m, xy_machine_t **machine_p)
{
    xy_obj_t core = XY_OBJ_NONE;
    xy_bitset_t leaves;
    xy_status_t st;

    if (xy_bitset_init(&leaves, m->leaves) != XY_OK)
        return xy_fail_memory("listing the cores");
    for (uint32_t i = next_core(m, 0, core); i < m->leaves; i = next_core(m, i + 1, core)) {
        xy_bitset_set(&leaves, i);
        core = core_of_leaf(m, m->leaf[i]);
    }
    st = xy_machine_restrict(m, &leaves, machine_p);
    xy_bitset_cleanup(&leaves);
    return st;
}

/* How many cores have a usable leaf. */
static uint32_t count_cores(const xy_machine_t *m)
{
    xy_obj_t core = XY_OBJ_NONE;
    uint32_t count = 0;

    for (uint32_t i = next_core(m, 0, core); i < m->leaves; i = next_core(m, i + 1, core), count++)
        core = core_of_leaf(m, m->leaf[i]);
    return count;
}

void xy_cores_exclude_threads(xy_machine_t *m, uint32_t processes)
{
    xy_obj_t last = XY_OBJ_NONE;

    if (processes > count_cores(m))
        return;
    for (uint32_t i = 0; i < m->leaves; i++) {
        xy_obj_t leaf = m->leaf[i], core = core_of_leaf(m, leaf);

        if ((m->flags[leaf] & XY_EXCLUDED) == 0 && core == last)
            m->flags[leaf] |= XY_EXCLUDED_FILE;
        else if ((m->flags[leaf] & XY_EXCLUDED) == 0)
            last = core;
        m->usable_before[i + 1] = m->usable_before[i] + ((m->flags[leaf] & XY_EXCLUDED) == 0);
    }
}
