/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calibration of messages inside this machine, by Xylem's own MPI or by another one.
 *
 *   xy_messages_calibration_t m = {.words = words, .cluster = XY_COSTS_LOCAL};
 *   st = xy_calibrate_messages(&calibration, &m, costs);
 *
 * Two processes (or ranks) send messages of growing size to and fro: blocking, nonblocking, in a
 * stream. Called by the main thread.
 */
#ifndef XY_MEASURE_MESSAGES_H
#define XY_MEASURE_MESSAGES_H

#include "measure/calibrate.h"

typedef struct {
    const xy_vec_t *words; /* of char *: a command that starts two processes of Xylem's probe; NULL:
                              build the probe and start it by the launcher */
    const xy_vec_t *alone; /* likewise, for large messages of two that share a core, which `words`
                              start with two on another core; NULL: no core is shared */
    const char *launcher;  /* NULL: mpirun, mpiexec or srun, whichever is here */
    const char *compiler;  /* NULL: mpicc */
    const xy_vec_t *extra; /* of const char *: more words for the launcher; NULL: none */
    const char *cluster;   /* name of both ends in the store; NULL: XY_COSTS_LOCAL */
    double largest;        /* message in bytes; 0: 4 MiB */
    const xy_vec_t *sizes; /* of uint64_t: these messages instead; NULL or empty: chosen */
    /* Sizes, as uint64_t, that are measured along with the others, twice, but not shown to the
     * model; the report has them. NULL or empty: none. */
    const xy_vec_t *held_out;
    double seconds; /* for one size; 0: 0.1 */
    double budget;  /* for everything: the number of launches is cut; 0: as long as it takes */
} xy_messages_calibration_t;

/* `c`: the bar and the report. ENOENT: no launcher or compiler. EIO: the command failed. */
xy_status_t xy_calibrate_messages(const xy_calibration_t *c, const xy_messages_calibration_t *m,
                                  xy_costs_t *costs);

/* `words` start XY_MESSAGE_CROWD processes of the probe on each of two cores. What they take goes
 * to the model between processes of a core; without one, nothing is done. EIO: the command failed.
 */
xy_status_t xy_calibrate_crowd(const xy_vec_t *words, xy_costs_t *costs);

#endif
