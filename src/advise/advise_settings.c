/* SPDX-License-Identifier: BSD-3-Clause */
/* Remedies that need no change of the program: options of mpiexec. */
#include <string.h>

#include "advise/advise_internal.h"

enum { COMM_CORES = 4 }; /* that are tried, at most */
#define CROWDED 0.1      /* part of the computation in which other programs had the cores */

/* The launcher's own placement on `cores` cores, whose numbers begin at 0. */
static xy_status_t place(const advise_t *a, const char *strategy, int32_t cores, int32_t *core_of)
{
    xy_machine_t *machine;
    xy_cores_t list;
    char text[32];
    xy_status_t st;

    snprintf(text, sizeof(text), "core:%d", cores);
    st = xy_machine_load(text, &machine);
    if (st != XY_OK)
        return st;
    st = xy_cores_init(&list, machine);
    if (st == XY_OK) {
        st = xy_place_ranks(strategy, &list, a->ranks, core_of);
        xy_cores_cleanup(&list);
    }
    xy_machine_destroy(machine);
    return st;
}

/* More cores are of no use where other programs have them. */
static bool has_free_cores(const advise_t *a)
{
    return a->cores > a->used && a->out->stolen < CROWDED;
}

/* Replays the run on 1, 2, 4, ... cores; `core_of` is scratch space, one entry per rank. */
static xy_status_t try_workers(advise_t *a, int32_t *core_of)
{
    xy_status_t st = XY_OK;

    for (int32_t n = 1; n <= a->cores && n <= a->ranks && st == XY_OK; n *= 2) {
        xy_remedy_t r = {.kind = "workers"};

        if (n == a->used || (n > a->used && !has_free_cores(a)))
            continue;
        st = place(a, "scatter_numa", n, core_of);
        snprintf(r.option, sizeof(r.option), "--workers %d", n);
        snprintf(r.change, sizeof(r.change), "run on %d core%s instead of %d", n, n == 1 ? "" : "s",
                 a->used);
        snprintf(r.reason, sizeof(r.reason),
                 n > a->used ? "%d ranks share %d core%s"
                             : "ranks that share a core pay less for "
                               "a message than on several",
                 a->ranks, a->used, a->used == 1 ? "" : "s");
        if (st == XY_OK)
            st = advise_try(a, &(advise_case_t){.core_of = core_of}, &r);
    }
    return st;
}

/* Does the program start anything that could move while it computes? */
static bool has_nonblocking(const advise_t *a)
{
    for (size_t i = 0; i < a->log->step_count; i++) {
        const xy_trace_step_t *s = &a->log->steps[i];

        if (s->kind == XY_TRACE_STEP_CALL &&
            (strcmp(a->log->labels[s->label], "MPI_Isend") == 0 ||
             strcmp(a->log->labels[s->label], "MPI_Irecv") == 0 ||
             (strncmp(a->log->labels[s->label], "MPI_I", 5) == 0 && i + 1 < a->log->step_count &&
              a->log->steps[i + 1].kind == XY_TRACE_STEP_COLLECTIVE)))
            return true;
    }
    return false;
}

/* Cores without ranks, where there are some; else the last cores of the run. */
static xy_status_t try_comm_core(advise_t *a, int32_t k, int32_t *core_of)
{
    int32_t free = has_free_cores(a) ? a->cores - a->used : 0, list[COMM_CORES];
    advise_case_t c = {.comm_cores = list, .comm_core_count = k};
    xy_remedy_t r = {.kind = "comm-cores"};
    xy_status_t st = XY_OK;

    for (int32_t i = 0; i < k; i++)
        list[i] = free >= k ? a->used + i : a->used - 1 - i;
    if (free < k) {
        st = place(a, "scatter_numa", a->used - k, core_of);
        c.core_of = core_of;
    }
    if (free >= k && a->options->machine == NULL)
        snprintf(r.option, sizeof(r.option), "--workers %d --comm-cores %d", a->used + k, k);
    else
        snprintf(r.option, sizeof(r.option), "--comm-cores %d", k);
    snprintf(r.change, sizeof(r.change),
             free >= k ? "give %d more core%s to communication"
                       : "give %d core%s to communication; the ranks share the others",
             k, k == 1 ? "" : "s");
    snprintf(r.reason, sizeof(r.reason),
             "data of nonblocking calls then moves while the ranks compute");
    return st == XY_OK ? advise_try(a, &c, &r) : st;
}

static xy_status_t try_comm_cores(advise_t *a, int32_t *core_of)
{
    xy_status_t st = XY_OK;

    for (int32_t k = 1; k <= COMM_CORES && has_nonblocking(a) && st == XY_OK; k *= 2)
        if (k < a->used || (k <= a->cores - a->used && has_free_cores(a)))
            st = try_comm_core(a, k, core_of);
    return st;
}

static bool is_same(const advise_t *a, const int32_t *core_of)
{
    return memcmp(a->core_of, core_of, (size_t)a->ranks * sizeof(*core_of)) == 0;
}

/* Replays the run with other placements on the same number of cores; `core_of` is scratch space. */
static xy_status_t try_places(advise_t *a, int32_t *core_of)
{
    static const char *const strategies[] = {"packed", "round-robin", "scatter"};
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < sizeof(strategies) / sizeof(strategies[0]) && st == XY_OK; i++) {
        xy_remedy_t r = {.kind = "place"};

        st = place(a, strategies[i], a->used, core_of);
        if (st != XY_OK || is_same(a, core_of))
            continue;
        snprintf(r.option, sizeof(r.option), "--place %s", strategies[i]);
        snprintf(r.change, sizeof(r.change), "place ranks by the strategy %s", strategies[i]);
        snprintf(r.reason, sizeof(r.reason),
                 "cores then have more equal work, or ranks that exchange much share one");
        st = advise_try(a, &(advise_case_t){.core_of = core_of}, &r);
    }
    return st;
}

/* Messages of more than `from` and at most `to` bytes. */
static size_t count_messages(const advise_t *a, uint64_t from, uint64_t to)
{
    size_t count = 0;

    for (size_t i = 0; i < a->log->step_count; i++) {
        const xy_trace_step_t *s = &a->log->steps[i];

        count += s->kind == XY_TRACE_STEP_SENT && s->bytes > from && s->bytes <= to;
    }
    return count;
}

/* Replays the run with other eager limits, if messages lie between the old and the new limit. */
static xy_status_t try_eager(advise_t *a)
{
    static const uint64_t limits[] = {1 << 10, 4 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20};
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]) && st == XY_OK; i++) {
        uint64_t now = (uint64_t)a->costs.eager, limit = limits[i];
        size_t changed =
            limit > now ? count_messages(a, now, limit) : count_messages(a, limit, now);
        xy_remedy_t r = {.kind = "eager"};
        char size[32];

        if (changed == 0)
            continue;
        xy_format_size(limit, size);
        snprintf(r.option, sizeof(r.option), "--eager %lluK", (unsigned long long)limit >> 10);
        snprintf(r.change, sizeof(r.change), "%s the eager limit to %s",
                 limit > now ? "raise" : "lower", size);
        snprintf(r.reason, sizeof(r.reason),
                 limit > now ? "%zu messages no longer wait for their receive"
                             : "%zu messages are copied once instead of twice",
                 changed);
        st = advise_try(a, &(advise_case_t){.eager = limit}, &r);
    }
    return st;
}

/* ---- Algorithms ---- */

/* All sizes of a collective that the runtime has a choice for: nonblocking calls. */
static xy_status_t find_picks(const advise_t *a, const xy_coll_algorithm_t *algorithm,
                              xy_collective_t collective, xy_vec_t *picks)
{
    const char *call = "";

    for (size_t i = 0; i < a->log->step_count; i++) {
        const xy_trace_step_t *s = &a->log->steps[i];
        xy_coll_request_t q = {.collective = collective,
                               .procs = (int)s->members,
                               .root = (int)s->peer,
                               .count = s->bytes,
                               .element = s->element,
                               .is_commutative = true};
        xy_coll_pick_t pick = {collective, (int)s->members, xy_coll_step(s->bytes * s->element),
                               algorithm};
        bool is_there = false;

        if (s->kind == XY_TRACE_STEP_CALL)
            call = a->log->labels[s->label];
        if (s->kind != XY_TRACE_STEP_COLLECTIVE || s->collective != (uint32_t)collective ||
            strncmp(call, "MPI_I", 5) != 0 || !xy_coll_is_applicable(algorithm, &q))
            continue;
        for (size_t k = 0; k < picks->count && !is_there; k++) {
            const xy_coll_pick_t *other = &XY_VEC_AT(picks, xy_coll_pick_t, k);

            is_there = other->procs == pick.procs && other->step == pick.step;
        }
        if (!is_there && xy_vec_append(picks, &pick) != XY_OK)
            return xy_fail_memory("advising");
    }
    return XY_OK;
}

/* Replays the run with one algorithm for a collective, where it applies. */
static xy_status_t try_algorithm(advise_t *a, const xy_coll_algorithm_t *algorithm,
                                 xy_collective_t collective)
{
    xy_vec_t picks = XY_VEC_INIT(xy_coll_pick_t);
    xy_status_t st = find_picks(a, algorithm, collective, &picks);
    xy_coll_picks_t list = {picks.data, picks.count};
    xy_remedy_t r = {.kind = "algorithm"};

    snprintf(r.option, sizeof(r.option), "--algorithm %s=%s", xy_coll_name(collective),
             algorithm->name);
    snprintf(r.change, sizeof(r.change), "run %s with the algorithm %s", xy_coll_name(collective),
             algorithm->name);
    snprintf(r.reason, sizeof(r.reason), "%s", algorithm->describe);
    if (st == XY_OK && picks.count > 0)
        st = advise_try(a, &(advise_case_t){.picks = &list}, &r);
    xy_vec_cleanup(&picks);
    return st;
}

static xy_status_t try_algorithms(advise_t *a)
{
    const xy_coll_algorithm_t *const *all = xy_coll_algorithms();
    xy_status_t st = XY_OK;

    for (size_t i = 0; all[i] != NULL && st == XY_OK; i++)
        for (int c = 0; c < XY_COLL_COUNT && st == XY_OK; c++)
            if ((all[i]->collectives & UINT32_C(1) << c) != 0 && !all[i]->is_direct &&
                !all[i]->is_foreign && xy_coll_is_sized((xy_collective_t)c))
                st = try_algorithm(a, all[i], (xy_collective_t)c);
    return st;
}

/* Does the replay place ranks as the launcher did? In virtual time that is known of ranks that
 * share the cores of one node. */
static bool knows_places(const advise_t *a)
{
    for (size_t r = 1; r < a->log->row_count; r++)
        if (strcmp(a->log->rows[r].group, a->log->rows[0].group) != 0 && a->profile->is_virtual)
            return a->options->machine != NULL;
    return a->options->machine != NULL || !a->profile->is_virtual || a->used < a->ranks;
}

xy_status_t advise_settings(advise_t *a)
{
    int32_t *core_of = xy_calloc((size_t)a->ranks + 1, sizeof(*core_of));
    xy_status_t st = core_of != NULL ? XY_OK : xy_fail_memory("advising");

    /* In virtual time the cores are those of the machine there. */
    if (st == XY_OK && a->options->machine == NULL && !a->profile->is_virtual)
        st = try_workers(a, core_of);
    if (st == XY_OK && knows_places(a))
        st = try_places(a, core_of);
    if (st == XY_OK)
        st = try_comm_cores(a, core_of);
    if (st == XY_OK)
        st = try_eager(a);
    if (st == XY_OK && has_nonblocking(a))
        st = try_algorithms(a);
    xy_free(core_of);
    return st;
}
