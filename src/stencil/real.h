/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of a real run. */
#ifndef XY_STENCIL_REAL_H
#define XY_STENCIL_REAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "stencil/internal.h"
#include "tasks/device/device.h"
#include "tasks/exec/exec.h"

/* The file of a domain, and the work file beside it in which everything happens. */
typedef struct {
    char *path, *directory;
    xy_out_t *work;   /* goes when a signal ends the process; NULL: none */
    int fd;           /* of it; -1: none */
    int domain;       /* of several ranks: the file as it is; -1: none */
    uint64_t *offset; /* [data] */
    uint64_t block_bytes;
    char *mapped; /* all of the work file, for GPUs; NULL: it is not */
    uint64_t bytes;
    bool is_new; /* there was no file: its blocks are those of stencil_fill */
} stencil_file_t;

typedef struct {
    const char *policy, *eviction; /* NULL: the default */
    int32_t extra_rounds;
    uint64_t memory;     /* as that of the run */
    int32_t gpus, cores; /* that work */
    int32_t look_ahead;
    double spent; /* seconds in policies, to find out */
} stencil_choice_t;

/* The thread that chooses; what it finds is read after it has ended. Policies race on. */
typedef struct {
    pthread_t thread;
    bool is_started, is_begun;
    xy_task_race_t *race; /* NULL: there is none */
    xy_graph_t *graph;    /* of its trials; NULL: that of the run */
    xy_task_platform_t *platform;
    double worth;                  /* seconds for which it is waited once the memory is ready */
    char *key;                     /* under which the choice is stored; NULL: it is not */
    struct stencil_choices *known; /* the stored choices */
    bool is_tried;                 /* the choice is new */
    stencil_choice_t choice;
    xy_status_t status;
} stencil_chooser_t;

typedef struct {
    const xy_stencil_run_t *run;
    xy_stencil_t grid; /* with everything decided */
    stencil_shape_t shape;
    xy_graph_t *graph;       /* of the whole grid */
    const xy_graph_t *tasks; /* tasks that run here: all of them, or the share of this rank */
    const stencil_kernels_t *kernels;
    int32_t workers, block_data; /* the first data are blocks, the others numbers */
    double core_seconds;         /* beside GPUs: of an update of a block on a core, */
    double core_speed;           /* and its speed, where a GPU is 1 */
    double least_seconds;        /* of a task that updates a block */
    uint64_t stride;             /* bytes from one block to the next in memory */
    char *memory;
    uint64_t memory_bytes;
    char *scratch;    /* [workers], `stride` apart */
    void **addresses; /* [data] in core */
    stencil_file_t file;
    struct stencil_gpu *gpu;    /* NULL: on cores */
    xy_task_share_t *share;     /* NULL: this process has all blocks */
    int32_t *owner;             /* [data] ranks */
    bool has_agreed, has_begun; /* all ranks said if they can begin; and they can */
    void **unused; /* [blocks] of this rank's in a file, those that no task uses; or NULL */
    xy_vec_t told; /* records for rank 0 */
    xy_task_observer_t listener;
    bool is_told_in_part;
    int32_t gpus_used, workers_used; /* by the run */
    stencil_chooser_t chooser;
    double choosing; /* seconds that the run waited for it, with its memory ready */

    double until;    /* negative: no end before the last iteration */
    double residual; /* of the last decision; decisions come one after the other */
    int decided;     /* iterations done at that decision, if it was made here */
    int converged;   /* iterations done, 0: not converged; written before `stop` */
    atomic_bool stop;
} stencil_real_t;

/* real.c */
/* Do a task in the main memory; `arg` is the stencil_real_t. */
void stencil_real_task(void *arg, const xy_task_turn_t *turn);
int64_t stencil_block_cells(const stencil_real_t *r);
/* Update so many rows of a block on this core; `op` NULL: of some block, to see how long it takes.
 */
void stencil_real_update(const stencil_real_t *r, const xy_op_t *op, const stencil_around_t *around,
                         int64_t rows, void *out);
/* Where the block of a task begins in the grid, and the iteration; of NULL: in the middle, 0. */
long stencil_real_origin(const stencil_real_t *r, const xy_op_t *op, long origin[3]);
/* Report a block that is not that of the plain loop. */
xy_status_t stencil_real_differs(const stencil_real_t *r, int64_t cell);
/* The datum that holds a block of the result. */
int32_t stencil_real_result(const stencil_real_t *r, int64_t cell);

/* The pages of r->memory_bytes. */
xy_status_t stencil_real_pages(stencil_real_t *r);

/* Make the graph of a run, and open and measure its GPUs; then make its memory ready, and meanwhile
 * choose a policy. The caller cleans up in all cases, before `run` goes. */
xy_status_t stencil_real_begin(stencil_real_t *r, const xy_stencil_run_t *run);
xy_status_t stencil_real_memory(stencil_real_t *r);
void stencil_real_cleanup(stencil_real_t *r);

/* real_ranks.c */
/* Share the blocks among the ranks; make the share of this rank, with its data in memory. */
xy_status_t stencil_ranks_share(stencil_real_t *r);
/* Drivers of GPUs are made ready one rank after the other. */
xy_status_t stencil_ranks_open(const stencil_real_t *r);
void stencil_ranks_how(stencil_real_t *r, xy_task_device_t *how);
/* All ranks know when it ended; rank 0 has sums of all results. */
xy_status_t stencil_ranks_sum(stencil_real_t *r, xy_task_result_t *result);
/* All blocks of the result come to rank 0, which compares them, and writes them into its file. */
xy_status_t stencil_ranks_gather(const stencil_real_t *r, const stencil_plain_t *plain);
/* Tell each other how it went: all ranks get a status that is XY_OK only if it is for all. One that
 * has failed has reported it. */
xy_status_t stencil_ranks_agree(const stencil_real_t *r, xy_status_t st);
void stencil_ranks_cleanup(stencil_real_t *r);

/* real_ranks_file.c */
/* r->memory, of a mapped file that has no name. */
xy_status_t stencil_ranks_pages(stencil_real_t *r);
/* Blocks of the domain come to their owners; r->file.is_new: there is none. */
xy_status_t stencil_ranks_read(stencil_real_t *r);

/* real_ranks_told.c */
/* Make r->listener, which records the events of the run. */
void stencil_ranks_listen(stencil_real_t *r);
/* After the run: rank 0 tells its observer what all ranks did. */
xy_status_t stencil_ranks_tell(const stencil_real_t *r);

/* real_choose.c */
/* Replace a policy that is a choice by what ends first in virtual time, leave cores or GPUs alone
 * if the others end sooner without them, and choose how many data are loaded early. Threads do so
 * while the memory of the domain is made ready, and then for a small part of the run. The second
 * function tells the choice. After the run the third one ends the threads, and stores the choice of
 * a run that has succeeded. */
void stencil_real_choose_begin(stencil_real_t *r);
xy_status_t stencil_real_choose_end(stencil_real_t *r, stencil_choice_t *choice_p);
void stencil_real_choose_cleanup(stencil_real_t *r, bool is_kept);
/* Virtual seconds of the run with a choice, by the measured costs. */
xy_status_t stencil_real_predict(const stencil_real_t *r, const stencil_choice_t *choice,
                                 double *seconds_p);

/* real_speed.c */
/* The time of a task on each of so many cores at once. */
xy_status_t stencil_core_seconds(const stencil_real_t *r, int32_t cores, double *seconds_p);

/* real_gpu.c */
typedef struct stencil_gpu stencil_gpu_t;
/* Open the GPUs, compile the kernels, and take memory for `bytes` of the domain there, pinned, as
 * r->memory. XY_ENOENT: there are not so many. Measures what a task and a byte on the link take.
 * The caller closes r->gpu in all cases. */
xy_status_t stencil_gpu_open(stencil_real_t *r);
xy_status_t stencil_gpu_memory(stencil_real_t *r, uint64_t bytes);
xy_status_t stencil_gpu_execute(stencil_real_t *r, const stencil_choice_t *choice,
                                xy_task_result_t *result_p);
void stencil_gpu_close(stencil_real_t *r);
const char *stencil_gpu_name(const stencil_real_t *r);
int32_t stencil_gpu_count(const stencil_real_t *r);
double stencil_gpu_seconds(const stencil_real_t *r);
const xy_stencil_costs_t *stencil_gpu_costs(const stencil_real_t *r);
/* The platform for policies: links and memory. */
void stencil_gpu_platform(const stencil_real_t *r, xy_link_t *in_p, xy_link_t *out_p,
                          uint64_t *memory_p);

/* The speed of a GPU where the first is 1, and its memory. */
double stencil_gpu_speed(const stencil_real_t *r, int32_t gpu, uint64_t *memory_p);

/* real_file.c */
/* A file that is there must have the size of the domain and is not changed before the end; all
 * room that the run needs is taken now. XY_EINVAL, XY_EIO, XY_ENOMEM (reported); then nothing has
 * changed. */
xy_status_t stencil_file_open(const char *path, const xy_stencil_t *s, const stencil_shape_t *shape,
                              const xy_graph_t *graph, stencil_file_t *file_p);
/* The directory of a path; the caller frees it. */
xy_status_t stencil_file_directory(const char *path, char **directory_p);
/* For rank 0 of several: the domain as it is, and room for one array of the result. */
xy_status_t stencil_file_open_whole(const char *path, const xy_stencil_t *s,
                                    stencil_file_t *file_p);
/* A block of that domain; a block of the result. */
xy_status_t stencil_file_first(const stencil_file_t *file, int64_t cell, void *block);
xy_status_t stencil_file_write(const stencil_file_t *file, int64_t cell, void *block);
/* Map the work file, so that data are at mapped + offset. */
xy_status_t stencil_file_map(stencil_file_t *file);
xy_status_t stencil_file_read(const stencil_file_t *file, int32_t data, void *block);
/* The result becomes the content of the file. */
xy_status_t stencil_file_commit(stencil_file_t *file, const stencil_real_t *r);
/* Forget the work file, if there still is one. */
void stencil_file_cancel(stencil_file_t *file);

#endif
