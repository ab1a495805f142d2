/* SPDX-License-Identifier: BSD-3-Clause */
/* All algorithms by their C names. */
#ifndef XY_COLL_LIST_H
#define XY_COLL_LIST_H

#include "coll/coll.h"

extern const xy_coll_algorithm_t coll_barrier_dissemination, coll_barrier_direct,
    coll_barrier_linear, coll_barrier_recursive_doubling, coll_barrier_tree, coll_barrier_two_level;
extern const xy_coll_algorithm_t coll_bcast_binomial, coll_bcast_scatter_allgather,
    coll_bcast_chain, coll_bcast_direct, coll_bcast_binary, coll_bcast_binomial_high,
    coll_bcast_knomial, coll_bcast_linear, coll_bcast_scatter_doubling, coll_bcast_scatter_ring,
    coll_bcast_split_binary, coll_bcast_two_level, coll_bcast_two_level_root;
extern const xy_coll_algorithm_t coll_gather_linear, coll_gather_binomial, coll_gather_direct,
    coll_gather_binomial_whole, coll_gather_linear_sync;
extern const xy_coll_algorithm_t coll_scatter_linear, coll_scatter_binomial, coll_scatter_direct,
    coll_scatter_binomial_whole;
extern const xy_coll_algorithm_t coll_allgather_recursive_doubling, coll_allgather_ring,
    coll_allgather_bruck, coll_allgather_direct, coll_allgather_gather_bcast, coll_allgather_linear,
    coll_allgather_neighbor;
extern const xy_coll_algorithm_t coll_alltoall_pairwise, coll_alltoall_bruck, coll_alltoall_direct,
    coll_alltoall_linear, coll_alltoall_pairwise_xor;
extern const xy_coll_algorithm_t coll_reduce_binomial, coll_reduce_rabenseifner, coll_reduce_direct,
    coll_reduce_binary, coll_reduce_chain, coll_reduce_in_order_binary, coll_reduce_knomial,
    coll_reduce_linear, coll_reduce_rabenseifner_even, coll_reduce_rabenseifner_halves,
    coll_reduce_two_level, coll_reduce_two_level_zero;
extern const xy_coll_algorithm_t coll_allreduce_recursive_doubling, coll_allreduce_rabenseifner,
    coll_allreduce_ring, coll_allreduce_reduce_bcast, coll_allreduce_direct, coll_allreduce_linear,
    coll_allreduce_rabenseifner_halves, coll_allreduce_reduce_bcast_high, coll_allreduce_then,
    coll_allreduce_two_level;
extern const xy_coll_algorithm_t coll_reduce_scatter_pairwise, coll_reduce_scatter_halving,
    coll_reduce_scatter_direct, coll_reduce_scatter_butterfly, coll_reduce_scatter_mirrored,
    coll_reduce_scatter_recursive_doubling, coll_reduce_scatter_ring, coll_reduce_scatter_then,
    coll_reduce_scatter_binomial;
extern const xy_coll_algorithm_t coll_scan_chain, coll_scan_binomial, coll_scan_direct,
    coll_scan_recursive_doubling, coll_scan_two_level;
extern const xy_coll_algorithm_t coll_exscan_chain, coll_exscan_binomial, coll_exscan_direct,
    coll_exscan_recursive_doubling;

#endif
