/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Placement: a core for each process. This is the header that other components include; each part
 * is a chapter of its own:
 *
 *   matrix.h    communication matrices, and their file formats
 *   target.h    the part of a machine that matters for placing: its leaves and their distances
 *   strategy.h  the strategies, and placing by one of them
 *   ranks.h     cores of a machine, and ranks on them when no matrix is known (mpiexec)
 *   refine_load.h  other cores for few processes of a job that runs, by their loads
 *   reorder.h   other numbers for processes that stay where they are
 *   output.h    placements written for launchers, for people, as pictures
 *   traffic.h   the counts of a run, and the matrices made of them
 *
 * `xylem place` goes from a matrix and a target to a placement and its output; the launcher starts
 * with ranks.h; reordering in src/mpi/topo uses all but the output. Matrices, targets and
 * placements never change once they are made, so any thread may read them; the one that made them
 * destroys them.
 */
#ifndef XY_PLACE_PLACE_H
#define XY_PLACE_PLACE_H

#include "place/matrix.h"
#include "place/output.h"
#include "place/ranks.h"
#include "place/refine_load.h"
#include "place/reorder.h"
#include "place/strategy.h"
#include "place/target.h"
#include "place/traffic.h"

#endif
