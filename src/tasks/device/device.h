/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Task graphs on GPUs, in real time: the policies of the simulator choose the place of each task,
 * and data move between the main memory and the memories of the GPUs.
 *
 *   xy_task_device_t how = {.policy = "closure", .gpus = &gpu, .gpu_count = 1, .launch = put};
 *   st = xy_task_execute_on(graph, &how, &result);
 *
 * One thread, the caller's, decides and puts everything into streams: each GPU has one for kernels,
 * one for loads and one for stores. A task counts as complete as soon as it is in its stream, so
 * that the decisions, and the loads with them, run ahead of the GPU, by up to DEVICE_AHEAD tasks; a
 * policy is asked for data to prefetch only when it has no task. A kernel or a copy waits on the
 * GPU, by events, for its conditions (the arrival of a datum, the write-back of a buffer's old
 * content, a kernel that still reads). So decisions, loads, stores and evictions, and their order,
 * do not depend on time, as long as there are no cores, no tasks in the main memory and no other
 * ranks.
 *
 * Tasks that can run at the same time may share a launch: as many as the policy has before one of
 * them counts as complete. Where a policy has one at a time, as each needs the one before, it has
 * more if some data are loaded earlier (params.look_ahead), which takes room.
 *
 * A memory that is full gives up data as the policy or the eviction says; what was changed is
 * written back first, unless the next task that uses it overwrites it unread, or there is none and
 * it is scrap. A task without a kernel runs here, in the main memory, when its data have arrived
 * there. In the end all data except scrap are in the main memory.
 *
 * Cores may compute beside the GPUs, in the main memory: they are workers behind the GPUs, with the
 * speed `core_speed`, which is then measured. A core is left idle when the others would have done
 * all the rest before it had ended one task. GPUs are then only a few tasks ahead, and a task of a
 * core is complete when it has ended.
 *
 * With a share of a graph that several ranks have (tasks/ranks/ranks.h) the graph is share->tasks,
 * and messages begin by themselves as soon as their predecessors are complete, whatever the policy
 * does; they end while others run. There may be no GPU at all then, only cores. Once such a run is
 * stopped, all remaining tasks are skipped, and messages are empty, so that no rank waits for
 * another forever.
 *
 * Copies are fast and asynchronous if the data are pinned (xy_gpu_pinned_take); data that are not
 * are pinned for the run where the driver can, and else go through pieces of pinned memory.
 */
#ifndef XY_TASKS_DEVICE_DEVICE_H
#define XY_TASKS_DEVICE_DEVICE_H

#include <stdatomic.h>

#include "gpu/gpu.h"
#include "graph/graph.h"
#include "machine/machine.h"
#include "tasks/memory/memory.h"
#include "tasks/ranks/ranks.h"

enum { XY_TASK_BATCH_MAX = 16 };

/* A task to be put into a stream. */
typedef struct {
    int32_t gpu; /* its number in the list */
    xy_op_id_t op;
    xy_gpu_stream_t *stream;
    const xy_gpu_memory_t *buffers; /* [accesses] */
    xy_gpu_memory_t changed; /* where what it changes goes; 0: into the buffer that it reads */
} xy_task_kernel_t;

typedef struct {
    const char *policy;      /* NULL: closure. One that is a choice runs its first trial */
    const char *eviction;    /* NULL: what the policy prefers */
    xy_task_params_t params; /* alpha and beta 0: both 1 */
    xy_gpu_device_t *const *gpus;
    int32_t gpu_count;
    const double *speeds;     /* [gpu_count] where the first is 1; NULL: all the same */
    uint64_t memory;          /* of each GPU; 0: nine tenths of what is free */
    const uint64_t *memories; /* [gpu_count] instead; NULL: `memory` */
    int32_t sharers;          /* ranks that have that memory together; 0: this one alone */
    void **addresses;         /* [data] in the main memory; NULL: those of the data themselves */
    bool is_pinned;           /* they are pinned already */
    bool is_unpinned; /* they are not, and must not be: they may be more than there is memory */
    /* Of a piece that data go through which are not pinned. 0: a usual number, and none on devices
     * that are made of cores. */
    uint64_t piece_bytes;
    xy_link_t in, out; /* speeds that policies assume of the links; 0: a usual one */
    /* Put the task into the stream. */
    xy_status_t (*launch)(void *arg, const xy_task_kernel_t *kernel);
    /* Put several that do not depend on each other, `batch` at most, into the stream as one launch;
     * XY_TASK_BATCH_MAX or fewer; 0 or 1: there is no such kernel. */
    xy_status_t (*launch_together)(void *arg, const xy_task_kernel_t *kernels, int32_t count);
    int32_t batch;
    /* A task that reads and writes a datum of this size leaves what it reads as it is and writes to
     * kernel->changed, which becomes the buffer of the datum. 0: tasks change data in place. */
    uint64_t exchange_bytes;
    /* Has it a kernel? NULL: all have. */
    bool (*is_for_gpu)(void *arg, xy_op_id_t op);
    /* Do one in the main memory, as this worker; the one behind the GPUs if there are no cores, on
     * the calling thread. Called by several cores at once. */
    void (*run)(void *arg, const xy_task_turn_t *turn);
    /* Can it be done there? NULL: all can. */
    bool (*is_for_cores)(void *arg, xy_op_id_t op);
    void *arg;
    int32_t cores;                /* that compute beside the GPUs */
    double core_speed;            /* of one of them, where a GPU is 1; 0: one of them tries first */
    const atomic_bool *stop;      /* no task begins once it is set; or NULL */
    const xy_task_share_t *share; /* NULL: there are no other ranks */
    const struct xylem_messages *transport; /* for messages of the share */
    /* Everything is prepared, or st says why not; called once, unless the policy is refused, before
     * the clock begins and the first message. Its status is that of the run; NULL: st is. */
    xy_status_t (*ready)(void *arg, xy_status_t st);
    /* A datum of the share has come, and no task has begun that waits for it; or NULL. */
    void (*received)(void *arg, int32_t data);
    const char *trace;                  /* file to record into, or NULL */
    const xy_task_observer_t *observer; /* notified when all is complete; or NULL */
    /* Virtual time: the clock that the GPUs, which are models, follow, and what the host needs for
     * a task besides putting it into a stream. NULL: the clock on the wall. There are no cores and
     * no other ranks then. */
    double *clock;
    double decision_seconds;
} xy_task_device_t;

/* Run the graph (final). In the result, compute_bound is the time that tasks took, shared by all
 * workers without a gap, and moving_seconds and hidden_seconds are what copies took and how much of
 * that kernels ran; all three are 0 without a trace and an observer. makespan and tasks_end are
 * times of the clock on the wall, scheduling_seconds is what the policy took.
 *
 * XY_EINVAL: no such policy or eviction, a task does not fit, the policy cannot run the graph.
 * XY_ENOMEM; XY_EIO: the GPU failed. All reported; data whose last value was not home are then
 * worth nothing. */
xy_status_t xy_task_execute_on(const xy_graph_t *graph, const xy_task_device_t *how,
                               xy_task_result_t *result_p);

#endif
