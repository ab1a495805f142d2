/* SPDX-License-Identifier: BSD-3-Clause */
/* One message at a time, beside the tasks. */
#include "tasks/ranks/ranks.h"

#include <xylem.h>

#include "gpu/gpu.h"

static xy_status_t move(const xylem_messages *t, bool is_send, int32_t peer, int32_t tag,
                        void *buffer, uint64_t bytes)
{
    int number = 0, count = 0;
    int failed = t->start(t->arg, 0, is_send, peer, tag, buffer, bytes);

    while (failed == 0 && count == 0)
        failed = t->finish(t->arg, 1, &number, 1, &count);
    return failed == 0 ? XY_OK
                       : xy_fail(XY_EIO, "a message %s rank %d failed (error %d)",
                                 is_send ? "to" : "from", peer, failed);
}

xy_status_t xy_task_send(const xylem_messages *transport, int32_t to, int32_t tag,
                         const void *buffer, uint64_t bytes)
{
    return move(transport, true, to, tag, (void *)(uintptr_t)buffer, bytes);
}

xy_status_t xy_task_receive(const xylem_messages *transport, int32_t from, int32_t tag,
                            void *buffer, uint64_t bytes)
{
    return move(transport, false, from, tag, buffer, bytes);
}

static xy_status_t list_gpus(void)
{
    xy_vec_t found;
    xy_status_t st = xy_gpu_list(&found);

    if (st == XY_OK)
        xy_vec_cleanup(&found);
    return st;
}

xy_status_t xy_task_ready_gpus(const xylem_messages *transport)
{
    char token = 0;
    xy_status_t done, st = XY_OK;

    if (transport->rank > 0)
        st = xy_task_receive(transport, transport->rank - 1, 0, &token, 1);
    done = st == XY_OK ? list_gpus() : st;
    if (st == XY_OK && transport->rank + 1 < transport->ranks)
        st = xy_task_send(transport, transport->rank + 1, 0, &token, 1);
    return done != XY_OK ? done : st;
}

int32_t xy_task_gpu_first(const xylem_messages *transport, int32_t wanted)
{
    return (transport->near_ranks > 0 ? transport->near_rank : transport->rank) * wanted;
}

int32_t xy_task_gpu_sharers(const xylem_messages *transport, int32_t wanted, int32_t found)
{
    int64_t ranks = transport->near_ranks > 0 ? transport->near_ranks : transport->ranks;

    return (int32_t)((ranks * wanted + found - 1) / found);
}
