/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Placement: which core runs which rank.
 *
 *   xy_cores_t cores;
 *   st = xy_cores_init(&cores, machine);
 *   st = xy_place_ranks("scatter_numa", &cores, ranks, core_of);
 *   pin(rank, cores.cpu[core_of[rank]]);
 *   xy_cores_cleanup(&cores);
 *
 * There may be more ranks than cores: then several share one, evenly.
 */
#ifndef XY_PLACE_PLACE_H
#define XY_PLACE_PLACE_H

#include "base/base.h"
#include "machine/machine.h"

/* The cores that may be used, in the order of the machine: cores of one NUMA node are together. */
typedef struct {
    int count;
    int *cpu;        /* [count] what the operating system calls the first usable PU of the core */
    int *numa;       /* [count] 0 .. numa_count-1, growing */
    int numa_count;  /* nodes that have usable cores */
    int *numa_first; /* [numa_count + 1] the first core of each */
} xy_cores_t;

/* One strategy: writes core_of[0 .. ranks), each 0 .. cores->count-1. */
typedef struct {
    const char *name;
    const char *describe; /* half a line */
    void (*place)(const xy_cores_t *cores, int ranks, int *core_of);
} xy_place_strategy_t;

/* All of them, NULL-terminated; the first is the default. */
extern const xy_place_strategy_t *const xy_place_strategies[];

/* The usable cores of a machine of one node. On success the caller cleans up. EINVAL: none is
 * usable. Any thread. */
xy_status_t xy_cores_init(xy_cores_t *cores, const xy_machine_t *machine);
/* The cores this process may use. Much faster than discovering the whole machine. */
xy_status_t xy_cores_live(xy_cores_t *cores);
/* Only those whose PU is in the set of operating system numbers. EINVAL: none is; said with the
 * numbers there are. */
xy_status_t xy_cores_restrict(xy_cores_t *cores, const xy_bitset_t *cpus);
/* Every `block`-th core of each NUMA node, so that a rank finds block-1 free ones behind its own.
 * A node with fewer cores keeps its first. */
xy_status_t xy_cores_thin(const xy_cores_t *cores, int block, xy_cores_t *thin);
void xy_cores_cleanup(xy_cores_t *cores);

/* By the name of a strategy. EUSAGE: there is none of that name (said, with the nearest). */
xy_status_t xy_place_ranks(const char *strategy, const xy_cores_t *cores, int ranks, int *core_of);
/* From a file of lines "RANK CPU" (CPU as the operating system counts; '#' begins a comment). Every
 * rank must have one line. Errors are said with file and line. */
xy_status_t xy_place_read(const char *path, const xy_cores_t *cores, int ranks, int *core_of);

#endif
