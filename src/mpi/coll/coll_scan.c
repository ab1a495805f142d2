/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scan and exscan. Small vectors go from each local group to the later ones, and no rank waits for
 * a later one (star.c). Of long ones, each local group takes a slice and walks it through all
 * members in order of rank, so that the local groups work side by side.
 */
#include <string.h>

#include "mpi/coll/coll.h"
#include "mpi/coll/star.h"

/* ---- Small ---- */

/* In a slot: the reduction of all members here, which later groups take, and what each member
 * gives. A single one's is that reduction. */
static char *given_by(const coll_local_t *local, const star_slot_t *slot, int place, uint64_t bytes)
{
    return slot->data + (size_t)(local->members > 1 ? place + 1 : 0) * bytes;
}

static bool scan_fits(const mpi_coll_t *coll, const coll_call_t *call)
{
    return coll->is_ordered && coll->locals > 1 && coll->locals <= STAR_LATER_GROUPS &&
           xy_direct_is_packed(call->bytes, (uint64_t)coll->most_members) &&
           mpi_type_is_contiguous(call->receive_type);
}

static bool scan_leave(const coll_local_t *local, star_slot_t *slot, const coll_call_t *call)
{
    const void *given = call->is_in_place ? call->receive : call->send;

    mpi_move_in(given_by(local, slot, local->coll->place_of[call->rank], call->bytes), given,
                call->bytes);
    return true;
}

/* The reduction of all members here, for the later groups. */
static void scan_combine(const coll_local_t *local, star_slot_t *slot, const coll_call_t *call)
{
    bool is_last = local->index == local->coll->locals - 1;
    void **sources;

    if (local->members == 1 || is_last)
        return;
    sources = coll_scratch((size_t)local->members * sizeof(*sources));
    for (int m = 0; m < local->members; m++)
        sources[m] = given_by(local, slot, m, call->bytes);
    mpi_op_reduce_here(call->op, sources, local->members, slot->data, call->receive_count,
                       call->receive_type);
}

/* The reduction of all earlier groups, in `sum`. */
static void combine_earlier(const coll_local_t *local, const star_slot_t *slot,
                            const coll_call_t *call, char *sum)
{
    memcpy(sum, star_data_of(local, slot, local->index - 1, call->bytes), call->bytes);
    for (int p = local->index - 2; p >= 0; p--)
        mpi_op_apply_here(call->op, star_data_of(local, slot, p, call->bytes), sum,
                          call->receive_count, call->receive_type);
}

/* The reduction of all ranks before that of `call`; NULL: it is the first. Members take in order of
 * rank: the one before this has put its own sum where it had given its data. */
static const char *sum_before(const coll_local_t *local, const star_slot_t *slot,
                              const coll_call_t *call, char *room)
{
    int place = local->coll->place_of[call->rank];

    if (place > 0)
        return given_by(local, slot, place - 1, call->bytes);
    if (local->index == 0)
        return NULL;
    combine_earlier(local, slot, call, room);
    return room;
}

/* The sum of a member: what it gave, with `before` in front. For the next one it stays there; what
 * a single member gave stays for the later groups. */
static const char *add_own(const coll_local_t *local, const star_slot_t *slot,
                           const coll_call_t *call, const char *before, char *room)
{
    char *own = given_by(local, slot, local->coll->place_of[call->rank], call->bytes);

    if (before == NULL)
        return own;
    if (local->members == 1)
        own = memcpy(room, own, call->bytes);
    mpi_op_apply_here(call->op, before, own, call->receive_count, call->receive_type);
    return own;
}

static void scan_take(const coll_local_t *local, star_slot_t *slot, const coll_call_t *call)
{
    _Alignas(64) char earlier[COLL_SMALL], room[COLL_SMALL];
    const char *before = sum_before(local, slot, call, earlier);

    mpi_move_out(call->receive, add_own(local, slot, call, before, room), call->bytes);
}

static void exscan_take(const coll_local_t *local, star_slot_t *slot, const coll_call_t *call)
{
    _Alignas(64) char earlier[COLL_SMALL], room[COLL_SMALL];
    const char *before = sum_before(local, slot, call, earlier);

    if (before != NULL)
        mpi_move_out(call->receive, before, call->bytes);
    if (local->coll->place_of[call->rank] < local->members - 1)
        add_own(local, slot, call, before, room);
}

static const coll_star_ops_t scan_star = {.shape = STAR_TO_LATER,
                                          .fits = scan_fits,
                                          .leave = scan_leave,
                                          .combine = scan_combine,
                                          .take = scan_take};
static const coll_star_ops_t exscan_star = {.shape = STAR_TO_LATER,
                                            .fits = scan_fits,
                                            .leave = scan_leave,
                                            .combine = scan_combine,
                                            .take = exscan_take};

/* ---- Long ---- */

static int64_t pieces(const coll_local_t *local, coll_slot_t *slot)
{
    int64_t begin, end, n = coll_block_elements(local, slot, slot->calls[0]->receive_type);

    coll_slice(local, slot->calls[0], &begin, &end);
    return (end - begin + n - 1) / n;
}

/* The elements of a piece: from `begin`, this many. */
static int64_t range_of(const coll_local_t *local, const coll_slot_t *slot, int64_t piece,
                        int64_t *begin)
{
    int64_t end, n = coll_block_elements(local, slot, slot->calls[0]->receive_type);

    coll_slice(local, slot->calls[0], begin, &end);
    *begin += piece * n;
    return end - *begin < n ? end - *begin : n;
}

/* Do one piece of a scan: a range of the vector through all members in order. */
static void scan_piece(coll_local_t *local, coll_slot_t *slot, int64_t piece)
{
    const coll_call_t *own = slot->calls[0];
    const mpi_type_t *type = own->receive_type;
    int64_t begin, n = range_of(local, slot, piece, &begin);
    const void *before = NULL;

    for (int r = 0; r < local->coll->size; r++) {
        coll_call_t *call = coll_call_of(local, slot, r);
        void *result = coll_element(call->receive, begin, type);

        if (call->is_in_place && before != NULL)
            mpi_op_apply(own->op, before, result, n, type);
        else if (before != NULL)
            mpi_op_apply2(own->op, before, coll_element(call->send, begin, type), result, n, type);
        else if (!call->is_in_place)
            coll_copy(result, n, type, coll_element(call->send, begin, type), n, type);
        before = result;
    }
}

const coll_ops_t coll_scan = {.name = "MPI_Scan",
                              .collective = XY_COLL_SCAN,
                              .is_sized = true,
                              .star = &scan_star,
                              .pieces = pieces,
                              .piece = scan_piece,
                              .needs_exit_barrier = coll_exit_always};

/* `sum` holds the reduction of all members before; the member's own data may lie where its result
 * goes, so the next sum is made before the result is written. */
static void exscan_piece(coll_local_t *local, coll_slot_t *slot, int64_t piece)
{
    const coll_call_t *own = slot->calls[0];
    const mpi_type_t *type = own->receive_type;
    int64_t begin, n = range_of(local, slot, piece, &begin);
    char *sum = coll_scratch(2 * (size_t)(n + 1) * coll_span(type));
    char *next = sum + (size_t)(n + 1) * coll_span(type) - type->true_lb;

    sum -= type->true_lb;
    for (int r = 0; r < local->coll->size; r++) {
        coll_call_t *call = coll_call_of(local, slot, r);
        const void *data =
            coll_element(call->is_in_place ? call->receive : call->send, begin, type);
        char *swap = sum;

        if (r == 0) {
            coll_copy(next, n, type, data, n, type);
        } else {
            if (r < local->coll->size - 1)
                mpi_op_apply2(own->op, sum, data, next, n, type);
            coll_copy(coll_element(call->receive, begin, type), n, type, sum, n, type);
        }
        sum = next;
        next = swap;
    }
}

const coll_ops_t coll_exscan = {.name = "MPI_Exscan",
                                .collective = XY_COLL_EXSCAN,
                                .is_sized = true,
                                .star = &exscan_star,
                                .pieces = pieces,
                                .piece = exscan_piece,
                                .needs_exit_barrier = coll_exit_always};
