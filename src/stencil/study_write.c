/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of a study: CSV and JSON; study_page.c draws it. */
#include <string.h>

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

void xy_stencil_study_csv(const xy_stencil_study_t *study, FILE *file)
{
    fprintf(file,
            "policy,ran,clock,machine,gpus,cpus,memory,graph,blocks,iterations,load,tasks,makespan,"
            "tasks_end,compute_bound,ratio,loads,stores,peers,scheduling_seconds,"
            "precision\n");
    for (size_t i = 0; i < study->count; i++) {
        const xy_stencil_run_t *run = &study->runs[i];
        const xy_stencil_result_t *r = &study->results[i];
        const xy_task_result_t *s = &r->sim;

        if (study->status[i] != XY_OK)
            continue;
        fprintf(file,
                "%s,%s,%s,%s,%d,%d,%llu,%s,%lldx%lldx%lld,%d,%s,%llu,%.9g,%.9g,%.9g,%.6f,%llu,"
                "%llu,%llu,%.6g,%s\n",
                stencil_policy_of(run), s->policy, run->is_real ? "real" : "virtual",
                run->is_real ? "this" : run->machine, run->is_real ? 0 : run->gpus,
                run->is_real ? (int)r->workers : run->cpus,
                (unsigned long long)(run->memory == XY_TASK_NO_LIMIT ? 0 : run->memory),
                xy_stencil_graph_name(run->grid.graph), (long long)run->grid.blocks[0],
                (long long)run->grid.blocks[1], (long long)run->grid.blocks[2],
                run->grid.iterations, stencil_load_name(run->grid.load),
                (unsigned long long)r->tasks, s->makespan, s->tasks_end, s->compute_bound,
                stencil_ratio(r), (unsigned long long)s->loads, (unsigned long long)s->stores,
                (unsigned long long)s->peers, s->scheduling_seconds,
                xy_stencil_precision_name(&run->grid));
    }
}

void xy_stencil_study_json(const xy_stencil_study_t *study, FILE *file)
{
    xy_json_t j;

    xy_json_init(&j, file, true);
    xy_json_begin_array(&j, NULL);
    for (size_t i = 0; i < study->count; i++) {
        const xy_stencil_run_t *run = &study->runs[i];
        const xy_stencil_result_t *r = &study->results[i];
        char blocks[96];

        if (study->status[i] != XY_OK)
            continue;
        xy_json_begin_object(&j, NULL);
        xy_json_string(&j, "policy", stencil_policy_of(run));
        xy_json_string(&j, "ran", r->sim.policy);
        xy_json_string(&j, "clock", run->is_real ? "real" : "virtual");
        if (run->is_real) {
            xy_json_int(&j, "workers", r->workers);
            xy_json_bool(&j, "checked", r->is_checked);
        } else {
            xy_json_string(&j, "machine", run->machine);
            xy_json_int(&j, "gpus", run->gpus);
            xy_json_int(&j, "cpus", run->cpus);
        }
        xy_json_string(&j, "graph", xy_stencil_graph_name(run->grid.graph));
        stencil_format_blocks(&run->grid, blocks);
        xy_json_string(&j, "blocks", blocks);
        xy_json_int(&j, "iterations", r->iterations);
        xy_json_string(&j, "load", stencil_load_name(run->grid.load));
        xy_json_string(&j, "precision", xy_stencil_precision_name(&run->grid));
        xy_json_int(&j, "tasks", (int64_t)r->tasks);
        xy_json_int(&j, "bytes", (int64_t)r->graph_bytes);
        xy_json_double(&j, "makespan", r->sim.makespan);
        xy_json_double(&j, "compute_bound", r->sim.compute_bound);
        xy_json_double(&j, "ratio", stencil_ratio(r));
        xy_json_int(&j, "loads", (int64_t)r->sim.loads);
        xy_json_int(&j, "stores", (int64_t)r->sim.stores);
        xy_json_int(&j, "peers", (int64_t)r->sim.peers);
        xy_json_double(&j, "scheduling_seconds", r->sim.scheduling_seconds);
        xy_json_end(&j);
    }
    xy_json_end(&j);
}
