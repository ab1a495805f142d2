/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/check/late.h"

#include <stdio.h>
#include <string.h>

#include "mpi/check/check.h"
#include "mpi/check/cores.h"
#include "mpi/check/engine.h"
#include "mpi/check/pending.h"

/* A receive that waits, or (request NULL) a probe. */
typedef struct {
    mpi_request_t *request;
    xy_envelope_t envelope;
    mpi_comm_t *comm;
    const char *call;
    const void *site;
    mpi_message_t **found_p; /* of a probe, and who makes it */
    mpi_waiter_t *waiter;
} late_t;

static xy_vec_t *lists;   /* [ranks] of late_t, in the order of the calls */
static unsigned *choices; /* [ranks] how many each has made */

/* The candidates of a late receive: the first message of each source. */
enum { CANDIDATES = 64 };
typedef struct {
    mpi_message_t *messages[CANDIDATES];
    int count;
} candidates_t;

xy_status_t check_late_begin(int ranks)
{
    lists = xy_calloc((size_t)ranks, sizeof(*lists));
    choices = xy_calloc((size_t)ranks, sizeof(*choices));
    if (lists == NULL || choices == NULL)
        return xy_fail_memory("checking the program");
    for (int r = 0; r < ranks; r++)
        lists[r] = XY_VEC_INIT(late_t);
    return XY_OK;
}

static late_t *at(const xy_vec_t *list, size_t i)
{
    return &XY_VEC_AT(list, late_t, i);
}

static bool takes(const xy_envelope_t *receive, const xy_envelope_t *message)
{
    return receive->context == message->context &&
           (receive->source == MPI_ANY_SOURCE || receive->source == message->source) &&
           (receive->tag == MPI_ANY_TAG || receive->tag == message->tag);
}

/* Is there a message that both take? */
static bool meets(const xy_envelope_t *a, const xy_envelope_t *b)
{
    return a->context == b->context &&
           (a->source == MPI_ANY_SOURCE || b->source == MPI_ANY_SOURCE || a->source == b->source) &&
           (a->tag == MPI_ANY_TAG || b->tag == MPI_ANY_TAG || a->tag == b->tag);
}

/* Does one of the first `before` late receives take the message? */
static bool is_taken(const xy_vec_t *list, size_t before, const xy_envelope_t *message)
{
    for (size_t i = 0; i < before; i++)
        if (at(list, i)->request != NULL && takes(&at(list, i)->envelope, message))
            return true;
    return false;
}

bool check_late_takes(const mpi_rank_t *to, const xy_envelope_t *envelope)
{
    return is_taken(&lists[to->world], lists[to->world].count, envelope);
}

static bool has_source(const candidates_t *c, int source)
{
    for (int i = 0; i < c->count; i++)
        if (c->messages[i]->entry.envelope.source == source)
            return true;
    return false;
}

/* For a receive or probe with this envelope, behind the first `before` late ones of its rank. */
static void find_candidates(const mpi_rank_t *rank, const xy_envelope_t *envelope, size_t before,
                            candidates_t *c)
{
    c->count = 0;
    for (xy_match_entry_t *e = rank->match.first; e != NULL && c->count < CANDIDATES;
         e = e->list_next)
        if (takes(envelope, &e->envelope) && !has_source(c, e->envelope.source) &&
            !is_taken(&lists[rank->world], before, &e->envelope))
            c->messages[c->count++] = (mpi_message_t *)e;
}

bool check_late_receive(mpi_rank_t *self, mpi_request_t *request)
{
    const xy_envelope_t *envelope = &request->entry.envelope;
    xy_vec_t *list = &lists[self->world];
    bool is_late = envelope->source == MPI_ANY_SOURCE;
    late_t *late;

    for (size_t i = 0; i < list->count && !is_late; i++)
        is_late = at(list, i)->request != NULL && meets(&at(list, i)->envelope, envelope);
    late = is_late ? xy_vec_push(list) : NULL;
    if (late == NULL)
        return false;
    check_cores_late(self->worker, 1);
    *late = (late_t){.request = request,
                     .envelope = *envelope,
                     .comm = request->comm,
                     .call = self->call.name,
                     .site = self->call.caller};
    return true;
}

/* Its number among those of the rank, for a probe (request NULL) that of the rank itself; -1: it is
 * not late. */
static int find_late(const mpi_rank_t *rank, const mpi_request_t *request)
{
    const xy_vec_t *list = &lists[rank->world];

    for (size_t i = 0; i < list->count; i++)
        if (at(list, i)->request == request)
            return (int)i;
    return -1;
}

bool check_late_has(const mpi_rank_t *rank, const mpi_request_t *request)
{
    return find_late(rank, request) >= 0;
}

bool check_late_waits(const mpi_rank_t *rank, const mpi_request_t *request)
{
    int i = find_late(rank, request);
    candidates_t c;

    find_candidates(rank, &at(&lists[rank->world], (size_t)i)->envelope, (size_t)i, &c);
    return c.count == 0;
}

static void drop(const mpi_rank_t *rank, size_t i)
{
    xy_vec_t *list = &lists[rank->world];

    check_cores_late(rank->worker, -1);
    for (; i + 1 < list->count; i++)
        *at(list, i) = *at(list, i + 1);
    xy_vec_pop(list);
}

bool check_late_cancel(mpi_rank_t *self, mpi_request_t *request)
{
    xy_vec_t *list = &lists[self->world];

    for (size_t i = 0; i < list->count; i++)
        if (at(list, i)->request == request) {
            drop(self, i);
            request->completion.is_cancelled = true;
            mpi_request_complete(request);
            return true;
        }
    return false;
}

/* "rank 2 (at ring.c:12), rank 3": those that were not taken. */
static void name_others(const late_t *late, const candidates_t *c, const mpi_message_t *taken,
                        char *text, size_t size)
{
    enum { SHOWN = 4 };
    size_t used = 0;
    int shown = 0;

    text[0] = '\0';
    for (int i = 0; i < c->count && used < size; i++) {
        const mpi_message_t *m = c->messages[i];
        char rank[XMPI_RANK_TEXT], place[160];

        if (m == taken || shown++ >= SHOWN)
            continue;
        mpi_caller_describe(m->sender == &mpi_remote_sender
                                ? mpi_remote_site((const remote_letter_t *)(const void *)m->data)
                                : m->site,
                            place, sizeof(place));
        used +=
            (size_t)snprintf(text + used, size - used, "%s%s%s%s%s", used > 0 ? ", " : "",
                             mpi_comm_describe_rank(late->comm, m->entry.envelope.source, rank),
                             place[0] != '\0' ? " (sent " : "", place, place[0] != '\0' ? ")" : "");
    }
    if (shown > SHOWN && used < size)
        snprintf(text + used, size - used, " and %d more", shown - SHOWN);
}

/* Report that a receive from any source could have taken another message. */
static void report_choice(const mpi_rank_t *rank, const late_t *late, const candidates_t *c,
                          const mpi_message_t *taken)
{
    mpi_finding_t finding = {
        .kind = XMPI_FINDING_WILDCARD, .rank = rank->world, .other = -1, .sites = {late->site}};
    char sender[XMPI_RANK_TEXT], others[640], site[160];

    if (c->count < 2 || late->envelope.source != MPI_ANY_SOURCE || mpi_finding_is_known(&finding))
        return;
    finding.other = mpi_comm_world_rank(late->comm, taken->entry.envelope.source);
    name_others(late, c, taken, others, sizeof(others));
    mpi_caller_describe(late->site, site, sizeof(site));
    mpi_finding_add(
        &finding, "%s from any source%s%s took the message of %s; it could have taken that of %s",
        late->call, site[0] != '\0' ? ", " : "", site,
        mpi_comm_describe_rank(late->comm, taken->entry.envelope.source, sender), others);
}

/* Messages of several cores come in any order: by their ranks, to be the same each time. */
static void sort(candidates_t *c)
{
    for (int i = 1; i < c->count; i++)
        for (int k = i; k > 0 && c->messages[k - 1]->entry.envelope.source >
                                     c->messages[k]->entry.envelope.source;
             k--) {
            mpi_message_t *m = c->messages[k];

            c->messages[k] = c->messages[k - 1];
            c->messages[k - 1] = m;
        }
}

/* Choose the first message; where ranks run at the same time, that of the first rank. */
static mpi_message_t *choose(const mpi_rank_t *rank, candidates_t *c)
{
    if (check_is_parallel())
        sort(c);
    if (!check_shuffles())
        return c->messages[0];
    if (mpi_job->processes > 1)
        return c
            ->messages[check_random_of(rank->world, choices[rank->world]++, (unsigned)c->count)];
    return c->messages[check_random((unsigned)c->count)];
}

/* The late receive number `i` of a rank, or its probe, gets `m`. True: a rank can move now, or
 * perhaps one of another worker. */
static bool give(mpi_rank_t *rank, size_t i, mpi_message_t *m)
{
    late_t late = *at(&lists[rank->world], i);
    bool is_far = m->sender != NULL && m->sender != &mpi_remote_sender &&
                  m->sender->owner->worker != rank->worker;
    const mpi_waiter_t *sender = m->sender != NULL && !is_far ? m->sender->waiter : NULL;

    drop(rank, i);
    if (late.request != NULL) {
        const mpi_waiter_t *waiter = late.request->waiter;

        xy_match_drop(&rank->match, &m->entry);
        mpi_plain_receive_message(rank, late.request, m);
        check_pending_arrive(rank);
        return is_far || (waiter != NULL && waiter->count == 0) ||
               (sender != NULL && sender->count == 0);
    }
    *late.found_p = m;
    for (mpi_waiter_t **w = &rank->probers; *w != NULL; w = &(*w)->next)
        if (*w == late.waiter) {
            *w = late.waiter->next;
            xy_fiber_ready(late.waiter->fiber);
            break;
        }
    return true;
}

bool check_late_match_of(mpi_rank_t *rank, bool *readies_p)
{
    const xy_vec_t *list = &lists[rank->world];

    for (size_t i = 0; i < list->count; i++) {
        candidates_t c;
        mpi_message_t *m;

        find_candidates(rank, &at(list, i)->envelope, i, &c);
        if (c.count == 0)
            continue;
        m = choose(rank, &c);
        report_choice(rank, at(list, i), &c, m);
        *readies_p = give(rank, i, m);
        return true;
    }
    return false;
}

/* Has each rank that could send to it done so? The receiver itself cannot while its call blocks. */
static bool is_complete(const late_t *late, const candidates_t *c)
{
    const mpi_comm_t *comm = late->comm;
    bool has_own = comm->remote == NULL && has_source(c, comm->rank);

    return c->count - has_own >= (comm->remote != NULL ? comm->remote->size : comm->size - 1) &&
           (late->request == NULL || strcmp(late->call, "MPI_Recv") == 0);
}

void check_late_arrive(mpi_rank_t *rank)
{
    const xy_vec_t *list = &lists[rank->world];
    candidates_t c;

    if (list->count == 0)
        return;
    find_candidates(rank, &at(list, 0)->envelope, 0, &c);
    if (c.count > 0 && is_complete(at(list, 0), &c))
        check_late_match_of(rank, &(bool){false});
}

bool check_late_match(const mpi_worker_t *worker, bool *readies_p)
{
    int ranks = mpi_job->size;
    int first = check_shuffles() ? (int)check_random((unsigned)ranks) : 0;

    for (int i = 0; i < ranks; i++) {
        int r = (first + i) % ranks;

        if (mpi_job->home[r] == worker->index && check_late_match_of(&mpi_job->ranks[r], readies_p))
            return true;
    }
    return false;
}

bool check_late_can_match(const mpi_rank_t *rank)
{
    const xy_vec_t *list = &lists[rank->world];
    candidates_t c = {.count = 0};

    for (size_t i = 0; i < list->count && c.count == 0; i++)
        find_candidates(rank, &at(list, i)->envelope, i, &c);
    return c.count > 0;
}

/* Park until a held-back probe is given its message; NULL without memory. */
static mpi_message_t *wait_for(mpi_rank_t *self, const xy_envelope_t *envelope)
{
    mpi_message_t *found = NULL;
    late_t *late = xy_vec_push(&lists[self->world]);

    if (late == NULL)
        return NULL;
    check_cores_late(self->worker, 1);
    *late = (late_t){.envelope = *envelope,
                     .comm = self->call.comm,
                     .call = self->call.name,
                     .site = self->call.caller,
                     .found_p = &found,
                     .waiter = self->waiter};
    while (found == NULL) { /* a message that arrives readies it, too */
        self->waiter->next = self->probers;
        self->probers = self->waiter;
        xy_fiber_park();
    }
    return found;
}

mpi_message_t *check_late_probe(mpi_rank_t *self, const xy_envelope_t *envelope, bool waits)
{
    candidates_t c;

    find_candidates(self, envelope, lists[self->world].count, &c);
    if (waits && (c.count == 0 || envelope->source == MPI_ANY_SOURCE))
        return wait_for(self, envelope);
    return c.count > 0 ? choose(self, &c) : NULL;
}
