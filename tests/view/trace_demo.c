/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a trace of a small simulated program, for the documents, the tests of the viewer and its
 * benchmark: a heat equation on `rows` cores of two nodes, one border exchange per iteration behind
 * the interior, a sum over all every eighth iteration. Virtual time, so the file is always the
 * same.
 *
 *   trace_demo FILE [ROWS [ITERATIONS]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "trace/trace.h"

enum { ROWS_MAX = 4096, HALO = 32768 };

typedef struct {
    xy_trace_row_t *row;
    uint64_t now;
    uint64_t sent; /* when its borders of this iteration left */
} core_t;

typedef struct {
    xy_trace_t *trace;
    core_t core[ROWS_MAX];
    long count;
    uint32_t compute, progress, wait, idle;
    uint32_t interior, border, halo, copy, finish, sum, checkpoint, residual;
    uint64_t random;
} demo_t;

/* Uniform in [0, n). */
static uint64_t draw(demo_t *d, uint64_t n)
{
    d->random ^= d->random << 13;
    d->random ^= d->random >> 7;
    d->random ^= d->random << 17;
    return d->random % n;
}

static void run_state(core_t *c, uint32_t kind, long id, uint32_t label, uint64_t length)
{
    xy_trace_state_at(c->row, c->now, c->now + length, kind, id, label);
    c->now += length;
}

/* 1.5 us and 10 GB/s inside a node, 4 us and 3 GB/s between the two. */
static uint64_t flight(const demo_t *d, long a, long b)
{
    bool is_near = a / ((d->count + 1) / 2) == b / ((d->count + 1) / 2);

    return is_near ? 1500 + HALO / 10 : 4000 + HALO / 3;
}

/* When the last border of a neighbour arrives, with a message drawn for each. */
static uint64_t receive(demo_t *d, long r)
{
    uint64_t latest = 0;

    for (long n = r - 1; n <= r + 1; n += 2) {
        uint64_t arrival;

        if (n < 0 || n >= d->count)
            continue;
        arrival = d->core[n].sent + flight(d, n, r);
        xy_trace_link_at(d->core[r].row, xy_trace_row_number(d->core[n].row), d->core[n].sent,
                         xy_trace_row_number(d->core[r].row), arrival, HALO, d->halo);
        latest = arrival > latest ? arrival : latest;
    }
    return latest;
}

/* The interior, with the copies of arriving borders inside it, then whatever is left to wait for,
 * then the border. One core in five is slower: something to see. */
static void iterate_core(demo_t *d, long r)
{
    core_t *c = &d->core[r];
    uint64_t work = 42000 + draw(d, 9000) + (r % 5 == 3 ? 14000 : 0);
    uint64_t arrival = receive(d, r), end = c->now + work;

    xy_trace_enter_at(c->row, c->now, d->compute, r, d->interior);
    if (arrival > c->now && arrival + 2400 < end) {
        xy_trace_enter_at(c->row, arrival, d->progress, r, d->copy);
        xy_trace_leave_at(c->row, arrival + 2400);
    }
    xy_trace_leave_at(c->row, end);
    c->now = end;
    if (arrival > c->now)
        run_state(c, d->wait, r, d->finish, arrival - c->now);
    run_state(c, d->compute, r, d->border, 9000 + draw(d, 2000));
}

static void sum_over_all(demo_t *d)
{
    uint64_t latest = 0;

    for (long r = 0; r < d->count; r++)
        latest = d->core[r].now > latest ? d->core[r].now : latest;
    for (long r = 0; r < d->count; r++) {
        core_t *c = &d->core[r];

        if (latest > c->now)
            run_state(c, d->wait, r, d->sum, latest - c->now);
        run_state(c, d->progress, r, d->sum, 5000);
    }
}

static void iterate(demo_t *d, long iteration)
{
    for (long r = 0; r < d->count; r++) {
        core_t *c = &d->core[r];

        run_state(c, d->progress, r, d->halo, 1800 + draw(d, 600));
        c->sent = c->now;
    }
    for (long r = 0; r < d->count; r++)
        iterate_core(d, r);
    if (iteration % 8 == 7)
        sum_over_all(d);
    xy_trace_counter_at(d->core[0].row, d->core[0].now, d->residual,
                        1.0 / (1.0 + (double)iteration / 6.0));
}

static void record(demo_t *d, long iterations)
{
    for (long r = 0; r < d->count; r++)
        run_state(&d->core[r], d->idle, XY_TRACE_NO_ID, XY_TRACE_NO_LABEL, 3000 + draw(d, 9000));
    for (long i = 0; i < iterations; i++) {
        iterate(d, i);
        if (i == iterations / 2)
            xy_trace_mark_at(d->core[0].row, d->core[0].now, i, d->checkpoint);
    }
}

static xy_status_t name_all(demo_t *d)
{
    d->compute = xy_trace_kind(d->trace, "compute", XY_TRACE_COMPUTE, 0);
    d->progress = xy_trace_kind(d->trace, "progress", XY_TRACE_PROGRESS, 0);
    d->wait = xy_trace_kind(d->trace, "wait", XY_TRACE_WAIT, 0);
    d->idle = xy_trace_kind(d->trace, "idle", XY_TRACE_IDLE, 0);
    d->interior = xy_trace_label(d->trace, "interior");
    d->border = xy_trace_label(d->trace, "border");
    d->halo = xy_trace_label(d->trace, "halo");
    d->copy = xy_trace_label(d->trace, "copy");
    d->finish = xy_trace_label(d->trace, "MPI_Waitall");
    d->sum = xy_trace_label(d->trace, "MPI_Allreduce");
    d->checkpoint = xy_trace_label(d->trace, "checkpoint");
    d->residual = xy_trace_counter_name(d->trace, "residual", "");
    for (long r = 0; r < d->count; r++) {
        char name[32];
        xy_status_t st;

        snprintf(name, sizeof(name), "core %ld", r);
        st = xy_trace_row_create(d->trace, name, r < (d->count + 1) / 2 ? "node 0" : "node 1",
                                 &d->core[r].row);
        if (st != XY_OK)
            return st;
    }
    return XY_OK;
}

int main(int argc, char **argv)
{
    static demo_t d = {.count = 8, .random = 88172645463325252u};
    long iterations = 24;
    xy_status_t st, closed;

    if (argc < 2 || argc > 4 || (argc > 2 && !xy_parse_long(argv[2], &d.count)) ||
        (argc > 3 && !xy_parse_long(argv[3], &iterations)) || d.count < 1 || d.count > ROWS_MAX) {
        fprintf(stderr, "usage: trace_demo FILE [ROWS [ITERATIONS]]\n");
        return 2;
    }
    st = xy_trace_create(argv[1],
                         &(xy_trace_options_t){.title = "Heat equation", .clock = XY_TRACE_VIRTUAL},
                         &d.trace);
    if (st != XY_OK)
        return xy_status_exit_code(st);
    st = name_all(&d);
    if (st == XY_OK)
        record(&d, iterations);
    closed = xy_trace_close(d.trace);
    return xy_status_exit_code(st != XY_OK ? st : closed);
}
