/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

enum { BAR = 30, LINE = 128 };

static const double FIRST_AFTER = 1.0; /* seconds */
static const double EVERY = 0.1;
static const double MOST = 0.99; /* the work is not over before xy_progress_stop */

/* A terminal that does not understand a carriage return would be filled with lines. */
static bool can_draw(void)
{
    const char *term = getenv("TERM");

    return isatty(STDERR_FILENO) && (term == NULL || strcmp(term, "dumb") != 0);
}

void xy_progress_start(xy_progress_t *bar, const char *label, uint64_t total)
{
    *bar = (xy_progress_t){.label = label, .total = total, .enabled = can_draw()};
    if (bar->enabled)
        bar->started = xy_clock_seconds(CLOCK_MONOTONIC);
}

/* One write per picture, so that messages of others do not land inside it. */
static void put_line(const char *line, size_t n)
{
    if (write(STDERR_FILENO, line, n) < 0)
        return;
}

/* Redraw the line of the progress bar, with an estimate of the time left after the first 2 %. */
static void draw(const xy_progress_t *bar, double elapsed)
{
    double part = bar->total > 0 ? fmin((double)bar->done / (double)bar->total, MOST) : 0;
    int full = (int)(part * BAR);
    char line[LINE], left[32] = "";
    int n;

    if (bar->done >= bar->total)
        snprintf(left, sizeof(left), "finishing");
    else if (part > 0.02)
        snprintf(left, sizeof(left), "%.0f s left", elapsed / part - elapsed);
    n = snprintf(line, sizeof(line), "\r%.40s [%.*s%.*s] %3.0f%% %-14s", bar->label, full,
                 "##############################", BAR - full, "..............................",
                 100 * part, left);
    put_line(line, n < LINE ? (size_t)n : LINE - 1);
}

void xy_progress_step(xy_progress_t *bar, uint64_t amount)
{
    double time;

    bar->done += amount;
    if (!bar->enabled)
        return;
    time = xy_clock_seconds(CLOCK_MONOTONIC);
    if (time - bar->started < FIRST_AFTER || (bar->shown > 0 && time - bar->shown < EVERY))
        return;
    bar->shown = time;
    draw(bar, time - bar->started);
}

void xy_progress_stop(xy_progress_t *bar)
{
    if (bar->enabled && bar->shown > 0)
        put_line("\r\033[K", strlen("\r\033[K"));
    bar->enabled = false;
}
