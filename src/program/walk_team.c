/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams of threads of OpenMP. Outside of loops that threads share, each thread does all of the
 * computation. A shared loop takes as long as the thread with the most of it:
 *
 *   static,  chunks of c passes in turn: n / (c T) rounds of c, and at most c of the rest
 *   dynamic, chunks of c passes:         the same, and a step to the next chunk for each
 *
 * where passes take equal time; else each pass, or chunk, is given to its thread (static) or to
 * the one that is first without work (dynamic). What a team, a barrier and a step to the next chunk
 * take is measured for some numbers of threads (measure).
 */
#include <math.h>
#include <string.h>

#include "program/walk.h"

enum { THREADS_MAX = 4096 };

typedef enum { TEAM_PARALLEL, TEAM_STATIC, TEAM_DYNAMIC, TEAM_PASS, TEAM_BARRIER, TEAM_END } kind_t;

static const struct {
    const char *name, *model;
    int sizes;
} kinds[] = {
    [TEAM_PARALLEL] = {"parallel", XY_COSTS_TEAM, 1},  [TEAM_STATIC] = {"static", NULL, 2},
    [TEAM_DYNAMIC] = {"dynamic", XY_COSTS_CHUNK, 2},   [TEAM_PASS] = {"pass", NULL, 0},
    [TEAM_BARRIER] = {"barrier", XY_COSTS_MEETING, 0}, [TEAM_END] = {"end", NULL, 0},
};

/* The number of its kind, or -1. */
static int find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return (int)i;
    return -1;
}

xy_status_t walk_team_prepare(code_site_t *site, const char **model_p)
{
    int kind = find_kind(site->name);

    if (kind < 0 || site->count != kinds[kind].sizes)
        return xy_fail_at(XY_EINVAL, site->node->file, site->node->line,
                          "<team name=\"%s\"> with %d sizes is none that a description may have",
                          site->name, (int)site->count);
    site->extra = kind;
    *model_p = kinds[kind].model;
    return XY_OK;
}

void walk_team_cleanup(walk_team_t *t)
{
    xy_free(t->loads);
    t->loads = NULL;
}

bool walk_team_takes(walk_team_t *t, double seconds)
{
    if (!t->is_shared)
        return false;
    if (t->pass < 0)
        t->even += seconds;
    else
        t->loads[t->thread] += seconds;
    return true;
}

static double step_of(const walk_team_t *t)
{
    if (t->chunk > 0)
        return t->chunk;
    return t->is_dynamic ? 1 : fmax(ceil(t->passes / t->threads), 1);
}

/* The share of the thread with the most passes. */
static double largest_share(const walk_team_t *t)
{
    double chunk = step_of(t), round = chunk * t->threads;

    if (!(t->passes > 0))
        return 0;
    return (floor(t->passes / round) * chunk + fmin(fmod(t->passes, round), chunk)) / t->passes;
}

/* Gives the next pass to its thread, at the beginning of a chunk. */
static void next_pass(walk_team_t *t)
{
    double chunk = step_of(t);

    t->pass++;
    if (fmod(t->pass, chunk) != 0)
        return;
    if (!t->is_dynamic) {
        t->thread = (int32_t)fmod(t->pass / chunk, t->threads);
        return;
    }
    t->thread = 0;
    for (int32_t i = 1; i < t->threads; i++)
        if (t->loads[i] < t->loads[t->thread])
            t->thread = i;
    t->loads[t->thread] += t->chunk_seconds;
}

/* Ends a shared loop; returns what the team takes for it. */
static double end_loop(walk_team_t *t)
{
    double seconds = t->even * largest_share(t), most = 0;

    if (t->is_dynamic && t->pass < 0)
        seconds += ceil(ceil(t->passes / step_of(t)) / t->threads) * t->chunk_seconds;
    for (int32_t i = 0; i < t->threads; i++) {
        most = fmax(most, t->loads[i]);
        t->loads[i] = 0;
    }
    t->is_shared = false;
    return seconds + most;
}

/* Begins a team inside of no other; one inside of another has one thread. */
static bool begin_team(process_t *p, walk_team_t *t, double threads, int32_t most)
{
    if (t->depth++ > 0)
        return true;
    if (!(threads >= 1 && threads <= THREADS_MAX))
        return process_fail(p, "a team of OpenMP has %g threads", threads);
    if (most > 0 && threads > most)
        return process_fail(p,
                            "a team of %g threads: each process has %d core%s of its node; give "
                            "--threads-per-rank %g, fewer processes on a node, or --oversubscribe",
                            threads, (int)most, most == 1 ? "" : "s", threads);
    t->threads = (int32_t)threads;
    xy_free(t->loads);
    t->loads = xy_calloc((size_t)t->threads, sizeof(*t->loads));
    return t->loads != NULL || process_fail_memory(p);
}

/* Begins a shared loop; a negative `chunk_seconds` is for a static one. */
static bool begin_loop(process_t *p, walk_team_t *t, const double *sizes, double chunk_seconds)
{
    if (t->is_shared)
        return process_fail(p, "a loop of OpenMP that threads share is inside of another");
    if (t->threads == 0 || t->depth == 0)
        t->threads = 1;
    if (t->loads == NULL && (t->loads = xy_calloc(1, sizeof(*t->loads))) == NULL)
        return process_fail_memory(p);
    t->is_shared = true;
    t->loop_depth = t->depth;
    t->is_dynamic = chunk_seconds >= 0;
    t->chunk_seconds = chunk_seconds;
    t->passes = sizes[0];
    t->chunk = sizes[1];
    t->pass = -1;
    t->even = 0;
    t->thread = 0;
    return true;
}

bool walk_team_run(process_t *p, walk_team_t *t, int kind, const double *sizes, double seconds,
                   int32_t most, double *takes_p)
{
    *takes_p = 0;
    switch (kind) {
    case TEAM_PARALLEL:
        *takes_p = t->depth == 0 ? seconds : 0;
        return begin_team(p, t, sizes[0], most);
    case TEAM_STATIC:
        return begin_loop(p, t, sizes, -1);
    case TEAM_DYNAMIC:
        return begin_loop(p, t, sizes, seconds);
    case TEAM_PASS:
        if (!t->is_shared)
            return process_fail(p, "<team name=\"pass\"> is not in a loop of a team");
        next_pass(t);
        return true;
    case TEAM_BARRIER:
        *takes_p = t->depth == 1 ? seconds : 0;
        return true;
    default:
        break;
    }
    if (t->is_shared && t->loop_depth == t->depth)
        *takes_p = end_loop(t);
    else if (t->depth > 0)
        t->depth--;
    return true;
}

double walk_team_threads(const walk_team_t *t, int kind, const double *sizes)
{
    return kind == TEAM_PARALLEL ? sizes[0] : t->depth > 0 ? t->threads : 1;
}
