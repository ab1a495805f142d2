/* SPDX-License-Identifier: BSD-3-Clause */
/* Which process gets how many ranks. */
#include "mpi/launch/head.h"

/* In proportion to the cores, at least one each; blocks follow the order of the processes. */
xy_status_t head_share_ranks(head_t *h)
{
    long cores = 0, before = 0;
    int given = 0;

    for (int i = 0; i < h->count; i++)
        cores += h->processes[i].cores_there;
    for (int i = 0; i < h->count; i++) {
        int left = h->count - i - 1, end;

        before += h->processes[i].cores_there;
        end = (int)(((long)h->size * before + cores / 2) / cores);
        if (end > h->size - left || left == 0)
            end = h->size - left;
        if (end < given + 1)
            end = given + 1;
        h->processes[i].ranks = end - given;
        given = end;
    }
    return XY_OK;
}
