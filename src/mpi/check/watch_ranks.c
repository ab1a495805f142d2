/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * On the workers: what parked ranks wait for, and what ranks that poll have done. See watch.c.
 */

#include "mpi/check/copy_memory.h"
#include "mpi/check/cores.h"
#include "mpi/check/engine.h"
#include "mpi/check/late.h"
#include "mpi/check/watch.h"
#include "mpi/virtual/virtual.h"

enum { WAITS_MOST = 4096, FAR_WAITS_MOST = 256, FAR_MESSAGES_MOST = 1024, FAR_CALLS_MOST = 64 };

static void record_clear(watch_record_t *record)
{
    for (size_t i = 0; i < record->entries.count; i++)
        mpi_group_release(XY_VEC_AT(&record->entries, watch_entry_t, i).group);
    record->knot = (knot_rank_t){.is_parked = false};
    record->is_polling = false;
    record->entries.count = record->waits.count = record->messages.count = 0;
    record->needs.count = record->calls.count = 0;
}

void check_watch_record_destroy(watch_record_t *record)
{
    if (record == NULL)
        return;
    record_clear(record);
    xy_vec_cleanup(&record->entries);
    xy_vec_cleanup(&record->waits);
    xy_vec_cleanup(&record->messages);
    xy_vec_cleanup(&record->needs);
    xy_vec_cleanup(&record->calls);
    xy_free(record);
}

/* The record of a rank, created on first use; NULL without memory. */
static watch_record_t *record_of(int rank)
{
    watch_record_t **record = &check_watch.records[rank];

    if (*record == NULL) {
        *record = xy_malloc(sizeof(**record));
        if (*record != NULL)
            **record = (watch_record_t){.entries = XY_VEC_INIT(watch_entry_t),
                                        .waits = XY_VEC_INIT(knot_wait_t),
                                        .messages = XY_VEC_INIT(const void *),
                                        .needs = XY_VEC_INIT(picture_need_t),
                                        .calls = XY_VEC_INIT(picture_calls_t)};
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

static void meeting_fill(const mpi_worker_t *worker, watch_meeting_t *m)
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
    xy_vec_t *all = &check_watch.answers[worker->index].meetings;
    watch_meeting_t *m;

    for (size_t i = all->count; i-- > 0;)
        if (is_same(&XY_VEC_AT(all, watch_meeting_t, i).need, need))
            return (int)i;
    m = xy_vec_push(all);
    if (m == NULL)
        return -1;
    m->need = *need;
    meeting_fill(worker, m);
    return (int)all->count - 1;
}

void check_watch_meetings_clear(xy_vec_t *all)
{
    for (size_t i = 0; i < all->count; i++)
        xy_free(XY_VEC_AT(all, watch_meeting_t, i).ranks);
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

/* The key of a message among those that its receiver keeps. */
static const void *message_of(const mpi_request_t *send)
{
    if (mpi_job->processes > 1)
        return picture_message(mpi_job->process, (uint64_t)(uintptr_t)send);
    return mpi_job->clock != NULL ? send->engine : send;
}

/* Make the wait of a collective; missing members are found where the ranks of all processes are
 * known. */
static knot_wait_t knot_of_collective(mpi_worker_t *worker, watch_entry_t *entry,
                                      picture_need_t *far)
{
    const check_wait_t *wait = &entry->wait;
    coll_need_t need;

    if (wait->request->kind != XMPI_KIND_COLL || !coll_need_of(wait->request, &need))
        return (knot_wait_t){.kind = KNOT_OPEN};
    if (mpi_job->processes == 1) {
        entry->meeting = meeting_of(worker, &need);
        return (knot_wait_t){.kind = entry->meeting >= 0 ? KNOT_ALL_OF : KNOT_OPEN};
    }
    *far = (picture_need_t){
        .context = need.coll->context,
        .number = need.number,
        .member = need.member >= 0 ? mpi_group_world(need.coll->group, need.member) : need.member,
        .is_together = need.is_together};
    return (knot_wait_t){.kind = KNOT_ALL_OF};
}

/* The ranks of a meeting are set when all of this worker are known: their list may move. */
static knot_wait_t knot_of(mpi_worker_t *worker, watch_entry_t *entry, picture_need_t *far)
{
    const check_wait_t *wait = &entry->wait;

    if (wait->request != NULL && mpi_request_is_partitioned(wait->request))
        return (knot_wait_t){.kind = KNOT_OPEN}; /* each partition is a message of its own */
    switch (wait->kind) {
    case CHECK_WAIT_RECEIVE:
        return knot_of_receive(wait, &entry->group);
    case CHECK_WAIT_SEND:
        return (knot_wait_t){.kind = wait->comm->window == NULL ? KNOT_SEND : KNOT_OPEN,
                             .rank = mpi_comm_world_rank(wait->comm, wait->peer),
                             .message = message_of(wait->request)};
    case CHECK_WAIT_COLLECTIVE:
        return knot_of_collective(worker, entry, far);
    default:
        return (knot_wait_t){.kind = KNOT_OPEN};
    }
}

/* False: memory ran out. */
static bool add_wait(mpi_worker_t *worker, watch_record_t *record, const check_wait_t *wait)
{
    watch_entry_t *entry = xy_vec_push(&record->entries);
    knot_wait_t *knot = entry != NULL ? xy_vec_push(&record->waits) : NULL;
    picture_need_t *far = knot != NULL ? xy_vec_push(&record->needs) : NULL;

    if (far == NULL)
        return false;
    *entry = (watch_entry_t){.wait = *wait,
                             .group = NULL,
                             .meeting = -1,
                             .is_forced = wait->kind == CHECK_WAIT_SEND && mpi_checks.is_on &&
                                          wait->request->kind == XMPI_KIND_SEND &&
                                          check_engine_is_forced(wait->request)};
    *knot = knot_of(worker, entry, far);
    return true;
}

static size_t waits_most(void)
{
    return mpi_job->processes > 1 ? FAR_WAITS_MOST : WAITS_MOST;
}

/* True: all that it waits for is there; or the first ones, where all must end. */
static bool add_waits(watch_record_t *record, mpi_rank_t *rank)
{
    check_wait_t wait;

    if (check_is_probing(rank)) {
        wait = check_wait_of_probe(rank);
        return add_wait(rank->worker, record, &wait);
    }
    record->knot.is_any = check_waits_for_any(rank);
    for (int i = 0; i < mpi_waiter_requests(&rank->own); i++)
        if (check_wait_of(rank, i, &wait) &&
            (record->waits.count == waits_most() || !add_wait(rank->worker, record, &wait)))
            return !record->knot.is_any;
    return true;
}

static void add_message(void *record, const void *message)
{
    (void)xy_vec_append(&((watch_record_t *)record)->messages, &message);
}

/* The send that waits until its message is received, as message_of names it; NULL: none. */
static const void *sender_of(const mpi_message_t *m)
{
    const remote_letter_t *letter = (const remote_letter_t *)(const void *)m->data;

    if (mpi_job->processes == 1 || m->sender == NULL)
        return m->sender;
    if (m->sender != &mpi_remote_sender)
        return message_of(m->sender);
    if (letter->head.kind == REMOTE_EAGER && (letter->head.flags & REMOTE_SYNCHRONOUS) == 0)
        return NULL;
    return picture_message(letter->from, letter->head.id);
}

/* Note the messages that have come for a rank and were not received. */
static void add_messages(watch_record_t *record, const mpi_rank_t *rank)
{
    if (mpi_job->clock != NULL)
        mpi_virtual_each_unmet(rank, add_message, record);
    for (const xy_match_entry_t *e = rank->match.first; e != NULL; e = e->list_next) {
        const void *sender = sender_of((const mpi_message_t *)e);

        if (sender == NULL)
            continue;
        if ((mpi_job->processes > 1 && record->messages.count == FAR_MESSAGES_MOST) ||
            xy_vec_append(&record->messages, &sender) != XY_OK)
            break; /* the others count as received */
    }
    record->knot.messages = record->messages.data;
    record->knot.messages_count = (int)record->messages.count;
}

/* Contexts of communicators that the program has freed may be known to others no more. */
static void add_calls(watch_record_t *record, const mpi_rank_t *rank)
{
    for (const mpi_comm_t *comm = rank->comms; comm != NULL; comm = comm->next) {
        picture_calls_t calls = {comm->context, comm->coll_seq};

        if (comm->mark != XMPI_COMM_LIVE || comm->size == 1)
            continue;
        if (record->calls.count == FAR_CALLS_MOST || xy_vec_append(&record->calls, &calls) != XY_OK)
            return; /* ranks of other workers are not known */
    }
}

static void record_end(watch_record_t *record, const mpi_rank_t *rank, bool is_parked)
{
    record->knot.is_parked = is_parked;
    record->knot.waits = record->waits.data;
    record->knot.count = (int)record->waits.count;
    add_messages(record, rank);
    if (mpi_job->processes > 1)
        add_calls(record, rank);
}

static void look_at_parked(mpi_rank_t *rank)
{
    bool is_seen = (rank->own.waits_count & XMPI_WAITER_SEEN) != 0;
    watch_record_t *record = is_seen ? record_of(rank->world) : NULL;

    if (!is_seen && rank->worker->spills == 0)
        rank->own.waits_count |= XMPI_WAITER_SEEN;
    if (record != NULL)
        record_end(record, rank, add_waits(record, rank));
}

/* Add what a polling rank tests for as its waits; false if these do not show that it cannot
 * continue.
 */
static bool add_tests(watch_record_t *record, const mpi_rank_t *rank, const mpi_polling_t *p)
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
        if (record->waits.count == waits_most() || !add_wait(rank->worker, record, &wait))
            return !p->is_any;
    }
    return record->waits.count > 0;
}

/* Record what a polling rank has done so far and what it tests for. */
static void look_at_polling(const mpi_rank_t *rank, const mpi_polling_t *p)
{
    watch_record_t *record = record_of(rank->world);

    if (record == NULL)
        return;
    record->is_polling = true;
    record->tally = (watch_tally_t){.failed = p->failed,
                                    .quick = p->quick,
                                    .others = p->others,
                                    .order = mpi_job->clock != NULL ? mpi_virtual_order(rank)
                                                                    : rank->match.order,
                                    .inside = p->inside,
                                    .outside = p->outside};
    record_end(record, rank, add_tests(record, rank, p));
}

/* Record what a rank waits for or polls; ranks with threads that may call MPI are left out. */
static void look_at_rank(mpi_rank_t *rank)
{
    watch_record_t *record = check_watch.records[rank->world];

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

static void set_meetings(watch_record_t *record, const xy_vec_t *meetings)
{
    for (size_t i = 0; record != NULL && i < record->waits.count; i++) {
        int meeting = XY_VEC_AT(&record->entries, watch_entry_t, i).meeting;

        if (meeting >= 0) {
            const watch_meeting_t *m = &XY_VEC_AT(meetings, watch_meeting_t, meeting);

            XY_VEC_AT(&record->waits, knot_wait_t, i).ranks = m->ranks;
            XY_VEC_AT(&record->waits, knot_wait_t, i).count = m->count;
        }
    }
}

static void look_at_ranks(mpi_worker_t *worker, watch_answer_t *answer)
{
    const mpi_job_t *job = check_watch.job;

    check_watch_meetings_clear(&answer->meetings);
    for (int r = 0; r < job->size; r++)
        if (job->home[r] == worker->index)
            look_at_rank(&job->ranks[r]);
    for (int r = 0; r < job->size; r++)
        if (job->home[r] == worker->index)
            set_meetings(check_watch.records[r], &answer->meetings);
}

/* The cause is known where ranks run at the same time. If no send to a rank of this worker waits,
 * another one does it. */
static void release(const mpi_worker_t *worker)
{
    const bool *stuck = mpi_job->processes > 1 ? NULL : check_watch.stuck;
    const char *cause = check_is_parallel() ? check_watch.cause : NULL;

    if (!check_engine_release(worker, stuck, cause) && check_cores_count() > 1)
        atomic_store_explicit(&check_watch.releases, true, memory_order_release);
}

/* The acquire pairs with the release of mpi_watch_look: what parked ranks of other workers sent is
 * in the rings, and the poll handles it. */
bool check_watch_help(mpi_worker_t *worker)
{
    uint32_t asked = atomic_load_explicit(&check_watch.asked, memory_order_acquire);
    bool is_served = __builtin_expect(mpi_checks.is_on, 0) && check_engine_serve(worker);
    watch_answer_t *answer;

    if (__builtin_expect(check_watch.job == NULL, 0))
        return is_served;
    answer = &check_watch.answers[worker->index];
    if (__builtin_expect(asked == atomic_load_explicit(&answer->answered, memory_order_relaxed) ||
                             answer->is_busy,
                         1))
        return is_served;
    answer->is_busy = true;
    mpi_poll(worker->base);
    if (mpi_job->processes > 1) /* and what those of other processes sent, in the mailbox */
        mpi_network_read(worker);
    if (mpi_checks.is_on &&
        atomic_exchange_explicit(&check_watch.releases, false, memory_order_acquire))
        release(worker);
    look_at_ranks(worker, answer);
    answer->is_busy = false;
    atomic_store_explicit(&answer->answered, asked, memory_order_release);
    return is_served;
}
