/* SPDX-License-Identifier: BSD-3-Clause */
#include "tasks/ranks/ranks.h"

#include <xylem.h>

/* While the whole graph is walked. */
typedef struct {
    const xy_graph_t *whole;
    int32_t *owner;
    int32_t *where;     /* [data] rank that has its value; the owner at the beginning */
    bool *is_here;      /* [data] this rank has the value, too */
    xy_vec_t *sent;     /* [data] of int32_t: ranks that were sent it */
    xy_access_t *local; /* [most] of the task that is added */
    xy_vec_t nodes, posts, what, data, tasks;
    xy_task_share_t *share;
    bool is_out_of_memory;
} walk_t;

void xy_task_share_destroy(xy_task_share_t *share)
{
    if (share == NULL)
        return;
    xy_graph_destroy(share->tasks);
    xy_graph_destroy(share->order);
    xy_vec_cleanup(&share->messages);
    xy_free(share->node_of);
    xy_free(share->node_of_message);
    xy_free(share->what);
    xy_free(share->data_of);
    xy_free(share->task_of);
    xy_free(share->here);
    xy_free(share->is_after);
    xy_free(share);
}

static void append(walk_t *w, xy_vec_t *vec, const void *element)
{
    w->is_out_of_memory = xy_vec_append(vec, element) != XY_OK || w->is_out_of_memory;
}

/* The datum as the share numbers it. */
static int32_t take_data(walk_t *w, int32_t data)
{
    xy_task_share_t *s = w->share;
    const xy_data_t *d = xy_graph_data_at(w->whole, data);

    if (s->here[data] >= 0)
        return s->here[data];
    s->here[data] = xy_graph_add_data(s->tasks, d);
    (void)xy_graph_add_data(s->order, d);
    append(w, &w->data, &data);
    return s->here[data];
}

/* Adds a message of this rank to the order, with its datum as access. */
static void add_message(walk_t *w, int32_t data, int32_t peer, bool is_send)
{
    xy_task_share_t *s = w->share;
    xy_task_message_t m = {.data = take_data(w, data),
                           .peer = peer,
                           .tag = data,
                           .is_send = is_send,
                           .bytes = xy_graph_data_at(w->whole, data)->bytes};
    xy_access_t access = {m.data, is_send ? XY_ACCESS_READ : XY_ACCESS_WRITE};
    int32_t what = -1 - (int32_t)s->messages.count;
    xy_op_id_t node = xy_graph_add_task(s->order, &(xy_op_t){.kind = XY_OP_MOVE}, &access, 1);

    append(w, &w->posts, &node);
    append(w, &w->what, &what);
    append(w, &s->messages, &m);
}

static bool was_sent(const walk_t *w, int32_t data, int32_t rank)
{
    for (size_t i = 0; i < w->sent[data].count; i++)
        if (XY_VEC_AT(&w->sent[data], int32_t, i) == rank)
            return true;
    return false;
}

/* The rank needs the value, which may be elsewhere. */
static void bring(walk_t *w, int32_t data, int32_t rank)
{
    int32_t from = w->where[data], me = w->share->rank;

    if (from == rank)
        return;
    if (rank == me && !w->is_here[data]) {
        add_message(w, data, from, false);
        w->is_here[data] = true;
    }
    if (from == me && !was_sent(w, data, rank)) {
        add_message(w, data, rank, true);
        append(w, &w->sent[data], &rank);
    }
}

static void own(walk_t *w, int32_t data, int32_t rank)
{
    if (w->owner[data] >= 0)
        return;
    w->owner[data] = w->where[data] = rank;
    w->is_here[data] = rank == w->share->rank;
}

/* Where a task runs. */
static int32_t rank_of(const walk_t *w, const xy_access_t *a, int32_t n)
{
    for (int32_t i = 0; i < 2 * n; i++) {
        const xy_access_t *x = &a[i % n];

        if (w->owner[x->data] >= 0 && (i >= n || (x->mode & XY_ACCESS_WRITE)))
            return w->owner[x->data];
    }
    return 0;
}

/* Adds a task of this rank to its graph and to the order. */
static void add_task(walk_t *w, xy_op_id_t op, const xy_access_t *a, int32_t n)
{
    xy_task_share_t *s = w->share;
    int32_t task;
    xy_op_id_t node;

    for (int32_t i = 0; i < n; i++)
        w->local[i] = (xy_access_t){take_data(w, a[i].data), a[i].mode};
    task = xy_graph_add_task(s->tasks, xy_graph_op(w->whole, op), w->local, n);
    node = xy_graph_add_task(s->order, xy_graph_op(w->whole, op), w->local, n);
    append(w, &w->nodes, &node);
    append(w, &w->what, &task);
    append(w, &w->tasks, &op);
}

/* Adds a task with the messages it needs: reads bring data to its rank, writes make its copy the
 * only one. */
static void walk_task(walk_t *w, xy_op_id_t op)
{
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(w->whole, op, &a), rank = rank_of(w, a, n);

    for (int32_t i = 0; i < n; i++)
        own(w, a[i].data, rank);
    for (int32_t i = 0; i < n; i++)
        if (a[i].mode & XY_ACCESS_READ)
            bring(w, a[i].data, rank);
    if (rank == w->share->rank)
        add_task(w, op, a, n);
    for (int32_t i = 0; i < n; i++)
        if (a[i].mode & XY_ACCESS_WRITE) {
            w->where[a[i].data] = rank;
            w->is_here[a[i].data] = rank == w->share->rank;
            w->sent[a[i].data].count = 0;
        }
}

static void walk_all(walk_t *w)
{
    for (xy_op_id_t i = 0; i < xy_graph_ops(w->whole) && !w->is_out_of_memory; i++)
        walk_task(w, i);
    for (int32_t d = 0; d < xy_graph_data_count(w->whole); d++)
        if (w->owner[d] >= 0)
            bring(w, d, w->owner[d]);
}

/* ---- Making ---- */

static int32_t most_accesses(const xy_graph_t *graph)
{
    int32_t most = 1;

    for (xy_op_id_t i = 0; i < xy_graph_ops(graph); i++) {
        const xy_access_t *a;
        int32_t n = xy_graph_accesses(graph, i, &a);

        most = n > most ? n : most;
    }
    return most;
}

/* Allocates the walk and the empty graphs of the share; end() frees the walk. */
static xy_status_t begin(walk_t *w)
{
    xy_status_t st;
    size_t data = (size_t)xy_graph_data_count(w->whole) + 1;

    w->where = xy_calloc(data, sizeof(*w->where));
    w->is_here = xy_calloc(data, sizeof(*w->is_here));
    w->sent = xy_calloc(data, sizeof(*w->sent));
    w->local = xy_calloc((size_t)most_accesses(w->whole), sizeof(*w->local));
    w->share->here = xy_calloc(data, sizeof(*w->share->here));
    if (w->where == NULL || w->is_here == NULL || w->sent == NULL || w->local == NULL ||
        w->share->here == NULL)
        return xy_fail_memory("sharing the tasks");
    for (size_t d = 0; d + 1 < data; d++) {
        w->where[d] = w->owner[d];
        w->is_here[d] = w->owner[d] == w->share->rank;
        w->sent[d] = (xy_vec_t)XY_VEC_INIT(int32_t);
        w->share->here[d] = -1;
    }
    st = xy_graph_create(&w->share->tasks);
    return st == XY_OK ? xy_graph_create(&w->share->order) : st;
}

/* Frees the walk; the share stays. */
static void end(walk_t *w)
{
    for (int32_t d = 0; w->sent != NULL && d < xy_graph_data_count(w->whole); d++)
        xy_vec_cleanup(&w->sent[d]);
    xy_free(w->where);
    xy_free(w->is_here);
    xy_free(w->sent);
    xy_free(w->local);
    xy_vec_cleanup(&w->nodes);
    xy_vec_cleanup(&w->posts);
    xy_vec_cleanup(&w->what);
    xy_vec_cleanup(&w->data);
    xy_vec_cleanup(&w->tasks);
}

/* Tasks that come after a message. */
static bool find_after(xy_task_share_t *s)
{
    s->is_after = xy_calloc((size_t)xy_graph_ops(s->tasks) + 1, sizeof(*s->is_after));
    for (xy_op_id_t i = 0; s->is_after != NULL && i < xy_graph_ops(s->order); i++) {
        const xy_op_id_t *after;
        int32_t n = xy_graph_successors(s->order, i, &after);

        for (int32_t k = 0; s->what[i] < 0 && k < n; k++)
            if (s->what[after[k]] >= 0)
                s->is_after[s->what[after[k]]] = true;
    }
    return s->is_after != NULL;
}

/* The lists become those of the share, with one element at least. */
static bool keep(walk_t *w)
{
    xy_task_share_t *s = w->share;
    int32_t none = 0;

    append(w, &w->nodes, &none);
    append(w, &w->posts, &none);
    append(w, &w->what, &none);
    append(w, &w->data, &none);
    append(w, &w->tasks, &none);
    if (w->is_out_of_memory)
        return false;
    s->node_of = w->nodes.data;
    s->node_of_message = w->posts.data;
    s->what = w->what.data;
    s->data_of = w->data.data;
    s->task_of = w->tasks.data;
    w->nodes.data = w->posts.data = w->what.data = w->data.data = w->tasks.data = NULL;
    return true;
}

static xy_status_t check(const xy_graph_t *whole, const xylem_messages *transport)
{
    if (xy_graph_data_count(whole) > 0 && xy_graph_data_count(whole) - 1 > transport->last_tag)
        return xy_fail(XY_ELIMIT,
                       "the tasks have %d data, and messages between ranks name %d at most; give "
                       "larger data",
                       xy_graph_data_count(whole), transport->last_tag + 1);
    return XY_OK;
}

/* Builds the share of this rank from the whole graph. */
static xy_status_t make(walk_t *w)
{
    xy_status_t st = begin(w);

    if (st != XY_OK)
        return st;
    walk_all(w);
    if (!keep(w))
        return xy_fail_memory("sharing the tasks");
    st = xy_graph_finalize(w->share->tasks);
    if (st == XY_OK)
        st = xy_graph_finalize(w->share->order);
    if (st == XY_OK && !find_after(w->share))
        st = xy_fail_memory("sharing the tasks");
    return st;
}

xy_status_t xy_task_share_create(const xy_graph_t *whole, int32_t *owner,
                                 const xylem_messages *transport, xy_task_share_t **share_p)
{
    xy_task_share_t *share = xy_calloc(1, sizeof(*share));
    walk_t w = {.whole = whole,
                .owner = owner,
                .nodes = XY_VEC_INIT(xy_op_id_t),
                .posts = XY_VEC_INIT(xy_op_id_t),
                .what = XY_VEC_INIT(int32_t),
                .data = XY_VEC_INIT(int32_t),
                .tasks = XY_VEC_INIT(xy_op_id_t),
                .share = share};
    xy_status_t st = share != NULL ? check(whole, transport) : xy_fail_memory("sharing the tasks");

    if (st == XY_OK) {
        share->rank = transport->rank;
        share->ranks = transport->ranks;
        share->messages = (xy_vec_t)XY_VEC_INIT(xy_task_message_t);
        st = make(&w);
        end(&w);
    }
    if (st == XY_OK)
        *share_p = share;
    else
        xy_task_share_destroy(share);
    return st;
}
