/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of the program, pinned for the run. Drivers pin whole pages, each once, and refuse a copy
 * of which only a part is pinned. So data that have a page in common are pinned together:
 *
 *   pages   |       |       |       |       |       |
 *   data      aaa bbbbb cc              dddddddd          two ranges: from a to the end of c, and d
 *
 * That is one call, too, for the many blocks of one array.
 */
#include <stdlib.h>
#include <unistd.h>

#include "tasks/device/device_internal.h"

static int compare_ranges(const void *a, const void *b)
{
    const range_t *x = a, *y = b;

    return x->from < y->from ? -1 : x->from > y->from;
}

size_t device_ranges_merge(range_t *ranges, size_t count, uintptr_t page)
{
    size_t n = 0;

    if (count > 0)
        qsort(ranges, count, sizeof(*ranges), compare_ranges);
    for (size_t i = 0; i < count; i++) {
        range_t *last = n > 0 ? &ranges[n - 1] : NULL;

        if (last == NULL || ranges[i].from / page > (last->to - 1) / page + 1)
            ranges[n++] = ranges[i];
        else if (ranges[i].to > last->to)
            last->to = ranges[i].to;
    }
    return n;
}

xy_status_t device_pin(device_tasks_t *e)
{
    size_t count = 0;

    if (e->how->is_pinned || e->how->is_unpinned || e->how->gpu_count == 0)
        return XY_OK;
    e->pinned = xy_calloc((size_t)e->base.data_count + 1, sizeof(*e->pinned));
    if (e->pinned == NULL)
        return xy_fail_memory("preparing to run the tasks");
    for (int32_t d = 0; d < e->base.data_count; d++) {
        uintptr_t from = (uintptr_t)e->homes[d].address;

        if (from != 0 && e->base.bytes[d] > 0)
            e->pinned[count++] = (range_t){from, from + e->base.bytes[d]};
    }
    count = device_ranges_merge(e->pinned, count, (uintptr_t)sysconf(_SC_PAGESIZE));
    for (size_t i = 0; i < count; i++) /* data that the driver cannot pin is staged */
        if (xy_gpu_pin(e->how->gpus[0], (void *)e->pinned[i].from,
                       e->pinned[i].to - e->pinned[i].from))
            e->pinned[e->pinned_count++] = e->pinned[i];
    return XY_OK;
}

void device_unpin(device_tasks_t *e)
{
    for (size_t i = 0; i < e->pinned_count; i++)
        xy_gpu_unpin(e->how->gpus[0], (void *)e->pinned[i].from);
    xy_free(e->pinned);
}
