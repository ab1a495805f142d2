/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pictures of models: samples, fit, intervals, and the error of each sample below, on logarithmic
 * axes.
 *
 *   xy_costs_print_svg(costs, file);       (all models, one above the other)
 *   xy_costs_print_html(costs, file);      (the same in a page for a browser)
 */
#ifndef XY_COST_PLOT_H
#define XY_COST_PLOT_H

#include <stdio.h>

#include "cost/store.h"

/* EINVAL: there is no model to draw. Write errors stay in the FILE's error flag. */
xy_status_t xy_costs_print_svg(const xy_costs_t *costs, FILE *file);
xy_status_t xy_costs_print_html(const xy_costs_t *costs, FILE *file);

#endif
