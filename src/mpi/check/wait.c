/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/check/wait.h"

#include <string.h>

#include "mpi/check/windows.h"
#include "mpi/object/object.h"
#include "mpi/virtual/virtual.h"

bool check_is_ending(const mpi_rank_t *rank)
{
    return rank->phase == XMPI_RANK_FINALIZED ||
           (rank->call.name != NULL && strcmp(rank->call.name, "MPI_Finalize") == 0);
}

bool check_is_probing(const mpi_rank_t *rank)
{
    const mpi_waiter_t *waiter = rank->probers;

    while (waiter != NULL && waiter != &rank->own)
        waiter = waiter->next;
    return waiter != NULL;
}

/* Where threads of a rank call MPI, any of them may be what others wait for. */
bool check_is_waiting(const mpi_rank_t *rank)
{
    return rank->call.name != NULL &&
           (rank->threads == NULL || rank->thread_level < MPI_THREAD_SERIALIZED) &&
           mpi_phase_is_running(rank->phase) && (rank->own.count > 0 || check_is_probing(rank));
}

void check_each_left(const mpi_rank_t *rank, bool (*found)(void *user, const mpi_left_t *message),
                     void *user)
{
    if (mpi_job->clock != NULL) {
        mpi_virtual_each_left(rank, found, user);
        return;
    }
    for (const xy_match_entry_t *e = rank->match.first; e != NULL; e = e->list_next) {
        const mpi_message_t *m = (const mpi_message_t *)e;
        bool is_remote = m->sender == &mpi_remote_sender && m->site == NULL;
        mpi_left_t left = {e->envelope, m->bytes, m->site,
                           is_remote ? (const remote_letter_t *)(const void *)m->data : NULL};

        if (!found(user, &left))
            return;
    }
}

/* For a message that is there, and that the receive does not take. */
typedef struct {
    const check_wait_t *wait;
    bool is_here, is_elsewhere;
    mpi_left_t message;
} search_t;

/* The first of the partner is the one; else the first of the program on another communicator that
 * has the tag. */
static bool look_at_left(void *user, const mpi_left_t *message)
{
    search_t *search = user;
    const xy_envelope_t *e = &message->envelope;
    const check_wait_t *wait = search->wait;

    if (e->context == wait->comm->context) {
        search->is_here = wait->peer < 0 || e->source == wait->peer;
        if (search->is_here)
            search->message = *message;
    } else if (!search->is_elsewhere && check_is_own(message) &&
               (wait->tag == MPI_ANY_TAG || e->tag == wait->tag)) {
        search->is_elsewhere = true;
        search->message = *message;
    }
    return !search->is_here;
}

/* Find a message that a waiting receive does not match: with another tag, or of another
 * communicator. */
static check_other_t find_other(const mpi_rank_t *rank, const check_wait_t *wait)
{
    search_t search = {.wait = wait};
    const xy_envelope_t *e = &search.message.envelope;
    const mpi_comm_t *comm = wait->comm;

    if (wait->kind == CHECK_WAIT_RECEIVE)
        check_each_left(rank, look_at_left, &search);
    if (!search.is_here && !search.is_elsewhere)
        return (check_other_t){.is_there = false};
    if (!search.is_here)
        comm = mpi_comm_find(rank, e->context);
    return (check_other_t){
        .is_there = true,
        .tag = e->tag,
        .source = comm != NULL ? mpi_comm_world_rank(comm, e->source) : MPI_UNDEFINED,
        .is_elsewhere = !search.is_here,
        .comm = comm,
        .site = search.message.letter != NULL ? mpi_remote_site(search.message.letter)
                                              : search.message.site};
}

check_wait_t check_wait_of_probe(const mpi_rank_t *rank)
{
    check_wait_t wait = {.kind = CHECK_WAIT_RECEIVE,
                         .comm = rank->call.comm,
                         .peer = rank->call.peer,
                         .tag = rank->call.tag,
                         .call = rank->call.name};

    wait.other = find_other(rank, &wait);
    return wait;
}

static void look_at_window(const mpi_rank_t *rank, check_wait_t *wait)
{
    wait->kind = CHECK_WAIT_WINDOW;
    wait->target = MPI_UNDEFINED;
    if (wait->peer == MPI_ANY_SOURCE)
        wait->peer = check_lock_owner(&rank->call, &wait->target);
}

/* Accesses to files that one rank makes for itself end: what is left waits for other members. */
check_wait_t check_wait_of_request(const mpi_rank_t *rank, const mpi_request_t *request)
{
    static const check_wait_kind_t kinds[] = {
        [XMPI_KIND_SEND] = CHECK_WAIT_SEND,       [XMPI_KIND_RECV] = CHECK_WAIT_RECEIVE,
        [XMPI_KIND_COLL] = CHECK_WAIT_COLLECTIVE, [XMPI_KIND_GENERALIZED] = CHECK_WAIT_NONE,
        [XMPI_KIND_REMOTE] = CHECK_WAIT_NONE,     [XMPI_KIND_FLUSH] = CHECK_WAIT_NONE,
        [XMPI_KIND_FILE] = CHECK_WAIT_COLLECTIVE, [XMPI_KIND_PSEND] = CHECK_WAIT_SEND,
        [XMPI_KIND_PRECV] = CHECK_WAIT_RECEIVE};
    bool is_blocking = strncmp(rank->call.name, "MPI_Wait", 8) != 0 &&
                       strncmp(rank->call.name, "MPI_Test", 8) != 0;
    check_wait_t wait = {.kind = request->comm != NULL ? kinds[request->kind] : CHECK_WAIT_NONE,
                         .comm = request->comm,
                         .peer = request->peer,
                         .tag = request->tag,
                         .call = is_blocking ? rank->call.name : request->call.name,
                         .request = request};

    /* One-sided requests have a communicator only for locks. */
    if ((wait.kind == CHECK_WAIT_RECEIVE || request->kind == XMPI_KIND_REMOTE) &&
        request->comm != NULL && request->comm->window != NULL)
        look_at_window(rank, &wait);
    if (request->kind == XMPI_KIND_PSEND &&
        mpi_partitioned_of(request)->ready < mpi_partitioned_of(request)->partitions)
        wait.kind = CHECK_WAIT_READY;
    if (request->kind == XMPI_KIND_GENERALIZED)
        wait.kind = CHECK_WAIT_OWN;
    if (wait.kind == CHECK_WAIT_RECEIVE && strcmp(wait.call, "MPI_Comm_accept") == 0)
        wait.kind = CHECK_WAIT_PORT;
    wait.other = find_other(rank, &wait);
    return wait;
}

void check_wait_of_part(const mpi_rank_t *rank, check_wait_t *wait)
{
    const mpi_request_t *whole = wait->request;

    if (wait->kind != CHECK_WAIT_COLLECTIVE || mpi_multi_request_parts(whole) == NULL)
        return;
    for (const mpi_request_t *r = rank->worker->all_requests; r != NULL; r = r->next_made) {
        bool is_part = r->owner == rank && r->extra == whole->extra && r->kind <= XMPI_KIND_RECV &&
                       r->is_active && !r->is_done && r->peer >= 0;

        if (!is_part)
            continue;
        wait->is_part = true;
        wait->peer = r->peer;
        if (check_is_ending(&mpi_job->ranks[mpi_comm_world_rank(wait->comm, r->peer)]))
            return;
    }
}

bool check_wait_of(const mpi_rank_t *rank, int i, check_wait_t *wait_p)
{
    const mpi_request_t *request = rank->own.waits[i];

    if (request == mpi_request_of(MPI_REQUEST_NULL) || request->is_done ||
        request->waiter != &rank->own)
        return false;
    *wait_p = check_wait_of_request(rank, request);
    return true;
}

bool check_waits_for_any(const mpi_rank_t *rank)
{
    int pending = 0;

    for (int i = 0; i < mpi_waiter_requests(&rank->own); i++) {
        const mpi_request_t *request = rank->own.waits[i];

        pending += request != mpi_request_of(MPI_REQUEST_NULL) && !request->is_done &&
                   request->waiter == &rank->own;
    }
    return rank->own.count < pending;
}
