/* SPDX-License-Identifier: BSD-3-Clause */
/* The collectives' part of the runtime. */
#include "mpi/coll/coll.h"
#include "mpi/coll/interprocess.h"
#include "mpi/coll/star.h"

static void comm_end(mpi_comm_t *comm)
{
    if (comm->coll == NULL)
        return;
    if (comm->remote == NULL)
        atomic_store_explicit(&comm->coll->comms[comm->rank], NULL, memory_order_relaxed);
    if (comm->remote != NULL)
        mpi_coll_release(comm->coll);
    else
        coll_local_release(comm->coll->local[comm->coll->local_of[comm->rank]]);
}

static xy_status_t begin(mpi_job_t *job, const mpi_job_config_t *config)
{
    (void)config;
    coll_tally_reset();
    return coll_interprocess_begin(job);
}

static void end(mpi_job_t *job)
{
    (void)job;
    coll_interprocess_end();
}

const mpi_layer_t mpi_coll_layer = {
    .packet = {[XMPI_PACKET_COLL] = mpi_coll_packet},
    .far = {.differs = coll_interprocess_differs, .more = coll_interprocess_run_staying},
    .settle = coll_star_help,
    .job_begin = begin,
    .job_end = end,
    .wait = coll_before_wait,
    .stuck = coll_compare_stuck,
    .comm_end = comm_end};
