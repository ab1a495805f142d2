/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that algorithms are written with.
 *
 * An algorithm writes down its messages as one sequential program, round after round; the graph
 * finds independent operations by their bytes. Algorithms never see MPI_IN_PLACE: coll_input() is
 * the place of a rank's contribution, and the algorithm's own writes do not overwrite it.
 */
#ifndef XY_COLL_BUILD_H
#define XY_COLL_BUILD_H

#include "coll/coll.h"

/* Temporaries of algorithms, then the copies of inputs that are in place. */
enum { COLL_TEMPORARY = XY_BUFFER_TEMPORARY, COLL_SNAPSHOT = XY_BUFFER_TEMPORARY + 3 };
/* So far behind are the temporaries of a stage. */
enum { COLL_STAGE = COLL_SNAPSHOT + 1 - COLL_TEMPORARY };

typedef struct coll_stage coll_stage_t;

struct coll_build {
    const xy_coll_request_t *q;
    const xy_coll_link_t *link;
    const xy_coll_algorithm_t *algorithm;
    xy_graph_t *graph;      /* NULL when the algorithm is walked: */
    xy_coll_visit_fn visit; /* gets each operation instead */
    void *arg;              /* of visit */
    int p;
    uint64_t bytes;            /* q->count * q->element */
    xy_status_t status;        /* XY_ENOMEM: a stage ran out of memory; XY_EINVAL: a plug-in broke
                                  a rule (both reported) */
    coll_build_t *parent;      /* a stage: operations are its, elsewhere */
    const coll_stage_t *stage; /* where that is */
    uint64_t *start; /* [p + 1]: where each rank's block begins when they lie one after the other */
    bool has_snapshots; /* inputs in place were copied first: the algorithm would spoil them */
    /* Direct algorithms: */
    xy_op_id_t *mark;   /* [p + 1]: the first operation of each rank since the last barrier;
                           scheduled barriers: the last message that each heard, -1: none */
    xy_op_id_t met;     /* the end of the last barrier for rank 0, the other ranks' follow; -1 */
    bool has_marks;     /* there are marks since then */
    bool is_piece_open; /* the next operation continues a piece */
};

/* ---- Algorithms of the user (coll_plugin.c) ---- */

/* Does its plug-in do this call? */
bool coll_plugin_applies(const xy_coll_algorithm_t *a, const xy_coll_request_t *q);

/* ---- Places ---- */

static inline xy_spot_t coll_place(int rank, int buffer, uint64_t offset)
{
    return (xy_spot_t){rank, buffer, offset};
}

static inline xy_spot_t coll_shift(xy_spot_t place, uint64_t offset)
{
    place.offset += offset;
    return place;
}

static inline bool coll_is_same(xy_spot_t a, xy_spot_t b)
{
    return a.rank == b.rank && a.buffer == b.buffer && a.offset == b.offset;
}

/* Where the contribution of `rank` begins: its vector or block, or all its blocks (scatter of the
 * root, alltoall). */
xy_spot_t coll_input(const coll_build_t *b, int rank);
bool coll_is_in_place(const coll_build_t *b, int rank);

/* Bytes of the block of `rank`, and where it lies in the receive buffer of `holder`. */
uint64_t coll_block(const coll_build_t *b, int rank);
xy_spot_t coll_received(const coll_build_t *b, int holder, int rank);
/* The same in the send buffer (scatter). */
xy_spot_t coll_sent(const coll_build_t *b, int holder, int rank);
/* Alltoall: the block that goes from one rank to another. */
uint64_t coll_pair_bytes(const coll_build_t *b, int from, int to);
xy_spot_t coll_pair_sent(const coll_build_t *b, int from, int to);
xy_spot_t coll_pair_received(const coll_build_t *b, int to, int from);

/* Where part i of `parts` of the vector begins, in bytes; part sizes differ by one element at
 * most. */
uint64_t coll_part_begin(const xy_coll_request_t *q, int parts, int i);

/* ---- Operations: skipped when they have no bytes, or copy a place onto itself ---- */

xy_op_id_t coll_move(coll_build_t *b, xy_spot_t from, xy_spot_t to, uint64_t bytes, int level);
/* to = from op other (is_left: from is the left operand); other may be to. */
void coll_combine(coll_build_t *b, xy_spot_t from, xy_spot_t other, xy_spot_t to, uint64_t bytes,
                  bool is_left, int level);
/* Any other operation, its actor included; not in a stage. -1: it is walked. */
xy_op_id_t coll_add(coll_build_t *b, const xy_op_t *op);
/* A message of no bytes, which comes after what coll_order says; its id. */
xy_op_id_t coll_tell(coll_build_t *b, int from, int to);
/* Barriers: a message after all that both have heard, which `to` has heard then. */
void coll_tell_next(coll_build_t *b, int from, int to);
/* before -1: nothing. */
void coll_order(coll_build_t *b, xy_op_id_t before, xy_op_id_t after);
/* Like coll_move for `count` blocks of ranks first, first + 1, ... (wrapping): they lie one after
 * the other at `packed`; spread(b, rank) says where each lies on the other side. Neighbours on both
 * sides travel as one. */
typedef xy_spot_t (*coll_spread_fn)(const coll_build_t *b, int holder, int rank);
void coll_move_to_blocks(coll_build_t *b, xy_spot_t packed, int holder, coll_spread_fn spread,
                         int first, int count, int level);
void coll_move_from_blocks(coll_build_t *b, int holder, coll_spread_fn spread, xy_spot_t packed,
                           int first, int count, int level);
/* From the receive buffer of one rank to that of another, block by block likewise. */
void coll_move_blocks(coll_build_t *b, int from, int to, int first, int count);
/* Bytes of `count` blocks from `first` on, wrapping. */
uint64_t coll_blocks(const coll_build_t *b, int first, int count);

/* ---- Direct collectives (direct.h), one rank to a part, or one group of the request ---- */

/* See coll/direct.h; the core of each rank is its group. */
bool coll_direct_is_spread(const xy_coll_request_t *q);
/* Does a vector, or do `blocks` blocks, of this request go through what ranks leave for the others?
 */
bool coll_direct_is_small(const xy_coll_request_t *q);
bool coll_direct_is_packed(const xy_coll_request_t *q, int blocks);
/* Do `blocks` of each rank of a group, together? Takes time; ask once. */
bool coll_direct_is_packed_by_groups(const xy_coll_request_t *q, int blocks);
/* The operations of `rank` begin here; called for all ranks in order, before a barrier. */
void coll_direct_mark(coll_build_t *b, int rank);
/* All ranks synchronize; what is added afterwards comes behind it. */
void coll_direct_meet(coll_build_t *b);
/* Only what the root has done comes before it; only what all others have done, and behind it is the
 * root alone: no rank waits for more. Without groups as coll_direct_meet. */
void coll_direct_from_root(coll_build_t *b);
void coll_direct_to_root(coll_build_t *b);
/* The first rank of a group. */
int coll_direct_first(const coll_build_t *b, int group);
/* Does each group reduce the vectors of its ranks first? Then: it leaves the result, with its first
 * rank. */
bool coll_direct_is_grouped(const coll_build_t *b);
void coll_direct_leave_groups(coll_build_t *b);
/* The data left by the groups, to one place. */
void coll_direct_combine_groups(coll_build_t *b, int actor, xy_spot_t to);
/* A new piece: the operations up to the next one are done by one core, one after the other. */
void coll_direct_piece(coll_build_t *b);
void coll_direct_copy(coll_build_t *b, int actor, xy_spot_t from, xy_spot_t to, uint64_t bytes);
void coll_direct_combine(coll_build_t *b, int actor, xy_spot_t from, xy_spot_t other, xy_spot_t to,
                         uint64_t bytes, bool is_left);
/* A copy as pieces of its own. */
void coll_direct_copy_pieces(coll_build_t *b, int actor, xy_spot_t from, xy_spot_t to,
                             uint64_t bytes);
/* The contributions of all ranks to `bytes` from `begin` on, reduced; where the result is. */
xy_spot_t coll_direct_reduce(coll_build_t *b, int actor, uint64_t begin, uint64_t bytes);
/* Short vectors: every rank leaves its own for the others; `actor` reduces them into `to`. */
void coll_direct_leave(coll_build_t *b);
void coll_direct_combine_left(coll_build_t *b, int actor, xy_spot_t to);
/* When all have come, each rank's slice of the vector, block by block; then all wait for all. */
void coll_direct_slices(coll_build_t *b,
                        void (*piece)(coll_build_t *b, int actor, uint64_t begin, uint64_t bytes));
double coll_cost_meet(const xy_coll_request_t *q, const xy_coll_link_t *l);
/* Bytes of the longest slice. */
double coll_cost_slice(const xy_coll_request_t *q);

/* ---- Powers of two ---- */

int coll_log2_floor(int n); /* n >= 1 */
int coll_log2_ceil(int n);
/* Nodes of the subtree of node v > 0 of a binomial tree of p. */
int coll_subtree(int p, int v);

/* p ranks as a group of 2^k: the first `extra` pairs (2i, 2i+1) are one member each, for which its
 * keeper acts. Members are in the order of ranks, so that operations need not commute. */
typedef struct {
    int size, extra, rounds; /* size = 2^rounds */
    int keeper; /* this rank, if it is in a pair, is its keeper; the others' are the even ones. -1:
                   the odd ranks are keepers */
} coll_group_t;

coll_group_t coll_group(int p, int keeper);
int coll_group_rank(const coll_group_t *g, int member);
int coll_group_other(const coll_group_t *g, int member); /* its pair's other rank, or -1 */
int coll_group_member(const coll_group_t *g, int rank);

/* ---- Stages: collectives inside collectives ---- */

/* A collective among some ranks, as a part of another one. The places of its buffers are those of
 * the enclosing collective; its temporaries follow those of the enclosing one. */
struct coll_stage {
    xy_coll_request_t q;
    const int *ranks;           /* [q.procs]: who they are; NULL: all */
    const xy_coll_link_t *link; /* cost of their messages; NULL: as for all ranks */
    xy_spot_t (*send)(const coll_build_t *b, int rank, const void *arg); /* of the rank outside */
    xy_spot_t (*receive)(const coll_build_t *b, int rank, const void *arg);
    const void *arg;
};

/* The functions of an algorithm for a request: the check, then the operations, then in any case the
 * end. */
xy_status_t coll_build_begin(coll_build_t *b, const xy_coll_algorithm_t *algorithm);
void coll_build_all(coll_build_t *b, const xy_coll_algorithm_t *algorithm);
void coll_build_finish(coll_build_t *b);

/* By the algorithm; NULL: by the one that the library of the request chooses. */
void coll_stage(coll_build_t *b, const coll_stage_t *stage, const xy_coll_algorithm_t *a);
/* The cost of two such stages: counted, as the second may begin before the first is complete; of
 * very many ranks their sum, which is a bound. */
double coll_cost_composed(const xy_coll_request_t *q, const xy_coll_link_t *l,
                          const xy_coll_algorithm_t *a, const xy_coll_request_t *first,
                          const xy_coll_request_t *second);
/* Places that many stages have: what the rank gives to the whole, what it gets, a temporary. */
xy_spot_t coll_stage_input(const coll_build_t *b, int rank, const void *arg);
xy_spot_t coll_stage_result(const coll_build_t *b, int rank, const void *arg);
xy_spot_t coll_stage_temporary(const coll_build_t *b, int rank, const void *arg);
/* The request of a stage of the same kind of data: the library, the link and the operation. */
xy_coll_request_t coll_stage_request(const xy_coll_request_t *q, xy_collective_t collective,
                                     uint64_t count, uint64_t element);
/* The cost found by counting the graph: for algorithms whose rounds overlap in irregular ways. */
double coll_cost_counted(const xy_coll_request_t *q, const xy_coll_link_t *l,
                         const xy_coll_algorithm_t *a);

/* The nodes of the request, and who is on them. The leader of a node is its first rank. */
typedef struct {
    int count;
    int *first;   /* [count + 1]: where the ranks of each begin in */
    int *members; /* [p], by node, then by rank */
    int *leaders; /* [count] */
    int *node;    /* [p]: of each rank */
    int *place;   /* [p]: which of the ranks of its node it is */
} coll_nodes_t;

/* NULL: memory ran out (reported), and the build fails. The caller frees it with xy_free. */
coll_nodes_t *coll_nodes_find(coll_build_t *b);
int coll_nodes_size(const coll_nodes_t *n, int node);
/* A stage among the ranks of a node, or among all leaders (-1), with this one of them as the root.
 */
coll_stage_t coll_nodes_stage(const coll_build_t *b, const coll_nodes_t *n, int node,
                              xy_collective_t collective, int root);

/* ---- Long vectors inside nodes, without messages (inside.c) ---- */

typedef xy_spot_t (*coll_spot_fn)(const coll_build_t *b, int rank, const void *arg);

/* Does the request ask for the runtime's own way, and is the vector long? */
bool coll_inside_is_direct(const coll_build_t *b);
/* The ranks of a node synchronize: before they read each other's buffers, and at the end. */
void coll_inside_meet(coll_build_t *b, const coll_nodes_t *n, int node);
/* The vectors of a node of several ranks, each at input(b, rank, n), are reduced to `result`. */
void coll_inside_reduce(coll_build_t *b, const coll_nodes_t *n, int node, coll_spot_fn input,
                        xy_spot_t result);
/* The vector in the receive buffer of `root` goes to the others of its node. */
void coll_inside_bcast(coll_build_t *b, const coll_nodes_t *n, int node, int root);

/* ---- Trees ---- */

/* The i-th child, in the order in which they are served, of node v of the ranks of the request; -1:
 * there are no more. Node 0 is the root, children have higher numbers. */
typedef int (*coll_child_fn)(const xy_coll_request_t *q, int v, int i);
int coll_child_binary(const xy_coll_request_t *q, int v, int i);
int coll_child_knomial(const xy_coll_request_t *q, int v, int i); /* of the request's radix */
/* Binomial; the parent is v without its highest bit. */
int coll_child_high(const xy_coll_request_t *q, int v, int i);
/* The level of the message between node v > 0 and its parent, as split.h numbers them. */
typedef int (*coll_level_fn)(const xy_coll_request_t *q, int v);
int coll_level_knomial(const xy_coll_request_t *q, int v);
/* The vector of the root goes to all, in pieces where the request has a segment; rank (v + root)
 * mod p is node v. level NULL: none. */
void coll_phase_tree(coll_build_t *b, int root, coll_child_fn child, coll_level_fn level);
double coll_cost_tree(const xy_coll_request_t *q, const xy_coll_link_t *l, coll_child_fn child);
/* The vectors of all are added up to the root of the request; a node hears of its children in the
 * order in which they are served, or the other way round. The operation must commute. */
void coll_phase_tree_up(coll_build_t *b, coll_child_fn child, coll_level_fn level,
                        bool is_reversed);
double coll_cost_tree_up(const xy_coll_request_t *q, const xy_coll_link_t *l, coll_child_fn child,
                         bool is_reversed);

/* ---- Pieces ---- */

/* Bytes of a piece of the vector for the request's segment; `own` elements where there is none. */
uint64_t coll_piece(const xy_coll_request_t *q, uint64_t own);

/* ---- Answers for tables ---- */

bool coll_is_power(int p); /* of two */
/* ... of the vector for each rank, their number rounded down to a power of two. */
bool coll_has_element_per_member(const xy_coll_request_t *q);
bool coll_commutes(const xy_coll_request_t *q);

bool coll_always(const xy_coll_request_t *q);
bool coll_has_element_each(const xy_coll_request_t *q); /* ... of the vector for each rank */

/* ---- Costs ---- */

static inline double coll_message(const xy_coll_link_t *l, double bytes)
{
    return l->alpha + bytes * l->beta;
}

static inline double coll_reduced(const xy_coll_link_t *l, double bytes)
{
    return l->alpha + bytes * (l->beta + l->gamma);
}

static inline double coll_vector_bytes(const xy_coll_request_t *q)
{
    return (double)q->count * (double)q->element;
}

/* The bytes of rank i's block, modulo p; their sum; the largest. */
double coll_cost_block(const xy_coll_request_t *q, int i);
double coll_cost_total(const xy_coll_request_t *q);
double coll_cost_largest(const xy_coll_request_t *q);

/* How many of `count` blocks from rank `first` on (wrapping) follow each other at the root, where
 * `offsets` (NULL: one after the other) says where they lie. */
int coll_block_run(const xy_coll_request_t *q, const uint64_t *const *offsets, int first,
                   int count);

/* ---- Phases that several algorithms have ---- */

/* Rounds up and down the binomial tree in which rank (v + root) mod p is node v, on whole vectors:
 * the value of each rank is at coll_input, of the root in the end at `result`. */
void coll_phase_reduce(coll_build_t *b, int root, xy_spot_t result);
/* From the receive buffer of the root to those of the others. */
void coll_phase_bcast(coll_build_t *b, int root);

/* Pairs fold into their keepers: `acc` of those then holds the sum. */
typedef xy_spot_t (*coll_acc_fn)(const coll_build_t *b, int rank);
void coll_phase_fold(coll_build_t *b, const coll_group_t *g, coll_acc_fn acc);
/* Alltoall, in rounds: from the rank `round` below (way 1), above (-1), or with its bits changed
 * (0).
 */
void coll_phase_exchange(coll_build_t *b, int way);
double coll_cost_exchange(const xy_coll_request_t *q, const xy_coll_link_t *l, int way);

/* Rabenseifner's phases with ranges cut by halves: phase_halves.c. The group's keepers are the even
 * ranks of pairs. */
void coll_halves_reduce(coll_build_t *b, const coll_group_t *g, coll_acc_fn acc);
/* Copy the range of a member after `rounds` rounds from the acc of one rank to that of another. */
void coll_halves_move(coll_build_t *b, coll_acc_fn acc, int member, int rounds, int from, int to);
double coll_cost_halves(const xy_coll_request_t *q, const xy_coll_link_t *l); /* of the fold */
/* Reduce-scatter inside the group by recursive vector halving, distance doubling: afterwards acc of
 * member i holds one part. */
void coll_phase_halve(coll_build_t *b, const coll_group_t *g, coll_acc_fn acc);
/* Copy `member`'s range after `rounds` rounds from one vector to another. */
void coll_phase_halved_move(coll_build_t *b, const coll_group_t *g, int member, int rounds,
                            xy_spot_t from, xy_spot_t to);
/* Scan of the first `ranks` ranks into `buffer` of each; rank 0's is its input, and is not copied.
 */
void coll_phase_scan(coll_build_t *b, int ranks, int buffer);
int coll_scan_rounds(int p);
double coll_cost_fold(const xy_coll_request_t *q, const xy_coll_link_t *l);
double coll_cost_halve(const xy_coll_request_t *q, const xy_coll_link_t *l, double per_byte);

#endif
