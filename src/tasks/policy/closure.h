/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of the policy closure:
 *
 *   closure.c             the policy: what the engine asks, answered from the plan
 *   closure_plan.c        the plan: what each memory will hold and run, a little ahead of time
 *   closure_times.c       when data come, and whether stores are late
 *   closure_parts.c       which memory each task belongs to at first
 */
#ifndef XY_TASKS_POLICY_CLOSURE_H
#define XY_TASKS_POLICY_CLOSURE_H

#include "tasks/policy/policy_internal.h"

/* Frontier tasks (all before them is planned, or over elsewhere) by the number of data that their
 * memory misses in the plan: none, one, two, more. */
enum { CLOSURE_LISTS = 4 };

typedef enum {
    TASK_WAITING,
    TASK_FRONTIER,
    TASK_PLANNED,
    TASK_RUNNABLE,
    TASK_OVER
} closure_state_t;

/*
 * The data of a decision, close together: a task takes one line of the cache, a datum another, as
 * decisions wait for these lines more than for anything else.
 */
typedef struct {
    const xy_access_t *accesses;
    const xy_op_id_t *successors;
    double seconds;
    int32_t access_count, successor_count;
    int32_t next, prev; /* in the queue it is in: a frontier list or those that can run */
    int32_t waits;
    int16_t part;       /* memory it belongs to at first */
    int16_t memory;     /* memory it is in the frontier or plan of */
    int16_t awaited_by; /* another memory that waits for it; -1: none */
    uint8_t state;      /* closure_state_t */
    uint8_t list;       /* frontier list it is in */
    bool is_ready;      /* the engine said so */
    /* Looking ahead: what it would wait for. Valid in its epoch only. */
    uint32_t epoch;
    int32_t epoch_waits;
} closure_task_t;

_Static_assert(sizeof(closure_task_t) <= 64, "a task should take one line of the cache");

/* A use of a datum: a task, and whether it writes. */
typedef struct {
    uint32_t task : 31, is_write : 1;
} closure_use_t;

typedef struct {
    closure_use_t *first, *cursor, *end; /* in the order of submission; all before cursor planned */
    uint64_t bytes;
    int32_t moved; /* memory that took it over; -1: none */
    /* Looking ahead: the epoch in which it would be there; how often freed tasks use it. */
    uint32_t there_epoch, use_epoch;
    int32_t use_count;
    int32_t writers; /* tasks that write it and are not over */
} closure_datum_t;

/* A datum in a memory. */
typedef struct {
    int32_t prev, next;         /* among those of the plan, least recently used first */
    int32_t out_prev, out_next; /* among those the memory can do without */
    int32_t uses;               /* planned tasks still to run */
    bool is_in;                 /* the plan holds it from now on */
    bool is_dirty;              /* written since the plan took it in */
    bool is_out;                /* it is in the list of those to give up */
    bool is_asked;              /* the plan wants it loaded */
    double comes;               /* when its load ends, by the clock of its memory; 0: it is there */
} closure_copy_t;

typedef struct {
    double speed;               /* of all its workers; 0: it has none */
    uint64_t capacity, planned; /* bytes the plan may hold (0: no limit) and holds */
    int32_t oldest, newest;     /* data of the plan */
    int32_t resident;           /* how many */
    int32_t out_head, out_tail;
    uint64_t leaving; /* bytes that the plan does without, and that planned tasks still use */
    uint64_t spare;   /* bytes that the plan leaves free; 0: it has no limit */
    uint64_t refused; /* bytes for which there was no room beside what leaves; 0: there was */
    double work;      /* seconds planned and not over */
    double left;      /* seconds of all tasks that belong to it and are not over */
    double clock;     /* when the tasks that were picked end; INFINITY: it does not matter */
    double link;      /* when the loads that were asked for end, by the same clock */
    int32_t tasks;    /* likewise, how many */
    xy_task_list_t frontier[CLOSURE_LISTS];
    int32_t frontier_count;
    xy_task_list_t runnable[2]; /* tasks that others wait for, the rest */
    int32_t *loads;             /* ring of data to load, in the order of the plan */
    int32_t load_first, load_count, load_room;
    int32_t awaiting;   /* tasks elsewhere that it waits for and that are about to run */
    double usual, peak; /* bytes that loads free per byte, lately; at best */
    /* It waited rather than load for this little when so much had changed for it. */
    double waited_ratio;
    uint32_t changes, waited_changes; /* of its frontier, what comes before it, what can run */
    int32_t look_at;        /* tasks that must be over before it looks for others' work again */
    bool is_roomy;          /* it holds all it will ever need, and it is not alone */
    bool is_mirrored;       /* among equals the last one first */
    closure_copy_t *copies; /* [data] */
} closure_memory_t;

/* The gain of its load per byte, when a frontier task was last examined. */
typedef struct {
    double ratio;
    uint32_t choice; /* number of the choice that looked; 0: not since it was filed */
} closure_look_t;

typedef struct {
    int32_t held; /* tasks picked and not over */
    /* There was nothing for it when so much had changed for its memory, and come to it. */
    uint32_t refused_changes;
    uint64_t refused_arrivals;
} closure_worker_t;

typedef struct {
    const xy_task_view_t *view;
    const xy_graph_t *graph;
    int32_t ops, data_count, over;
    closure_memory_t *memories;
    closure_task_t *tasks; /* [ops] */
    closure_datum_t *data; /* [data] */
    closure_use_t *uses;   /* datum after datum */
    closure_look_t *looks; /* [ops] */
    uint32_t choices;
    closure_worker_t *workers;
    int32_t ahead;     /* loads to plan ahead, in proportion; 1: as usual */
    bool is_far;       /* the plan may be far ahead: it goes as far as memory holds it, and when
                            nothing is left to load, data are finished one by one */
    double horizon;    /* seconds to plan ahead */
    double load_rate;  /* bytes per second from the main memory */
    double unfinished; /* bytes that tasks still write, and that are wanted in the end */
    uint32_t epoch;    /* of looking ahead: what a load would free */
    xy_op_id_t *freed; /* [LOOKAHEAD] */
} closure_t;

enum { CLOSURE_LOOKAHEAD = 256, CLOSURE_DEEP = 128 };

/* closure_parts.c     : fill in part, awaited_by, memories' speed. ENOMEM in silence. */
xy_status_t closure_parts(closure_t *c);

/* Queues of tasks, linked through the tasks: a task is in one at most. */
static inline void closure_push(closure_t *c, xy_task_list_t *queue, xy_op_id_t op)
{
    c->tasks[op].next = -1;
    c->tasks[op].prev = queue->tail;
    if (queue->tail >= 0)
        c->tasks[queue->tail].next = op;
    else
        queue->head = op;
    queue->tail = op;
    queue->count++;
}

/* Removes a task from a queue. */
static inline void closure_take(closure_t *c, xy_task_list_t *queue, xy_op_id_t op)
{
    int32_t next = c->tasks[op].next, prev = c->tasks[op].prev;

    if (prev >= 0)
        c->tasks[prev].next = next;
    else
        queue->head = next;
    if (next >= 0)
        c->tasks[next].prev = prev;
    else
        queue->tail = prev;
    queue->count--;
}

/* closure_plan.c      */
void closure_frontier_add(closure_t *c, xy_op_id_t op, int32_t memory);
void closure_frontier_remove(closure_t *c, xy_op_id_t op);
/* Plan for a memory until it has enough to do. */
void closure_extend(closure_t *c, int32_t memory);
/* One of the tasks that wait for nothing else is before `op` no more. */
void closure_release(closure_t *c, xy_op_id_t op);
/* The copy is of no use to the plan from now on. */
void closure_out(closure_t *c, int32_t memory, int32_t data);
/* The queue of those that can run: what others wait for comes first. */
xy_task_list_t *closure_runnable(closure_t *c, xy_op_id_t op);
void closure_set_runnable(closure_t *c, xy_op_id_t op);
/* Nothing is left to load: tasks that were submitted last come first, so that data are finished one
 * after the other, and their stores need not come all at the end. */
bool closure_is_ending(const closure_t *c, int32_t memory);
void closure_out_remove(closure_memory_t *m, int32_t data);

/* closure_times.c     */
/* The engine has put a load of it on its way, or a task wrote it. */
void closure_came(closure_t *c, int32_t memory, int32_t data);
/* When all that the task reads is there; INFINITY: some of it is not on its way. */
double closure_comes(const closure_t *c, xy_op_id_t op, int32_t memory);
/* The memory runs the task next. */
void closure_begin(closure_t *c, int32_t memory, xy_op_id_t op);
/* A task is complete. */
void closure_wrote(closure_t *c, xy_op_id_t op);
/* In the end: will stores take longer than all tasks that are left? */
bool closure_is_storing(const closure_t *c, int32_t memory);

#endif
