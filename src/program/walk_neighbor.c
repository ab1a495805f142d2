/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives of neighbours: messages to and from each, as in runs. */
#include <mpi.h>

#include "program/walk_coll.h"

/* MPI_Dist_graph_create_adjacent. */
static bool dist_graph(walker_t *w, const code_site_t *site, int64_t *args)
{
    const walk_member_t *m = walk_intracomm(w, args[0]);
    int64_t in = args[1], out = args[4];
    walk_graph_t graph = {.in = (int)in, .out = (int)out};
    walk_made_t made;

    (void)site;
    if (m == NULL)
        return false;
    if (in < 0 || out < 0 || in > INT32_MAX || out > INT32_MAX)
        return process_fail(&w->process, "%lld sources and %lld destinations", (long long)in,
                            (long long)out);
    if (args[8] != 0)
        return process_fail(&w->process, "ranks that it reorders are not known before a run: let "
                                         "reorder be 0, or try 'mpiexec --virtual'");
    if (!walk_split(w, args[0], 0, m->rank, &made))
        return false;
    if (made.comm->graphs == NULL)
        made.comm->graphs =
            xy_arena_alloc(w->walk->arena, (size_t)made.comm->size * sizeof(*made.comm->graphs));
    graph.sources = xy_arena_alloc(w->walk->arena, (size_t)(in + out + 1) * sizeof(int));
    if (made.comm->graphs == NULL || graph.sources == NULL)
        return process_fail_memory(&w->process);
    graph.destinations = graph.sources + in;
    made.comm->graphs[made.rank] = graph;
    return walk_get_ints(w, args[2], in, graph.sources) &&
           walk_get_ints(w, args[5], out, graph.destinations) && walk_give(w, args[9], &made);
}

/* ---- The messages of a collective ---- */

static int degree(const walk_member_t *m, bool is_sent)
{
    if (m->comm->cart.dims != NULL)
        return 2 * m->comm->cart.ndims;
    return is_sent ? m->comm->graphs[m->rank].out : m->comm->graphs[m->rank].in;
}

static int64_t peer(const walk_member_t *m, bool is_sent, int i)
{
    const walk_cart_t *cart = &m->comm->cart;
    const walk_graph_t *graph;

    if (cart->dims != NULL)
        return xy_grid_shift(m->rank, cart->ndims, cart->dims, cart->periods, i / 2,
                             i % 2 == 0 ? -1 : 1);
    graph = &m->comm->graphs[m->rank];
    return is_sent ? graph->destinations[i] : graph->sources[i];
}

/* Ways in a grid have tags of their own, and so do the collectives. */
static int64_t tag(const walk_member_t *m, bool is_sent, xy_collective_t c, int i)
{
    int way = m->comm->cart.dims == NULL ? 0 : is_sent ? i : i ^ 1;

    return 1 << 30 | way << 5 | (int)c;
}

/* The block for or from neighbour `i`: fills its place, its count and its type. */
static bool describe(walker_t *w, const code_site_t *site, const int64_t *args, bool is_sent, int i,
                     walk_transfer_t *t)
{
    xy_collective_t c = (xy_collective_t)(walk_extra(site) & WALK_COLLECTIVE_MASK);
    const walk_layout_t *l = &walk_layouts[c];
    int buffer = is_sent ? l->send : l->receive, at = is_sent ? l->send_at : l->receive_at;
    int64_t given = args[is_sent ? l->send_count : l->receive_count], offset;
    int32_t count = (int32_t)given, place = 0;
    walk_type_t type;

    t->type = args[is_sent ? l->send_type : l->receive_type];
    if (c == XY_COLL_ALLTOALLW && !walk_get_handle(w, t->type, i, &t->type))
        return false;
    if (!walk_type(w, t->type, &type) || (at >= 0 && !walk_get_int(w, given, i, &count)))
        return false;
    if (c == XY_COLL_ALLTOALLW) {
        if (!walk_get_handle(w, args[at], i, &offset))
            return false;
    } else {
        if (at >= 0 && !walk_get_int(w, args[at], i, &place))
            return false;
        offset = walk_type_extent(&type) * (at >= 0 ? place : (int64_t)i * count);
        if (is_sent && (c == XY_COLL_ALLGATHER || c == XY_COLL_ALLGATHERV))
            offset = 0;
    }
    t->count = count;
    t->has_buffer = (site->given & 1u << buffer) != 0;
    t->buffer = args[buffer] + offset;
    return true;
}

/* Start the receives and sends of a collective as the messages of one request. */
static bool start(walker_t *w, const code_site_t *site, const int64_t *args, int32_t index)
{
    xy_collective_t c = (xy_collective_t)(walk_extra(site) & WALK_COLLECTIVE_MASK);
    int64_t comm = args[walk_layouts[c].comm];
    const walk_member_t *m = walk_comm(w, comm);
    int in = degree(m, false), total = in + degree(m, true);

    for (int i = 0; i < total; i++) {
        bool is_sent = i >= in;
        int way = is_sent ? i - in : i;
        walk_transfer_t t = {.kind = is_sent ? WALK_SEND : WALK_RECEIVE,
                             .comm = comm,
                             .peer = peer(m, is_sent, way),
                             .tag = tag(m, is_sent, c, way),
                             .is_hidden = true};
        int32_t part = describe(w, site, args, is_sent, way, &t) ? walk_transfer(w, &t) : -1;

        if (part < 0)
            return false;
        walk_request_at(w, index)->kept->args[i] = part;
    }
    walk_request_at(w, index)->number = (uint64_t)total;
    walk_settle(w, walk_request_at(w, index));
    return true;
}

/* A request for all messages, which have begun; -1: it failed. */
static int32_t begin(walker_t *w, const code_site_t *site, const int64_t *args)
{
    const walk_layout_t *l = &walk_layouts[walk_extra(site) & WALK_COLLECTIVE_MASK];
    const walk_member_t *m = walk_comm(w, args[l->comm]);
    int32_t index;
    walk_request_t *r;
    size_t count;

    if (m == NULL)
        return -1;
    if (m->comm->cart.dims == NULL && m->comm->graphs == NULL) {
        process_fail(&w->process, "the communicator has no topology");
        return -1;
    }
    index = walk_request_new(w);
    if (index < 0)
        return -1;
    r = walk_request_at(w, index);
    r->kind = WALK_SEVERAL;
    count = (size_t)degree(m, false) + (size_t)degree(m, true);
    r->kept = xy_calloc(1, sizeof(*r->kept) + count * sizeof(r->kept->args[0]));
    if (r->kept == NULL) {
        process_fail_memory(&w->process);
        return -1;
    }
    return start(w, site, args, index) ? index : -1;
}

static bool collective(walker_t *w, const code_site_t *site, int64_t *args)
{
    return walk_wait_begun(w, w->process.phase == 0 ? begin(w, site, args) : 0) != NULL;
}

static bool nonblocking(walker_t *w, const code_site_t *site, int64_t *args)
{
    int32_t index = begin(w, site, args);

    return index >= 0 && walk_set_handle(w, args[site->count - 1], WALK_REQUEST_FIRST + index);
}

const walk_call_t walk_calls_neighbor[] = {
    {"Dist_graph_create_adjacent", dist_graph, 0},
    {"Neighbor_allgather", collective, XY_COLL_ALLGATHER},
    {"Neighbor_allgatherv", collective, XY_COLL_ALLGATHERV},
    {"Neighbor_alltoall", collective, XY_COLL_ALLTOALL},
    {"Neighbor_alltoallv", collective, XY_COLL_ALLTOALLV},
    {"Neighbor_alltoallw", collective, XY_COLL_ALLTOALLW},
    {"Ineighbor_allgather", nonblocking, XY_COLL_ALLGATHER},
    {"Ineighbor_allgatherv", nonblocking, XY_COLL_ALLGATHERV},
    {"Ineighbor_alltoall", nonblocking, XY_COLL_ALLTOALL},
    {"Ineighbor_alltoallv", nonblocking, XY_COLL_ALLTOALLV},
    {"Ineighbor_alltoallw", nonblocking, XY_COLL_ALLTOALLW},
    {0}};
