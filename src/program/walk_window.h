/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided communication of a walk. */
#ifndef XY_PROGRAM_WALK_WINDOW_H
#define XY_PROGRAM_WALK_WINDOW_H

#include "program/walk.h"

/* The shared part of a window: the memory of its members, and the locks of it. */
typedef struct walk_window {
    walk_place_t *places;        /* [size] */
    int32_t *owners;             /* [size]: whose exclusive lock it is; -1: nobody's */
    int32_t *sharers;            /* [size]: shared locks, without those of MPI_Win_lock_all */
    int32_t all, exclusives;     /* members in MPI_Win_lock_all; exclusive locks */
    walk_waiter_t *first, **end; /* in the order of their calls */
} walk_window_t;

/* NULL (reported): no window, or one that was freed. */
walk_win_t *walk_window(walker_t *w, int64_t handle);
/* A request that is complete at that time; -1: memory ran out (reported). */
int32_t walk_until(walker_t *w, double time);
/* One that is complete; it is freed. False as of walk_wait(). */
bool walk_wait_one(walker_t *w, int32_t index);

#endif
