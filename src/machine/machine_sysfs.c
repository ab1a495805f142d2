/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The live machine without hwloc: packages, cores and PUs from the files of Linux below
 * /sys/devices/system/cpu, and nothing more. Where even those are missing, one PU per online
 * processor.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/machine_internal.h"
#include "machine/sysfs.h"

typedef struct {
    uint32_t cpu;
    long package, core;
} place_t;

static void read_online(const char *root, xy_bitset_t *set)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    if (xy_sysfs_list(root, set, "cpu/online") && xy_bitset_count(set) > 0)
        return;
    for (long i = 0; i < (n < 1 ? 1 : n) && i < XY_SYSFS_CPUS_MAX; i++)
        xy_bitset_set(set, (size_t)i);
}

static int compare(const void *a, const void *b)
{
    const place_t *x = a, *y = b;

    if (x->package != y->package)
        return x->package < y->package ? -1 : 1;
    if (x->core != y->core)
        return x->core < y->core ? -1 : 1;
    return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

/* Reads package and core of every online processor, sorted by both. */
static void read_places(const char *root, const xy_bitset_t *online, place_t *places)
{
    size_t n = 0;

    for (size_t i = xy_bitset_next(online, 0); i < online->bits;
         i = xy_bitset_next(online, i + 1), n++) {
        unsigned cpu = (unsigned)i;

        places[n] = (place_t){
            .cpu = cpu,
            .package = xy_sysfs_number(root, 0, "cpu/cpu%u/topology/physical_package_id", cpu),
            /* Without the file each processor is a core of its own. */
            .core = xy_sysfs_number(root, (long)i, "cpu/cpu%u/topology/core_id", cpu),
        };
    }
    qsort(places, n, sizeof(*places), compare);
}

static xy_status_t open_one(machine_builder_t *b, xy_obj_type_t type, uint32_t physical,
                            uint8_t flags)
{
    machine_draft_t d = {.type = (uint8_t)type, .physical = physical, .flags = flags};
    uint32_t index;

    return machine_builder_open(b, &d, &index);
}

/* Adds a node with packages, cores and processors; those outside `allowed` are excluded. */
static xy_status_t build(machine_builder_t *b, const place_t *p, size_t n,
                         const xy_bitset_t *allowed)
{
    xy_status_t st = open_one(b, XY_OBJ_NODE, XY_OBJ_NONE, 0);

    for (size_t i = 0; st == XY_OK && i < n; i++) {
        bool new_package = i == 0 || p[i].package != p[i - 1].package;
        bool new_core = new_package || p[i].core != p[i - 1].core;
        uint8_t flags =
            allowed != NULL && !xy_bitset_has(allowed, p[i].cpu) ? XY_EXCLUDED_AFFINITY : 0;

        if (i > 0 && new_core)
            machine_builder_close(b);
        if (i > 0 && new_package)
            machine_builder_close(b);
        if (new_package)
            st = open_one(b, XY_OBJ_PACKAGE, (uint32_t)p[i].package, 0);
        if (st == XY_OK && new_core)
            st = open_one(b, XY_OBJ_CORE, (uint32_t)p[i].core, 0);
        if (st == XY_OK)
            st = open_one(b, XY_OBJ_PU, p[i].cpu, flags);
        if (st == XY_OK)
            machine_builder_close(b);
    }
    return st;
}

static xy_status_t build_machine(const place_t *places, size_t n, const xy_bitset_t *allowed,
                                 xy_machine_t **machine_p)
{
    machine_builder_t b;
    xy_status_t st = machine_builder_init(&b, "live", "this machine, from /sys");

    if (st == XY_OK)
        st = build(&b, places, n, allowed);
    if (st == XY_OK)
        st = machine_builder_finish(&b, machine_p);
    machine_builder_cleanup(&b);
    return st;
}

xy_status_t machine_sysfs_live(const char *root, bool check_affinity, xy_machine_t **machine_p)
{
    xy_bitset_t online, allowed = {0};
    place_t *places = NULL;
    size_t n;
    xy_status_t st = XY_OK;

    if (xy_bitset_init(&online, XY_SYSFS_CPUS_MAX) != XY_OK)
        return xy_fail_memory("reading /sys");
    read_online(root, &online);
    if (check_affinity)
        st = xy_sysfs_allowed(&allowed);
    n = xy_bitset_count(&online);
    if (st == XY_OK)
        places = xy_calloc(n, sizeof(*places));
    if (st == XY_OK && places == NULL)
        st = xy_fail_memory("reading /sys");
    if (places != NULL) {
        read_places(root, &online, places);
        st = build_machine(places, n, check_affinity ? &allowed : NULL, machine_p);
    }
    xy_free(places);
    xy_bitset_cleanup(&allowed);
    xy_bitset_cleanup(&online);
    return st;
}
