/* SPDX-License-Identifier: BSD-3-Clause */
/* Count the collectives with a choice of algorithms that a job makes, and their sizes: only when
 * the job measures (mpi_job_t.measures). */
#include <pthread.h>

#include "mpi/coll/coll.h"
#include "sim/sim.h"

enum { KINDS_MAX = 64 }; /* later kinds are not counted */

static struct {
    pthread_mutex_t lock;
    xy_vjob_calls_t kinds[KINDS_MAX];
    size_t count;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_alike(const xy_vjob_calls_t *a, const xy_vjob_calls_t *b)
{
    return a->collective == b->collective && a->procs == b->procs && a->nodes == b->nodes &&
           a->is_nonblocking == b->is_nonblocking &&
           xy_coll_step(a->bytes) == xy_coll_step(b->bytes);
}

void coll_tally_reset(void)
{
    all.count = 0;
}

void coll_tally_add(const xy_vjob_calls_t *call)
{
    size_t i = 0;

    pthread_mutex_lock(&all.lock);
    while (i < all.count && !is_alike(&all.kinds[i], call))
        i++;
    if (i == all.count && i < KINDS_MAX)
        all.kinds[all.count++] = *call;
    if (i < all.count)
        all.kinds[i].calls++;
    pthread_mutex_unlock(&all.lock);
}

/* Inside a process each member has counted its call, between processes each process. */
xy_status_t coll_tally_calls(xy_vec_t *calls)
{
    for (size_t i = 0; i < all.count; i++) {
        xy_vjob_calls_t k = all.kinds[i];

        if (k.nodes == 1)
            k.calls = (k.calls + (uint64_t)k.procs - 1) / (uint64_t)k.procs;
        if (xy_vec_append(calls, &k) != XY_OK)
            return xy_fail_memory("counting collectives");
    }
    return XY_OK;
}
