/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stencils as task graphs: each cell of a grid is updated from its neighbours, many times. Cells
 * are grouped in blocks; a task is one block of one iteration.
 *
 *   xy_stencil_t s = XY_STENCIL_DEFAULT;              (1D, red-black, blocks of 3 MiB)
 *   s.blocks[0] = 366;
 *   xy_stencil_build(&s, &graph);
 *
 * The blocks at the ends of the grid are read and never written. Tasks and data carry their
 * position and iteration, and the iteration is the priority.
 *
 * `xylem stencil` and the benchmarks use it: build a graph, or build and run one, in virtual or in
 * real time (xy_stencil_run), or many of them as a study. One thread at a time per run; a real run
 * starts workers of its own.
 */
#ifndef XY_STENCIL_STENCIL_H
#define XY_STENCIL_STENCIL_H

#include <stdio.h>

#include "graph/graph.h"
#include "tasks/picture/picture.h"
#include "tasks/sim/sim.h"

typedef enum {
    XY_STENCIL_RED_BLACK, /* in place, even blocks before odd ones */
    XY_STENCIL_NATURAL,   /* in place, from left to right in even parts, back in odd ones */
    XY_STENCIL_JACOBI,    /* from one array to another and back */
} xy_stencil_graph_t;

typedef enum {
    XY_STENCIL_EVEN,
    XY_STENCIL_STATIC,  /* the first half of the domain takes half the time */
    XY_STENCIL_DYNAMIC, /* a quarter takes twice the time; it moves to the other half at half time
                         */
    XY_STENCIL_FILE,    /* factors from a file */
} xy_stencil_load_t;

typedef struct {
    int dims;          /* 1, 2, 3 */
    int points;        /* 3, 5 or 9, 7 */
    int64_t blocks[3]; /* 1 in dimensions beyond dims, or where a block reaches from end to end */
    int64_t cells[3];  /* of a block; 0: what block_bytes holds */
    bool is_single;    /* cells are of float, of 4 bytes, not of double */
    int iterations;
    xy_stencil_graph_t graph;
    uint64_t block_bytes;
    double task_seconds;
    bool is_by_kernel; /* instead, in virtual time, what the kernel of the machine's first GPU takes
                        */
    xy_stencil_load_t load;
    const double *factors; /* XY_STENCIL_FILE: [factor_rows][factor_columns] */
    int64_t factor_rows, factor_columns;
    int parts;               /* of natural order; 0 is 1 */
    bool is_proportional;    /* its parts are cut in proportion to the work */
    int check_every;         /* iterations between checks of convergence; 0: none */
    struct stencil_own *own; /* in real runs: the user's own stencil (own.h); NULL: the mean */
} xy_stencil_t;

#define XY_STENCIL_DEFAULT                                                                         \
    ((xy_stencil_t){.dims = 1,                                                                     \
                    .points = 3,                                                                   \
                    .blocks = {366, 1, 1},                                                         \
                    .iterations = 100,                                                             \
                    .block_bytes = 3 << 20,                                                        \
                    .task_seconds = 267e-6})

/* The caller owns *graph_p, which is final. XY_EINVAL, XY_ELIMIT: the description makes no sense
 * or has more than 3 * 10^7 tasks, whose graph would take more than 10 GiB (reported). */
xy_status_t xy_stencil_build(const xy_stencil_t *stencil, xy_graph_t **graph_p);

/* The seconds that a task takes. */
double xy_stencil_seconds(const xy_stencil_t *s, int64_t x, int iteration);

/* Factors of the load from a text file: one line per step of the load, with one number per stretch
 * of the first dimension; lines and numbers are stretched over iterations and blocks. '#' begins a
 * comment. The caller frees s->factors. */
xy_status_t xy_stencil_read_load(const char *path, xy_stencil_t *s);

/* ---- Bounds ---- */

/* Loads plus stores, the last ones included, of a window of `room` blocks that slides over the
 * domain on one GPU and goes back and forth (docs/stencil.md); 0: not known. A schedule may move a
 * little less. */
uint64_t xy_stencil_window_volume(const xy_stencil_t *s, uint64_t room);

/* ---- Running one ---- */

typedef struct {
    xy_stencil_t grid;
    const char *machine; /* as xy_machine_load takes it */
    int gpus;            /* 0: those of the machine */
    uint64_t memory;     /* per GPU; 0: what the machine says; XY_TASK_NO_LIMIT */
    int cpus;
    double cpu_speed;
    xy_task_sim_t how; /* policy, eviction, weights, trace, observer */
    double until;      /* with grid.check_every: end when no cell changes by more than this */
    /* In real time, on `cpus` cores (0: all that the process may use). */
    bool is_real;
    bool is_unchecked;         /* do not compare with the plain loop */
    const char *file;          /* where the domain lives; NULL: in memory */
    const char *kernel_source; /* the text of the user's own stencil; NULL: the mean */
    /* On `gpus` GPUs (0: all) with `memory` of each, and on `cpus` cores (0: none) if the virtual
     * clock says that they help. */
    bool is_on_gpus;
    const char *choices; /* the file of choices of earlier runs (choices.h); NULL: none */
    bool is_using_all;   /* cores and GPUs, even where some of them alone would end sooner */
    /* Several ranks share the blocks, by rows of them; each has `cpus` cores (0: one, or with GPUs
     * none), and GPUs of its own or shared ones. NULL: there is one process. */
    const struct xylem_messages *messages;
} xy_stencil_run_t;

/* Measurements before a run on GPUs, in seconds and bytes per second: an update of a block, the
 * link alone and (each way) with both ways in use, and the needs of the host. */
typedef struct {
    double task, both;
    xy_link_t in, out;
    xy_task_ahead_t ahead;
} xy_stencil_costs_t;

typedef struct {
    xy_task_result_t sim;
    uint64_t window_volume; /* blocks that a sliding window moves; 0: not known */
    double bus_bound;     /* seconds that the volume moved takes on the links to the main memory */
    uint64_t tasks, data; /* of the graph */
    uint64_t graph_bytes; /* of all data */
    int parts;            /* of natural order */
    int iterations;       /* done; fewer than asked for when it converged */
    bool is_converged;
    double residual; /* the largest change of a cell in the last iteration that was checked */
    int32_t workers;
    /* Real runs. */
    bool is_real, is_checked; /* is_checked: its bits are those of the plain loop */
    const char *kernels;      /* the instruction set */
    char gpu[128];            /* the name of the GPU; "": on cores */
    int32_t gpus;             /* of the workers */
    int32_t ranks;            /* that shared the blocks; then all sums are of all of them, and the
                                 results of ranks other than 0 mean nothing */
    bool is_lost;             /* of several ranks: it failed after all had begun */
    xy_stencil_costs_t costs; /* of runs on GPUs */
    double choosing_seconds;  /* before the run, by trials or by a file of choices */
    double core_speed;        /* of a core beside them, where a GPU is 1 */
} xy_stencil_result_t;

/*
 * Build the grid and simulate it, or compute it. Natural order is cut into one part per worker.
 *
 * In real time memory is, in core, what the policy believes the cache of a core to hold (0: its
 * second level), and with a file the bytes of memory that are used (0: a quarter of the main
 * memory). The result has the meaning of tasks/exec/exec.h. A file that is there holds the first
 * values and, at the end, the last ones; one that is not is made. XY_EINVAL, XY_EIO, XY_ENOMEM
 * (reported): the file is as it was before.
 *
 * With messages all ranks call it, and rank 0 has the result, which it compares with the plain
 * loop, and tells its observer what all ranks did. With a file only rank 0 opens it, and the others
 * have files without a name in a directory of the same name. What cannot begin on one rank fails on
 * all of them; where one fails later, result_p->is_lost, the others are left waiting.
 *
 * A simulated run that ends on convergence runs the plain loop to know when.
 */
xy_status_t xy_stencil_run(const xy_stencil_run_t *run, xy_stencil_result_t *result_p);

/* "red-black", "natural", "jacobi". */
const char *xy_stencil_graph_name(xy_stencil_graph_t graph);
bool xy_stencil_graph_parse(const char *name, xy_stencil_graph_t *graph_p);
/* "single", "double". */
const char *xy_stencil_precision_name(const xy_stencil_t *s);
bool xy_stencil_precision_parse(const char *name, xy_stencil_t *s);
/* "366", "20x20", "10x10x10": sets dims, blocks and points. false: not that. */
bool xy_stencil_blocks_parse(const char *text, xy_stencil_t *s);
/* The cells of a block in the same way; false also when it has other dimensions than the grid. */
bool xy_stencil_cells_parse(const char *text, xy_stencil_t *s);

void xy_stencil_print_text(const xy_stencil_run_t *run, const xy_stencil_result_t *r, FILE *file);
void xy_stencil_print_json(const xy_stencil_run_t *run, const xy_stencil_result_t *r, FILE *file);

/* ---- Pictures ---- */

/* The page, or the files PREFIX-NAME.svg, of the pictures of this run: the domain against time and
 * against iterations, in 2D and 3D slices with a slider over time, the memories and the links.
 * XY_ENOMEM (reported). */
xy_status_t xy_stencil_picture_page(const xy_picture_t *picture, const xy_stencil_run_t *run,
                                    const xy_stencil_result_t *result, FILE *file);
xy_status_t xy_stencil_picture_files(const xy_picture_t *picture, const xy_stencil_run_t *run,
                                     const xy_stencil_result_t *result, const char *prefix);

/* ---- A study: policies x sizes x machines ---- */

typedef struct {
    xy_stencil_run_t *runs; /* count of them */
    xy_stencil_result_t *results;
    xy_status_t *status;
    size_t count;
    int over;               /* set by xy_stencil_study_over */
    struct xy_arena *words; /* memory of the runs */
} xy_stencil_study_t;

/* Read the table of a study (docs/stencil.md): lines "key value value ...", all combinations. The
 * defaults of what the file does not name come from `base`. Caller cleans up. */
xy_status_t xy_stencil_study_read(const char *path, const xy_stencil_run_t *base,
                                  xy_stencil_study_t *study_p);
void xy_stencil_study_cleanup(xy_stencil_study_t *study);
/* Run all on `threads` threads (0: one per core) with a progress bar; real runs one after the
 * other, as they would measure each other. A combination that cannot run keeps its status and is
 * reported; the others continue. */
xy_status_t xy_stencil_study_run(xy_stencil_study_t *study, int threads);
void xy_stencil_study_csv(const xy_stencil_study_t *study, FILE *file);
void xy_stencil_study_json(const xy_stencil_study_t *study, FILE *file);
/* Draw over this parameter (a name of the table), not over the first that has several values.
 * XY_EUSAGE: there is none of this name (reported). */
xy_status_t xy_stencil_study_over(xy_stencil_study_t *study, const char *name);
/* One self-contained page with the curves of makespan and volume. */
void xy_stencil_study_page(const xy_stencil_study_t *study, FILE *file);

#endif
