/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shape of a collective call, without its buffers: for the simulated job and for traces.
 *
 * Between two groups, a rooted collective is the same one on a communicator of the root and the
 * other group, in which the others of the root's group have no part; what all exchange is an
 * alltoallw of both groups in which nothing goes to the own one; reductions that all get something
 * of are an allreduce of both groups.
 */
#include <string.h>

#include "mpi/coll/coll.h"
#include "mpi/coll/star.h"
#include "mpi/object/object.h"

static bool is_agreement(const coll_call_t *call)
{
    return call->kind->collective == XY_COLL_COUNT;
}

/* The basic elements that a type is made of; bytes where they differ. All members of a collective
 * come to the same, however they describe their data. */
static uint64_t basic_bytes(const mpi_type_t *type)
{
    bool is_uniform = type->basic != XMPI_BASIC_NONE && type->elements > 0;

    return is_uniform && type->size % type->elements == 0 ? type->size / type->elements : 1;
}

/* The side whose count and type say how large a block is. */
static bool is_sent_side(const coll_call_t *call)
{
    switch (call->kind->collective) {
    case XY_COLL_GATHER:
    case XY_COLL_GATHERV:
        return call->comm->rank != call->root;
    case XY_COLL_SCATTER:
    case XY_COLL_SCATTERV:
        return call->comm->rank == call->root;
    case XY_COLL_ALLTOALLV:
        return !call->is_in_place;
    default:
        return false;
    }
}

static const uint64_t *counts_in(coll_vector_t v, int n, uint64_t per_element)
{
    uint64_t *counts = coll_scratch((size_t)n * sizeof(*counts));

    for (int r = 0; r < n; r++)
        counts[r] = (uint64_t)coll_count_at(v, r) * per_element;
    return counts;
}

/* Alltoallw: bytes to each. */
static const uint64_t *bytes_to_each(const coll_call_t *call)
{
    coll_side_t side = coll_side_of(call, !call->is_in_place);
    uint64_t *bytes = coll_scratch((size_t)call->comm->size * sizeof(*bytes));

    for (int r = 0; r < call->comm->size; r++) {
        coll_block_t b = coll_block_at(&side, r);

        bytes[r] = coll_block_bytes(&b);
    }
    return bytes;
}

/* ---- Between two groups ---- */

/* Bytes to each member of both groups. */
static const uint64_t *inter_bytes_to_each(const coll_call_t *call)
{
    uint64_t *bytes = coll_scratch((size_t)call->comm->size * sizeof(*bytes));

    memset(bytes, 0, (size_t)call->comm->size * sizeof(*bytes));
    for (int p = 0; p < coll_peers(call); p++) {
        coll_block_t b = coll_inter_block(call, true, p);

        bytes[coll_peers_first(call) + p] = b.count > 0 ? coll_block_bytes(&b) : 0;
    }
    return bytes;
}

/* The counts of a root: it comes first, and has no block of its own. */
static const uint64_t *inter_root_bytes(const coll_call_t *call, bool is_send)
{
    int n = coll_peers(call);
    uint64_t *bytes = coll_scratch((size_t)(n + 1) * sizeof(*bytes));

    bytes[0] = 0;
    for (int p = 0; p < n; p++) {
        coll_block_t b = coll_inter_block(call, is_send, p);

        bytes[p + 1] = b.count > 0 ? coll_block_bytes(&b) : 0;
    }
    return bytes;
}

/* The root, then the other group. */
static void inter_members(const coll_call_t *call, coll_shape_t *s)
{
    int own = call->comm->size - coll_peers(call);
    int own_first = coll_peers_first(call) == 0 ? call->comm->coll->lows : 0;

    if (call->root == call->rank) {
        s->members = 1 + coll_peers(call);
        s->member = 0;
    } else {
        s->members = 1 + own;
        s->member = call->root < 0 ? -1 : 1 + call->rank - own_first;
    }
}

/* The shape of a collective between two groups; `member` is -1 for ranks without a part in it. */
static coll_shape_t inter_shape(const coll_call_t *call)
{
    xy_collective_t collective = call->kind->collective;
    bool is_gather = collective == XY_COLL_GATHER || collective == XY_COLL_GATHERV;
    coll_shape_t s = {.collective = collective,
                      .element = 1,
                      .members = call->comm->size,
                      .member = call->comm->rank};

    if (call->kind->is_rooted)
        inter_members(call, &s);
    if (s.member < 0)
        return s;
    if (call->op != NULL) {
        s.collective = call->kind->is_rooted ? collective : XY_COLL_ALLREDUCE;
        s.element = basic_bytes(call->receive_type);
        s.count = call->bytes / s.element;
    } else if (collective == XY_COLL_BCAST) {
        s.count = call->bytes;
    } else if (call->kind->is_rooted) {
        coll_side_t side = coll_side_of(call, is_gather);

        s.collective = is_gather ? XY_COLL_GATHERV : XY_COLL_SCATTERV;
        if (s.member == 0)
            s.counts = inter_root_bytes(call, !is_gather);
        else
            s.count = (uint64_t)side.count * side.type->size;
    } else {
        s.collective = XY_COLL_ALLTOALLW;
        s.counts = inter_bytes_to_each(call);
    }
    return s;
}

coll_shape_t coll_shape_of(const coll_call_t *call)
{
    coll_shape_t s = {.collective = call->kind->collective,
                      .root = call->kind->is_rooted ? call->root : 0,
                      .element = 1,
                      .members = call->comm->size,
                      .member = call->comm->rank};
    coll_side_t side;

    if (call->kind->is_inter)
        return inter_shape(call);
    if (is_agreement(call)) {
        s.collective = XY_COLL_ALLREDUCE;
        s.count = 1;
        s.element = 8;
        return s;
    }
    side = coll_side_of(call, is_sent_side(call));
    if (s.collective == XY_COLL_ALLTOALLW) {
        s.counts = bytes_to_each(call);
        return s;
    }
    if (side.type == NULL) /* a barrier; a root whose block is in place has its own side */
        return s;
    s.element = basic_bytes(side.type);
    if (side.counts.data != NULL)
        s.counts = counts_in(side.counts, call->comm->size, side.type->size / s.element);
    else
        s.count = (uint64_t)side.count * side.type->size / s.element;
    return s;
}

/* Write the record of a collective to the trace. */
static void trace(mpi_rank_t *self, const coll_call_t *call, const coll_shape_t *shape,
                  uint64_t count)
{
    const mpi_group_t *group = call->comm->coll->group;
    int first = call->kind->is_inter && call->kind->is_rooted ? call->root : 0;
    coll_shape_t s = *shape;
    xy_trace_collective_t c;

    if (s.member < 0)
        return;
    c = (xy_trace_collective_t){.rank = (uint32_t)self->world,
                                .collective = (uint32_t)s.collective,
                                .context = call->comm->coll->recorded,
                                .first =
                                    (uint32_t)(group->ranks != NULL ? group->ranks[first] : first),
                                .members = (uint32_t)s.members,
                                .member = (uint32_t)s.member,
                                .root = (uint32_t)s.root,
                                .count = count,
                                .element = s.element};
    mpi_trace_put_collective(self, &c);
}

/* Made when the first member needs them. */
static mpi_meeting_t *meetings_of(mpi_coll_t *coll)
{
    mpi_meeting_t *all = atomic_load_explicit(&coll->meetings, memory_order_acquire), *made;

    if (all != NULL)
        return all;
    made = xy_calloc(COLL_MEETINGS, sizeof(*made));
    if (made != NULL &&
        !atomic_compare_exchange_strong_explicit(&coll->meetings, &all, made, memory_order_acq_rel,
                                                 memory_order_acquire)) {
        xy_free(made);
        return all;
    }
    return made;
}

/* Does this member hold others up? From a root, only the root does, unless all have to come before
 * data moves: those of a process do, between processes. */
static bool is_awaited(const coll_call_t *call)
{
    xy_collective_t c = call->kind->collective;
    bool is_from_root = c == XY_COLL_BCAST || c == XY_COLL_SCATTER || c == XY_COLL_SCATTERV;

    if (call->kind->is_inter || !is_from_root || call->comm->rank == call->root)
        return true;
    return mpi_job->clock == NULL &&
           (call->comm->coll->interprocess != NULL || !coll_star_wants(call));
}

static void *account(mpi_rank_t *self, const coll_call_t *call)
{
    mpi_coll_t *coll = call->comm->coll;
    mpi_meeting_t *all = meetings_of(coll), *meeting;

    if (all == NULL)
        return NULL;
    meeting = &all[call->number % COLL_MEETINGS];
    if (is_awaited(call))
        mpi_account_meet(self, meeting, coll->interprocess != NULL);
    return meeting;
}

/* Does the program know of the collective? Others are parts of its calls. */
static bool is_of_program(const coll_call_t *call)
{
    return !is_agreement(call) && call->kind != &coll_making_bcast &&
           call->kind != &coll_making_allgather;
}

/* Count the bytes of a collective, as the shape has them, without making it; false where only the
 * shape tells. */
static bool account_bytes(mpi_rank_t *self, const coll_call_t *call)
{
    coll_side_t side;

    if (call->kind->is_inter || call->kind->collective == XY_COLL_ALLTOALLW)
        return false;
    side = coll_side_of(call, is_sent_side(call));
    if (side.counts.data != NULL)
        return false;
    if (side.type != NULL)
        mpi_account_bytes(self, (uint64_t)side.count * side.type->size);
    return true;
}

void *coll_observe(mpi_rank_t *self, const coll_call_t *call)
{
    /* A barrier has no data; only a trace needs its members. */
    bool is_bare = call->kind->collective == XY_COLL_BARRIER && self->trace == NULL;
    void *meeting = self->account != NULL ? account(self, call) : NULL;
    coll_shape_t s;
    uint64_t count;

    if (is_bare) {
        mpi_event_tell(self, (mpi_event_t){XMPI_EVENT_COLLECTIVE, XY_COLL_BARRIER, -1, 0});
        return meeting;
    }
    if (self->observed == XMPI_LOOK_ACCOUNT && (!is_of_program(call) || account_bytes(self, call)))
        return meeting;
    s = coll_shape_of(call);
    count = s.count;
    for (int r = 0; s.counts != NULL && r < s.members; r++)
        count += s.counts[r];
    if (self->trace != NULL)
        trace(self, call, &s, count);
    if (is_of_program(call)) {
        mpi_event_tell(self,
                       (mpi_event_t){XMPI_EVENT_COLLECTIVE, (int)call->kind->collective,
                                     call->kind->is_rooted ? call->root : -1, count * s.element});
        mpi_account_bytes(self, count * s.element);
        mpi_live_sent(self, 0, count * s.element);
    }
    return meeting;
}
