/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of the simulated task engine, a model on the virtual clock.
 *
 *   sim.c         workers
 *   sim_copies.c  copies of data: from where to where, and home at the end
 *   sim_link.c    transfers: one at a time per way, ways that share a link share its rate
 *   sim_bound.c   the lower bound of any schedule, from the current state
 *   sim_choose.c  policies that are a choice among others
 *   ahead.c       the engine of real GPUs on the virtual clock
 */
#ifndef XY_TASKS_SIM_TASK_SIM_INTERNAL_H
#define XY_TASKS_SIM_TASK_SIM_INTERNAL_H

#include "sim/sim.h"
#include "tasks/memory/memory.h"
#include "tasks/sim/sim.h"

typedef struct sim_transfer {
    xy_flow_t flow; /* first: the clock hands it back */
    int32_t data, from, to;
    double start;
    bool is_stale; /* the datum is being written: what arrives is worthless */
    bool is_prefetch;
    struct sim_transfer *next;
} sim_transfer_t;

/* A way from one memory to another: one transfer at a time, prefetches last. */
typedef struct {
    xy_flow_path_t path;
    sim_transfer_t *active;
    sim_transfer_t *head[2], *tail[2]; /* asked for by tasks, by prefetch */
} sim_way_t;

/* Of a memory: transfers to and from it in progress, workers that compute. */
typedef struct {
    int32_t moving, computing;
    double since; /* when that last changed */
} sim_traffic_t;

typedef struct {
    xy_event_t event; /* the task that it runs ends */
    int32_t memory;
    xy_task_pipeline_t pipeline;
    xy_task_slot_t *running;
    double start;
    /* The policy had nothing for it when so many tasks were complete and so many data had
     * come to its memory. */
    bool is_refused;
    uint64_t refused_tasks, refused_arrivals;
} sim_worker_t;

/* Steps of a trial as real GPUs are driven: equal parts of its tasks, and the way home. */
enum { SIM_STEPS = 64 };

/* Shared by trials side by side. A trial that is behind is not given up before its virtual clock is
 * past the end of another one: some load much before they compute, others store most after their
 * last task, so no step before the end tells which is the fastest. */
typedef struct {
    atomic_bool enough;    /* trials stop */
    _Atomic(double) least; /* the first end of all */
} sim_field_t;

/* The limit of a run that only compares policies; 0: none. */
typedef struct {
    double share;   /* of the work: then it ends */
    double seconds; /* of the virtual clock: it stops when it cannot end before */
    bool is_whole;  /* out: it went to the end */
    bool is_done;   /* out: to the end, or its share */
    /* As real GPUs are driven. */
    sim_field_t *field;       /* or NULL */
    _Atomic int32_t steps;    /* that have ended, and */
    double at[SIM_STEPS + 1]; /* the virtual clock at the end of each, from 1 on */
} sim_trial_t;

typedef struct {
    xy_task_engine_t base; /* `own` of a copy: the transfer that brings it, or NULL */
    const xy_task_platform_t *platform;
    const xy_task_observer_t *observer;
    xy_vclock_t clock;
    xy_flows_t links;              /* the links that ways share */
    double work, work_left, speed; /* seconds of all tasks, of those not over; of all workers */
    double must_move, must_rate; /* bytes that still have to begin to move over the slowest link */
    uint8_t *must_load;          /* [data] has it to be loaded yet? NULL: not needed */
    bool is_changed; /* in this moment: something that a policy or a memory could make use of */
    bool is_cut;
    sim_trial_t trial;

    sim_traffic_t *traffic; /* [memories] */
    uint64_t *arrivals;     /* [memories] */
    sim_worker_t *workers;
    sim_way_t *ways;
    sim_transfer_t *free_transfers;
    xy_arena_t *arena; /* of transfers */
    int32_t under_way; /* transfers */
    int32_t flushed;   /* steps of bringing data home that began */
} sim_tasks_t;

/* sim_link.c */
/* Move a datum; the copy at `from` is pinned meanwhile. false: memory ran out. */
bool sim_transfer_request(sim_tasks_t *s, int32_t data, int32_t from, int32_t to, bool is_prefetch);
void sim_transfer_done(void *sim, xy_flow_t *flow);
bool sim_way_is_idle(const sim_tasks_t *s, int32_t from, int32_t to);

/* sim_bound.c */
/* Count what has to move. ENOMEM in silence. */
xy_status_t sim_bound_init(sim_tasks_t *s);
/* A transfer begins. */
void sim_bound_moves(sim_tasks_t *s, const sim_transfer_t *t);
/* No schedule of what is left ends before; before anything began, a little more is known. */
double sim_bound_end(const sim_tasks_t *s);
double sim_bound_start(const sim_tasks_t *s);

/* sim.c */
/* One policy on one graph; with a trial, maybe not to the end. */
xy_status_t sim_task_run(const xy_graph_t *graph, const xy_task_platform_t *platform,
                         const xy_task_sim_t *how, const xy_task_policy_t *policy,
                         const xy_task_observer_t *observer, sim_trial_t *trial,
                         xy_task_result_t *result_p);

/* ahead.c */
/* Likewise, by the rules of real GPUs. XY_EINTERRUPTED (silent): the trial was stopped. */
xy_status_t sim_run_ahead(const xy_graph_t *graph, const xy_task_platform_t *platform,
                          const xy_task_sim_t *how, const xy_task_policy_t *policy,
                          const xy_task_observer_t *observer, sim_trial_t *trial,
                          xy_task_result_t *result_p);

/* sim_choose.c */
/* Two trials that end so near to each other count as equal, and the one that moves less is the
 * better: its links have more to spare for costs that no model knows. */
extern const double sim_as_fast;
/* The trial that is ahead of the others, which may still run; -1: all have only begun. */
int sim_leader(const sim_trial_t *trials, int count);

/* sim_platform.c */
/* The first `memories` beside the main one, with this share of their room, and their workers.
 * XY_ENOMEM (reported). */
xy_status_t sim_platform_part(const xy_task_platform_t *whole, int32_t memories, double share,
                              xy_task_platform_t **part_p);

/* sim_copies.c */
extern const xy_task_driver_t sim_driver;
void sim_memory_arrived(sim_tasks_t *s, const sim_transfer_t *t);
/* Before the start: data are where they live. */
void sim_memory_settle_in(sim_tasks_t *s);
/* All tasks are complete: bring home what is not. To be called again whenever something arrived. */
void sim_memory_flush(sim_tasks_t *s);

/* The use of a memory changes now: count how long transfers and tasks continued together. */
static inline void sim_overlap(sim_tasks_t *s, int32_t memory, int32_t moving, int32_t computing)
{
    sim_traffic_t *m = &s->traffic[memory];
    double seconds = s->clock.now - m->since;

    if (memory == 0)
        return;
    s->base.result.moving_seconds += m->moving > 0 ? seconds : 0;
    s->base.result.hidden_seconds += m->moving > 0 && m->computing > 0 ? seconds : 0;
    m->since = s->clock.now;
    m->moving += moving;
    m->computing += computing;
}

static inline uint64_t sim_bytes(const sim_tasks_t *s, int32_t data)
{
    return s->base.bytes[data];
}

static inline sim_transfer_t *sim_incoming(const sim_tasks_t *s, int32_t memory, int32_t data)
{
    return s->base.memories[memory].space.copies[data].own;
}

#endif
