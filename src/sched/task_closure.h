/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of the policy closure:
 *
 *   task_closure.c        the policy: what the engine asks, answered from the plan
 *   task_closure_plan.c   the plan: what each memory will hold and run, a little ahead of time
 *   task_closure_parts.c  which memory each task belongs to at first
 */
#ifndef XY_SCHED_TASK_CLOSURE_H
#define XY_SCHED_TASK_CLOSURE_H

#include "sched/task_internal.h"

/* Frontier tasks (all before them is planned, or over elsewhere) by the number of data that their
 * memory misses in the plan: none, one, two, more. */
enum { CLOSURE_LISTS = 4 };

typedef enum { TASK_WAITING, TASK_FRONTIER, TASK_PLANNED, TASK_RUNNABLE, TASK_OVER } closure_task_t;

/* A datum in a memory. */
typedef struct {
    int32_t prev, next;         /* among those of the plan, least recently used first */
    int32_t out_prev, out_next; /* among those the memory can do without */
    int32_t uses;               /* planned tasks still to run */
    bool is_in;                 /* the plan holds it from now on */
    bool is_dirty;              /* written since the plan took it in */
    bool is_out;                /* it is in the list of those to give up */
} closure_copy_t;

typedef struct {
    double speed;               /* of all its workers; 0: it has none */
    uint64_t capacity, planned; /* bytes the plan may hold (0: no limit) and holds */
    int32_t oldest, newest;     /* data of the plan */
    int32_t resident;           /* how many */
    int32_t out_head, out_tail;
    double work;   /* seconds planned and not over */
    double left;   /* seconds of all tasks that belong to it and are not over */
    int32_t tasks; /* likewise, how many */
    sched_queue_t frontier[CLOSURE_LISTS];
    int32_t frontier_count;
    sched_queue_t runnable[2]; /* those others wait for, the rest */
    int32_t *loads;            /* ring of data to load, in the order of the plan */
    int32_t load_first, load_count, load_room;
    int32_t awaiting;   /* tasks elsewhere that it waits for and that are about to run */
    double usual, peak; /* what loads free per byte, lately; at best */
    /* It waited rather than load for this little when so much had changed for it. */
    double waited_ratio;
    uint32_t changes, waited_changes; /* of its frontier and of what comes before it */
    int32_t look_at;        /* tasks that must be over before it looks for others' work again */
    bool is_roomy;          /* it holds all it will ever need, and it is not alone */
    bool is_mirrored;       /* among equals the last one first */
    closure_copy_t *copies; /* [data] */
} closure_memory_t;

typedef struct {
    const xy_task_view_t *view;
    const xy_graph_t *graph;
    int32_t ops, data_count, over;
    closure_memory_t *memories;
    sched_links_t links;
    uint8_t *state;      /* [ops] closure_task_t */
    bool *is_ready;      /* [ops] the engine said so */
    int16_t *awaited_by; /* [ops] another memory that waits for it; -1: none */
    int32_t *waits;      /* [ops] */
    int16_t *part;       /* [ops] memory it belongs to at first */
    int16_t *memory;     /* [ops] memory it is in the frontier or plan of */
    uint8_t *list;       /* [ops] frontier list it is in */
    int32_t *moved;      /* [data] memory that took it over; -1: none */
    size_t *use_start;   /* [data + 1] */
    xy_op_id_t *uses;    /* tasks of each datum in the order of submission */
    size_t *cursor;      /* [data] all before it are planned */
    double *ratio;       /* [ops] what its load would free per byte, when it was last looked at */
    uint32_t *looked;    /* [ops] number of the choice that looked; 0: not since it was filed */
    uint32_t choices;
    int32_t *held;    /* [workers] tasks picked and not over */
    double horizon;   /* seconds to plan ahead */
    double load_rate; /* bytes per second from the main memory */

    /* Looking ahead: what a load would free. Entries are valid in their own epoch only. */
    uint32_t epoch;
    uint32_t *op_epoch, *data_epoch, *use_epoch; /* [ops], [data], [data] */
    int32_t *op_waits;                           /* [ops] */
    int32_t *data_uses;                          /* [data] */
    xy_op_id_t *freed;                           /* [LOOKAHEAD] */
} closure_t;

enum { CLOSURE_LOOKAHEAD = 256 };

/* task_closure_parts.c: fill in part, awaited_by, memories' speed. ENOMEM in silence. */
xy_status_t closure_parts(closure_t *c);

/* task_closure_plan.c */
bool closure_writes(const closure_t *c, xy_op_id_t op, int32_t data);
void closure_frontier_add(closure_t *c, xy_op_id_t op, int32_t memory);
void closure_frontier_remove(closure_t *c, xy_op_id_t op);
/* Plan for a memory until it has enough to do. */
void closure_extend(closure_t *c, int32_t memory);
/* One of the tasks that wait for nothing else is before `op` no more. */
void closure_release(closure_t *c, xy_op_id_t op);
/* The copy is of no use to the plan from now on. */
void closure_out(closure_t *c, int32_t memory, int32_t data);
/* The queue of those that can run: what others wait for comes first. */
sched_queue_t *closure_runnable(closure_t *c, xy_op_id_t op);
void closure_out_remove(closure_memory_t *m, int32_t data);

#endif
