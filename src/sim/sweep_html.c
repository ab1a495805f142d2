/* SPDX-License-Identifier: BSD-3-Clause */
/* A sweep as one page. */
#include <math.h>

#include "sim/sweep.h"
#include "sim/sweep_internal.h"

void sim_write_escaped(const char *text, FILE *file)
{
    for (; *text != '\0'; text++) {
        if (*text == '<')
            fputs("&lt;", file);
        else if (*text == '&')
            fputs("&amp;", file);
        else if (*text == '"')
            fputs("&quot;", file);
        else
            fputc(*text, file);
    }
}

static void write_heats(const xy_sim_sweep_t *sweep, const xy_vec_t *points, FILE *file)
{
    if (sweep->size_count < 2 || sweep->rank_count < 2 ||
        points->count < (size_t)xy_sim_sweep_points(sweep))
        return;
    fputs(
        "<h2>Overlap over ranks and size</h2>\n<p>White: nothing is hidden. Dark: all of it. Hold "
        "the pointer over a cell for its value.</p>\n",
        file);
    for (int c = 0; c < sweep->collective_count; c++)
        for (int w = 0; w < sweep->way_count; w++) {
            fprintf(file, "<h3>%s, ", xy_coll_name(sweep->collectives[c]));
            sim_write_escaped(sweep->ways[w].name, file);
            fputs("</h3>\n", file);
            sim_write_heat(sweep, points, c, w, file);
        }
}

static void write_row(const xy_sim_sweep_t *sweep, const xy_sim_point_t *p, FILE *file)
{
    char size[32], comm[32], comp[32], ovrl[32];
    double base = sweep->is_measured
                      ? p->times.t_ovrl * p->times.t_ovrl / (p->times.t_comm + p->times.t_comp)
                      : p->bound;

    if (isnan(p->times.t_ovrl))
        return;
    fprintf(file, "<tr><td>%s<td>%s<td>%d<td>%d<td>", xy_coll_name(p->collective),
            xy_format_size(p->size, size), p->ranks, p->comm_cores);
    sim_write_escaped(sweep->ways[p->way].name, file);
    if (!sweep->is_measured)
        fprintf(file, "<td>%d", p->times.split);
    fprintf(file, "<td>%s<td>%s<td>%s<td>%.1f %%<td>%.1f %%\n",
            xy_format_seconds(p->times.t_comm, comm), xy_format_seconds(p->times.t_comp, comp),
            xy_format_seconds(p->times.t_ovrl, ovrl), sim_overlap_of(sweep, p),
            100 * base / p->times.t_ovrl);
}

void xy_sim_write_html(const xy_sim_sweep_t *sweep, const xy_vec_t *points, FILE *file)
{
    fputs(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Overlap"
        "</title>\n<style>body{font:15px/1.5 sans-serif;max-width:70em;margin:2em auto;"
        "padding:0 1em;color:#222}table{border-collapse:collapse;font-size:13px}td,th{padding:2px "
        "8px;text-align:right;border-bottom:1px solid #eee}svg{max-width:100%;height:auto}"
        "</style></head><body>\n<h1>Overlap on ",
        file);
    sim_write_escaped(sweep->title, file);
    fprintf(
        file,
        "</h1>\n<p>%s: start a collective, compute, wait. %s. Solid curves are the whole time, "
        "from the first rank's beginning to the last one's end; dashed in the same colour is the "
        "collective alone, dotted the computation alone%s.</p>\n",
        sweep->is_measured ? "Measured" : "Simulated",
        sweep->mode == XY_SIM_CPU_EXPLOIT
            ? (sweep->is_measured ? "The computation is sized by the collective alone, under the "
                                    "first library, and is the same for all (cpu-exploit)"
                                  : "The computation lasts as long as the collective alone, in "
                                    "each way of progress (cpu-exploit)")
            : "The global computation is fixed and shared by the ranks (equivalent-compute)",
        sweep->is_measured ? "" : ", black dots the work bound of the last way");
    xy_sim_write_svg(sweep, points, file);
    write_heats(sweep, points, file);
    fprintf(file,
            "<h2>All points</h2>\n<table><tr><th>collective<th>size<th>ranks<th>comm. "
            "cores<th>%s<th>t_comm<th>t_comp<th>t_ovrl<th>overlap<th>of the %s\n",
            sweep->is_measured ? "library" : "progress<th>S", sweep->is_measured ? "sum" : "bound");
    for (size_t i = 0; i < points->count; i++)
        write_row(sweep, &XY_VEC_AT(points, xy_sim_point_t, i), file);
    fputs("</table>\n</body></html>\n", file);
}
