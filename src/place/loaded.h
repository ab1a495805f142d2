/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Libraries behind a strategy, loaded when it is first used: a program that does not use it neither
 * needs the library nor waits for it to be linked.
 *
 *   static int (*num_sizeof)(void);
 *   static const place_symbol_t symbols[] = {{"SCOTCH_numSizeof", &num_sizeof}, {0}};
 *   static const char *const files[] = {"libscotch-7.0.so", "libscotch.so", NULL};
 *
 *   if (!place_library_load(files, symbols))
 *       return place_library_fail("scotch", "Scotch 7 (libscotch-7.0)");
 */
#ifndef XY_PLACE_LOADED_H
#define XY_PLACE_LOADED_H

#include "base/base.h"

typedef struct {
    const char *name; /* NULL ends the list */
    void *function;   /* the address of a pointer to a function */
} place_symbol_t;

/* Load the first of `files` (NULL ends the list) that has all of the functions. Silent; any thread;
 * the library stays loaded. */
bool place_library_load(const char *const *files, const place_symbol_t *symbols);
/* XY_EUNSUPPORTED with a message. `library` NULL: this build does not know the library. */
xy_status_t place_library_fail(const char *strategy, const char *library);

#endif
