/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

/* Draws the elapsed time, four times a second, until the end of the work. */
static void *draw(void *arg)
{
    watch_t *watch = arg;

    while (!atomic_load_explicit(&watch->is_over, memory_order_acquire)) {
        double elapsed = xy_clock_seconds(CLOCK_MONOTONIC) - watch->started;

        if (elapsed >= 1) {
            fprintf(stderr, "\r%s, %.0f s ", watch->label, elapsed);
            watch->is_shown = true;
        }
        nanosleep(&(struct timespec){.tv_nsec = 250000000}, NULL);
    }
    return NULL;
}

void watch_start(watch_t *watch, const char *label)
{
    const char *term = getenv("TERM");
    bool can_draw = isatty(STDERR_FILENO) && (term == NULL || strcmp(term, "dumb") != 0);

    *watch = (watch_t){.label = label, .started = xy_clock_seconds(CLOCK_MONOTONIC)};
    watch->is_running = can_draw && pthread_create(&watch->thread, NULL, draw, watch) == 0;
}

void watch_stop(watch_t *watch)
{
    if (!watch->is_running)
        return;
    atomic_store_explicit(&watch->is_over, true, memory_order_release);
    pthread_join(watch->thread, NULL);
    watch->is_running = false;
    if (watch->is_shown)
        fputs("\r\033[K", stderr);
}
