/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions to a machine: objects, numbers, ancestors, distances. */
#include "machine/machine.h"

#include <string.h>
#include <strings.h>

#include "machine/machine_internal.h"

static const struct {
    const char *name, *title;
    uint8_t rank; /* a child's rank is never below its parent's */
    bool nests;   /* may stand directly below another of the same rank */
} types[XY_OBJ_TYPES] = {
    [XY_OBJ_MACHINE] = {"machine", "machine", 0, false},
    [XY_OBJ_SITE] = {"site", "site", 1, false},
    [XY_OBJ_CLUSTER] = {"cluster", "cluster", 2, false},
    [XY_OBJ_SWITCH] = {"switch", "switch", 3, true},
    [XY_OBJ_NODE] = {"node", "node", 4, false},
    /* Real machines have these in several orders: NUMA nodes in packages, L3 in NUMA nodes and the
     * other way round. */
    [XY_OBJ_PACKAGE] = {"package", "package", 5, true},
    [XY_OBJ_NUMA] = {"numa", "NUMA node", 5, true},
    [XY_OBJ_GROUP] = {"group", "group", 5, true},
    [XY_OBJ_L3] = {"l3", "L3", 5, true},
    [XY_OBJ_L2] = {"l2", "L2", 6, false},
    [XY_OBJ_L1] = {"l1", "L1", 7, false},
    [XY_OBJ_CORE] = {"core", "core", 8, false},
    [XY_OBJ_PU] = {"pu", "PU", 9, false},
};

static const struct {
    const char *name;
    xy_obj_type_t type;
} aliases[] = {
    {"socket", XY_OBJ_PACKAGE}, {"pack", XY_OBJ_PACKAGE}, {"numanode", XY_OBJ_NUMA},
    {"die", XY_OBJ_GROUP},      {"l3cache", XY_OBJ_L3},   {"l2cache", XY_OBJ_L2},
    {"l1cache", XY_OBJ_L1},     {"l1d", XY_OBJ_L1},       {"l1dcache", XY_OBJ_L1},
    {"l3u", XY_OBJ_L3},         {"l2u", XY_OBJ_L2},       {"l3ucache", XY_OBJ_L3},
    {"l2ucache", XY_OBJ_L2},
};

uint32_t machine_objects_limit = XY_MACHINE_OBJECTS_MAX;

const char *xy_obj_type_name(xy_obj_type_t type)
{
    return types[type].name;
}

const char *xy_obj_type_title(xy_obj_type_t type)
{
    return types[type].title;
}

bool xy_obj_type_parse(const char *name, size_t length, xy_obj_type_t *type_p)
{
    for (int t = 0; t < XY_OBJ_TYPES; t++) {
        if (strlen(types[t].name) == length && strncasecmp(types[t].name, name, length) == 0) {
            *type_p = (xy_obj_type_t)t;
            return true;
        }
    }
    for (size_t i = 0; i < sizeof(aliases) / sizeof(*aliases); i++) {
        if (strlen(aliases[i].name) == length && strncasecmp(aliases[i].name, name, length) == 0) {
            *type_p = aliases[i].type;
            return true;
        }
    }
    return false;
}

bool xy_obj_type_is_cache(xy_obj_type_t type)
{
    return type == XY_OBJ_L3 || type == XY_OBJ_L2 || type == XY_OBJ_L1;
}

bool machine_type_fits(uint8_t parent, uint8_t child)
{
    if (types[child].rank == types[parent].rank)
        return types[child].nests;
    return types[child].rank > types[parent].rank;
}

bool machine_type_is_numbered(uint8_t type)
{
    return type != XY_OBJ_GROUP && !xy_obj_type_is_cache(type);
}

bool machine_type_is_network(uint8_t type)
{
    return type != XY_OBJ_MACHINE && type <= XY_OBJ_NODE;
}

uint32_t machine_numbering_next(machine_numbering_t *n, uint8_t type, uint32_t level)
{
    uint32_t *counters;

    if (n->node_level > 0 && level <= n->node_level)
        n->node_level = 0;
    counters = n->node_level > 0 ? n->inside : n->outside;
    if (type == XY_OBJ_NODE) {
        n->node_level = level;
        memset(n->inside, 0, sizeof(n->inside));
    }
    return machine_type_is_numbered(type) ? counters[type]++ : XY_OBJ_NONE;
}

xy_obj_t machine_next(const xy_machine_t *m, xy_obj_t top, xy_obj_t object)
{
    if (m->child_count[object] > 0)
        return m->first_child[object];
    while (object != top) {
        xy_obj_t parent = m->parent[object];

        if (object + 1 < m->first_child[parent] + m->child_count[parent])
            return object + 1;
        object = parent;
    }
    return XY_OBJ_NONE;
}

uint32_t xy_machine_count(const xy_machine_t *m, xy_obj_type_t type)
{
    return m->typed_first[type + 1] - m->typed_first[type];
}

xy_obj_t xy_machine_object(const xy_machine_t *m, xy_obj_type_t type, uint32_t logical)
{
    if (logical >= xy_machine_count(m, type))
        return XY_OBJ_NONE;
    return m->typed[m->typed_first[type] + logical];
}

xy_obj_t xy_machine_above(const xy_machine_t *m, xy_obj_t object, xy_obj_type_t type)
{
    while (object != XY_OBJ_NONE && m->type[object] != type)
        object = m->parent[object];
    return object;
}

/* Memory stands on the object it belongs to; a node that states its own total holds its NUMA
 * nodes' and is not added to them. */
uint64_t xy_machine_memory(const xy_machine_t *m, xy_obj_t object)
{
    uint64_t below = 0, own = xy_obj_type_is_cache(m->type[object]) ? 0 : m->bytes[object];

    for (uint32_t c = 0; c < m->child_count[object]; c++)
        below += xy_machine_memory(m, m->first_child[object] + c);
    /* NUMA nodes nested in one another are different memories near the same cores. */
    if (m->type[object] == XY_OBJ_NUMA)
        return below + own;
    return below > own ? below : own;
}

const char *xy_machine_object_name(const xy_machine_t *m, xy_obj_t object)
{
    return m->names[m->name_of[object]];
}

xy_link_t xy_machine_link(const xy_machine_t *m, xy_obj_t object)
{
    return m->links[m->link_of[object]].link;
}

uint32_t xy_machine_parallel(const xy_machine_t *m, xy_obj_t object)
{
    uint32_t count = m->links[m->link_of[object]].count;

    return count > 1 ? count : 1;
}

uint32_t xy_machine_usable(const xy_machine_t *m, xy_obj_t object)
{
    uint32_t first = m->first_leaf[object];

    return m->usable_before[first + m->leaf_count[object]] - m->usable_before[first];
}

bool xy_machine_is_usable(const xy_machine_t *m, xy_obj_t object)
{
    return xy_machine_usable(m, object) > 0;
}

xy_link_t xy_machine_gpu_peer(const xy_machine_t *m, uint32_t a, uint32_t b)
{
    const xy_gpu_group_t *g = &m->gpu_groups[m->gpus[a].group];
    uint32_t low = (a < b ? a : b) - g->first_gpu, high = (a < b ? b : a) - g->first_gpu;

    for (uint32_t i = 0; i < g->peer_count; i++) {
        const xy_gpu_peer_t *p = &m->gpu_peers[g->first_peer + i];

        if (p->a == low && p->b == high)
            return p->link;
    }
    return g->peer;
}

uint32_t machine_gpu_groups_of(const xy_machine_t *m, xy_obj_t object, uint32_t *first_p)
{
    uint32_t low = 0, high = m->gpu_group_count, count = 0;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (m->gpu_groups[middle].host < object)
            low = middle + 1;
        else
            high = middle;
    }
    while (low + count < m->gpu_group_count && m->gpu_groups[low + count].host == object)
        count++;
    *first_p = low;
    return count;
}

xy_status_t machine_gpu_numbers(const xy_machine_t *m, uint32_t **numbers_p)
{
    uint32_t *numbers = xy_calloc(m->gpu_count, sizeof(*numbers));
    uint32_t *next = xy_calloc(m->gpu_count > 0 ? m->count : 1, sizeof(*next));

    if (numbers == NULL || next == NULL) {
        xy_free(numbers);
        xy_free(next);
        return XY_ENOMEM;
    }
    for (uint32_t i = 0; i < m->gpu_count; i++) {
        xy_obj_t node = xy_machine_above(m, m->gpu_groups[m->gpus[i].group].host, XY_OBJ_NODE);

        numbers[i] = next[node == XY_OBJ_NONE ? 0 : node]++;
    }
    xy_free(next);
    *numbers_p = numbers;
    return XY_OK;
}
