/* SPDX-License-Identifier: BSD-3-Clause */
/* The main result of a profile in one sentence. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_internal.h"

/* Shares from which something is worth a sentence. */
#define LITTLE  0.05 /* of all time */
#define CULPRIT 0.25 /* of the waiting */
#define ALONE   1.3  /* times as much as the next rank is blamed for */
#define IN_TURN 1.5  /* cores that compute at a time, on average */
#define EQUAL   0.8  /* of what the culprit computes more than the others */

/* "two thirds", "nearly all", "41 %". */
static const char *share_of(double share, char text[32])
{
    static const struct {
        double least, most;
        const char *words;
    } known[] = {{0.95, 2, "nearly all"},    {0.72, 0.78, "three quarters"},
                 {0.63, 0.71, "two thirds"}, {0.47, 0.53, "half"},
                 {0.31, 0.36, "a third"},    {0.23, 0.27, "a quarter"}};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (share >= known[i].least && share <= known[i].most)
            return known[i].words;
    snprintf(text, 32, "%.0f %%", 100 * share);
    return text;
}

double report_percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

enum { NAMED = 4 }; /* ranks in one sentence */

/* The computation by which one rank, or some that are equal, exceed the others before one site. */
typedef struct {
    uint32_t site;
    double excess, ratio; /* ratio 0: the others do not come there */
    uint32_t ranks[NAMED], count;
} excess_t;

/* The computation of all ranks before a site. */
static void computed_before(const xy_analysis_t *a, uint32_t site, double *of_rank)
{
    const xy_profile_t *p = a->profile;

    memset(of_rank, 0, p->ranks.count * sizeof(*of_rank));
    for (size_t i = 0; i < p->records.count; i++) {
        const xy_profile_record_t *r = &XY_VEC_AT(&p->records, xy_profile_record_t, i);

        if (r->site == site)
            of_rank[r->rank] += 1e-9 * (double)r->compute;
    }
}

/* The computation of a rank beyond the mean of all, in the whole run: there may be calls that only
 * it makes, and others that the rest makes. */
static double whole_excess(const xy_analysis_t *a, uint32_t rank)
{
    return a->ranks[rank].compute - a->compute / (double)a->profile->ranks.count;
}

/* Lists the ranks that compute nearly as much more than the others as `rank` does, there or, if
 * they do not come there, in the whole run, and compares them with the rest. More than NAMED of
 * them, or half of all, are not named: `count` is their number then, and the rest is as it was. */
static void find_equals(const xy_analysis_t *a, uint32_t rank, excess_t *e)
{
    size_t n = a->profile->ranks.count;
    double *own = xy_calloc(n, sizeof(*own)), least, equals = 0, others = 0, there = 0;
    double whole = whole_excess(a, rank);

    e->ranks[0] = rank;
    e->count = 1;
    if (own == NULL)
        return;
    computed_before(a, e->site, own);
    least = own[rank] - (1 - EQUAL) * e->excess;
    e->count = 0;
    for (uint32_t r = 0; r < n; r++)
        if (own[r] >= least || (own[r] <= 0 && whole > 0 && whole_excess(a, r) >= EQUAL * whole)) {
            if (e->count < NAMED)
                e->ranks[e->count] = r;
            e->count++;
            there += own[r] > 0;
            equals += own[r];
        } else {
            others += own[r];
        }
    if (e->count > 1 && e->count <= NAMED && 2 * e->count <= n) {
        others /= (double)(n - e->count);
        e->excess = equals / there - others;
        e->ratio = others > 0 ? equals / there / others : 0;
    }
    xy_free(own);
}

/* Finds the site at which a rank computes most above the mean of the others; returns false if there
 * is none. */
static bool excess_of(const xy_analysis_t *a, uint32_t rank, excess_t *e)
{
    const xy_profile_t *p = a->profile;
    double *own = xy_calloc(p->sites.count, sizeof(*own));

    *e = (excess_t){0};
    if (own == NULL)
        return false;
    for (size_t i = 0; i < p->records.count; i++) {
        const xy_profile_record_t *r = &XY_VEC_AT(&p->records, xy_profile_record_t, i);

        if (r->rank == rank)
            own[r->site] += 1e-9 * (double)r->compute;
    }
    for (size_t i = 0; i < a->site_count; i++) {
        const xy_site_time_t *s = &a->sites[i];
        double others =
            p->ranks.count > 1 ? (s->compute - own[s->site]) / (double)(p->ranks.count - 1) : 0;

        if (own[s->site] - others > e->excess)
            *e = (excess_t){.site = s->site,
                            .excess = own[s->site] - others,
                            .ratio = others > 0 ? own[s->site] / others : 0};
    }
    xy_free(own);
    if (e->excess <= 0)
        return false;
    find_equals(a, rank, e);
    return true;
}

/* Where the culprit was when others waited for it, by the waits. */
static uint32_t blamed_site(const xy_analysis_t *a, int32_t rank)
{
    xy_blame_t most[XY_PROFILE_BLAMES] = {{0}};

    for (size_t i = 0; i < a->site_count; i++)
        for (int b = 0; b < XY_PROFILE_BLAMES; b++)
            if (a->sites[i].blame[b].rank == rank)
                xy_profile_blame(most, rank, a->sites[i].blame[b].site, a->sites[i].blame[b].ns);
    return most[0].site;
}

static int largest_wait(const xy_analysis_t *a)
{
    int most = 0;

    for (int i = 1; i < XY_PART_WAITS; i++)
        if (a->part[i] > a->part[most])
            most = i;
    return most;
}

/* Do the culprit, or some ranks with it among them, compute so much more than the others that this
 * explains the waiting? */
static bool is_explained(const xy_analysis_t *a, excess_t *e)
{
    size_t n = a->profile->ranks.count;
    double blamed = 0;

    if (a->culprit < 0 || !excess_of(a, (uint32_t)a->culprit, e) || e->count > NAMED ||
        (e->count > 1 && 2 * e->count > n))
        return false;
    for (uint32_t i = 0; i < e->count; i++)
        blamed += a->ranks[e->ranks[i]].blamed;
    return blamed >= CULPRIT * a->wait &&
           fmin(e->excess, whole_excess(a, e->ranks[0])) >= 0.3 * blamed / (double)n;
}

/* Is one rank blamed clearly more than any other? One that works no longer than the others waits as
 * long as they do: then others cause its waits in turn. */
static bool is_alone(const xy_analysis_t *a)
{
    double n = (double)a->profile->ranks.count, next = 0;

    for (size_t r = 0; r < a->profile->ranks.count; r++)
        if ((int32_t)r != a->culprit)
            next = fmax(next, a->ranks[r].blamed);
    return a->culprit >= 0 && a->ranks[a->culprit].blamed >= ALONE * next &&
           a->wait / n - a->ranks[a->culprit].wait >= 0.2 * a->ranks[a->culprit].blamed / n;
}

static void describe_place(const xy_analysis_t *a, uint32_t site, char *text, size_t size)
{
    const xy_profile_site_t *s = &XY_VEC_AT(&a->profile->sites, xy_profile_site_t, site);

    snprintf(text, size, "%s", s->place[0] != '\0' ? s->place : s->function);
}

/* The part of the critical path that is most of the run, where it is computation; or NULL. A delay
 * that wanders from rank to rank is blamed on all of them, but the path is that of its source. */
static const xy_path_part_t *main_path(const xy_analysis_t *a)
{
    const xy_insight_t *in = a->profile->insight;
    const xy_path_part_t *first = in != NULL && in->path.count > 0 ? in->path.data : NULL;

    return first != NULL && !first->is_call && 2 * first->ns > in->path_ns ? first : NULL;
}

/* Do ranks compute one after the other? Then the first one of all is not the cause. */
static bool is_serial(const xy_analysis_t *a)
{
    double computing = a->efficiency.parallel * a->cores;

    return a->profile->ranks.count > 2 && computing < IN_TURN && computing <= 0.75 * a->cores;
}

/* Why there is much waiting, and no culprit: one rank is the critical path all the time, ranks
 * compute in turn, or take turns at being late. */
static void explain_none(const xy_analysis_t *a, double share, const char *place, char *text,
                         size_t size)
{
    double computing = a->efficiency.parallel * a->cores;
    const xy_path_part_t *path = main_path(a);
    char words[32], before[256];

    if (path != NULL) {
        describe_place(a, path->site, before, sizeof(before));
        snprintf(text, size,
                 "%s of it in %s; the critical path is rank %u, which computes for %.0f %% of the "
                 "run before %s",
                 share_of(share, words), place, path->rank,
                 report_percent((double)path->ns, (double)a->profile->insight->path_ns), before);
    } else if (is_serial(a))
        snprintf(text, size,
                 "ranks compute one after the other, %.1f of %u cores at a time; %s of it in %s",
                 computing, a->cores, share_of(share, words), place);
    else
        snprintf(text, size, "%s of it in %s, and no rank alone causes it", share_of(share, words),
                 place);
}

/* "rank 2 computes", "ranks 2 and 5 compute". */
static void describe_ranks(const excess_t *e, char *text, size_t size)
{
    size_t at = (size_t)snprintf(text, size, "%s", e->count > 1 ? "ranks" : "rank");

    for (uint32_t i = 0; i < e->count && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s %u",
                               i == 0              ? ""
                               : i + 1 == e->count ? " and"
                                                   : ",",
                               e->ranks[i]);
    if (at < size)
        snprintf(text + at, size - at, " compute%s", e->count > 1 ? "" : "s");
}

/* The waiting is explained by what some ranks compute more. */
static void explain_excess(const xy_analysis_t *a, const excess_t *e, char *text, size_t size)
{
    char words[32], seconds[32], place[256], ranks[96];
    double blamed = 0;

    for (uint32_t i = 0; i < e->count; i++)
        blamed += a->ranks[e->ranks[i]].blamed;
    describe_place(a, e->site, place, sizeof(place));
    describe_ranks(e, ranks, sizeof(ranks));
    if (e->ratio > 0 && e->ratio < 100)
        snprintf(text, size, "%s of it because %s %.2g times as long as the others before %s",
                 share_of(blamed / a->wait, words), ranks, e->ratio, place);
    else
        snprintf(text, size, "%s of it because %s %s before %s", share_of(blamed / a->wait, words),
                 ranks, xy_format_seconds(e->excess, seconds), place);
}

/* The others wait for one rank, which does not compute longer on the whole. */
static void explain_culprit(const xy_analysis_t *a, double share, char *text, size_t size)
{
    uint32_t site = blamed_site(a, a->culprit);
    char words[32], place[256];

    snprintf(text, size, "%s of it for rank %d%s%s", share_of(share, words), a->culprit,
             site > 0 ? ", which comes late to " : "",
             site > 0 ? xy_site_describe(a->profile, site, place, sizeof(place)) : "");
}

/* Writes the finding for a run with much waiting: kind of wait, rank and site. */
static void find_wait(xy_analysis_t *a, double all)
{
    int kind = largest_wait(a);
    double share = a->culprit >= 0 ? a->ranks[a->culprit].blamed / a->wait : 0;
    char why[320], place[256], words[32];
    const xy_site_time_t *most = &a->sites[0];
    excess_t e;

    for (size_t i = 1; i < a->site_count; i++)
        if (a->sites[i].wait > most->wait)
            most = &a->sites[i];
    xy_site_describe(a->profile, most->site, place, sizeof(place));
    if (kind == XY_PART_LOCK && a->part[kind] >= CULPRIT * a->wait) {
        int at = snprintf(why, sizeof(why), "%s of it for a lock of a window, in %s",
                          share_of(a->part[kind] / a->wait, words), place);

        if (a->culprit >= 0 && at > 0 && (size_t)at < sizeof(why))
            snprintf(why + at, sizeof(why) - (size_t)at, "; rank %d holds it longest", a->culprit);
    } else if (kind == XY_PART_CORE && a->part[kind] >= 0.5 * a->wait) {
        snprintf(why, sizeof(why), "%s of it for a core that another rank uses",
                 share_of(a->part[kind] / a->wait, words));
    } else if (is_explained(a, &e)) {
        explain_excess(a, &e, why, sizeof(why));
    } else if (share >= CULPRIT && is_alone(a) && !is_serial(a)) {
        explain_culprit(a, share, why, sizeof(why));
    } else {
        explain_none(a, most->wait / a->wait, place, why, sizeof(why));
    }
    snprintf(a->finding, sizeof(a->finding), "%.0f %% of the time is waiting; %s",
             report_percent(a->wait, all), why);
}

/* Data that could have moved while ranks computed: in seconds, of all ranks. */
static double late_progress(const xy_analysis_t *a)
{
    const xy_insight_t *in = a->profile->insight;
    double sum = 0;

    for (size_t i = 0; in != NULL && i < in->late.count; i++)
        sum += 1e-9 * (double)XY_VEC_AT(&in->late, xy_late_t, i).ns;
    return sum;
}

static void find_late(xy_analysis_t *a, double all)
{
    const xy_late_t *most = &XY_VEC_AT(&a->profile->insight->late, xy_late_t, 0);
    char place[256];

    snprintf(a->finding, sizeof(a->finding),
             "%.0f %% of the time moves data that was ready while ranks computed (late progress); "
             "most by rank %u in %s: communication cores would move it meanwhile",
             report_percent(late_progress(a), all), most->rank,
             xy_site_describe(a->profile, most->site, place, sizeof(place)));
}

/* Writes the finding for a run with much time in communication itself. */
static void find_traffic(xy_analysis_t *a, double all)
{
    const xy_site_time_t *most = &a->sites[0];
    double busy = a->part[XY_PART_TRANSFER] + a->part[XY_PART_LIBRARY];
    char place[256], size[32];

    for (size_t i = 1; i < a->site_count; i++)
        if (a->sites[i].time - a->sites[i].wait > most->time - most->wait)
            most = &a->sites[i];
    xy_site_describe(a->profile, most->site, place, sizeof(place));
    xy_format_size(most->calls > 0 ? most->bytes / most->calls : 0, size);
    snprintf(a->finding, sizeof(a->finding),
             "%.0f %% of the time is communication itself, not waiting; most of it %" PRIu64
             " call%s of %s with %s%s%s",
             report_percent(busy, all), (uint64_t)most->calls, xy_s((uint64_t)most->calls), place,
             size, most->calls == 1 ? "" : " each",
             most->calls > 1 && most->bytes > 0 && most->bytes <= XY_SMALL_BYTES * most->calls
                 ? ": small messages, which could be merged"
                 : "");
}

void report_find(xy_analysis_t *a)
{
    double all = a->run * (double)a->profile->ranks.count;
    double busy = a->part[XY_PART_TRANSFER] + a->part[XY_PART_LIBRARY];

    if (all <= 0 || a->site_count == 0)
        snprintf(a->finding, sizeof(a->finding), "no time was counted");
    else if (a->wait >= LITTLE * all && a->wait >= busy / 2)
        find_wait(a, all);
    else if (late_progress(a) >= fmax(LITTLE * all, busy / 2))
        find_late(a, all);
    else if (busy >= 2 * LITTLE * all)
        find_traffic(a, all);
    else
        snprintf(a->finding, sizeof(a->finding),
                 "%.0f %% of the time is computation; waiting takes %.1f %% and communication "
                 "%.1f %%",
                 report_percent(a->compute, all), report_percent(a->wait, all),
                 report_percent(busy, all));
}
