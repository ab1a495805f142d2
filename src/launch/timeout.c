/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that watch a job: for its time limit, and for ranks that wait for each other. */
#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "launch/end_job.h"
#include "mpi/check/check.h"

enum { CODE = 124, DEADLOCK_CODE = 1, REPORT_SECONDS = 30, RANKS_SHOWN = 32 };
enum { MESSAGE_SIZE = 2400 };

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
    wait_for(REPORT_SECONDS);
    syscall(SYS_exit_group, *(int *)argument);
    return NULL;
}

/* Thread: end the job with a report when its time limit has passed. */
static void *end_at_limit(void *argument)
{
    static int code = CODE;
    double seconds = *(double *)argument;
    char message[80];

    wait_for(seconds);
    process_thread_without_signals(end_anyway, &code);
    snprintf(message, sizeof(message), "the time limit of %g s has passed", seconds);
    process_say("%s", message);
    mpi_job_report(mpi_job, RANKS_SHOWN);
    mpi_check_end(&(mpi_check_end_t){
        .kind = XMPI_FINDING_TIME_LIMIT, .rank = -1, .other = -1, .message = message});
    mpi_finish_job(CODE);
}

xy_status_t mpi_timeout_start(double seconds)
{
    static double limit;
    int code;

    limit = seconds;
    code = process_thread_without_signals(end_at_limit, &limit);
    return code == 0 ? XY_OK : xy_fail_errno(code, "a thread for the time limit", "start");
}

/* The values of --deadlock-after and --polling-after; 0: not looked for. */
static double deadlock_after, polling_after;

/* Thread: look for ranks that wait for each other, and end the job with a report. */
static void *end_at_deadlock(void *argument)
{
    static int code = DEADLOCK_CODE;
    mpi_watch_t found;
    char message[MESSAGE_SIZE];

    (void)argument;
    if (mpi_job->process > 0) {
        mpi_watch_serve();
        return NULL;
    }
    do {
        xy_watcher_sleep(deadlock_after > 0 ? deadlock_after : 0.5 * polling_after);
        found = mpi_watch_look();
    } while (found == XMPI_WATCH_NONE || (found == XMPI_WATCH_PARKED && deadlock_after <= 0));
    process_thread_without_signals(end_anyway, &code);
    mpi_finish_claim_report();
    mpi_watch_describe(found, polling_after, message, sizeof(message));
    process_say("deadlock: %s", message);
    mpi_watch_report(RANKS_SHOWN);
    mpi_watch_say_cause(message, sizeof(message));
    mpi_watch_end(message);
    mpi_finish_job(DEADLOCK_CODE);
}

xy_status_t mpi_deadlock_watch_start(double deadlock, double polling)
{
    xy_status_t st;
    int code;

    if (deadlock <= 0 && polling <= 0)
        return XY_OK;
    deadlock_after = deadlock;
    polling_after = polling;
    st = mpi_watch_begin(mpi_job, polling);
    if (st != XY_OK)
        return st;
    code = process_thread_without_signals(end_at_deadlock, NULL);
    return code == 0 ? XY_OK : xy_fail_errno(code, "a thread that looks for deadlocks", "start");
}
