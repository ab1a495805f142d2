/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The slice: the effects (assignments, calls), conditions and jumps that are needed.
 *
 * Functions are walked backwards with the set of locations whose value is needed later. An
 * assignment to one of them is kept, and the locations it reads become needed; a condition is
 * needed when something inside is kept. The locations needed on entry to a function are needed by
 * its callers, and those that callers need after the call are needed at its end; this is repeated
 * until nothing changes.
 */
#ifndef XY_PROGRAM_SCAN_SLICE_H
#define XY_PROGRAM_SCAN_SLICE_H

#include "program/scan_alias.h"

typedef uint64_t *scan_set_t; /* bits of locations, after these two: */
enum { SCAN_LATER_IN_FUNCTION, SCAN_LATER, SCAN_BITS };

typedef struct scan_flow {
    scan_set_t entry, exit; /* needed there */
    bool is_reached, has_kept, needs_result;
    bool has_effects; /* kept ones that its callers see, beside its result */
} scan_flow_t;

/* A message or a collective whose contents are needed; -1: not a constant. */
typedef struct {
    const char
        *collective; /* its name behind "MPI_", as the blocking call has it; NULL: a message */
    long long datatype;
    long long tag; /* of a collective: how many elements */
} scan_carried_t;

typedef struct {
    xy_scan_t *scan;
    scan_decl_t *function;
    size_t words;
    bool has_changed;
    scan_set_t break_set, continue_set, return_set;
    const scan_stmt_t *break_target, *continue_target;
    scan_set_t case_set; /* needed at the labels of `switch_around` */
    const scan_stmt_t *switch_around;
    const scan_stmt_t *loop; /* the innermost around, NULL: none */
    struct scan_free_set *free_sets;
} scan_walk_t;

void scan_slice(xy_scan_t *scan);

/* Walk an expression backwards; `is_needed`: its value is. True: an effect in it is kept. */
bool scan_walk_expr(scan_walk_t *w, scan_expr_t *e, scan_set_t live, bool is_needed);
/* The same for a value that is needed, or else marked as unknown. */
bool scan_walk_need(scan_walk_t *w, scan_expr_t *e, scan_set_t live);
bool scan_walk_call(scan_walk_t *w, scan_expr_t *e, scan_set_t live, bool is_needed);

/* Calls of MPI, and the effects of a list of arguments. */
bool scan_walk_mpi(scan_walk_t *w, scan_expr_t *e, scan_set_t live);
bool scan_walk_effects(scan_walk_t *w, scan_expr_t *args, scan_set_t live);
/* Calls of functions whose effects are not known. */
bool scan_walk_foreign(scan_walk_t *w, scan_expr_t *e, scan_set_t live);
/* Note a call once in a list of scan_expr_t *. */
void scan_note_call(scan_walk_t *w, xy_vec_t *calls, scan_expr_t *call);

/* One-sided communication: does the call make a window or move data of one? Is the argument a
 * buffer that it sets? */
bool scan_is_one_sided(const xy_mpi_call_t *call);
bool scan_is_fetched(const xy_mpi_call_t *call, const char *argument);
void scan_walk_fetched(scan_walk_t *w, const scan_expr_t *call, const char *argument,
                       scan_expr_t *e, scan_set_t live);
/* Does the call set this argument to a value of a file? */
bool scan_is_unknown_result(const xy_mpi_call_t *call, const char *argument);
/* Note a call that makes a window; and keep the memory of all at any call of MPI. */
void scan_window_note(scan_walk_t *w, scan_expr_t *call);
void scan_window_meet(scan_walk_t *w, scan_set_t live);

void scan_walk_keep(scan_walk_t *w, bool *is_kept, scan_set_t live);
/* The same for what callers of the function see. */
void scan_walk_keep_effect(scan_walk_t *w, bool *is_kept, scan_set_t live);
bool scan_set_has_any(const scan_walk_t *w, scan_set_t set, const scan_access_t *access);
void scan_set_add(scan_walk_t *w, scan_set_t set, const scan_access_t *access, long line);
void scan_set_remove(scan_set_t set, const scan_access_t *access);
bool scan_set_join(const scan_walk_t *w, scan_set_t set, const uint64_t *other);

bool scan_is_listed(const char *const *names, const char *name); /* up to NULL */
/* The effects of the C library's functions on the slice. */
bool scan_is_library(const char *name);
/* sscanf() of numbers in what is no memory of the program: an argument of main(). */
bool scan_is_parsed(xy_scan_t *scan, const scan_expr_t *e); /* `xylem predict` evaluates it */
bool scan_is_exit(const char *name);
bool scan_is_kernel(const xy_scan_t *scan, const scan_decl_t *function);
/* Is this argument of a kernel's call one of its sizes? */
bool scan_kernel_takes(const scan_expr_t *call, int number, const scan_expr_t *arg);
/* MPI_Wtime: looking at the clock takes time, and stands in expressions. */
bool scan_is_clock(const scan_decl_t *function);
bool scan_is_mpi(const scan_decl_t *function);

/* Its value depends on data, on time or on functions that are not there. */
bool scan_is_unknowable(xy_scan_t *scan, const scan_expr_t *e);

/* A pointer to floating-point numbers gets memory: how much does not matter. */
bool scan_is_data_memory(const scan_type_t *pointer, const scan_expr_t *value);

/* Mark the branches of a function that are failures. */
void scan_failure_find(xy_scan_t *scan, const scan_decl_t *function, scan_stmt_t *body);

/* Find the loops that were dropped, and how many passes they make. True: something changed. */
bool scan_work_find(xy_scan_t *scan);

#endif
