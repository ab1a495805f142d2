/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bisection of a sorted array.
 *
 *   size_t i;
 *   REPORT_SEARCH(i, count, calls[i].enter < time);   (i: of the first call that begins later)
 */
#ifndef XY_REPORT_SEARCH_H
#define XY_REPORT_SEARCH_H

#include <stddef.h>

/* Set `i` to the number of leading elements with `is_before`. */
#define REPORT_SEARCH(i, count, is_before)                                                         \
    do {                                                                                           \
        size_t low_ = 0, high_ = (count);                                                          \
        while (low_ < high_) {                                                                     \
            (i) = low_ + (high_ - low_) / 2;                                                       \
            if (is_before)                                                                         \
                low_ = (i) + 1;                                                                    \
            else                                                                                   \
                high_ = (i);                                                                       \
        }                                                                                          \
        (i) = low_;                                                                                \
    } while (0)

#endif
