/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of strategies: NULL-terminated arrays of pointers to constant structures that begin with
 * their name and half a line of description.
 *
 *   typedef struct { const char *name, *describe; int (*run)(void); } sorter_t;
 *   const sorter_t *const sorters[] = {&sorter_heap, &sorter_quick, NULL};
 *
 *   const sorter_t *s = xy_table_find(XY_TABLE(sorters), "heap");
 *   if (s == NULL)
 *       return xy_table_fail(XY_TABLE(sorters), "sorter", name);
 *
 * An option that takes such a name has the table as its `table` (option.h), so that --help, the man
 * page and the shell list its names.
 */
#ifndef XY_BASE_TABLE_H
#define XY_BASE_TABLE_H

#include <stddef.h>

#include "base/status.h"

/* The entries of any such table, whatever follows name and description. */
typedef const void *const *xy_table_t;
#define XY_TABLE(table) ((xy_table_t)(table))

/* The name and the description of entry i; NULL: the table has no entry i. `i` is at most the
 * number of entries. */
const char *xy_table_name(xy_table_t table, size_t i);
const char *xy_table_describe(xy_table_t table, size_t i);
/* The entry of that name; NULL: there is none. */
const void *xy_table_find(xy_table_t table, const char *name);
/* XY_EUSAGE with a message: there is no `what` of that name; with the nearest, or all there are. */
xy_status_t xy_table_fail(xy_table_t table, const char *what, const char *name);

#endif
