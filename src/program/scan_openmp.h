/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams of threads of OpenMP, in the tree of the scan: a directive with a statement is a block with
 * a team. The slice reads it as one thread runs it; scan_team.c refuses values that a team makes
 * differently, and the description says where teams and their loops begin and end.
 */
#ifndef XY_PROGRAM_SCAN_OPENMP_H
#define XY_PROGRAM_SCAN_OPENMP_H

#include "program/scan_slice.h"

struct scan_team {
    bool is_parallel, is_loop, is_sections, is_section, is_single, is_master, is_critical,
        is_ordered, is_barrier;
    bool is_dynamic, is_nowait;
    bool has_threads, has_chunk, has_condition;
    int collapse;  /* loops that are one */
    int own_count; /* of `privates`: the first ones have no value from outside */
    long line;
    /* NULL: none. `privates` is a list of names, `passes` the product of those of the loops. */
    scan_expr_t *threads, *chunk, *condition, *privates, *passes;
    const scan_stmt_t *loop;
    uint64_t live; /* bits of the other privates that are needed behind the block */
};

/* Fail where a header has directives. */
void scan_openmp_check_headers(xy_scan_t *scan);
/* Make a block with a team of the loop or call that is a marker. */
void scan_openmp_mark(xy_scan_t *scan, scan_stmt_t *s);
/* The innermost of so many loops that are one; NULL: they are not there. */
const scan_stmt_t *scan_openmp_inner(const scan_stmt_t *loop, int collapse);

/* Walk a block with a team backwards; its body is walked by `walk_body`. */
bool scan_walk_team(scan_walk_t *w, scan_stmt_t *s, scan_set_t live,
                    bool (*walk_body)(scan_walk_t *w, scan_stmt_t *first, scan_set_t live));
/* Fail where a value of the slice, or a call of MPI, depends on how the threads of a team meet. */
void scan_team_check(xy_scan_t *scan);
/* Passes of a loop that starts with known bounds: a fresh list of factors, one for each of so many
 * loops; NULL: they cannot be counted. (scan_work.c) */
scan_expr_t *scan_work_passes(xy_scan_t *scan, const scan_stmt_t *loop, int loops);

#endif
