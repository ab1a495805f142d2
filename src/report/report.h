/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of a run and its causes. This is the header that other components include; each part is
 * a chapter of its own:
 *
 *   profile.h  where the time of a run went, by rank and call site: recorded, read, merged
 *   timeline.h the same from a trace, with root causes
 *   insight.h  what only a trace tells: the critical path, late progress, small messages
 *   live.h     what the ranks of a running job do
 *   analyse.h  efficiencies, the calls that cost most, who is waited for; text, JSON, CSV, page
 *   compare.h  two runs: what got slower, by line
 *   scaling.h  several runs of one problem: speed-up and efficiencies between them
 *
 * `mpiexec --report` records a profile; `xylem report` reads it. A profile and an analysis belong
 * to one thread at a time.
 */
#ifndef XY_REPORT_REPORT_H
#define XY_REPORT_REPORT_H

#include "report/analyse.h"
#include "report/compare.h"
#include "report/insight.h"
#include "report/live.h"
#include "report/profile.h"
#include "report/scaling.h"
#include "report/timeline.h"

#endif
