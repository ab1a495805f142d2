/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The findings of a job with --check, each once: those of one class at the same places are one, by
 * whatever rank they were made.
 */
#ifndef XY_MPI_CHECK_FINDINGS_H
#define XY_MPI_CHECK_FINDINGS_H

#include "mpi/check/check.h"

enum { CHECK_PLACE_SIZE = 160 };

typedef struct {
    mpi_finding_kind_t kind;
    char *message;
    char places[2][CHECK_PLACE_SIZE]; /* "ring.c:12"; "": not known, or none */
    xy_bitset_t ranks;
    long count;
    bool is_suppressed;
    bool is_printed;
} check_finding_t;

/* What all of it is written from. */
typedef struct {
    const mpi_check_config_t *config;
    const xy_vec_t *findings; /* of check_finding_t */
    int code;                 /* exit code of the program, unless: */
    bool is_ended;            /* by an error that was found */
    int warnings, errors;     /* without those that are suppressed */
} check_results_t;

/* --check-json and --check-sarif. */
xy_status_t check_write_json(const void *results, FILE *file);
xy_status_t check_write_sarif(const void *results, FILE *file);

#endif
