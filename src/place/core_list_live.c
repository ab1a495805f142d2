/* SPDX-License-Identifier: BSD-3-Clause */
/* The cores this process may use, from the files of Linux that tell of hardware threads and NUMA
 * nodes. */
#include <string.h>

#include "machine/machine.h"
#include "place/core_list.h"

/* The first usable hardware thread of a core stands for it. */
static bool is_first_thread(const char *root, const xy_bitset_t *allowed, xy_bitset_t *siblings,
                            size_t cpu)
{
    if (!xy_sysfs_list(root, siblings, "cpu/cpu%zu/topology/thread_siblings_list", cpu))
        return true;
    for (size_t i = xy_bitset_next(siblings, 0); i < cpu; i = xy_bitset_next(siblings, i + 1))
        if (xy_bitset_has(allowed, i))
            return false;
    return true;
}

/* Append the cores of `node`, and take them out of `left`. */
static void append_node(const char *root, const xy_bitset_t *allowed, const xy_bitset_t *node,
                        xy_bitset_t *left, xy_bitset_t *siblings, xy_cores_t *cores)
{
    bool is_new = true;

    for (size_t i = xy_bitset_next(left, 0); i < left->bits; i = xy_bitset_next(left, i + 1)) {
        if (node != NULL && !xy_bitset_has(node, i))
            continue;
        xy_bitset_clear(left, i);
        if (is_first_thread(root, allowed, siblings, i)) {
            place_cores_append(cores, (int)i, is_new);
            is_new = false;
        }
    }
}

typedef struct {
    xy_bitset_t left, set, siblings, nodes;
} sets_t;

static void read_nodes(const char *root, const xy_bitset_t *allowed, sets_t *s, xy_cores_t *cores)
{
    for (size_t i = xy_bitset_next(allowed, 0); i < allowed->bits;
         i = xy_bitset_next(allowed, i + 1))
        xy_bitset_set(&s->left, i);
    xy_sysfs_list(root, &s->nodes, "node/online");
    for (size_t n = xy_bitset_next(&s->nodes, 0); n < s->nodes.bits;
         n = xy_bitset_next(&s->nodes, n + 1))
        if (xy_sysfs_list(root, &s->set, "node/node%zu/cpulist", n))
            append_node(root, allowed, &s->set, &s->left, &s->siblings, cores);
    append_node(root, allowed, NULL, &s->left, &s->siblings, cores); /* of no node */
}

xy_status_t place_cores_read(const char *root, const xy_bitset_t *allowed, xy_cores_t *cores)
{
    sets_t s = {0};
    xy_cores_t made = {0};
    xy_status_t st = xy_bitset_init(&s.left, allowed->bits);

    if (st == XY_OK)
        st = xy_bitset_init(&s.set, XY_SYSFS_CPUS_MAX);
    if (st == XY_OK)
        st = xy_bitset_init(&s.siblings, XY_SYSFS_CPUS_MAX);
    if (st == XY_OK)
        st = xy_bitset_init(&s.nodes, XY_SYSFS_NODES_MAX);
    if (st != XY_OK)
        xy_fail_memory("listing the cores");
    else
        st = place_cores_allocate(&made, (int)xy_bitset_count(allowed));
    if (st == XY_OK)
        read_nodes(root, allowed, &s, &made);
    xy_bitset_cleanup(&s.left);
    xy_bitset_cleanup(&s.set);
    xy_bitset_cleanup(&s.siblings);
    xy_bitset_cleanup(&s.nodes);
    if (st == XY_OK)
        *cores = made;
    return st;
}

xy_status_t xy_cores_live(xy_cores_t *cores)
{
    xy_bitset_t allowed;
    xy_status_t st = xy_sysfs_allowed(&allowed);

    if (st != XY_OK)
        return st;
    st = place_cores_read(XY_SYSFS, &allowed, cores);
    xy_bitset_cleanup(&allowed);
    return st;
}
