/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The records of a job's processes for --trace and --monitor, which become one file and one
 * directory here. Clocks of other hosts are compared with this one over the control connections: of
 * several round trips the fastest counts, at the beginning and again once a second.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "launch/head.h"

enum { FIRST_ROUNDS = 16, MORE_ROUNDS = 4 };

static xy_trace_merge_t *merge;
static xy_traffic_t traffic = {.records = XY_VEC_INIT(xy_traffic_record_t)};
static char *directory; /* for the matrices */
static xy_status_t first_error;

/* Before the directory changes, and before anything is started: what cannot be written is found. */
xy_status_t head_tools_begin(const head_t *head)
{
    const char **names = xy_calloc((size_t)head->count, sizeof(*names));
    char here[PATH_MAX] = "";
    const char *monitor = head->values->monitor;
    xy_status_t st = XY_OK;

    if (names == NULL)
        return xy_fail_memory("starting the processes");
    if (monitor != NULL && monitor[0] != '/' && getcwd(here, sizeof(here)) == NULL)
        st = xy_fail_errno(errno, monitor, "find its directory");
    if (monitor != NULL && st == XY_OK)
        directory = xy_sprintf("%s%s%s", here, monitor[0] != '/' ? "/" : "", monitor);
    for (int i = 0; i < head->count && st == XY_OK; i++) {
        names[i] = xy_sprintf("process %d on %s", i, head->processes[i].host);
        if (names[i] == NULL || (monitor != NULL && directory == NULL))
            st = xy_fail_memory("starting the processes");
    }
    if (st == XY_OK && head->values->trace != NULL)
        st = xy_trace_merge_create(head->values->trace, names, head->count, &merge);
    xy_free(names); /* its target lives as long as the trace */
    return st;
}

static void note(xy_status_t st)
{
    if (first_error == XY_OK)
        first_error = st;
}

/* ---- What comes ---- */

void head_take_trace(int process, const xy_frame_t *frame)
{
    if (merge != NULL)
        note(xy_trace_merge_add(merge, process, frame->bytes, frame->size));
}

/* Processes are of one version and one kind of processor: records are what they are there. */
void head_take_traffic(head_t *head, int process, const xy_frame_t *frame)
{
    size_t n = frame->size / sizeof(xy_traffic_record_t);

    if (frame->size == 0)
        head->processes[process].has_traffic = true;
    for (size_t i = 0; i < n; i++) {
        xy_traffic_record_t record;

        memcpy(&record, frame->bytes + i * sizeof(record), sizeof(record));
        if (xy_vec_append(&traffic.records, &record) != XY_OK) {
            note(xy_fail_memory("collecting the communication matrix"));
            return;
        }
    }
}

/* ---- Clocks ---- */

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void ask(head_process_t *p, int rounds)
{
    xy_text_t text = XY_TEXT_INIT;

    node_field_add_number(&text, (long)now_ns());
    node_field_add_number(&text, rounds);
    if (!text.failed)
        xy_channel_send(&p->link, NODE_PING, text.s, text.length);
    xy_text_cleanup(&text);
}

void head_ask_time(head_t *head, int process)
{
    head_process_t *p = &head->processes[process];

    if (merge == NULL || head->is_local)
        xy_channel_send(&p->link, NODE_PING, NULL, 0);
    else
        ask(p, p->clock_count == 0 ? FIRST_ROUNDS : MORE_ROUNDS);
}

/* A pong has what the ping had, and the time there. Between the two times here it was read. */
void head_take_time(head_t *head, int process, const xy_frame_t *frame)
{
    head_process_t *p = &head->processes[process];
    node_fields_t fields = node_fields(frame);
    long sent, rounds, there;
    uint64_t now = now_ns();
    head_sample_t s;

    if (!node_field_number(&fields, 0, LONG_MAX, &sent) ||
        !node_field_number(&fields, 0, FIRST_ROUNDS, &rounds) ||
        !node_field_number(&fields, 0, LONG_MAX, &there) || now < (uint64_t)sent)
        return;
    s = (head_sample_t){.time = (uint64_t)there, .error = (now - (uint64_t)sent + 1) / 2};
    s.offset = (int64_t)((uint64_t)sent + s.error - (uint64_t)there);
    if (p->clock_count < FIRST_ROUNDS) {
        if (p->clock_count == 0 || s.error < p->first.error)
            p->first = s;
    } else {
        p->recent[p->clock_count % HEAD_SAMPLES] = s;
    }
    p->clock_count++;
    if (rounds > 1)
        ask(p, (int)rounds - 1);
}

/* Two points of the line: the best of the beginning, and of what was measured last. */
static xy_trace_clock_fit_t fit(const head_process_t *p)
{
    xy_trace_clock_fit_t f = {
        {p->first.time, p->first.time}, {p->first.offset, p->first.offset}, p->first.error};
    const head_sample_t *best = NULL;
    int count = p->clock_count - FIRST_ROUNDS;

    for (int i = 0; i < count && i < HEAD_SAMPLES; i++)
        if (p->recent[i].time != 0 && (best == NULL || p->recent[i].error < best->error))
            best = &p->recent[i];
    if (best == NULL || best->time < p->first.time + UINT64_C(1000000000))
        return f;
    f.time[1] = best->time;
    f.offset[1] = best->offset;
    if (best->error > f.error)
        f.error = best->error;
    return f;
}

static void write_clocks(const head_t *head)
{
    for (int i = 0; i < head->count; i++) {
        xy_trace_clock_fit_t f = fit(&head->processes[i]);

        if (head->is_local || head->processes[i].clock_count > 0)
            xy_trace_merge_clock(merge, i, &f);
    }
}

/* ---- The end ---- */

const xy_traffic_t *head_traffic(const head_t *head)
{
    traffic.ranks = (uint32_t)head->size;
    traffic.slice_seconds = head->values->monitor_slice;
    for (int i = 0; i < head->count; i++)
        if (!head->processes[i].has_traffic)
            return NULL; /* the job was ended before */
    return &traffic;
}

xy_status_t head_tools_end(const head_t *head)
{
    if (merge != NULL) {
        write_clocks(head);
        note(xy_trace_merge_close(merge));
    }
    if (directory != NULL && head_traffic(head) != NULL)
        note(xy_traffic_write(&traffic, directory));
    return first_error;
}
