/* SPDX-License-Identifier: BSD-3-Clause */
/* Which collectives between processes have a choice of algorithms, how large, how often: counted
 * when a job measures (mpi_job_t.measures), and never otherwise. Each process counts a call once.
 */
#include "mpi/coll/spread.h"
#include "net/net.h"
#include "sim/sim.h"

enum { KINDS_MAX = 64 }; /* those that come later are not counted */

static struct {
    pthread_mutex_t lock;
    xy_vjob_calls_t kinds[KINDS_MAX];
    size_t count;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_such(const xy_vjob_calls_t *k, const xy_vjob_calls_t *call)
{
    return k->collective == call->collective && k->procs == call->procs &&
           k->nodes == call->nodes && k->is_nonblocking == call->is_nonblocking &&
           xy_coll_step(k->bytes) == xy_coll_step(call->bytes);
}

void spread_count_reset(void)
{
    all.count = 0;
}

void spread_count(const coll_call_t *call, int parts, xy_collective_t collective, uint64_t bytes,
                  const xy_coll_algorithm_t *algorithm)
{
    xy_vjob_calls_t one = {.collective = collective,
                           .procs = call->comm->size,
                           .nodes = parts,
                           .bytes = bytes,
                           .is_nonblocking = call->how != COLL_BLOCKING,
                           .algorithm = algorithm,
                           .link = xy_coll_link_default};
    size_t i = 0;
    double bandwidth;

    pthread_mutex_lock(&all.lock);
    while (i < all.count && !is_such(&all.kinds[i], &one))
        i++;
    if (i == all.count && i < KINDS_MAX) {
        xy_net_cost(mpi_job->net, &one.link.alpha, &bandwidth);
        one.link.beta = 1 / bandwidth;
        all.kinds[all.count++] = one;
    }
    if (i < all.count)
        all.kinds[i].calls++;
    pthread_mutex_unlock(&all.lock);
}

xy_status_t coll_spread_calls(xy_vec_t *calls)
{
    for (size_t i = 0; i < all.count; i++)
        if (xy_vec_append(calls, &all.kinds[i]) != XY_OK)
            return xy_fail_memory("counting collectives");
    return XY_OK;
}
