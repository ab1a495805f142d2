/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of the engine. Everything belongs to the calling thread, unless its comment
 * says otherwise.
 *
 *   device.c           the platform that policies see, making and unmaking
 *   device_work.c      the loop: asking the policy, launching, ending
 *   device_copies.c    copies of data: room, eviction, loads and stores
 *   home.c             tasks in the main memory: gathering, running, ending
 *   device_messages.c  what goes to other ranks and comes from them
 *   device_cores.c     the threads that run them
 *   lane.c             streams, and what waits for what
 *   pin.c              memory of the program, pinned for the run
 *   device_stage.c     copies of memory that is not
 *   device_span.c      the times of kernels
 *   device_record.c    what happened, by the clocks of the GPUs
 */
#ifndef XY_TASKS_DEVICE_DEVICE_INTERNAL_H
#define XY_TASKS_DEVICE_DEVICE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "fiber/fiber.h"
#include "tasks/device/device.h"

/* Beside cores a GPU is only a few tasks ahead: what it holds they cannot take. */
enum { DEVICE_AHEAD = 256, DEVICE_BESIDE = 8, DEVICE_PREFETCH = 4 };
/* Kernels of one mark, at most; both divide DEVICE_AHEAD. */
enum { DEVICE_STRIDE = 8, DEVICE_STRIDE_BESIDE = 4 };
/* So many launches are enough for a GPU to do while the caller waits for a copy. */
enum { DEVICE_KEEP = 48 };

/* The streams of a GPU. */
typedef enum { LANE_COMPUTE, LANE_LOAD, LANE_STORE, LANES } lane_kind_t;

/* Something that was put into a stream, to be waited for: all of the stream up to `number`. Zero:
 * nothing to wait for. */
typedef struct {
    struct lane *lane;
    uint64_t number; /* from 1 */
} ticket_t;

/* An event behind some things of a stream, up to number `upto`; behind a copy, while recording,
 * with another event before it. */
typedef struct {
    xy_gpu_event_t *start, *end;
    uint64_t upto;
    int32_t what; /* the datum */
} mark_t;

/* Launches that are timed together: numbers `first` to `last` of their stream. */
enum { DEVICE_SPAN = 16, DEVICE_SPANS = DEVICE_AHEAD + 2 };

typedef struct {
    xy_gpu_event_t *start, *end;
    bool has_start; /* otherwise it begins with the end of the one before */
    uint64_t first, last;
    int32_t launches, count;
    int32_t what[DEVICE_SPAN * XY_TASK_BATCH_MAX]; /* [count] tasks */
} span_t;

/* A piece of pinned memory, and what it is used for: number `number` of the lane. */
typedef struct {
    char *address;
    char *home; /* where its content goes in the end; NULL: nowhere, it was a load */
    uint64_t bytes, number;
    xy_gpu_event_t *done;
} piece_t;

/* The pieces of a lane, a ring; without data that need it there is none. */
typedef struct {
    xy_gpu_device_t *gpu;
    void *memory;
    piece_t *pieces;
    uint64_t put, over; /* pieces: used so far, and free again */
} stage_t;

typedef struct lane {
    struct device_tasks *engine;
    xy_gpu_stream_t *stream;
    lane_kind_t kind;
    int32_t gpu;
    uint64_t put, reached;  /* numbers: put into it, known to be over */
    uint64_t waited[LANES]; /* numbers of the lanes of the same GPU that it comes after */
    uint64_t wanted[LANES]; /* and that what is put next has to come after */
    uint64_t stride;        /* things of one mark */
    mark_t *marks;          /* [DEVICE_AHEAD / stride] a ring, by number */
    stage_t stage;
    span_t *spans;                  /* [DEVICE_SPANS] a ring, of kernels while recording */
    uint64_t spans_put, spans_told; /* how many were begun, and recorded */
    bool is_span_open;              /* the last one that was begun */
    bool is_span_apart;             /* something else is between it and the next */
    double span_end;                /* of the last one that was recorded */
} lane_t;

/* Memory of a GPU, for one datum after the other: the last load into it, kernel that used it, and
 * store from it. They outlive the datum: the next user of the buffer waits for them. */
typedef struct {
    xy_gpu_memory_t memory;
    uint64_t bytes;
    ticket_t loaded, used, stored;
} buffer_t;

typedef struct {
    xy_gpu_device_t *gpu;
    xy_task_memory_t *space;
    buffer_t *buffers; /* [data] of copies that are there */
    xy_vec_t kept;     /* of buffer_t, to be used again, the oldest first */
    /* [spare_count] Targets of tasks that change data. Only the stream of kernels uses them. */
    xy_gpu_memory_t spares[XY_TASK_BATCH_MAX];
    int32_t spare_count;
    xy_gpu_memory_t *row; /* [row_count] all buffers, where data have one size; else NULL */
    size_t row_count;
    uint64_t taken, most; /* bytes from the GPU; how many it may be (device_reserve) */
    bool *is_early;       /* [data] loaded, and no task has used it since */
    int32_t early;        /* how many */
    lane_t lanes[LANES];
    xy_gpu_event_t *origin; /* when its clock was at `began` */
    double began;
    double given;  /* seconds that the tasks given to it take there, and its waiting */
    bool had_turn; /* in this round (uneven speeds) */
} device_memory_t;

/* A datum in the main memory: complete after `written`, read until `read`. */
typedef struct {
    void *address;
    bool is_here;
    bool is_staged; /* copied by way of pieces: read before a load is in its stream */
    ticket_t written, read;
} home_t;

/* A task in the main memory. It gathers until all that it needs is home, and what it writes is read
 * no more; then a core runs it, or the thread that called where there are no cores. */
typedef enum { JOB_FREE, JOB_GATHERS, JOB_RUNS } job_step_t;

typedef struct {
    job_step_t step;
    xy_op_id_t op;
    int32_t worker; /* that took it */
    int32_t core;   /* that is to run it; -1: any */
    const xy_access_t *accesses;
    int32_t count;
    void **addresses; /* [most] */
} job_t;

/* A message gathers as a task does, until what it sends is home, or what it overwrites is read no
 * more; then the transport has it. */
typedef struct {
    xy_vec_t gathering; /* of int32_t: numbers of messages */
    int32_t moving;     /* that the transport has */
    int32_t left;       /* that are not over */
    bool is_passing;    /* the run was stopped: tasks are passed over, and messages carry nothing */
    xy_vec_t passed;    /* of xy_op_id_t: to be passed over */
    double *start;      /* [messages] while recording */
} post_t;

/* A thread beside the GPUs. The mail is its only way to the thread that called. */
typedef enum { MAIL_NONE, MAIL_RUN, MAIL_RAN, MAIL_END } mail_t;

typedef struct {
    struct device_tasks *engine;
    int32_t number, worker;
    job_t *job; /* that it has; NULL: none */
    xy_worker_t *host;
    xy_fiber_t *fiber;
    bool is_parked; /* of its own thread */
    double start, end;
    _Atomic mail_t mail;
} core_t;

/* How fast something is: work, in seconds that tasks declare, and the time that it took. */
typedef struct {
    double work, seconds;
    int64_t tasks;
} pace_t;

typedef enum {
    RECORD_TASK,
    RECORD_TRANSFER,
    RECORD_MEMORY,
    RECORD_WAIT,
    RECORD_MESSAGE,
    RECORD_EVICTION,
    RECORD_DECISION
} record_kind_t;

typedef struct {
    double start, end;
    uint64_t used; /* RECORD_MEMORY */
    record_kind_t kind;
    int32_t what, from, to;
} record_t;

/* Addresses of the main memory. */
typedef struct {
    uintptr_t from, to; /* `to` is behind it */
} range_t;

typedef struct device_tasks {
    xy_task_engine_t
        base; /* worker w computes in memory w + 1, those behind the GPUs in memory 0 */
    const xy_task_device_t *how;
    bool is_recording;
    double start, now;
    home_t *homes;   /* [data] */
    range_t *pinned; /* [pinned_count] for this run */
    size_t pinned_count;
    uint64_t piece_bytes;     /* 0: nothing is staged */
    device_memory_t *devices; /* [GPUs] */
    const xy_graph_t *order;  /* dependencies: of the graph, or of that with messages */
    post_t post;
    xy_gpu_memory_t *buffers; /* [XY_TASK_BATCH_MAX][most] of the tasks that are launched */
    xy_vec_t records;         /* of record_t */

    job_t *jobs; /* [job_count] */
    void **job_addresses;
    int32_t job_count, job_used;
    double seconds_left; /* of tasks, as declared */
    bool is_uneven;      /* GPUs have different speeds */
    uint64_t picked;     /* tasks, so far */
    bool is_pressed;     /* cores work even where that lengthens the end: nothing else moves */

    core_t *cores; /* [how->cores] */
    xy_pool_t *pool;
    pthread_mutex_t lock;
    pthread_cond_t rung; /* a core is done */
    uint32_t rings;      /* under the lock */
    pace_t core_pace, gpu_pace;
    double looked; /* when the paces of the GPUs were looked at; 0: not yet */
} device_tasks_t;

/* lane.c */
xy_status_t device_lane_init(lane_t *lane, xy_gpu_device_t *gpu);
void device_lane_cleanup(lane_t *lane);
/* Before something is put into a lane: make room for its mark, and begin it. */
xy_status_t device_lane_begin(lane_t *lane);
/* After it: what to wait for. */
xy_status_t device_lane_end(lane_t *lane, const int32_t *what, int32_t count, ticket_t *ticket_p);
/* Later work of the lane comes after the ticket. */
xy_status_t device_lane_after(lane_t *lane, ticket_t ticket);
/* Order the next work of the lane after the ticket: known to the lane with the second call, which
 * may wait a while before the lane does. */
xy_status_t device_lane_want(lane_t *lane, ticket_t ticket);
xy_status_t device_lane_after_wanted(lane_t *lane);
/* The caller waits. */
xy_status_t device_wait(ticket_t ticket);
xy_status_t device_lane_drain(lane_t *lane);
/* How many things of the lane are not over, as far as it is known after looking. */
xy_status_t device_lane_behind(lane_t *lane, uint64_t *count_p);
/* Is it over, as far as it is known after looking? */
xy_status_t device_is_over(ticket_t ticket, bool *is_over_p);

/* device_copies.c */
extern const xy_task_driver_t device_driver;
/* Bring what the task needs into the memory of the GPU, and make its kernels wait for it. If other
 * tasks of its launch take the room that it needs, *is_there_p is false, and nothing is held. */
xy_status_t device_gather(device_tasks_t *e, int32_t gpu, xy_op_id_t op, bool has_others,
                          xy_gpu_memory_t *buffers, bool *is_there_p);
/* The kernel of the task is in its stream. */
void device_used(device_tasks_t *e, int32_t gpu, xy_op_id_t op, ticket_t ticket);
/* Load what the policy wants next; is_idle: it has no task now. */
xy_status_t device_prefetch(device_tasks_t *e, int32_t gpu, bool is_idle);
xy_status_t device_store_early(device_tasks_t *e, int32_t gpu);
/* For a task in the main memory, or a message: ask for what it reads to come home. */
xy_status_t device_home_ask(device_tasks_t *e, const xy_access_t *a, int32_t n);
/* Has it come, and does no copy read any more what the task writes? Otherwise *awaited_p, unless it
 * is NULL, is what to wait for. */
xy_status_t device_home_has_come(device_tasks_t *e, const xy_access_t *a, int32_t n,
                                 bool *has_come_p, ticket_t *awaited_p);
/* From now on the task alone uses what it writes; until it is complete. */
void device_home_take(device_tasks_t *e, const xy_access_t *a, int32_t n, void **addresses);
void device_home_give(device_tasks_t *e, const xy_access_t *a, int32_t n);
/* All tasks are complete: everything goes home. */
xy_status_t device_flush(device_tasks_t *e);
void device_memory_cleanup(device_tasks_t *e, device_memory_t *m);
/* Before the run: take the buffers of data that have one size, and those for changed data. */
xy_status_t device_take_row(device_tasks_t *e, device_memory_t *m);
/* The task, number n of its launch, has written the datum that it changes to spare n. */
void device_exchange(device_tasks_t *e, int32_t gpu, xy_op_id_t op, int32_t n);

/* Of so many bytes, those that policies do not know of. */
uint64_t device_reserve(const device_tasks_t *e, uint64_t bytes);

/* device_work.c */
xy_status_t device_run(device_tasks_t *e);
bool device_is_stopped(const device_tasks_t *e);
/* For the policy the task is complete. */
xy_status_t device_task_over(device_tasks_t *e, int32_t worker, xy_op_id_t op);
/* The successors of an operation of e->order may begin. */
xy_status_t device_release(device_tasks_t *e, xy_op_id_t node);

/* home.c */
xy_status_t device_jobs_init(device_tasks_t *e); /* ENOMEM in silence */
void device_jobs_cleanup(device_tasks_t *e);
/* A task for the main memory, and which core is to run it; -1: any. There is room for one. */
xy_status_t device_job_begin(device_tasks_t *e, int32_t worker, int32_t core, xy_op_id_t op);
/* Begin all tasks that can begin, end all that have ended. */
xy_status_t device_jobs_pump(device_tasks_t *e, bool *is_moving_p);
/* Drop the jobs that gather: they are not to run any more. */
void device_jobs_drop(device_tasks_t *e);
bool device_jobs_are_running(const device_tasks_t *e);
/* Nothing else can be done: wait until something of a job changes, or of a GPU. *is_moving_p is
 * false when there is nothing to wait for. */
xy_status_t device_jobs_wait(device_tasks_t *e, bool *is_moving_p);

/* device_messages.c */
xy_status_t device_messages_init(device_tasks_t *e); /* ENOMEM in silence */
void device_messages_cleanup(device_tasks_t *e);
/* Begin a message: everything before it is complete. */
xy_status_t device_message_begin(device_tasks_t *e, int32_t message);
/* Begin all messages that can begin, complete all that have arrived. */
xy_status_t device_messages_pump(device_tasks_t *e, bool *is_moving_p);
/* Nothing else can be done: wait for messages if there are any; not for long if something else is
 * under way, too. */
xy_status_t device_messages_wait(device_tasks_t *e, bool *is_moving_p);
/* The run was stopped: the other ranks get empty messages, so that they do not wait. */
xy_status_t device_messages_pass(device_tasks_t *e);

/* device_cores.c */
xy_status_t device_cores_start(device_tasks_t *e);
void device_cores_stop(device_tasks_t *e);
/* The core may have the job now. */
void device_core_give(core_t *core, job_t *job);
/* A core that has nothing; NULL: none. */
core_t *device_core_idle(device_tasks_t *e);
/* Would the core end its next task before the others have done all that is left? */
bool device_core_helps(const device_tasks_t *e, const core_t *core);
void device_pace_gpus(device_tasks_t *e, uint64_t reached, uint64_t behind);
void device_pace_core(device_tasks_t *e, const core_t *core);
/* Until a core has rung since `rings`, or so long; 0: however long it takes. */
void device_cores_wait(device_tasks_t *e, uint32_t rings, double seconds);
uint32_t device_cores_rings(device_tasks_t *e);

/* pin.c */
/* Pin the data of the program where the driver can. */
xy_status_t device_pin(device_tasks_t *e);
void device_unpin(device_tasks_t *e);
/* Sort ranges and put together those that have pages in common, or neighbouring ones; returns how
 * many are left. */
size_t device_ranges_merge(range_t *ranges, size_t count, uintptr_t page);

/* device_stage.c */
/* Choose the data that are copied by way of pieces; after device_pin. */
void device_stage_choose(device_tasks_t *e);
xy_status_t device_stage_init(lane_t *lane, xy_gpu_device_t *gpu);
void device_stage_cleanup(lane_t *lane);
/* Put a copy of a datum into the lane, from home or to it. */
xy_status_t device_copy_in(lane_t *lane, xy_gpu_memory_t to, int32_t data);
xy_status_t device_copy_out(lane_t *lane, int32_t data, xy_gpu_memory_t from);
/* All of the lane up to `number` is complete: what is left to do with its pieces. */
xy_status_t device_stage_reach(lane_t *lane, uint64_t number);

/* device_span.c: nothing of it does anything while nothing is recorded */
xy_status_t device_spans_init(lane_t *lane, xy_gpu_device_t *gpu);
void device_spans_cleanup(lane_t *lane);
/* Before a kernel is put into the lane, and after it. */
xy_status_t device_span_begin(lane_t *lane);
xy_status_t device_span_add(lane_t *lane, const int32_t *what, int32_t count);
/* Something else is put into the lane next. */
xy_status_t device_span_break(lane_t *lane);
/* The host waits for this number. */
xy_status_t device_span_break_at(lane_t *lane, uint64_t number);
/* lane->reached has changed. */
xy_status_t device_spans_reach(lane_t *lane);

/* device_record.c */
void device_record_memory(device_tasks_t *e, int32_t gpu);
/* A task ran in the main memory. */
void device_record_home(device_tasks_t *e, int32_t worker, xy_op_id_t op, double start, double end);
void device_record_eviction(device_tasks_t *e, int32_t gpu, int32_t data);
/* The policy chose a task; times of the clock. */
void device_record_decision(device_tasks_t *e, int32_t worker, xy_op_id_t op, double start,
                            double end);
void device_record_message(device_tasks_t *e, int32_t message, double start);
/* A copy was reached. */
xy_status_t device_record_copy(lane_t *lane, const mark_t *mark);
xy_status_t device_record_kernel(lane_t *lane, int32_t op, double start, double end);
/* When an event was reached, in seconds since the start of the run. */
xy_status_t device_time_of(const lane_t *lane, const xy_gpu_event_t *event, double *time_p);
xy_status_t device_tell(device_tasks_t *e, const xy_task_observer_t *observer);

/* Seconds, of the clock on the wall or of the virtual one. */
static inline double device_now(const device_tasks_t *e)
{
    return e->how->clock != NULL ? *e->how->clock : xy_now();
}

static inline xy_op_id_t device_node(const device_tasks_t *e, xy_op_id_t op)
{
    return e->how->share != NULL ? e->how->share->node_of[op] : op;
}

static inline device_tasks_t *device_of(xy_task_engine_t *base)
{
    return (device_tasks_t *)base;
}

#endif
