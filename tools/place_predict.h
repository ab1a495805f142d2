/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem place --predict: the time of a recorded run with a placement. */
#ifndef XY_TOOLS_PLACE_PREDICT_H
#define XY_TOOLS_PLACE_PREDICT_H

#include "place/place.h"
#include "program/program.h"

typedef struct {
    const char *machine; /* as for xy_machine_load */
    const char *costs;   /* a file; or NULL */
    const char *library; /* library whose collectives are used; or NULL */
    double speed;        /* of its cores, where those of the recorded run are 1 */
} place_predict_options_t;

typedef struct place_predict place_predict_t;

/* On success the caller closes *predict_p. */
xy_status_t place_predict_open(const place_predict_options_t *options, place_predict_t **predict_p);
void place_predict_close(place_predict_t *predict); /* NULL is fine */

/* Set the recording, one of the two: a trace, which gives the matrix of its messages with those of
 * its collectives (the caller owns it), or a matrix. */
xy_status_t place_predict_trace(place_predict_t *predict, const char *path, xy_matrix_t **matrix_p);
xy_status_t place_predict_matrix(place_predict_t *predict, const xy_matrix_t *matrix);

/* With the processes on these leaves of the machine's cores (xy_cores_machine). */
xy_status_t place_predict_seconds(const place_predict_t *predict, const uint32_t *leaf_of,
                                  double *seconds_p);
/* "the run: 1.2 ms instead of 3 ms by scatter_numa, 2.5 times as fast" */
void place_predict_print(const place_predict_t *predict, double seconds, double before,
                         const char *baseline, FILE *file);

#endif
