/* SPDX-License-Identifier: BSD-3-Clause */
/* A sweep as one page: what was found, curves, heat maps, all points. */
#include <math.h>
#include <string.h>

#include "draw/draw.h"
#include "sim/sweep.h"
#include "sim/sweep_internal.h"

/* ---- What was found ---- */

/* The score of one way, in percent: the hidden part of a measured collective, or how near to its
 * work bound a simulated run comes (ways whose collectives take different times compare by that
 * alone). The mean over all points; not a number where there is none. */
static double score_of(const xy_sim_sweep_t *sweep, const xy_vec_t *points, int way)
{
    double sum = 0;
    int n = 0;

    for (size_t i = 0; i < points->count; i++) {
        const xy_sim_point_t *p = &XY_VEC_AT(points, xy_sim_point_t, i);

        if (p->way != way || isnan(p->times.t_ovrl))
            continue;
        sum += sweep->is_measured ? fmax(p->overlap, 0) : xy_sim_bound_percent(p);
        n++;
    }
    return n > 0 ? sum / n : NAN;
}

/* The way whose runs take the least time, by their geometric mean; -1: there is none. */
static int fastest_way(const xy_sim_sweep_t *sweep, const xy_vec_t *points)
{
    double least = INFINITY;
    int best = -1;

    for (int w = 0; w < sweep->way_count; w++) {
        double sum = 0;
        int n = 0;

        for (size_t i = 0; i < points->count; i++) {
            const xy_sim_point_t *p = &XY_VEC_AT(points, xy_sim_point_t, i);

            if (p->way == w && p->times.t_ovrl > 0) {
                sum += log(p->times.t_ovrl);
                n++;
            }
        }
        if (n > 0 && sum / n < least) {
            least = sum / n;
            best = w;
        }
    }
    return best;
}

static const char *name_for_people(const char *name)
{
    static const char *const known[][2] = {
        {"xylem", "Xylem"}, {"openmpi", "Open MPI"}, {"mpich", "MPICH"}};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(known[i][0], name) == 0)
            return known[i][1];
    return name;
}

/* Write the finding of the sweep, in one sentence; "" where there is no result. "Xylem hides 99 %
 * of bcast, Open MPI 23 %; Xylem takes the least time.": the best first. A way that hides much may
 * still be slow, and measured ways compute the same, so that their times compare. */
static void find_result(const xy_sim_sweep_t *sweep, const xy_vec_t *points, char *text,
                        size_t size)
{
    enum { WAYS_MAX = 16 };
    const char *what =
        sweep->collective_count == 1 ? xy_coll_name(sweep->collectives[0]) : "the collectives";
    int ways = sweep->way_count < WAYS_MAX ? sweep->way_count : WAYS_MAX;
    xy_score_t scores[WAYS_MAX];
    size_t n, count;

    for (int w = 0; w < ways; w++)
        scores[w] = (xy_score_t){name_for_people(sweep->ways[w].name), score_of(sweep, points, w)};
    count = xy_scores_sort(scores, (size_t)ways, true);
    text[0] = '\0';
    if (count == 0)
        return;
    if (sweep->is_measured)
        n = (size_t)snprintf(text, size, "%s hides %.0f %% of %s", scores[0].name, scores[0].value,
                             what);
    else
        n = (size_t)snprintf(text, size, "%s: %.0f %% of the work bound of %s", scores[0].name,
                             scores[0].value, what);
    for (size_t i = 1; i < count && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, ", %s %.0f %%", scores[i].name, scores[i].value);
    if (n < size)
        n += (size_t)snprintf(text + n, size - n, "%s",
                              points->count > (size_t)ways ? " (means over all points)" : "");
    if (n < size && sweep->is_measured && count > 1)
        n += (size_t)snprintf(text + n, size - n, "; %s takes the least time",
                              name_for_people(sweep->ways[fastest_way(sweep, points)].name));
    if (n < size)
        snprintf(text + n, size - n, ".");
}

/* ---- The page ---- */

/* Draws the overlap over ranks and sizes, one picture per collective and way. */
static void write_heats(const xy_sim_sweep_t *sweep, const xy_vec_t *points, FILE *file)
{
    if (sweep->size_count < 2 || sweep->rank_count < 2 ||
        points->count < (size_t)xy_sim_sweep_points(sweep))
        return;
    xy_page_heading(file, "Overlap over ranks and size");
    xy_page_paragraph(file,
                      "The stronger the colour, the more of the communication is hidden; hold "
                      "the pointer over a cell for its value.");
    for (int c = 0; c < sweep->collective_count; c++) {
        xy_page_row_begin(file);
        for (int w = 0; w < sweep->way_count; w++)
            sim_draw_heat(sweep, points, c, w, file);
        xy_page_row_end(file);
    }
}

/* Prints a point as a line of the table; points without a result are left out. */
static void write_row(const xy_sim_sweep_t *sweep, const xy_sim_point_t *p, FILE *file)
{
    const xy_sim_times_t *t = &p->times;
    double sum = t->t_comm + t->t_comp;
    char text[32];

    if (isnan(t->t_ovrl))
        return;
    xy_page_line(file);
    xy_page_cell(file, "%s", xy_coll_name(p->collective));
    xy_page_cell(file, "%s", xy_format_size(p->size, text));
    xy_page_cell(file, "%d", p->ranks);
    xy_page_cell(file, "%d", p->comm_cores);
    xy_page_cell(file, "%s", sweep->ways[p->way].name);
    if (!sweep->is_measured)
        xy_page_cell(file, "%d", t->split);
    xy_page_cell(file, "%s", xy_format_seconds(t->t_comm, text));
    xy_page_cell(file, "%s", xy_format_seconds(t->t_comp, text));
    xy_page_cell(file, "%s", xy_format_seconds(t->t_ovrl, text));
    xy_page_cell(file, "%.1f %%", sim_overlap_of(sweep, p));
    xy_page_cell(file, "%.1f %%",
                 !sweep->is_measured ? xy_sim_bound_percent(p)
                 : sum > 0           ? 100 * t->t_ovrl / sum
                                     : 100);
}

/* Prints the table of all points. */
static void write_table(const xy_sim_sweep_t *sweep, const xy_vec_t *points, FILE *file)
{
    static const char *const measured[] = {"collective", "size",       "ranks",  "comm. cores",
                                           "library",    "t_comm",     "t_comp", "t_ovrl",
                                           "overlap",    "of the sum", NULL};
    static const char *const simulated[] = {"collective", "size",    "ranks",        "comm. cores",
                                            "progress",   "S",       "t_comm",       "t_comp",
                                            "t_ovrl",     "overlap", "of the bound", NULL};

    xy_page_heading(file, "All points");
    xy_page_table_begin(file, NULL, sweep->is_measured ? measured : simulated);
    for (size_t i = 0; i < points->count; i++)
        write_row(sweep, &XY_VEC_AT(points, xy_sim_point_t, i), file);
    xy_page_table_end(file, NULL);
}

static const char *describe_mode(const xy_sim_sweep_t *sweep)
{
    if (sweep->mode != XY_SIM_CPU_EXPLOIT)
        return "The global computation is fixed and shared by the ranks (equivalent-compute).";
    return sweep->is_measured
               ? "The computation lasts as long as the collective alone under the first library "
                 "and is the same for all (cpu-exploit)."
               : "The computation lasts as long as the collective alone, in each progress mode "
                 "(cpu-exploit).";
}

void xy_sim_write_html(const xy_sim_sweep_t *sweep, const xy_vec_t *points, FILE *file)
{
    char title[128], finding[512];

    snprintf(title, sizeof(title), "Overlap on %s", sweep->title);
    find_result(sweep, points, finding, sizeof(finding));
    xy_page_begin(file, &(xy_page_t){.title = title, .finding = finding});
    xy_page_paragraph(
        file,
        "%s: start a collective, compute, wait. %s Times are from the start of the first rank to "
        "the end of the last one. Solid lines are collective and computation together, dashed and "
        "dotted lines each of them alone.%s",
        sweep->is_measured ? "Measured" : "Simulated", describe_mode(sweep),
        sweep->is_measured ? "" : " The work bound is that of the last method.");
    sim_draw_panels(sweep, points, true, file);
    write_heats(sweep, points, file);
    write_table(sweep, points, file);
    xy_page_end(file);
}
