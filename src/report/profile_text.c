/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "report/report_internal.h"

enum { SITES = 10, FEW = 3, CULPRITS = 3, RANKS = 16 };
#define LITTLE 0.0005 /* of all time: such calls are left out, but for a few */
#define WORTH  0.01   /* of the run: late progress and small messages of a rank are shown */

static double all_time(const xy_analysis_t *a)
{
    return a->run * (double)a->profile->ranks.count;
}

/* Prints run time, ranks, cores and the shares of time. */
static void put_run(const xy_analysis_t *a, FILE *file)
{
    double all = all_time(a);
    char run[32];

    fprintf(file, "run         %s%s on %zu rank%s", xy_format_seconds(a->run, run),
            a->profile->is_virtual ? " of virtual time" : "", a->profile->ranks.count,
            a->profile->ranks.count == 1 ? "" : "s");
    if (a->cores != a->profile->ranks.count)
        fprintf(file, " and %u core%s", a->cores, a->cores == 1 ? "" : "s");
    fprintf(file, ": %.1f %% computation, %.1f %% waiting, %.1f %% transfer, %.1f %% library\n",
            report_percent(a->compute, all), report_percent(a->wait, all),
            report_percent(a->part[XY_PART_TRANSFER], all),
            report_percent(a->part[XY_PART_LIBRARY], all));
}

static void put_efficiency(const xy_efficiency_t *e, FILE *file)
{
    fprintf(file, "efficiency  parallel %.1f %% = load balance %.1f %% x communication %.1f %%\n",
            100 * e->parallel, 100 * e->load_balance, 100 * e->communication);
}

static void put_waits(const xy_analysis_t *a, FILE *file)
{
    const char *separator = "waiting     ";

    for (int i = 0; i < XY_PART_WAITS; i++)
        if (a->part[i] > 0) {
            fprintf(file, "%s%s %.1f %%", separator, xy_part_names[i],
                    report_percent(a->part[i], a->wait));
            separator = ", ";
        }
    if (a->wait > 0)
        fputc('\n', file);
}

/* Prints the ranks with least and most computation. */
static void put_ranks(const xy_analysis_t *a, FILE *file)
{
    size_t n = a->profile->ranks.count, least = 0, most = 0;
    char low[32], high[32];

    for (size_t r = 1; r < n; r++) {
        if (a->ranks[r].compute < a->ranks[least].compute)
            least = r;
        if (a->ranks[r].compute > a->ranks[most].compute)
            most = r;
    }
    if (n > 1)
        fprintf(file, "computation %s (rank %zu) to %s (rank %zu)\n",
                xy_format_seconds(a->ranks[least].compute, low), least,
                xy_format_seconds(a->ranks[most].compute, high), most);
}

/* Print the ranks that are waited for most. */
static void put_culprits(const xy_analysis_t *a, FILE *file)
{
    double limit = INFINITY;

    for (int i = 0; i < CULPRITS; i++) {
        double most = 0;

        for (size_t r = 0; r < a->profile->ranks.count; r++)
            if (a->ranks[r].blamed > most && a->ranks[r].blamed < limit)
                most = a->ranks[r].blamed;
        limit = most;
        if (most < 0.05 * a->wait || most <= 0)
            break;
        for (size_t r = 0; r < a->profile->ranks.count; r++)
            if (a->ranks[r].blamed == most) {
                fprintf(file, "%s rank %zu: %.1f %%\n", i == 0 ? "waited for " : "           ", r,
                        report_percent(most, a->wait));
                break;
            }
    }
}

static void put_site(const xy_analysis_t *a, const xy_site_time_t *s, FILE *file)
{
    char where[256], bytes[32], time[32], last[96] = "";

    if (s->blame[0].ns > 0 && s->blame[0].rank >= 0 && s->wait > 0)
        snprintf(last, sizeof(last), "rank %d", s->blame[0].rank);
    fprintf(file, "%6.1f %% %9s %6.1f %% %9.4g %10s  %-9s %s\n",
            report_percent(s->time, all_time(a)), xy_format_seconds(s->time, time),
            report_percent(s->wait, s->time), (double)s->calls,
            xy_format_size(s->calls > 0 ? s->bytes / s->calls : 0, bytes), last,
            xy_site_describe(a->profile, s->site, where, sizeof(where)));
}

static void put_sites(const xy_analysis_t *a, FILE *file)
{
    if (a->site_count > 0)
        fprintf(file, "%8s %9s %8s %9s %10s  %-9s %s\n", "of all", "time", "waiting", "calls",
                "mean size", a->profile->has_roots ? "caused by" : "blames", "call");
    for (size_t i = 0; i < a->site_count && i < SITES; i++)
        if (i < FEW || a->sites[i].time >= LITTLE * all_time(a))
            put_site(a, &a->sites[i], file);
}

void xy_report_brief(const xy_analysis_t *a, FILE *file)
{
    fprintf(file, "%s\n", a->finding);
    put_run(a, file);
    put_efficiency(&a->efficiency, file);
    put_waits(a, file);
    put_ranks(a, file);
    put_culprits(a, file);
    put_sites(a, file);
}

/* ---- All of it ---- */

static void put_leaf(const char *name, double value, const char *meaning, FILE *file)
{
    if (isnan(value))
        return;
    fprintf(file, "  %-28s %6.1f %%  %s\n", name, 100 * value, meaning);
}

/* Prints the efficiencies, indented as factors. */
static void put_tree(const xy_analysis_t *a, FILE *file)
{
    const xy_efficiency_t *e = &a->efficiency;

    fputs("\nEfficiency\n", file);
    put_leaf("global", e->global, "parallel x computation scalability", file);
    put_leaf("parallel", e->parallel, "load balance x communication", file);
    put_leaf("  load balance", e->load_balance, "mean / longest computation", file);
    put_leaf("  communication", e->communication, "longest computation / run time", file);
    put_leaf("    serialization", e->serialization,
             "longest computation / run time on an ideal network", file);
    put_leaf("    transfer", e->transfer, "run time on an ideal network / run time", file);
    put_leaf("computation scalability", e->scalability, "computation of the smallest run / here",
             file);
    if (isnan(e->transfer) && a->profile->insight != NULL)
        fputs("  Serialization and transfer are not known: the run cannot be replayed, or ranks "
              "slept\n",
              file);
    else if (isnan(e->transfer))
        fputs("  Serialization and transfer need a trace: mpiexec --trace run.xyt ..., then\n"
              "  xylem report run.xyt\n",
              file);
}

const char *report_part(const xy_profile_t *p, const xy_path_part_t *part, char *text, size_t size)
{
    char where[256];

    snprintf(text, size, "%s %s", part->is_call ? "in" : "computes before",
             xy_site_describe(p, part->site, where, sizeof(where)));
    return text;
}

/* Prints the critical path, down to parts of little time. */
static void put_path(const xy_analysis_t *a, FILE *file)
{
    const xy_insight_t *in = a->profile->insight;

    if (in == NULL) {
        fputs("\nCritical path, late progress and root causes need a trace, too.\n", file);
        return;
    }
    fputs("\nCritical path\n", file);
    for (size_t i = 0; i < in->path.count && i < SITES; i++) {
        const xy_path_part_t *part = &XY_VEC_AT(&in->path, xy_path_part_t, i);
        double share = report_percent((double)part->ns, (double)in->path_ns);
        char time[32], text[320];

        if (i >= FEW && share < 100 * LITTLE)
            break;
        fprintf(file, "  %5.1f %% %10s  rank %-6u %s\n", share,
                xy_format_seconds(1e-9 * (double)part->ns, time), part->rank,
                report_part(a->profile, part, text, sizeof(text)));
    }
}

/* Only what takes one percent of all time, or more. */
static void put_late(const xy_analysis_t *a, FILE *file)
{
    const xy_insight_t *in = a->profile->insight;
    const char *title = "\nLate progress: data was ready while the rank computed\n";
    char time[32], size[32], where[256];

    for (size_t i = 0; in != NULL && i < in->late.count && i < SITES; i++) {
        const xy_late_t *late = &XY_VEC_AT(&in->late, xy_late_t, i);

        if (1e-9 * (double)late->ns < WORTH * a->run)
            break;
        fprintf(file, "%s  %10s  rank %-6u %s\n", title,
                xy_format_seconds(1e-9 * (double)late->ns, time), late->rank,
                xy_site_describe(a->profile, late->site, where, sizeof(where)));
        title = "";
    }
    title = "\nSmall messages that follow each other to one rank\n";
    for (size_t i = 0; in != NULL && i < in->small.count && i < SITES; i++) {
        const xy_small_t *small = &XY_VEC_AT(&in->small, xy_small_t, i);

        if (1e-9 * (double)small->ns < WORTH * a->run)
            break;
        fprintf(file, "%s  %10s  rank %-6u %.0f messages of %s on average, %s\n", title,
                xy_format_seconds(1e-9 * (double)small->ns, time), small->rank,
                (double)small->messages,
                xy_format_size(small->bytes / (uint64_t)small->messages, size),
                xy_site_describe(a->profile, small->site, where, sizeof(where)));
        title = "";
    }
}

/* Prints the times of the ranks, at most RANKS of them at even distances. */
static void put_imbalance(const xy_analysis_t *a, FILE *file)
{
    size_t n = a->profile->ranks.count, step = n > RANKS ? (n + RANKS - 1) / RANKS : 1;

    fputs("\nRanks\n", file);
    fprintf(file, "  %8s %12s %12s %12s %12s %12s\n", "rank", "computation", "waiting", "transfer",
            "library", "waited for");
    for (size_t r = 0; r < n; r += step) {
        const xy_rank_time_t *t = &a->ranks[r];
        char text[5][32];

        fprintf(file, "  %8zu %12s %12s %12s %12s %12s\n", r,
                xy_format_seconds(t->compute, text[0]), xy_format_seconds(t->wait, text[1]),
                xy_format_seconds(t->part[XY_PART_TRANSFER], text[2]),
                xy_format_seconds(t->part[XY_PART_LIBRARY], text[3]),
                xy_format_seconds(t->blamed, text[4]));
    }
    if (step > 1)
        fprintf(file, "  one of every %zu ranks of %zu; --csv prints all\n", step, n);
}

static void put_sizes(const xy_analysis_t *a, FILE *file)
{
    fputs("\nSizes\n", file);
    fprintf(file, "  %12s %12s %12s\n", "from", "calls", "bytes");
    for (uint32_t k = 0; k < XY_PROFILE_CLASSES; k++) {
        char least[32], sum[32];

        if (a->sizes[k].calls > 0)
            fprintf(file, "  %12s %12.6g %12s\n", xy_format_size(xy_profile_class_least(k), least),
                    (double)a->sizes[k].calls, xy_format_size(a->sizes[k].bytes, sum));
    }
}

/* Prints the sum of all messages and the pair with most bytes. */
static void put_pairs(const xy_analysis_t *a, FILE *file)
{
    const xy_vec_t *pairs = &a->profile->pairs;
    const xy_profile_pair_t *most = NULL;
    double bytes = 0, messages = 0;
    char sum[32], heaviest[32];

    for (size_t i = 0; i < pairs->count; i++) {
        const xy_profile_pair_t *q = &XY_VEC_AT(pairs, xy_profile_pair_t, i);

        bytes += (double)q->bytes;
        messages += (double)q->messages;
        if (most == NULL || q->bytes > most->bytes)
            most = q;
    }
    if (most != NULL)
        fprintf(file,
                "\nMessages: %s in %.0f messages between %zu pairs of ranks; most from %u to %u, "
                "%s\n",
                xy_format_size((uint64_t)bytes, sum), messages, pairs->count, most->from, most->to,
                xy_format_size(most->bytes, heaviest));
}

void xy_report_text(const xy_analysis_t *a, FILE *file)
{
    xy_report_brief(a, file);
    put_tree(a, file);
    put_path(a, file);
    put_late(a, file);
    put_imbalance(a, file);
    put_sizes(a, file);
    put_pairs(a, file);
}
