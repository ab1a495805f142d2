/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The summary for programs: `xylem view --json`. Times are in seconds, shares are left to the
 * reader.
 */
#include "base/base.h"
#include "trace/report.h"

static void put_seconds(xy_json_t *j, const char *key, double ns)
{
    xy_json_double(j, key, ns / 1e9);
}

/* Writes times and messages of one row. */
static void put_row(xy_json_t *j, const xy_trace_log_t *log, const double *time,
                    const xy_trace_row_summary_t *row)
{
    xy_json_begin_object(j, "kinds");
    for (size_t k = 0; k < log->kind_count; k++)
        if (time[k] > 0)
            put_seconds(j, log->kinds[k].name, time[k]);
    xy_json_end(j);
    put_seconds(j, "compute", row->compute);
    put_seconds(j, "idle", row->idle);
    put_seconds(j, "flight", row->flight);
    put_seconds(j, "hidden", row->hidden);
    if (row->flight > 0)
        xy_json_double(j, "overlap", row->hidden / row->flight);
    xy_json_int(j, "messages_sent", (int64_t)row->sent);
    xy_json_int(j, "messages_received", (int64_t)row->received);
    xy_json_int(j, "bytes_sent", (int64_t)row->bytes_sent);
    xy_json_int(j, "bytes_received", (int64_t)row->bytes_received);
}

static void put_damage(xy_json_t *j, const xy_trace_damage_t *d)
{
    xy_json_begin_object(j, "damage");
    xy_json_bool(j, "unfinished", d->is_unfinished);
    xy_json_int(j, "bytes_skipped", (int64_t)d->bytes_skipped);
    xy_json_int(j, "chunks_missing", (int64_t)d->chunks_missing);
    xy_json_int(j, "chunks_bad", (int64_t)d->records_bad);
    xy_json_int(j, "states_open", (int64_t)d->states_open);
    xy_json_int(j, "states_clipped", (int64_t)d->states_clipped);
    xy_json_int(j, "leaves_alone", (int64_t)d->leaves_alone);
    xy_json_int(j, "links_alone", (int64_t)d->links_alone);
    xy_json_end(j);
}

/* Writes the processes of the trace, with the offsets of aligned clocks. */
static void put_sources(xy_json_t *j, const xy_trace_log_t *log)
{
    xy_json_begin_array(j, "processes");
    for (size_t i = 0; i < log->source_count; i++) {
        const xy_trace_source_info_t *s = &log->sources[i];

        xy_json_begin_object(j, NULL);
        xy_json_string(j, "name", s->name);
        if (s->is_aligned) {
            put_seconds(j, "clock_offset", (double)s->offset);
            put_seconds(j, "clock_error", (double)s->error);
        }
        xy_json_end(j);
    }
    xy_json_end(j);
}

void xy_trace_write_json(const xy_trace_log_t *log, const xy_trace_summary_t *s, FILE *file)
{
    xy_json_t j;

    xy_json_init(&j, file, true);
    xy_json_begin_object(&j, NULL);
    xy_json_string(&j, "file", log->path);
    xy_json_string(&j, "title", log->title);
    xy_json_string(&j, "clock", log->clock == XY_TRACE_VIRTUAL ? "virtual" : "real");
    put_seconds(&j, "begin", (double)log->begin);
    put_seconds(&j, "end", (double)log->end);
    xy_json_int(&j, "states", (int64_t)log->state_count);
    xy_json_int(&j, "messages", (int64_t)log->link_count);
    xy_json_int(&j, "messages_unreceived", (int64_t)log->links_unreceived);
    xy_json_int(&j, "samples", (int64_t)log->sample_count);
    xy_json_int(&j, "marks", (int64_t)log->mark_count);
    if (log->source_count > 0)
        put_sources(&j, log);
    xy_json_begin_array(&j, "rows");
    for (size_t r = 0; r < log->row_count; r++) {
        xy_json_begin_object(&j, NULL);
        xy_json_string(&j, "name", log->rows[r].name);
        xy_json_string(&j, "group", log->rows[r].group);
        put_row(&j, log, s->time + r * s->kind_count, &s->rows[r]);
        xy_json_end(&j);
    }
    xy_json_end(&j);
    xy_json_begin_object(&j, "total");
    put_row(&j, log, s->kind_time, &s->total);
    xy_json_end(&j);
    put_damage(&j, &log->damage);
    xy_json_end(&j);
}
