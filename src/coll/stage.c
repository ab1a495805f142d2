/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives inside collectives, and the nodes among whose ranks some of them are. */
#include <math.h>

#include "coll/build.h"

/* The stages of compositions of more ranks are not counted: a graph may have p^2 operations. */
enum { COUNTED_MAX = 256 };

xy_coll_request_t coll_stage_request(const xy_coll_request_t *q, xy_collective_t collective,
                                     uint64_t count, uint64_t element)
{
    return (xy_coll_request_t){.collective = collective,
                               .procs = q->procs,
                               .count = count,
                               .element = element,
                               .is_commutative = q->is_commutative,
                               .library = q->library,
                               .is_nonblocking = q->is_nonblocking,
                               .is_user_op = q->is_user_op};
}

static xy_status_t choose(xy_coll_request_t *q, const xy_coll_link_t *link,
                          const xy_coll_algorithm_t **algorithm_p)
{
    xy_coll_choice_t choice;
    xy_status_t st;

    if (q->library == NULL || q->library->rules == NULL) /* a stage is never direct */
        return xy_coll_choose(q, link, NULL, algorithm_p);
    st = xy_coll_library_choose(q->library, q, link, &choice);
    *algorithm_p = choice.algorithm;
    return st;
}

static double cost_stage(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    const xy_coll_algorithm_t *a;
    xy_coll_request_t own = *q;

    return choose(&own, l, &a) == XY_OK ? a->cost(&own, l) : INFINITY;
}

/* Order the messages of a stage after the operations that its ranks have waited for outside, or the
 * other way round. */
static void exchange_marks(coll_build_t *outer, coll_build_t *inner, bool is_in)
{
    for (int i = 0; i < inner->p; i++) {
        int rank = inner->stage->ranks != NULL ? inner->stage->ranks[i] : i;

        if (is_in)
            inner->mark[i] = outer->mark[rank];
        else
            outer->mark[rank] = inner->mark[i];
    }
}

void coll_stage(coll_build_t *b, const coll_stage_t *stage, const xy_coll_algorithm_t *a)
{
    xy_coll_request_t q = stage->q;
    const xy_coll_link_t *link = stage->link != NULL ? stage->link : b->link;
    coll_build_t inner = {.q = &q, .link = link, .p = q.procs, .parent = b, .stage = stage};
    xy_status_t st;

    if (b->status != XY_OK)
        return;
    st = a == NULL ? choose(&q, link, &a) : XY_OK;
    inner.bytes = q.count * q.element;
    if (st == XY_OK)
        st = coll_build_begin(&inner, a);
    if (st == XY_OK) {
        exchange_marks(b, &inner, true);
        coll_build_all(&inner, a);
        exchange_marks(b, &inner, false);
        st = inner.status;
    }
    coll_build_finish(&inner);
    b->status = st;
}

double coll_cost_composed(const xy_coll_request_t *q, const xy_coll_link_t *l,
                          const xy_coll_algorithm_t *a, const xy_coll_request_t *first,
                          const xy_coll_request_t *second)
{
    if (q->procs <= COUNTED_MAX)
        return coll_cost_counted(q, l, a);
    return cost_stage(first, l) + cost_stage(second, l);
}

double coll_cost_counted(const xy_coll_request_t *q, const xy_coll_link_t *l,
                         const xy_coll_algorithm_t *a)
{
    xy_graph_t *g;
    double seconds;

    if (xy_coll_build(q, l, a, &g) != XY_OK)
        return INFINITY;
    seconds = xy_coll_count(g, l);
    xy_graph_destroy(g);
    return seconds < 0.0 ? INFINITY : seconds;
}

/* ---- Places ---- */

xy_spot_t coll_stage_input(const coll_build_t *b, int rank, const void *arg)
{
    (void)arg;
    return coll_input(b, rank);
}

xy_spot_t coll_stage_result(const coll_build_t *b, int rank, const void *arg)
{
    (void)b;
    (void)arg;
    return coll_place(rank, XY_BUFFER_RECEIVE, 0);
}

xy_spot_t coll_stage_temporary(const coll_build_t *b, int rank, const void *arg)
{
    (void)b;
    (void)arg;
    return coll_place(rank, COLL_TEMPORARY, 0);
}

/* ---- Nodes ---- */

coll_nodes_t *coll_nodes_find(coll_build_t *b)
{
    size_t p = (size_t)b->p;
    coll_nodes_t *n = xy_calloc(1, sizeof(*n) + (5 * p + 2) * sizeof(int));

    if (n == NULL) {
        b->status = xy_fail_memory("building a collective");
        return NULL;
    }
    n->node = (int *)(n + 1);
    n->place = n->node + p;
    n->members = n->place + p;
    n->leaders = n->members + p;
    n->first = n->leaders + p;
    for (int r = 0; r < b->p; r++) {
        n->node[r] = b->q->nodes != NULL ? b->q->nodes[r] : r;
        if (n->node[r] == n->count)
            n->leaders[n->count++] = r;
        n->place[r] = n->first[n->node[r] + 1]++;
    }
    for (int i = 0; i < n->count; i++)
        n->first[i + 1] += n->first[i];
    for (int r = 0; r < b->p; r++)
        n->members[n->first[n->node[r]] + n->place[r]] = r;
    return n;
}

int coll_nodes_size(const coll_nodes_t *n, int node)
{
    return n->first[node + 1] - n->first[node];
}

coll_stage_t coll_nodes_stage(const coll_build_t *b, const coll_nodes_t *n, int node,
                              xy_collective_t collective, int root)
{
    coll_stage_t s = {.q = coll_stage_request(b->q, collective, b->q->count, b->q->element),
                      .ranks = node < 0 ? n->leaders : n->members + n->first[node],
                      .link = node < 0 ? b->q->between : NULL,
                      .send = coll_stage_input,
                      .receive = coll_stage_result,
                      .arg = n};

    s.q.procs = node < 0 ? n->count : coll_nodes_size(n, node);
    s.q.root = root;
    return s;
}
