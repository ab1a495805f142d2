/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Task graphs in virtual time: workers with speeds, memories with capacities, transfers that share
 * links, prefetch, write-back and eviction.
 *
 *   xy_task_platform_t *p;
 *   xy_task_platform_from(machine, &(xy_task_platform_options_t){.gpus = 2}, &p);
 *   xy_task_sim_t how = {.policy = "dmdar"};
 *   st = xy_task_simulate(graph, p, &how, &result);
 *   printf("%.3f s, %llu loads\n", result.makespan, result.loads);
 *   xy_task_platform_destroy(p);
 *
 * A worker takes a task, its data are brought to the memory of the worker while the task before it
 * runs, and it runs when all are there. The data of a task stay in the memory until it is complete.
 * A memory that is full gives up other data; the last valid copy of a datum is written home first.
 * In the end every datum is home again.
 *
 * Nothing can be stuck. A task whose data do not fit together in any memory is refused before the
 * start. When two tasks that gather their data hold what the other one lacks, the younger gives
 * back all it holds and starts again later, so the oldest of a memory always progresses.
 *
 * The same graph, platform and options give the same result, to the last bit.
 */
#ifndef XY_TASKS_SIM_SIM_H
#define XY_TASKS_SIM_SIM_H

#include <stdatomic.h>
#include <stdint.h>

#include "graph/graph.h"
#include "machine/machine.h"
#include "tasks/memory/memory.h"
#include "trace/trace.h"

/* The platform of the graph. Memory 0 is the main memory; ways between memories are numbered from *
 * memories + to. */
typedef struct {
    int32_t workers, memories, shared_count;
    int32_t *memory_of;  /* [workers] */
    double *speed;       /* [workers] */
    uint64_t *capacity;  /* [memories]; 0: no limit */
    double *latency;     /* [memories * memories] seconds */
    double *rate;        /* likewise, bytes per second; 0: no such way */
    int32_t *shared;     /* likewise: the link that it shares with others; -1: none */
    double *shared_rate; /* [shared_count] */
} xy_task_platform_t;

typedef struct {
    int32_t gpus;     /* 0: as many as the machine has; more: copies of its last one; -1: none */
    uint64_t memory;  /* of each GPU; 0: what the machine says; XY_TASK_NO_LIMIT */
    int32_t cpus;     /* cores that compute too */
    double cpu_speed; /* of one of them, where a GPU is 1; 0: 0.1 */
} xy_task_platform_options_t;

#define XY_TASK_NO_LIMIT UINT64_MAX

/* The caller owns *platform_p. XY_EINVAL: nothing to compute with (reported). */
xy_status_t xy_task_platform_from(const xy_machine_t *machine,
                                  const xy_task_platform_options_t *options,
                                  xy_task_platform_t **platform_p);
/* One of which nothing is set yet; NULL: no memory (silent). */
xy_task_platform_t *xy_task_platform_new(int32_t workers, int32_t memories, int32_t shared);
void xy_task_platform_destroy(xy_task_platform_t *platform); /* NULL is fine */

/* A run by the rules of the engine that drives real GPUs (tasks/device/device.h): decisions run
 * ahead of the GPUs, and what is overwritten unread is not stored. What the host needs, in seconds:
 * to put a kernel, a copy or an event into a stream, until that can begin, and for a decision. */
typedef struct {
    double launch, copy, event, delay, decision;
    double resume; /* until a stream continues that has waited for another one */
    int32_t batch; /* tasks that may share a launch; 0: one */
    double once;   /* of the seconds of each task, those that a launch of several takes only once */
    uint64_t exchange_bytes; /* as in xy_task_device_t */
} xy_task_ahead_t;

extern const xy_task_ahead_t xy_task_ahead_usual;

typedef struct {
    const char *policy;      /* NULL: the first of xy_task_policies */
    const char *eviction;    /* NULL: what the policy prefers */
    xy_task_params_t params; /* alpha and beta 0: both 1 */
    int32_t pipeline;  /* tasks a worker holds, the running one included; 0: as the policy does */
    const char *trace; /* file to record into, or NULL */
    const xy_task_observer_t *observer; /* or NULL */
    const xy_task_ahead_t *ahead;       /* as real GPUs are driven; NULL: as described above */
    const xy_graph_t *trials_on; /* a smaller graph of the same kind, to choose by; NULL: none */
} xy_task_sim_t;

/* The trial that is good most often, of a policy that is a choice (NULL: the default); of another
 * policy, itself, with the number of data that it loads early. */
xy_task_trial_t xy_task_trial_first(const char *policy);

/* XY_EINVAL: no such policy or eviction, a task does not fit, the policy cannot run the graph (all
 * reported). XY_ENOMEM (reported). Any thread. */
xy_status_t xy_task_simulate(const xy_graph_t *graph, const xy_task_platform_t *platform,
                             const xy_task_sim_t *how, xy_task_result_t *result_p);

/* A choice by trials on threads of their own, while the caller does something else. A few go
 * side by side; those that are past the end of another one are given up. */
typedef struct xy_task_race xy_task_race_t;

/* `how` names a policy that is a choice, or leaves its look_ahead open, and `ahead`; it has no
 * trace and no observer. All but `how` stays until the race is destroyed. XY_ENOMEM (reported). */
xy_status_t xy_task_race_create(const xy_graph_t *graph, const xy_task_platform_t *platform,
                                const xy_task_sim_t *how, xy_task_race_t **race_p);
/* Wait for the trials, for so many seconds at most; then they are given up, and the one is chosen
 * that ended first, or, if none has ended, is ahead as far as all have come. Of the result only the
 * choice counts. XY_EINTERRUPTED (silent): they have only begun. Other errors as above. */
xy_status_t xy_task_race_result(xy_task_race_t *race, double seconds, xy_task_result_t *result_p);
void xy_task_race_destroy(xy_task_race_t *race); /* NULL is fine */

#endif
