/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects' part of the runtime: the settings of the job, and the objects that ranks have made.
 */
#include "mpi/object/object.h"

static uint32_t members_of(const mpi_comm_t *comm)
{
    return (uint32_t)comm->size;
}

static xy_status_t begin(mpi_job_t *job, const mpi_job_config_t *config)
{
    job->settings = xy_malloc(sizeof(*job->settings));
    if (job->settings == NULL)
        return XY_ENOMEM;
    *job->settings =
        config->settings != NULL ? *config->settings : (mpi_settings_t){.split = XMPI_SPLIT_OFF};
    mpi_settings_mark(job->settings, job);
    return XY_OK;
}

static void end(mpi_job_t *job)
{
    for (int r = 0; r < job->size; r++)
        mpi_env_cleanup(&job->ranks[r]);
    xy_free(job->settings);
}

const mpi_layer_t mpi_object_layer = {
    .members = members_of, .job_begin = begin, .job_end = end, .rank_end = mpi_env_cleanup};
