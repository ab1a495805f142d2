/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "place/core_list.h"

xy_status_t place_cores_allocate(xy_cores_t *cores, int count)
{
    size_t n = count > 0 ? (size_t)count : 1;

    memset(cores, 0, sizeof(*cores));
    cores->cpu = xy_calloc(n, sizeof(int));
    cores->numa = xy_calloc(n, sizeof(int));
    cores->numa_first = xy_calloc(n + 1, sizeof(int));
    if (cores->cpu != NULL && cores->numa != NULL && cores->numa_first != NULL)
        return XY_OK;
    xy_cores_cleanup(cores);
    return xy_fail_memory("listing the cores");
}

void xy_cores_cleanup(xy_cores_t *cores)
{
    xy_free(cores->cpu);
    xy_free(cores->numa);
    xy_free(cores->numa_first);
    memset(cores, 0, sizeof(*cores));
}

void place_cores_append(xy_cores_t *cores, int cpu, bool is_new_node)
{
    if (is_new_node || cores->count == 0)
        cores->numa_first[cores->numa_count++] = cores->count;
    cores->cpu[cores->count] = cpu;
    cores->numa[cores->count] = cores->numa_count - 1;
    cores->count++;
    cores->numa_first[cores->numa_count] = cores->count;
}

xy_status_t xy_cores_restrict(xy_cores_t *cores, const xy_bitset_t *cpus)
{
    xy_cores_t made;
    xy_status_t st = place_cores_allocate(&made, cores->count);
    int last = -1;

    if (st != XY_OK)
        return st;
    for (int i = 0; i < cores->count; i++)
        if (xy_bitset_has(cpus, (size_t)cores->cpu[i])) {
            place_cores_append(&made, cores->cpu[i], cores->numa[i] != last);
            last = cores->numa[i];
        }
    if (made.count == 0) {
        xy_cores_cleanup(&made);
        return xy_fail(XY_EINVAL,
                       "none of the listed cores may be used; there are %d, from %d to %d",
                       cores->count, cores->cpu[0], cores->cpu[cores->count - 1]);
    }
    xy_cores_cleanup(cores);
    *cores = made;
    return XY_OK;
}

xy_status_t xy_cores_thin(const xy_cores_t *cores, int block, xy_cores_t *thin)
{
    xy_cores_t made;
    xy_status_t st = place_cores_allocate(&made, cores->count);

    if (st != XY_OK)
        return st;
    for (int node = 0; node < cores->numa_count; node++) {
        int first = cores->numa_first[node], end = cores->numa_first[node + 1];

        place_cores_append(&made, cores->cpu[first], true);
        for (int i = first + block; i + block <= end; i += block)
            place_cores_append(&made, cores->cpu[i], false);
    }
    *thin = made;
    return XY_OK;
}
