/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shapes: the graph of a collective, made ready to be run often. A program repeats its collectives,
 * so each graph is built once and kept by its request.
 */
#include "sim/job_internal.h"

#include <string.h>

enum { PIECE = 128 << 10 }; /* tasks: of a large operation */

static bool is_of(xy_collective_t c, uint32_t set)
{
    return (set >> c & 1) != 0;
}

static bool has_counts(xy_collective_t c)
{
    return is_of(c, 1u << XY_COLL_GATHERV | 1u << XY_COLL_SCATTERV | 1u << XY_COLL_ALLGATHERV |
                        1u << XY_COLL_REDUCE_SCATTER);
}

static bool has_matrix(xy_collective_t c)
{
    return is_of(c, 1u << XY_COLL_ALLTOALLV | 1u << XY_COLL_ALLTOALLW);
}

/* Where only the root says whether its data is in place, the others do not know: the driver
 * sees to it. */
static bool is_rooted(xy_collective_t c)
{
    return is_of(c, 1u << XY_COLL_GATHER | 1u << XY_COLL_GATHERV | 1u << XY_COLL_SCATTER |
                        1u << XY_COLL_SCATTERV | 1u << XY_COLL_REDUCE | 1u << XY_COLL_BCAST);
}

bool job_shape_has_counts(xy_collective_t c)
{
    return has_counts(c) || has_matrix(c);
}

bool job_shape_needs_root(xy_collective_t c)
{
    return c == XY_COLL_GATHERV || c == XY_COLL_SCATTERV;
}

bool job_shape_needs_all(xy_collective_t c)
{
    return has_matrix(c);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return xy_hash_u64(hash ^ value) + 0x9e3779b97f4a7c15u;
}

/* Number of the k-th count that was given, of `ranks` or `ranks` squared. */
static size_t counts_of(const xy_vcoll_t *coll, int32_t ranks)
{
    size_t n = (size_t)ranks;

    if (has_matrix(coll->call.collective))
        return n * n;
    return has_counts(coll->call.collective) ? n : 0;
}

/* Returns the hash of a collective's arguments and layout, never 0. */
static uint64_t hash_of(const xy_vcoll_t *coll, const xy_vcomm_t *comm)
{
    const xy_vjob_coll_t *c = &coll->call;
    size_t n = counts_of(coll, comm->count);
    uint64_t hash = mix((uint64_t)c->collective << 32 | (uint32_t)comm->count, (uint64_t)c->root);

    hash = mix(mix(hash, c->count), c->element);
    hash = mix(hash, (uint64_t)c->is_commutative | (uint64_t)c->in_place << 1 |
                         (uint64_t)c->is_nonblocking << 2 | (uint64_t)c->is_user_op << 3 |
                         (uint64_t)c->is_agreement << 4 | (uint64_t)comm->layout << 5);
    for (size_t i = 0; i < n; i++)
        hash = mix(hash, coll->counts[i]);
    return hash != 0 ? hash : 1;
}

static bool is_same(const job_shape_t *s, const xy_vcoll_t *coll, const xy_vcomm_t *comm)
{
    const xy_vjob_coll_t *a = &s->call, *b = &coll->call;
    size_t n = counts_of(coll, comm->count);

    return a->collective == b->collective && s->ranks == comm->count && a->root == b->root &&
           a->count == b->count && a->element == b->element &&
           a->is_commutative == b->is_commutative && a->in_place == b->in_place &&
           a->is_nonblocking == b->is_nonblocking && a->is_user_op == b->is_user_op &&
           a->is_agreement == b->is_agreement && s->layout == comm->layout &&
           s->wanted == coll->wanted &&
           (n == 0 || memcmp(s->counts, coll->counts, n * sizeof(*s->counts)) == 0);
}

/* ---- Building ---- */

/* Rows and offsets of alltoallv: blocks lie one after the other. */
typedef struct {
    const uint64_t **rows, **send, **receive;
    uint64_t *numbers;
    bool *in_place;
} arrays_t;

/* Builds the count and offset rows of an alltoallv; returns false without memory. */
static bool make_rows(arrays_t *a, const uint64_t *counts, size_t n)
{
    a->rows = xy_calloc(3 * n, sizeof(*a->rows));
    a->numbers = xy_calloc(2 * n * n, sizeof(*a->numbers));
    if (a->rows == NULL || a->numbers == NULL)
        return false;
    a->send = a->rows + n;
    a->receive = a->send + n;
    for (size_t i = 0; i < n; i++) {
        uint64_t *send = a->numbers + i * n, *receive = a->numbers + (n + i) * n;

        a->rows[i] = counts + i * n;
        a->send[i] = send;
        a->receive[i] = receive;
        for (size_t k = 1; k < n; k++) {
            send[k] = send[k - 1] + counts[i * n + k - 1];
            receive[k] = receive[k - 1] + counts[(k - 1) * n + i];
        }
    }
    return true;
}

/* Builds the arrays of a request; the caller frees them, also on failure. */
static bool make_arrays(arrays_t *a, const job_shape_t *shape, xy_coll_request_t *q)
{
    size_t n = (size_t)shape->ranks;

    if (has_counts(q->collective))
        q->counts = shape->counts;
    if (has_matrix(q->collective)) {
        if (!make_rows(a, shape->counts, n))
            return false;
        q->matrix = a->rows;
        q->send_offsets = a->send;
        q->receive_offsets = a->receive;
    }
    if (!shape->call.in_place || is_rooted(q->collective))
        return true;
    a->in_place = xy_malloc(n * sizeof(*a->in_place));
    if (a->in_place == NULL)
        return false;
    memset(a->in_place, true, n * sizeof(*a->in_place));
    q->in_place = a->in_place;
    return true;
}

static const xy_coll_algorithm_t *find_named(const char *name, const xy_coll_request_t *q)
{
    const xy_coll_algorithm_t *const *list = xy_coll_algorithms();

    for (size_t i = 0; name != NULL && list[i] != NULL; i++)
        if (strcmp(list[i]->name, name) == 0 && xy_coll_is_applicable(list[i], q))
            return list[i];
    return NULL;
}

/* Nonblocking ones that threads make progress with are schedules, also inside a node. */
static bool is_scheduled(const xy_vjob_t *job, const xy_coll_request_t *q)
{
    return job->library->rules == NULL && q->is_nonblocking &&
           job->config.progress == XY_SIM_THREADS;
}

static int count_nodes(const xy_vcomm_t *comm)
{
    int last = 0;

    for (int32_t i = 0; i < comm->count; i++)
        last = comm->nodes[i] > last ? comm->nodes[i] : last;
    return last + 1;
}

/* Blocking ones inside a node are always direct. */
static bool has_choice(const xy_vjob_t *job, const job_shape_t *shape, const xy_coll_request_t *q)
{
    return job->library->rules == NULL && (q->is_nonblocking || shape->nodes > 1) &&
           !shape->call.is_agreement && !q->is_user_op && xy_coll_is_sized(q->collective);
}

/* Chooses the algorithm: a named one, a picked one, or that of the library's rules. */
static xy_status_t choose(const xy_vjob_t *job, const xy_vcomm_t *comm, xy_coll_request_t *q,
                          const job_shape_t *shape, const xy_coll_algorithm_t **algorithm_p)
{
    const xy_coll_algorithm_t *picked = NULL;
    xy_coll_choice_t choice;
    xy_status_t st;

    *algorithm_p = find_named(job->config.algorithm, q);
    if (*algorithm_p != NULL)
        return XY_OK;
    if (shape->is_on_node && job_sim_splits(job, q->collective)) {
        *algorithm_p = xy_coll_find(
            q->collective, q->collective == XY_COLL_ALLREDUCE ? "reduce-bcast" : "binomial");
        return XY_OK;
    }
    if (shape->has_choice && shape->wanted != NULL)
        picked = shape->wanted;
    else if (shape->has_choice)
        picked = xy_coll_picked(job->config.picks, q->collective, q->procs, q->count * q->element);
    if (picked != NULL && xy_coll_is_applicable(picked, q)) {
        *algorithm_p = picked;
        return XY_OK;
    }
    if (is_scheduled(job, q) && xy_coll_levels(q) == NULL)
        return xy_coll_choose(q, &comm->link, NULL, algorithm_p);
    st = xy_coll_library_choose(job->library, q, &comm->link, &choice);
    *algorithm_p = choice.algorithm;
    if (job->library->rules == NULL && choice.algorithm == xy_coll_levels(q))
        q->between = &comm->link;
    return st;
}

/* With a link, messages take the same everywhere: Xylem's own choice looks at it alone. */
static const int *nodes_of(const xy_vjob_t *job, const xy_vcomm_t *comm, int nodes)
{
    bool is_chosen = job->library->rules == NULL && job->config.algorithm == NULL;

    return job->has_link && is_chosen && nodes > 1 ? NULL : comm->nodes;
}

/* Builds the graph and the steps of a collective. */
static xy_status_t build(const xy_vjob_t *job, const xy_vcomm_t *comm, job_shape_t *shape)
{
    xy_coll_request_t q = {.collective = shape->call.collective,
                           .procs = shape->ranks,
                           .root = shape->call.root,
                           .count = shape->call.count,
                           .element = shape->call.element,
                           .is_commutative = shape->call.is_commutative,
                           .is_nonblocking = shape->call.is_nonblocking,
                           .is_user_op = shape->call.is_user_op,
                           .is_offloaded = shape->call.is_nonblocking && !shape->call.is_user_op &&
                                           job->config.progress == XY_SIM_TASKS &&
                                           job->host[job->procs[comm->procs[0]].host].has_comm,
                           .groups = job->has_link ? NULL : comm->groups};
    arrays_t arrays = {0};
    xy_status_t st = XY_OK;

    shape->comm = comm;
    shape->nodes = count_nodes(comm);
    q.nodes = nodes_of(job, comm, shape->nodes);
    shape->is_on_node = job_sim_takes(job, comm, &shape->call);
    shape->has_choice = has_choice(job, shape, &q);
    if (!make_arrays(&arrays, shape, &q))
        st = xy_fail_memory("simulating a collective");
    if (st == XY_OK)
        st = xy_coll_check(&q);
    if (st == XY_OK)
        st = choose(job, comm, &q, shape, &shape->algorithm);
    if (st == XY_OK)
        st = xy_coll_build(&q, q.between != NULL ? &comm->inside : &comm->link, shape->algorithm,
                           &shape->graph);
    if (st == XY_OK && shape->is_on_node && !shape->algorithm->is_direct &&
        job->config.progress != XY_SIM_THREADS)
        st = xy_graph_cut(shape->graph, PIECE / q.element * q.element, &shape->cut);
    xy_free(arrays.rows);
    xy_free(arrays.numbers);
    xy_free(arrays.in_place);
    return st == XY_OK && !shape->is_on_node ? job_steps_make(job, comm, shape) : st;
}

/* Frees a shape and all that it owns. */
static void destroy(job_shape_t *shape)
{
    xy_graph_destroy(shape->graph);
    xy_graph_destroy(shape->cut);
    xy_free(shape->forecast);
    xy_free(shape->counts);
    xy_free(shape->ops);
    xy_free(shape->loads);
    xy_free(shape->steps);
    xy_free(shape->edges);
    xy_free(shape->rank_left);
    xy_free(shape->root_first);
    xy_free(shape->roots);
    xy_free(shape);
}

/* Makes the shape of a collective; the caller owns it. */
static xy_status_t make(const xy_vjob_t *job, const xy_vcomm_t *comm, const xy_vcoll_t *coll,
                        job_shape_t **shape_p)
{
    size_t n = counts_of(coll, comm->count);
    job_shape_t *shape = xy_calloc(1, sizeof(*shape));
    xy_status_t st = XY_OK;

    if (shape == NULL)
        return xy_fail_memory("simulating a collective");
    shape->call = coll->call;
    shape->call.counts = NULL;
    shape->ranks = comm->count;
    shape->layout = comm->layout;
    shape->wanted = coll->wanted;
    if (n > 0) {
        shape->counts = xy_malloc(n * sizeof(*shape->counts));
        if (shape->counts != NULL)
            memcpy(shape->counts, coll->counts, n * sizeof(*shape->counts));
        else
            st = xy_fail_memory("simulating a collective");
    }
    if (st == XY_OK)
        st = build(job, comm, shape);
    if (st == XY_OK)
        *shape_p = shape;
    else
        destroy(shape);
    return st;
}

xy_status_t job_shape_find(xy_vjob_t *job, const xy_vcomm_t *comm, const xy_vcoll_t *coll,
                           job_shape_t **shape_p)
{
    uint64_t hash = hash_of(coll, comm);
    job_shape_t *first = xy_hash_get(&job->shapes, hash), *shape = first;
    xy_status_t st;

    while (shape != NULL && !is_same(shape, coll, comm))
        shape = shape->next;
    if (shape != NULL) {
        *shape_p = shape;
        return XY_OK;
    }
    st = make(job, comm, coll, &shape);
    if (st != XY_OK)
        return st;
    shape->next = first;
    if (xy_vec_append(&job->all_shapes, &shape) != XY_OK) {
        destroy(shape);
        return xy_fail_memory("simulating a collective");
    }
    if (xy_hash_set(&job->shapes, hash, shape) != XY_OK)
        return xy_fail_memory("simulating a collective");
    *shape_p = shape;
    return XY_OK;
}

/* ---- What was called ---- */

static bool is_like(const xy_vjob_calls_t *c, const job_shape_t *s, uint64_t bytes)
{
    return c->collective == s->call.collective && c->procs == s->ranks &&
           c->is_nonblocking == s->call.is_nonblocking &&
           xy_coll_step(c->bytes) == xy_coll_step(bytes);
}

/* Adds the calls of a shape to the entry with equal properties, or as a new one. */
static xy_status_t add_calls(xy_vec_t *calls, const job_shape_t *s)
{
    uint64_t bytes = s->call.count * s->call.element;
    xy_vjob_calls_t c = {.collective = s->call.collective,
                         .procs = s->ranks,
                         .nodes = s->nodes,
                         .bytes = bytes,
                         .element = s->call.element,
                         .calls = s->calls,
                         .seconds = s->seconds,
                         .is_nonblocking = s->call.is_nonblocking,
                         .algorithm = s->algorithm,
                         .link = s->comm->link,
                         .root = s->call.root,
                         .members = s->comm->procs};

    for (size_t i = 0; i < calls->count; i++) {
        xy_vjob_calls_t *other = &XY_VEC_AT(calls, xy_vjob_calls_t, i);

        if (is_like(other, s, bytes)) {
            other->calls += s->calls;
            other->seconds += s->seconds;
            return XY_OK;
        }
    }
    return xy_vec_append(calls, &c) == XY_OK ? XY_OK : xy_fail_memory("counting collectives");
}

xy_status_t xy_vjob_calls(const xy_vjob_t *job, xy_vec_t *calls)
{
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < job->all_shapes.count && st == XY_OK; i++) {
        const job_shape_t *s = XY_VEC_AT(&job->all_shapes, job_shape_t *, i);

        if (s->has_choice && s->calls > 0)
            st = add_calls(calls, s);
    }
    return st;
}

void job_shapes_cleanup(xy_vjob_t *job)
{
    for (size_t i = 0; i < job->all_shapes.count; i++) {
        job_shape_t *shape = XY_VEC_AT(&job->all_shapes, job_shape_t *, i);

        while (shape->free_work != NULL) {
            void *work = shape->free_work;

            memcpy(&shape->free_work, work, sizeof(void *));
            xy_free(work);
        }
        destroy(shape);
    }
}
