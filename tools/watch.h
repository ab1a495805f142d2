/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time so far of work of unknown length, on standard error: shown only on a terminal and only
 * after one second, and gone when the work ends.
 *
 *   watch_t watch;
 *   watch_start(&watch, "predicting");
 *   work();
 *   watch_stop(&watch);
 */
#ifndef XY_TOOLS_WATCH_H
#define XY_TOOLS_WATCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct {
    const char *label;
    double started; /* seconds, monotonic */
    bool is_running, is_shown;
    atomic_bool is_over;
    pthread_t thread;
} watch_t;

/* Starts a thread that draws, where there is a terminal. */
void watch_start(watch_t *watch, const char *label);
void watch_stop(watch_t *watch);

#endif
