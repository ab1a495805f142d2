/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cores this process may use, from the few files of Linux that tell about hardware threads and
 * NUMA nodes. The machine room knows all of this and much more, but discovering a whole machine
 * takes ten times as long as starting a job.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "place/cores.h"

enum { MAX_CPUS = 1 << 16, MAX_NODES = 1 << 12, TEXT = 4096, PATH = 512 };

/* A list like "0-3,8" from a small file; false: it is not there, in silence. */
static bool read_list(xy_bitset_t *set, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char text[TEXT];
    ssize_t size;

    if (fd < 0)
        return false;
    size = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (size <= 0)
        return false;
    text[size] = '\0';
    text[strcspn(text, "\n")] = '\0';
    memset(set->words, 0, (set->bits + 63) / 64 * sizeof(uint64_t));
    return text[0] != '\0' && xy_bitset_parse(set, text, path) == XY_OK;
}

/* The first usable hardware thread of a core stands for it. */
static bool is_first_thread(const char *root, const xy_bitset_t *allowed, xy_bitset_t *siblings,
                            size_t cpu)
{
    char path[PATH];

    snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu%zu/topology/thread_siblings_list", root,
             cpu);
    if (!read_list(siblings, path))
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
    char path[PATH];

    for (size_t i = 0; i < allowed->bits; i++)
        if (xy_bitset_has(allowed, i))
            xy_bitset_set(&s->left, i);
    snprintf(path, sizeof(path), "%s/devices/system/node/online", root);
    if (!read_list(&s->nodes, path))
        memset(s->nodes.words, 0, MAX_NODES / 8);
    for (size_t n = xy_bitset_next(&s->nodes, 0); n < s->nodes.bits;
         n = xy_bitset_next(&s->nodes, n + 1)) {
        snprintf(path, sizeof(path), "%s/devices/system/node/node%zu/cpulist", root, n);
        if (read_list(&s->set, path))
            append_node(root, allowed, &s->set, &s->left, &s->siblings, cores);
    }
    append_node(root, allowed, NULL, &s->left, &s->siblings, cores); /* of no node */
}

xy_status_t place_cores_read(const char *root, const xy_bitset_t *allowed, xy_cores_t *cores)
{
    sets_t s = {0};
    xy_cores_t made = {0};
    xy_status_t st = xy_bitset_init(&s.left, allowed->bits);

    if (st == XY_OK)
        st = xy_bitset_init(&s.set, MAX_CPUS);
    if (st == XY_OK)
        st = xy_bitset_init(&s.siblings, MAX_CPUS);
    if (st == XY_OK)
        st = xy_bitset_init(&s.nodes, MAX_NODES);
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

static xy_status_t read_allowed(xy_bitset_t *set)
{
    size_t size = CPU_ALLOC_SIZE(MAX_CPUS);
    cpu_set_t *mask = xy_calloc(1, size);
    xy_status_t st = XY_OK;

    if (mask == NULL)
        return xy_fail_memory("listing the cores");
    if (sched_getaffinity(0, size, mask) != 0)
        st = xy_fail(XY_EIO, "cannot read the affinity mask of this process: %s", strerror(errno));
    for (size_t i = 0; st == XY_OK && i < MAX_CPUS; i++)
        if (CPU_ISSET_S(i, size, mask))
            xy_bitset_set(set, i);
    xy_free(mask);
    return st;
}

xy_status_t xy_cores_live(xy_cores_t *cores)
{
    xy_bitset_t allowed;
    xy_status_t st = xy_bitset_init(&allowed, MAX_CPUS);

    if (st != XY_OK)
        return xy_fail_memory("listing the cores");
    st = read_allowed(&allowed);
    if (st == XY_OK)
        st = place_cores_read("/sys", &allowed, cores);
    xy_bitset_cleanup(&allowed);
    return st;
}
