/* SPDX-License-Identifier: BSD-3-Clause */
/* The beginning and the end of accounts: from ticks and addresses to times and lines. */
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mpi/runtime/account_internal.h"
#include "mpi/runtime/caller.h"
#include "trace/trace.h"

/* The same moment on both clocks, when counting began. */
static uint64_t start_ticks, start_ns;

static uint64_t monotonic_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Allocate an empty account; NULL without memory. */
static mpi_account_t *account_new(bool is_virtual)
{
    mpi_account_t *a = aligned_alloc(XMPI_LINES, sizeof(*a));

    if (a == NULL)
        return NULL;
    memset((void *)a, 0, sizeof(*a));
    a->is_virtual = is_virtual;
    a->rest.name = "MPI";
    a->last = a->of_left = &a->rest;
    a->room = ACCOUNT_FIRST;
    a->records = xy_calloc(a->room, sizeof(*a->records));
    if (a->records != NULL)
        return a;
    free(a);
    return NULL;
}

/* Does a process of the job run on another host? */
static bool has_hosts(const mpi_job_t *job)
{
    for (int p = 1; job->hosts != NULL && p < job->processes; p++)
        if (strcmp(job->hosts[p], job->hosts[0]) != 0)
            return true;
    return false;
}

xy_status_t mpi_account_start(mpi_job_t *job)
{
    xy_trace_clock_begin();
    account_short_ticks = job->clock == NULL ? xy_trace_clock_rate() / 1000000 : 0;
    start_ticks = xy_trace_clock();
    start_ns = monotonic_ns();
    account_has_hosts = has_hosts(job);
    if (job->processes > 1)
        account_far = xy_calloc((size_t)job->started, sizeof(*account_far));
    if (job->processes > 1 && account_far == NULL)
        return xy_fail_memory("preparing to count time");
    for (int r = 0; r < job->size; r++) {
        mpi_rank_t *rank = &job->ranks[r];

        if (!mpi_rank_is_here(job, r))
            continue;
        rank->account = account_new(job->clock != NULL);
        if (rank->account == NULL)
            return xy_fail_memory("preparing to count time");
        mpi_rank_observe(rank, XMPI_LOOK_ACCOUNT);
    }
    return XY_OK;
}

/* ---- Lines ---- */

typedef struct {
    xy_profile_t *profile;
    mpi_job_t *job;
    double scale;     /* nanoseconds of a tick */
    xy_hash_t places; /* by "FILE+OFFSET": images of one program share them */
    xy_hash_t known;  /* places by address */
    xy_arena_t *arena;
    const int32_t *core_of; /* of ranks; NULL: their workers */
    bool is_good;           /* memory has sufficed */
} collecting_t;

/* "at ring.c:25" and "in solve+0x1c" without the first word. */
static const char *shorten(const char *text)
{
    return strncmp(text, "at ", 3) == 0 || strncmp(text, "in ", 3) == 0 ? text + 3 : text;
}

/* The place of an address in a file; NULL: memory ran out. */
static const char *place_in(collecting_t *c, const void *site, const Dl_info *info)
{
    char key[PATH_MAX + 32], text[320];
    const char *known;
    char *kept, *place;

    snprintf(key, sizeof(key), "%s+0x%zx", info->dli_fname,
             (size_t)((const char *)site - 1 - (const char *)info->dli_fbase));
    known = xy_hash_get(&c->places, XY_HASH_KEY(key));
    if (known != NULL)
        return known;
    mpi_caller_describe(site, text, sizeof(text));
    kept = xy_arena_strndup(c->arena, key, strlen(key));
    place = xy_arena_strndup(c->arena, shorten(text), strlen(shorten(text)));
    if (kept == NULL || place == NULL || xy_hash_set(&c->places, XY_HASH_KEY(kept), place) != XY_OK)
        return NULL;
    return place;
}

/* NULL: memory ran out. */
static const char *place_of(collecting_t *c, const void *site)
{
    const char *place = site != NULL ? xy_hash_get(&c->known, (uintptr_t)site) : "";
    Dl_info info;

    if (place != NULL)
        return place;
    if (dladdr((const char *)site - 1, &info) == 0 || info.dli_fname == NULL)
        return "";
    place = place_in(c, site, &info);
    if (place == NULL || xy_hash_set(&c->known, (uintptr_t)site, (void *)(uintptr_t)place) != XY_OK)
        return NULL;
    return place;
}

static bool site_of(collecting_t *c, const char *function, const void *site, uint32_t *site_p)
{
    const char *place = place_of(c, site);

    *site_p = 0;
    if (place == NULL)
        return false;
    if (site == NULL && strcmp(function, "-") == 0)
        return true;
    return xy_profile_site(c->profile, function, place, site_p);
}

/* The function that rank `who` has called there. */
static const char *function_of(const mpi_job_t *job, int who, const void *site)
{
    const mpi_account_t *a = who >= 0 && who < job->size ? job->ranks[who].account : NULL;

    for (size_t i = 0; a != NULL && site != NULL && i < a->room; i++)
        if (a->records[i].name != NULL && a->records[i].site == site)
            return a->records[i].name;
    return "-";
}

/* The place where a rank was that is blamed: its own process knows what an address there means. */
static bool site_of_blame(collecting_t *c, const account_blame_t *blame, uint32_t *site_p)
{
    char address[64];

    if (blame->site == NULL || blame->rank < 0 || blame->rank >= c->job->started ||
        mpi_rank_is_here(c->job, blame->rank))
        return site_of(c, function_of(c->job, blame->rank, blame->site), blame->site, site_p);
    xy_profile_address(blame->rank, (uint64_t)(uintptr_t)blame->site, address, sizeof(address));
    return xy_profile_site(c->profile, XY_PROFILE_ELSEWHERE, address, site_p);
}

/* ---- Records ---- */

static uint64_t ns_of(const collecting_t *c, uint64_t ticks)
{
    return (uint64_t)(c->scale * (double)ticks + 0.5);
}

/* Rounded parts may be more than the rounded whole. */
static void set_parts(const collecting_t *c, const account_record_t *from, xy_profile_record_t *to)
{
    uint64_t left = ns_of(c, from->time);

    for (int i = 0; i < XY_PART_LIBRARY; i++) {
        uint64_t ns = ns_of(c, from->part[i]);

        to->part[i] = ns < left ? ns : left;
        left -= to->part[i];
    }
    to->part[XY_PART_LIBRARY] = left;
}

/* Convert a record of a rank to times and lines and add it to the profile; false without memory. */
static bool add_record(collecting_t *c, int rank, const account_record_t *from)
{
    xy_profile_record_t to = {.rank = (uint32_t)rank,
                              .members = (uint32_t)(from->shape >> 32),
                              .size_class = (uint32_t)from->shape,
                              .calls = from->calls,
                              .bytes = from->bytes,
                              .compute = ns_of(c, from->compute)};
    bool is_good = site_of(c, from->name, from->site, &to.site);

    if (is_good && c->job->processes > 1)
        is_good = xy_vec_append(&c->profile->places,
                                &(xy_profile_place_t){(uint32_t)rank, to.site,
                                                      (uint64_t)(uintptr_t)from->site}) == XY_OK;
    set_parts(c, from, &to);
    for (int b = 0; b < XY_PROFILE_BLAMES && is_good; b++) {
        const account_blame_t *blame = &from->blame[b];
        uint32_t site;

        if (blame->ticks == 0)
            continue;
        is_good = site_of_blame(c, blame, &site);
        xy_profile_blame(to.blame, blame->rank < c->job->size ? blame->rank : XY_PROFILE_NOBODY,
                         site, ns_of(c, blame->ticks));
    }
    return is_good && xy_vec_append(&c->profile->records, &to) == XY_OK;
}

/* Stop the account of a rank and add its records to the profile; false without memory. */
static bool add_rank(collecting_t *c, int rank, uint32_t core)
{
    mpi_account_t *a = c->job->ranks[rank].account;
    bool is_good = true;

    if (a == NULL)
        return true;
    if (a->is_on)
        a->counted += a->left - a->begun;
    a->is_on = false;
    XY_VEC_AT(&c->profile->ranks, xy_profile_rank_t, rank) =
        (xy_profile_rank_t){core, ns_of(c, a->counted)};
    for (size_t i = 0; i < a->room && is_good; i++)
        if (a->records[i].name != NULL)
            is_good = add_record(c, rank, &a->records[i]);
    return is_good && (a->rest.calls == 0 || add_record(c, rank, &a->rest));
}

static double ns_per_tick(const mpi_job_t *job)
{
    uint64_t ticks = xy_trace_clock() - start_ticks, ns = monotonic_ns() - start_ns;

    return job->clock != NULL || ticks == 0 ? 1 : (double)ns / (double)ticks;
}

enum { PROCESS_CORES = 1 << 16 }; /* numbers of cores for each process */

/* Add the records of all ranks of this process, as a function of a thread. */
static void *add_ranks(void *arg)
{
    collecting_t *c = arg;
    const mpi_job_t *job = c->job;

    for (int r = 0; r < job->size && c->is_good; r++) {
        int worker = mpi_rank_is_here(job, r) ? job->home[r] : 0;

        c->is_good =
            add_rank(c, r,
                     c->core_of != NULL ? (uint32_t)c->core_of[r]
                                        : (uint32_t)(job->process * PROCESS_CORES + worker));
    }
    return NULL;
}

xy_status_t mpi_account_collect(mpi_job_t *job, const char *program, const int32_t *core_of,
                                xy_profile_t **profile_p)
{
    collecting_t c = {.job = job, .scale = ns_per_tick(job), .core_of = core_of};
    xy_status_t st = xy_profile_create(program, (uint32_t)job->size, &c.profile);

    if (st != XY_OK)
        return st;
    c.profile->is_virtual = job->clock != NULL;
    xy_hash_init(&c.places, XY_HASH_STRING);
    xy_hash_init(&c.known, XY_HASH_U64);
    c.is_good = xy_arena_create(&c.arena) == XY_OK;
    /* There are many places to describe: on one thread. */
    if (!mpi_caller_run_aside(add_ranks, &c))
        add_ranks(&c);
    xy_hash_cleanup(&c.places);
    xy_hash_cleanup(&c.known);
    xy_arena_destroy(c.arena);
    xy_free(account_far);
    account_far = NULL;
    if (!c.is_good) {
        xy_profile_destroy(c.profile);
        return xy_fail_memory("collecting a profile");
    }
    *profile_p = c.profile;
    return XY_OK;
}
