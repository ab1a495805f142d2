/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The current state of ranks, read from outside while they run. As in deadlock.c every record is
 * copied through the kernel and only the copy is looked at: it may be of the past, or half of it.
 */
#include <string.h>

#include "mpi/check/check.h"
#include "mpi/check/copy_memory.h"
#include "mpi/check/deadlock.h"
#include "mpi/check/watch.h"
#include "mpi/coll/coll.h"

enum { REQUESTS_MOST = 256, COMMS_MOST = 16 };

typedef struct {
    xy_live_t *live;
    const mpi_job_t *job;
    uint64_t now;
    bool is_full;
} looking_t;

static const char *keep(looking_t *look, const char *text)
{
    const char *kept = *text == '\0' ? "" : xy_arena_strndup(look->live->arena, text, strlen(text));

    look->is_full |= kept == NULL;
    return kept != NULL ? kept : "";
}

/* ---- Whom it waits for ---- */

static void add_partner(xy_live_rank_t *r, int partner)
{
    uint32_t shown = r->partners < XY_LIVE_PARTNERS ? r->partners : XY_LIVE_PARTNERS;

    for (uint32_t i = 0; i < shown; i++)
        if (r->partner[i] == partner)
            return;
    if (r->partners < XY_LIVE_PARTNERS)
        r->partner[r->partners] = partner;
    r->partners++;
}

static void add_peer(const looking_t *look, xy_live_rank_t *r, const mpi_comm_t *comm, int peer)
{
    int world = check_world_rank(comm, peer);

    if (world < 0)
        world = peer;
    if (peer == MPI_ANY_SOURCE)
        add_partner(r, XY_LIVE_ANYBODY);
    else if (peer >= 0 && world < look->job->size)
        add_partner(r, world);
}

/* Does the member get data from the root only? */
static bool is_from_root(const char *name)
{
    return strstr(name, "cast") != NULL || strncmp(name, "MPI_Scatter", 11) == 0 ||
           strncmp(name, "MPI_Iscatter", 12) == 0;
}

/* Record the collective that a rank waits in; missing members are found where all ranks are known
 * (xy_live_settle). */
static void look_at_collective(const looking_t *look, xy_live_rank_t *r,
                               const mpi_request_t *request)
{
    coll_call_t call;
    mpi_comm_t comm;

    if (!check_copy_memory(&comm, request->comm, sizeof(comm)))
        return;
    r->is_collective = true;
    r->context = comm.context;
    r->number = comm.coll_seq > 0 ? comm.coll_seq - 1 : 0;
    if (!check_copy_memory(&call, request->extra, sizeof(call)) || call.comm != request->comm)
        return;
    if (call.number < comm.coll_seq)
        r->number = call.number;
    if (is_from_root(r->call) && call.root >= 0 && call.root != comm.rank)
        add_peer(look, r, request->comm, call.root);
}

/* Note the partners of the requests that a rank waits for; anybody if one of several is enough. */
static void look_at_requests(const looking_t *look, const mpi_rank_t *rank, xy_live_rank_t *r)
{
    int count = mpi_waiter_requests(&rank->own), pending = 0;
    mpi_request_t request;

    for (int i = 0; i < count && i < REQUESTS_MOST; i++) {
        if (!check_copy_request(&rank->own, i, &request))
            continue;
        pending++;
        if (request.kind == XMPI_KIND_COLL && request.comm != NULL)
            look_at_collective(look, r, &request);
        else if (request.kind != XMPI_KIND_GENERALIZED && request.comm != NULL)
            add_peer(look, r, request.comm, request.peer);
    }
    if (rank->own.count > 0 && rank->own.count < pending) { /* any of them */
        r->partners = 1;
        r->partner[0] = XY_LIVE_ANYBODY;
    }
}

/* ---- What it does ---- */

static void look_at_call(looking_t *look, const mpi_rank_t *rank, const check_place_t *place,
                         xy_live_rank_t *r)
{
    r->state = rank->own.count > 0 || rank->probers != NULL ? XY_LIVE_WAIT : XY_LIVE_CALL;
    r->call = keep(look, place->name);
    r->comm = keep(look, place->comm);
    if (r->state == XY_LIVE_CALL)
        return;
    if (rank->probers != NULL)
        add_peer(look, r, rank->call.comm, rank->call.peer);
    else
        look_at_requests(look, rank, r);
}

/* Since when it was seen parked, by those who look for deadlocks; 0: not known. */
static uint64_t parked_since(int rank)
{
    return check_watch.job != NULL && check_watch.parked_since != NULL
               ? atomic_load_explicit(&check_watch.parked_since[rank], memory_order_relaxed)
               : 0;
}

/* How long it has done what it does. */
static void look_at_clock(const looking_t *look, const mpi_live_t *live, xy_live_rank_t *r)
{
    uint64_t entered = atomic_load_explicit(&live->entered, memory_order_relaxed);
    uint64_t left = atomic_load_explicit(&live->left, memory_order_relaxed);
    uint64_t begin = r->state == XY_LIVE_COMPUTE ? left : entered > left ? entered : 0;
    uint64_t parked = r->state == XY_LIVE_WAIT ? parked_since(r->rank) : 0;

    r->is_least = begin == 0;
    if (begin == 0)
        begin = mpi_live_since();
    if (r->is_least && parked > 0 && parked < begin)
        begin = parked;
    r->ns = look->now > begin ? look->now - begin : 0;
    r->calls = atomic_load_explicit(&live->calls, memory_order_relaxed);
    r->messages = atomic_load_explicit(&live->messages, memory_order_relaxed);
    r->bytes = atomic_load_explicit(&live->bytes, memory_order_relaxed);
}

/* Add what a rank does now to the snapshot; is_full is set without memory or if it cannot be read.
 */
static void add_rank(looking_t *look, int world)
{
    xy_live_rank_t *r = xy_vec_push(&look->live->ranks);
    check_place_t place;
    char site[160] = "";
    mpi_rank_t rank;

    if (r == NULL || !check_copy_memory(&rank, &look->job->ranks[world], sizeof(rank))) {
        look->is_full = true;
        return;
    }
    *r = (xy_live_rank_t){.rank = world,
                          .process = (uint32_t)look->job->process,
                          .call = "",
                          .comm = "",
                          .place = "",
                          .state = XY_LIVE_COMPUTE};
    check_copy_call(&rank.call, &place);
    if (rank.phase == XMPI_RANK_BEFORE_INIT || rank.phase == XMPI_RANK_FINALIZED)
        r->state = rank.phase == XMPI_RANK_FINALIZED ? XY_LIVE_END : XY_LIVE_START;
    else if (rank.call.caller != NULL)
        mpi_caller_describe(rank.call.caller, site, sizeof(site));
    if (place.name[0] != '\0')
        look_at_call(look, &rank, &place, r);
    r->place = keep(look, site);
    if (rank.live != NULL)
        look_at_clock(look, rank.live, r);
}

/* How many collectives it has called on each of its communicators. */
static void add_calls(looking_t *look, int world)
{
    const mpi_comm_t *next = look->job->ranks[world].comms;
    mpi_comm_t comm;

    for (int i = 0; i < COMMS_MOST && next != NULL && check_copy_memory(&comm, next, sizeof(comm));
         i++) {
        xy_live_calls_t calls = {comm.context, world, comm.coll_seq};

        next = comm.next;
        if (comm.mark == XMPI_COMM_LIVE && comm.size > 1 && comm.remote == NULL)
            look->is_full |= xy_vec_append(&look->live->calls, &calls) != XY_OK;
    }
}

xy_status_t mpi_job_snapshot(mpi_job_t *job, xy_live_t *live)
{
    looking_t look = {.live = live, .job = job};
    xy_live_process_t process = {.number = (uint32_t)job->process, .host = ""};
    xy_status_t st = mpi_live_begin(job);

    if (st != XY_OK)
        return st;
    look.now = process.time = mpi_live_now();
    if (job->hosts != NULL)
        process.host = keep(&look, job->hosts[job->process]);
    look.is_full |= xy_vec_append(&live->processes, &process) != XY_OK;
    for (int r = 0; r < job->size; r++)
        if (mpi_rank_is_here(job, r) && !check_is_gone(job, r)) {
            add_rank(&look, r);
            add_calls(&look, r);
        }
    live->size = (uint32_t)job->size;
    return look.is_full ? xy_fail_memory("looking at ranks") : XY_OK;
}
