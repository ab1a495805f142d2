/* SPDX-License-Identifier: BSD-3-Clause */
/* The time limit of a job: a thread that waits for it. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "mpi/check/check.h"
#include "mpi/launch/libc/end_job.h"

enum { CODE = 124, REPORT_SECONDS = 30, RANKS_SHOWN = 32 };

static void wait_for(double seconds)
{
    struct timespec left = {.tv_sec = (time_t)seconds,
                            .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};

    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
        ;
}

/* The report reads files and asks the dynamic linker, whose lock a rank may hold for ever, and the
 * reader of the output may have stopped: the job ends without the rest then. */
static void *end_anyway(void *argument)
{
    (void)argument;
    wait_for(REPORT_SECONDS);
    syscall(SYS_exit_group, CODE);
    return NULL;
}

/* A thread that takes no signals: they are for the ranks. */
static int start(void *(*function)(void *), void *argument)
{
    pthread_t thread;
    sigset_t all, before;
    int code;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    code = pthread_create(&thread, NULL, function, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code == 0)
        pthread_detach(thread);
    return code;
}

static void *end_at_limit(void *argument)
{
    double seconds = *(double *)argument;

    wait_for(seconds);
    start(end_anyway, NULL);
    mpi_launch_say("the time limit of %g s has passed", seconds);
    mpi_job_report(mpi_job, RANKS_SHOWN);
    mpi_finish_job(CODE);
}

xy_status_t mpi_timeout_start(double seconds)
{
    static double limit;
    int code;

    limit = seconds;
    code = start(end_at_limit, &limit);
    return code == 0 ? XY_OK : xy_fail_errno(code, "a thread for the time limit", "start");
}
