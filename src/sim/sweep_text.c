/* SPDX-License-Identifier: BSD-3-Clause */
/* A sweep as a table for people, as CSV and as JSON. */
#include "draw/draw.h"
#include "sim/sweep.h"

static const xy_sim_point_t *point_at(const xy_vec_t *points, size_t i)
{
    return &XY_VEC_AT(points, xy_sim_point_t, i);
}

void xy_sim_write_text(const xy_sim_sweep_t *sweep, const xy_vec_t *points, FILE *file)
{
    for (size_t i = 0; i < points->count; i++) {
        const xy_sim_point_t *p = point_at(points, i);
        const xy_sim_point_t *before = i > 0 ? point_at(points, i - 1) : NULL;
        char size[32], comm[32], comp[32], ovrl[32];

        if (before == NULL || before->collective != p->collective || before->size != p->size)
            fprintf(file,
                    "%s%s, %s, on %s (simulated)\n%5s %5s  %-10s %2s %11s %11s %11s %8s %6s\n",
                    before != NULL ? "\n" : "", xy_coll_name(p->collective),
                    xy_format_size(p->size, size), sweep->title, "ranks", "comm", "progress", "S",
                    "t_comm", "t_comp", "t_ovrl", "overlap", "bound");
        fprintf(file, "%5d %5d  %-10s %2d %11s %11s %11s %7.1f%% %5.1f%%\n", p->ranks,
                p->comm_cores, sweep->ways[p->way].name, p->times.split,
                xy_format_seconds(p->times.t_comm, comm), xy_format_seconds(p->times.t_comp, comp),
                xy_format_seconds(p->times.t_ovrl, ovrl), xy_sim_overlap(&p->times),
                xy_sim_bound_percent(p));
    }
}

/* The points, with the same fields in CSV and JSON. */
static void add_rows(const xy_sim_sweep_t *sweep, const xy_vec_t *points, xy_rows_t *rows)
{
    for (size_t i = 0; i < points->count; i++) {
        const xy_sim_point_t *p = point_at(points, i);

        xy_rows_add(rows,
                    "collective %s bytes %lu ranks %d comm_cores %d progress %s split %d t_comm %g "
                    "t_comp %g t_ovrl %g overlap %g bound %g threads %s",
                    xy_coll_name(p->collective), p->size, p->ranks, p->comm_cores,
                    sweep->ways[p->way].name, p->times.split, p->times.t_comm, p->times.t_comp,
                    p->times.t_ovrl, xy_sim_overlap(&p->times), p->bound, p->threads);
    }
}

void xy_sim_write_csv(const xy_sim_sweep_t *sweep, const xy_vec_t *points, FILE *file)
{
    add_rows(sweep, points, &(xy_rows_t){.csv = file});
}

void xy_sim_write_json(const xy_sim_sweep_t *sweep, const xy_vec_t *points, FILE *file)
{
    xy_json_t j;

    xy_json_init(&j, file, true);
    xy_json_begin_object(&j, NULL);
    xy_fields(&j, "machine %s simulated %i mode %s", sweep->title, true,
              sweep->mode == XY_SIM_CPU_EXPLOIT ? "cpu-exploit" : "equivalent-compute");
    xy_json_begin_array(&j, "points");
    add_rows(sweep, points, &(xy_rows_t){.json = &j});
    xy_json_end(&j);
    xy_json_end(&j);
}
