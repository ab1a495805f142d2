/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The targets of pointers, and the locations that expressions read and write.
 *
 * Objects are variables, results of malloc and members of structs (a member is one object whatever
 * the struct). Pointers that are assigned to each other point to the same class of objects
 * (Steensgaard: union-find, nearly linear). A location is a class of objects and a type of number:
 * C forbids reading an int through a double, so a common allocator does not mix counts and data.
 */
#ifndef XY_PROGRAM_SCAN_ALIAS_H
#define XY_PROGRAM_SCAN_ALIAS_H

#include "program/scan_internal.h"

typedef struct {
    const char *name; /* for messages: that of the first access */
    bool is_data;     /* floating-point numbers in a large or unbounded array: not followed */
    long wanted;      /* line that needs it, 0: none yet */
} scan_location_t;

/* Find what pointers point to in all functions and globals. */
void scan_alias_find(xy_scan_t *scan);

enum { SCAN_LOCATIONS_MAX = 250 };

typedef struct {
    int ids[SCAN_LOCATIONS_MAX]; /* a struct has one for each member */
    int count;
    bool is_strong; /* writing leaves nothing of the old value */
} scan_access_t;

/* The locations of an lvalue. */
scan_access_t scan_access(xy_scan_t *scan, const scan_expr_t *e);
/* The locations of a declared variable, and of the target of a pointer. */
scan_access_t scan_access_decl(xy_scan_t *scan, const scan_decl_t *d);
scan_access_t scan_access_target(xy_scan_t *scan, const scan_expr_t *pointer);

/* The locations of the new memory of a call of MPI_Win_allocate or MPI_Alloc_mem; none: it is
 * another call. */
scan_access_t scan_access_given(xy_scan_t *scan, const scan_expr_t *call);

/* The locations that can be reached from there through members that are pointers. */
scan_access_t scan_access_reachable(xy_scan_t *scan, const scan_expr_t *pointer);

/* Bytes of the largest variable that the pointer may point to; 0: it points to none. */
long scan_target_bytes(xy_scan_t *scan, const scan_expr_t *pointer);

/* Is it the lvalue (or the target of the pointer) that is data? */
/* May a pointer point to variables or memory of the program? */
bool scan_is_own_memory(xy_scan_t *scan, const scan_expr_t *pointer);
bool scan_is_data(const xy_scan_t *scan, const scan_access_t *access);

const scan_expr_t *scan_strip(const scan_expr_t *e); /* casts */

#endif
