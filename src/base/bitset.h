/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bit set of a fixed number of bits, and the list syntax of Linux, "0-3,8,10-12", with steps:
 * "0-8:2" is 0,2,4,6,8.
 */
#ifndef XY_BASE_BITSET_H
#define XY_BASE_BITSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct {
    uint64_t *words;
    size_t bits;
} xy_bitset_t;

xy_status_t xy_bitset_init(xy_bitset_t *set, size_t bits); /* all clear; silent XY_ENOMEM */
void xy_bitset_cleanup(xy_bitset_t *set);
void xy_bitset_set(xy_bitset_t *set, size_t bit);
void xy_bitset_clear(xy_bitset_t *set, size_t bit);
bool xy_bitset_has(const xy_bitset_t *set, size_t bit); /* false beyond the end */
size_t xy_bitset_count(const xy_bitset_t *set);
size_t xy_bitset_next(const xy_bitset_t *set,
                      size_t from); /* first set bit >= from, or set->bits */

/* Parse a list into an initialised set. EPARSE: said with `what` in front (the option or file). */
xy_status_t xy_bitset_parse(xy_bitset_t *set, const char *list, const char *what);
/* "0-3,8" or "0-4094:2" in fresh memory the caller frees; NULL: memory ran out. */
char *xy_bitset_format(const xy_bitset_t *set);

#endif
