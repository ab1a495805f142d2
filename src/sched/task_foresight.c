/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * foresight: try the good ones in virtual time, then do the best.   A decision costs those of all
 *
 * No rule is best for every graph on every machine. closure reaches the bound where data can be
 * used for long (stencils in one dimension, products, factorisations on one GPU); modular-ready is
 * hard to beat where several GPUs hold almost everything between them; lws where data are few and
 * tasks follow each other. All know the costs before the run, so the virtual clock can tell which
 * one ends first. A trial stops as soon as it is behind the best one before it, none follows one
 * that comes near the bound, and on long graphs the first 100000 tasks decide.
 */
#include <stddef.h>

#include "sched/task_internal.h"

static const char *const trials[] = {"closure", "modular-ready", "lws", NULL};

const xy_task_policy_t sched_task_foresight = {
    .name = "foresight",
    .describe = "tries closure, modular-ready and lws in virtual time, takes the first to end (the "
                "default)",
    .trials = trials,
};
