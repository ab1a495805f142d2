/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The store: all measurements and models of a platform, in one XML file.
 *
 *   xy_costs_t *costs;
 *   st = xy_costs_load(NULL, &costs);                     (the user's own: what was calibrated)
 *   const xy_kernel_cost_t *k = xy_costs_kernel(costs, "dgemm", NULL, 1);
 *   seconds = xy_fit_value(&k->fit, 1500).seconds;
 *   xy_costs_destroy(costs);
 *
 * The file has the structures of Achour's thesis (SeqKernel, Cluster, Interval, Params; Cluster1,
 * Cluster2, Latency, Bandwidth) with units, samples and errors beside them, so that people can read
 * it and models can be fitted again. A written store reads back as the same, bit for bit. Reading
 * models needs no LAPACKE.
 *
 * A store may be read from any thread while no thread changes it. Nothing parks.
 */
#ifndef XY_COST_STORE_H
#define XY_COST_STORE_H

#include <stdio.h>

#include "cost/fit.h"
#include "cost/message_model.h"
#include "cost/shape.h"
#include "machine/machine.h"

enum { XY_COSTS_VERSION = 2 };

/* The cluster of a machine alone. */
#define XY_COSTS_LOCAL "local"
/* Between ranks that share one PU. */
#define XY_COSTS_PU "pu"
/* Constants of teams of OpenMP, with the number of threads as `from`: begin and end of a team, a
 * barrier in it, and a step to the next chunk of a dynamic loop. */
#define XY_COSTS_TEAM    "team"
#define XY_COSTS_MEETING "team-barrier"
#define XY_COSTS_CHUNK   "team-chunk"

/* The clock of the times: the wall clock (also the meaning of ""); or the wall clock as it would be
 * at the pace of the core given by the constants "pace-latency" and "pace-throughput". */
#define XY_CLOCK_WALL  "wall"
#define XY_CLOCK_PACED "paced"

/* All strings belong to the store; none is NULL. */
typedef struct {
    char *name;    /* "dgemm", "copy" */
    char *cluster; /* where it was measured */
    char *unit;    /* of the size: "n" or "B" */
    char *library; /* the library that was measured; "" */
    char *criterion;
    char *clock;   /* XY_CLOCK_... */
    long threads;  /* inside the kernel, or copies of it at once */
    long distance; /* between the NUMA nodes of core and memory, as the machine counts it; 0 is
                      local */
    xy_sample_t *samples;
    size_t sample_count;
    xy_fit_t fit; /* count 0: measured, but too noisy for a model */
    /* The mean relative error at `held_count` sizes that the model was not shown; 0: none was. */
    double held_out;
    long held_count;
    xy_shape_t shape; /* of a kernel with several sizes; `fit` is of equal ones */
} xy_kernel_cost_t;

typedef struct {
    char *cluster1, *cluster2;
    char *library; /* the carrier of the messages: "Open MPI 4.1.4" */
    xy_message_model_t model;
} xy_message_cost_t;

/* One number: a hand-over of a cache line, a switch of fibers. */
typedef struct {
    char *name;
    long from, to; /* physical numbers of PUs; -1: of no particular one */
    double seconds, spread;
    long repetitions;
} xy_constant_cost_t;

typedef struct {
    char *name, *cluster;
} xy_host_cost_t;

/* Kernels that were not measured on a cluster run `factor` times as fast as on another. */
typedef struct {
    char *cluster, *like;
    double factor;
} xy_speed_cost_t;

/* A figure of the simulator that a file sets: sim/job.h lists their names. */
typedef struct {
    char *name;
    double value;
} xy_figure_cost_t;

typedef struct {
    char *machine;      /* name of the host, or of the file of hosts */
    char *hardware;     /* a description of it, so that a file from elsewhere is noticed */
    char *date;         /* UTC, ISO 8601 */
    xy_vec_t kernels;   /* of xy_kernel_cost_t */
    xy_vec_t messages;  /* of xy_message_cost_t */
    xy_vec_t constants; /* of xy_constant_cost_t */
    xy_vec_t hosts;     /* of xy_host_cost_t */
    xy_vec_t speeds;    /* of xy_speed_cost_t */
    xy_vec_t figures;   /* of xy_figure_cost_t */
    /* Several hosts as a simulator sees them: sites, clusters, nodes and links between them; NULL:
     * a machine alone. Its nodes and clusters are called as above. */
    xy_machine_t *platform;
} xy_costs_t;

/* An empty one for the machine with these words. On success the caller owns *costs_p. */
xy_status_t xy_costs_create(const char *machine, const char *hardware, xy_costs_t **costs_p);
void xy_costs_destroy(xy_costs_t *costs); /* NULL is fine */

/* The words for the machine we run on, and for its hardware. The caller frees both. */
xy_status_t xy_costs_describe(const xy_machine_t *live, char **machine_p, char **hardware_p);

/* Where the user's own store is: $XYLEM_COSTS, else below $XDG_CACHE_HOME or ~/.cache, by host. The
 * caller frees *path_p. ENOENT: no home. */
xy_status_t xy_costs_path(char **path_p);
/* The same in silence; NULL: neither HOME nor XDG_CACHE_HOME is set, or no memory. */
char *xy_costs_where(void);

/* Read `path` (NULL: the user's own; ENOENT says how to make it). EPARSE with file and line; a file
 * of a later version is refused with what to do. */
xy_status_t xy_costs_load(const char *path, xy_costs_t **costs_p);
xy_status_t xy_costs_parse(const char *data, size_t size, const char *path, xy_costs_t **costs_p);

/* The costs in the file that describes the machine (a source of xy_machine_load); NULL: it is not a
 * file of costs. */
xy_status_t xy_costs_load_beside(const char *machine, xy_costs_t **costs_p);

/* Write it, with the directories above (NULL: the user's own). Sets the date. */
xy_status_t xy_costs_save(xy_costs_t *costs, const char *path);
xy_status_t xy_costs_print_xml(const xy_costs_t *costs, FILE *file);
/* The models for programs: no samples. Write errors stay in the FILE's error flag. */
void xy_costs_print_json(const xy_costs_t *costs, FILE *file);

/* Warn when the costs are of another machine than `live`. true: they are of this one. */
bool xy_costs_check(const xy_costs_t *costs, const xy_machine_t *live, const char *path);

/* Put one in, in place of what had the same name, cluster, threads and distance (clusters and
 * library; name and PUs). A kernel without a shape keeps that of the one before: it compares
 * shapes with equal sizes, whatever these take. Takes over everything the argument points to, which
 * it zeroes; on failure it is cleaned up too. NULL strings become "". */
xy_status_t xy_costs_set_kernel(xy_costs_t *costs, xy_kernel_cost_t *kernel);
xy_status_t xy_costs_set_message(xy_costs_t *costs, xy_message_cost_t *message);
xy_status_t xy_costs_set_constant(xy_costs_t *costs, const char *name, long from, long to,
                                  double seconds, double spread, long repetitions);
xy_status_t xy_costs_set_host(xy_costs_t *costs, const char *name, const char *cluster);
xy_status_t xy_costs_set_speed(xy_costs_t *costs, const char *cluster, const char *like,
                               double factor);
xy_status_t xy_costs_set_figure(xy_costs_t *costs, const char *name, double value);
/* The ends of its messages, by clusters and library. */
xy_message_pair_t xy_costs_pair(const xy_message_cost_t *message);
void xy_kernel_cost_cleanup(xy_kernel_cost_t *kernel);
void xy_message_cost_cleanup(xy_message_cost_t *message);

/* NULL: there is none. `cluster` NULL: the first that has it; `threads` 0: any. Local memory. */
const xy_kernel_cost_t *xy_costs_kernel(const xy_costs_t *costs, const char *name,
                                        const char *cluster, long threads);
/* In either order of the clusters; the first library that was measured. */
const xy_message_cost_t *xy_costs_message(const xy_costs_t *costs, const char *cluster1,
                                          const char *cluster2);
/* The cost by the library whose name begins so ("open mpi", in any case); NULL: by any. */
const xy_message_cost_t *xy_costs_message_by(const xy_costs_t *costs, const char *cluster1,
                                             const char *cluster2, const char *library);
const xy_constant_cost_t *xy_costs_constant(const xy_costs_t *costs, const char *name);
/* A constant of teams for so many threads: on the line between measured ones, or through the last
 * two; 0: there is none. */
double xy_costs_team(const xy_costs_t *costs, const char *name, double threads);

/* The time of a call of a kernel by its model, which has intervals. EINVAL, silent: it has another
 * number of sizes, or one is negative. */
xy_status_t xy_kernel_cost_value(const xy_kernel_cost_t *kernel, const double *sizes, size_t count,
                                 xy_estimate_t *e_p);

/* The same on a cluster (NULL: on the first that has it), with one thread. `name` may be that of a
 * C function: "cblas_dgemm". One size is that of the model; several are those of the kernel, in the
 * order of shape.h: m, n, k. A cluster without the kernel takes the time of the one it is like,
 * over the factor (xy_costs_set_speed). e_p->error is the mean error at sizes that the model was
 * not shown, where that is known. Silent. ENOENT: nothing is known about the kernel there. */
xy_status_t xy_cost_kernel_value(const xy_costs_t *costs, const char *name, const char *cluster,
                                 const double *sizes, size_t count, xy_estimate_t *e_p);

/* The relative speed of code on a cluster of `there` (NULL, or one without kernels: the first that
 * has them), as seconds there for each second here: the geometric mean over the kernels that both
 * know, at sizes that both have measured. Returns the number of kernels; 0: the factor is 1. */
size_t xy_costs_relative(const xy_costs_t *here, const xy_costs_t *there, const char *cluster,
                         double *factor_p);

#endif
