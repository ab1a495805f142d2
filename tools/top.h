/* SPDX-License-Identifier: BSD-3-Clause */
/* Looking at running jobs: a snapshot, and a terminal that shows one after the other. */
#ifndef XY_TOOLS_TOP_H
#define XY_TOOLS_TOP_H

#include "report/report.h"

/* A settled snapshot of the ranks of the job of this mpiexec. The caller destroys it. */
xy_status_t top_look(long pid, xy_live_t **live_p);
/* The same in silence, for a job that may be over. */
bool top_look_again(long pid, xy_live_t **live_p);

/* Show the job in the terminal every `interval` seconds until the user quits or it ends. `first` is
 * given away. */
xy_status_t top_show(long pid, double interval, const xy_live_style_t *style, xy_live_t *first);

#endif
