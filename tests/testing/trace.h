/* SPDX-License-Identifier: BSD-3-Clause */
/* For the unit tests of this component: checks that every log must pass. */
#ifndef XY_TESTING_TRACE_H
#define XY_TESTING_TRACE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "testing/base.h"
#include "trace/trace.h"

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
    for (size_t i = 0; i < log->step_count; i++) {
        const xy_trace_step_t *s = &log->steps[i];

        if (s->row >= log->row_count || s->label >= log->label_count ||
            s->site >= log->site_count || s->message > log->message_count)
            return "bad index in a step";
        if (i > 0 && (s[-1].rank > s->rank || (s[-1].rank == s->rank && s[-1].order >= s->order)))
            return "steps out of order";
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
