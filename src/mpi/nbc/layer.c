/* SPDX-License-Identifier: BSD-3-Clause */
/* The scheduled collectives' part of the runtime. */
#include "cost/cost.h"
#include "mpi/nbc/nbc.h"
#include "mpi/nbc/progress_thread.h"

xy_coll_link_t nbc_link;

/* Begin of a job: read the calibrated costs of messages and register the engine. */
static xy_status_t begin(mpi_job_t *job, const mpi_job_config_t *config)
{
    xy_link_cost_t calibrated;

    nbc_link = xy_coll_link_default;
    if (xy_link_read(&calibrated))
        nbc_link =
            (xy_coll_link_t){calibrated.alpha, calibrated.beta, calibrated.gamma, calibrated.copy};
    coll_engine_register(&nbc_engine);
    job->has_progress_threads = job->settings->progress == XMPI_PROGRESS_THREADS;
    nbc_splits_reset();
    (void)config;
    return XY_OK;
}

static void on_wait(mpi_rank_t *self, mpi_request_t *const *requests, int count)
{
    (void)requests;
    (void)count;
    if (self->schedules > 0)
        nbc_progress(self);
}

const mpi_layer_t mpi_nbc_layer = {
    .mail = {[XMPI_MAIL_FINISHED] = nbc_complete, [XMPI_MAIL_THREADS] = nbc_threads_news},
    .help = nbc_help,
    .wait = on_wait,
    .job_begin = begin,
    .job_end = nbc_families_cleanup,
};
