/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A progress bar on standard error: shown only on a terminal and only after one second of work;
 * silent otherwise, and gone when the work ends.
 *
 *   xy_progress_t bar;
 *   xy_progress_start(&bar, "calibrating", total);
 *   for (...) xy_progress_step(&bar, 1);
 *   xy_progress_stop(&bar);
 */
#ifndef XY_BASE_PROGRESS_H
#define XY_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    const char *label;
    uint64_t done, total;
    double started, shown; /* seconds, monotonic; shown 0: never */
    bool enabled;
} xy_progress_t;

void xy_progress_start(xy_progress_t *bar, const char *label, uint64_t total);
void xy_progress_step(xy_progress_t *bar, uint64_t amount);
void xy_progress_stop(xy_progress_t *bar);

#endif
