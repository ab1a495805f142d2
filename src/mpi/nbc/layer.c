/* SPDX-License-Identifier: BSD-3-Clause */
/* What scheduled collectives add to the runtime. */
#include "cost/cost.h"
#include "mpi/nbc/nbc.h"
#include "mpi/nbc/progress_thread.h"

xy_coll_link_t nbc_link;

static const coll_engine_t engine = {.wants = nbc_wants,
                                     .start = nbc_start,
                                     .measure = nbc_measure,
                                     .comm_begin = nbc_comm_create,
                                     .comm_end = nbc_comm_destroy};

static xy_status_t begin(mpi_job_t *job, const mpi_job_config_t *config)
{
    xy_link_cost_t calibrated;

    coll_engine_set(&engine);
    nbc_link = xy_coll_link_default;
    if (xy_link_read(&calibrated))
        nbc_link =
            (xy_coll_link_t){calibrated.alpha, calibrated.beta, calibrated.gamma, calibrated.copy};
    return nbc_threads_init(job, config);
}

static void on_wait(mpi_rank_t *self, mpi_request_t *const *requests, int count)
{
    if (self->schedules <= 0)
        return;
    if (requests != NULL)
        nbc_on_wait(self, (const MPI_Request *)(const void *)requests, count);
    else
        nbc_progress(self);
}

const mpi_layer_t mpi_nbc_layer = {
    .mail = {[XMPI_MAIL_FINISHED] = nbc_complete, [XMPI_MAIL_THREADS] = nbc_threads_news},
    .help = nbc_help,
    .wait = on_wait,
    .job_begin = begin,
    .job_end = nbc_threads_cleanup,
};
