/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data in a line: those that tasks use together are neighbours, and a walk through the neighbours,
 * breadth first from one end, visits each before those that are further away.
 */
#include "tasks/policy/policy_internal.h"

/* Whether a walk has been at a task. One with the same data as an earlier one adds nothing new. */
enum { VISIT_TO_COME, VISIT_DONE, VISIT_NEVER };

typedef struct {
    const xy_graph_t *graph;
    xy_task_uses_t uses;
    int32_t data_count;
    int32_t *queue; /* [data] */
    bool *is_seen;  /* [data] */
    uint8_t *visit; /* [ops] VISIT_ */
    int32_t *first; /* [data] the first task that belongs to it; -1: none */
} line_t;

int32_t policy_key_datum(const xy_graph_t *graph, xy_op_id_t op)
{
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(graph, op, &a);

    for (int32_t i = 0; i < n; i++)
        if (a[i].mode & XY_ACCESS_WRITE)
            return a[i].data;
    return n > 0 ? a[0].data : -1;
}

static bool has_same_data(const xy_graph_t *graph, xy_op_id_t one, xy_op_id_t other)
{
    const xy_access_t *a, *b;
    int32_t n = xy_graph_accesses(graph, one, &a);

    if (xy_graph_accesses(graph, other, &b) != n)
        return false;
    for (int32_t i = 0; i < n; i++)
        if (a[i].data != b[i].data)
            return false;
    return true;
}

/* Find the tasks that a walk can pass by: a loop over the same data has many, and they lie far from
 * each other. */
static void find_repeated(line_t *l)
{
    for (int32_t d = 0; d < l->data_count; d++)
        l->first[d] = -1;
    for (int32_t i = 0; i < xy_graph_ops(l->graph); i++) {
        int32_t d = policy_key_datum(l->graph, i);

        if (d < 0)
            continue;
        if (l->first[d] < 0)
            l->first[d] = i;
        else if (has_same_data(l->graph, i, l->first[d]))
            l->visit[i] = VISIT_NEVER;
    }
}

static int32_t visit(line_t *l, xy_op_id_t op, int32_t tail)
{
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(l->graph, op, &a);

    l->visit[op] = VISIT_DONE;
    for (int32_t k = 0; k < n; k++)
        if (!l->is_seen[a[k].data]) {
            l->is_seen[a[k].data] = true;
            l->queue[tail++] = a[k].data;
        }
    return tail;
}

/* Data in the order of a walk from `first`; returns how many were reached. */
static int32_t walk(line_t *l, int32_t first, int32_t count)
{
    int32_t tail = count;

    l->is_seen[first] = true;
    l->queue[tail++] = first;
    for (int32_t head = count; head < tail; head++)
        for (size_t i = l->uses.start[l->queue[head]]; i < l->uses.start[l->queue[head] + 1]; i++)
            if (l->visit[l->uses.ops[i]] == VISIT_TO_COME)
                tail = visit(l, l->uses.ops[i], tail);
    return tail;
}

static void forget(line_t *l, int32_t data)
{
    l->is_seen[data] = false;
    for (size_t i = l->uses.start[data]; i < l->uses.start[data + 1]; i++)
        if (l->visit[l->uses.ops[i]] == VISIT_DONE)
            l->visit[l->uses.ops[i]] = VISIT_TO_COME;
}

/* Each component is walked twice: the end of the first walk is an end of the component. */
static void line_up(line_t *l, int32_t *rank)
{
    int32_t count = 0;

    for (int32_t d = 0; d < l->data_count; d++) {
        int32_t end;

        if (l->is_seen[d])
            continue;
        end = walk(l, d, count);
        for (int32_t i = count; i < end; i++)
            forget(l, l->queue[i]);
        count = walk(l, l->queue[end - 1], count);
    }
    /* The end that was submitted first comes first. */
    for (int32_t i = 0; i < count; i++)
        rank[l->queue[i]] = l->queue[0] <= l->queue[count - 1] ? i : count - 1 - i;
}

xy_status_t policy_line_up(const xy_graph_t *graph, int32_t *rank)
{
    size_t data = (size_t)xy_graph_data_count(graph) + 1, ops = (size_t)xy_graph_ops(graph) + 1;
    line_t l = {.graph = graph, .data_count = xy_graph_data_count(graph)};
    xy_status_t st = xy_task_uses_init(&l.uses, graph);

    l.queue = xy_calloc(data, sizeof(*l.queue));
    l.is_seen = xy_calloc(data, sizeof(*l.is_seen));
    l.visit = xy_calloc(ops, sizeof(*l.visit));
    l.first = xy_malloc(data * sizeof(*l.first));
    if (l.queue == NULL || l.is_seen == NULL || l.visit == NULL || l.first == NULL)
        st = XY_ENOMEM;
    if (st == XY_OK) {
        find_repeated(&l);
        line_up(&l, rank);
    }
    xy_task_uses_cleanup(&l.uses);
    xy_free(l.queue);
    xy_free(l.is_seen);
    xy_free(l.visit);
    xy_free(l.first);
    return st;
}
