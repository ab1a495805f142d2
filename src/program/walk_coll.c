/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives: their calls for the simulated job. */
#include <mpi.h>
#include <string.h>

#include "program/walk_coll.h"

/* Positions of the arguments, -1: there is none. */
const walk_layout_t walk_layouts[XY_COLL_COUNT] = {
    [XY_COLL_BARRIER] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0},
    [XY_COLL_BCAST] = {-1, -1, -1, -1, 0, 1, 2, -1, -1, 3, 4},
    [XY_COLL_GATHER] = {0, 1, 2, -1, 3, 4, 5, -1, -1, 6, 7},
    [XY_COLL_GATHERV] = {0, 1, 2, -1, 3, 4, 6, 5, -1, 7, 8},
    [XY_COLL_SCATTER] = {0, 1, 2, -1, 3, 4, 5, -1, -1, 6, 7},
    [XY_COLL_SCATTERV] = {0, 1, 3, 2, 4, 5, 6, -1, -1, 7, 8},
    [XY_COLL_ALLGATHER] = {0, 1, 2, -1, 3, 4, 5, -1, -1, -1, 6},
    [XY_COLL_ALLGATHERV] = {0, 1, 2, -1, 3, 4, 6, 5, -1, -1, 7},
    [XY_COLL_ALLTOALL] = {0, 1, 2, -1, 3, 4, 5, -1, -1, -1, 6},
    [XY_COLL_ALLTOALLV] = {0, 1, 3, 2, 4, 5, 7, 6, -1, -1, 8},
    [XY_COLL_ALLTOALLW] = {0, 1, 3, 2, 4, 5, 7, 6, -1, -1, 8},
    [XY_COLL_REDUCE] = {0, -1, -1, -1, 1, 2, 3, -1, 4, 5, 6},
    [XY_COLL_ALLREDUCE] = {0, -1, -1, -1, 1, 2, 3, -1, 4, -1, 5},
    [XY_COLL_REDUCE_SCATTER] = {0, -1, -1, -1, 1, 2, 3, -1, 4, -1, 5},
    [XY_COLL_REDUCE_SCATTER_BLOCK] = {0, -1, -1, -1, 1, 2, 3, -1, 4, -1, 5},
    [XY_COLL_SCAN] = {0, -1, -1, -1, 1, 2, 3, -1, 4, -1, 5},
    [XY_COLL_EXSCAN] = {0, -1, -1, -1, 1, 2, 3, -1, 4, -1, 5},
};

bool walk_is_in_place(const code_site_t *site, const int64_t *args)
{
    const walk_layout_t *l = &walk_layouts[walk_extra(site) & WALK_COLLECTIVE_MASK];
    int64_t in_place = (int64_t)(intptr_t)MPI_IN_PLACE;

    return (l->send >= 0 && args[l->send] == in_place) ||
           (l->receive >= 0 && args[l->receive] == in_place);
}

int32_t walk_root(const walk_comm_t *comm, int32_t rank, const code_site_t *site,
                  const int64_t *args)
{
    const walk_layout_t *l = &walk_layouts[walk_extra(site) & WALK_COLLECTIVE_MASK];
    int64_t root = l->root >= 0 ? args[l->root] : 0;

    if (comm->lows == 0 || l->root < 0)
        return (int32_t)root;
    return root == MPI_ROOT        ? rank
           : root == MPI_PROC_NULL ? WALK_NO_ROOT
                                   : walk_peers_first(comm, rank) + (int32_t)root;
}

/* ---- Starting ---- */

/* All members give as much to these. */
static bool has_same_bytes(xy_collective_t c)
{
    return c == XY_COLL_BCAST || c == XY_COLL_REDUCE || c == XY_COLL_ALLREDUCE ||
           c == XY_COLL_SCAN || c == XY_COLL_EXSCAN;
}

static bool disagree(walker_t *w, const walk_claim_t *first, const walk_claim_t *own)
{
    const code_place_t *a = &XY_VEC_AT(&w->walk->code->places, code_place_t, first->place);
    const code_place_t *b = &XY_VEC_AT(&w->walk->code->places, code_place_t, own->place);

    return process_fail(
        &w->process,
        "rank %d of a communicator calls %s (root %d, %llu bytes) where rank %d calls %s at %s:%ld "
        "(root %d, %llu bytes): all members must make the same calls in the same order",
        own->rank, b->what != NULL ? b->what : "something else", own->root,
        (unsigned long long)own->bytes, first->rank, a->what != NULL ? a->what : "something else",
        a->file, a->line, first->root, (unsigned long long)first->bytes);
}

/* Does the member call what the others do? */
static bool compare(walker_t *w, const walk_member_t *m, const xy_vjob_coll_t *call)
{
    walk_claim_t *first = &m->comm->claims[m->number % WALK_CLAIMS];
    walk_claim_t own = {.number = m->number + 1,
                        .bytes = has_same_bytes(call->collective) ? call->count * call->element : 0,
                        .kind = (int32_t)call->collective << 1 | call->is_agreement,
                        .root = walk_layouts[call->collective].root >= 0 ? call->root : 0,
                        .rank = m->rank,
                        .place = process_place(&w->process)};

    if (m->comm->lows > 0 || first->number > own.number)
        return true;
    if (first->number < own.number) {
        *first = own;
        return true;
    }
    if (first->kind == own.kind && first->root == own.root && first->bytes == own.bytes)
        return true;
    return disagree(w, first, &own);
}

/* For the trace: the member's part in a collective. Between two groups, `root` and the other group
 * are its members, as in recorded runs; WALK_NO_ROOT: all are. */
static void note(const walker_t *w, const walk_member_t *m, const xy_vjob_coll_t *call,
                 int32_t root)
{
    const walk_comm_t *comm = m->comm;
    int32_t first = root != WALK_NO_ROOT ? root : 0;
    xy_trace_collective_t part = {.rank = (uint32_t)w->rank,
                                  .collective = (uint32_t)call->collective,
                                  .context = comm->context,
                                  .first =
                                      (uint32_t)(comm->procs != NULL ? comm->procs[first] : first),
                                  .members = (uint32_t)comm->size,
                                  .member = (uint32_t)m->rank,
                                  .root = (uint32_t)call->root,
                                  .count = call->count,
                                  .element = call->element};

    if (root != WALK_NO_ROOT) {
        part.members = (uint32_t)walk_peers(comm, root) + 1;
        part.member = m->rank == root ? 0 : (uint32_t)(m->rank - walk_peers_first(comm, root) + 1);
    }
    for (int32_t r = 0; call->counts != NULL && r < (int32_t)part.members; r++)
        part.count += call->counts[r];
    xy_vjob_step_collective(w->walk->job, w->rank, &part);
}

/* `root`: as in note. */
static bool start(walker_t *w, walk_member_t *m, xy_vcomm_t *comm, const xy_vjob_coll_t *call,
                  int32_t root, walk_request_t *r)
{
    if (comm == NULL || !compare(w, m, call))
        return false;
    r->kind = WALK_COLLECTIVE;
    r->comm = m->comm;
    r->rank = m->rank;
    r->number = m->number++;
    if (w->walk->labels != NULL)
        note(w, m, call, root);
    r->vreq = xy_vjob_collective(w->walk->job, w->rank, comm, call, NULL);
    return r->vreq != NULL || process_stop(&w->process);
}

bool walk_coll_start(walker_t *w, walk_member_t *m, const xy_vjob_coll_t *call, int32_t *request_p)
{
    *request_p = walk_request_new(w);
    return *request_p >= 0 &&
           start(w, m, walk_vcomm(w, m->comm), call, WALK_NO_ROOT, walk_request_at(w, *request_p));
}

bool walk_agree(walker_t *w, walk_member_t *m, int32_t first)
{
    static const xy_vjob_coll_t agree = {.collective = XY_COLL_ALLREDUCE,
                                         .count = 1,
                                         .element = 8,
                                         .is_agreement = true,
                                         .is_commutative = true};

    if (w->process.phase == first) {
        if (!walk_coll_start(w, m, &agree, &w->current[0]))
            return false;
        w->process.phase++;
    }
    if (w->process.phase == first + 1) {
        if (!walk_wait(w, w->current, 1, false))
            return false;
        walk_request_free(w, walk_request_at(w, w->current[0]));
        w->process.phase++;
    }
    return true;
}

/* The member comes and has no part: there is no data, or the root is another one of its group. */
static void pass(walk_member_t *m, walk_request_t *r)
{
    r->kind = WALK_COLLECTIVE;
    r->comm = m->comm;
    r->is_done = true;
    m->number++;
}

/* ---- Counts ---- */

/* Returns whether the send arguments, not the receive arguments, describe the sizes of a collective
 * on this rank. */
static bool is_sent_side(xy_collective_t c, bool is_root, bool in_place)
{
    switch (c) {
    case XY_COLL_GATHER:
    case XY_COLL_GATHERV:
        return !is_root;
    case XY_COLL_SCATTER:
    case XY_COLL_SCATTERV:
        return is_root;
    case XY_COLL_ALLTOALLV:
    case XY_COLL_ALLTOALLW:
        return !in_place;
    default:
        return false;
    }
}

/* Is what is counted on this side an array? */
static bool has_counts(xy_collective_t c, bool is_sent)
{
    switch (c) {
    case XY_COLL_GATHERV:
    case XY_COLL_ALLGATHERV:
        return !is_sent;
    case XY_COLL_SCATTERV:
        return is_sent;
    case XY_COLL_ALLTOALLV:
    case XY_COLL_ALLTOALLW:
    case XY_COLL_REDUCE_SCATTER:
        return true;
    default:
        return false;
    }
}

/* Elements (alltoallw: bytes) of each block. */
static bool read_counts(walker_t *w, const walk_layout_t *l, bool is_sent, const int64_t *args,
                        const xy_vjob_coll_t *call, uint64_t per_element, int32_t size,
                        uint64_t *counts)
{
    for (int32_t r = 0; r < size; r++) {
        walk_type_t type;
        int64_t handle;
        int32_t count;

        if (!walk_get_int(w, args[is_sent ? l->send_count : l->receive_count], r, &count))
            return false;
        if (count < 0)
            return process_fail(&w->process, "count %d is %d", r, count);
        if (call->collective == XY_COLL_ALLTOALLW) {
            if (!walk_get_handle(w, args[is_sent ? l->send_type : l->receive_type], r, &handle) ||
                !walk_type(w, handle, &type))
                return false;
            per_element = type.map.size;
        }
        counts[r] = (uint64_t)count * per_element;
    }
    return true;
}

/* Sets element size and counts of a collective; *counts_p is the caller's to free, also on
 * failure. */
static bool describe_sizes(walker_t *w, const walk_layout_t *l, const int64_t *args, int32_t size,
                           bool is_sent, xy_vjob_coll_t *call, uint64_t **counts_p)
{
    walk_type_t type = {.map = {.size = 1}};
    int64_t count;

    if (call->collective != XY_COLL_ALLTOALLW &&
        !walk_type(w, args[is_sent ? l->send_type : l->receive_type], &type))
        return false;
    call->element = walk_type_element(&type);
    if (!has_counts(call->collective, is_sent)) {
        count = args[is_sent ? l->send_count : l->receive_count];
        if (count < 0)
            return process_fail(&w->process, "the count is %lld", (long long)count);
        call->count = (uint64_t)count * type.map.size / call->element;
        return true;
    }
    *counts_p = xy_malloc((size_t)size * sizeof(**counts_p));
    if (*counts_p == NULL)
        return process_fail_memory(&w->process);
    call->counts = *counts_p;
    return read_counts(w, l, is_sent, args, call, type.map.size / call->element, size, *counts_p);
}

/* Do all members give no data? Then there is nothing to do. */
static bool is_empty(const xy_vjob_coll_t *call, int32_t size)
{
    uint64_t total = call->count;

    if (call->collective == XY_COLL_BARRIER || call->collective == XY_COLL_GATHERV ||
        call->collective == XY_COLL_SCATTERV || call->collective == XY_COLL_ALLGATHERV ||
        call->collective == XY_COLL_ALLTOALLV || call->collective == XY_COLL_ALLTOALLW)
        return false;
    for (int32_t r = 0; call->counts != NULL && r < size; r++)
        total += call->counts[r];
    return total == 0;
}

static xy_vjob_coll_t call_of(const code_site_t *site, const int64_t *args)
{
    xy_collective_t c = (xy_collective_t)(walk_extra(site) & WALK_COLLECTIVE_MASK);
    const walk_layout_t *l = &walk_layouts[c];

    return (xy_vjob_coll_t){.collective = c,
                            .element = 1,
                            .in_place = walk_is_in_place(site, args),
                            .is_nonblocking = (walk_extra(site) & WALK_NONBLOCKING) != 0,
                            .is_user_op = l->op >= 0 && (args[l->op] == 1 || args[l->op] == 2),
                            .is_commutative = l->op < 0 || args[l->op] != 2};
}

/* Starts a collective in a group; an empty one completes at once. */
static bool begin_intra(walker_t *w, walk_member_t *m, const code_site_t *site, const int64_t *args,
                        walk_request_t *r)
{
    xy_vjob_coll_t call = call_of(site, args);
    const walk_layout_t *l = &walk_layouts[call.collective];
    uint64_t *counts = NULL;
    bool is_ok = true, is_root;

    call.root = walk_root(m->comm, m->rank, site, args);
    is_root = call.root == m->rank;
    if (call.root < 0 || call.root >= m->comm->size)
        return process_fail(&w->process, "the root is %d; the communicator has %d ranks", call.root,
                            m->comm->size);
    if (call.collective != XY_COLL_BARRIER)
        is_ok =
            describe_sizes(w, l, args, m->comm->size,
                           is_sent_side(call.collective, is_root, call.in_place), &call, &counts);
    if (is_ok && is_empty(&call, m->comm->size))
        pass(m, r);
    else if (is_ok)
        is_ok = walk_data_give(w, m, m->number, site, args) &&
                start(w, m, walk_vcomm(w, m->comm), &call, WALK_NO_ROOT, r);
    xy_free(counts);
    return is_ok;
}

/* ---- Between two groups: what becomes of them is in mpi/coll/coll_shape.c ---- */

/* The communicator of the root, then the members of the other group. */
static xy_vcomm_t *rooted_vcomm(walker_t *w, walk_comm_t *comm, int32_t root)
{
    int32_t first = walk_peers_first(comm, root), n = walk_peers(comm, root), *procs;

    if (comm->rooted == NULL)
        comm->rooted = xy_arena_alloc(w->walk->arena, (size_t)comm->size * sizeof(xy_vcomm_t *));
    if (comm->rooted == NULL) {
        process_fail_memory(&w->process);
        return NULL;
    }
    if (comm->rooted[root] != NULL)
        return comm->rooted[root];
    procs = xy_malloc((size_t)(n + 1) * sizeof(*procs));
    if (procs == NULL) {
        process_fail_memory(&w->process);
        return NULL;
    }
    procs[0] = comm->procs[root];
    memcpy(procs + 1, comm->procs + first, (size_t)n * sizeof(*procs));
    comm->rooted[root] = xy_vjob_comm(w->walk->job, w->walk->next_context++, procs, n + 1);
    xy_free(procs);
    if (comm->rooted[root] == NULL)
        process_stop(&w->process);
    return comm->rooted[root];
}

static bool side_type(walker_t *w, const walk_layout_t *l, const int64_t *args, bool is_sent,
                      int32_t peer, xy_collective_t c, walk_type_t *type)
{
    int64_t handle = args[is_sent ? l->send_type : l->receive_type];

    if (c == XY_COLL_ALLTOALLW && !walk_get_handle(w, handle, peer, &handle))
        return false;
    return walk_type(w, handle, type);
}

/* Bytes of the block for (or from) each of `n` peers, at bytes[0 .. n - 1]. */
static bool block_bytes(walker_t *w, const code_site_t *site, const int64_t *args, bool is_sent,
                        int32_t n, uint64_t *bytes)
{
    xy_collective_t c = (xy_collective_t)(walk_extra(site) & WALK_COLLECTIVE_MASK);
    const walk_layout_t *l = &walk_layouts[c];
    int64_t given = args[is_sent ? l->send_count : l->receive_count];

    for (int32_t p = 0; p < n; p++) {
        int32_t count = (int32_t)given;
        walk_type_t type;

        if (!side_type(w, l, args, is_sent, p, c, &type) ||
            (has_counts(c, is_sent) && !walk_get_int(w, given, p, &count)))
            return false;
        if (count < 0)
            return process_fail(&w->process, "count %d is %d", p, count);
        bytes[p] = (uint64_t)count * type.map.size;
    }
    return true;
}

/* Both groups reduce vectors of the same length. */
static bool describe_vectors(walker_t *w, const walk_member_t *m, const code_site_t *site,
                             const int64_t *args, xy_vjob_coll_t *call)
{
    const walk_layout_t *l = &walk_layouts[call->collective];
    int32_t own = walk_own(m->comm, m->rank);
    uint64_t bytes = 0, *shares;
    walk_type_t type;
    bool is_ok;

    if (!walk_type(w, args[l->receive_type], &type))
        return false;
    shares = xy_malloc((size_t)own * sizeof(*shares));
    if (shares == NULL)
        return process_fail_memory(&w->process);
    is_ok = block_bytes(w, site, args, false, own, shares);
    if (call->collective == XY_COLL_REDUCE || call->collective == XY_COLL_ALLREDUCE)
        own = 1; /* the shares are the whole vector */
    for (int32_t r = 0; is_ok && r < own; r++)
        bytes += shares[r];
    xy_free(shares);
    call->element = walk_type_element(&type);
    call->count = bytes / call->element;
    if (call->collective != XY_COLL_REDUCE)
        call->collective = XY_COLL_ALLREDUCE;
    return is_ok;
}

/* Gathers and scatters: the root has the blocks of all, and none of its own. */
static bool describe_rooted(walker_t *w, const walk_member_t *m, const code_site_t *site,
                            const int64_t *args, bool is_root, uint64_t *bytes,
                            xy_vjob_coll_t *call)
{
    bool is_gather = call->collective == XY_COLL_GATHER || call->collective == XY_COLL_GATHERV;

    call->collective = is_gather ? XY_COLL_GATHERV : XY_COLL_SCATTERV;
    bytes[0] = 0;
    if (is_root) {
        call->counts = bytes;
        return block_bytes(w, site, args, !is_gather, walk_peers(m->comm, m->rank), bytes + 1);
    }
    if (!block_bytes(w, site, args, is_gather, 1, bytes))
        return false;
    call->count = bytes[0];
    return true;
}

/* Everything else: bytes to each member of both groups, none to the own one. */
static bool describe_blocks(walker_t *w, const walk_member_t *m, const code_site_t *site,
                            const int64_t *args, uint64_t *bytes, xy_vjob_coll_t *call)
{
    memset(bytes, 0, (size_t)m->comm->size * sizeof(*bytes));
    call->collective = XY_COLL_ALLTOALLW;
    call->counts = bytes;
    return block_bytes(w, site, args, true, walk_peers(m->comm, m->rank),
                       bytes + walk_peers_first(m->comm, m->rank));
}

/* Sets the sizes of a collective between two groups; `bytes` has room for all members. */
static bool describe_inter(walker_t *w, const walk_member_t *m, const code_site_t *site,
                           const int64_t *args, int32_t root, uint64_t *bytes, xy_vjob_coll_t *call)
{
    const walk_layout_t *l = &walk_layouts[call->collective];

    if (call->collective == XY_COLL_BARRIER)
        return true;
    if (call->collective == XY_COLL_SCAN || call->collective == XY_COLL_EXSCAN)
        return process_fail(&w->process, "it is not defined for intercommunicators");
    if (l->op >= 0)
        return describe_vectors(w, m, site, args, call);
    if (call->collective == XY_COLL_BCAST) {
        if (!block_bytes(w, site, args, false, 1, bytes))
            return false;
        call->count = bytes[0];
        return true;
    }
    return l->root >= 0 ? describe_rooted(w, m, site, args, root == m->rank, bytes, call)
                        : describe_blocks(w, m, site, args, bytes, call);
}

/* Starts a collective between two groups; ranks outside a rooted one complete at once. */
static bool begin_inter(walker_t *w, walk_member_t *m, const code_site_t *site, const int64_t *args,
                        walk_request_t *r)
{
    xy_vjob_coll_t call = call_of(site, args);
    bool is_rooted = walk_layouts[call.collective].root >= 0, is_ok;
    int32_t root = walk_root(m->comm, m->rank, site, args);
    uint64_t *bytes;

    if (root < WALK_NO_ROOT || root >= m->comm->size)
        return process_fail(&w->process, "the root is not a rank of the other group");
    if (!walk_data_give(w, m, m->number, site, args))
        return false;
    if (is_rooted && root == WALK_NO_ROOT) {
        walk_data_pass(m, m->number);
        pass(m, r);
        return true;
    }
    bytes = xy_malloc((size_t)(m->comm->size + 1) * sizeof(*bytes));
    if (bytes == NULL)
        return process_fail_memory(&w->process);
    is_ok = describe_inter(w, m, site, args, root, bytes, &call) &&
            start(w, m, is_rooted ? rooted_vcomm(w, m->comm, root) : walk_vcomm(w, m->comm), &call,
                  is_rooted ? root : WALK_NO_ROOT, r);
    xy_free(bytes);
    return is_ok;
}

bool walk_coll_begin(walker_t *w, walk_member_t *m, const code_site_t *site, const int64_t *args,
                     walk_request_t *r)
{
    return m->comm->lows > 0 ? begin_inter(w, m, site, args, r) : begin_intra(w, m, site, args, r);
}

/* ---- The calls ---- */

/* Keep what is needed to deliver data at the end. */
static bool keep(walker_t *w, walk_request_t *r, const code_site_t *site, const int64_t *args)
{
    return !walk_has_data(site) || walk_keep(w, r, site, args);
}

/* A request for the call, which has begun; -1: it failed. */
static int32_t begin(walker_t *w, const code_site_t *site, const int64_t *args)
{
    const walk_layout_t *l = &walk_layouts[walk_extra(site) & WALK_COLLECTIVE_MASK];
    walk_member_t *m = walk_comm(w, args[l->comm]);
    int32_t index = m != NULL ? walk_request_new(w) : -1;

    return index >= 0 && walk_coll_begin(w, m, site, args, walk_request_at(w, index)) &&
                   keep(w, walk_request_at(w, index), site, args)
               ? index
               : -1;
}

static bool collective(walker_t *w, const code_site_t *site, int64_t *args)
{
    return walk_wait_begun(w, w->process.phase == 0 ? begin(w, site, args) : 0) != NULL;
}

/* Starts a nonblocking collective, and stays as long as its start call lasts. */
static bool nonblocking(walker_t *w, const code_site_t *site, int64_t *args)
{
    const walk_request_t *r;
    int32_t index;

    if (w->process.phase != 0) /* it has entered */
        return true;
    index = begin(w, site, args);
    if (index < 0 || !walk_set_handle(w, args[site->count - 1], WALK_REQUEST_FIRST + index))
        return false;
    w->process.phase = 1;
    r = walk_request_at(w, index);
    return r->is_done || r->vreq == NULL || xy_vjob_entered(w->walk->job, w->rank, r->vreq);
}

const walk_call_t walk_calls_coll[] = {
    {"Barrier", collective, XY_COLL_BARRIER},
    {"Ibarrier", nonblocking, XY_COLL_BARRIER | WALK_NONBLOCKING},
    {"Bcast", collective, XY_COLL_BCAST},
    {"Ibcast", nonblocking, XY_COLL_BCAST | WALK_NONBLOCKING},
    {"Gather", collective, XY_COLL_GATHER},
    {"Igather", nonblocking, XY_COLL_GATHER | WALK_NONBLOCKING},
    {"Gatherv", collective, XY_COLL_GATHERV},
    {"Igatherv", nonblocking, XY_COLL_GATHERV | WALK_NONBLOCKING},
    {"Scatter", collective, XY_COLL_SCATTER},
    {"Iscatter", nonblocking, XY_COLL_SCATTER | WALK_NONBLOCKING},
    {"Scatterv", collective, XY_COLL_SCATTERV},
    {"Iscatterv", nonblocking, XY_COLL_SCATTERV | WALK_NONBLOCKING},
    {"Allgather", collective, XY_COLL_ALLGATHER},
    {"Iallgather", nonblocking, XY_COLL_ALLGATHER | WALK_NONBLOCKING},
    {"Allgatherv", collective, XY_COLL_ALLGATHERV},
    {"Iallgatherv", nonblocking, XY_COLL_ALLGATHERV | WALK_NONBLOCKING},
    {"Alltoall", collective, XY_COLL_ALLTOALL},
    {"Ialltoall", nonblocking, XY_COLL_ALLTOALL | WALK_NONBLOCKING},
    {"Alltoallv", collective, XY_COLL_ALLTOALLV},
    {"Ialltoallv", nonblocking, XY_COLL_ALLTOALLV | WALK_NONBLOCKING},
    {"Alltoallw", collective, XY_COLL_ALLTOALLW},
    {"Ialltoallw", nonblocking, XY_COLL_ALLTOALLW | WALK_NONBLOCKING},
    {"Reduce", collective, XY_COLL_REDUCE},
    {"Ireduce", nonblocking, XY_COLL_REDUCE | WALK_NONBLOCKING},
    {"Allreduce", collective, XY_COLL_ALLREDUCE},
    {"Iallreduce", nonblocking, XY_COLL_ALLREDUCE | WALK_NONBLOCKING},
    {"Reduce_scatter", collective, XY_COLL_REDUCE_SCATTER},
    {"Ireduce_scatter", nonblocking, XY_COLL_REDUCE_SCATTER | WALK_NONBLOCKING},
    {"Reduce_scatter_block", collective, XY_COLL_REDUCE_SCATTER_BLOCK},
    {"Ireduce_scatter_block", nonblocking, XY_COLL_REDUCE_SCATTER_BLOCK | WALK_NONBLOCKING},
    {"Scan", collective, XY_COLL_SCAN},
    {"Iscan", nonblocking, XY_COLL_SCAN | WALK_NONBLOCKING},
    {"Exscan", collective, XY_COLL_EXSCAN},
    {"Iexscan", nonblocking, XY_COLL_EXSCAN | WALK_NONBLOCKING},
    {0}};
