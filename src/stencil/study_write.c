/* SPDX-License-Identifier: BSD-3-Clause */
/* What is made of a study: CSV, JSON, and a page with curves. */
#include <math.h>
#include <string.h>

#include "stencil/stencil.h"

static double volume(const xy_stencil_result_t *r)
{
    return (double)(r->sim.bytes_loaded + r->sim.bytes_stored);
}

static const char *policy_of(const xy_stencil_run_t *run)
{
    return run->how.policy != NULL ? run->how.policy : xy_task_policies[0]->name;
}

static const char *const load_names[] = {"even", "static", "dynamic", "file"};

void xy_stencil_study_csv(const xy_stencil_study_t *study, FILE *file)
{
    fprintf(file, "policy,ran,machine,gpus,memory,graph,blocks,iterations,load,tasks,makespan,"
                  "tasks_end,compute_bound,ratio,loads,stores,peers,scheduling_seconds\n");
    for (size_t i = 0; i < study->count; i++) {
        const xy_stencil_run_t *run = &study->runs[i];
        const xy_stencil_result_t *r = &study->results[i];
        const xy_task_result_t *s = &r->sim;

        if (study->status[i] != XY_OK)
            continue;
        fprintf(file,
                "%s,%s,%s,%d,%llu,%s,%lldx%lldx%lld,%d,%s,%llu,%.9g,%.9g,%.9g,%.6f,%llu,"
                "%llu,%llu,%.6g\n",
                policy_of(run), s->policy, run->machine, run->gpus,
                (unsigned long long)(run->memory == XY_TASK_NO_LIMIT ? 0 : run->memory),
                xy_stencil_graph_name(run->grid.graph), (long long)run->grid.blocks[0],
                (long long)run->grid.blocks[1], (long long)run->grid.blocks[2],
                run->grid.iterations, load_names[run->grid.load], (unsigned long long)r->tasks,
                s->makespan, s->tasks_end, s->compute_bound, s->makespan / s->compute_bound,
                (unsigned long long)s->loads, (unsigned long long)s->stores,
                (unsigned long long)s->peers, s->scheduling_seconds);
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

        if (study->status[i] != XY_OK)
            continue;
        xy_json_begin_object(&j, NULL);
        xy_json_string(&j, "policy", policy_of(run));
        xy_json_string(&j, "ran", r->sim.policy);
        xy_json_string(&j, "machine", run->machine);
        xy_json_int(&j, "gpus", run->gpus);
        xy_json_string(&j, "graph", xy_stencil_graph_name(run->grid.graph));
        xy_json_int(&j, "bytes", (int64_t)r->graph_bytes);
        xy_json_double(&j, "makespan", r->sim.makespan);
        xy_json_double(&j, "compute_bound", r->sim.compute_bound);
        xy_json_double(&j, "ratio", r->sim.makespan / r->sim.compute_bound);
        xy_json_int(&j, "loads", (int64_t)r->sim.loads);
        xy_json_int(&j, "stores", (int64_t)r->sim.stores);
        xy_json_int(&j, "peers", (int64_t)r->sim.peers);
        xy_json_double(&j, "scheduling_seconds", r->sim.scheduling_seconds);
        xy_json_end(&j);
    }
    xy_json_end(&j);
}

/* ---- Curves: one per policy; x is the size of the domain, y a ratio, on a log scale ---- */

enum { WIDTH = 720, HEIGHT = 420, LEFT = 64, BOTTOM = 48, TOP = 36, RIGHT = 150 };

typedef double (*value_fn)(const xy_stencil_result_t *r);

static double ratio(const xy_stencil_result_t *r)
{
    return r->sim.makespan / r->sim.compute_bound;
}

static double passes(const xy_stencil_result_t *r)
{
    return volume(r) / (double)r->graph_bytes;
}

/* The same lines of the table but for policy and size belong to one picture. */
static bool is_same_picture(const xy_stencil_run_t *a, const xy_stencil_run_t *b)
{
    return strcmp(a->machine, b->machine) == 0 && a->gpus == b->gpus && a->memory == b->memory &&
           a->grid.graph == b->grid.graph && a->grid.dims == b->grid.dims &&
           a->grid.iterations == b->grid.iterations && a->grid.load == b->grid.load;
}

typedef struct {
    double x0, x1, y0, y1;
} range_t;

static double at_y(const range_t *g, double v)
{
    double share = (log10(v) - log10(g->y0)) / (log10(g->y1) - log10(g->y0));

    return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP);
}

static double at_x(const range_t *g, double v)
{
    double width = g->x1 > g->x0 ? g->x1 - g->x0 : 1;

    return LEFT + (v - g->x0) / width * (WIDTH - LEFT - RIGHT);
}

static range_t find_range(const xy_stencil_study_t *study, size_t first, value_fn fn)
{
    range_t g = {-1, 0, 1, 2};

    for (size_t i = first; i < study->count; i++) {
        double x = (double)study->results[i].graph_bytes, y;

        if (study->status[i] != XY_OK || !is_same_picture(&study->runs[first], &study->runs[i]))
            continue;
        y = fn(&study->results[i]);
        g.x0 = g.x0 < 0 || x < g.x0 ? x : g.x0;
        g.x1 = x > g.x1 ? x : g.x1;
        while (y > g.y1)
            g.y1 *= 2;
    }
    return g;
}

static void draw_axes(FILE *f, const range_t *g, const char *title)
{
    char text[32];

    fprintf(f, "<text x='%d' y='20' class='t'>%s</text>\n", LEFT, title);
    for (double y = 1; y <= g->y1 * 1.001; y *= 2)
        fprintf(f,
                "<line x1='%d' x2='%d' y1='%.1f' y2='%.1f' class='g'/><text x='%d' y='%.1f' "
                "text-anchor='end'>%g</text>\n",
                LEFT, WIDTH - RIGHT, at_y(g, y), at_y(g, y), LEFT - 8, at_y(g, y) + 4, y);
    for (int i = 0; i <= 4; i++) {
        double x = g->x0 + (g->x1 - g->x0) * i / 4;

        fprintf(f, "<text x='%.1f' y='%d' text-anchor='middle'>%s</text>\n", at_x(g, x),
                HEIGHT - BOTTOM + 20, xy_format_size((uint64_t)x, text));
    }
    fprintf(f, "<text x='%d' y='%d' text-anchor='middle'>size of the domain</text>\n",
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8);
}

static void draw_curve(FILE *f, const xy_stencil_study_t *study, size_t first, size_t mine,
                       const range_t *g, value_fn fn, int number)
{
    const char *policy = policy_of(&study->runs[mine]);
    uint32_t colour = xy_trace_colour(XY_TRACE_OTHER, (unsigned)number);
    double x = 0, y = 0;

    fprintf(f, "<polyline fill='none' stroke='#%06x' stroke-width='2' points='", colour);
    for (size_t i = mine; i < study->count; i++) {
        if (study->status[i] != XY_OK || strcmp(policy_of(&study->runs[i]), policy) != 0 ||
            !is_same_picture(&study->runs[first], &study->runs[i]))
            continue;
        x = at_x(g, (double)study->results[i].graph_bytes);
        y = at_y(g, fn(&study->results[i]));
        fprintf(f, "%.1f,%.1f ", x, y);
    }
    fprintf(f, "'/>\n<text x='%d' y='%d' fill='#%06x'>%s</text>\n", WIDTH - RIGHT + 8,
            TOP + 16 * number + 12, colour, policy);
    fprintf(f, "<circle cx='%.1f' cy='%.1f' r='3' fill='#%06x'/>\n", x, y, colour);
}

static bool is_first_of_policy(const xy_stencil_study_t *study, size_t first, size_t i)
{
    for (size_t k = first; k < i; k++)
        if (study->status[k] == XY_OK && is_same_picture(&study->runs[first], &study->runs[k]) &&
            strcmp(policy_of(&study->runs[k]), policy_of(&study->runs[i])) == 0)
            return false;
    return true;
}

static void draw(FILE *f, const xy_stencil_study_t *study, size_t first, value_fn fn,
                 const char *title)
{
    range_t g = find_range(study, first, fn);
    int number = 0;

    fprintf(f,
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' role='img' "
            "aria-label='%s'>\n",
            WIDTH, HEIGHT, title);
    draw_axes(f, &g, title);
    for (size_t i = first; i < study->count; i++)
        if (study->status[i] == XY_OK && is_same_picture(&study->runs[first], &study->runs[i]) &&
            is_first_of_policy(study, first, i))
            draw_curve(f, study, first, i, &g, fn, number++);
    fprintf(f, "</svg>\n");
}

static bool is_first_of_picture(const xy_stencil_study_t *study, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (study->status[k] == XY_OK && is_same_picture(&study->runs[k], &study->runs[i]))
            return false;
    return study->status[i] == XY_OK;
}

void xy_stencil_study_page(const xy_stencil_study_t *study, FILE *f)
{
    fprintf(f, "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><title>Stencil "
               "study</title>\n<style>body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;"
               "max-width:60em;padding:0 1em;color:#1c1c1c;background:#fff}svg{width:100%%;"
               "max-width:720px;font:12px system-ui,sans-serif}.g{stroke:#ddd}.t{font-weight:600;"
               "font-size:14px}</style></head><body>\n<h1>Stencil study</h1>\n");
    for (size_t i = 0; i < study->count; i++) {
        const xy_stencil_run_t *run = &study->runs[i];

        if (!is_first_of_picture(study, i))
            continue;
        fprintf(f, "<h2>");
        xy_xml_escape(f, run->machine);
        fprintf(f, ", %d GPU%s, %s, %dD, %d iterations</h2>\n", run->gpus,
                run->gpus == 1 ? "" : "s", xy_stencil_graph_name(run->grid.graph), run->grid.dims,
                run->grid.iterations);
        draw(f, study, i, ratio, "makespan / compute bound");
        draw(f, study, i, passes, "bytes moved / bytes of the domain");
    }
    fprintf(f, "</body></html>\n");
}
