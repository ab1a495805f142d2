/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that wait for each other while others go on.
 *
 * What belongs to a rank is touched by its worker only, so each worker looks at its own ranks: when
 * a new look is asked for (`asked`), in its poll function, between two calls. It writes down what
 * its parked ranks wait for, and answers. The thread that asked puts the answers together and looks
 * for a knot (knot.h). Workers whose ranks compute do not answer in time: their ranks may act.
 *
 * Answers come at different moments, so the picture would be of no moment at all. A rank counts as
 * parked at look k only if its worker saw it parked at a look before k, and it has not run since:
 * each park erases the mark that a look leaves (XMPI_WAITER_SEEN). And look k is asked for when
 * those workers had answered k - 1. Between the two there is a moment T when all ranks that count
 * were parked. What they wait for at T, and whether it may come:
 *
 *   - What a parked rank sent was in a ring before its mark was made: no mark is made while the
 *     worker keeps packets for which a ring had no room. The answer k of the receiver's worker
 *     comes after it has handled all that was in its rings at T. So a receive that is still posted
 *     in answer k has got nothing from those that were parked at T.
 *   - A send waits for its receiver as long as the message is among those that the receiver keeps,
 *     in answer k. It is not there while it is under way, or when it is being copied.
 *   - A member that had not called a collective at T or later has not called it at T.
 *
 * So in a knot each rank waits at T for ranks of the knot only, and what they did before T has
 * arrived. None of them will ever run again, also when those that are not in it do.
 *
 * Ranks that poll (p2p/polling.h) are not parked, and may do anything next. But one that has done
 * nothing for long but test and probe, with the same result, would do so for ever. Its tests count
 * as waits then. What tells it from a rank that works, and tests from time to time: nearly all
 * tests follow each other at once, most of the time is spent in them, no message was sent to it and
 * no receive started by it, and it has looked at no clock, slept nor read anything meanwhile.
 *
 * In virtual time the ranks run one at a time, on one worker, and what is under way to a rank is
 * known: each look is of a moment, and a rank to which nothing is under way can be in a knot.
 *
 * With --check sends wait for their receivers, and receives from any source for the others: in a
 * knot, one such send is let go instead of a report.
 *
 * What may end without a rank is no reason to be in a knot: one-sided operations and locks (the
 * worker of a target grants them), generalized requests, neighbourhood collectives, messages that
 * are being copied; nor are ranks whose threads may call MPI.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/check/check.h"
#include "mpi/check/copy_memory.h"
#include "mpi/check/deadlock.h"
#include "mpi/check/engine.h"
#include "mpi/check/knot.h"
#include "mpi/check/late.h"
#include "mpi/check/wait.h"
#include "mpi/check/windows.h"
#include "mpi/coll/coll.h"
#include "mpi/object/object.h"
#include "mpi/virtual/virtual.h"

enum { WAITS_MOST = 4096, PATIENCE_MS = 256 };

/* The members that a collective lacks; of the ranks of one worker that wait for it. */
typedef struct {
    coll_need_t need;
    int *ranks;
    int count;
} meeting_t;

/* One wait, and what knot_wait_t refers to. */
typedef struct {
    check_wait_t wait;
    mpi_group_t *group; /* held, or NULL */
    int meeting;        /* of the worker; or -1 */
    bool is_forced;     /* a send that waits only because of --check */
} entry_t;

/* What a rank that polls has done so far. */
typedef struct {
    uint64_t failed, quick, others, order;
    double inside, outside;
} tally_t;

/* What a worker has written down about a rank that is parked. */
typedef struct {
    knot_rank_t knot;
    bool is_polling;
    tally_t tally;     /* of one that polls */
    xy_vec_t entries;  /* of entry_t, */
    xy_vec_t waits;    /* and of knot_wait_t, as many */
    xy_vec_t messages; /* of const void *: the send requests of those it keeps */
} record_t;

typedef struct {
    _Alignas(XMPI_LINES) _Atomic uint32_t answered;
    bool is_busy;
    xy_vec_t meetings;
    bool is_in_time; /* of the thread that looks: it had answered before this look was asked for */
} answer_t;

static struct {
    mpi_job_t *job;     /* NULL: no thread looks */
    record_t **records; /* [ranks], made when they are needed */
    answer_t *answers;  /* [workers] */
    _Alignas(XMPI_LINES) _Atomic uint32_t asked;
    _Atomic bool releases; /* let a send go that waits only because of --check */
    bool *stuck;           /* [ranks] */
    /* For ranks that poll: */
    double polling; /* seconds; 0: not looked for */
    tally_t *last;  /* [ranks]: at the last look; failed 0: it did not poll then */
    double last_time;
    double *idle_since; /* [ranks]: it has done nothing else since then; 0: it has */
} watch;

/* ---- On the workers: what parked ranks wait for ---- */

static void record_clear(record_t *record)
{
    for (size_t i = 0; i < record->entries.count; i++)
        mpi_group_release(XY_VEC_AT(&record->entries, entry_t, i).group);
    record->knot = (knot_rank_t){.is_parked = false};
    record->is_polling = false;
    record->entries.count = record->waits.count = record->messages.count = 0;
}

static void record_destroy(record_t *record)
{
    if (record == NULL)
        return;
    record_clear(record);
    xy_vec_cleanup(&record->entries);
    xy_vec_cleanup(&record->waits);
    xy_vec_cleanup(&record->messages);
    xy_free(record);
}

static record_t *record_of(int rank)
{
    record_t **record = &watch.records[rank];

    if (*record == NULL) {
        *record = xy_malloc(sizeof(**record));
        if (*record != NULL)
            **record = (record_t){.entries = XY_VEC_INIT(entry_t),
                                  .waits = XY_VEC_INIT(knot_wait_t),
                                  .messages = XY_VEC_INIT(const void *)};
    }
    return *record;
}

/* Has a member, of this worker or another, not called collective `number` yet? If it is parked at
 * T, it cannot do so between T and now: a number of then or later tells. */
static bool lacks(const mpi_worker_t *worker, const coll_need_t *need, int member)
{
    const mpi_coll_t *coll = need->coll;
    const mpi_comm_t *comm = atomic_load_explicit(&coll->comms[member], memory_order_acquire);
    mpi_comm_t copy;

    if (comm == NULL)
        return false;
    if (mpi_job->home[mpi_group_world(coll->group, member)] == worker->index)
        return comm->coll_seq <= need->number;
    return check_copy_memory(&copy, comm, sizeof(copy)) && copy.coll == coll &&
           copy.coll_seq <= need->number;
}

static void meeting_fill(const mpi_worker_t *worker, meeting_t *m)
{
    const mpi_coll_t *coll = m->need.coll;
    int first = m->need.member < 0 ? 0 : m->need.member;
    int end = m->need.member < 0 ? coll->size : first + 1;

    m->count = 0;
    m->ranks = xy_malloc((size_t)(end - first) * sizeof(*m->ranks));
    for (int r = first; m->ranks != NULL && r < end; r++)
        if (lacks(worker, &m->need, r))
            m->ranks[m->count++] = mpi_group_world(coll->group, r);
}

static bool is_same(const coll_need_t *a, const coll_need_t *b)
{
    return a->coll == b->coll && a->number == b->number && a->member == b->member;
}

/* Its index; -1: memory ran out. */
static int meeting_of(mpi_worker_t *worker, const coll_need_t *need)
{
    xy_vec_t *all = &watch.answers[worker->index].meetings;
    meeting_t *m;

    for (size_t i = all->count; i-- > 0;)
        if (is_same(&XY_VEC_AT(all, meeting_t, i).need, need))
            return (int)i;
    m = xy_vec_push(all);
    if (m == NULL)
        return -1;
    m->need = *need;
    meeting_fill(worker, m);
    return (int)all->count - 1;
}

static void meetings_clear(xy_vec_t *all)
{
    for (size_t i = 0; i < all->count; i++)
        xy_free(XY_VEC_AT(all, meeting_t, i).ranks);
    all->count = 0;
}

/* Has nothing met the receive, or the probe, and will nothing that is there? */
static bool is_posted(const check_wait_t *wait)
{
    const mpi_request_t *request = wait->request;

    if (mpi_job->clock != NULL && request != NULL)
        return mpi_virtual_is_unmet(request);
    if (mpi_job->clock != NULL)
        return wait->polled_at != NULL || mpi_virtual_is_probing(wait->comm->owner);
    if (mpi_checks.is_on && check_late_has(wait->comm->owner, request))
        return check_late_waits(wait->comm->owner, request);
    return request == NULL || request->is_posted;
}

static knot_wait_t knot_of_receive(const check_wait_t *wait, mpi_group_t **group_p)
{
    const mpi_comm_t *comm = wait->comm;

    if (comm == NULL || !is_posted(wait))
        return (knot_wait_t){.kind = KNOT_OPEN};
    if (wait->peer >= 0)
        return (knot_wait_t){.kind = KNOT_RANK, .rank = mpi_comm_world_rank(comm, wait->peer)};
    *group_p = comm->remote != NULL ? comm->remote : comm->group;
    mpi_group_hold(*group_p, 1);
    return (knot_wait_t){
        .kind = KNOT_ANY_OF, .ranks = (*group_p)->ranks, .count = (*group_p)->size};
}

/* What a message is known by among those that its receiver keeps. */
static const void *message_of(const mpi_request_t *send)
{
    return mpi_job->clock != NULL ? send->engine : send;
}

/* The ranks of a meeting are set when all of this worker are known: their list may move. */
static knot_wait_t knot_of(mpi_worker_t *worker, entry_t *entry)
{
    const check_wait_t *wait = &entry->wait;
    coll_need_t need;

    switch (wait->kind) {
    case CHECK_WAIT_RECEIVE:
        return knot_of_receive(wait, &entry->group);
    case CHECK_WAIT_SEND:
        return (knot_wait_t){.kind = wait->comm->window == NULL ? KNOT_SEND : KNOT_OPEN,
                             .rank = mpi_comm_world_rank(wait->comm, wait->peer),
                             .message = message_of(wait->request)};
    case CHECK_WAIT_COLLECTIVE:
        if (coll_need_of(wait->request, &need))
            entry->meeting = meeting_of(worker, &need);
        return (knot_wait_t){.kind = entry->meeting >= 0 ? KNOT_ALL_OF : KNOT_OPEN};
    default:
        return (knot_wait_t){.kind = KNOT_OPEN};
    }
}

/* False: memory ran out. */
static bool add_wait(mpi_worker_t *worker, record_t *record, const check_wait_t *wait)
{
    entry_t *entry = xy_vec_push(&record->entries);
    knot_wait_t *knot = entry != NULL ? xy_vec_push(&record->waits) : NULL;

    if (knot == NULL)
        return false;
    *entry = (entry_t){.wait = *wait,
                       .group = NULL,
                       .meeting = -1,
                       .is_forced = wait->kind == CHECK_WAIT_SEND && mpi_checks.is_on &&
                                    check_engine_is_forced(wait->request)};
    *knot = knot_of(worker, entry);
    return true;
}

/* True: all that it waits for is there; or the first ones, where all must end. */
static bool add_waits(record_t *record, mpi_rank_t *rank)
{
    check_wait_t wait;

    if (check_is_probing(rank)) {
        wait = check_wait_of_probe(rank);
        return add_wait(rank->worker, record, &wait);
    }
    record->knot.is_any = check_waits_for_any(rank);
    for (int i = 0; i < mpi_waiter_requests(&rank->own); i++)
        if (check_wait_of(rank, i, &wait) &&
            (record->waits.count == WAITS_MOST || !add_wait(rank->worker, record, &wait)))
            return !record->knot.is_any;
    return true;
}

static void add_message(void *record, const void *message)
{
    (void)xy_vec_append(&((record_t *)record)->messages, &message);
}

static void add_messages(record_t *record, const mpi_rank_t *rank)
{
    if (mpi_job->clock != NULL)
        mpi_virtual_each_unmet(rank, add_message, record);
    for (const xy_match_entry_t *e = rank->match.first; e != NULL; e = e->list_next) {
        const void *sender = ((const mpi_message_t *)e)->sender;

        if (sender != NULL && xy_vec_append(&record->messages, &sender) != XY_OK)
            return; /* the others count as received */
    }
    record->knot.messages = record->messages.data;
    record->knot.messages_count = (int)record->messages.count;
}

static void record_end(record_t *record, const mpi_rank_t *rank, bool is_parked)
{
    record->knot.is_parked = is_parked;
    record->knot.waits = record->waits.data;
    record->knot.count = (int)record->waits.count;
    add_messages(record, rank);
}

static void look_at_parked(mpi_rank_t *rank)
{
    bool is_seen = (rank->own.waits_count & XMPI_WAITER_SEEN) != 0;
    record_t *record = is_seen ? record_of(rank->world) : NULL;

    if (!is_seen && rank->worker->spills == 0)
        rank->own.waits_count |= XMPI_WAITER_SEEN;
    if (record != NULL)
        record_end(record, rank, add_waits(record, rank));
}

static bool add_tests(record_t *record, const mpi_rank_t *rank, const mpi_polling_t *p)
{
    check_wait_t wait;

    if (p->requests == NULL) {
        wait = check_wait_of_probe(rank);
        wait.polled_at = rank->call.caller;
        return add_wait(rank->worker, record, &wait);
    }
    record->knot.is_any = p->is_any;
    for (int i = 0; i < p->count; i++) {
        const mpi_request_t *request = p->requests[i];

        if (request == mpi_request_of(MPI_REQUEST_NULL) || !request->is_active)
            continue;
        if (request->is_done && p->is_any)
            return false;
        if (request->is_done)
            continue;
        wait = check_wait_of_request(rank, request);
        wait.polled_at = rank->call.caller;
        if (record->waits.count == WAITS_MOST || !add_wait(rank->worker, record, &wait))
            return !p->is_any;
    }
    return record->waits.count > 0;
}

static void look_at_polling(const mpi_rank_t *rank, const mpi_polling_t *p)
{
    record_t *record = record_of(rank->world);

    if (record == NULL)
        return;
    record->is_polling = true;
    record->tally =
        (tally_t){.failed = p->failed,
                  .quick = p->quick,
                  .others = p->others,
                  .order = mpi_job->clock != NULL ? mpi_virtual_order(rank) : rank->match.order,
                  .inside = p->inside,
                  .outside = p->outside};
    record_end(record, rank, add_tests(record, rank, p));
}

static void look_at_rank(mpi_rank_t *rank)
{
    record_t *record = watch.records[rank->world];

    if (record != NULL)
        record_clear(record);
    if (rank->thread_level >= MPI_THREAD_SERIALIZED ||
        (mpi_job->clock != NULL && !mpi_virtual_is_quiet(rank)))
        return;
    if (check_is_waiting(rank))
        look_at_parked(rank);
    else if (mpi_polling != NULL && mpi_polling[rank->world].is_inside && rank->call.name != NULL)
        look_at_polling(rank, &mpi_polling[rank->world]);
}

static void set_meetings(record_t *record, const xy_vec_t *meetings)
{
    for (size_t i = 0; record != NULL && i < record->waits.count; i++) {
        int meeting = XY_VEC_AT(&record->entries, entry_t, i).meeting;

        if (meeting >= 0) {
            const meeting_t *m = &XY_VEC_AT(meetings, meeting_t, meeting);

            XY_VEC_AT(&record->waits, knot_wait_t, i).ranks = m->ranks;
            XY_VEC_AT(&record->waits, knot_wait_t, i).count = m->count;
        }
    }
}

static void look_at_ranks(mpi_worker_t *worker, answer_t *answer)
{
    const mpi_job_t *job = watch.job;

    meetings_clear(&answer->meetings);
    for (int r = 0; r < job->size; r++)
        if (job->home[r] == worker->index)
            look_at_rank(&job->ranks[r]);
    for (int r = 0; r < job->size; r++)
        if (job->home[r] == worker->index)
            set_meetings(watch.records[r], &answer->meetings);
}

/* The acquire pairs with the release of mpi_watch_look: what parked ranks of other workers sent is
 * in the rings, and the poll handles it. */
static bool help(mpi_worker_t *worker)
{
    uint32_t asked = atomic_load_explicit(&watch.asked, memory_order_acquire);
    answer_t *answer;

    if (__builtin_expect(watch.job == NULL, 0))
        return false;
    answer = &watch.answers[worker->index];
    if (__builtin_expect(asked == atomic_load_explicit(&answer->answered, memory_order_relaxed) ||
                             answer->is_busy,
                         1))
        return false;
    answer->is_busy = true;
    mpi_poll(worker->base);
    if (mpi_checks.is_on && atomic_exchange_explicit(&watch.releases, false, memory_order_relaxed))
        check_engine_release();
    look_at_ranks(worker, answer);
    answer->is_busy = false;
    atomic_store_explicit(&answer->answered, asked, memory_order_release);
    return false;
}

/* ---- On the thread that looks ---- */

xy_status_t mpi_watch_begin(mpi_job_t *job, double polling)
{
    size_t size = (size_t)job->capacity, bytes = (size_t)job->workers * sizeof(*watch.answers);

    if (job->processes > 1) /* ranks of other processes are not seen here */
        return XY_OK;
    watch.records = xy_calloc(size, sizeof(*watch.records));
    watch.stuck = xy_calloc(size, sizeof(*watch.stuck));
    watch.last = xy_calloc(size, sizeof(*watch.last));
    watch.idle_since = xy_calloc(size, sizeof(*watch.idle_since));
    watch.answers = aligned_alloc(XMPI_LINES, bytes);
    if (watch.records == NULL || watch.stuck == NULL || watch.answers == NULL ||
        watch.last == NULL || watch.idle_since == NULL ||
        (polling > 0 && mpi_polling_start(job) != XY_OK))
        return xy_fail_memory("looking for deadlocks");
    memset((void *)watch.answers, 0, bytes);
    for (int w = 0; w < job->workers; w++)
        watch.answers[w].meetings = XY_VEC_INIT(meeting_t);
    watch.polling = polling;
    watch.job = job;
    return XY_OK;
}

/* The acquire pairs with the release of help(). */
static bool has_answered(int worker)
{
    return atomic_load_explicit(&watch.answers[worker].answered, memory_order_acquire) ==
           atomic_load_explicit(&watch.asked, memory_order_relaxed);
}

static int rank_workers(void)
{
    return watch.job->workers - watch.job->comm_workers;
}

static void ask(void)
{
    for (int w = 0; w < rank_workers(); w++)
        watch.answers[w].is_in_time = has_answered(w);
    atomic_fetch_add_explicit(&watch.asked, 1, memory_order_release);
    for (int w = 0; w < rank_workers(); w++)
        xy_worker_notify(watch.job->worker[w].base);
}

static bool all_have_answered(void)
{
    for (int w = 0; w < rank_workers(); w++)
        if (watch.answers[w].is_in_time && !has_answered(w))
            return false;
    return true;
}

/* ---- Ranks that poll ---- */

enum { POLLS_LEAST = 1000 };

/* Has a rank done nothing but poll between two looks? */
static bool was_idle(const tally_t *before, const tally_t *now)
{
    double failed = (double)(now->failed - before->failed);
    double inside = now->inside - before->inside, outside = now->outside - before->outside;

    return before->failed > 0 && failed >= POLLS_LEAST && now->others == before->others &&
           now->order == before->order && (double)(now->quick - before->quick) >= 0.99 * failed &&
           outside <= inside;
}

static bool is_polling(int rank)
{
    return watch.answers[watch.job->home[rank]].is_in_time && watch.records[rank] != NULL &&
           watch.records[rank]->is_polling;
}

static void judge_polling(void)
{
    double now = xy_now();

    for (int r = 0; r < watch.job->size; r++) {
        tally_t tally = is_polling(r) ? watch.records[r]->tally : (tally_t){.failed = 0};

        if (!was_idle(&watch.last[r], &tally))
            watch.idle_since[r] = 0;
        else if (watch.idle_since[r] <= 0)
            watch.idle_since[r] = watch.last_time;
        watch.last[r] = tally;
    }
    watch.last_time = now;
}

static bool has_polled_long(int rank)
{
    return watch.idle_since[rank] > 0 && watch.last_time - watch.idle_since[rank] >= watch.polling;
}

/* ---- Together ---- */

typedef enum { PARKED_ONLY, POLLING_LONG, POLLING_ALL } who_t;

static bool counts(int rank, who_t who)
{
    if (!watch.answers[watch.job->home[rank]].is_in_time || watch.records[rank] == NULL)
        return false;
    return !watch.records[rank]->is_polling || who == POLLING_ALL ||
           (who == POLLING_LONG && has_polled_long(rank));
}

/* How many members the knot has. */
static int find_knot(knot_rank_t *ranks, who_t who)
{
    for (int r = 0; r < watch.job->size; r++)
        ranks[r] = counts(r, who) ? watch.records[r]->knot : (knot_rank_t){.is_parked = false};
    return check_knot_find(ranks, watch.job->size, watch.stuck);
}

/* Times are taken only while there may be something to find. */
static mpi_watch_t find_polling(knot_rank_t *ranks)
{
    bool may_be = false;

    if (watch.polling <= 0)
        return XMPI_WATCH_NONE;
    judge_polling();
    if (find_knot(ranks, POLLING_LONG) > 0)
        return XMPI_WATCH_POLLING;
    find_knot(ranks, POLLING_ALL);
    for (int r = 0; r < watch.job->size; r++)
        may_be |= watch.stuck[r];
    atomic_store_explicit(&mpi_polling_is_timed, may_be, memory_order_relaxed);
    return XMPI_WATCH_NONE;
}

static mpi_watch_t find(knot_rank_t *ranks)
{
    for (int w = 0; w < rank_workers(); w++)
        watch.answers[w].is_in_time = watch.answers[w].is_in_time && has_answered(w);
    if (find_knot(ranks, PARKED_ONLY) > 0)
        return XMPI_WATCH_PARKED;
    return find_polling(ranks);
}

/* Does one of the knot wait only because of --check? */
static bool has_forced(void)
{
    for (int r = 0; mpi_checks.is_on && r < watch.job->size; r++) {
        const record_t *record = watch.stuck[r] ? watch.records[r] : NULL;

        for (size_t i = 0; record != NULL && i < record->entries.count; i++)
            if (XY_VEC_AT(&record->entries, entry_t, i).is_forced)
                return true;
    }
    return false;
}

mpi_watch_t mpi_watch_look(void)
{
    knot_rank_t *ranks;
    mpi_watch_t found;

    if (watch.job == NULL)
        return XMPI_WATCH_NONE;
    ranks = xy_calloc((size_t)watch.job->capacity, sizeof(*ranks));
    ask();
    for (int ms = 1; ms <= PATIENCE_MS && !all_have_answered(); ms *= 2)
        xy_watcher_sleep(1e-3 * ms);
    found = ranks != NULL ? find(ranks) : XMPI_WATCH_NONE;
    xy_free(ranks);
    if (found != XMPI_WATCH_NONE && has_forced()) {
        atomic_store_explicit(&watch.releases, true, memory_order_relaxed);
        return XMPI_WATCH_NONE;
    }
    return found;
}

char *mpi_watch_ranks(bool polling)
{
    xy_bitset_t members;
    char *text;

    if (xy_bitset_init(&members, (size_t)watch.job->capacity) != XY_OK)
        return NULL;
    for (int r = 0; r < watch.job->size; r++)
        if (watch.stuck[r] && (!polling || watch.records[r]->is_polling))
            xy_bitset_set(&members, (size_t)r);
    text = xy_bitset_format(&members);
    xy_bitset_cleanup(&members);
    return text;
}

/* The first wait of a rank that no other rank may end. */
static void fill(check_graph_t *graph, const knot_rank_t *ranks, int rank)
{
    const record_t *record = watch.records[rank];

    for (int i = 0; i < record->knot.count; i++) {
        const knot_wait_t *wait = &record->knot.waits[i];

        if (check_knot_is_open(ranks, watch.stuck, rank, wait))
            continue;
        graph->wait[rank] = XY_VEC_AT(&record->entries, entry_t, i).wait;
        if ((!record->knot.is_any || record->knot.count == 1) &&
            !check_is_ending(&watch.job->ranks[rank]))
            graph->next[rank] = check_knot_partner(ranks, watch.stuck, rank, wait);
        return;
    }
}

/* What those of the knot own stays as it is: they are parked for ever, or poll. */
void mpi_watch_explain(char *cause, size_t room)
{
    knot_rank_t *ranks = xy_calloc((size_t)watch.job->capacity, sizeof(*ranks));
    check_graph_t graph = {0};

    cause[0] = '\0';
    if (ranks != NULL && check_graph_init(&graph, watch.job)) {
        for (int r = 0; r < watch.job->size; r++)
            if (watch.stuck[r])
                ranks[r] = watch.records[r]->knot;
        for (int r = 0; r < watch.job->size; r++)
            if (watch.stuck[r])
                fill(&graph, ranks, r);
        check_graph_explain(&graph, cause, room);
    }
    check_graph_cleanup(&graph);
    xy_free(ranks);
}

void mpi_watch_end(const char *message)
{
    mpi_check_end(&(mpi_check_end_t){
        .kind = XMPI_FINDING_DEADLOCK, .rank = -1, .ranks = watch.stuck, .message = message});
}

static void end(mpi_job_t *job)
{
    if (watch.job != job)
        return;
    watch.job = NULL;
    for (int r = 0; r < job->size; r++)
        record_destroy(watch.records[r]);
    for (int w = 0; w < job->workers; w++) {
        meetings_clear(&watch.answers[w].meetings);
        xy_vec_cleanup(&watch.answers[w].meetings);
    }
    xy_free(watch.records);
    xy_free(watch.stuck);
    xy_free(watch.last);
    xy_free(watch.idle_since);
    free(watch.answers);
    mpi_polling_stop();
}

static xy_status_t begin(mpi_job_t *job, const mpi_job_config_t *config)
{
    (void)job;
    (void)config;
    mpi_network_answer = check_tell_locks;
    return XY_OK;
}

const mpi_layer_t mpi_check_layer = {
    .help = help, .report = check_report_text, .job_begin = begin, .job_end = end};
