/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time that other programs had a core while a rank computed there. It is part of the recorded
 * computation, but not of the program: another run has another part of it. So costs of messages
 * are fitted with it, and gains are predicted without.
 */
#include <stdlib.h>
#include <string.h>

#include "advise/advise_internal.h"

/* The samples of the counter, by row and time. */
typedef struct {
    const xy_trace_sample_t *first;
    size_t count;
} samples_t;

static samples_t find_samples(const xy_trace_log_t *log)
{
    samples_t s = {NULL, 0};

    for (size_t i = 0; i < log->sample_count; i++)
        if (strcmp(log->counters[log->samples[i].counter].name, XY_TRACE_STOLEN) == 0) {
            s.first = s.count == 0 ? &log->samples[i] : s.first;
            s.count++;
        }
    return s;
}

static int by_row_and_time(const void *left, const void *right)
{
    const xy_trace_sample_t *a = left, *b = right;

    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return a->time < b->time ? -1 : a->time > b->time;
}

/* Seconds of a state that other programs had; the counter only grows. */
static double stolen_of(const samples_t *all, const xy_trace_state_t *s)
{
    xy_trace_sample_t key = {.row = s->row, .time = s->end};
    const xy_trace_sample_t *at =
        all->count > 0 ? bsearch(&key, all->first, all->count, sizeof(key), by_row_and_time) : NULL;
    double seconds, most = 1e-9 * (double)(s->end - s->start);

    if (at == NULL)
        return 0;
    seconds = at > all->first && at[-1].row == at->row ? at->value - at[-1].value : at->value;
    return seconds < 0 ? 0 : seconds < most ? seconds : most;
}

/* The call before which a rank is in a state that starts at `time`, from step `at` on. */
static size_t call_after(const xy_trace_log_t *log, uint32_t rank, size_t at, int64_t time)
{
    size_t last = at;

    for (; at < log->step_count && log->steps[at].rank == rank; at++) {
        last = at;
        if (log->steps[at].kind == XY_TRACE_STEP_CALL && log->steps[at].time > time)
            break;
    }
    return last;
}

xy_status_t advise_find_stolen(advise_t *a)
{
    const xy_trace_log_t *log = a->log;
    samples_t samples = find_samples(log);
    size_t *at = xy_calloc((size_t)a->ranks + 1, sizeof(*at));
    double computed = 0, sum = 0;

    a->stolen = xy_calloc(log->step_count + 1, sizeof(*a->stolen));
    if (at == NULL || a->stolen == NULL) {
        xy_free(at);
        return xy_fail_memory("advising");
    }
    for (size_t i = log->step_count; i > 0; i--)
        at[log->steps[i - 1].rank] = i - 1;
    for (size_t i = 0; i < log->state_count; i++) {
        const xy_trace_state_t *s = &log->states[i];
        double seconds;

        if (log->kinds[s->kind].role != XY_TRACE_COMPUTE || s->id < 0 || s->id >= a->ranks)
            continue;
        seconds = stolen_of(&samples, s);
        computed += 1e-9 * (double)(s->end - s->start);
        if (!(seconds > 0))
            continue;
        at[s->id] = call_after(log, (uint32_t)s->id, at[s->id], s->start);
        a->stolen[at[s->id]] += seconds;
        sum += seconds;
    }
    a->out->stolen = computed > 0 ? sum / computed : 0;
    xy_free(at);
    return XY_OK;
}

void advise_leave_out_stolen(const advise_t *a, xy_script_proc_t *p)
{
    for (size_t i = 0; i < p->ops.count; i++) {
        xy_script_op_t *op = &XY_VEC_AT(&p->ops, xy_script_op_t, i);

        if (op->kind == XY_SCRIPT_COMPUTE && op->mark < a->log->step_count)
            op->seconds = op->seconds > a->stolen[op->mark] ? op->seconds - a->stolen[op->mark] : 0;
    }
}
