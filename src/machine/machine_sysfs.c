/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The live machine without hwloc: packages, cores and PUs from the files of Linux below
 * /sys/devices/system/cpu, and nothing more. Where even those are missing, one PU per online
 * processor.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/machine_internal.h"

enum { CPUS_MAX = 1 << 16, FILE_MAX = 1 << 16 };

typedef struct {
    uint32_t cpu;
    long package, core;
} place_t;

xy_status_t machine_affinity(xy_bitset_t *set)
{
    for (size_t bits = 1024; bits <= CPUS_MAX; bits *= 4) {
        size_t size = CPU_ALLOC_SIZE(bits);
        cpu_set_t *mask = xy_calloc(1, size);
        int rc;

        if (mask == NULL || xy_bitset_init(set, bits) != XY_OK) {
            xy_free(mask);
            return xy_fail_memory("reading the affinity mask");
        }
        rc = sched_getaffinity(0, size, mask);
        for (size_t i = 0; rc == 0 && i < bits; i++)
            if (CPU_ISSET_S(i, size, mask))
                xy_bitset_set(set, i);
        xy_free(mask);
        if (rc == 0)
            return XY_OK;
        xy_bitset_cleanup(set);
        /* EINVAL: the kernel's mask is longer than ours. */
        if (errno != EINVAL)
            break;
    }
    return xy_fail(XY_EIO, "cannot read the affinity mask of this process: %s", strerror(errno));
}

/* The first line of a file that may not be there: NULL then, in silence. */
static char *read_line(const char *root, const char *name)
{
    char *path = xy_sprintf("%s/devices/system/cpu/%s", root, name);
    char *data = NULL;
    size_t size;

    if (path != NULL && access(path, R_OK) == 0 &&
        xy_file_read(path, FILE_MAX, &data, &size) == XY_OK)
        data[strcspn(data, "\n")] = '\0';
    xy_free(path);
    return data;
}

static long read_number(const char *root, unsigned cpu, const char *file, long otherwise)
{
    char *name = xy_sprintf("cpu%u/topology/%s", cpu, file);
    char *line = name != NULL ? read_line(root, name) : NULL;
    long value = otherwise;

    if (line != NULL && (!xy_parse_long(line, &value) || value < 0))
        value = otherwise;
    xy_free(name);
    xy_free(line);
    return value;
}

static xy_status_t read_online(const char *root, xy_bitset_t *set)
{
    char *line = read_line(root, "online");
    xy_status_t st = XY_OK;

    if (line != NULL)
        st = xy_bitset_parse(set, line, "/sys/devices/system/cpu/online");
    if (line == NULL || st != XY_OK || xy_bitset_count(set) == 0) {
        long n = sysconf(_SC_NPROCESSORS_ONLN);

        for (long i = 0; i < (n < 1 ? 1 : n) && i < CPUS_MAX; i++)
            xy_bitset_set(set, (size_t)i);
    }
    xy_free(line);
    return XY_OK;
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

static void read_places(const char *root, const xy_bitset_t *online, place_t *places)
{
    size_t n = 0;

    for (size_t i = xy_bitset_next(online, 0); i < online->bits;
         i = xy_bitset_next(online, i + 1), n++) {
        unsigned cpu = (unsigned)i;

        places[n] = (place_t){
            .cpu = cpu,
            .package = read_number(root, cpu, "physical_package_id", 0),
            /* Without the file each processor is a core of its own. */
            .core = read_number(root, cpu, "core_id", (long)i),
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
    xy_status_t st;

    if (xy_bitset_init(&online, CPUS_MAX) != XY_OK)
        return xy_fail_memory("reading /sys");
    st = read_online(root, &online);
    if (st == XY_OK && check_affinity)
        st = machine_affinity(&allowed);
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
