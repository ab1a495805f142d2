/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alltoall, pairwise.                            Cost = n c + (p-1) (a + n b)
 *
 * In round s every rank takes its block from the rank s below it (wrapping). No rank is read twice
 * in a round. p = 3: round 1: 0<-2 1<-0 2<-1     round 2: 0<-1 1<-2 2<-0
 */
#include "coll/build.h"

/* The rank that sends rank r its block in a round: the rank `round` below it (way 1) or above it
 * (-1), or with the bits of `round` changed (0). */
static int source(int p, int r, int round, int way)
{
    return way == 0 ? r ^ round : (r - way * round + p) % p;
}

static double bytes_of(const xy_coll_request_t *q, int from, int to)
{
    return (double)(q->matrix != NULL ? q->matrix[from][to] : q->count) * (double)q->element;
}

/* Each round is as long as its longest message. */
double coll_cost_exchange(const xy_coll_request_t *q, const xy_coll_link_t *l, int way)
{
    double sum = 0.0;

    for (int round = 0; round < q->procs; round++) {
        double most = bytes_of(q, source(q->procs, 0, round, way), 0);

        for (int r = 1; r < q->procs && q->matrix != NULL; r++) {
            double bytes = bytes_of(q, source(q->procs, r, round, way), r);

            most = bytes > most ? bytes : most;
        }
        sum += round == 0 ? most * l->copy : coll_message(l, most);
    }
    return sum;
}

void coll_phase_exchange(coll_build_t *b, int way)
{
    int p = b->p;

    for (int round = 0; round < p; round++)
        for (int r = 0; r < p; r++) {
            int from = source(p, r, round, way);

            coll_move(b, coll_pair_sent(b, from, r), coll_pair_received(b, r, from),
                      coll_pair_bytes(b, from, r), 0);
        }
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return coll_cost_exchange(q, l, 1);
}

static void build(coll_build_t *b)
{
    coll_phase_exchange(b, 1);
}

const xy_coll_algorithm_t coll_alltoall_pairwise = {
    .name = "pairwise",
    .collectives = 1u << XY_COLL_ALLTOALL | 1u << XY_COLL_ALLTOALLV | 1u << XY_COLL_ALLTOALLW,
    .formula = "n c + (p-1) (a + n b)",
    .describe = "every rank receives each block from its source; no block is copied twice",
    .cost = cost,
    .build = build,
};

/*
 * Alltoall, pairwise exchange.                   Cost = n c + (p-1) (a + n b)
 *
 * For powers of two: in round s ranks r and r xor s exchange their blocks. p = 4:
 *   round 1: 0<->1 2<->3     round 2: 0<->2 1<->3     round 3: 0<->3 1<->2
 */
static bool applicable_xor(const xy_coll_request_t *q)
{
    return coll_is_power(q->procs);
}

static double cost_xor(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return coll_cost_exchange(q, l, 0);
}

static void build_xor(coll_build_t *b)
{
    coll_phase_exchange(b, 0);
}

const xy_coll_algorithm_t coll_alltoall_pairwise_xor = {
    .name = "pairwise-xor",
    .collectives = 1u << XY_COLL_ALLTOALL | 1u << XY_COLL_ALLTOALLV | 1u << XY_COLL_ALLTOALLW,
    .formula = "n c + (p-1) (a + n b)",
    .describe = "in every round pairs of ranks exchange their blocks",
    .needs = "a power of two of ranks",
    .is_foreign = true,
    .applicable = applicable_xor,
    .cost = cost_xor,
    .build = build_xor,
};
