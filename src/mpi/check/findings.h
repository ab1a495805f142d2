/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The findings of a job with --check, each once: findings of one class at the same places are one,
 * for all ranks.
 */
#ifndef XY_MPI_CHECK_FINDINGS_H
#define XY_MPI_CHECK_FINDINGS_H

#include "mpi/check/check.h"

enum { CHECK_PLACE_SIZE = 320, CHECK_TEXT_SIZE = 160 };

/* A line of a table of ranks: the call of some of them. */
typedef struct {
    char *text;
    xy_bitset_t ranks;
    char place[CHECK_PLACE_SIZE]; /* "": not known */
} check_line_t;

typedef struct {
    mpi_finding_kind_t kind;
    char *message;
    char places[2][CHECK_PLACE_SIZE]; /* "ring.c:12"; "": not known, or none */
    xy_bitset_t ranks;
    xy_vec_t lines; /* of check_line_t; of deadlocks and time limits */
    long count;
    bool is_suppressed;
    bool is_printed;
} check_finding_t;

/* The source of all output. */
typedef struct {
    const mpi_check_config_t *config;
    const xy_vec_t *findings; /* of check_finding_t */
    int code;                 /* of the program, unless: */
    bool is_ended;            /* by an error that was found */
    int final_code;           /* of mpiexec */
    int warnings, errors;     /* without those that are suppressed */
    int hints;                /* of the warnings: those that leave the exit code as it is */
} check_results_t;

/* "examples/ring.c:12", of a return address; "": not known. Every rank has its own copy of the
 * program, so addresses do not tell whether two places are the same. */
void check_place_name(const void *site, char place[CHECK_PLACE_SIZE]);
/* "at ring.c:12", or that it is not known: `text`, or a constant. */
const char *check_place_text(const void *site, char text[CHECK_TEXT_SIZE]);
/* A finding that ends the job, and was printed. Takes all that it has. */
void check_findings_end(check_finding_t *made);
/* mpi_finding_store_t.end */
void check_end_of_finding(const mpi_finding_t *finding, const char *message);
/* A line that was printed: what these ranks do, with the return address of their call or NULL. It
 * belongs to the next report that ends the job. */
void check_line_add(const xy_bitset_t *ranks, const char *text, const void *site);

/* The same with the place, "ring.c:12" or "". */
void check_line_add_at(const xy_bitset_t *ranks, const char *text, const char *place);

/* --check-json and --check-sarif. */
xy_status_t check_write_json(const void *results, FILE *file);
xy_status_t check_write_sarif(const void *results, FILE *file);

#endif
