/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Send the records of a process for --trace, --monitor and --adapt to the head. The trace goes into
 * a pipe, piece by piece as it is recorded, so that all of it is there when the process is killed,
 * and no host needs room for it; the counters go at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "launch/launch_node.h"
#include "mpi/adapt/adapt.h"
#include "process/process.h"

enum { PIECE = 64 << 10, PIPE_SIZE = 1 << 20, RECORDS_AT_ONCE = 16384, LOCK_TRIES = 2000 };

static int trace_fd = -1; /* to read from */
static atomic_flag is_draining = ATOMIC_FLAG_INIT;

/* Also in a signal handler, at the end: never for ever. */
static bool lock(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    for (int i = 0; i < LOCK_TRIES; i++) {
        if (!atomic_flag_test_and_set_explicit(&is_draining, memory_order_acquire))
            return true;
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    }
    return false;
}

/* Pieces leave in the order in which they were written. */
void node_trace_drain(void)
{
    static char piece[PIECE];
    ssize_t n;

    if (trace_fd < 0 || !lock())
        return;
    while ((n = read(trace_fd, piece, sizeof(piece))) > 0 || (n < 0 && errno == EINTR))
        if (n > 0)
            node_send(NODE_TRACE, piece, (size_t)n);
    atomic_flag_clear_explicit(&is_draining, memory_order_release);
}

static void *relay(void *unused)
{
    struct pollfd end = {.fd = trace_fd, .events = POLLIN};

    (void)unused;
    while ((poll(&end, 1, -1) >= 0 || errno == EINTR) && (end.revents & ~POLLIN) == 0)
        node_trace_drain();
    node_trace_drain();
    return NULL;
}

xy_status_t mpi_node_trace_open(char path[64], int *keep_p)
{
    int ends[2], code;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return xy_fail_errno(errno, "a pipe for the trace", "make");
    fcntl(ends[0], F_SETPIPE_SZ, PIPE_SIZE); /* where it is allowed */
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    snprintf(path, 64, "/proc/self/fd/%d", ends[1]);
    trace_fd = ends[0];
    *keep_p = ends[1];
    code = process_thread_without_signals(relay, NULL);
    return code == 0 ? XY_OK : xy_fail_errno(code, "a thread for the trace", "start");
}

xy_status_t mpi_node_send_traffic(const xy_traffic_t *t)
{
    const xy_traffic_record_t *records = t->records.data;

    for (size_t i = 0; i < t->records.count; i += RECORDS_AT_ONCE) {
        size_t n = t->records.count - i < RECORDS_AT_ONCE ? t->records.count - i : RECORDS_AT_ONCE;

        if (!node_send(NODE_TRAFFIC, records + i, n * sizeof(*records)))
            return xy_fail(XY_EIO, "the mpiexec that started this process has ended");
    }
    node_send(NODE_TRAFFIC, NULL, 0); /* that is all */
    return XY_OK;
}

xy_status_t mpi_node_send_profile(mpi_job_t *job)
{
    mpi_profile_t profile;
    xy_text_t text = XY_TEXT_INIT;
    xy_status_t st = mpi_launch_adapt_counted(job, &profile);

    if (st != XY_OK)
        return st;
    mpi_profile_format(&profile, &text);
    if (text.failed)
        st = xy_fail_memory("counting collectives");
    else if (!node_send(NODE_PROFILE, text.s, text.length))
        st = xy_fail(XY_EIO, "the mpiexec that started this process has ended");
    xy_text_cleanup(&text);
    return st;
}
