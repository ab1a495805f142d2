/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of the scan: clang's tree (scan_clang.c) is copied into ours (scan_tree.h), which is
 * bound (scan_alias.c), sliced (scan_slice.c) and described (scan_emit.c). */
#ifndef XY_PROGRAM_SCAN_INTERNAL_H
#define XY_PROGRAM_SCAN_INTERNAL_H

#include <setjmp.h>
#include <stdint.h>
#include <stdnoreturn.h>

#include "program/scan.h"
#include "program/scan_tree.h"

struct xy_scan {
    const xy_scan_options_t *options;
    const char *const *paths;
    int count;
    xy_arena_t *arena;
    jmp_buf leave; /* the exit of errors at any depth: scan_leave() */
    xy_status_t status;
    void *index, *unit; /* of libclang, while it reads */
    void *last_file;    /* of libclang, and its number in `files` */
    int last_number;
    bool is_library; /* the source that is read is the C library */
    xy_vec_t files;  /* scan_file_t */
    xy_hash_t decls, records;
    scan_decl_t *functions, *globals; /* lists, last first */
    scan_decl_t *main;
    xy_program_t *program;
    xy_vec_t locations;    /* scan_location_t */
    xy_vec_t carried;      /* scan_carried_t: messages that set variables of the slice */
    xy_vec_t persistent;   /* scan_expr_t *: calls that make persistent requests */
    xy_vec_t windows;      /* scan_expr_t *: calls that make windows, and */
    bool is_window_needed; /* ... something depends on what is in them */
    xy_vec_t unknowns;     /* scan_unknown_t */
    xy_vec_t cuda_kernels; /* char *: names */
    xy_vec_t teams;        /* scan_team_t: directives of OpenMP (scan_openmp.h) */
    xy_vec_t taken; /* scan_decl_t *: functions whose address is taken; the first is number 1 */
    scan_stmt_t *literals; /* declarations of values without a name in the current statement */
    int literal_count, stmt_count;
    int stand_ins; /* variables for parts of expressions that are not known */
};

/* End the scan from any depth, after a report. No frame of another library is on the stack where
 * they are called. */
noreturn void scan_leave(xy_scan_t *scan, xy_status_t status);
noreturn void scan_fail(xy_scan_t *scan, xy_status_t status, scan_place_t at, const char *format,
                        ...) __attribute__((format(printf, 4, 5)));

/* From the arena, zeroed; leave when memory runs out. */
void *scan_alloc(xy_scan_t *scan, size_t size);
char *scan_copy(xy_scan_t *scan, const char *s);

/* The name of a function as a value becomes its number. */
void scan_take_function(xy_scan_t *scan, scan_expr_t *name);
/* Does evaluating it twice differ from once? A call may. */
bool scan_has_effect(const scan_expr_t *e);
/* Calls through pointers become calls of the functions that they may reach. */
void scan_pointer_calls(xy_scan_t *scan);

/* Parse one more source, a file or a text of that name, into functions and globals. */
void scan_clang_parse(xy_scan_t *scan, const char *path, const char *text);
/* qsort() and bsearch(), if the program calls one of them. */
void scan_read_library(xy_scan_t *scan);
/* Free what libclang still holds. */
void scan_clang_close(xy_scan_t *scan);
/* XY_EUNSUPPORTED, with a message: what to install. */
xy_status_t scan_clang_load(void);

const char *scan_file_name(const xy_scan_t *scan, int file);

#endif
