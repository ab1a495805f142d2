/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/report_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void xy_efficiency(const double *compute, size_t count, double run, double ideal,
                   xy_efficiency_t *e)
{
    double sum = 0, most = 0;

    for (size_t i = 0; i < count; i++) {
        sum += compute[i];
        most = fmax(most, compute[i]);
    }
    if (ideal < 0.99 * most) /* time asleep is not in a replay */
        ideal = 0;
    *e = (xy_efficiency_t){.load_balance = most > 0 ? sum / (double)count / most : 1,
                           .communication = run > 0 ? most / run : 1,
                           .serialization = ideal > 0 ? most / ideal : NAN,
                           .transfer = ideal > 0 && run > 0 ? ideal / run : NAN,
                           .scalability = NAN,
                           .global = NAN};
    e->parallel = e->load_balance * e->communication;
}

void xy_efficiency_scale(double sum, double first_sum, xy_efficiency_t *e)
{
    e->scalability = sum > 0 ? first_sum / sum : NAN;
    e->global = e->parallel * e->scalability;
}

/* ---- Sums ---- */

static double seconds(uint64_t ns)
{
    return 1e-9 * (double)ns;
}

static void add_to_rank(xy_analysis_t *a, const xy_profile_record_t *r)
{
    xy_rank_time_t *t = &a->ranks[r->rank];

    t->compute += seconds(r->compute);
    for (int i = 0; i < XY_PARTS; i++)
        t->part[i] += seconds(r->part[i]);
    t->wait += seconds(xy_profile_wait(r));
    for (int b = 0; b < XY_PROFILE_BLAMES; b++)
        if (r->blame[b].rank >= 0)
            a->ranks[r->blame[b].rank].blamed += seconds(r->blame[b].ns);
}

/* `of_rank`: the computation of the record's rank before this site so far. */
static void add_to_site(xy_site_time_t *s, const xy_profile_record_t *r, double of_rank)
{
    s->calls += r->calls;
    s->bytes += r->bytes;
    s->compute += seconds(r->compute);
    s->time += seconds(xy_profile_time(r));
    s->wait += seconds(xy_profile_wait(r));
    for (int i = 0; i < XY_PARTS; i++)
        s->part[i] += seconds(r->part[i]);
    if (of_rank > s->most_compute) {
        s->most_compute = of_rank;
        s->most_rank = r->rank;
    }
    for (int b = 0; b < XY_PROFILE_BLAMES; b++)
        xy_profile_blame(s->blame, r->blame[b].rank, r->blame[b].site, r->blame[b].ns);
}

static int by_rank_and_site(const void *left, const void *right)
{
    const xy_profile_record_t *a = *(const xy_profile_record_t *const *)left,
                              *b = *(const xy_profile_record_t *const *)right;

    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->site < b->site ? -1 : a->site > b->site;
}

/* Records of one rank and site come together, so that their computation is seen as one. */
static bool add_records(xy_analysis_t *a)
{
    size_t n = a->profile->records.count;
    const xy_profile_record_t **order = xy_malloc((n + 1) * sizeof(xy_profile_record_t *));
    double of_rank = 0;

    if (order == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        order[i] = &XY_VEC_AT(&a->profile->records, xy_profile_record_t, i);
    qsort(order, n, sizeof(xy_profile_record_t *), by_rank_and_site);
    for (size_t i = 0; i < n; i++) {
        const xy_profile_record_t *r = order[i];
        bool is_new = i == 0 || order[i - 1]->rank != r->rank || order[i - 1]->site != r->site;

        of_rank = (is_new ? 0 : of_rank) + seconds(r->compute);
        a->sites[r->site].ranks += is_new;
        add_to_rank(a, r);
        add_to_site(&a->sites[r->site], r, of_rank);
        a->sizes[r->size_class].calls += r->calls;
        a->sizes[r->size_class].bytes += r->bytes;
    }
    xy_free(order);
    return true;
}

/* Sums the times of the ranks; time between a rank's end and the end of the run counts as ended. */
static void add_ranks(xy_analysis_t *a)
{
    size_t n = a->profile->ranks.count;

    for (size_t r = 0; r < n; r++) {
        a->ranks[r].run = seconds(XY_VEC_AT(&a->profile->ranks, xy_profile_rank_t, r).ns);
        a->run = fmax(a->run, a->ranks[r].run);
    }
    for (size_t r = 0; r < n; r++) {
        xy_rank_time_t *t = &a->ranks[r];

        t->ended = a->run - t->run;
        a->ended += t->ended;
        a->compute += t->compute;
        a->wait += t->wait;
        for (int i = 0; i < XY_PARTS; i++) {
            a->part[i] += t->part[i];
            a->time += t->part[i];
        }
    }
}

/* Ranks of one core compute one after the other. */
static bool find_efficiency(xy_analysis_t *a, double ideal)
{
    size_t n = a->profile->ranks.count;
    double *compute = xy_calloc(n + 1, sizeof(*compute));
    xy_hash_t cores;

    if (compute == NULL)
        return false;
    xy_hash_init(&cores, XY_HASH_U64);
    for (size_t r = 0; r < n; r++) {
        uint64_t core = XY_VEC_AT(&a->profile->ranks, xy_profile_rank_t, r).core;
        void *found = xy_hash_get(&cores, core);

        if (found == NULL) {
            found = (void *)(uintptr_t)++a->cores;
            if (xy_hash_set(&cores, core, found) != XY_OK)
                break;
        }
        compute[(uintptr_t)found - 1] += a->ranks[r].compute;
    }
    xy_efficiency(compute, a->cores, a->run, ideal, &a->efficiency);
    xy_hash_cleanup(&cores);
    xy_free(compute);
    return true;
}

static int by_time(const void *left, const void *right)
{
    const xy_site_time_t *a = left, *b = right;

    if (a->time != b->time)
        return a->time > b->time ? -1 : 1;
    return a->site < b->site ? -1 : a->site > b->site;
}

static void order_sites(xy_analysis_t *a)
{
    size_t n = 0;

    for (size_t s = 0; s < a->profile->sites.count; s++) {
        a->sites[s].site = (uint32_t)s;
        if (a->sites[s].calls > 0)
            a->sites[n++] = a->sites[s];
    }
    a->site_count = n;
    qsort(a->sites, n, sizeof(*a->sites), by_time);
}

/* ---- Who causes it ---- */

enum { ROUNDS = 64 };

/* All waits of one rank for another one. */
typedef struct {
    int32_t from, to;
    double seconds;
    double
        kept; /* the part of a blame that stays with `to`, which does not come from its own waits */
} edge_t;

typedef struct {
    edge_t *edges; /* by `from` */
    size_t count;
    double *now, *next, *kept, *waits; /* [ranks]; waits: of all its edges */
} passing_t;

static int by_ends(const void *left, const void *right)
{
    const edge_t *a = left, *b = right;

    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->to < b->to ? -1 : a->to > b->to;
}

/* Collects the waits of each rank for each other one. */
static void find_edges(const xy_analysis_t *a, passing_t *t)
{
    size_t n = 0, kept = 0;

    for (size_t i = 0; i < a->profile->records.count; i++) {
        const xy_profile_record_t *r = &XY_VEC_AT(&a->profile->records, xy_profile_record_t, i);

        for (int b = 0; b < XY_PROFILE_BLAMES; b++)
            if (r->blame[b].rank >= 0 && r->blame[b].ns > 0)
                t->edges[n++] =
                    (edge_t){(int32_t)r->rank, r->blame[b].rank, seconds(r->blame[b].ns), 1};
    }
    qsort(t->edges, n, sizeof(*t->edges), by_ends);
    for (size_t i = 0; i < n; i++) {
        t->waits[t->edges[i].from] += t->edges[i].seconds;
        if (kept > 0 && by_ends(&t->edges[kept - 1], &t->edges[i]) == 0)
            t->edges[kept - 1].seconds += t->edges[i].seconds;
        else
            t->edges[kept++] = t->edges[i];
    }
    t->count = kept;
}

/* A rank waits for another one as long as that one works longer than it, and waits longer than it
 * for third ones. The latter part is passed on. A profile has no order of events, so that the whole
 * run is compared. */
static void find_kept(const xy_analysis_t *a, const passing_t *t)
{
    for (size_t i = 0; i < t->count; i++) {
        edge_t *e = &t->edges[i];
        double work =
            a->ranks[e->to].run - t->waits[e->to] - (a->ranks[e->from].run - t->waits[e->from]);
        double waits = t->waits[e->to] - (t->waits[e->from] - e->seconds);

        work = fmax(work, 0);
        waits = fmax(waits, 0);
        e->kept = work + waits > 0 ? work / (work + waits) : 1;
    }
}

/* Passes the blame for waits on from ranks that waited themselves, in ROUNDS steps. What goes in
 * circles after them has no single cause: all ranks have their part of it, by what they compute. */
static void pass_all(xy_analysis_t *a, passing_t *t)
{
    size_t n = a->profile->ranks.count;
    double rest = 0;

    find_edges(a, t);
    find_kept(a, t);
    memcpy(t->now, t->waits, n * sizeof(*t->now));
    for (int round = 0; round < ROUNDS; round++) {
        memset(t->next, 0, n * sizeof(*t->next));
        for (size_t i = 0; i < t->count; i++) {
            const edge_t *e = &t->edges[i];
            double share = t->now[e->from] * e->seconds / t->waits[e->from];

            t->kept[e->to] += share * e->kept;
            t->next[e->to] += share * (1 - e->kept);
        }
        memcpy(t->now, t->next, n * sizeof(*t->now));
    }
    for (size_t r = 0; r < n; r++)
        rest += t->now[r];
    for (size_t r = 0; r < n; r++)
        a->ranks[r].blamed =
            t->kept[r] + (a->compute > 0 ? rest * a->ranks[r].compute / a->compute : t->now[r]);
}

/* Follows the delays of a profile to their causes. A trace knows better, and has done it. */
static bool pass_on(xy_analysis_t *a)
{
    size_t n = a->profile->ranks.count;
    double *memory = NULL;
    edge_t *edges = NULL;
    bool is_good = a->profile->has_roots;

    if (!is_good) {
        memory = xy_calloc(4 * n + 1, sizeof(*memory));
        edges = xy_calloc(XY_PROFILE_BLAMES * a->profile->records.count + 1, sizeof(*edges));
        is_good = memory != NULL && edges != NULL;
    }
    if (memory != NULL && edges != NULL)
        pass_all(a, &(passing_t){.edges = edges,
                                 .now = memory,
                                 .next = memory + n,
                                 .kept = memory + 2 * n,
                                 .waits = memory + 3 * n});
    xy_free(memory);
    xy_free(edges);
    return is_good;
}

static int32_t find_culprit(const xy_analysis_t *a)
{
    int32_t most = XY_PROFILE_NOBODY;

    for (size_t r = 0; r < a->profile->ranks.count; r++)
        if (a->ranks[r].blamed > (most >= 0 ? a->ranks[most].blamed : 0))
            most = (int32_t)r;
    return most;
}

const char *xy_site_describe(const xy_profile_t *p, uint32_t site, char *text, size_t size)
{
    const xy_profile_site_t *s = &XY_VEC_AT(&p->sites, xy_profile_site_t, site);

    snprintf(text, size, "%s%s%s", s->function, s->place[0] != '\0' ? " at " : "", s->place);
    return text;
}

xy_status_t xy_analyse(const xy_profile_t *p, double ideal, xy_analysis_t **analysis_p)
{
    xy_analysis_t *a = xy_calloc(1, sizeof(*a));

    if (a != NULL) {
        a->profile = p;
        a->ranks = xy_calloc(p->ranks.count + 1, sizeof(*a->ranks));
        a->sites = xy_calloc(p->sites.count, sizeof(*a->sites));
    }
    if (a == NULL || a->ranks == NULL || a->sites == NULL || !add_records(a) ||
        (add_ranks(a), !find_efficiency(a, ideal)) || !pass_on(a)) {
        xy_analysis_destroy(a);
        return xy_fail_memory("analysing a profile");
    }
    order_sites(a);
    a->culprit = find_culprit(a);
    report_find(a);
    *analysis_p = a;
    return XY_OK;
}

void xy_analysis_destroy(xy_analysis_t *a)
{
    if (a == NULL)
        return;
    xy_free(a->ranks);
    xy_free(a->sites);
    xy_free(a);
}
