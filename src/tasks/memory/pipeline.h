/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tasks that a worker holds, as engines keep them: each is in a slot, from the moment the
 * policy names it until it is complete, and gathers its data in the memory of the worker.
 *
 *   slot = xy_task_pipeline_take(&pipeline, op, worker);      (fewer than its depth are held)
 *   xy_task_gathering_add(&gathering, slot);           (the memory's list, oldest first)
 *   ... slot->is_complete = true;                      (all its data are there)
 *   slot = xy_task_pipeline_complete(&pipeline);       (the oldest that can run; NULL: none)
 *   xy_task_gathering_remove(&gathering, slot);        (it runs)
 *   xy_task_pipeline_free(&pipeline, slot);            (it is complete)
 *
 * Not thread-safe.
 */
#ifndef XY_TASKS_MEMORY_PIPELINE_H
#define XY_TASKS_MEMORY_PIPELINE_H

#include "tasks/policy/policy.h"

enum { XY_TASK_PIPELINE_MAX = 8 };

/* A task that a worker holds: gathering its data, complete, or running. */
typedef struct {
    xy_op_id_t op; /* -1: free */
    int32_t worker;
    bool is_complete;
    bool is_given_back; /* it let go of its data, so that an older task could have the memory */
} xy_task_slot_t;

typedef struct {
    xy_task_slot_t slots[XY_TASK_PIPELINE_MAX];
    xy_task_slot_t *order[XY_TASK_PIPELINE_MAX]; /* slots in use, by age */
    int32_t held;
} xy_task_pipeline_t;

/* The slots that gather data in a memory, by age. */
typedef struct {
    xy_task_slot_t **slots; /* of the engine: as many as the workers can hold */
    int32_t count;
} xy_task_gathering_t;

/* How many tasks a worker holds at once when so many are asked for; 0: as the policy wants. */
static inline int32_t xy_task_pipeline_depth(const xy_task_policy_t *policy, int32_t asked)
{
    int32_t depth = asked > 0 ? asked : policy->pipeline > 0 ? policy->pipeline : 2;

    return depth < XY_TASK_PIPELINE_MAX ? depth : XY_TASK_PIPELINE_MAX;
}

static inline void xy_task_pipeline_init(xy_task_pipeline_t *pipeline)
{
    pipeline->held = 0;
    for (int32_t i = 0; i < XY_TASK_PIPELINE_MAX; i++)
        pipeline->slots[i].op = -1;
}

/* A slot for the task; there must be one: fewer than `depth` are held. */
static inline xy_task_slot_t *xy_task_pipeline_take(xy_task_pipeline_t *pipeline, xy_op_id_t op,
                                                    int32_t worker)
{
    xy_task_slot_t *slot = pipeline->slots;

    while (slot->op >= 0)
        slot++;
    *slot = (xy_task_slot_t){.op = op, .worker = worker};
    pipeline->order[pipeline->held++] = slot;
    return slot;
}

static inline xy_task_slot_t *xy_task_pipeline_complete(const xy_task_pipeline_t *pipeline)
{
    for (int32_t i = 0; i < pipeline->held; i++)
        if (pipeline->order[i]->is_complete)
            return pipeline->order[i];
    return NULL;
}

/* Take `slot` out of a list; returns what is left of `count`. */
static inline int32_t xy_task_slot_remove(xy_task_slot_t **list, int32_t count,
                                          const xy_task_slot_t *slot)
{
    int32_t kept = 0;

    for (int32_t i = 0; i < count; i++)
        if (list[i] != slot)
            list[kept++] = list[i];
    return kept;
}

static inline void xy_task_pipeline_free(xy_task_pipeline_t *pipeline, xy_task_slot_t *slot)
{
    pipeline->held = xy_task_slot_remove(pipeline->order, pipeline->held, slot);
    slot->op = -1;
}

static inline void xy_task_gathering_add(xy_task_gathering_t *gathering, xy_task_slot_t *slot)
{
    gathering->slots[gathering->count++] = slot;
}

static inline void xy_task_gathering_remove(xy_task_gathering_t *gathering,
                                            const xy_task_slot_t *slot)
{
    gathering->count = xy_task_slot_remove(gathering->slots, gathering->count, slot);
}

#endif
