/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alltoall, direct.                              Cost = 2 ceil(lg p) a + p n b
 *
 * All ranks synchronize, and each copies its blocks straight from where they lie: short ones of
 * several sources as one piece, long ones in pieces. Where what the ranks of a group send is small
 * it is left before the barrier: p n c + ceil(lg p) a + p n b, and no rank waits until its blocks
 * were read.
 */
#include "coll/build.h"

static bool is_packed(const xy_coll_request_t *q)
{
    return q->collective == XY_COLL_ALLTOALL && coll_direct_is_packed_by_groups(q, q->procs);
}

static bool is_tiled(const xy_coll_request_t *q)
{
    return q->collective == XY_COLL_ALLTOALL && xy_direct_is_tiled(q->count * q->element);
}

/* The data of the rank that receives most. */
static double most_received(const xy_coll_request_t *q)
{
    double most = 0.0;

    if (q->matrix == NULL)
        return q->procs * coll_vector_bytes(q);
    for (int to = 0; to < q->procs; to++) {
        double sum = 0.0;

        for (int from = 0; from < q->procs; from++)
            sum += (double)q->matrix[from][to] * (double)q->element;
        most = sum > most ? sum : most;
    }
    return most;
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double n = most_received(q);

    if (is_packed(q))
        return n * l->copy + coll_cost_meet(q, l) + n * l->beta;
    return 2 * coll_cost_meet(q, l) + n * l->beta;
}

static void leave(coll_build_t *b)
{
    for (int r = 0; r < b->p; r++) {
        coll_direct_mark(b, r);
        coll_move(b, coll_pair_sent(b, r, 0), coll_place(r, COLL_TEMPORARY, 0),
                  b->bytes * (uint64_t)b->p, 0);
    }
}

/* Let rank r copy its blocks: left ones and tiles of short ones as one piece each, long ones in
 * pieces. */
static void collect(coll_build_t *b, int r, bool is_left)
{
    coll_direct_piece(b);
    for (int from = 0; from < b->p; from++) {
        xy_spot_t to = coll_pair_received(b, r, from);

        if (is_left) {
            coll_direct_copy(b, r, coll_place(from, COLL_TEMPORARY, b->bytes * (uint64_t)r), to,
                             b->bytes);
        } else if (is_tiled(b->q)) {
            if (from % XY_DIRECT_TILE == 0)
                coll_direct_piece(b);
            coll_direct_copy(b, r, coll_pair_sent(b, from, r), to, b->bytes);
        } else {
            coll_direct_copy_pieces(b, r, coll_pair_sent(b, from, r), to,
                                    coll_pair_bytes(b, from, r));
        }
    }
}

/* Add the copies and their barriers to the graph; without the second barrier if blocks are left. */
static void build(coll_build_t *b)
{
    bool is_left = is_packed(b->q);

    if (is_left)
        leave(b);
    coll_direct_meet(b);
    for (int r = 0; r < b->p; r++) {
        coll_direct_mark(b, r);
        collect(b, r, is_left);
    }
    if (!is_left)
        coll_direct_meet(b);
}

const xy_coll_algorithm_t coll_alltoall_direct = {
    .name = "direct",
    .collectives = 1u << XY_COLL_ALLTOALL | 1u << XY_COLL_ALLTOALLV | 1u << XY_COLL_ALLTOALLW,
    .formula = "2 ceil(lg p) a + p n b; p n up to 2 KiB p n c + ceil(lg p) a + p n b",
    .describe = "every rank copies its blocks from the send buffers, in pieces",
    .is_direct = true,
    .cost = cost,
    .build = build,
    .keeps_input = is_packed,
};
