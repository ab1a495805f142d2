/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks on cores without a communication matrix: a core for each rank.
 *
 *   xy_cores_t cores;
 *   st = xy_cores_init(&cores, machine);
 *   st = xy_place_ranks("scatter_numa", &cores, ranks, core_of);
 *   pin(rank, cores.cpu[core_of[rank]]);
 *   xy_cores_cleanup(&cores);
 *
 * There may be more ranks than cores: then several share one, evenly.
 */
#ifndef XY_PLACE_RANKS_H
#define XY_PLACE_RANKS_H

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

/* The usable cores of a machine of one node. On success the caller cleans up. EINVAL: none is
 * usable. Any thread. */
xy_status_t xy_cores_init(xy_cores_t *cores, const xy_machine_t *machine);
/* The machine without what may not be used and without all but one hardware thread of each core:
 * its leaves are the cores of xy_cores_init. EINVAL: nothing is left. */
xy_status_t xy_cores_machine(const xy_machine_t *machine, xy_machine_t **cores_p);
/* Exclude all but one usable hardware thread of each core from the machine itself, unless it has
 * fewer cores than `processes`: no two of them share a core then. Numbers of objects stay. */
void xy_cores_exclude_threads(xy_machine_t *machine, uint32_t processes);
/* The cores this process may use. Much faster than discovering the whole machine. */
xy_status_t xy_cores_live(xy_cores_t *cores);
/* The same of these hardware threads alone; NULL: of all. Each of them counts as a core, or the
 * first of a core stands for it. EUSAGE: this process may not use one of them. */
xy_status_t xy_cores_live_of(const xy_bitset_t *only, bool is_each_thread, xy_cores_t *cores);
/* Only those whose PU is in the set of operating system numbers. EINVAL: none is; said with the
 * numbers there are. */
xy_status_t xy_cores_restrict(xy_cores_t *cores, const xy_bitset_t *cpus);
/* Every `block`-th core of each NUMA node, so that a rank finds block-1 free ones behind its own.
 * A node with fewer cores keeps its first. */
xy_status_t xy_cores_thin(const xy_cores_t *cores, int block, xy_cores_t *thin);
void xy_cores_cleanup(xy_cores_t *cores);

/* By a strategy of strategy.h that needs no matrix: the core of each rank is what xy_place_compute
 * gives on the machine of these cores. EUSAGE: there is none of that name, or it needs a matrix. */
xy_status_t xy_place_ranks(const char *strategy, const xy_cores_t *cores, int ranks, int *core_of);
/* From a file of lines "RANK CPU" (CPU as the operating system counts; '#' begins a comment). Ranks
 * without a line are placed by the strategy of a line "* STRATEGY", or by scatter_numa, on the
 * cores that have fewer ranks than an equal share. Errors are reported with file and line. */
xy_status_t xy_place_read(const char *path, const xy_cores_t *cores, int ranks, int *core_of);

#endif
