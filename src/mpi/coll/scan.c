/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scan and exscan: each local group takes a slice of the vector and walks it through all members in
 * order of rank, so that the local groups work side by side.
 */
#include "mpi/coll/coll.h"

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
                                .pieces = pieces,
                                .piece = exscan_piece,
                                .needs_exit_barrier = coll_exit_always};
