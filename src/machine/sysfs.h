/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processors and memories as Linux describes them, read file by file on demand. They suffice to
 * start a job or to build the machine without hwloc; a whole machine (machine.h) takes ten times as
 * long as starting a job.
 *
 *   xy_bitset_t allowed;
 *   st = xy_sysfs_allowed(&allowed);
 *   node = xy_sysfs_node(XY_SYSFS, 3);
 *   is_known = xy_sysfs_list(XY_SYSFS, &set, "cpu/cpu%d/topology/thread_siblings_list", 3);
 *
 * `root` is XY_SYSFS, or a directory with the same files in a test. Names are relative to
 * devices/system below it. A missing or empty file is no error: there are kernels, containers and
 * processors without it. Any thread.
 */
#ifndef XY_MACHINE_SYSFS_H
#define XY_MACHINE_SYSFS_H

#include "base/base.h"

#define XY_SYSFS "/sys"

enum { XY_SYSFS_CPUS_MAX = 1 << 16, XY_SYSFS_NODES_MAX = 1 << 12, XY_SYSFS_TEXT_MAX = 4096 };

/* The first line of a file. False: there is none. */
bool xy_sysfs_text(const char *root, char text[XY_SYSFS_TEXT_MAX], const char *name, ...)
    __attribute__((format(printf, 3, 4)));
/* A list of numbers such as "0-3,8" instead of what is in the set. False: there is none; the set is
 * empty then. */
bool xy_sysfs_list(const char *root, xy_bitset_t *set, const char *name, ...)
    __attribute__((format(printf, 3, 4)));
/* The number that a file begins with, which is also the first of a list; or another. */
long xy_sysfs_number(const char *root, long otherwise, const char *name, ...)
    __attribute__((format(printf, 3, 4)));

/* The NUMA node of a processor, which is a link in its directory; 0: the kernel knows of none. */
int xy_sysfs_node(const char *root, int cpu);
/* The first processor that shares the data cache of a level with `cpu`; 0: no such cache. */
int xy_sysfs_cache(const char *root, int cpu, int level);
/* Another hardware thread of the core of `cpu` that is in `allowed`; -1: there is none. */
int xy_sysfs_sibling(const char *root, int cpu, const xy_bitset_t *allowed);

/* The processors this process may run on. On success the caller cleans up. */
xy_status_t xy_sysfs_allowed(xy_bitset_t *set);

#endif
