/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of a study: CSV and JSON; study_page.c draws it. */
#include <string.h>

#include "draw/draw.h"
#include "stencil/internal.h"

const char *stencil_policy_of(const xy_stencil_run_t *run)
{
    if (run->how.policy != NULL)
        return run->how.policy;
    return run->is_real ? "closure" : xy_task_policies[0]->name;
}

void stencil_format_policy(const xy_stencil_run_t *run, const xy_stencil_result_t *r,
                           char buffer[160])
{
    const char *asked = stencil_policy_of(run);
    const xy_task_result_t *s = &r->sim;
    size_t n = (size_t)snprintf(buffer, 160, "%s", asked), size = 160;
    char bytes[32];

    if (strcmp(asked, s->policy) == 0)
        return;
    n += (size_t)snprintf(buffer + n, size - n, ": %s", s->policy);
    if (s->trials == 0)
        return; /* a real run: only the policy is chosen */
    if (s->extra_rounds > 0)
        n += (size_t)snprintf(buffer + n, size - n, ", %d more rounds", (int)s->extra_rounds);
    if (s->memory > 0)
        n += (size_t)snprintf(buffer + n, size - n, ", in %s of each memory",
                              xy_format_size(s->memory, bytes));
    if (s->workers < r->workers)
        n += (size_t)snprintf(buffer + n, size - n, ", on %d of %d workers", (int)s->workers,
                              (int)r->workers);
    snprintf(buffer + n, size - n, ", eviction %s; the best of %d trials", s->eviction,
             (int)s->trials);
}

double stencil_ratio(const xy_stencil_result_t *r)
{
    return r->sim.compute_bound > 0 ? r->sim.makespan / r->sim.compute_bound : 0;
}

const char *stencil_load_name(xy_stencil_load_t load)
{
    static const char *const names[] = {"even", "static", "dynamic", "file"};

    return names[load];
}

/* The results of all runs that did not fail; those of real runs are of this machine. */
static void add_rows(const xy_stencil_study_t *study, xy_rows_t *rows)
{
    for (size_t i = 0; i < study->count; i++) {
        const xy_stencil_run_t *run = &study->runs[i];
        const xy_stencil_result_t *r = &study->results[i];
        const xy_task_result_t *s = &r->sim;
        char blocks[96];

        if (study->status[i] != XY_OK)
            continue;
        stencil_format_blocks(&run->grid, blocks);
        xy_rows_add(rows,
                    "policy %s ran %s clock %s machine %s gpus %d cpus %d memory %lu graph %s "
                    "blocks %s iterations %d load %s tasks %lu makespan %g tasks_end %g "
                    "compute_bound %g ratio %g loads %lu stores %lu peers %lu "
                    "scheduling_seconds %g precision %s bytes %lu checked %i",
                    stencil_policy_of(run), s->policy, run->is_real ? "real" : "virtual",
                    run->is_real ? "this" : run->machine, run->is_real ? 0 : run->gpus,
                    run->is_real ? r->workers : run->cpus,
                    run->memory == XY_TASK_NO_LIMIT ? 0 : run->memory,
                    xy_stencil_graph_name(run->grid.graph), blocks, r->iterations,
                    stencil_load_name(run->grid.load), r->tasks, s->makespan, s->tasks_end,
                    s->compute_bound, stencil_ratio(r), s->loads, s->stores, s->peers,
                    s->scheduling_seconds, xy_stencil_precision_name(&run->grid), r->graph_bytes,
                    r->is_checked);
    }
}

void xy_stencil_study_csv(const xy_stencil_study_t *study, FILE *file)
{
    add_rows(study, &(xy_rows_t){.csv = file});
}

void xy_stencil_study_json(const xy_stencil_study_t *study, FILE *file)
{
    xy_json_t j;

    xy_json_init(&j, file, true);
    xy_json_begin_array(&j, NULL);
    add_rows(study, &(xy_rows_t){.json = &j});
    xy_json_end(&j);
}
