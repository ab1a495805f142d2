/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast, split binary tree.                  Cost: counted; about lg p (2 a + n b) + a + n/2 b
 *
 * The two subtrees below the root of a binary tree (see coll_tree.c) are the odd and the even
 * nodes. The first half of the vector goes down the odd one, the second half down the other; then
 * nodes v and v + 1 give each other what they have. When p is even the last node has no partner and
 * gets the second half from the root. p = 6, halves A B: 0-A->1 0-B->2, 1-A->3 1-A->5 2-B->4 1<->2
 * 3<->4 0-B->5
 */
#include "coll/build.h"
#include "coll/list.h"

static bool applicable(const xy_coll_request_t *q)
{
    return q->count >= 2;
}

static void move_half(coll_build_t *b, int from, int to, bool is_second)
{
    uint64_t first = (b->q->count + 1) / 2 * b->q->element, at = is_second ? first : 0;
    int root = b->q->root;

    coll_move(b, coll_place((from + root) % b->p, XY_BUFFER_RECEIVE, at),
              coll_place((to + root) % b->p, XY_BUFFER_RECEIVE, at),
              is_second ? b->bytes - first : first, 0);
}

static void build(coll_build_t *b)
{
    for (int v = 0; v < b->p; v++)
        for (int i = 0, c; (c = coll_child_binary(b->q, v, i)) >= 0; i++)
            move_half(b, v, c, c % 2 == 0);
    for (int v = 1; v + 1 < b->p; v += 2) {
        move_half(b, v + 1, v, true);
        move_half(b, v, v + 1, false);
    }
    if (b->p % 2 == 0)
        move_half(b, 0, b->p - 1, true);
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return coll_cost_counted(q, l, &coll_bcast_split_binary);
}

const xy_coll_algorithm_t coll_bcast_split_binary = {
    .name = "split-binary",
    .collectives = 1u << XY_COLL_BCAST,
    .formula = "counted; about lg p (2a + n b) + a + n/2 b",
    .describe = "half of the vector down each side of a binary tree, then the sides exchange",
    .needs = "at least two elements",
    .is_foreign = true,
    .applicable = applicable,
    .cost = cost,
    .build = build,
};
