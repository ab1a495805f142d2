/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives: each algorithm a graph, with its cost, and the chooser among them.
 *
 *   xy_coll_request_t q = {.collective = XY_COLL_ALLREDUCE, .procs = 64, .count = 131072,
 *                          .element = 8, .is_commutative = true};
 *   xy_coll_choose(&q, &xy_coll_link_default, NULL, &algorithm);     (or a name instead of NULL)
 *   xy_coll_build(&q, &xy_coll_link_default, algorithm, &graph);
 *
 * The graph has one operation per message: its actor, the receiver, copies (or reduces) straight
 * from the buffer of the sender. XY_BUFFER_SEND and XY_BUFFER_RECEIVE are the buffers of the call,
 * as packed elements; a broadcast has XY_BUFFER_RECEIVE only. Buffers above are temporaries of the
 * sizes given by the graph. Operations of tree algorithms carry their level.
 *
 * Two kinds of algorithms. *Direct* ones need access to the memory of all ranks: they are the
 * default inside a node and run without a graph (direct.h). The others are *scheduled*: graphs of
 * messages that an executor runs, with progress threads, with split-tree, or when one is named.
 *
 * Cost. A message of n bytes takes alpha + n*beta, n*gamma more when it is reduced into the
 * receiver's data; a copy inside a rank takes n*copy, a reduction there n*(copy + gamma). A rank
 * sends one message at a time and receives one at a time (both at once is fine), in the order of
 * the algorithm. A direct operation is no message: it takes n*beta (n*gamma more when it reduces),
 * any number of them read one buffer at once, and a barrier is messages of no bytes. `cost` is the
 * formula of the sum; xy_coll_count finds the same by walking the graph. The formulas hold exactly
 * for equal blocks and copy <= beta; with unequal blocks each round is counted as long as its
 * longest message, and the count may be less.
 *
 * Nothing here changes once made: any thread, does not park.
 */
#ifndef XY_COLL_COLL_H
#define XY_COLL_COLL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "choose/choose.h"
#include "coll/direct.h"
#include "coll/library.h"
#include "coll/split.h"
#include "graph/graph.h"

typedef enum {
    XY_COLL_BARRIER,
    XY_COLL_BCAST,
    XY_COLL_GATHER,
    XY_COLL_GATHERV,
    XY_COLL_SCATTER,
    XY_COLL_SCATTERV,
    XY_COLL_ALLGATHER,
    XY_COLL_ALLGATHERV,
    XY_COLL_ALLTOALL,
    XY_COLL_ALLTOALLV,
    XY_COLL_ALLTOALLW,
    XY_COLL_REDUCE,
    XY_COLL_ALLREDUCE,
    XY_COLL_REDUCE_SCATTER,
    XY_COLL_REDUCE_SCATTER_BLOCK,
    XY_COLL_SCAN,
    XY_COLL_EXSCAN,
    XY_COLL_COUNT
} xy_collective_t;

/* "allreduce", and back: false when there is none of this name, in silence. */
const char *xy_coll_name(xy_collective_t collective);
bool xy_coll_parse(const char *name, xy_collective_t *collective_p);
/* All names, NULL-terminated, in the order of the enumeration. */
const char *const *xy_coll_names(void);

/* The request of all ranks together. Counts and offsets are in elements; alltoallw, where elements
 * differ, gives bytes and element = 1. Arrays belong to the caller and are looked at during calls
 * only. */
struct xy_coll_request {
    xy_collective_t collective;
    int procs;
    int root;       /* bcast, gather, scatter, reduce */
    uint64_t count; /* of the vector (bcast, reductions), or of a block: per rank (gather, scatter,
                       allgather, reduce_scatter_block), per pair of ranks (alltoall) */
    uint64_t element;    /* bytes */
    bool is_commutative; /* of the reduction */
    bool is_offloaded;   /* direct: a communication core does the pieces */
    /* [procs]: of each rank's block: gatherv, scatterv, allgatherv, reduce_scatter. */
    const uint64_t *counts;
    /* [procs][procs]: alltoallv and w: how much row sends to column. */
    const uint64_t *const *matrix;
    /* [procs][procs]: where in the send buffer of row is the block for column: of the
     * root's row, scatterv; of all rows, alltoallv and w, where it must be given. NULL, or a row
     * that is NULL: one block after the other. */
    const uint64_t *const *send_offsets;
    /* [procs][procs]: where in the receive buffer of row is the block from column:
     * likewise for the root's row, gatherv; all rows, allgatherv; alltoallv and w. */
    const uint64_t *const *receive_offsets;
    /* [procs] or NULL: MPI_IN_PLACE was given, so the input is in the receive buffer
     * (alltoallv and w: by its offsets), or, scatter, the root's result stays in the send buffer.
     */
    const bool *in_place;
    /* Pipelined algorithms: bytes of a piece, at least one element. 0: the algorithm's own choice;
     * XY_COLL_WHOLE: not cut. */
    uint64_t segment;
    int radix; /* of k-nomial trees; below 2: 4 */
    /* Input of the rules of other libraries (library.h): */
    const xy_coll_library_t *library; /* its rules choose the parts of compositions; NULL: the
                                         cheapest scheduled ones */
    bool is_nonblocking;
    bool is_user_op; /* the operation was made by the program; else it is one of MPI's */
    /* [procs]: the node of each rank; they are numbered from 0 in the order of their first ranks.
     * NULL: each rank has its own. */
    const int *nodes;
    /* The costs of messages between nodes, by which algorithms of several levels choose those of
     * their leaders; NULL: the same as inside. */
    const xy_coll_link_t *between;
    /* Direct: [procs]: the group of each rank, those that share its core, numbered likewise. What
     * is built is then what the runtime does with several ranks to a part. NULL: each rank is one.
     */
    const int *groups;
};

#define XY_COLL_WHOLE UINT64_MAX

struct xy_coll_link {
    double alpha; /* seconds per message */
    double beta;  /* seconds per byte of a message */
    double gamma; /* seconds per byte reduced */
    double copy;  /* seconds per byte copied inside a rank */
};

/* Cores of one node, before anything was measured: 300 ns, 8 GB/s, 16 GB/s, 8 GB/s. */
extern const xy_coll_link_t xy_coll_link_default;

typedef struct coll_build coll_build_t;

struct xy_coll_algorithm {
    const char *name;     /* a word: "recursive-doubling" */
    uint32_t collectives; /* bit 1 << XY_COLL_... for each that it does */
    const char *formula; /* p ranks, n bytes of the vector or block, a b g as in the link, c copy */
    const char *describe; /* one line */
    const char *needs;    /* the missing condition where it is not applicable; NULL: always is */
    bool is_direct;       /* else scheduled */
    bool is_foreign;      /* an algorithm of another library: runs when it is named or the library's
                             rules choose it, never chosen by its cost */
    bool has_levels;      /* its operations know their level of a tree: split-tree can cut it */
    bool (*applicable)(const xy_coll_request_t *request); /* NULL: always */
    double (*cost)(const xy_coll_request_t *request, const xy_coll_link_t *link);
    void (*build)(coll_build_t *build);
    /* Does it read all of a rank's input before it writes there, when both are in one buffer? NULL:
     * no; what is in place is then copied first. */
    bool (*keeps_input)(const xy_coll_request_t *request);
    const void
        *plugin; /* the table of the user behind it (coll_plugin.c), without a cost; or NULL */
};

/* All algorithms, NULL-terminated. */
const xy_coll_algorithm_t *const *xy_coll_algorithms(void);

/* The one of this name that does the collective; NULL: there is none. */
const xy_coll_algorithm_t *xy_coll_find(xy_collective_t collective, const char *name);

/* Load the algorithm of a plug-in by its path. XY_EINVAL and others are reported: it cannot be
 * loaded, or does another collective. Any thread. */
xy_status_t xy_coll_find_plugin(xy_collective_t collective, const char *path,
                                const xy_coll_algorithm_t **algorithm_p);

bool xy_coll_is_applicable(const xy_coll_algorithm_t *a, const xy_coll_request_t *q);

/* The direct algorithm of a collective: what runs inside a node by default. */
const xy_coll_algorithm_t *xy_coll_direct(xy_collective_t collective);
/* The algorithm of the runtime among ranks on several nodes with several ranks each: inside the
 * nodes first, then between one rank of each. NULL: nodes are not like that, there is no such
 * algorithm, or it does not apply. */
const xy_coll_algorithm_t *xy_coll_levels(const xy_coll_request_t *q);

/* The applicable scheduled algorithm of least cost, of Xylem's own; on ties the one listed first.
 * With a name, that one, whatever it is: XY_EINVAL when the collective has no such algorithm or it
 * is not applicable, reported with the names that are there or with what it needs. The request must
 * be valid.
 */
xy_status_t xy_coll_choose(const xy_coll_request_t *q, const xy_coll_link_t *link, const char *name,
                           const xy_coll_algorithm_t **algorithm_p);

typedef struct {
    const xy_coll_algorithm_t *algorithm;
    bool is_applicable;
    double seconds; /* 0 where it is not applicable */
} xy_coll_candidate_t;

enum { XY_COLL_CANDIDATES_MAX = 16 };
/* All algorithms of the collective, cheapest first, those that are not applicable last; how many.
 */
int xy_coll_candidates(const xy_coll_request_t *q, const xy_coll_link_t *link,
                       xy_coll_candidate_t list[XY_COLL_CANDIDATES_MAX]);

/* XY_EINVAL: procs < 1, a root that is none, an element of no bytes, vectors that are missing,
 * nodes that are numbered otherwise, or more bytes than 2^62 (reported). */
xy_status_t xy_coll_check(const xy_coll_request_t *q);

/* The final graph; the caller owns it. XY_EINVAL: the request is not valid, or the algorithm not
 * applicable (reported). XY_ENOMEM (reported). The same request and link give the same graph. */
xy_status_t xy_coll_build(const xy_coll_request_t *q, const xy_coll_link_t *link,
                          const xy_coll_algorithm_t *algorithm, xy_graph_t **graph_p);

/* The operations of a scheduled algorithm one after the other, in the order in which it writes them
 * down, without a graph: memory for the ranks, not for the operations. XY_EINVAL: likewise, or the
 * algorithm is direct (reported). XY_ENOMEM (reported). */
typedef void (*xy_coll_visit_fn)(const xy_op_t *op, void *arg);
xy_status_t xy_coll_walk(const xy_coll_request_t *q, const xy_coll_link_t *link,
                         const xy_coll_algorithm_t *algorithm, xy_coll_visit_fn visit, void *arg);

/* The counting interpretation. `seconds` of one operation; of the whole graph, which must have been
 * added in a valid order, as those of xy_coll_build are. Negative: memory ran out, in silence. */
double xy_coll_seconds(const xy_op_t *op, const xy_coll_link_t *link);
double xy_coll_count(const xy_graph_t *graph, const xy_coll_link_t *link);

/* ---- Algorithms for some calls instead of what would be chosen ---- */

/* By the collective, the number of ranks and the step of the size, which all ranks of a call
 * know: all find the same. */
typedef struct {
    xy_collective_t collective;
    int procs, step;
    const xy_coll_algorithm_t *algorithm;
} xy_coll_pick_t;

typedef struct {
    const xy_coll_pick_t *list;
    size_t count;
} xy_coll_picks_t;

/* The class of a size, in powers of two: 0 for 0 and 1 bytes, 20 for 1 MiB and less than 2 MiB. */
int xy_coll_step(uint64_t bytes);
/* NULL: none was picked, or `picks` is NULL. `bytes`: count * element of the request. */
const xy_coll_algorithm_t *xy_coll_picked(const xy_coll_picks_t *picks, xy_collective_t collective,
                                          int procs, uint64_t bytes);
/* Do all ranks know the size of such a call? For others nothing can be picked. */
bool xy_coll_is_sized(xy_collective_t collective);
/* Is it done along a tree, which split-tree can cut? */
bool xy_coll_is_tree(xy_collective_t collective);
/* The model of its binomial tree: of ranks that share `cores`, beside communication cores. */
xy_split_t xy_coll_split(xy_collective_t collective, int ranks, int cores, int comm_cores);

/* ---- Reconsidering them while a job runs (coll_reconsider.c) ---- */

typedef struct {
    double loss; /* of xy_reconsider_t */
    /* Another algorithm has been chosen: medians of the calls by the one before, and by this one.
     */
    void (*changed)(const xy_coll_pick_t *pick, double before, double now);
} xy_coll_reconsider_t;

/* The blocking calls of one collective and step of the size on one communicator. Candidate 0 is the
 * algorithm of the plan, or of the usual choice. */
typedef struct xy_coll_reconsidered {
    struct xy_coll_reconsidered *next; /* of the communicator */
    const xy_coll_reconsider_t *how;
    xy_coll_pick_t pick;
    xy_reconsider_t choice;
    const xy_coll_algorithm_t *candidate[XY_RECONSIDER_MAX];
    int measured;
    double seconds[XY_RECONSIDER_WINDOW];
} xy_coll_reconsidered_t;

/* NULL: there is none in the list. */
xy_coll_reconsidered_t *xy_coll_reconsidered_find(xy_coll_reconsidered_t *list,
                                                  xy_collective_t collective, uint64_t bytes);
/* All of `r` but `next`; `list`, of `count`, has the algorithm of `pick`, with its cost, and those
 * that may take its place. */
void xy_coll_reconsidered_init(xy_coll_reconsidered_t *r, const xy_coll_reconsider_t *how,
                               const xy_coll_pick_t *pick, const xy_coll_candidate_t *list,
                               int count);
/* The algorithm of the next call; NULL: candidate 0. */
const xy_coll_algorithm_t *xy_coll_reconsidered_now(const xy_coll_reconsidered_t *r);
/* The time of a call. True: the window is complete, *median_p is for xy_coll_reconsidered_decide.
 */
bool xy_coll_reconsidered_measure(xy_coll_reconsidered_t *r, double seconds, double *median_p);
/* True: the next calls have another algorithm. `tells`: call `changed` when it stays. */
bool xy_coll_reconsidered_decide(xy_coll_reconsidered_t *r, double median, bool tells);

#endif
