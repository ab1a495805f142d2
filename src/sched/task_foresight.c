/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * foresight: try the good ones in virtual time, then do the best.   A decision costs those of all
 *
 * No rule is best for every graph on every machine. closure reaches the bound where data can be
 * used for long (stencils in one dimension, products, factorisations on one GPU); modular-ready is
 * hard to beat where several GPUs hold almost everything between them. Both know the costs before
 * the run, so the virtual clock can tell which one ends first.
 */
#include <stddef.h>

#include "sched/task_internal.h"

static const char *const trials[] = {"closure", "modular-ready", NULL};

const xy_task_policy_t sched_task_foresight = {
    .name = "foresight",
    .describe = "simulates closure and modular-ready, takes the one that ends first (the default)",
    .trials = trials,
};
