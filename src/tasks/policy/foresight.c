/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * foresight: try the good ones in virtual time, then do the best.   A decision costs those of all
 *
 * No rule is best for every graph on every machine. closure reaches the bound where data can be
 * used for long (stencils in one dimension, products, factorisations on one GPU); modular-ready is
 * hard to beat where several GPUs hold almost everything between them; lws where data are few and
 * tasks follow each other; dmdar, prio, dmda and eager win now and then, mostly on graphs that are
 * short. All know the costs before the run, so the virtual clock can tell which one ends first. A
 * trial stops as soon as it cannot end before the best one known, none follows one that comes near
 * what no schedule can beat, and on long graphs the first tasks decide. Those that win most often
 * come first, as the others are then over soon; on graphs of more than 4000 tasks, where these were
 * never ahead by more than 2 % (bench/policies.c), only the first three are tried.
 *
 * cache-oblivious is not among them: it needs the positions of tasks.
 */
#include <stddef.h>

#include "tasks/policy/policy_internal.h"

static const char *const trials[] = {"closure", "modular-ready", "lws",   "prio",
                                     "dmdar",   "dmda",          "eager", NULL};

const xy_task_policy_t policy_foresight = {
    .name = "foresight",
    .describe = "tries the others in virtual time and chooses the fastest (the default)",
    .trials = trials,
    .frequent = 3,
};
