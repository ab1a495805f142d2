/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting tasks by how many of their data a memory lacks. Finding the nearest one looks at the
 * first of a few lists instead of at all that wait.
 *
 * A copy that comes to a memory moves tasks to lower lists at once (policy_near_arrived); a copy
 * that is gone is noticed when a task comes first and is counted again. So the lists hold tasks
 * that lack at most what the copies say, or more after an eviction, never less than they should
 * have been told of.
 */
#include "tasks/policy/policy_internal.h"

enum { NOWHERE = 255, USES_MAX = 256 };

xy_status_t policy_near_links_init(policy_near_links_t *l, const xy_graph_t *graph)
{
    size_t ops = (size_t)xy_graph_ops(graph) + 1;

    *l = (policy_near_links_t){0};
    l->list = xy_malloc(ops);
    l->lane = xy_calloc(ops, sizeof(*l->lane));
    if (l->list == NULL || l->lane == NULL ||
        xy_task_links_init(&l->links, (int32_t)ops - 1) != XY_OK) {
        policy_near_links_cleanup(l);
        return XY_ENOMEM;
    }
    for (size_t i = 0; i < ops; i++)
        l->list[i] = NOWHERE;
    return XY_OK;
}

void policy_near_links_cleanup(policy_near_links_t *l)
{
    xy_free(l->list);
    xy_free(l->lane);
    xy_task_links_cleanup(&l->links);
    *l = (policy_near_links_t){0};
}

void policy_near_init(policy_near_t *near, const xy_task_view_t *view, int32_t memory, int32_t lane,
                      policy_near_links_t *links)
{
    *near = (policy_near_t){.view = view, .links = links, .memory = memory, .lane = (int16_t)lane};
    for (int i = 0; i < POLICY_NEAR_LISTS; i++)
        near->lists[i] = XY_TASK_LIST_EMPTY;
}

static uint8_t count_missing(const policy_near_t *near, xy_op_id_t op)
{
    const uint8_t *here = near->view->copies[near->memory];
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(near->view->graph, op, &a), count = 0;

    for (int32_t i = 0; i < n; i++)
        count += (a[i].mode & XY_ACCESS_READ) && here[a[i].data] == 0;
    return (uint8_t)(count < POLICY_NEAR_LISTS ? count : POLICY_NEAR_LISTS - 1);
}

static void file(policy_near_t *near, xy_op_id_t op, uint8_t list)
{
    near->links->list[op] = list;
    xy_task_list_push(&near->lists[list], &near->links->links, op);
}

void policy_near_push(policy_near_t *near, xy_op_id_t op)
{
    near->count++;
    near->links->lane[op] = near->lane;
    file(near, op, count_missing(near, op));
}

void policy_near_remove(policy_near_t *near, xy_op_id_t op)
{
    near->count--;
    xy_task_list_remove(&near->lists[near->links->list[op]], &near->links->links, op);
    near->links->list[op] = NOWHERE;
}

xy_op_id_t policy_near_first(policy_near_t *near)
{
    for (int list = 0; list < POLICY_NEAR_LISTS; list++)
        while (near->lists[list].count > 0) {
            xy_op_id_t op = near->lists[list].head;
            uint8_t missing = count_missing(near, op);

            if (missing <= list)
                return op;
            xy_task_list_remove(&near->lists[list], &near->links->links, op);
            file(near, op, missing);
        }
    return -1;
}

static bool is_writer(const xy_graph_t *graph, xy_op_id_t op, int32_t data)
{
    const xy_access_t *a;

    for (int32_t i = xy_graph_accesses(graph, op, &a) - 1; i >= 0; i--)
        if (a[i].data == data)
            return (a[i].mode & XY_ACCESS_WRITE) != 0;
    return false;
}

/* Update the tasks that wait for the datum: they lie between its first use that did not leave and
 * the next writer that did not. */
void policy_near_arrived(policy_near_t *near, xy_task_uses_t *uses, const bool *has_left,
                         int32_t data)
{
    size_t i, end = uses->start[data + 1];

    if (xy_task_uses_next(uses, data, has_left) == INT64_MAX)
        return;
    i = uses->cursor[data];
    end = end - i > USES_MAX ? i + USES_MAX : end;
    for (; i < end; i++) {
        xy_op_id_t op = uses->ops[i];
        uint8_t list = near->links->list[op];

        if (has_left[op])
            continue;
        if (list != NOWHERE && list > 0 && near->links->lane[op] == near->lane) {
            uint8_t missing = count_missing(near, op);

            if (missing != list) {
                xy_task_list_remove(&near->lists[list], &near->links->links, op);
                file(near, op, missing);
            }
        }
        if (is_writer(near->view->graph, op, data))
            break;
    }
}
