/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The choice of settings that were left open: where the progress threads of a collective run, in
 * which order those of a core do, and how many levels of a tree the ranks do themselves.
 *
 *   xy_sim_forecast_t f = {.place = NULL, .order = NULL, .is_threads = true};
 *   st = xy_sim_forecast(&f, &node, graph, -1);
 *   xy_sim_choose(&f, &call);                              (call.place, call.order, call.split)
 *
 * The collective is simulated on the node in each usual place and with each S, then in the best
 * place with the other orders. The curves that this gives tell the best choice for any computation.
 * Another order than `semaphore` must gain 2 %: below, the simulation knows too little about the
 * costs of a switch.
 */
#ifndef XY_SIM_FORECAST_H
#define XY_SIM_FORECAST_H

#include "sched/sched.h"
#include "sim/node.h"

enum { XY_SIM_FORECAST_WAYS = 8 }; /* the usual places, and the other orders of one of them */

typedef struct {
    const xy_threads_t *place; /* asked for; NULL: any of the usual ones */
    const xy_order_t *order;   /* asked for; NULL: any without priorities */
    bool is_threads;
    /* The forecast; no ways: none. */
    int ways;
    const xy_threads_t *places[XY_SIM_FORECAST_WAYS];
    const xy_order_t *orders[XY_SIM_FORECAST_WAYS];
    xy_sim_split_t times[XY_SIM_FORECAST_WAYS];
} xy_sim_forecast_t;

/* Fill the forecast. `split`: S; negative: the best. The expected computation is as long as the
 * ranks need for the collective without help, the work of the communication cores included. The
 * errors of xy_sim_run. */
xy_status_t xy_sim_forecast(xy_sim_forecast_t *f, const xy_sim_node_t *node,
                            const xy_graph_t *graph, int split);

/* A call, and the settings that are left open. */
typedef struct {
    xy_collective_t collective;
    int ranks, cores, comm_cores; /* of the node: `cores` that the ranks share, and others */
    bool is_threads;              /* progress threads work for it */
    double transfer;              /* seconds of one of its messages */
    double computed;              /* seconds beside it, measured; 0: the expected computation */
    /* To be chosen: NULL, NULL, negative. */
    const xy_threads_t *place;
    const xy_order_t *order;
    int split;
} xy_sim_case_t;

/* Choose what is open, by a forecast. With NULL or no ways there, by rules: S comes from the
 * published model, chains get `odd-even`, others `numa`, or `bind` if too few cores communicate,
 * and the order is `semaphore`. */
void xy_sim_choose(const xy_sim_forecast_t *f, xy_sim_case_t *of);

#endif
