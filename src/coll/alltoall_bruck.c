/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alltoall, Bruck.             Cost = 2 p n c + sum over rounds k of (a + m(k) n (b + 2 c))
 *
 * Blocks are turned so that block j of every rank has j ranks to go. In round k all blocks whose j
 * has bit k set go 2^k ranks further, packed into one message: m(k) of them, about p/2. In the end
 * block j has come from the rank j below. p = 4, rank 0's blocks:
 *   0 stays; round 0: 1 and 3 go to rank 1; round 1: 2 goes to rank 2, 3 continues from 1 to 3
 *
 * log2(p) messages instead of p - 1, but every block travels and is packed several times.
 */
#include "coll/build.h"

enum { BLOCKS = COLL_TEMPORARY, PACKED, CAME };

/* Blocks of round k: runs of 2^k, every 2^(k+1). */
static int blocks_of_round(int p, int bit)
{
    int n = 0;

    for (int first = bit; first < p; first += 2 * bit)
        n += p - first < bit ? p - first : bit;
    return n;
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double block = coll_vector_bytes(q), sum = 2.0 * q->procs * block * l->copy;

    if (q->procs == 1)
        return block * l->copy;
    for (int bit = 1; bit < q->procs; bit *= 2) {
        double bytes = blocks_of_round(q->procs, bit) * block;

        sum += coll_message(l, bytes) + 2.0 * bytes * l->copy;
    }
    return sum;
}

/* Copy the blocks of a round inside a rank, from their places into one row or back. */
static void pack(coll_build_t *b, int rank, int bit, bool is_back)
{
    uint64_t row = 0;

    for (int first = bit; first < b->p; first += 2 * bit) {
        uint64_t bytes = (uint64_t)(b->p - first < bit ? b->p - first : bit) * b->bytes;
        xy_spot_t block = coll_place(rank, BLOCKS, (uint64_t)first * b->bytes);

        if (is_back)
            coll_move(b, coll_place(rank, CAME, row), block, bytes, 0);
        else
            coll_move(b, block, coll_place(rank, PACKED, row), bytes, 0);
        row += bytes;
    }
}

static void turn(coll_build_t *b, int rank)
{
    uint64_t above = (uint64_t)(b->p - rank) * b->bytes, below = (uint64_t)rank * b->bytes;
    xy_spot_t input = coll_input(b, rank), blocks = coll_place(rank, BLOCKS, 0);

    coll_move(b, coll_shift(input, below), blocks, above, 0);
    coll_move(b, input, coll_shift(blocks, above), below, 0);
}

/* Add the rotation, lg p rounds of packing, sending and unpacking, and the rotation back to the
 * graph. */
static void build(coll_build_t *b)
{
    int p = b->p;

    if (p == 1) {
        coll_move(b, coll_input(b, 0), coll_place(0, XY_BUFFER_RECEIVE, 0), b->bytes, 0);
        return;
    }
    for (int r = 0; r < p; r++)
        turn(b, r);
    for (int bit = 1; bit < p; bit *= 2) {
        for (int r = 0; r < p; r++)
            pack(b, r, bit, false);
        for (int r = 0; r < p; r++)
            coll_move(b, coll_place((r - bit + p) % p, PACKED, 0), coll_place(r, CAME, 0),
                      (uint64_t)blocks_of_round(p, bit) * b->bytes, 0);
        for (int r = 0; r < p; r++)
            pack(b, r, bit, true);
    }
    for (int r = 0; r < p; r++)
        for (int j = 0; j < p; j++)
            coll_move(b, coll_place(r, BLOCKS, (uint64_t)j * b->bytes),
                      coll_place(r, XY_BUFFER_RECEIVE, (uint64_t)((r - j + p) % p) * b->bytes),
                      b->bytes, 0);
}

const xy_coll_algorithm_t coll_alltoall_bruck = {
    .name = "bruck",
    .collectives = 1u << XY_COLL_ALLTOALL,
    .formula = "2p n c + ceil(lg p) a + sum_k m(k) n (b + 2c), m(k) blocks of p with bit k",
    .describe = "log2(p) messages of about p/2 blocks; best for very short blocks",
    .cost = cost,
    .build = build,
    .keeps_input = coll_always,
};
