/* SPDX-License-Identifier: BSD-3-Clause */
#include "live_gpus.h"

#include <unistd.h>

#include "cost/cost.h"
#include "gpu/gpu.h"
#include "measure/measure.h"

/* The user's own store, if there is one and it is of this machine; NULL otherwise. */
static xy_costs_t *load_costs(const xy_machine_t *live)
{
    xy_costs_t *costs = NULL;
    char *path = xy_costs_where();

    if (path == NULL)
        return NULL;
    if (access(path, R_OK) == 0 && xy_costs_load(path, &costs) == XY_OK &&
        !xy_costs_check(costs, live, path)) {
        xy_costs_destroy(costs);
        costs = NULL;
    }
    xy_free(path);
    return costs;
}

xy_status_t live_gpus_add(xy_machine_t *live)
{
    xy_gpu_found_t *list;
    xy_costs_t *costs = NULL;
    xy_vec_t found;
    xy_status_t st = xy_gpu_list(&found);

    if (st != XY_OK || found.count == 0)
        return st;
    list = xy_calloc(found.count, sizeof(*list));
    if (list == NULL) {
        xy_vec_cleanup(&found);
        return xy_fail_memory("listing GPUs");
    }
    costs = load_costs(live);
    for (size_t i = 0; i < found.count; i++) {
        const xy_gpu_info_t *info = &XY_VEC_AT(&found, xy_gpu_info_t, i);

        list[i] = (xy_gpu_found_t){.name = info->name, .memory = info->memory, .numa = info->numa};
        if (costs == NULL)
            continue;
        xy_gpu_links(costs, (int)i, &list[i].in, &list[i].out, &list[i].shared);
        list[i].kernel = xy_gpu_kernel(costs, (int)i);
    }
    st = xy_machine_set_gpus(live, list, (uint32_t)found.count);
    xy_costs_destroy(costs);
    xy_free(list);
    xy_vec_cleanup(&found);
    return st;
}
