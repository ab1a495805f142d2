/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of tasks or data, linked by their numbers, in the order they came; any of them can leave.
 *
 *   xy_task_links_init(&links, graph_ops);
 *   xy_task_list_t list = XY_TASK_LIST_EMPTY;
 *   xy_task_list_push(&list, &links, op);
 *   op = xy_task_list_pop(&list, &links);         (the oldest; -1: empty)
 *
 * Several lists share the arrays of links when a number is in one of them at most.
 */
#ifndef XY_TASKS_POLICY_POLICY_LIST_H
#define XY_TASKS_POLICY_POLICY_LIST_H

#include "base/base.h"

typedef struct {
    int32_t *next, *prev; /* [numbers]; -1: none */
} xy_task_links_t;

typedef struct {
    int32_t head, tail; /* -1: empty */
    int32_t count;
} xy_task_list_t;

#define XY_TASK_LIST_EMPTY ((xy_task_list_t){-1, -1, 0})

/* For the numbers 0 .. count - 1. XY_ENOMEM in silence. */
static inline xy_status_t xy_task_links_init(xy_task_links_t *links, int32_t count)
{
    links->next = xy_malloc(((size_t)count + 1) * sizeof(*links->next));
    links->prev = xy_malloc(((size_t)count + 1) * sizeof(*links->prev));
    return links->next != NULL && links->prev != NULL ? XY_OK : XY_ENOMEM;
}

/* Also after a failure of the init. */
static inline void xy_task_links_cleanup(xy_task_links_t *links)
{
    xy_free(links->next);
    xy_free(links->prev);
    *links = (xy_task_links_t){0};
}

static inline void xy_task_list_push(xy_task_list_t *list, xy_task_links_t *links, int32_t number)
{
    links->next[number] = -1;
    links->prev[number] = list->tail;
    if (list->tail >= 0)
        links->next[list->tail] = number;
    else
        list->head = number;
    list->tail = number;
    list->count++;
}

/* Before `at`; -1: at the end. */
static inline void xy_task_list_insert(xy_task_list_t *list, xy_task_links_t *links, int32_t number,
                                       int32_t at)
{
    if (at < 0) {
        xy_task_list_push(list, links, number);
        return;
    }
    links->next[number] = at;
    links->prev[number] = links->prev[at];
    if (links->prev[at] >= 0)
        links->next[links->prev[at]] = number;
    else
        list->head = number;
    links->prev[at] = number;
    list->count++;
}

/* Removes a member from its list. */
static inline void xy_task_list_remove(xy_task_list_t *list, xy_task_links_t *links, int32_t number)
{
    int32_t prev = links->prev[number], next = links->next[number];

    if (prev >= 0)
        links->next[prev] = next;
    else
        list->head = next;
    if (next >= 0)
        links->prev[next] = prev;
    else
        list->tail = prev;
    list->count--;
}

static inline int32_t xy_task_list_pop(xy_task_list_t *list, xy_task_links_t *links)
{
    int32_t number = list->head;

    if (number >= 0)
        xy_task_list_remove(list, links, number);
    return number;
}

#endif
