/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure/message_bench.h"
#include "measure/messages.h"

enum { LAUNCHES = 3, LIMIT = 60 /* seconds */ };

typedef struct {
    double alltoall[LAUNCHES];
    int count;
} reading_t;

/* Reads the figure of one launch; other lines are ignored. */
static xy_status_t read_line(void *arg, char *line)
{
    reading_t *r = arg;

    /* NOLINTNEXTLINE(cert-err34-c) */
    if (r->count < LAUNCHES && sscanf(line, "crowd %lf", &r->alltoall[r->count]) == 1)
        r->count++;
    return XY_OK;
}

static double median(const double t[LAUNCHES])
{
    return fmax(fmin(t[0], t[1]), fmin(fmax(t[0], t[1]), t[2]));
}

static xy_message_cost_t *find_on_core(xy_costs_t *costs)
{
    for (size_t i = 0; i < costs->messages.count; i++) {
        xy_message_cost_t *m = &XY_VEC_AT(&costs->messages, xy_message_cost_t, i);

        if (strcmp(m->cluster1, XY_COSTS_PU) == 0 && strcmp(m->cluster2, XY_COSTS_PU) == 0)
            return m;
    }
    return NULL;
}

xy_status_t xy_calibrate_crowd(const xy_vec_t *words, xy_costs_t *costs)
{
    char each[16];
    const char *const arguments[] = {"crowd", each, NULL};
    xy_message_cost_t *cost = find_on_core(costs);
    reading_t r = {0};
    xy_status_t st = XY_OK;

    snprintf(each, sizeof(each), "%d", XY_MESSAGE_CROWD);
    for (int i = 0; i < LAUNCHES && st == XY_OK && cost != NULL; i++)
        st = measure_probe_run(words, arguments, LIMIT, read_line, &r);
    if (st == XY_OK && r.count == LAUNCHES)
        cost->model.alltoall = (cost->model.pace > 0 ? cost->model.pace : 1) * median(r.alltoall);
    return st;
}
