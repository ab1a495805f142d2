/* SPDX-License-Identifier: BSD-3-Clause */
/* A program without a launcher: the calling thread becomes rank 0 of 1. */
#include <stdio.h>
#include <unistd.h>

#include "mpi/bindings/bindings.h"
#include "mpi/check/check.h"

static void singleton_abort(int code)
{
    fflush(NULL);
    _exit(code);
}

static void singleton_stuck(void)
{
    xy_fail(XY_EINVAL, "deadlock: the only rank waits for something that no other rank will send");
    mpi_job_report(mpi_job, 1);
    singleton_abort(1);
}

static void singleton_overflow(mpi_rank_t *rank)
{
    (void)rank; /* the stack of the process: the kernel's own report follows */
}

xy_status_t mpi_singleton_begin(void)
{
    mpi_job_config_t c = {.layers = mpi_layers,
                          .size = 1,
                          .workers = 1,
                          .eager_limit = XMPI_EAGER_LIMIT,
                          .spin_seconds = XMPI_SPIN_SECONDS,
                          .overflow = singleton_overflow,
                          .abort = singleton_abort,
                          .stuck = singleton_stuck};
    mpi_job_t *job;
    xy_status_t st = mpi_job_create(&c, &job);

    if (st != XY_OK)
        return st;
    job->is_singleton = true;
    st = mpi_rank_adopt(job);
    if (st != XY_OK)
        mpi_job_destroy(job);
    return st;
}
