/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of real runs and those of the graph.
 *
 *   grid.c      blocks into tasks
 *   checks.c    tests of convergence as tasks
 *   stencil_shape.c     cells of a block, first values
 *   own.c       the user's own stencil (own.h)
 *   plain.c     the plain loop (plain_loop.inc: of a piece of a block)
 *   crew.c      threads that share a loop
 *   real.c      a real run (real.h)
 */
#ifndef XY_STENCIL_INTERNAL_H
#define XY_STENCIL_INTERNAL_H

#include "stencil/kernels.h"
#include "stencil/stencil.h"

/* ---- grid.c ---- */

/* Neighbours by number of points; the block itself comes first. */
const int8_t (*stencil_offsets(int points))[3];
/* The number of a block in its array. */
int64_t stencil_cell(const xy_stencil_t *s, const int64_t x[3]);
int64_t stencil_cells(const xy_stencil_t *s);
/* Is there such a block? */
bool stencil_has(const xy_stencil_t *s, const int64_t x[3]);
/* Arrays of blocks that are updated: 1, or 2 for Jacobi. Those of checks come after them. */
int stencil_arrays(const xy_stencil_t *s);

typedef struct {
    const xy_stencil_t *s;
    xy_graph_t *graph;
    int64_t cells;
    int32_t base[2]; /* first handle of each array */
    int64_t *cuts;   /* [slices][parts + 1] in the first dimension */
    int parts;

    /* Checks, by parity: */
    int32_t snapshot[2]; /* first handle of the blocks as they were at the check */
    int32_t residual[2]; /* likewise of what each block changed by */
    int32_t partial[2];  /* likewise of the inner nodes of the tree */
    int32_t decision;    /* first handle, one per check */
    int32_t *nodes;      /* of the tree: handles of one level while the next is made */
} stencil_grid_t;

/* ---- checks.c ---- */

enum { STENCIL_FAN = 8, STENCIL_CHECK_ACCESSES = 3 };
/* Kinds of tasks: `level` of the operation. */
enum { STENCIL_UPDATE, STENCIL_REDUCE, STENCIL_DECIDE };

/* Is the state after iteration t (from 0) checked, and into which set does it go? */
bool stencil_is_checked(const xy_stencil_t *s, int t);
int stencil_parity(const xy_stencil_t *s, int t);
/* Does a task of iteration t read a decision? */
bool stencil_is_deciding(const xy_stencil_t *s, int t);
/* Blocks at the ends of the grid are not. */
bool stencil_is_written(const xy_stencil_t *s, int64_t cell);

xy_status_t stencil_checks_data(stencil_grid_t *g); /* XY_ENOMEM (reported) */
/* The additional accesses of a task of iteration t for checks, STENCIL_CHECK_ACCESSES at most: the
 * snapshot and the residual that it writes come last. Returns how many. */
int stencil_checks_access(const stencil_grid_t *g, int64_t cell, int t, xy_access_t *accesses);
/* After all blocks of iteration t. */
void stencil_checks_add(stencil_grid_t *g, int t);

/* How many tasks may share a launch on a GPU; 0: none. */
int stencil_batch(const xy_stencil_t *s);
/* Bytes of blocks that tasks change: on GPUs a task writes to another buffer. 0: there are none. */
uint64_t stencil_exchange(const xy_stencil_t *s);
/* A grid of fewer rows, or with fewer iterations, to choose a policy for a run on GPUs by; *graph_p
 * is NULL if the run itself is short enough. */
xy_status_t stencil_build_trial(const xy_stencil_t *s, const xy_task_platform_t *p,
                                xy_graph_t **graph_p);
/* Seconds of a run on GPUs with a good schedule, about. */
double stencil_expected_seconds(const xy_stencil_t *s, const xy_task_platform_t *p,
                                const xy_task_ahead_t *ahead);

/* ---- stencil_shape.c ---- */

/* The cells of a block, from s->cells or else from its bytes. */
xy_status_t stencil_shape(xy_stencil_t *s, stencil_shape_t *shape_p);
/* The first values of block `cell` of an array: numbers between 0.5 and 1.5 that depend on the
 * place alone, or those of the user's own stencil. */
void stencil_fill(const xy_stencil_t *s, const stencil_shape_t *shape, int array, int64_t cell,
                  void *block);
/* Fill in the first values of `count` cells from a place of the whole grid on, in the order of its
 * cells. */
void stencil_fill_places(const xy_stencil_t *s, int array, int64_t place, int64_t count, void *at);
/* How far away, in cells, a cell reads; does it read the value that it replaces? */
int stencil_radius(const xy_stencil_t *s);
bool stencil_is_reading_back(const xy_stencil_t *s);

/* A part of a row of a block, which several threads may deal with. */
enum { STENCIL_PIECE = 512 };

typedef struct {
    int64_t layer, row, column, count; /* in the block; cells */
    int64_t at;                        /* number of the first one in the block */
} stencil_piece_t;

/* How many pieces a block has, and one of them. */
int64_t stencil_pieces(const stencil_shape_t *shape);
stencil_piece_t stencil_piece(const stencil_shape_t *shape, int64_t number);
/* The number of its first cell in the whole grid. */
int64_t stencil_piece_place(const int64_t extents[3], const int64_t origin[3],
                            const stencil_piece_t *piece);
/* Bytes of a cell. */
size_t stencil_cell_bytes(const xy_stencil_t *s);
/* A number of a check, which is of the type of the cells at the beginning of its datum. */
double stencil_number(const xy_stencil_t *s, const void *at);
void stencil_set_number(const xy_stencil_t *s, void *at, double number);
/* Where a block lies in the whole grid of cells, and the extents of that grid. */
void stencil_origin(const xy_stencil_t *s, const stencil_shape_t *shape, int64_t cell,
                    int64_t origin[3]);
void stencil_extents(const xy_stencil_t *s, const stencil_shape_t *shape, int64_t extents[3]);

/* ---- crew.c: threads that share a loop ---- */

typedef struct stencil_crew stencil_crew_t;
/* Turns `from` to `to` - 1 of the loop; the largest result is that of the loop, 0 at least. */
typedef double stencil_crew_fn(void *arg, int64_t from, int64_t to);
/* Create a thread for each core but this one's. NULL: there is no memory, and the caller does all.
 */
stencil_crew_t *stencil_crew_create(void);
void stencil_crew_destroy(stencil_crew_t *crew); /* NULL is fine */
/* All turns of a loop, in no order; `crew` NULL: the caller does them. */
double stencil_crew_run(stencil_crew_t *crew, stencil_crew_fn *turn, void *arg, int64_t count);

/* ---- plain.c ---- */

/* The same stencil by a plain loop over one grid of cells (two for Jacobi). */
typedef struct {
    const xy_stencil_t *s;
    stencil_shape_t shape;
    int64_t extents[3], count; /* of cells */
    void *grid[2];             /* NULL: not used */
    void *old;                 /* in place: one block */
    int result;                /* the grid that holds the last values */
    int iterations;            /* that were run */
    bool is_converged;
    double residual;      /* of the last check */
    int fd;               /* of the file that the grids are mapped from; -1: memory */
    stencil_crew_t *crew; /* NULL: it is not worth it */
} stencil_plain_t;

/* A file in a directory that has no name and so many bytes; who needs it, and what else could be
 * done, are for the message. */
xy_status_t stencil_open_nameless(const char *directory, size_t bytes, const char *who,
                                  const char *hint, int *fd_p);
/* `directory` NULL: in memory, otherwise in a file there that has no name. Filled by
 * stencil_fill. */
xy_status_t stencil_plain_create(const xy_stencil_t *s, const char *directory,
                                 stencil_plain_t **plain_p);
void stencil_plain_destroy(stencil_plain_t *plain); /* NULL is fine */
/* Run the tasks of the graph in the order of submission, until they end or until the residual of a
 * check is `until` at most (negative: never). */
void stencil_plain_run(stencil_plain_t *plain, const xy_graph_t *graph, double until);
/* Put a block of the first values there instead of what stencil_fill says. */
void stencil_plain_set(stencil_plain_t *plain, int64_t cell, const void *block);
/* Are these the same bits as the block has at the end? */
bool stencil_plain_equals(const stencil_plain_t *plain, int64_t cell, const void *block);
/* Update a piece of a block, from one grid to another or to the same: then plain->old is the block
 * as it was. Returns the largest change of a cell if it is asked for. */
typedef double stencil_plain_update_fn(const stencil_plain_t *plain, const int64_t origin[3],
                                       const stencil_piece_t *piece, const void *from, void *to,
                                       int iteration, bool is_measured);
stencil_plain_update_fn stencil_plain_update_double, stencil_plain_update_single;

/* For runs in virtual time: set s->iterations to those that it takes, and tell in the result. */
xy_status_t stencil_plain_foresee(xy_stencil_t *s, double until, xy_stencil_result_t *result);

/* ---- block_load.c, study.c: from text, which is changed; `path` is for messages ---- */

xy_status_t stencil_load_parse(char *text, const char *path, xy_stencil_t *s);
xy_status_t stencil_study_parse(char *text, const char *path, const xy_stencil_run_t *base,
                                xy_stencil_study_t *study_p);

/* ---- stencil_run.c, study_write.c: words and ratios ---- */

void stencil_format_blocks(const xy_stencil_t *s, char buffer[96]); /* "20x20" */
/* makespan / compute bound; 0 when the tasks take no time. */
double stencil_ratio(const xy_stencil_result_t *r);
const char *stencil_load_name(xy_stencil_load_t load);
/* The policy that was asked for, or the default. */
const char *stencil_policy_of(const xy_stencil_run_t *run);
/* That, and what it chose: "foresight: relay, 2 more rounds, on 3 of 4 workers". */
void stencil_format_policy(const xy_stencil_run_t *run, const xy_stencil_result_t *r,
                           char buffer[160]);

/* ---- study_axis.c: what the pictures of a study are drawn over ---- */

typedef enum {
    STENCIL_OVER_BLOCKS,
    STENCIL_OVER_GPUS,
    STENCIL_OVER_MEMORY,
    STENCIL_OVER_ITERATIONS,
    STENCIL_OVER_BLOCK,
    STENCIL_OVER_CPUS,
    STENCIL_OVER_CELLS,
    STENCIL_OVER_MACHINE,
    STENCIL_OVER_GRAPH,
    STENCIL_OVER_LOAD,
    STENCIL_OVER_EVICTION,
    STENCIL_OVER_PRECISION,
    STENCIL_AXES
} stencil_axis_t;

/* The given parameter, or else the first that has several values. */
stencil_axis_t stencil_axis_of(const xy_stencil_study_t *study);
const char *stencil_axis_title(stencil_axis_t axis);
/* How its numbers are written; NULL: it has words. */
typedef char *(*stencil_tick_fn)(double value, char buffer[32]);
stencil_tick_fn stencil_axis_tick(stencil_axis_t axis, const xy_stencil_study_t *study);
double stencil_axis_number(stencil_axis_t axis, const xy_stencil_run_t *run,
                           const xy_stencil_result_t *r);
const char *stencil_axis_word(stencil_axis_t axis, const xy_stencil_run_t *run,
                              const xy_stencil_result_t *r, char buffer[96]);
/* Do two runs differ at most in this parameter and in their policies? */
bool stencil_axis_is_alone(stencil_axis_t axis, const xy_stencil_run_t *a,
                           const xy_stencil_run_t *b);

/* ---- real.c ---- */

xy_status_t stencil_real_run(const xy_stencil_run_t *run, xy_stencil_result_t *result_p);

#endif
