/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 512, CACHES = 8 };

__attribute__((format(printf, 3, 0))) static void make_path(char path[PATH], const char *root,
                                                            const char *name, va_list args)
{
    int used = snprintf(path, PATH, "%s/devices/system/", root);

    if (used > 0 && used < PATH)
        vsnprintf(path + used, PATH - (size_t)used, name, args);
}

/* Reads the first line of a file; returns false if it is missing or empty. */
static bool read_line(const char *path, char text[XY_SYSFS_TEXT_MAX])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size;

    if (fd < 0)
        return false;
    size = read(fd, text, XY_SYSFS_TEXT_MAX - 1);
    close(fd);
    if (size <= 0)
        return false;
    text[size] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return text[0] != '\0';
}

bool xy_sysfs_text(const char *root, char text[XY_SYSFS_TEXT_MAX], const char *name, ...)
{
    char path[PATH];
    va_list args;

    va_start(args, name);
    make_path(path, root, name, args);
    va_end(args);
    return read_line(path, text);
}

bool xy_sysfs_list(const char *root, xy_bitset_t *set, const char *name, ...)
{
    char path[PATH], text[XY_SYSFS_TEXT_MAX];
    va_list args;

    va_start(args, name);
    make_path(path, root, name, args);
    va_end(args);
    for (size_t i = xy_bitset_next(set, 0); i < set->bits; i = xy_bitset_next(set, i + 1))
        xy_bitset_clear(set, i);
    return read_line(path, text) && xy_bitset_parse(set, text, path) == XY_OK;
}

long xy_sysfs_number(const char *root, long otherwise, const char *name, ...)
{
    char path[PATH], text[XY_SYSFS_TEXT_MAX], *end;
    va_list args;
    long value;

    va_start(args, name);
    make_path(path, root, name, args);
    va_end(args);
    if (!read_line(path, text))
        return otherwise;
    value = strtol(text, &end, 10);
    return end != text && value >= 0 ? value : otherwise;
}

int xy_sysfs_node(const char *root, int cpu)
{
    char path[PATH];

    for (int node = 0; node < XY_SYSFS_NODES_MAX; node++) {
        snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu%d/node%d", root, cpu, node);
        if (access(path, F_OK) == 0)
            return node;
    }
    return 0;
}

int xy_sysfs_cache(const char *root, int cpu, int level)
{
    for (int i = 0; i < CACHES; i++) {
        char kind[XY_SYSFS_TEXT_MAX];

        if (xy_sysfs_number(root, 0, "cpu/cpu%d/cache/index%d/level", cpu, i) != level)
            continue;
        if (xy_sysfs_text(root, kind, "cpu/cpu%d/cache/index%d/type", cpu, i) && kind[0] == 'I')
            continue;
        return (int)xy_sysfs_number(root, cpu, "cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, i);
    }
    return 0;
}

int xy_sysfs_sibling(const char *root, int cpu, const xy_bitset_t *allowed)
{
    xy_bitset_t set;
    int found = -1;

    if (xy_bitset_init(&set, XY_SYSFS_CPUS_MAX) != XY_OK)
        return -1;
    xy_sysfs_list(root, &set, "cpu/cpu%d/topology/thread_siblings_list", cpu);
    for (size_t i = xy_bitset_next(&set, 0); i < set.bits && found < 0;
         i = xy_bitset_next(&set, i + 1))
        if ((int)i != cpu && xy_bitset_has(allowed, i))
            found = (int)i;
    xy_bitset_cleanup(&set);
    return found;
}

/* The mask of the kernel may be longer than a guess: EINVAL then. */
static bool read_mask(xy_bitset_t *set, cpu_set_t *mask, size_t size)
{
    if (sched_getaffinity(0, size, mask) != 0)
        return false;
    for (size_t i = 0; i < set->bits; i++)
        if (CPU_ISSET_S(i, size, mask))
            xy_bitset_set(set, i);
    return true;
}

xy_status_t xy_sysfs_allowed(xy_bitset_t *set)
{
    for (size_t bits = 1024; bits <= XY_SYSFS_CPUS_MAX; bits *= 4) {
        size_t size = CPU_ALLOC_SIZE(bits);
        cpu_set_t *mask = xy_calloc(1, size);
        bool is_read;

        if (mask == NULL || xy_bitset_init(set, bits) != XY_OK) {
            xy_free(mask);
            return xy_fail_memory("reading the affinity mask");
        }
        is_read = read_mask(set, mask, size);
        xy_free(mask);
        if (is_read)
            return XY_OK;
        xy_bitset_cleanup(set);
        if (errno != EINVAL)
            break;
    }
    return xy_fail(XY_EIO, "cannot read the affinity mask of this process: %s", strerror(errno));
}
