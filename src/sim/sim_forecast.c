/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/sim_forecast.h"

#include <math.h>

#define GAIN 0.02

static const xy_order_t *usual_order(void)
{
    return xy_table_find(XY_TABLE(xy_order_all), "semaphore");
}

int xy_sim_forecast_best(const xy_sim_forecast_t *f, double compute, int split, int *levels)
{
    double least = INFINITY;
    int best = 0;

    for (int i = 0; i < f->ways; i++) {
        const xy_sim_split_t *t = &f->times[i];
        int s = split < 0 ? xy_sim_split_best(t, compute) : split < t->height ? split : t->height;
        double time = xy_sim_split_overlapped(t, s, compute);
        bool is_usual = f->order != NULL || f->orders[i] == usual_order();

        if (time < least * (1 - (is_usual ? 1e-9 : GAIN))) {
            least = time;
            best = i;
            if (levels != NULL)
                *levels = s;
        }
    }
    return best;
}

/* The computation of the ranks beside the collective: as long as they need for it without any help,
 * the work of the communication cores included. */
static xy_status_t expect(xy_sim_node_t node, const xy_graph_t *graph, double *compute_p)
{
    int comm = node.comm_cores > 0 ? node.comm_cores : 0;
    xy_sim_result_t result;
    xy_sim_t *sim;
    xy_status_t st;

    node.progress = XY_SIM_NONE;
    st = xy_sim_create(&node, &sim);
    if (st != XY_OK)
        return st;
    st = xy_sim_run(sim, graph, 0, NULL, NULL, &result);
    xy_sim_destroy(sim);
    *compute_p = result.end * (node.ranks + comm) / node.ranks;
    return st;
}

/* Simulate one placement and order of progress threads and add the result to the forecast. */
static xy_status_t add_way(xy_sim_forecast_t *f, xy_sim_node_t *node, const xy_graph_t *graph,
                           const xy_threads_t *place, const xy_order_t *order, double compute)
{
    xy_sim_t *sim;
    xy_status_t st;

    if (f->ways == XY_SIM_FORECAST_WAYS)
        return XY_OK;
    node->threads = place->name;
    node->order = order->name;
    st = xy_sim_create(node, &sim);
    if (st != XY_OK)
        return st;
    st = xy_sim_split_times(sim, graph, compute, &f->times[f->ways]);
    xy_sim_destroy(sim);
    f->places[f->ways] = place;
    f->orders[f->ways] = order;
    f->ways += st == XY_OK;
    return st;
}

/* The best of the ways so far with the orders that are left, if the order is open. */
static xy_status_t add_orders(xy_sim_forecast_t *f, xy_sim_node_t *node, const xy_graph_t *graph,
                              double compute, int split)
{
    const xy_threads_t *place = f->places[xy_sim_forecast_best(f, compute, split, NULL)];
    xy_status_t st = XY_OK;

    for (int i = 0; f->order == NULL && xy_order_all[i] != NULL && st == XY_OK; i++)
        if (!xy_order_all[i]->has_priorities && xy_order_all[i] != usual_order())
            st = add_way(f, node, graph, place, xy_order_all[i], compute);
    return st;
}

xy_status_t xy_sim_forecast(xy_sim_forecast_t *f, const xy_sim_node_t *asked,
                            const xy_graph_t *graph, int split)
{
    const xy_order_t *order = f->order != NULL ? f->order : usual_order();
    xy_sim_node_t node = *asked;
    double compute = 0;
    xy_status_t st = expect(node, graph, &compute);

    f->ways = 0;
    if (st == XY_OK && !f->is_threads)
        return add_way(f, &node, graph, xy_threads_all[0], order, compute);
    if (st == XY_OK && f->place != NULL)
        st = add_way(f, &node, graph, f->place, order, compute);
    for (int i = 0; f->place == NULL && xy_threads_all[i] != NULL && st == XY_OK; i++)
        if (xy_threads_all[i]->is_usual)
            st = add_way(f, &node, graph, xy_threads_all[i], order, compute);
    return st == XY_OK ? add_orders(f, &node, graph, compute, split) : st;
}
