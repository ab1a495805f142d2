/* SPDX-License-Identifier: BSD-3-Clause */
/* From the slice to the description. */
#ifndef XY_PROGRAM_SCAN_EMIT_H
#define XY_PROGRAM_SCAN_EMIT_H

#include "program/scan_slice.h"

/* A value that the source does not give. */
typedef struct {
    const char *name, *reason;
    scan_place_t at;
} scan_unknown_t;

/* Write the description. */
void scan_emit(xy_scan_t *scan);

/* C text in the arena. Printing marks what is named: see scan_emit(). */
const char *scan_print(xy_scan_t *scan, const scan_expr_t *e);
const char *scan_print_type(xy_scan_t *scan, const scan_type_t *type, const scan_expr_t *dims);
/* The product of factors; "1" when there is none. */
const char *scan_print_product(xy_scan_t *scan, const scan_expr_t *factors);
/* The name of a predefined handle ("MPI_INT"), or NULL. */
const char *scan_handle_name(const char *type, long long value);
/* The sizes of a kernel: "m, n, k". */
const char *scan_kernel_sizes(xy_scan_t *scan, const scan_expr_t *call);

/* Why a value is not known. */
const char *scan_reason(xy_scan_t *scan, const scan_expr_t *e);

typedef struct {
    xy_scan_t *scan;
    xy_node_t *at; /* where the next element goes */
    scan_decl_t *function;
    const scan_stmt_t *pass_loop; /* each pass of it is one of a team's loop */
} scan_emit_t;

xy_node_t *scan_emit_add(scan_emit_t *t, xy_node_kind_t kind, scan_place_t at);
/* Its kept effects as elements. */
void scan_emit_effects(scan_emit_t *t, scan_expr_t *e);
/* Statements that must come before an element that prints `e`: calls of MPI and kernels, unknown
 * values. */
void scan_emit_before(scan_emit_t *t, scan_expr_t *e);
bool scan_has_before(const xy_scan_t *scan, const scan_expr_t *e);
/* Values of a list for the members of a struct, one by one. */
void scan_emit_members(scan_emit_t *t, scan_expr_t *target, scan_expr_t *value);
void scan_emit_unknown(scan_emit_t *t, const char *target, const char *reason, scan_place_t at);

#endif
