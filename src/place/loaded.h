/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Libraries behind a strategy, loaded when it is first used: a program that does not use it neither
 * needs the library nor waits for it to be linked.
 *
 *   static __typeof__(&SCOTCH_archInit) arch_init;
 *   static const place_symbol_t symbols[] = {{"SCOTCH_archInit", &arch_init}, {0}};
 *
 *   if (!place_library_load("libscotch-7.0.so", symbols))
 *       return place_library_fail("scotch", "libscotch-7.0.so");
 */
#ifndef XY_PLACE_LOADED_H
#define XY_PLACE_LOADED_H

#include "base/base.h"

typedef struct {
    const char *name; /* NULL ends the list */
    void *function;   /* the address of a pointer to a function */
} place_symbol_t;

/* Is it there, with all of the functions? Silent; any thread; the library stays loaded. */
bool place_library_load(const char *file, const place_symbol_t *symbols);
/* XY_EUNSUPPORTED with a message. `file` NULL: this build does not know the library. */
xy_status_t place_library_fail(const char *strategy, const char *file);

#endif
