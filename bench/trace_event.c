/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of one event, off and on, and the speed of reading a trace. Events are measured in time
 * of the processor, writing the file included: what other programs do does not count. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "trace/trace.h"

static char path[] = "/tmp/xylem-bench-XXXXXX";
static xy_trace_t *trace;
static xy_trace_row_t *row;
static uint32_t kind, label;

static double cpu_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Off: `row` is NULL, and the compiler must not know it. */
static double enter_leave(long n)
{
    double start = cpu_now();

    for (long i = 0; i < n; i += 2) {
        xy_trace_enter(row, kind, i, label);
        bench_use(&row);
        xy_trace_leave(row);
        bench_use(&row);
    }
    return cpu_now() - start;
}

static double message_halves(long n)
{
    double start = cpu_now();

    for (long i = 0; i < n; i += 2) {
        xy_trace_message_t message = {
            .key = (uint64_t)i, .bytes = 4096, .label = label, .rank = 1, .peer = 2};

        xy_trace_sent(row, &message);
        xy_trace_received(row, &message);
        bench_use(&row);
    }
    return cpu_now() - start;
}

static double virtual_states(long n)
{
    double start = cpu_now();

    for (long i = 0; i < n; i++) {
        xy_trace_state_at(row, (uint64_t)i * 1000, (uint64_t)i * 1000 + 900, kind, i, label);
        bench_use(&row);
    }
    return cpu_now() - start;
}

/* A round with a trace of its own, so that the file does not grow from round to round. */
static double with_trace(bench_round_fn round, xy_trace_clock_t clock, long n)
{
    double seconds;

    if (xy_trace_create(path, &(xy_trace_options_t){.clock = clock}, &trace) != XY_OK ||
        xy_trace_row_create(trace, "row", NULL, &row) != XY_OK)
        return -1;
    kind = xy_trace_kind(trace, "compute", XY_TRACE_COMPUTE, 0);
    label = xy_trace_label(trace, "label");
    seconds = round(n);
    row = NULL;
    return xy_trace_close(trace) == XY_OK ? seconds : -1;
}

static double states_on(long n)
{
    return with_trace(enter_leave, XY_TRACE_REAL, n);
}

static double messages_on(long n)
{
    return with_trace(message_halves, XY_TRACE_REAL, n);
}

static double states_virtual(long n)
{
    return with_trace(virtual_states, XY_TRACE_VIRTUAL, n);
}

static double read_back(long n)
{
    xy_trace_log_t *log;
    double start;

    if (with_trace(virtual_states, XY_TRACE_VIRTUAL, n) < 0)
        return -1;
    start = cpu_now();
    if (xy_trace_read(path, &log) != XY_OK)
        return -1;
    xy_trace_log_free(log);
    return cpu_now() - start;
}

int main(int argc, char **argv)
{
    int fd;

    bench_init(argc, argv);
    fd = mkstemp(path);
    if (fd < 0)
        return EXIT_FAILURE;
    close(fd);
    bench_rate("trace off, state entered or left", enter_leave, 20000000, "ns/event", 1e9);
    bench_rate("trace on, state entered or left", states_on, 4000000, "ns/event", 1e9);
    bench_rate("trace on, message sent or received", messages_on, 4000000, "ns/event", 1e9);
    bench_rate("trace on, whole state, virtual time", states_virtual, 4000000, "ns/event", 1e9);
    bench_rate("trace read back", read_back, 1000000, "ns/event", 1e9);
    unlink(path);
    return EXIT_SUCCESS;
}
