/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The page of a study: for each machine, graph and load two pictures, with a curve per policy over
 * the size of the domain, and the table of their numbers.
 */
#include <math.h>
#include <string.h>

#include "stencil/internal.h"

enum { WIDTH = 720, HEIGHT = 400, LEFT = 56, BOTTOM = 48, TOP = 34, RIGHT = 150, COLOURS = 9 };

/* Okabe and Ito's, which everybody tells apart, in tones that are seen on white and on black. */
static const char *const colours[COLOURS] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9",
                                             "#d55e00", "#8a7a00", "#7f7f7f", "#a65628"};

typedef double (*value_fn)(const xy_stencil_run_t *run, const xy_stencil_result_t *r);

static double ratio(const xy_stencil_run_t *run, const xy_stencil_result_t *r)
{
    (void)run;
    return stencil_ratio(r);
}

/* The bound of a real run is measured with it, so that times, not ratios, compare policies. */
static double pace(const xy_stencil_run_t *run, const xy_stencil_result_t *r)
{
    double cells = (double)run->grid.block_bytes / sizeof(double);

    if (run->grid.cells[0] > 0)
        cells = (double)(run->grid.cells[0] * run->grid.cells[1] * run->grid.cells[2]);
    return r->sim.tasks > 0 ? 1e9 * r->sim.makespan / (double)r->sim.tasks / cells : 1;
}

static double passes(const xy_stencil_run_t *run, const xy_stencil_result_t *r)
{
    (void)run;
    return (double)(r->sim.bytes_loaded + r->sim.bytes_stored) / (double)r->graph_bytes;
}

/* The same lines of the table but for policy and size belong to one picture. */
static bool is_same_picture(const xy_stencil_run_t *a, const xy_stencil_run_t *b)
{
    return strcmp(a->machine, b->machine) == 0 && a->gpus == b->gpus && a->cpus == b->cpus &&
           a->memory == b->memory && a->grid.graph == b->grid.graph &&
           a->grid.dims == b->grid.dims && a->grid.points == b->grid.points &&
           a->grid.iterations == b->grid.iterations && a->grid.load == b->grid.load &&
           a->grid.block_bytes == b->grid.block_bytes && a->how.eviction == b->how.eviction &&
           memcmp(a->grid.cells, b->grid.cells, sizeof(a->grid.cells)) == 0;
}

static bool is_in(const xy_stencil_study_t *study, size_t first, size_t i)
{
    return study->status[i] == XY_OK && is_same_picture(&study->runs[first], &study->runs[i]);
}

typedef struct {
    double x0, x1, y0, y1;
} range_t;

static double at_y(const range_t *g, double v)
{
    double share = log(fmax(v, g->y0) / g->y0) / log(g->y1 / g->y0);

    return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP);
}

static double at_x(const range_t *g, double v)
{
    double share = g->x1 > g->x0 ? (v - g->x0) / (g->x1 - g->x0) : 0.5;

    return LEFT + 10 + share * (WIDTH - LEFT - RIGHT - 20);
}

static range_t find_range(const xy_stencil_study_t *study, size_t first, value_fn fn)
{
    range_t g = {-1, 0, 0, 0};
    double low = INFINITY, high = 0;

    for (size_t i = first; i < study->count; i++) {
        double x = (double)study->results[i].graph_bytes, y;

        if (!is_in(study, first, i))
            continue;
        y = fn(&study->runs[i], &study->results[i]);
        g.x0 = g.x0 < 0 || x < g.x0 ? x : g.x0;
        g.x1 = x > g.x1 ? x : g.x1;
        low = y > 0 && y < low ? y : low;
        high = y > high ? y : high;
    }
    low = isfinite(low) ? low : 1;
    g.y0 = exp2(floor(log2(low * 1.0001)));
    g.y1 = fmax(2 * g.y0, exp2(ceil(log2(fmax(high, low) * 0.9999))));
    return g;
}

/* Sizes are marked where there are any, as far as the words do not touch. */
static void draw_sizes(FILE *f, const xy_stencil_study_t *study, size_t first, const range_t *g)
{
    double last = -1e9;
    char text[32];

    for (double next = g->x0; next >= 0;) {
        double x = next, at = at_x(g, x);

        next = -1;
        if (at - last >= 70) {
            fprintf(f, "<text x='%.1f' y='%d' text-anchor='middle'>%s</text>\n", at,
                    HEIGHT - BOTTOM + 20, xy_format_size((uint64_t)x, text));
            last = at;
        }
        for (size_t i = first; i < study->count; i++) {
            double other = (double)study->results[i].graph_bytes;

            if (is_in(study, first, i) && other > x && (next < 0 || other < next))
                next = other;
        }
    }
}

static void draw_axes(FILE *f, const xy_stencil_study_t *study, size_t first, const range_t *g,
                      const char *title)
{
    fprintf(f, "<text x='%d' y='18' class='t'>%s</text>\n", LEFT - 30, title);
    for (double y = g->y0; y <= g->y1 * 1.001; y *= 2)
        fprintf(f,
                "<line x1='%d' x2='%d' y1='%.1f' y2='%.1f' class='g'/><text x='%d' y='%.1f' "
                "text-anchor='end'>%.4g</text>\n",
                LEFT, WIDTH - RIGHT, at_y(g, y), at_y(g, y), LEFT - 8, at_y(g, y) + 4, y);
    draw_sizes(f, study, first, g);
    fprintf(f, "<text x='%d' y='%d' text-anchor='middle'>size of the domain</text>\n",
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8);
}

/* A point for each run, and a line through them; a policy that comes a second time around the
 * colours has a broken one. */
static void draw_curve(FILE *f, const xy_stencil_study_t *study, size_t first, size_t mine,
                       const range_t *g, value_fn fn, int number)
{
    const char *policy = stencil_policy_of(&study->runs[mine]), *colour = colours[number % COLOURS];
    const char *dash = number < COLOURS ? "" : " stroke-dasharray='6 4'";
    int at = TOP + 18 * number + 8;

    fprintf(f, "<g stroke='%s' fill='%s'><polyline fill='none' stroke-width='2'%s points='", colour,
            colour, dash);
    for (int is_point = 0; is_point < 2; is_point++) {
        for (size_t i = mine; i < study->count; i++) {
            double x, y, value;

            if (!is_in(study, first, i) || strcmp(stencil_policy_of(&study->runs[i]), policy) != 0)
                continue;
            value = fn(&study->runs[i], &study->results[i]);
            x = at_x(g, (double)study->results[i].graph_bytes);
            y = at_y(g, value);
            if (is_point)
                fprintf(f, "<circle cx='%.1f' cy='%.1f' r='3'><title>%s: %.4g</title></circle>", x,
                        y, policy, value);
            else
                fprintf(f, "%.1f,%.1f ", x, y);
        }
        fputs(is_point ? "" : "'/>", f);
    }
    fprintf(f,
            "<line x1='%d' x2='%d' y1='%d' y2='%d' stroke-width='2'%s/></g>\n<text x='%d' "
            "y='%d'>%s</text>\n",
            WIDTH - RIGHT + 10, WIDTH - RIGHT + 28, at - 4, at - 4, dash, WIDTH - RIGHT + 34, at,
            policy);
}

static bool is_first_of_policy(const xy_stencil_study_t *study, size_t first, size_t i)
{
    for (size_t k = first; k < i; k++)
        if (is_in(study, first, k) &&
            strcmp(stencil_policy_of(&study->runs[k]), stencil_policy_of(&study->runs[i])) == 0)
            return false;
    return true;
}

static void draw(FILE *f, const xy_stencil_study_t *study, size_t first, value_fn fn,
                 const char *title)
{
    range_t g = find_range(study, first, fn);
    int number = 0;

    fprintf(
        f,
        "<div class='wide'><svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' role='img' "
        "aria-label='%s'>\n",
        WIDTH, HEIGHT, title);
    draw_axes(f, study, first, &g, title);
    for (size_t i = first; i < study->count; i++)
        if (is_in(study, first, i) && is_first_of_policy(study, first, i))
            draw_curve(f, study, first, i, &g, fn, number++);
    fprintf(f, "</svg></div>\n");
}

/* ---- Words and numbers ---- */

static bool is_first_of_picture(const xy_stencil_study_t *study, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (study->status[k] == XY_OK && is_same_picture(&study->runs[k], &study->runs[i]))
            return false;
    return study->status[i] == XY_OK;
}

static void print_heading(FILE *f, const xy_stencil_run_t *run, const xy_stencil_result_t *r)
{
    char size[32];

    fprintf(f, "<h2>");
    if (run->is_real) {
        fprintf(f, "This machine, %d core%s", (int)r->workers, r->workers == 1 ? "" : "s");
    } else {
        xy_xml_escape(f, run->machine);
        fprintf(f, ", %d GPU%s", run->gpus, run->gpus == 1 ? "" : "s");
        if (run->cpus > 0)
            fprintf(f, ", %d core%s", run->cpus, run->cpus == 1 ? "" : "s");
    }
    if (run->memory == XY_TASK_NO_LIMIT)
        fprintf(f, " without a limit of memory");
    else if (run->memory > 0)
        fprintf(f, " with %s", xy_format_size(run->memory, size));
    fprintf(f, "</h2>\n<p>%s time; %s order, %dD, %d points, %d iterations, %s load%s%s.</p>\n",
            run->is_real ? "Real" : "Virtual", xy_stencil_graph_name(run->grid.graph),
            run->grid.dims, run->grid.points, run->grid.iterations,
            stencil_load_name(run->grid.load), run->how.eviction != NULL ? ", eviction " : "",
            run->how.eviction != NULL ? run->how.eviction : "");
}

static void print_row(FILE *f, const xy_stencil_run_t *run, const xy_stencil_result_t *r)
{
    const xy_task_result_t *s = &r->sim;
    char blocks[96], size[32], makespan[32];

    stencil_format_blocks(&run->grid, blocks);
    fprintf(f, "<tr><td>%s", stencil_policy_of(run));
    if (strcmp(stencil_policy_of(run), s->policy) != 0)
        fprintf(f, " (%s)", s->policy);
    fprintf(f, "<td>%s<td>%s<td>%s<td>%.3f<td>%llu<td>%llu<td>%llu<td>%.2f us\n", blocks,
            xy_format_size(r->graph_bytes, size), xy_format_seconds(s->makespan, makespan),
            ratio(run, r), (unsigned long long)s->loads, (unsigned long long)s->stores,
            (unsigned long long)s->peers,
            s->tasks > 0 ? 1e6 * s->scheduling_seconds / (double)s->tasks : 0);
}

static void print_table(FILE *f, const xy_stencil_study_t *study, size_t first)
{
    fprintf(f, "<details><summary>Numbers</summary><div class='wide'><table><tr><th>policy<th>"
               "blocks<th>domain<th>makespan<th>/ bound<th>loads<th>stores<th>between<th>decision "
               "per task\n");
    for (size_t i = first; i < study->count; i++)
        if (is_in(study, first, i))
            print_row(f, &study->runs[i], &study->results[i]);
    fprintf(f, "</table></div></details>\n");
}

static void print_failures(FILE *f, const xy_stencil_study_t *study)
{
    size_t failed = 0;

    for (size_t i = 0; i < study->count; i++)
        failed += study->status[i] != XY_OK;
    if (failed > 0)
        fprintf(f, "<p>%zu of %zu combinations could not run and are not shown.</p>\n", failed,
                study->count);
}

void xy_stencil_study_page(const xy_stencil_study_t *study, FILE *f)
{
    fprintf(f,
            "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><meta name='viewport' "
            "content='width=device-width'><title>Stencil study</title>\n"
            "<style>:root{color-scheme:light dark;--ink:#1c1c1c;--page:#fff;--line:#ddd}"
            "@media(prefers-color-scheme:dark){:root{--ink:#e6e9ef;--page:#14161a;--line:#333a45"
            "}}body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:60em;padding:0 "
            "1em;color:var(--ink);background:var(--page)}svg{width:100%%;min-width:540px;max-width:"
            "720px;"
            "display:block;margin:1em 0;font:13px system-ui,sans-serif}svg text{fill:var(--ink)}"
            ".g{stroke:var(--line)}.t{font-weight:600;font-size:15px}.wide{overflow-x:auto}"
            "table{border-collapse:collapse;font-variant-numeric:tabular-nums}td,th{padding:.15em"
            " .7em;text-align:right;border-bottom:1px solid var(--line)}td:first-child,"
            "th:first-child{text-align:left}</style></head><body>\n<h1>Stencil study</h1>\n");
    print_failures(f, study);
    for (size_t i = 0; i < study->count; i++) {
        const xy_stencil_run_t *run = &study->runs[i];

        if (!is_first_of_picture(study, i))
            continue;
        print_heading(f, run, &study->results[i]);
        if (run->is_real)
            draw(f, study, i, pace, "nanoseconds per cell and iteration");
        else
            draw(f, study, i, ratio, "makespan / compute bound");
        draw(f, study, i, passes, "bytes moved / bytes of the domain");
        print_table(f, study, i);
    }
    fprintf(f, "</body></html>\n");
}
