/* SPDX-License-Identifier: BSD-3-Clause */
/* A whole walk, for predict.c. */
#ifndef XY_PROGRAM_WALK_DRIVER_H
#define XY_PROGRAM_WALK_DRIVER_H

#include "program/walk.h"

/* Let the processes run; code, models and the arena are there. What fails has been said. */
xy_status_t walk_run(walk_t *walk);
void walk_cleanup(walk_t *walk); /* of a partly made one too */

#endif
