/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Placing: a leaf for each process, by one of several strategies. Some use the communication
 * matrix; others follow an order of the leaves.
 *
 *   xy_place_options_t options = {.strategy = "auto"};
 *   xy_place_t *p;
 *   st = xy_place_compute(matrix, target, &options, &p);
 *   printf("rank 3 runs on leaf %u; hop-bytes %g\n", p->leaf_of[3], p->cost.hop_bytes);
 *   xy_place_destroy(p);
 *
 * With more leaves than processes a leaf runs at most one; with more processes than leaves every
 * leaf runs p/n of them, rounded down or up, unless the options say how many each may run. The same
 * input and seed give the same placement.
 */
#ifndef XY_PLACE_STRATEGY_H
#define XY_PLACE_STRATEGY_H

#include "place/matrix.h"
#include "place/matrix_graph.h"
#include "place/target.h"

/* The costs of a placement. `value` of each entry of the matrix, both directions: hop_bytes: value
 * times links crossed; weighted: value times the weights of the links crossed; max_load: what
 * crosses the busiest link, both directions together. */
typedef struct {
    double hop_bytes, weighted, max_load;
} xy_place_cost_t;

typedef enum {
    XY_OBJECTIVE_WEIGHTED, /* the aim of strategies that minimise distances */
    XY_OBJECTIVE_HOPS,
} xy_objective_t;

typedef struct {
    const char *strategy; /* NULL: auto */
    xy_metric_t metric;
    xy_objective_t objective;
    uint64_t seed;
    uint32_t restarts;  /* of mpipp; 0: 5 */
    const double *load; /* of each process, or NULL: leaves with several are balanced by it */
    /* Processes that each leaf may run, or NULL: one, or p/n. With a load NULL. */
    const uint32_t *capacity;
} xy_place_options_t;

typedef struct {
    const char *strategy; /* that was asked for */
    const char
        *winner; /* the strategy with the best result: of several that auto tried, or the same */
    uint32_t n;
    uint32_t *leaf_of; /* the target's leaf of each process */
    double seconds;    /* of processor time, spent in the strategy */
    xy_place_cost_t cost;
} xy_place_t;

/* The load of each of `n` processes: one number per line, '#' begins a comment. On success the
 * caller frees *load_p. Errors are reported with their line. */
xy_status_t xy_loads_read(const char *path, uint32_t n, double **load_p);
/* The same from a text that is cut into pieces, into load[n]. */
xy_status_t xy_loads_parse(char *text, const char *path, uint32_t n, double *load);

/* The input of a strategy. */
typedef struct {
    uint32_t n;                 /* processes */
    const place_graph_t *graph; /* of who talks to whom; NULL: not known */
    const xy_target_t *target;
    const uint32_t *capacity; /* processes per leaf, at most; with several, exactly */
    bool is_capacity_given; /* by the caller; otherwise they are the shares of p/n, which a strategy
                               that does not look at the graph may round in another way */
    const double *height;   /* of the target's nodes: hops or weight */
    xy_objective_t objective;
    uint64_t seed;
    uint32_t restarts;
    const double *load;    /* of each process, or NULL */
    bool is_trial;         /* one of several: libraries that cannot solve it say nothing */
    const char **winner_p; /* for a strategy that asks others: whose answer it gives */
    const struct xy_strategy *strategy; /* that is asked; NULL: one of several that auto tries */
} xy_problem_t;

typedef struct xy_strategy {
    const char *name;
    const char *describe;
    bool needs_matrix; /* it looks at who talks to whom; the others take any graph, and none */
    uint32_t limit;    /* more processes take too long; 0: none */
    /* The library it needs is not in this build or cannot be loaded; NULL: it needs none. */
    bool (*is_missing)(void);
    /* Fill leaf_of. EUNSUPPORTED: is_missing; with a message. ENOMEM is silent. */
    xy_status_t (*place)(const xy_problem_t *q, uint32_t *leaf_of);
    const void *plugin; /* the table of the user behind it (place_plugin.c); or NULL */
} xy_strategy_t;

/* All of them, the default first; NULL-terminated. The one table of 'xylem place', of 'mpiexec
 * --place' and of reordering. */
extern const xy_strategy_t *const xy_strategies[];
/* Can it be used here? */
bool xy_strategy_is_available(const xy_strategy_t *strategy);
/* Is it a plug-in? Those are named by their path, which ends in ".so". */
bool xy_strategy_is_plugin(const char *name);
/* By name; NULL: the default. EUSAGE: unknown, said with the nearest. Errors of plug-ins are
 * reported. */
xy_status_t xy_strategy_find(const char *name, const xy_strategy_t **strategy_p);

/* Place the processes of `m` on `t`. On success the caller owns *place_p; on failure it is
 * untouched. ELIMIT: too many processes for the strategy. EINVAL: more processes than the
 * capacities hold. Any thread; does not park. */
xy_status_t xy_place_compute(const xy_matrix_t *m, const xy_target_t *t,
                             const xy_place_options_t *options, xy_place_t **place_p);
void xy_place_destroy(xy_place_t *p); /* NULL is fine */

/* The cost of any placement. ENOMEM is reported. */
xy_status_t xy_place_evaluate(const xy_matrix_t *m, xy_metric_t metric, const xy_target_t *t,
                              const uint32_t *leaf_of, xy_place_cost_t *cost_p);

#endif
