/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A memory and the copies of data in it, as engines keep them: the copies present, the room
 * taken, their users, and the order of use. Engines decide when data move; this only keeps count.
 *
 *   xy_task_memory_t memory;
 *   xy_task_memory_init(&memory, data, capacity, 0);
 *   if (xy_task_memory_take(&memory, d, bytes)) ...     (room is taken now, and was not before)
 *   memory.states[d] = XY_TASK_HERE;
 *   xy_task_memory_hold(&memory, graph, op);            (what the task accesses stays)
 *   d = xy_task_memory_victim(&memory, eviction, is_dirty, next_use, arg);      (-1: none is free)
 *   xy_task_memory_give(&memory, d, bytes);
 *
 * A copy takes room from the moment it is asked for until it is given up. While tasks need it, it
 * is pinned. One that must be written back first is leaving: its room counts as used until then,
 * unless a task takes hold of it again. Not thread-safe. The functions called for each task are
 * inline.
 */
#ifndef XY_TASKS_MEMORY_COPIES_H
#define XY_TASKS_MEMORY_COPIES_H

#include "tasks/memory/pipeline.h"
#include "tasks/policy/policy.h"

/* A datum in a memory. */
typedef struct {
    int32_t prev, next; /* least recently used first */
    int32_t pins;       /* tasks and transfers that need it here */
    bool is_allocated;
    bool is_evicting; /* goes when it is written back, unless a task takes hold of it */
    bool is_writing;  /* a task changes it right now: it cannot be copied */
    bool is_storing;  /* being written to a file: it must not change */
    bool is_prefetch; /* being read from a file, and no task asked for it */
    void *own;        /* of the engine: the transfer in progress, or the buffer */
} xy_task_copy_t;

typedef struct {
    uint64_t capacity, used, leaving; /* leaving: will be free when written back */
    int32_t oldest, newest; /* of the copies, by use; linked where the rest of a copy is */
    xy_task_list_t final;   /* data that no task will write any more */
    xy_task_links_t final_links;
    xy_task_copy_t *copies; /* [data] */
    uint8_t *states;        /* [data]: XY_TASK_HERE, XY_TASK_COMING, 0 */
} xy_task_memory_t;

/* All data in `state`. XY_ENOMEM (silent): may be cleaned up nevertheless. */
xy_status_t xy_task_memory_init(xy_task_memory_t *memory, int32_t data, uint64_t capacity,
                                uint8_t state);
void xy_task_memory_cleanup(xy_task_memory_t *memory);

/* ---- The list of use ---- */

static inline void xy_task_memory_unlink(xy_task_memory_t *memory, int32_t data)
{
    const xy_task_copy_t *c = &memory->copies[data];

    if (c->prev >= 0)
        memory->copies[c->prev].next = c->next;
    else
        memory->oldest = c->next;
    if (c->next >= 0)
        memory->copies[c->next].prev = c->prev;
    else
        memory->newest = c->prev;
}

static inline void xy_task_memory_link(xy_task_memory_t *memory, int32_t data)
{
    xy_task_copy_t *c = &memory->copies[data];

    c->next = -1;
    c->prev = memory->newest;
    if (memory->newest >= 0)
        memory->copies[memory->newest].next = data;
    else
        memory->oldest = data;
    memory->newest = data;
}

/* It was used just now. */
static inline void xy_task_memory_touch(xy_task_memory_t *memory, int32_t data)
{
    if (!memory->copies[data].is_allocated || memory->newest == data)
        return;
    xy_task_memory_unlink(memory, data);
    xy_task_memory_link(memory, data);
}

/* ---- Taking and giving up ---- */

/* false: it has its room already. */
static inline bool xy_task_memory_take(xy_task_memory_t *memory, int32_t data, uint64_t bytes)
{
    if (memory->copies[data].is_allocated)
        return false;
    memory->copies[data].is_allocated = true;
    memory->used += bytes;
    xy_task_memory_link(memory, data);
    return true;
}

/* It goes as soon as it is written back. */
static inline void xy_task_memory_leave(xy_task_memory_t *memory, int32_t data, uint64_t bytes)
{
    memory->copies[data].is_evicting = true;
    memory->leaving += bytes;
}

static inline void xy_task_memory_stay(xy_task_memory_t *memory, int32_t data, uint64_t bytes)
{
    if (!memory->copies[data].is_evicting)
        return;
    memory->copies[data].is_evicting = false;
    memory->leaving -= bytes;
}

/* Remove a datum in any state. false: it had no room. */
static inline bool xy_task_memory_give(xy_task_memory_t *memory, int32_t data, uint64_t bytes)
{
    xy_task_memory_stay(memory, data, bytes);
    memory->states[data] = 0;
    if (!memory->copies[data].is_allocated)
        return false;
    memory->copies[data].is_allocated = false;
    memory->used -= bytes;
    xy_task_memory_unlink(memory, data);
    return true;
}

/* ---- Tasks ---- */

/* The data of the task stay in the memory, or need not any longer. */
void xy_task_memory_hold(xy_task_memory_t *memory, const xy_graph_t *graph, xy_op_id_t op);
void xy_task_memory_let_go(xy_task_memory_t *memory, const xy_graph_t *graph, xy_op_id_t op);

/* Data that no task will write any more, in the order in which that became known; -1: none. */
static inline void xy_task_memory_push_final(xy_task_memory_t *memory, int32_t data)
{
    xy_task_list_push(&memory->final, &memory->final_links, data);
}

static inline int32_t xy_task_memory_pop_final(xy_task_memory_t *memory)
{
    return xy_task_list_pop(&memory->final, &memory->final_links);
}

/* Can the task run at all where its data must be in a memory of so many bytes, all at once? And
 * does it name each datum once? XY_EINVAL: no (said, with what to do). */
xy_status_t xy_task_check_fits(const xy_graph_t *graph, xy_op_id_t op, uint64_t capacity);

/* ---- Giving up ---- */

/* Could a copy that has room, and so is in the list of use, go now? */
static inline bool xy_task_memory_is_unused(const xy_task_memory_t *memory, int32_t data)
{
    const xy_task_copy_t *c = &memory->copies[data];

    return c->pins == 0 && memory->states[data] == XY_TASK_HERE && !c->is_evicting &&
           !c->is_storing;
}

/* Could it go now, as far as this memory is concerned? */
static inline bool xy_task_memory_is_free(const xy_task_memory_t *memory, int32_t data)
{
    return memory->copies[data].is_allocated && xy_task_memory_is_unused(memory, data);
}

/* Known to the engine alone: must a datum be written back before it goes, and when is it used
 * next? They are arguments, not members of a struct, so that constant ones are inlined: all data of
 * a memory may be asked about. */
typedef bool (*xy_task_dirty_fn)(const void *arg, int32_t data);
typedef int64_t (*xy_task_next_use_fn)(const void *arg, int32_t data);

/* The one used latest from now. */
static inline int32_t xy_task_memory_latest(const xy_task_memory_t *memory,
                                            xy_task_next_use_fn next_use, const void *arg)
{
    int64_t latest = -1;
    int32_t best = -1;

    for (int32_t d = memory->oldest; d >= 0; d = memory->copies[d].next) {
        int64_t use;

        if (!xy_task_memory_is_unused(memory, d))
            continue;
        use = next_use(arg, d);
        if (use > latest) {
            latest = use;
            best = d;
        }
    }
    return best;
}

enum { XY_TASK_LOOKED_AT = 256 };

/* The victim of the eviction; -1: nothing is free. */
static inline int32_t xy_task_memory_victim(const xy_task_memory_t *memory,
                                            const xy_task_eviction_t *eviction,
                                            xy_task_dirty_fn is_dirty, xy_task_next_use_fn next_use,
                                            const void *arg)
{
    int32_t d = memory->oldest, best;

    if (eviction->is_by_next_use)
        return xy_task_memory_latest(memory, next_use, arg);
    while (d >= 0 && !xy_task_memory_is_unused(memory, d))
        d = memory->copies[d].next;
    best = d;
    if (!eviction->is_clean_first)
        return best;
    /* Most copies that were written are dirty, so that is asked first. A younger clean one is no
     * better than a dirty one that is far older, and finding it takes as long as all else. */
    for (int32_t i = 0; d >= 0 && i < XY_TASK_LOOKED_AT; i++, d = memory->copies[d].next)
        if (!is_dirty(arg, d) && xy_task_memory_is_unused(memory, d))
            return d;
    return best;
}

#endif
