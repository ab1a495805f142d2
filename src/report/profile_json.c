/* SPDX-License-Identifier: BSD-3-Clause */
/* For programs. Times are in seconds. */
#include <math.h>

#include "draw/draw.h"
#include "report/report_internal.h"

static const char *const keys[XY_PARTS] = {"late_sender", "late_receiver", "collective", "lock",
                                           "core",        "transfer",      "library"};

static double seconds(uint64_t ns)
{
    return 1e-9 * (double)ns;
}

static void put_parts(xy_json_t *j, const double part[XY_PARTS])
{
    for (int i = 0; i < XY_PARTS; i++)
        xy_json_double(j, keys[i], part[i]);
}

void report_put_efficiency(xy_json_t *j, const xy_efficiency_t *e)
{
    xy_fields_object(j, "efficiency",
                     "global %g parallel %g load_balance %g communication %g serialization %g "
                     "transfer %g computation_scalability %g",
                     e->global, e->parallel, e->load_balance, e->communication, e->serialization,
                     e->transfer, e->scalability);
}

void report_put_site(xy_json_t *j, const xy_profile_t *p, uint32_t site)
{
    const xy_profile_site_t *s = &XY_VEC_AT(&p->sites, xy_profile_site_t, site);

    xy_fields(j, "function %s place %s", s->function, s->place);
}

/* Writes a call site with its times and blames. */
static void put_call(xy_json_t *j, const xy_profile_t *p, const xy_site_time_t *s)
{
    xy_json_begin_object(j, NULL);
    report_put_site(j, p, s->site);
    xy_fields(j,
              "calls %lu bytes %lu ranks %u computation_before %g most_computation_before %g "
              "most_computation_rank %u time %g waiting %g",
              s->calls, s->bytes, s->ranks, s->compute, s->most_compute, s->most_rank, s->time,
              s->wait);
    put_parts(j, s->part);
    xy_json_begin_array(j, "blames");
    for (int b = 0; b < XY_PROFILE_BLAMES && s->blame[b].ns > 0; b++) {
        xy_json_begin_object(j, NULL);
        xy_json_int(j, "rank", s->blame[b].rank);
        report_put_site(j, p, s->blame[b].site);
        xy_json_double(j, "time", seconds(s->blame[b].ns));
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
        xy_fields(j, "rank %lu core %u run %g computation %g waiting %g", r,
                  XY_VEC_AT(&a->profile->ranks, xy_profile_rank_t, r).core, t->run, t->compute,
                  t->wait);
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

        xy_fields_object(j, NULL, "from %u to %u bytes %lu messages %lu", q->from, q->to, q->bytes,
                         q->messages);
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
        xy_fields_object(j, NULL, "from %lu calls %lu bytes %lu", xy_profile_class_least(k),
                         a->sizes[k].calls, a->sizes[k].bytes);
    }
    xy_json_end(j);
}

/* Writes critical path, late progress and small messages. */
static void put_insight(xy_json_t *j, const xy_profile_t *p)
{
    const xy_insight_t *in = p->insight;

    xy_json_double(j, "critical_path_time", seconds(in->path_ns));
    xy_json_begin_array(j, "critical_path");
    for (size_t i = 0; i < in->path.count; i++) {
        const xy_path_part_t *part = &XY_VEC_AT(&in->path, xy_path_part_t, i);

        xy_json_begin_object(j, NULL);
        xy_fields(j, "rank %u kind %s", part->rank, part->is_call ? "call" : "computation");
        report_put_site(j, p, part->site);
        xy_fields(j, "time %g share %g", seconds(part->ns),
                  report_percent((double)part->ns, (double)in->path_ns) / 100);
        xy_json_end(j);
    }
    xy_json_end(j);
    xy_json_begin_array(j, "late_progress");
    for (size_t i = 0; i < in->late.count; i++) {
        const xy_late_t *late = &XY_VEC_AT(&in->late, xy_late_t, i);

        xy_json_begin_object(j, NULL);
        xy_json_int(j, "rank", late->rank);
        report_put_site(j, p, late->site);
        xy_fields(j, "calls %lu time %g", late->calls, seconds(late->ns));
        xy_json_end(j);
    }
    xy_json_end(j);
    xy_json_begin_array(j, "small_messages");
    for (size_t i = 0; i < in->small.count; i++) {
        const xy_small_t *small = &XY_VEC_AT(&in->small, xy_small_t, i);

        xy_json_begin_object(j, NULL);
        xy_json_int(j, "rank", small->rank);
        report_put_site(j, p, small->site);
        xy_fields(j, "messages %lu bytes %lu time %g", small->messages, small->bytes,
                  seconds(small->ns));
        xy_json_end(j);
    }
    xy_json_end(j);
}

void xy_report_json(const xy_analysis_t *a, FILE *file)
{
    xy_json_t j;

    xy_json_init(&j, file, true);
    xy_json_begin_object(&j, NULL);
    xy_fields(&j,
              "program %s finding %s clock %s ranks %lu cores %u run %g computation %g waiting %g",
              a->profile->program, a->finding, a->profile->is_virtual ? "virtual" : "real",
              a->profile->ranks.count, a->cores, a->run, a->compute, a->wait);
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

_Static_assert(XY_PARTS == 7, "a column for each part");

void xy_report_csv(const xy_profile_t *p, FILE *file)
{
    xy_rows_t rows = {.csv = file};

    for (size_t k = 0; k < p->records.count; k++) {
        const xy_profile_record_t *r = &XY_VEC_AT(&p->records, xy_profile_record_t, k);
        const xy_profile_site_t *s = &XY_VEC_AT(&p->sites, xy_profile_site_t, r->site);

        xy_rows_add(&rows,
                    "rank %u function %s place %s members %u size_from %lu calls %lu bytes %lu "
                    "computation_before %g late_sender %g late_receiver %g collective %g lock %g "
                    "core %g transfer %g library %g time %g blamed_rank %g",
                    r->rank, s->function, s->place, r->members,
                    xy_profile_class_least(r->size_class), r->calls, r->bytes, seconds(r->compute),
                    seconds(r->part[XY_PART_LATE_SENDER]), seconds(r->part[XY_PART_LATE_RECEIVER]),
                    seconds(r->part[XY_PART_COLLECTIVE]), seconds(r->part[XY_PART_LOCK]),
                    seconds(r->part[XY_PART_CORE]), seconds(r->part[XY_PART_TRANSFER]),
                    seconds(r->part[XY_PART_LIBRARY]), seconds(xy_profile_time(r)),
                    r->blame[0].ns > 0 && r->blame[0].rank >= 0 ? r->blame[0].rank : (double)NAN);
    }
}
