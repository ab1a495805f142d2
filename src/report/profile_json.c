/* SPDX-License-Identifier: BSD-3-Clause */
/* For programs. Times are in seconds. */
#include <inttypes.h>
#include <string.h>

#include "report/report_internal.h"

static const char *const keys[XY_PARTS] = {"late_sender", "late_receiver", "collective", "lock",
                                           "core",        "transfer",      "library"};

static void put_parts(xy_json_t *j, const double part[XY_PARTS])
{
    for (int i = 0; i < XY_PARTS; i++)
        xy_json_double(j, keys[i], part[i]);
}

void report_put_efficiency(xy_json_t *j, const xy_efficiency_t *e)
{
    xy_json_begin_object(j, "efficiency");
    xy_json_double(j, "global", e->global);
    xy_json_double(j, "parallel", e->parallel);
    xy_json_double(j, "load_balance", e->load_balance);
    xy_json_double(j, "communication", e->communication);
    xy_json_double(j, "serialization", e->serialization);
    xy_json_double(j, "transfer", e->transfer);
    xy_json_double(j, "computation_scalability", e->scalability);
    xy_json_end(j);
}

void report_put_site(xy_json_t *j, const xy_profile_t *p, uint32_t site)
{
    const xy_profile_site_t *s = &XY_VEC_AT(&p->sites, xy_profile_site_t, site);

    xy_json_string(j, "function", s->function);
    xy_json_string(j, "place", s->place);
}

/* Writes a call site with its times and blames. */
static void put_call(xy_json_t *j, const xy_profile_t *p, const xy_site_time_t *s)
{
    xy_json_begin_object(j, NULL);
    report_put_site(j, p, s->site);
    xy_json_int(j, "calls", (int64_t)s->calls);
    xy_json_int(j, "bytes", (int64_t)s->bytes);
    xy_json_int(j, "ranks", s->ranks);
    xy_json_double(j, "computation_before", s->compute);
    xy_json_double(j, "most_computation_before", s->most_compute);
    xy_json_int(j, "most_computation_rank", s->most_rank);
    xy_json_double(j, "time", s->time);
    xy_json_double(j, "waiting", s->wait);
    put_parts(j, s->part);
    xy_json_begin_array(j, "blames");
    for (int b = 0; b < XY_PROFILE_BLAMES && s->blame[b].ns > 0; b++) {
        xy_json_begin_object(j, NULL);
        xy_json_int(j, "rank", s->blame[b].rank);
        report_put_site(j, p, s->blame[b].site);
        xy_json_double(j, "time", 1e-9 * (double)s->blame[b].ns);
        xy_json_end(j);
    }
    xy_json_end(j);
    xy_json_end(j);
}

/* Writes the times of each rank. */
static void put_ranks(xy_json_t *j, const xy_analysis_t *a)
{
    xy_json_begin_array(j, "by_rank");
    for (size_t r = 0; r < a->profile->ranks.count; r++) {
        const xy_rank_time_t *t = &a->ranks[r];

        xy_json_begin_object(j, NULL);
        xy_json_int(j, "rank", (int64_t)r);
        xy_json_int(j, "core", XY_VEC_AT(&a->profile->ranks, xy_profile_rank_t, r).core);
        xy_json_double(j, "run", t->run);
        xy_json_double(j, "computation", t->compute);
        xy_json_double(j, "waiting", t->wait);
        put_parts(j, t->part);
        xy_json_double(j, "waited_for", t->blamed);
        xy_json_end(j);
    }
    xy_json_end(j);
}

/* Writes messages and bytes of each pair of ranks. */
static void put_pairs(xy_json_t *j, const xy_profile_t *p)
{
    xy_json_begin_array(j, "matrix");
    for (size_t i = 0; i < p->pairs.count; i++) {
        const xy_profile_pair_t *q = &XY_VEC_AT(&p->pairs, xy_profile_pair_t, i);

        xy_json_begin_object(j, NULL);
        xy_json_int(j, "from", q->from);
        xy_json_int(j, "to", q->to);
        xy_json_int(j, "bytes", (int64_t)q->bytes);
        xy_json_int(j, "messages", (int64_t)q->messages);
        xy_json_end(j);
    }
    xy_json_end(j);
}

/* Writes calls and bytes by message size. */
static void put_sizes(xy_json_t *j, const xy_analysis_t *a)
{
    xy_json_begin_array(j, "sizes");
    for (uint32_t k = 0; k < XY_PROFILE_CLASSES; k++) {
        if (a->sizes[k].calls == 0)
            continue;
        xy_json_begin_object(j, NULL);
        xy_json_int(j, "from", (int64_t)xy_profile_class_least(k));
        xy_json_int(j, "calls", (int64_t)a->sizes[k].calls);
        xy_json_int(j, "bytes", (int64_t)a->sizes[k].bytes);
        xy_json_end(j);
    }
    xy_json_end(j);
}

/* Writes critical path, late progress and small messages. */
static void put_insight(xy_json_t *j, const xy_profile_t *p)
{
    const xy_insight_t *in = p->insight;

    xy_json_double(j, "critical_path_time", 1e-9 * (double)in->path_ns);
    xy_json_begin_array(j, "critical_path");
    for (size_t i = 0; i < in->path.count; i++) {
        const xy_path_part_t *part = &XY_VEC_AT(&in->path, xy_path_part_t, i);

        xy_json_begin_object(j, NULL);
        xy_json_int(j, "rank", part->rank);
        xy_json_string(j, "kind", part->is_call ? "call" : "computation");
        report_put_site(j, p, part->site);
        xy_json_double(j, "time", 1e-9 * (double)part->ns);
        xy_json_double(j, "share", report_percent((double)part->ns, (double)in->path_ns) / 100);
        xy_json_end(j);
    }
    xy_json_end(j);
    xy_json_begin_array(j, "late_progress");
    for (size_t i = 0; i < in->late.count; i++) {
        const xy_late_t *late = &XY_VEC_AT(&in->late, xy_late_t, i);

        xy_json_begin_object(j, NULL);
        xy_json_int(j, "rank", late->rank);
        report_put_site(j, p, late->site);
        xy_json_int(j, "calls", (int64_t)late->calls);
        xy_json_double(j, "time", 1e-9 * (double)late->ns);
        xy_json_end(j);
    }
    xy_json_end(j);
    xy_json_begin_array(j, "small_messages");
    for (size_t i = 0; i < in->small.count; i++) {
        const xy_small_t *small = &XY_VEC_AT(&in->small, xy_small_t, i);

        xy_json_begin_object(j, NULL);
        xy_json_int(j, "rank", small->rank);
        report_put_site(j, p, small->site);
        xy_json_int(j, "messages", (int64_t)small->messages);
        xy_json_int(j, "bytes", (int64_t)small->bytes);
        xy_json_double(j, "time", 1e-9 * (double)small->ns);
        xy_json_end(j);
    }
    xy_json_end(j);
}

void xy_report_json(const xy_analysis_t *a, FILE *file)
{
    xy_json_t j;

    xy_json_init(&j, file, true);
    xy_json_begin_object(&j, NULL);
    xy_json_string(&j, "program", a->profile->program);
    xy_json_string(&j, "finding", a->finding);
    xy_json_string(&j, "clock", a->profile->is_virtual ? "virtual" : "real");
    xy_json_int(&j, "ranks", (int64_t)a->profile->ranks.count);
    xy_json_int(&j, "cores", a->cores);
    xy_json_double(&j, "run", a->run);
    xy_json_double(&j, "computation", a->compute);
    xy_json_double(&j, "waiting", a->wait);
    put_parts(&j, a->part);
    xy_json_int(&j, "culprit", a->culprit);
    report_put_efficiency(&j, &a->efficiency);
    xy_json_begin_array(&j, "calls");
    for (size_t i = 0; i < a->site_count; i++)
        put_call(&j, a->profile, &a->sites[i]);
    xy_json_end(&j);
    put_ranks(&j, a);
    put_sizes(&j, a);
    put_pairs(&j, a->profile);
    if (a->profile->insight != NULL)
        put_insight(&j, a->profile);
    xy_json_end(&j);
}

/* Quotes in a field are doubled. */
static void put_field(const char *text, FILE *file)
{
    if (strpbrk(text, ",\"") == NULL) {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

void xy_report_csv(const xy_profile_t *p, FILE *file)
{
    fputs("rank,function,place,members,size_from,calls,bytes,computation_before", file);
    for (int i = 0; i < XY_PARTS; i++)
        fprintf(file, ",%s", keys[i]);
    fputs(",time,blamed_rank\n", file);
    for (size_t k = 0; k < p->records.count; k++) {
        const xy_profile_record_t *r = &XY_VEC_AT(&p->records, xy_profile_record_t, k);
        const xy_profile_site_t *s = &XY_VEC_AT(&p->sites, xy_profile_site_t, r->site);

        fprintf(file, "%u,%s,", r->rank, s->function);
        put_field(s->place, file);
        fprintf(file, ",%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.9f", r->members,
                xy_profile_class_least(r->size_class), r->calls, r->bytes,
                1e-9 * (double)r->compute);
        for (int i = 0; i < XY_PARTS; i++)
            fprintf(file, ",%.9f", 1e-9 * (double)r->part[i]);
        fprintf(file, ",%.9f,", 1e-9 * (double)xy_profile_time(r));
        if (r->blame[0].ns > 0 && r->blame[0].rank >= 0)
            fprintf(file, "%d", r->blame[0].rank);
        fputc('\n', file);
    }
}
