/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From C sources to a program description: static slicing.
 *
 *   xy_scan_options_t options = {.includes = includes, ...};
 *   xy_scan_t *scan;
 *
 *   st = xy_scan_run(&options, count, paths, &scan);
 *   st = xy_program_write(xy_scan_program(scan), "prog.xml");
 *   xy_scan_free(scan);
 *
 * Kept are calls of MPI, calls of kernels, and the statements whose effect reaches an integer or a
 * handle of theirs, or a condition around them. Data (arrays of floating-point numbers, and buffers
 * that nothing else needs) is not followed. Loops that are not kept become <compute> elements.
 */
#ifndef XY_PROGRAM_SCAN_H
#define XY_PROGRAM_SCAN_H

#include <stdbool.h>
#include <stdio.h>

#include "base/base.h"
#include "program/program.h"

typedef struct {
    /* Each NULL-terminated, or NULL. */
    const char *const *flags;   /* for clang: -IDIR, -DNAME, -std=c99 */
    const char *const *kernels; /* names of functions that are kernels */
    const char *const *assumed; /* NAME=EXPRESSION */
    const char *include;        /* directory of mpi.h */
    long threads; /* of a team of OpenMP; 0: the program is compiled without; < 0: not known */
} xy_scan_options_t;

typedef struct xy_scan xy_scan_t;

/* Parse, slice and describe. On success the caller owns *scan_p. What is wrong with the program is
 * reported in one message with its place: XY_EPARSE (not C), XY_EINVAL (no main, no MPI, goto,
 * recursion, calls through pointers), XY_EUNSUPPORTED (built without libclang, an MPI call that
 * cannot be simulated). */
xy_status_t xy_scan_run(const xy_scan_options_t *options, int count, const char *const *paths,
                        xy_scan_t **scan_p);
void xy_scan_free(xy_scan_t *scan); /* NULL is fine */
/* Does the name of the file end like that of a source, of whatever language? */
bool xy_scan_is_source(const char *path);

const xy_program_t *xy_scan_program(const xy_scan_t *scan);
/* Values that the source does not give: one line each. How many there are. */
int xy_scan_unknowns(const xy_scan_t *scan, FILE *file);
/* The kept statements, with reasons. */
void xy_scan_list(const xy_scan_t *scan, FILE *file);

typedef enum { XY_SCAN_PLAIN, XY_SCAN_COLOUR, XY_SCAN_HTML } xy_scan_style_t;
/* The sources, with what was dropped behind "//" (plain), in grey, or in grey on a page. */
xy_status_t xy_scan_show(xy_scan_t *scan, xy_scan_style_t style, FILE *file);

#endif
