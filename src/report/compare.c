/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draw/draw.h"
#include "report/report_internal.h"

enum { LINES = 15 };
#define SAME 0.005 /* of the run: such a difference is not named */

static const char *const kinds[XY_LINE_KINDS] = {"computation", "waiting", "in the call"};
static const char *const keys[XY_LINE_KINDS] = {"computation", "waiting", "moving"};

static const xy_line_change_t *line_at(const xy_comparison_t *c, size_t i)
{
    return &XY_VEC_AT(&c->lines, xy_line_change_t, i);
}

/* ---- Lines ---- */

static int by_change(const void *left, const void *right)
{
    double a = fabs(((const xy_line_change_t *)left)->change),
           b = fabs(((const xy_line_change_t *)right)->change);

    return a > b ? -1 : a < b;
}

static void add_site(xy_line_change_t *l, const xy_site_time_t *s, double ranks, bool is_after)
{
    const double values[XY_LINE_KINDS] = {s->compute, s->wait, s->time - s->wait};

    for (int k = 0; k < XY_LINE_KINDS; k++) {
        (is_after ? l->after : l->before)[k] += values[k] / ranks;
        l->change += (is_after ? 1 : -1) * values[k] / ranks;
    }
    *(is_after ? &l->most_after : &l->most_before) = s->most_compute;
    if (is_after)
        l->most_rank = s->most_rank;
}

/* Add all call sites of a run to the lines; false: memory ran out. */
static bool add(xy_vec_t *lines, xy_hash_t *index, const xy_analysis_t *a, bool is_after)
{
    double ranks = fmax(1, (double)a->profile->ranks.count);

    for (size_t i = 0; i < a->site_count; i++) {
        const xy_site_time_t *s = &a->sites[i];
        const xy_profile_site_t *site = &XY_VEC_AT(&a->profile->sites, xy_profile_site_t, s->site);
        /* function and place stand one after the other in one string: see xy_profile_site */
        const char *key = site->place - strlen(site->function) - 1;
        uintptr_t at = (uintptr_t)xy_hash_get(index, XY_HASH_KEY(key));

        if (at == 0) {
            xy_line_change_t fresh = {.profile = a->profile, .site = s->site};

            if (xy_vec_append(lines, &fresh) != XY_OK ||
                xy_hash_set(index, XY_HASH_KEY(key), (void *)(uintptr_t)lines->count) != XY_OK)
                return false;
            at = lines->count;
        }
        add_site(&XY_VEC_AT(lines, xy_line_change_t, at - 1), s, ranks, is_after);
    }
    return true;
}

/* ---- The finding ---- */

/* The part of a line in a change of the run: of computation, that of the rank which computes
 * longest, as others wait for it. */
static double weight_of(const xy_line_change_t *l, int kind)
{
    return kind == XY_LINE_COMPUTE ? l->most_after - l->most_before
                                   : l->after[kind] - l->before[kind];
}

/* The line and kind that change most in the direction of the run; NULL: none does. */
static const xy_line_change_t *find_most(const xy_comparison_t *c, double sign, int *kind_p)
{
    const xy_line_change_t *found = NULL;
    double most = 0;

    for (size_t i = 0; i < c->lines.count; i++)
        for (int k = 0; k < XY_LINE_KINDS; k++)
            if (sign * weight_of(line_at(c, i), k) > most) {
                most = sign * weight_of(line_at(c, i), k);
                *kind_p = k;
                found = line_at(c, i);
            }
    return found;
}

/* "1 s more computation of rank 2 before MPI_Send at ring.c:12" */
static void describe_change(const xy_line_change_t *l, int kind, char *text, size_t size)
{
    double change = weight_of(l, kind);
    const char *sign = change > 0 ? "more" : "less";
    char where[256], seconds[32];

    xy_site_describe(l->profile, l->site, where, sizeof(where));
    xy_format_seconds(fabs(change), seconds);
    if (kind == XY_LINE_COMPUTE)
        snprintf(text, size, "%s %s computation of rank %u before %s", seconds, sign, l->most_rank,
                 where);
    else
        snprintf(text, size, "%s %s %s %s", seconds, sign,
                 kind == XY_LINE_WAIT ? "waiting in" : "time in", where);
}

/* Put the main result into one sentence. */
static void find(xy_comparison_t *c)
{
    double before = c->before->run, after = c->after->run, sign = after > before ? 1 : -1;
    const xy_line_change_t *most;
    char what[384], text[2][32];
    int n, kind = 0;

    if (fabs(after - before) <= SAME * before) {
        snprintf(c->finding, sizeof(c->finding), "the run takes %s, as before",
                 xy_format_seconds(after, text[0]));
        return;
    }
    n = snprintf(c->finding, sizeof(c->finding), "the run takes %s instead of %s (%.2f times)",
                 xy_format_seconds(after, text[0]), xy_format_seconds(before, text[1]),
                 before > 0 ? after / before : 1);
    most = find_most(c, sign, &kind);
    if (most == NULL)
        return;
    describe_change(most, kind, what, sizeof(what));
    snprintf(c->finding + n, sizeof(c->finding) - (size_t)n, "; %s %s",
             2 * sign * weight_of(most, kind) > fabs(after - before) ? "most of it is"
                                                                     : "the largest part is",
             what);
}

xy_status_t xy_comparison_create(const xy_analysis_t *before, const xy_analysis_t *after,
                                 xy_comparison_t **comparison_p)
{
    xy_comparison_t *c = xy_calloc(1, sizeof(*c));
    xy_hash_t index;
    bool is_good = c != NULL;

    xy_hash_init(&index, XY_HASH_STRING);
    if (is_good) {
        *c = (xy_comparison_t){before, after, XY_VEC_INIT(xy_line_change_t), ""};
        is_good = add(&c->lines, &index, before, false) && add(&c->lines, &index, after, true);
    }
    xy_hash_cleanup(&index);
    if (!is_good) {
        xy_comparison_destroy(c);
        return xy_fail_memory("comparing profiles");
    }
    if (c->lines.count > 0)
        qsort(c->lines.data, c->lines.count, sizeof(xy_line_change_t), by_change);
    find(c);
    *comparison_p = c;
    return XY_OK;
}

void xy_comparison_destroy(xy_comparison_t *c)
{
    if (c == NULL)
        return;
    xy_vec_cleanup(&c->lines);
    xy_free(c);
}

/* ---- Output ---- */

/* "+1.5 ms" */
static const char *signed_seconds(double seconds, char text[40])
{
    char value[32];

    snprintf(text, 40, "%s%s", seconds < 0 ? "-" : "+", xy_format_seconds(fabs(seconds), value));
    return text;
}

void xy_comparison_text(const xy_comparison_t *c, FILE *file)
{
    const xy_efficiency_t *b = &c->before->efficiency, *a = &c->after->efficiency;
    char text[40], where[256];

    fprintf(file, "%s\n", c->finding);
    fprintf(file,
            "parallel efficiency %.1f %% -> %.1f %%, load balance %.1f %% -> %.1f %%, "
            "communication %.1f %% -> %.1f %%\n",
            100 * b->parallel, 100 * a->parallel, 100 * b->load_balance, 100 * a->load_balance,
            100 * b->communication, 100 * a->communication);
    fprintf(file, "%10s", "");
    for (int k = 0; k < XY_LINE_KINDS; k++)
        fprintf(file, " %19s", kinds[k]);
    fprintf(file, "\n%10s", "change");
    for (int k = 0; k < XY_LINE_KINDS; k++)
        fprintf(file, " %9s %9s", "before", "after");
    fputs("  call (time of a rank)\n", file);
    for (size_t i = 0; i < c->lines.count && i < LINES; i++) {
        const xy_line_change_t *l = line_at(c, i);

        fprintf(file, "%10s", signed_seconds(l->change, text));
        for (int k = 0; k < XY_LINE_KINDS; k++) {
            fprintf(file, " %9s", xy_format_seconds(l->before[k], text));
            fprintf(file, " %9s", xy_format_seconds(l->after[k], text));
        }
        fprintf(file, "  %s\n", xy_site_describe(l->profile, l->site, where, sizeof(where)));
    }
}

static void put_run(xy_json_t *j, const char *key, const xy_analysis_t *a)
{
    xy_json_begin_object(j, key);
    xy_fields(j, "program %s ranks %lu run %g", a->profile->program, a->profile->ranks.count,
              a->run);
    report_put_efficiency(j, &a->efficiency);
    xy_json_end(j);
}

static void put_kinds(xy_json_t *j, const char *key, const double *values)
{
    xy_json_begin_object(j, key);
    for (int k = 0; k < XY_LINE_KINDS; k++)
        xy_json_double(j, keys[k], values[k]);
    xy_json_end(j);
}

void xy_comparison_json(const xy_comparison_t *c, FILE *file)
{
    xy_json_t j;

    xy_json_init(&j, file, true);
    xy_json_begin_object(&j, NULL);
    xy_json_string(&j, "finding", c->finding);
    put_run(&j, "before", c->before);
    put_run(&j, "after", c->after);
    xy_json_begin_array(&j, "lines");
    for (size_t i = 0; i < c->lines.count; i++) {
        const xy_line_change_t *l = line_at(c, i);

        xy_json_begin_object(&j, NULL);
        report_put_site(&j, l->profile, l->site);
        xy_json_double(&j, "change", l->change);
        put_kinds(&j, "before", l->before);
        put_kinds(&j, "after", l->after);
        xy_json_end(&j);
    }
    xy_json_end(&j);
    xy_json_end(&j);
}

void xy_comparison_html(const xy_comparison_t *c, FILE *file)
{
    char title[160], text[40];

    snprintf(title, sizeof(title), "%.100s: what changed", c->after->profile->program);
    xy_page_begin(file, &(xy_page_t){.title = title, .finding = c->finding});
    xy_page_heading(file, "Lines");
    xy_page_paragraph(file, "Times of a rank, before and after.");
    xy_page_table_begin(file, NULL,
                        (const char *const[]){"call", "line", "change", "computation before",
                                              "after", "waiting before", "after",
                                              "in the call before", "after", NULL});
    for (size_t i = 0; i < c->lines.count; i++) {
        const xy_line_change_t *l = line_at(c, i);
        const xy_profile_site_t *site = &XY_VEC_AT(&l->profile->sites, xy_profile_site_t, l->site);

        xy_page_line(file);
        xy_page_cell(file, "%s", site->function);
        xy_page_cell(file, "%s", site->place);
        xy_page_cell(file, "%s", signed_seconds(l->change, text));
        for (int k = 0; k < XY_LINE_KINDS; k++) {
            xy_page_cell(file, "%s", xy_format_seconds(l->before[k], text));
            xy_page_cell(file, "%s", xy_format_seconds(l->after[k], text));
        }
    }
    xy_page_table_end(file, NULL);
    xy_page_end(file);
}
