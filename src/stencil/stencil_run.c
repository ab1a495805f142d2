/* SPDX-License-Identifier: BSD-3-Clause */
/* One stencil on one machine under one policy, and its report. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draw/draw.h"
#include "stencil/internal.h"

static const char *const graph_names[] = {"red-black", "natural", "jacobi"};

const char *xy_stencil_graph_name(xy_stencil_graph_t graph)
{
    return graph_names[graph];
}

bool xy_stencil_graph_parse(const char *name, xy_stencil_graph_t *graph_p)
{
    for (int i = 0; i < 3; i++)
        if (strcmp(name, graph_names[i]) == 0) {
            *graph_p = (xy_stencil_graph_t)i;
            return true;
        }
    return false;
}

const char *xy_stencil_precision_name(const xy_stencil_t *s)
{
    return s->is_single ? "single" : "double";
}

bool xy_stencil_precision_parse(const char *name, xy_stencil_t *s)
{
    s->is_single = strcmp(name, "single") == 0;
    return s->is_single || strcmp(name, "double") == 0;
}

/* NxNxN, up to three numbers, from 1 to `most`. Returns how many; 0: it is something else. */
static int parse_extents(const char *text, int64_t most, int64_t extents[3])
{
    int dims = 0;

    for (const char *at = text; dims < 3; at++) {
        char *end;
        long long n = strtoll(at, &end, 10);

        if (end == at || n < 1 || n > most)
            return 0;
        extents[dims++] = n;
        at = end;
        if (*at == '\0')
            return dims;
        if (*at != 'x' || dims == 3)
            return 0;
    }
    return dims;
}

bool xy_stencil_blocks_parse(const char *text, xy_stencil_t *s)
{
    int64_t blocks[3] = {1, 1, 1};
    int dims = parse_extents(text, INT32_MAX, blocks);

    if (dims == 0)
        return false;
    memcpy(s->blocks, blocks, sizeof(blocks));
    if (s->dims != dims)
        s->points = dims == 1 ? 3 : dims == 2 ? 5 : 7;
    s->dims = dims;
    return true;
}

bool xy_stencil_cells_parse(const char *text, xy_stencil_t *s)
{
    int64_t cells[3] = {1, 1, 1};

    if (parse_extents(text, INT64_MAX >> 8, cells) != s->dims)
        return false;
    memcpy(s->cells, cells, sizeof(s->cells));
    return true;
}

static double bus_seconds(const xy_task_platform_t *p, const xy_task_result_t *r)
{
    double rate = 0;

    for (int32_t i = 0; i < p->shared_count; i++)
        rate += p->shared_rate[i];
    return rate > 0 ? (double)(r->bytes_loaded + r->bytes_stored) / rate : 0;
}

/* A task reads one array and writes another. The launch is taken once for tasks that share it. */
static void use_kernel(const xy_machine_t *m, xy_stencil_t *grid, xy_task_ahead_t *ahead)
{
    const xy_link_t *kernel = m->gpu_count > 0 ? &m->gpus[0].kernel : NULL;

    if (kernel == NULL || kernel->bandwidth <= 0)
        return;
    grid->task_seconds = kernel->latency + 2 * (double)grid->block_bytes / kernel->bandwidth;
    ahead->once = kernel->latency;
}

/* Simulates a stencil on a platform. */
static xy_status_t run_on(const xy_stencil_run_t *run, const xy_task_platform_t *p,
                          xy_stencil_result_t *result_p)
{
    xy_stencil_t grid = run->grid;
    xy_stencil_result_t r = {0};
    xy_task_sim_t how = run->how;
    xy_task_ahead_t ahead;
    xy_graph_t *graph, *trial = NULL;
    xy_status_t st = XY_OK;

    if (grid.parts == 0)
        grid.parts = p->workers;
    if (grid.parts > grid.blocks[0] - 2)
        grid.parts = 1;
    r.parts = grid.parts;
    grid.is_proportional = run->how.params.is_proportional;
    if (st == XY_OK && grid.check_every > 0)
        st = stencil_plain_foresee(&grid, run->until, &r);
    if (st == XY_OK)
        st = xy_stencil_build(&grid, &graph);
    if (st != XY_OK)
        return st;
    r.iterations = grid.iterations;
    r.workers = p->workers;
    if (how.ahead != NULL) {
        ahead = *how.ahead;
        ahead.batch = stencil_batch(&grid);
        ahead.exchange_bytes = stencil_exchange(&grid);
        how.ahead = &ahead;
    }
    if (how.ahead != NULL)
        st = stencil_build_trial(&grid, p, &trial);
    how.trials_on = trial;
    if (st == XY_OK)
        st = xy_task_simulate(graph, p, &how, &r.sim);
    xy_graph_destroy(trial);
    r.tasks = (uint64_t)xy_graph_ops(graph);
    r.data = (uint64_t)xy_graph_data_count(graph);
    for (int32_t d = 0; d < xy_graph_data_count(graph); d++)
        r.graph_bytes += xy_graph_data_at(graph, d)->bytes;
    r.bus_bound = bus_seconds(p, &r.sim);
    if (p->memories == 2 && p->capacity[1] != 0)
        r.window_volume = xy_stencil_window_volume(&grid, p->capacity[1] / grid.block_bytes);
    xy_graph_destroy(graph);
    if (st == XY_OK)
        *result_p = r;
    return st;
}

xy_status_t xy_stencil_run(const xy_stencil_run_t *run, xy_stencil_result_t *result_p)
{
    xy_task_platform_options_t options = {
        .gpus = run->gpus, .memory = run->memory, .cpus = run->cpus, .cpu_speed = run->cpu_speed};
    xy_task_platform_t *platform;
    xy_stencil_run_t own = *run;
    xy_task_ahead_t ahead = run->how.ahead != NULL ? *run->how.ahead : (xy_task_ahead_t){0};
    stencil_shape_t shape;
    xy_machine_t *machine;
    xy_status_t st;

    if (run->is_real)
        return stencil_real_run(run, result_p);
    st = xy_machine_load(run->machine, &machine);
    if (st != XY_OK)
        return st;
    if (own.grid.cells[0] > 0) /* the size of a block */
        st = stencil_shape(&own.grid, &shape);
    if (own.grid.is_by_kernel)
        use_kernel(machine, &own.grid, &ahead);
    if (run->how.ahead != NULL)
        own.how.ahead = &ahead;
    if (st == XY_OK)
        st = xy_task_platform_from(machine, &options, &platform);
    xy_machine_destroy(machine);
    if (st != XY_OK)
        return st;
    st = run_on(&own, platform, result_p);
    xy_task_platform_destroy(platform);
    return st;
}

void stencil_format_blocks(const xy_stencil_t *s, char buffer[96])
{
    int n = snprintf(buffer, 96, "%lld", (long long)s->blocks[0]);

    for (int d = 1; d < s->dims; d++)
        n += snprintf(buffer + n, 96 - (size_t)n, "x%lld", (long long)s->blocks[d]);
}

static void print_ends(const xy_stencil_run_t *run, const xy_stencil_result_t *r, FILE *file)
{
    if (run->grid.check_every > 0)
        fprintf(file, "convergence %s after %d iterations: the last change is %.3g\n",
                r->is_converged ? "reached" : "not reached", r->iterations, r->residual);
    if (r->is_real)
        fprintf(file, "result      %s\n",
                r->is_checked ? "bit for bit that of the plain loop" : "not checked");
}

/* Prints the cores or GPUs that computed a real run. */
static void print_places(const xy_stencil_run_t *run, const xy_stencil_result_t *r, FILE *file)
{
    const char *precision = run->grid.is_single ? ", single precision" : "";
    char cores[48] = "";

    if (r->workers > r->gpus)
        snprintf(cores, sizeof(cores), " and %d %s", r->workers - r->gpus,
                 r->workers - r->gpus == 1 ? "core" : "cores");
    if (r->is_real && r->gpu[0] != '\0')
        fprintf(file, "computed    on %d %s%s: %s%s%s%s\n", r->gpus, r->gpus == 1 ? "GPU" : "GPUs",
                cores, r->gpu, run->file != NULL ? ", in " : "", run->file != NULL ? run->file : "",
                precision);
    else if (r->is_real)
        fprintf(file, "computed    on %d %s with %s kernels, in %s%s\n", r->workers,
                r->workers == 1 ? "core" : "cores", r->kernels,
                run->file != NULL ? run->file : "memory", precision);
}

void xy_stencil_print_text(const xy_stencil_run_t *run, const xy_stencil_result_t *r, FILE *file)
{
    const xy_task_result_t *s = &r->sim;
    char blocks[96], policy[160], a[32], b[32];

    stencil_format_blocks(&run->grid, blocks);
    stencil_format_policy(run, r, policy);
    fprintf(file, "%s blocks (%s), %d iteration%s, %s order, %llu task%s\n", blocks,
            xy_format_size(r->graph_bytes, a), run->grid.iterations,
            xy_s((uint64_t)run->grid.iterations), xy_stencil_graph_name(run->grid.graph),
            (unsigned long long)r->tasks, xy_s(r->tasks));
    print_places(run, r, file);
    if (run->kernel_source != NULL)
        fprintf(file, "kernel      %s\n", run->kernel_source);
    if (r->ranks > 0)
        fprintf(file, "ranks       %d, %llu messages (%s)\n", r->ranks,
                (unsigned long long)s->messages, xy_format_size(s->bytes_received, a));
    fprintf(file, "policy      %s\n", policy);
    if (s->compute_bound > 0 || (r->gpu[0] == '\0' && r->ranks == 0))
        fprintf(file, "makespan    %s, %.3f times the compute bound of %s\n",
                xy_format_seconds(s->makespan, a),
                s->compute_bound > 0 ? s->makespan / s->compute_bound : 0,
                xy_format_seconds(s->compute_bound, b));
    else /* kernels are timed only for a trace or pictures */
        fprintf(file, "makespan    %s\n", xy_format_seconds(s->makespan, a));
    if (s->bound > 1.02 * s->compute_bound)
        fprintf(
            file,
            "bound       %s with the transfers that no schedule avoids; makespan %.3f times it\n",
            xy_format_seconds(s->bound, a), s->makespan / s->bound);
    fprintf(file, "last task   %s\n", xy_format_seconds(s->tasks_end, a));
    fprintf(file, "transfers   %llu load%s, %llu store%s, %llu between %s\n",
            (unsigned long long)s->loads, xy_s(s->loads), (unsigned long long)s->stores,
            xy_s(s->stores), (unsigned long long)s->peers,
            r->is_real && r->gpu[0] == '\0' ? "caches" : "GPUs");
    if (s->launches > 0 && r->ranks == 0)
        fprintf(file, "launches    %llu, of %.1f tasks each; up to %d data loaded early\n",
                (unsigned long long)s->launches, (double)s->tasks / (double)s->launches,
                r->sim.look_ahead);
    if (s->moving_seconds > 0)
        fprintf(file, "hidden      %.1f %% of the time in which data moved, the GPU computed\n",
                100 * s->hidden_seconds / s->moving_seconds);
    if (s->bytes_staged > 0)
        fprintf(file, "staged      %s, through pinned memory, as the domain is not pinned\n",
                xy_format_size(s->bytes_staged, a));
    if (r->window_volume > 0)
        fprintf(file, "volume      %.2f times that of a sliding window (%llu blocks)\n",
                (double)(s->loads + s->stores) / (double)r->window_volume,
                (unsigned long long)r->window_volume);
    fprintf(file, "scheduling  %s, %.2f us per task\n", xy_format_seconds(s->scheduling_seconds, a),
            1e6 * s->scheduling_seconds / (double)r->tasks);
    print_ends(run, r, file);
}

/* Writes the fields of real and checked runs. */
static void json_real(xy_json_t *j, const xy_stencil_run_t *run, const xy_stencil_result_t *r)
{
    xy_json_bool(j, "real", r->is_real);
    if (run->grid.check_every > 0)
        xy_fields(j, "converged %i residual %g", r->is_converged, r->residual);
    if (!r->is_real)
        return;
    xy_fields(j, "workers %d kernels %s", r->workers, r->kernels);
    if (r->gpu[0] != '\0')
        xy_fields(j, "gpu %s gpus %d", r->gpu, r->gpus);
    xy_fields(j, "precision %s checked %i", xy_stencil_precision_name(&run->grid), r->is_checked);
    if (r->ranks > 0)
        xy_fields(j, "ranks %d messages %lu bytes_received %lu", r->ranks, r->sim.messages,
                  r->sim.bytes_received);
    if (run->kernel_source != NULL)
        xy_json_string(j, "kernel_source", run->kernel_source);
    if (run->file != NULL)
        xy_json_string(j, "file", run->file);
}

/* The resources given to the policy, of all available ones. */
static void json_choice(xy_json_t *j, const xy_stencil_result_t *r)
{
    const xy_task_result_t *s = &r->sim;

    if (r->is_real)
        return;
    xy_fields(j, "eviction %s rounds %d workers_used %d", s->eviction, s->extra_rounds, s->workers);
    if (s->memory > 0)
        xy_json_int(j, "memory_used", (int64_t)s->memory);
    xy_fields(j, "trials %d trial_seconds %g", s->trials, s->trial_seconds);
}

void xy_stencil_print_json(const xy_stencil_run_t *run, const xy_stencil_result_t *r, FILE *file)
{
    const xy_task_result_t *s = &r->sim;
    char blocks[96];
    xy_json_t j;

    stencil_format_blocks(&run->grid, blocks);
    xy_json_init(&j, file, true);
    xy_json_begin_object(&j, NULL);
    xy_fields(&j, "policy %s ran %s", stencil_policy_of(run), s->policy);
    json_choice(&j, r);
    xy_fields(&j,
              "graph %s blocks %s iterations %d tasks %lu makespan %g tasks_end %g compute_bound "
              "%g ratio %g",
              xy_stencil_graph_name(run->grid.graph), blocks, r->iterations, r->tasks, s->makespan,
              s->tasks_end, s->compute_bound,
              s->compute_bound > 0 ? s->makespan / s->compute_bound : 0);
    if (!r->is_real)
        xy_json_double(&j, "bound", s->bound);
    xy_fields(&j,
              "bus_bound %g loads %lu stores %lu peers %lu bytes_loaded %lu bytes_stored %lu "
              "bytes_peer %lu",
              r->bus_bound, s->loads, s->stores, s->peers, s->bytes_loaded, s->bytes_stored,
              s->bytes_peer);
    if (s->bytes_staged > 0)
        xy_json_int(&j, "bytes_staged", (int64_t)s->bytes_staged);
    if (s->moving_seconds > 0)
        xy_json_double(&j, "hidden", s->hidden_seconds / s->moving_seconds);
    if (r->window_volume > 0)
        xy_json_int(&j, "window_volume", (int64_t)r->window_volume);
    if (s->launches > 0)
        xy_fields(&j, "launches %lu launches_waiting %lu look_ahead %d", s->launches,
                  s->launches_waiting, r->sim.look_ahead);
    xy_fields(&j, "evictions %lu scheduling_seconds %g", s->evictions, s->scheduling_seconds);
    if (r->is_real)
        xy_json_double(&j, "choosing_seconds", r->choosing_seconds);
    json_real(&j, run, r);
    xy_json_end(&j);
}
