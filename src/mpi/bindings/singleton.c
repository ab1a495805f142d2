/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that is a process of its own: the calling thread becomes rank 0 of 1, or a rank of a
 * job in which each process has one.
 */
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include "mpi/bindings/bindings.h"
#include "mpi/bindings/join.h"
#include "mpi/check/check.h"

enum { RANKS_SHOWN = 32 };

static void singleton_abort(int code)
{
    fflush(NULL);
    mpi_join_fail(code);
    _exit(code);
}

/* Report a deadlock and end the process. */
static void singleton_stuck(void)
{
    char cause[1200];

    if (mpi_job->size == 1)
        xy_fail(XY_EINVAL, "deadlock: the only rank waits for something that no other rank will "
                           "send");
    else
        xy_fail(XY_EINVAL, "deadlock: no rank can make progress");
    mpi_job_report(mpi_job, RANKS_SHOWN);
    if (mpi_job->size > 1) {
        mpi_job_explain(mpi_job, cause, sizeof(cause));
        if (cause[0] != '\0')
            fprintf(stderr, "  cause: %s\n", cause);
    }
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
    mpi_others_t others;
    mpi_job_t *job;
    xy_status_t st = XY_OK;

    if (mpi_is_one_of_several(&others))
        st = mpi_join(&others, &c);
    else if (getrandom(&c.id, sizeof(c.id), 0) != (ssize_t)sizeof(c.id))
        c.id = (uint64_t)getpid();
    if (st == XY_OK)
        st = mpi_job_create(&c, &job);
    if (st != XY_OK)
        return st;
    st = mpi_join_watch(job);
    if (st == XY_OK)
        st = mpi_rank_adopt(job, c.process);
    if (st != XY_OK)
        mpi_job_destroy(job);
    return st;
}
