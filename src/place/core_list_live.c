/* SPDX-License-Identifier: BSD-3-Clause */
/* The cores this process may use, from the files of Linux that tell of hardware threads and NUMA
 * nodes. */
#include <string.h>

#include "machine/machine.h"
#include "place/core_list.h"

typedef struct {
    xy_bitset_t left, set, siblings, nodes;
    bool is_each_thread; /* counts as a core */
} sets_t;

/* The first usable hardware thread of a core stands for it. */
static bool is_first_thread(const char *root, const xy_bitset_t *allowed, sets_t *s, size_t cpu)
{
    xy_bitset_t *siblings = &s->siblings;

    if (s->is_each_thread ||
        !xy_sysfs_list(root, siblings, "cpu/cpu%zu/topology/thread_siblings_list", cpu))
        return true;
    for (size_t i = xy_bitset_next(siblings, 0); i < cpu; i = xy_bitset_next(siblings, i + 1))
        if (xy_bitset_has(allowed, i))
            return false;
    return true;
}

/* Append the cores of `node`, and take them out of `left`. */
static void append_node(const char *root, const xy_bitset_t *allowed, const xy_bitset_t *node,
                        sets_t *s, xy_cores_t *cores)
{
    xy_bitset_t *left = &s->left;
    bool is_new = true;

    for (size_t i = xy_bitset_next(left, 0); i < left->bits; i = xy_bitset_next(left, i + 1)) {
        if (node != NULL && !xy_bitset_has(node, i))
            continue;
        xy_bitset_clear(left, i);
        if (is_first_thread(root, allowed, s, i)) {
            place_cores_append(cores, (int)i, is_new);
            is_new = false;
        }
    }
}

static void read_nodes(const char *root, const xy_bitset_t *allowed, sets_t *s, xy_cores_t *cores)
{
    for (size_t i = xy_bitset_next(allowed, 0); i < allowed->bits;
         i = xy_bitset_next(allowed, i + 1))
        xy_bitset_set(&s->left, i);
    xy_sysfs_list(root, &s->nodes, "node/online");
    for (size_t n = xy_bitset_next(&s->nodes, 0); n < s->nodes.bits;
         n = xy_bitset_next(&s->nodes, n + 1))
        if (xy_sysfs_list(root, &s->set, "node/node%zu/cpulist", n))
            append_node(root, allowed, &s->set, s, cores);
    append_node(root, allowed, NULL, s, cores); /* of no node */
}

xy_status_t place_cores_read(const char *root, const xy_bitset_t *allowed, bool is_each_thread,
                             xy_cores_t *cores)
{
    sets_t s = {.is_each_thread = is_each_thread};
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

/* Refuse what `only` has beyond `allowed`. */
static xy_status_t check_allowed(const xy_bitset_t *only, const xy_bitset_t *allowed)
{
    size_t i = xy_bitset_next(only, 0);
    char *there;
    xy_status_t st;

    while (i < only->bits && xy_bitset_has(allowed, i))
        i = xy_bitset_next(only, i + 1);
    if (i >= only->bits)
        return XY_OK;
    there = xy_bitset_format(allowed);
    st = xy_fail(XY_EUSAGE, "core %zu does not exist or may not be used; there are %s", i,
                 there != NULL ? there : "fewer");
    xy_free(there);
    return st;
}

xy_status_t xy_cores_live_of(const xy_bitset_t *only, bool is_each_thread, xy_cores_t *cores)
{
    xy_bitset_t allowed;
    xy_status_t st = xy_sysfs_allowed(&allowed);

    if (st != XY_OK)
        return st;
    if (only != NULL)
        st = check_allowed(only, &allowed);
    if (st == XY_OK)
        st = place_cores_read(XY_SYSFS, only != NULL ? only : &allowed, is_each_thread, cores);
    xy_bitset_cleanup(&allowed);
    return st;
}

xy_status_t xy_cores_live(xy_cores_t *cores)
{
    return xy_cores_live_of(NULL, false, cores);
}
