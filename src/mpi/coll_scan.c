/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scan and exscan: each part takes a slice of the vector and walks it through all members in order
 * of rank, so that the parts work side by side.
 */
#include "mpi/coll.h"

static bool always(const coll_slot_t *slot)
{
    (void)slot;
    return true;
}

static bool slice_of(const coll_part_t *part, int64_t count, int64_t *begin, int64_t *n)
{
    *begin = count * part->index / part->coll->parts;
    *n = count * (part->index + 1) / part->coll->parts - *begin;
    return *n > 0;
}

static void scan_work(coll_part_t *part, coll_slot_t *slot)
{
    const coll_call_t *own = slot->calls[0];
    const mpi_type_t *type = own->receive_type;
    const void *before = NULL;
    int64_t begin, n;

    if (!slice_of(part, own->receive_count, &begin, &n))
        return;
    for (int r = 0; r < part->coll->size; r++) {
        coll_call_t *call = coll_call_of(part, slot, r);
        void *result = coll_element(call->receive, begin, type);

        if (!call->is_in_place)
            coll_copy(result, n, type, coll_element(call->send, begin, type), n, type);
        if (before != NULL)
            mpi_op_apply(own->op, before, result, n, type);
        before = result;
    }
}

const coll_kind_t coll_scan = {.name = "MPI_Scan", .work = scan_work, .parts_again = always};

/* `sum` holds the reduction of all members before; the member's own data may lie where its result
 * goes, so the next sum is made before the result is written. */
static void exscan_work(coll_part_t *part, coll_slot_t *slot)
{
    const coll_call_t *own = slot->calls[0];
    const mpi_type_t *type = own->receive_type;
    size_t span = (size_t)(type->true_extent > type->extent ? type->true_extent : type->extent);
    char *sum, *next;
    int64_t begin, n;

    if (!slice_of(part, own->receive_count, &begin, &n))
        return;
    sum = coll_scratch(part->worker, 2 * (size_t)(n + 1) * span);
    if (sum == NULL) {
        xy_fail_memory("scanning");
        mpi_job->abort(1);
        return;
    }
    next = sum + (size_t)(n + 1) * span - type->true_lb;
    sum -= type->true_lb;
    for (int r = 0; r < part->coll->size; r++) {
        coll_call_t *call = coll_call_of(part, slot, r);
        const void *data = call->is_in_place ? call->receive : call->send;
        char *swap = sum;

        coll_copy(next, n, type, coll_element(data, begin, type), n, type);
        if (r > 0) {
            mpi_op_apply(own->op, sum, next, n, type);
            coll_copy(coll_element(call->receive, begin, type), n, type, sum, n, type);
        }
        sum = next;
        next = swap;
    }
}

const coll_kind_t coll_exscan = {.name = "MPI_Exscan", .work = exscan_work, .parts_again = always};
