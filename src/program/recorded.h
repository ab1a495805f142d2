/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of a real run, from its trace (mpiexec --trace), and the values that they reveal where
 * the source does not give them.
 *
 *   xy_recorded_t *recorded;
 *   xy_learned_t *learned;
 *   st = xy_recorded_read("run.xyt", &recorded);
 *   config.job.procs = xy_recorded_procs(recorded);
 *   st = xy_predict_learn(program, &config, recorded, &learned);
 *   config.learned = learned;                           (now for any number of processes)
 *   st = xy_predict(program, &config, &prediction);
 *
 * A trace has no values, but calls in their order, each with its line and the bytes that it moved.
 * The description is walked for the processes of the recorded run; where a value is not known,
 * several are tried, each on a copy of the process that runs ahead, and the first is taken with
 * which the process makes the calls that were recorded: a positive error norm while the loop
 * continues and zero at its end, the number of passes that its calls show, a count that gives the
 * bytes. Every call of the walk must be the recorded one, to the end; otherwise the place where
 * walk and run differ is reported.
 */
#ifndef XY_PROGRAM_RECORDED_H
#define XY_PROGRAM_RECORDED_H

#include "base/base.h"

typedef struct xy_recorded xy_recorded_t;

/* Lines come from the program, which must still be there, built with -g, and addr2line. On success
 * the caller owns *recorded_p. EINVAL, ENOENT (reported): the trace has no calls, no lines are
 * found.
 */
xy_status_t xy_recorded_read(const char *path, xy_recorded_t **recorded_p);
void xy_recorded_destroy(xy_recorded_t *recorded); /* NULL is fine */
int32_t xy_recorded_procs(const xy_recorded_t *recorded);

/* One value that was learned: how often it was asked for, in all processes. */
typedef struct {
    const char *name; /* of the description, which must live as long */
    long line;
    size_t values;
    double least, most;
} xy_learned_name_t;

typedef struct xy_learned xy_learned_t; /* values of a description, by xy_predict_learn() */

void xy_learned_destroy(xy_learned_t *learned); /* NULL is fine */
/* Appends xy_learned_name_t; XY_ENOMEM in silence. */
xy_status_t xy_learned_names(const xy_learned_t *learned, xy_vec_t *names);

#endif
