/* SPDX-License-Identifier: BSD-3-Clause */
/* One self-contained page: the finding, efficiencies, calls, ranks, sizes, the matrix. */
#include <math.h>
#include <string.h>

#include "draw/draw.h"
#include "place/place.h"
#include "report/report_internal.h"

enum { SITES = 20, BARS = 64 };

static const struct {
    const char *class, *name;
    int part; /* -1: computation */
} kinds[] = {
    {"compute", "computation", -1},
    {"sender", "late sender", XY_PART_LATE_SENDER},
    {"receiver", "late receiver", XY_PART_LATE_RECEIVER},
    {"meeting", "collective", XY_PART_COLLECTIVE},
    {"lock", "lock", XY_PART_LOCK},
    {"core", "core in use", XY_PART_CORE},
    {"moved", "transfer", XY_PART_TRANSFER},
    {"inside", "library", XY_PART_LIBRARY},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static const xy_ink_t inks[] = {
    {".compute", "fill", "#2c7f4f", "#4fb37b"},
    {".sender", "fill", "#c2410c", "#f0803c"},
    {".receiver", "fill", "#b8860b", "#e0b43c"},
    {".meeting", "fill", "#a61e4d", "#e0688f"},
    {".lock", "fill", "#6b2fa0", "#b083dd"},
    {".core", "fill", "#7a7f8a", "#9aa1ad"},
    {".moved", "fill", "#1f6fb2", "#62a8e0"},
    {".inside", "fill", "#3d4f8a", "#8fa0d8"},
    {NULL, NULL, NULL, NULL},
};

static double of_kind(const xy_rank_time_t *t, int kind)
{
    return kinds[kind].part < 0 ? t->compute : t->part[kinds[kind].part];
}

/* ---- Tables ---- */

static void put_leaf(FILE *file, const char *name, double value, const char *meaning)
{
    if (isnan(value))
        return;
    xy_page_line(file);
    xy_page_cell(file, "%s", name);
    xy_page_cell(file, "%.1f %%", 100 * value);
    xy_page_cell(file, "%s", meaning);
}

/* Prints the table of efficiencies. */
static void put_efficiency(const xy_analysis_t *a, FILE *file)
{
    const xy_efficiency_t *e = &a->efficiency;

    xy_page_heading(file, "Efficiency");
    xy_page_table_begin(file, NULL, (const char *const[]){"efficiency", "value", "meaning", NULL});
    put_leaf(file, "global", e->global, "parallel × computation scalability");
    put_leaf(file, "parallel", e->parallel, "load balance × communication");
    put_leaf(file, "– load balance", e->load_balance, "mean / longest computation");
    put_leaf(file, "– communication", e->communication, "longest computation / run time");
    put_leaf(file, "– – serialization", e->serialization,
             "longest computation / run time on an ideal network");
    put_leaf(file, "– – transfer", e->transfer, "run time on an ideal network / run time");
    put_leaf(file, "computation scalability", e->scalability,
             "computation of the smallest run / here");
    xy_page_table_end(file, NULL);
    if (isnan(e->transfer) && a->profile->insight != NULL)
        xy_page_paragraph(file, "Serialization and transfer are not known: the run cannot be "
                                "replayed, or ranks slept.");
    else if (isnan(e->transfer))
        xy_page_paragraph(file, "Serialization and transfer need a trace: mpiexec --trace run.xyt, "
                                "then xylem report run.xyt.");
}

/* Prints a call site as a line of the table. */
static void put_site(const xy_analysis_t *a, const xy_site_time_t *s, FILE *file)
{
    const xy_profile_site_t *site = &XY_VEC_AT(&a->profile->sites, xy_profile_site_t, s->site);
    double all = a->run * (double)a->profile->ranks.count;
    char text[32];

    xy_page_line(file);
    xy_page_cell(file, "%s", site->function);
    xy_page_cell(file, "%s", site->place);
    xy_page_cell(file, "%.1f %%", report_percent(s->time, all));
    xy_page_cell(file, "%s", xy_format_seconds(s->time, text));
    xy_page_cell(file, "%.1f %%", report_percent(s->wait, s->time));
    xy_page_cell(file, "%.0f", (double)s->calls);
    xy_page_cell(file, "%s", xy_format_size(s->calls > 0 ? s->bytes / s->calls : 0, text));
    if (s->blame[0].ns > 0 && s->blame[0].rank >= 0) {
        char where[256];

        xy_page_cell(file, "rank %d, %s", s->blame[0].rank,
                     xy_site_describe(a->profile, s->blame[0].site, where, sizeof(where)));
    } else {
        xy_page_cell(file, "%s", "");
    }
    xy_page_cell(file, "%s", xy_format_seconds(s->compute, text));
    if (s->most_compute > 0)
        xy_page_cell(file, "rank %u", s->most_rank);
    else
        xy_page_cell(file, "%s", "");
}

static void put_sites(const xy_analysis_t *a, FILE *file)
{
    xy_page_heading(file, "Calls");
    xy_page_table_begin(file, NULL,
                        (const char *const[]){"call", "line", "of all", "time", "waiting", "calls",
                                              "mean size", "waits most for", "computation before",
                                              "most by", NULL});
    for (size_t i = 0; i < a->site_count && i < SITES; i++)
        put_site(a, &a->sites[i], file);
    xy_page_table_end(file, NULL);
}

/* Prints the longest parts of the critical path. */
static void put_path(const xy_analysis_t *a, FILE *file)
{
    const xy_insight_t *in = a->profile->insight;

    xy_page_heading(file, "Critical path");
    xy_page_paragraph(file, "The run gets shorter only if this path does; its parts cover each "
                            "moment of the run once.");
    xy_page_table_begin(file, NULL,
                        (const char *const[]){"of the path", "time", "rank", "what", NULL});
    for (size_t i = 0; i < in->path.count && i < SITES; i++) {
        const xy_path_part_t *part = &XY_VEC_AT(&in->path, xy_path_part_t, i);
        char text[320];

        xy_page_line(file);
        xy_page_cell(file, "%.1f %%", report_percent((double)part->ns, (double)in->path_ns));
        xy_page_cell(file, "%s", xy_format_seconds(1e-9 * (double)part->ns, text));
        xy_page_cell(file, "%u", part->rank);
        xy_page_cell(file, "%s", report_part(a->profile, part, text, sizeof(text)));
    }
    xy_page_table_end(file, NULL);
}

/* Prints the calls with the most late progress. */
static void put_late(const xy_analysis_t *a, FILE *file)
{
    const xy_insight_t *in = a->profile->insight;

    xy_page_heading(file, "Late progress");
    xy_page_paragraph(file, "Data moved in these calls that had been ready while the rank "
                            "computed.");
    xy_page_table_begin(file, NULL, (const char *const[]){"time", "rank", "calls", "call", NULL});
    for (size_t i = 0; i < in->late.count && i < SITES; i++) {
        const xy_late_t *late = &XY_VEC_AT(&in->late, xy_late_t, i);
        char text[320];

        xy_page_line(file);
        xy_page_cell(file, "%s", xy_format_seconds(1e-9 * (double)late->ns, text));
        xy_page_cell(file, "%u", late->rank);
        xy_page_cell(file, "%.0f", (double)late->calls);
        xy_page_cell(file, "%s", xy_site_describe(a->profile, late->site, text, sizeof(text)));
    }
    xy_page_table_end(file, NULL);
}

/* Prints calls and bytes by message size. */
static void put_sizes(const xy_analysis_t *a, FILE *file)
{
    char text[32];

    xy_page_heading(file, "Message sizes");
    xy_page_table_begin(file, NULL, (const char *const[]){"from", "calls", "bytes", NULL});
    for (uint32_t k = 0; k < XY_PROFILE_CLASSES; k++) {
        if (a->sizes[k].calls == 0)
            continue;
        xy_page_line(file);
        xy_page_cell(file, "%s", xy_format_size(xy_profile_class_least(k), text));
        xy_page_cell(file, "%.0f", (double)a->sizes[k].calls);
        xy_page_cell(file, "%s", xy_format_size(a->sizes[k].bytes, text));
    }
    xy_page_table_end(file, NULL);
}

/* ---- Pictures ---- */

/* The mean of the ranks of one bar. */
static xy_rank_time_t mean_of(const xy_analysis_t *a, size_t first, size_t end)
{
    xy_rank_time_t sum = {0};

    for (size_t r = first; r < end; r++) {
        sum.compute += a->ranks[r].compute / (double)(end - first);
        for (int i = 0; i < XY_PARTS; i++)
            sum.part[i] += a->ranks[r].part[i] / (double)(end - first);
    }
    return sum;
}

/* Draws the mean time of ranks [first, end) as one bar of coloured parts. */
static void put_bar(const xy_svg_t *svg, const xy_analysis_t *a, size_t first, size_t end, double y,
                    double high, double left, double wide)
{
    xy_rank_time_t t = mean_of(a, first, end);
    double x = left;

    for (int k = 0; k < KINDS; k++) {
        double w = a->run > 0 ? wide * of_kind(&t, k) / a->run : 0;
        char tip[128], text[32], who[64];

        if (end - first > 1)
            snprintf(who, sizeof(who), "ranks %zu to %zu, mean", first, end - 1);
        else
            snprintf(who, sizeof(who), "rank %zu", first);
        snprintf(tip, sizeof(tip), "%s: %s %s", who, kinds[k].name,
                 xy_format_seconds(of_kind(&t, k), text));
        if (w > 0.05)
            xy_svg_rect(svg, kinds[k].class, x, y, w, high, tip);
        x += w;
    }
}

/* Draws one bar per rank, at most BARS. */
static void put_ranks(const xy_analysis_t *a, FILE *file)
{
    size_t n = a->profile->ranks.count, bars = n < BARS ? n : BARS;
    double high = bars > 24 ? 5 : 16, gap = bars > 24 ? 1 : 2, left = 60, wide = 620, top = 40;
    double bottom;
    xy_axis_t across = {.high = a->run, .from = left, .to = left + wide};
    xy_legend_t legend[KINDS];
    size_t used = 0;
    xy_svg_t svg;

    for (int k = 0; k < KINDS; k++)
        if (kinds[k].part < 0 || a->part[kinds[k].part] > 0.0005 * a->run * (double)n)
            legend[used++] = (xy_legend_t){kinds[k].name, kinds[k].class, XY_LEGEND_BOX};
    top += xy_legend_height(wide, legend, used);
    bottom = top + (double)bars * (high + gap);
    xy_page_heading(file, n > bars ? "Ranks (each bar is the mean of several)" : "Ranks");
    svg = xy_svg_begin(file, &(xy_svg_head_t){.width = left + wide + 20,
                                              .height = bottom + 24,
                                              .title = "time of each rank",
                                              .inks = inks,
                                              .is_embedded = true});
    xy_svg_legend(&svg, left, 10, wide, legend, used);
    if (a->run > 0)
        xy_axis_draw_across(&svg, &across, 6, top, bottom, xy_tick_seconds);
    for (size_t b = 0; b < bars; b++) {
        size_t first = b * n / bars, end = (b + 1) * n / bars;
        double y = top + (double)b * (high + gap);

        if (bars <= 24 || b % 8 == 0)
            xy_svg_text(&svg, "end note", left - 6, y + fmax(high - 3, 8), "%zu", first);
        put_bar(&svg, a, first, end, y, high, left, wide);
    }
    xy_svg_end(&svg);
}

/* Draws the matrix of bytes between ranks. */
static xy_status_t put_matrix(const xy_analysis_t *a, FILE *file)
{
    const xy_vec_t *pairs = &a->profile->pairs;
    xy_matrix_entry_t *entries = xy_calloc(pairs->count + 1, sizeof(*entries));
    xy_matrix_t *m;
    xy_status_t st;

    if (entries == NULL)
        return xy_fail_memory("drawing a report");
    for (size_t i = 0; i < pairs->count; i++) {
        const xy_profile_pair_t *q = &XY_VEC_AT(pairs, xy_profile_pair_t, i);

        entries[i] = (xy_matrix_entry_t){q->from, q->to, (double)q->bytes, (double)q->messages};
    }
    st = xy_matrix_build((uint32_t)a->profile->ranks.count, entries, pairs->count, true, &m);
    xy_free(entries);
    if (st != XY_OK)
        return st == XY_ENOMEM ? xy_fail_memory("drawing a report") : st;
    xy_page_heading(file, "Who sends to whom");
    st = xy_matrix_print_svg(m, XY_METRIC_SIZE, "bytes from rank to rank", file);
    xy_matrix_destroy(m);
    return st;
}

xy_status_t xy_report_html(const xy_analysis_t *a, FILE *file)
{
    char title[160], run[32];
    xy_status_t st = XY_OK;

    snprintf(title, sizeof(title), "%.100s: where the time went", a->profile->program);
    xy_page_begin(file, &(xy_page_t){.title = title, .finding = a->finding, .inks = inks});
    xy_page_paragraph(file, "%s%s on %zu rank%s and %u core%s.", xy_format_seconds(a->run, run),
                      a->profile->is_virtual ? " of virtual time" : "", a->profile->ranks.count,
                      xy_s(a->profile->ranks.count), a->cores, xy_s(a->cores));
    put_efficiency(a, file);
    put_ranks(a, file);
    put_sites(a, file);
    if (a->profile->insight != NULL)
        put_path(a, file);
    if (a->profile->insight != NULL && a->profile->insight->late.count > 0)
        put_late(a, file);
    put_sizes(a, file);
    if (a->profile->pairs.count > 0)
        st = put_matrix(a, file);
    xy_page_end(file);
    return st;
}
