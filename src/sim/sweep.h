/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sweeps: collectives x sizes x numbers of ranks x progress modes on one simulated machine, and
 * their output: a table, CSV, JSON, curves, a heat map, a page.
 *
 *   xy_sim_sweep_t sweep = {.machine = m, .collectives = list, ..., .ways = ways, .way_count = 3};
 *   xy_sim_costs_default(&sweep.costs);
 *   xy_vec_t points = XY_VEC_INIT(xy_sim_point_t);
 *   st = xy_sim_sweep(&sweep, &points);
 *   xy_sim_write_text(&sweep, &points, stdout);
 *   xy_vec_cleanup(&points);
 *
 * A progress mode is a node without machine, ranks and costs, with a name. A mode whose split is
 * XY_SIM_SPLIT_BEST is simulated with every S, and the best one counts: the limit of split-tree.
 */
#ifndef XY_SIM_SWEEP_H
#define XY_SIM_SWEEP_H

#include "coll/coll.h"
#include "sim/node.h"

enum { XY_SIM_SPLIT_BEST = -2 };
/* A mode whose threads live here is simulated in each place that every machine has, and the best
 * one counts. */
#define XY_SIM_THREADS_AUTO "auto"

typedef struct {
    const char *name;
    xy_sim_node_t node;
} xy_sim_way_t;

/* How long ranks compute: as long as the collective alone takes them; or a fixed global work,
 * shared by the ranks, so that runs with different numbers of ranks compare. */
typedef enum { XY_SIM_CPU_EXPLOIT, XY_SIM_EQUIVALENT_COMPUTE } xy_sim_mode_t;

typedef struct {
    const xy_machine_t *machine; /* of what is simulated; writers do not look at it */
    const char *title;           /* for writers: the machine's name */
    bool is_measured;            /* for writers: the points were not simulated and have no bound */
    const xy_collective_t *collectives;
    int collective_count;
    const uint64_t *sizes; /* bytes of the vector, of a rank's block, of a pair's block */
    int size_count;
    const int *ranks;
    int rank_count;
    const xy_sim_way_t *ways;
    int way_count;
    xy_sim_mode_t mode;
    double compute; /* equivalent-compute: seconds with a rank on every core; <= 0: as long as
                       the collective takes there without progress */
    const char *algorithm; /* NULL: what each way runs, see xy_sim_graph() */
    xy_sim_costs_t costs;
    xy_progress_t *progress; /* stepped once per point; or NULL */
} xy_sim_sweep_t;

typedef struct {
    xy_collective_t collective;
    uint64_t size;
    int ranks, way;
    int comm_cores;
    const char *threads;  /* where they lived; NULL: there are none, or it was measured */
    xy_sim_times_t times; /* not numbers where there is no result (measured) */
    double bound;
    double overlap; /* percent, measured only: simulated, it follows from the times */
} xy_sim_point_t;

/* How many points there will be. */
long xy_sim_sweep_points(const xy_sim_sweep_t *sweep);
/* Appends the points: by collective, size, ranks, way. The caller cleans `points` up, also after a
 * failure. */
xy_status_t xy_sim_sweep(const xy_sim_sweep_t *sweep, xy_vec_t *points);

/* Records the run of a point beside its computation. */
xy_status_t xy_sim_sweep_trace(const xy_sim_sweep_t *sweep, const xy_sim_point_t *point,
                               xy_trace_t *trace);

/* The graph of a collective with equal blocks, as a node of this kind runs it: the named algorithm,
 * or, where tasks run without a split, as the runtime does: `direct`, on several nodes on two
 * levels; or a tree where there is one, or the cheapest. The caller owns it. */
xy_status_t xy_sim_graph(const xy_sim_node_t *node, xy_collective_t collective,
                         const char *algorithm, int ranks, uint64_t size, xy_graph_t **graph_p);

/* Write errors stay in the FILE's error flag. */
void xy_sim_write_text(const xy_sim_sweep_t *sweep, const xy_vec_t *points, FILE *file);
void xy_sim_write_csv(const xy_sim_sweep_t *sweep, const xy_vec_t *points, FILE *file);
void xy_sim_write_json(const xy_sim_sweep_t *sweep, const xy_vec_t *points, FILE *file);
/* Curves: time against ranks, one panel for each collective and size; with one number of ranks,
 * time against size. */
void xy_sim_write_svg(const xy_sim_sweep_t *sweep, const xy_vec_t *points, FILE *file);
/* One self-contained page: curves, heat maps of the overlap over ranks and size, the table. */
void xy_sim_write_html(const xy_sim_sweep_t *sweep, const xy_vec_t *points, FILE *file);

/* How much of the time of a point is its bound, in percent; all of it where it takes no time. */
double xy_sim_bound_percent(const xy_sim_point_t *point);

#endif
