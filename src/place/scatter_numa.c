/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scatter over NUMA nodes: balanced between the nodes, spread inside each.
 *
 * Node j gets the ranks [first_j, first_j+1) with first_j = ceil(ranks * cores before j / cores);
 * for nodes of equal size that is ceil(j * ranks / nodes). Inside, rank r sits on the core floor((r
 * - first_j) * cores of j / ranks of j).
 *
 *   2 nodes of 4 cores:  3 ranks -> 0 2 4    6 -> 0 1 2 4 5 6    7 -> 0 1 2 3 4 5 6
 */
#include "place/strategies.h"

static int first_rank(const xy_cores_t *cores, int ranks, int node)
{
    long before = (long)cores->numa_first[node] * ranks;

    return (int)((before + cores->count - 1) / cores->count);
}

static void place(const xy_cores_t *cores, int ranks, int *core_of)
{
    for (int node = 0; node < cores->numa_count; node++) {
        int first = first_rank(cores, ranks, node), end = first_rank(cores, ranks, node + 1);
        int size = cores->numa_first[node + 1] - cores->numa_first[node];

        for (int r = first; r < end; r++)
            core_of[r] = cores->numa_first[node] + (int)((long)(r - first) * size / (end - first));
    }
}

const xy_place_strategy_t place_scatter_numa = {
    .name = "scatter_numa",
    .describe = "balanced over NUMA nodes, spread inside each",
    .place = place,
};
