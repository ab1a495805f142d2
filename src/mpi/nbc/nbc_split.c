/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A call as the choice of settings sees it (nbc_model.c): the ranks, the cores they share, the
 * communication cores, and with `adaptive` the time that ranks spent between the start of this
 * collective and its Wait before. Each call moves the mean a quarter of the way, so that it follows
 * a program whose phases differ and one odd call does not matter.
 */
#include <math.h>

#include "mpi/nbc/nbc.h"
#include "sim/sim.h"

static double transfer_seconds(const nbc_shape_t *shape)
{
    const xy_coll_link_t *l = &nbc_link;
    double bytes = (double)shape->count * (double)shape->element;
    bool is_reduction =
        shape->collective == XY_COLL_REDUCE || shape->collective == XY_COLL_ALLREDUCE;

    return l->alpha + bytes * (l->beta + (is_reduction ? l->gamma : 0.0));
}

/* Cores that have a progress engine of this kind and no ranks. */
static int comm_cores(const coll_call_t *call)
{
    return mpi_settings_of(call->comm)->progress == XMPI_PROGRESS_NONE ? 0 : mpi_job->comm_workers;
}

xy_sim_case_t nbc_split_case(const coll_call_t *call, const nbc_shape_t *shape)
{
    const mpi_coll_t *coll = call->comm->coll;
    bool is_adaptive = mpi_settings_of(call->comm)->split == XMPI_SPLIT_ADAPTIVE;

    return (xy_sim_case_t){.collective = shape->collective,
                           .ranks = coll->size,
                           .cores = coll->locals,
                           .comm_cores = comm_cores(call),
                           .is_threads = shape->is_threads,
                           .transfer = transfer_seconds(shape),
                           .computed = is_adaptive ? nbc_of(coll)->computed[shape->collective] : 0};
}

/* One transfer of the tree that moves as much as this call: where ranks have blocks of their own,
 * the tree's height shares them. */
static double transfer_of(const coll_call_t *call)
{
    nbc_shape_t shape = {0};
    int height = xy_split_height(call->comm->size, 2);
    bool has_blocks = call->op == NULL && call->kind->collective > XY_COLL_BCAST;

    nbc_shape_size(call, &shape);
    if (has_blocks && height > 0)
        shape.count = shape.count * (uint64_t)(call->comm->size - 1) / (uint64_t)height;
    return transfer_seconds(&shape) * (shape.collective == XY_COLL_ALLREDUCE ? 2.0 : 1.0);
}

/* Calls between processes are counted there. */
static void count_call(const coll_call_t *call)
{
    nbc_shape_t shape;

    nbc_shape_size(call, &shape);
    if (call->comm->coll->interprocess != NULL || call->kind->is_inter ||
        !xy_coll_is_sized(shape.collective) || (call->op != NULL && !call->op->is_predefined))
        return;
    coll_tally_add(&(xy_vjob_calls_t){.collective = shape.collective,
                                      .procs = call->comm->size,
                                      .nodes = 1,
                                      .bytes = shape.count * shape.element,
                                      .is_nonblocking = true,
                                      .algorithm = xy_coll_direct(shape.collective),
                                      .link = nbc_link});
}

void nbc_measured_call(const coll_call_t *call, double seconds)
{
    enum { WEIGHT = 4 };
    nbc_comm_t *nbc = nbc_of(call->comm->coll);
    double *mean;

    if (mpi_job->measures) {
        call->comm->owner->computed += seconds;
        call->comm->owner->carried += transfer_of(call);
        count_call(call);
    }
    if (nbc == NULL) /* its members are in several processes: nothing is scheduled */
        return;
    mean = &nbc->computed[call->kind->collective];
    pthread_mutex_lock(&nbc->lock);
    *mean += *mean > 0.0 ? (seconds - *mean) / WEIGHT : seconds;
    pthread_mutex_unlock(&nbc->lock);
}

double nbc_measured(const mpi_job_t *job)
{
    double computed = 0.0, carried = 0.0;

    for (int r = 0; r < job->size; r++) {
        computed += job->ranks[r].computed;
        carried += job->ranks[r].carried;
    }
    return carried > 0.0 ? computed / carried * (job->workers - job->comm_workers) : 0.0;
}
