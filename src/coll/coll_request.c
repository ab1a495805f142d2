/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests: their names and checks, and the way from one to a graph. */
#include <string.h>

#include "coll/build.h"

static const char *const names[] = {
    "barrier",   "bcast",     "gather",     "gatherv",        "scatter",
    "scatterv",  "allgather", "allgatherv", "alltoall",       "alltoallv",
    "alltoallw", "reduce",    "allreduce",  "reduce_scatter", "reduce_scatter_block",
    "scan",      "exscan",    NULL};

_Static_assert(sizeof(names) / sizeof(names[0]) == XY_COLL_COUNT + 1, "one name each");

const char *xy_coll_name(xy_collective_t collective)
{
    return names[collective];
}

const char *const *xy_coll_names(void)
{
    return names;
}

bool xy_coll_parse(const char *name, xy_collective_t *collective_p)
{
    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0) {
            *collective_p = (xy_collective_t)i;
            return true;
        }
    return false;
}

/* ---- Checks ---- */

static bool is_one_of(xy_collective_t collective, uint32_t set)
{
    return (set >> collective & 1) != 0;
}

static const uint32_t rooted = 1u << XY_COLL_BCAST | 1u << XY_COLL_GATHER | 1u << XY_COLL_GATHERV |
                               1u << XY_COLL_SCATTER | 1u << XY_COLL_SCATTERV |
                               1u << XY_COLL_REDUCE;
static const uint32_t with_counts = 1u << XY_COLL_GATHERV | 1u << XY_COLL_SCATTERV |
                                    1u << XY_COLL_ALLGATHERV | 1u << XY_COLL_REDUCE_SCATTER;
static const uint32_t with_matrix = 1u << XY_COLL_ALLTOALLV | 1u << XY_COLL_ALLTOALLW;
/* The vector of each rank has as many blocks as there are ranks. */
static const uint32_t in_blocks = 1u << XY_COLL_GATHER | 1u << XY_COLL_SCATTER |
                                  1u << XY_COLL_ALLGATHER | 1u << XY_COLL_ALLTOALL |
                                  1u << XY_COLL_REDUCE_SCATTER_BLOCK;

enum { BYTES_BITS = 62 };

/* Does count * element * blocks fit? */
static bool is_too_much(uint64_t count, uint64_t element, uint64_t blocks)
{
    uint64_t bytes;

    return __builtin_mul_overflow(count, element, &bytes) ||
           __builtin_mul_overflow(bytes, blocks, &bytes) || bytes >> BYTES_BITS != 0;
}

/* Whether a size of the request overflows when counts, elements and ranks are multiplied. */
static bool has_too_much(const xy_coll_request_t *q)
{
    uint64_t procs = (uint64_t)q->procs;

    if (is_one_of(q->collective, with_counts))
        for (int i = 0; i < q->procs; i++)
            if (is_too_much(q->counts[i], q->element, procs))
                return true;
    if (is_one_of(q->collective, with_matrix))
        for (int i = 0; i < q->procs; i++)
            for (int j = 0; j < q->procs; j++)
                if (is_too_much(q->matrix[i][j], q->element, procs))
                    return true;
    return is_too_much(q->count, q->element, is_one_of(q->collective, in_blocks) ? procs : 1);
}

static bool has_rows(const uint64_t *const *rows, int procs)
{
    for (int i = 0; rows != NULL && i < procs; i++)
        if (rows[i] == NULL)
            return false;
    return rows != NULL;
}

static bool are_numbered(const int *nodes, int procs)
{
    int next = 0;

    for (int i = 0; nodes != NULL && i < procs; i++) {
        if (nodes[i] < 0 || nodes[i] > next)
            return false;
        next += nodes[i] == next;
    }
    return true;
}

xy_status_t xy_coll_check(const xy_coll_request_t *q)
{
    const char *name;

    if ((int)q->collective < 0 || q->collective >= XY_COLL_COUNT)
        return xy_fail(XY_EINVAL, "there is no collective number %d", (int)q->collective);
    name = xy_coll_name(q->collective);
    if (q->procs < 1)
        return xy_fail(XY_EINVAL, "%s of %d ranks; at least one is needed", name, q->procs);
    if (is_one_of(q->collective, rooted) && (q->root < 0 || q->root >= q->procs))
        return xy_fail(XY_EINVAL, "%s: the root is %d; ranks are 0 to %d", name, q->root,
                       q->procs - 1);
    if (q->element == 0 && q->collective != XY_COLL_BARRIER)
        return xy_fail(XY_EINVAL, "%s: the size of an element is 0", name);
    if (is_one_of(q->collective, with_counts) && q->counts == NULL)
        return xy_fail(XY_EINVAL, "%s: the counts of the ranks are missing", name);
    if (is_one_of(q->collective, with_matrix) &&
        (!has_rows(q->matrix, q->procs) || !has_rows(q->send_offsets, q->procs) ||
         !has_rows(q->receive_offsets, q->procs)))
        return xy_fail(XY_EINVAL, "%s: counts or offsets are missing", name);
    if (!are_numbered(q->nodes, q->procs))
        return xy_fail(XY_EINVAL, "%s: nodes are not numbered in the order of their first ranks",
                       name);
    if (has_too_much(q))
        return xy_fail(XY_EINVAL, "%s: the total size is too large", name);
    return XY_OK;
}

/* ---- From a request to a graph ---- */

/* Allocate the tables of a build and compute where each block starts. */
static xy_status_t measure_blocks(coll_build_t *b)
{
    const xy_coll_request_t *q = b->q;
    bool has_counts = is_one_of(q->collective, with_counts);

    b->start = xy_calloc((size_t)b->p + 1, sizeof(*b->start));
    b->mark = xy_calloc((size_t)b->p + 1, sizeof(*b->mark));
    if (b->start == NULL || b->mark == NULL)
        return xy_fail_memory("building a collective");
    for (int i = 0; i < b->p; i++)
        b->mark[i] = -1;
    for (int i = 0; i < b->p; i++)
        b->start[i + 1] = b->start[i] + (has_counts ? q->counts[i] * q->element : b->bytes);
    return XY_OK;
}

/* Copy the input that the receive buffer of a rank holds. */
static void take_snapshot(coll_build_t *b, int rank)
{
    xy_spot_t input = coll_place(rank, XY_BUFFER_RECEIVE, 0);
    xy_spot_t copy = coll_place(rank, COLL_SNAPSHOT, 0);

    if (is_one_of(b->q->collective, with_matrix)) {
        for (int to = 0; to < b->p; to++) {
            uint64_t offset = b->q->receive_offsets[rank][to] * b->q->element;

            coll_move(b, coll_shift(input, offset), coll_shift(copy, offset),
                      coll_pair_bytes(b, rank, to), 0);
        }
        return;
    }
    coll_move(b, input, copy,
              is_one_of(b->q->collective, in_blocks | with_counts) ? b->start[b->p] : b->bytes, 0);
}

/* Where data only moves, what is in place already lies where it belongs. */
static bool is_moved_only(xy_collective_t collective)
{
    return collective < XY_COLL_ALLTOALL;
}

void coll_build_all(coll_build_t *b, const xy_coll_algorithm_t *algorithm)
{
    const xy_coll_request_t *q = b->q;

    b->algorithm = algorithm;
    b->has_snapshots = q->in_place != NULL && !is_moved_only(q->collective) &&
                       (algorithm->keeps_input == NULL || !algorithm->keeps_input(q));
    for (int r = 0; r < b->p && b->has_snapshots; r++)
        if (q->in_place[r])
            take_snapshot(b, r);
    algorithm->build(b);
}

xy_status_t coll_build_begin(coll_build_t *b, const xy_coll_algorithm_t *algorithm)
{
    xy_status_t st = xy_coll_check(b->q);

    if (st != XY_OK)
        return st;
    if (!xy_coll_is_applicable(algorithm, b->q))
        return xy_fail(XY_EINVAL, "%s cannot be done by the %s algorithm, which needs %s",
                       xy_coll_name(b->q->collective), algorithm->name,
                       algorithm->needs != NULL ? algorithm->needs : "another collective");
    return measure_blocks(b);
}

void coll_build_finish(coll_build_t *b)
{
    xy_free(b->start);
    xy_free(b->mark);
}

xy_status_t xy_coll_build(const xy_coll_request_t *q, const xy_coll_link_t *link,
                          const xy_coll_algorithm_t *algorithm, xy_graph_t **graph_p)
{
    coll_build_t b = {
        .q = q, .link = link, .p = q->procs, .bytes = q->count * q->element, .met = -1};
    xy_status_t st = coll_build_begin(&b, algorithm);

    if (st == XY_OK)
        st = xy_graph_create(&b.graph);
    if (st == XY_OK) {
        coll_build_all(&b, algorithm);
        st = b.status != XY_OK ? b.status : xy_graph_finalize(b.graph);
        if (st == XY_OK)
            *graph_p = b.graph;
        else
            xy_graph_destroy(b.graph);
    }
    coll_build_finish(&b);
    return st;
}

xy_status_t xy_coll_walk(const xy_coll_request_t *q, const xy_coll_link_t *link,
                         const xy_coll_algorithm_t *algorithm, xy_coll_visit_fn visit, void *arg)
{
    coll_build_t b = {.q = q,
                      .link = link,
                      .visit = visit,
                      .arg = arg,
                      .p = q->procs,
                      .bytes = q->count * q->element};
    xy_status_t st;

    if (algorithm->is_direct) /* its operations are ordered by those of the graph before them */
        return xy_fail(XY_EINVAL, "the %s algorithm has no messages to walk", algorithm->name);
    st = coll_build_begin(&b, algorithm);
    if (st == XY_OK) {
        coll_build_all(&b, algorithm);
        st = b.status;
    }
    coll_build_finish(&b);
    return st;
}
