/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure/message_bench.h"
#include "measure/messages.h"

enum { LAUNCHES = 3, FIGURES = 14, LIMIT = 60 /* seconds */ };

typedef struct {
    double figures[FIGURES][LAUNCHES];
    int count;
} reading_t;

/* Reads the figures of one launch; other lines are ignored. */
static xy_status_t read_line(void *arg, char *line)
{
    reading_t *r = arg;
    double f[FIGURES] = {0};

    if (r->count == LAUNCHES)
        return XY_OK;
    /* NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(line, "crowd %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf", &f[0], &f[1],
               &f[2], &f[3], &f[4], &f[5], &f[6], &f[7], &f[8], &f[9], &f[10], &f[11], &f[12],
               &f[13]) < 2)
        return XY_OK;
    for (int i = 0; i < FIGURES; i++)
        r->figures[i][r->count] = f[i];
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

xy_status_t xy_calibrate_crowd(const xy_vec_t *words, int processes, xy_costs_t *costs)
{
    char each[16];
    const char *const arguments[] = {"crowd", each, NULL};
    xy_message_cost_t *cost = find_on_core(costs);
    reading_t r = {0};
    xy_status_t st = XY_OK;

    snprintf(each, sizeof(each), "%d", processes);
    for (int i = 0; i < LAUNCHES && st == XY_OK && cost != NULL; i++)
        st = measure_probe_run(words, arguments, LIMIT, read_line, &r);
    if (st == XY_OK && r.count == LAUNCHES && r.figures[0][0] > 0) {
        double pace = cost->model.pace > 0 ? cost->model.pace : 1;
        const xy_crowd_t found = {.message = pace * median(r.figures[0]),
                                  .large = pace * median(r.figures[1]),
                                  .barrier = pace * median(r.figures[2]),
                                  .bcast = pace * median(r.figures[3]),
                                  .alltoall = pace * median(r.figures[4]),
                                  .bulk = pace * median(r.figures[5]),
                                  .block = pace * median(r.figures[6]),
                                  .across = pace * median(r.figures[7]),
                                  .large_across = pace * median(r.figures[8]),
                                  .some = pace * median(r.figures[9]),
                                  .few = pace * median(r.figures[10]),
                                  .medium_across = pace * median(r.figures[11]),
                                  .left = pace * median(r.figures[12]),
                                  .ordered = pace * median(r.figures[13])};

        *(processes == XY_MESSAGE_CROWD ? &cost->model.crowd : &cost->model.throng) = found;
    }
    return st;
}
