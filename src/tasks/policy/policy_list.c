/* SPDX-License-Identifier: BSD-3-Clause */
#include "tasks/policy/policy_internal.h"

xy_op_id_t policy_list_nearest(const xy_task_list_t *queue, const xy_task_links_t *links,
                               const xy_task_view_t *view, int32_t memory, int32_t limit)
{
    xy_op_id_t best = -1;
    uint64_t fewest = UINT64_MAX;

    for (xy_op_id_t op = queue->head; op >= 0 && limit > 0; op = links->next[op], limit--) {
        uint64_t missing = xy_task_missing(view, op, memory);

        if (missing >= fewest)
            continue;
        best = op;
        fewest = missing;
        if (missing == 0)
            break;
    }
    return best;
}
