/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/sim_forecast.h"

#include <math.h>

#define GAIN 0.02

/* The way of least T_ovrl beside `compute`, with S `split`, or the best one if that is negative;
 * *levels (NULL: not wanted) is its S. */
static int forecast_best(const xy_sim_forecast_t *f, double compute, int split, int *levels)
{
    double least = INFINITY;
    int best = 0;

    for (int i = 0; i < f->ways; i++) {
        const xy_sim_split_t *t = &f->times[i];
        int s = split < 0 ? xy_sim_split_best(t, compute) : split < t->height ? split : t->height;
        double time = xy_sim_split_overlapped(t, s, compute);
        bool is_usual = f->order != NULL || f->orders[i] == xy_order_usual();

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
    const xy_threads_t *place = f->places[forecast_best(f, compute, split, NULL)];
    xy_status_t st = XY_OK;

    for (int i = 0; f->order == NULL && xy_order_all[i] != NULL && st == XY_OK; i++)
        if (!xy_order_all[i]->has_priorities && xy_order_all[i] != xy_order_usual())
            st = add_way(f, node, graph, place, xy_order_all[i], compute);
    return st;
}

xy_status_t xy_sim_forecast(xy_sim_forecast_t *f, const xy_sim_node_t *asked,
                            const xy_graph_t *graph, int split)
{
    const xy_order_t *order = f->order != NULL ? f->order : xy_order_usual();
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

/* ---- Choosing ---- */

/* Do too few cores communicate for what the others compute? With P of them beside L cores of ranks
 * and a work W that these would share, beside a computation of W/L (L + P)/L, threads on the cores
 * of their ranks take W/L longer than the computation, the others at least W/P. */
static bool is_too_much(const xy_sim_case_t *of)
{
    long l = of->cores, p = of->comm_cores;
    xy_split_t tree = xy_coll_split(of->collective, of->ranks, of->cores, of->comm_cores);

    if (p == 0)
        return false;
    if (xy_coll_is_tree(of->collective))
        return xy_split_overlapped(&tree, xy_split_height(tree.ranks, tree.base)) <
               xy_split_overlapped(&tree, 0);
    return p * (2 * l + p) < l * l;
}

/* S by the published model. */
static int split_by_rule(const xy_sim_case_t *of)
{
    xy_split_t tree = xy_coll_split(of->collective, of->ranks, of->cores, of->comm_cores);

    if (of->computed > 0) {
        tree.has_compute = true;
        /* An allreduce goes through the tree twice, each time beside half of the computation. */
        tree.compute =
            of->computed / of->transfer / (of->collective == XY_COLL_ALLREDUCE ? 2.0 : 1.0);
    }
    return xy_split_best(&tree);
}

static const xy_threads_t *place_by_rule(const xy_sim_case_t *of)
{
    bool is_chain = of->collective == XY_COLL_SCAN || of->collective == XY_COLL_EXSCAN;

    return xy_table_find(XY_TABLE(xy_threads_all), is_chain          ? "odd-even"
                                                   : is_too_much(of) ? "bind"
                                                                     : "numa");
}

void xy_sim_choose(const xy_sim_forecast_t *f, xy_sim_case_t *of)
{
    bool is_known = f != NULL && f->ways > 0;
    int best = 0;

    if (is_known)
        best = forecast_best(f, of->computed > 0 ? of->computed : f->times[0].compute, of->split,
                             &of->split);
    else if (of->split < 0)
        of->split = split_by_rule(of);
    if (of->is_threads && of->place == NULL)
        of->place = is_known ? f->places[best] : place_by_rule(of);
    if (of->is_threads && of->order == NULL)
        of->order = is_known ? f->orders[best] : xy_order_usual();
}
