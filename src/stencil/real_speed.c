/* SPDX-License-Identifier: BSD-3-Clause */
/* The time of a task on a core while all others do the same: stencils share the memory. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fiber/fiber.h"
#include "stencil/real.h"

enum { TRIES = 3 };

typedef struct {
    const stencil_real_t *r;
    void *block, *out;
    double seconds; /* of a task */
    bool is_started;
    pthread_t thread;
} probe_t;

/* The first turn brings the pages. */
static void *update(void *arg)
{
    probe_t *p = arg;
    const stencil_real_t *r = p->r;
    stencil_around_t around;
    double start = 0;

    for (int i = 0; i < STENCIL_AROUND_MAX; i++)
        around.at[i] = p->block;
    for (int i = 0; i <= TRIES; i++) {
        if (i == 1)
            start = xy_now();
        stencil_real_update(r, NULL, &around, r->shape.layers * r->shape.rows, p->out);
        if (r->grid.graph != XY_STENCIL_JACOBI)
            memcpy(p->block, p->out, r->grid.block_bytes);
    }
    p->seconds = (xy_now() - start) / TRIES;
    return NULL;
}

static void run_all(probe_t *probes, int32_t cores)
{
    for (int32_t i = 1; i < cores; i++)
        probes[i].is_started = pthread_create(&probes[i].thread, NULL, update, &probes[i]) == 0;
    update(&probes[0]);
    for (int32_t i = 1; i < cores; i++)
        if (probes[i].is_started)
            pthread_join(probes[i].thread, NULL);
}

xy_status_t stencil_core_seconds(const stencil_real_t *r, int32_t cores, double *seconds_p)
{
    probe_t *probes = xy_calloc((size_t)cores, sizeof(*probes));
    xy_status_t st = probes != NULL ? XY_OK : XY_ENOMEM;

    for (int32_t i = 0; i < cores && st == XY_OK; i++) {
        probes[i] = (probe_t){.r = r,
                              .block = xy_calloc(1, r->grid.block_bytes),
                              .out = xy_malloc(r->grid.block_bytes)};
        if (probes[i].block == NULL || probes[i].out == NULL)
            st = XY_ENOMEM;
    }
    *seconds_p = 0;
    if (st == XY_OK)
        run_all(probes, cores);
    for (int32_t i = 0; probes != NULL && i < cores; i++) {
        *seconds_p = probes[i].seconds > *seconds_p ? probes[i].seconds : *seconds_p;
        xy_free(probes[i].block);
        xy_free(probes[i].out);
    }
    xy_free(probes);
    return st == XY_OK ? XY_OK : xy_fail_memory("measuring a core");
}
