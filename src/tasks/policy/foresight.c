/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * foresight: try the good ones in virtual time, then do the best.   A decision costs those of all
 *
 * No rule is best for every graph on every machine. closure reaches the bound where data can be
 * used for long on one GPU; relay where several GPUs share a link, and how many rounds are best
 * depends on the sizes of everything; modular-ready is hard to beat where several GPUs hold almost
 * everything between them; cache-oblivious on some stencils, where tasks have positions; lws where
 * data are few and tasks follow each other; darts, dmdar, dmdas, prio, dmda and eager win now and
 * then, mostly on graphs that are short. All know the costs before the run, so the virtual clock
 * can tell which one ends first. More GPUs or more memory than a rule makes good use of can be left
 * alone: some trials do so.
 *
 * Those that win most often come first, as the others are then over soon. Where there is time for a
 * few trials only, `first` is their order: each makes good what those before it are worst at (120
 * random problems in virtual time with the costs of an H200).
 */
#include <stddef.h>

#include "tasks/policy/policy_internal.h"

static const xy_task_trial_t trials[] = {
    {.policy = "closure", .first = 7},
    {.policy = "closure", .look_ahead = 2, .first = 1},
    {.policy = "closure", .look_ahead = 8, .first = 11},
    {.policy = "closure", .look_ahead = 4, .first = 6},
    {.policy = "closure", .look_ahead = 1, .first = 4},
    {.policy = "closure", .look_ahead = 16, .first = 10},
    {.policy = "relay", .extra_rounds = 2, .is_for_several = true},
    {.policy = "relay", .extra_rounds = 4, .is_for_several = true},
    {.policy = "relay", .extra_rounds = 1, .is_for_several = true},
    {.policy = "relay", .extra_rounds = 3, .is_for_several = true},
    {.policy = "relay", .first = 3},
    {.policy = "relay", .look_ahead = 2, .first = 9},
    {.policy = "relay", .look_ahead = 8, .first = 5},
    {.policy = "relay", .extra_rounds = 6, .is_for_several = true},
    {.policy = "modular-ready", .first = 13},
    {.policy = "cache-oblivious", .may_refuse = true, .first = 12},
    {.policy = "closure", .memory = 0.84},
    {.policy = "closure", .memory = 0.71},
    {.policy = "relay", .extra_rounds = 8, .is_for_several = true},
    {.policy = "relay", .extra_rounds = 5, .is_for_several = true},
    {.policy = "modular-ready", .eviction = "belady-plan", .first = 2},
    {.policy = "closure", .memory = 0.5},
    {.policy = "closure", .fewer = XY_TASK_ONE_LESS},
    {.policy = "closure", .fewer = XY_TASK_HALF},
    {.policy = "closure", .fewer = XY_TASK_ONE},
    {.policy = "relay", .extra_rounds = 1, .fewer = XY_TASK_ONE_LESS},
    {.policy = "relay", .extra_rounds = 1, .fewer = XY_TASK_HALF},
    {.policy = "darts"},
    {.policy = "lws", .first = 8},
    {.policy = "prio", .is_for_short = true},
    {.policy = "dmdar", .is_for_short = true, .first = 14},
    {.policy = "dmdas", .is_for_short = true},
    {.policy = "dmda", .is_for_short = true},
    {.policy = "eager", .is_for_short = true},
    {0},
};

const xy_task_policy_t policy_foresight = {
    .name = "foresight",
    .describe = "tries the others in virtual time and chooses among the fastest (the default)",
    .trials = trials,
};
