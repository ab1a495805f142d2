/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For the tests of this room: what was said, repeatable random numbers, temporary files, and checks
 * that every log must pass.
 */
#ifndef XY_TRACE_TESTING_H
#define XY_TRACE_TESTING_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "trace/trace.h"

static char testing_said[4096];
static int testing_said_count;

static inline void testing_on_message(void *arg, xy_status_t status, const char *message)
{
    (void)arg, (void)status;
    snprintf(testing_said, sizeof(testing_said), "%s", message);
    testing_said_count++;
}

/* Messages go to testing_said from now on; forget earlier ones. */
static inline void testing_listen(void)
{
    testing_said[0] = '\0';
    testing_said_count = 0;
    xy_error_handler_set(testing_on_message, NULL);
}

/* The next of a repeatable series (xorshift64*); *state must not be 0. */
static inline uint64_t testing_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/* A path that nobody else uses; the caller unlinks it. */
static inline void testing_path(char path[64])
{
    int fd;

    snprintf(path, 64, "/tmp/xylem-trace-test-XXXXXX");
    fd = mkstemp(path);
    if (fd < 0)
        abort();
    close(fd);
}

/* The invariants of log.h; the broken one, or NULL. */
static inline const char *testing_log_fault(const xy_trace_log_t *log)
{
    size_t states = 0;

    if (log->begin > log->end)
        return "begin after end";
    for (size_t r = 0; r < log->row_count; r++) {
        const xy_trace_row_info_t *row = &log->rows[r];

        if (row->state_count > 0 && row->first_state != states)
            return "rows do not follow each other";
        states += row->state_count;
        if (row->name == NULL || row->group == NULL)
            return "row without a name";
    }
    if (states != log->state_count)
        return "states outside of rows";
    for (size_t i = 0; i < log->state_count; i++) {
        const xy_trace_state_t *s = &log->states[i];

        if (s->row >= log->row_count || s->kind >= log->kind_count || s->label >= log->label_count)
            return "bad index in a state";
        if (s->start > s->end || s->start < log->begin || s->end > log->end)
            return "bad times of a state";
        if (i > log->rows[s->row].first_state) {
            const xy_trace_state_t *last = s - 1;

            if (last->row != s->row || last->start > s->start || s->depth > last->depth + 1)
                return "states out of order";
            if (s->depth == last->depth + 1 && s->end > last->end)
                return "a state longer than the one around it";
            if (s->depth <= last->depth && last->end > s->start)
                return "states overlap";
        } else if (s->depth != 0)
            return "first state inside another";
    }
    for (size_t i = 0; i < log->link_count; i++) {
        const xy_trace_link_t *l = &log->links[i];

        if (l->from >= log->row_count || l->to >= log->row_count || l->label >= log->label_count)
            return "bad index in a link";
        if (i > 0 && l[-1].start > l->start)
            return "links out of order";
    }
    for (size_t i = 0; i < log->sample_count; i++)
        if (log->samples[i].row >= log->row_count || log->samples[i].counter >= log->counter_count)
            return "bad index in a sample";
    for (size_t i = 0; i < log->mark_count; i++)
        if (log->marks[i].row >= log->row_count || log->marks[i].label >= log->label_count)
            return "bad index in a mark";
    return NULL;
}

#endif
