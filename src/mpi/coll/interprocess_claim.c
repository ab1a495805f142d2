/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Do members in several processes say the same about a collective? Those of one process compare
 * what they say when they start it; between processes it goes with the messages, in two words: the
 * bytes and the type signature of a block; the root, the kind, how it is called, and the operation.
 */
#include "mpi/coll/interprocess.h"

#include <string.h>

/* In the order of their numbers on the wire, which is the same in all processes. */
static const coll_ops_t *const kinds[] = {
    &coll_barrier,
    &coll_agree,
    &coll_making_bcast,
    &coll_making_allgather,
    &coll_bcast,
    &coll_gather,
    &coll_gatherv,
    &coll_scatter,
    &coll_scatterv,
    &coll_allgather,
    &coll_allgatherv,
    &coll_alltoall,
    &coll_alltoallv,
    &coll_alltoallw,
    &coll_reduce,
    &coll_allreduce,
    &coll_scan,
    &coll_exscan,
    &coll_reduce_scatter,
    &coll_reduce_scatter_block,
    &coll_inter_bcast,
    &coll_inter_gather,
    &coll_inter_gatherv,
    &coll_inter_scatter,
    &coll_inter_scatterv,
    &coll_inter_allgather,
    &coll_inter_allgatherv,
    &coll_inter_alltoall,
    &coll_inter_alltoallv,
    &coll_inter_alltoallw,
    &coll_inter_reduce,
    &coll_inter_allreduce,
    &coll_inter_reduce_scatter,
    &coll_inter_reduce_scatter_block,
    &coll_window_fence,
    &coll_window_free,
};

enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

/* The collectives that make a communicator between processes. */
const coll_ops_t coll_making_bcast = {
    .name = "MPI_Comm_dup or one of its kind", .collective = XY_COLL_BCAST, .is_rooted = true};
const coll_ops_t coll_making_allgather = {.name = "MPI_Comm_split or one of its kind",
                                          .collective = XY_COLL_ALLGATHER};

const coll_ops_t coll_window_fence = {.name = "MPI_Win_fence", .collective = XY_COLL_BARRIER};
const coll_ops_t coll_window_free = {.name = "MPI_Win_free", .collective = XY_COLL_BARRIER};

/* The name of a call that is known only so far in other processes. */
static const char an_agreement[] = "MPI_Finalize or MPI_Comm_disconnect";

/* The numbers of sequences of elements, and the addresses of names, mean something in one process
 * only. */
static uint64_t agreed_of(const coll_call_t *call)
{
    if (call->kind == &coll_agree)
        return 0;
    if (coll_agreed_signature(call->agreed) < XMPI_TYPE_TABLE)
        return call->agreed;
    return coll_agreed_bytes(call->agreed) | (uint64_t)XMPI_SIGNATURE_ANY << COLL_BYTES_BITS;
}

void coll_interprocess_claim(const coll_call_t *call, uint64_t words[2])
{
    uint64_t kind = 0;

    while (kind + 1 < KINDS && kinds[kind] != call->kind)
        kind++;
    words[0] = agreed_of(call);
    words[1] = (uint64_t)(uint32_t)call->root | kind << 32 | (uint64_t)call->how << 40 |
               (uint64_t)call->what << 48 | UINT64_C(1) << 63; /* never 0 */
}

static coll_claim_t read_claim(const uint64_t words[2], int rank)
{
    const coll_ops_t *kind = kinds[(words[1] >> 32 & 0xff) % KINDS];

    return (coll_claim_t){.kind = kind,
                          .agreed =
                              kind == &coll_agree ? (uint64_t)(uintptr_t)an_agreement : words[0],
                          .root = (int)(uint32_t)words[1],
                          .rank = rank,
                          .how = (coll_how_t)(words[1] >> 40 & 0xff),
                          .what = (uint8_t)(words[1] >> 48 & 0x7f)};
}

void coll_interprocess_say(const coll_call_t *call)
{
    coll_interprocess_t *s = call->comm->coll->interprocess;
    coll_claim_t own = coll_claim_of(call), said;
    int slot = (int)(call->number % INTERPROCESS_SAID);
    bool is_first;

    pthread_mutex_lock(&s->lock);
    is_first = s->said[slot].number <= call->number; /* others are far ahead: not known any more */
    said = s->said[slot].claim;
    if (is_first) {
        s->said[slot].number = call->number + 1;
        s->said[slot].claim = own;
    }
    is_first = is_first || s->said[slot].number != call->number + 1;
    pthread_mutex_unlock(&s->lock);
    if (!is_first && !coll_claims_agree(call->comm->coll, call->number, &own, &said))
        coll_disagree(call->comm->coll, call->number, &said, &own);
}

/* `letter` says something about collective `number`, of which a member here says `own`. */
static void compare(mpi_coll_t *coll, uint64_t number, coll_claim_t own,
                    const remote_letter_t *letter)
{
    coll_claim_t theirs = read_claim(letter->head.claim, letter->head.source);

    if (own.kind == &coll_agree && theirs.kind == &coll_agree)
        return;
    if (own.kind == &coll_agree)
        own.agreed = (uint64_t)(uintptr_t)an_agreement;
    if (!coll_claims_agree(coll, number, &own, &theirs)) {
        atomic_store(&coll->interprocess->told_at,
                     mpi_network_site(letter->from, letter->head.site));
        atomic_store(&coll->interprocess->told, theirs.rank);
        coll_disagree(coll, number, &own, &theirs);
    }
}

void coll_interprocess_differs(const mpi_request_t *receive, const remote_letter_t *letter)
{
    const coll_call_t *call = schedule_call_of(receive);

    compare(call->comm->coll, call->number, coll_claim_of(call), letter);
}

/* The letters of this communicator's collectives that no receive has met; the first ones, where
 * there are many. */
enum { LOOKS_MOST = 64 };

static void compare_unmet(const coll_call_t *call,
                          void (*fn)(const coll_call_t *call, const remote_letter_t *letter))
{
    uint32_t context = call->comm->context | XMPI_CONTEXT_COLLECTIVE;
    const xy_match_entry_t *e = call->comm->owner->match.first;

    for (int i = 0; e != NULL && i < LOOKS_MOST; e = e->list_next, i++) {
        const mpi_message_t *m = (const mpi_message_t *)e;

        if (m->sender == &mpi_remote_sender && e->envelope.context == context)
            fn(call, (const remote_letter_t *)(const void *)m->data);
    }
}

/* One that every member has left, in the order of messages, is not met any more. Persistent ones
 * have other tags, and no order. */
static void compare_old(const coll_call_t *call, const remote_letter_t *letter)
{
    coll_interprocess_t *s = call->comm->coll->interprocess;
    uint64_t back = (uint64_t)(coll_interprocess_tag(call) - letter->head.tag), number;
    coll_claim_t said;
    bool is_known;

    if (call->how == COLL_PERSISTENT || letter->head.tag > coll_interprocess_tag(call) ||
        back >= INTERPROCESS_SAID)
        return;
    number = call->number - back;
    pthread_mutex_lock(&s->lock);
    is_known = s->said[number % INTERPROCESS_SAID].number == number + 1;
    said = s->said[number % INTERPROCESS_SAID].claim;
    pthread_mutex_unlock(&s->lock);
    if (is_known)
        compare(call->comm->coll, number, said, letter);
}

void coll_interprocess_look_back(const coll_call_t *call)
{
    compare_unmet(call, compare_old);
}

static void compare_same(const coll_call_t *call, const remote_letter_t *letter)
{
    if (letter->head.tag == coll_interprocess_tag(call))
        compare(call->comm->coll, call->number, coll_claim_of(call), letter);
}

void coll_interprocess_compare_stuck(const mpi_waiter_t *waiter)
{
    for (int i = 0; waiter->count > 0 && i < mpi_waiter_requests(waiter); i++) {
        const mpi_request_t *request = waiter->waits[i];
        const coll_call_t *call = coll_call_of_request(request);

        if (call == NULL && request != mpi_request_of(MPI_REQUEST_NULL) &&
            request->kind == XMPI_KIND_COLL && request->release == NULL)
            call = request->extra; /* a blocking one */
        if (call != NULL && call->comm->coll->interprocess != NULL)
            compare_unmet(call, compare_same);
    }
}
