/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The summary for programs: `xylem view --json`. Times are in seconds, shares are left to the
 * reader.
 */
#include "base/base.h"
#include "draw/draw.h"
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
    xy_fields(j, "messages_sent %lu messages_received %lu bytes_sent %lu bytes_received %lu",
              row->sent, row->received, row->bytes_sent, row->bytes_received);
}

static void put_damage(xy_json_t *j, const xy_trace_damage_t *d)
{
    xy_fields_object(j, "damage",
                     "unfinished %i bytes_skipped %lu chunks_missing %lu chunks_bad %lu "
                     "states_open %lu states_clipped %lu leaves_alone %lu links_alone %lu",
                     d->is_unfinished, d->bytes_skipped, d->chunks_missing, d->records_bad,
                     d->states_open, d->states_clipped, d->leaves_alone, d->links_alone);
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
    xy_fields(&j, "file %s title %s clock %s", log->path, log->title,
              log->clock == XY_TRACE_VIRTUAL ? "virtual" : "real");
    put_seconds(&j, "begin", (double)log->begin);
    put_seconds(&j, "end", (double)log->end);
    xy_fields(&j, "states %lu messages %lu messages_unreceived %lu samples %lu marks %lu",
              log->state_count, log->link_count, log->links_unreceived, log->sample_count,
              log->mark_count);
    if (log->source_count > 0)
        put_sources(&j, log);
    xy_json_begin_array(&j, "rows");
    for (size_t r = 0; r < log->row_count; r++) {
        xy_json_begin_object(&j, NULL);
        xy_fields(&j, "name %s group %s", log->rows[r].name, log->rows[r].group);
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
