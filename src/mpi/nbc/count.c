/* SPDX-License-Identifier: BSD-3-Clause */
/* Which nonblocking collectives a program makes, how large, how often: counted when a job measures
 * (mpi_job_t.measures), and never otherwise. */
#include "mpi/nbc/nbc.h"
#include "sim/sim.h"

enum { KINDS_MAX = 64 }; /* those that come later are not counted */

static struct {
    pthread_mutex_t lock;
    xy_vjob_calls_t kinds[KINDS_MAX];
    size_t count;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

void nbc_count_reset(void)
{
    all.count = 0;
}

static xy_vjob_calls_t *find(xy_collective_t collective, int procs, uint64_t bytes)
{
    xy_vjob_calls_t *k = all.kinds;

    while (k < all.kinds + all.count && (k->collective != collective || k->procs != procs ||
                                         xy_coll_step(k->bytes) != xy_coll_step(bytes)))
        k++;
    if (k < all.kinds + all.count)
        return k;
    if (all.count == KINDS_MAX)
        return NULL;
    *k = (xy_vjob_calls_t){.collective = collective,
                           .procs = procs,
                           .nodes = 1,
                           .bytes = bytes,
                           .is_nonblocking = true,
                           .algorithm = xy_coll_direct(collective),
                           .link = nbc_link};
    all.count++;
    return k;
}

void nbc_count_call(const coll_call_t *call)
{
    nbc_shape_t shape;
    xy_vjob_calls_t *k;

    nbc_shape_size(call, &shape);
    /* Those between processes are counted there. */
    if (call->comm->coll->interprocess != NULL || call->kind->is_inter ||
        !xy_coll_is_sized(shape.collective) || (call->op != NULL && !call->op->is_predefined))
        return;
    pthread_mutex_lock(&all.lock);
    k = find(shape.collective, call->comm->size, shape.count * shape.element);
    if (k != NULL)
        k->calls++;
    pthread_mutex_unlock(&all.lock);
}

xy_status_t nbc_calls(xy_vec_t *calls)
{
    for (size_t i = 0; i < all.count; i++) {
        xy_vjob_calls_t k = all.kinds[i];

        k.calls = (k.calls + (uint64_t)k.procs - 1) / (uint64_t)k.procs;
        if (xy_vec_append(calls, &k) != XY_OK)
            return xy_fail_memory("counting collectives");
    }
    return XY_OK;
}
