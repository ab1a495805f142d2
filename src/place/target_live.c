/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The target of some processors of this machine, from the few files of Linux that say who shares
 * what. For programs that are not to wait for, or be linked to, the discovery of a whole machine.
 */
#include <stdlib.h>
#include <string.h>

#include "machine/machine.h"
#include "place/target.h"
#include "place/target_internal.h"

enum { HOST, PACKAGE, NUMA, CACHE3, CACHE2, CORE, LEVELS };

_Static_assert(LEVELS - PACKAGE == (int)XY_TARGET_SHARES, "all but the host are shared in it");

/* A processor: what it shares with others, as numbers that are equal for those who share. */
typedef struct {
    uint32_t index, cpu;
    uint32_t key[LEVELS + 1]; /* the last one is its own */
} place_t;

static void read_place(const char *root, uint32_t index, int cpu, place_t *p)
{
    *p = (place_t){.index = index, .cpu = (uint32_t)cpu};
    p->key[PACKAGE] =
        (uint32_t)xy_sysfs_number(root, 0, "cpu/cpu%d/topology/physical_package_id", cpu);
    p->key[NUMA] = (uint32_t)xy_sysfs_node(root, cpu);
    p->key[CACHE3] = (uint32_t)xy_sysfs_cache(root, cpu, 3);
    p->key[CACHE2] = (uint32_t)xy_sysfs_cache(root, cpu, 2);
    p->key[CORE] =
        (uint32_t)xy_sysfs_number(root, cpu, "cpu/cpu%d/topology/thread_siblings_list", cpu);
    p->key[LEVELS] = index;
}

static int compare(const void *left, const void *right)
{
    const place_t *a = left, *b = right;

    for (int k = 0; k <= LEVELS; k++)
        if (a->key[k] != b->key[k])
            return a->key[k] < b->key[k] ? -1 : 1;
    return 0;
}

/* A part of the sorted places, and the first level on which they differ; LEVELS + 1: it is one. */
typedef struct {
    uint32_t begin, end;
    int level;
} span_t;

static int level_of(const place_t *places, uint32_t begin, uint32_t end)
{
    int level = 0;

    if (end - begin == 1)
        return LEVELS + 1;
    while (places[begin].key[level] == places[end - 1].key[level])
        level++;
    return level;
}

/* Heights of a node that branches at a level: of the links above it. Levels on which no places
 * differ have no links. */
static void find_heights(const span_t *spans, uint32_t nodes, double *hops, double *weight)
{
    bool branches[LEVELS + 1] = {false};
    double unit = 1;

    for (uint32_t i = 0; i < nodes; i++)
        if (spans[i].level <= LEVELS)
            branches[spans[i].level] = true;
    for (int k = LEVELS; k >= 0; k--) { /* first the links below each level, then the sums */
        hops[k + 1] = branches[k] ? 1 : 0;
        weight[k + 1] = branches[k] ? unit : 0;
        unit *= branches[k] ? 10 : 1;
    }
    hops[0] = weight[0] = 0;
    for (int k = 1; k <= LEVELS + 1; k++) {
        hops[k] += hops[k - 1];
        weight[k] += weight[k - 1];
    }
}

/* Nodes in level order. */
static void branch(const place_t *places, span_t *spans, xy_target_t *t)
{
    spans[0] = (span_t){0, t->leaves, level_of(places, 0, t->leaves)};
    t->nodes = 1;
    for (uint32_t i = 0; i < t->nodes; i++) {
        const span_t s = spans[i];

        t->first_child[i] = t->nodes;
        t->first_leaf[i] = s.begin;
        t->leaf_count[i] = s.end - s.begin;
        for (uint32_t a = s.begin, b; a < s.end && s.level <= LEVELS; a = b) {
            for (b = a + 1; b < s.end && places[b].key[s.level] == places[a].key[s.level];)
                b++;
            t->parent[t->nodes] = i;
            t->level[t->nodes] = t->level[i] + 1;
            spans[t->nodes++] = (span_t){a, b, level_of(places, a, b)};
        }
        t->child_count[i] = t->nodes - t->first_child[i];
        t->depth = t->level[i] + 1;
        if (s.level > LEVELS)
            t->node_of[s.begin] = i;
    }
}

/* Fills the tree of a target from the sorted places of its leaves. */
static void fill(const place_t *places, span_t *spans, xy_target_t *t)
{
    double hops[LEVELS + 2], weight[LEVELS + 2];
    uint32_t count = 0; /* NUMA nodes before this one */

    branch(places, spans, t);
    find_heights(spans, t->nodes, hops, weight);
    for (uint32_t i = 0; i < t->nodes; i++) {
        t->hops[i] = hops[spans[i].level];
        t->weight[i] = weight[spans[i].level];
    }
    for (uint32_t leaf = 0; leaf < t->leaves; leaf++) {
        count += leaf > 0 && (places[leaf].key[HOST] != places[leaf - 1].key[HOST] ||
                              places[leaf].key[PACKAGE] != places[leaf - 1].key[PACKAGE] ||
                              places[leaf].key[NUMA] != places[leaf - 1].key[NUMA]);
        t->logical[leaf] = places[leaf].index;
        t->physical[leaf] = places[leaf].cpu;
        t->host[leaf] = places[leaf].key[HOST];
        t->numa[leaf] = count;
    }
}

/* Make a target of all places, in any order. */
static xy_status_t make_target(place_t *places, uint32_t count, xy_target_t **target_p)
{
    span_t *spans = xy_calloc((size_t)2 * count, sizeof(*spans));
    xy_target_t *t = place_target_allocate(count, 2 * count);

    if (spans == NULL || t == NULL) {
        xy_free(spans);
        xy_target_destroy(t);
        return xy_fail_memory("preparing a machine for placing");
    }
    qsort(places, count, sizeof(*places), compare);
    fill(places, spans, t);
    xy_free(spans);
    *target_p = t;
    return XY_OK;
}

xy_status_t place_target_read(const char *root, const int *cpus, uint32_t count,
                              xy_target_t **target_p)
{
    place_t *places = xy_calloc(count, sizeof(*places));
    xy_status_t st;

    if (places == NULL)
        return xy_fail_memory("preparing this machine for placing");
    for (uint32_t i = 0; i < count; i++)
        if (cpus != NULL)
            read_place(root, i, cpus[i], &places[i]);
        else
            places[i] = (place_t){.index = i, .cpu = i, .key[LEVELS] = i};
    st = make_target(places, count, target_p);
    xy_free(places);
    return st;
}

xy_target_cpu_t xy_target_cpu(int cpu)
{
    xy_target_cpu_t c = {.cpu = (uint32_t)cpu};
    place_t p;

    read_place(XY_SYSFS, 0, cpu, &p);
    memcpy(c.shares, &p.key[PACKAGE], sizeof(c.shares));
    return c;
}

xy_status_t xy_target_hosts(const xy_target_cpu_t *cpus, uint32_t count, xy_target_t **target_p)
{
    place_t *places = xy_calloc(count, sizeof(*places));
    xy_status_t st;

    if (places == NULL)
        return xy_fail_memory("preparing hosts for placing");
    for (uint32_t i = 0; i < count; i++) {
        places[i] = (place_t){.index = i, .cpu = cpus[i].cpu};
        places[i].key[HOST] = cpus[i].host;
        memcpy(&places[i].key[PACKAGE], cpus[i].shares, sizeof(cpus[i].shares));
        places[i].key[LEVELS] = i;
    }
    st = make_target(places, count, target_p);
    xy_free(places);
    return st;
}

xy_status_t xy_target_live(const int *cpus, uint32_t count, xy_target_t **target_p)
{
    return place_target_read(XY_SYSFS, cpus, count, target_p);
}
