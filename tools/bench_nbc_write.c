/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem bench nbc: what was measured as a table, CSV, JSON, curves and a page. */
#include <math.h>
#include <string.h>

#include "bench_nbc.h"
#include "draw/draw.h"

/* One result with what it belongs to. */
typedef struct {
    const nbc_study_t *study;
    const nbc_result_t *result;
    const nbc_library_t *library;
    xy_collective_t collective;
    uint64_t size;
    int ranks;
    double against; /* t_ovrl to the least of the peers' for the same; not a number: no peer */
    bool is_first;  /* of its collective, size and ranks */
} row_t;

typedef void (*row_fn)(const row_t *row, void *arg);

static double best_peer(const nbc_study_t *study, size_t c, size_t s, size_t r)
{
    double best = NAN;

    for (size_t l = 0; l < study->libraries.count; l++)
        if (XY_VEC_AT(&study->libraries, nbc_library_t, l).peer != NULL)
            best = fmin(best, nbc_median(nbc_result_at(study, c, s, r, l), NBC_OVRL));
    return best;
}

/* By ranks, size, collective, library: what compares stands together. */
static void for_each_row(const nbc_study_t *study, row_fn fn, void *arg)
{
    const nbc_lists_t *lists = &study->lists;
    row_t row = {.study = study};

    for (size_t r = 0; r < lists->ranks.count; r++)
        for (size_t s = 0; s < lists->sizes.count; s++)
            for (size_t c = 0; c < lists->collectives.count; c++)
                for (size_t l = 0; l < study->libraries.count; l++) {
                    row.result = nbc_result_at(study, c, s, r, l);
                    row.library = &XY_VEC_AT(&study->libraries, nbc_library_t, l);
                    row.collective = XY_VEC_AT(&lists->collectives, xy_collective_t, c);
                    row.size = XY_VEC_AT(&lists->sizes, uint64_t, s);
                    row.ranks = XY_VEC_AT(&lists->ranks, int, r);
                    row.against = row.library->peer != NULL ? NAN
                                                            : nbc_median(row.result, NBC_OVRL) /
                                                                  best_peer(study, c, s, r);
                    row.is_first = l == 0;
                    fn(&row, arg);
                }
}

static double ratio_of(const nbc_result_t *r)
{
    return nbc_median(r, NBC_OVRL) / (nbc_median(r, NBC_COMM) + nbc_median(r, NBC_COMP));
}

/* The work bound: the computation on the cores of ranks, or all work on all cores. Known where all
 * cores shared the work of t_comm, because ranks that wait help. Not a number otherwise. */
static double bound_of(const row_t *row)
{
    const nbc_study_t *study = row->study;
    double comp = nbc_median(row->result, NBC_COMP), comm = nbc_median(row->result, NBC_COMM);
    double used = row->ranks < study->cores ? row->ranks : study->cores - study->comm_cores;

    if (row->library->peer != NULL || strcmp(row->library->progress, "tasks") != 0 ||
        study->comm_cores == 0 || row->ranks + study->comm_cores < study->cores)
        return NAN;
    return fmax(comp, comp * used / study->cores + comm);
}

/* ---- For people ---- */

static const char *time_text(double seconds, char text[32])
{
    return isnan(seconds) ? "-" : xy_format_seconds(seconds, text);
}

typedef struct {
    FILE *file;
    uint64_t size;
    int ranks;
    bool has_peers;
} table_t;

static void print_heading(const row_t *row, table_t *t)
{
    char size[32];

    fprintf(t->file, "%s%d ranks, %d cores, %d of them for communication; %s; %s\n",
            t->ranks != 0 ? "\n" : "", row->ranks, row->study->cores, row->study->comm_cores,
            xy_format_size(row->size, size), row->study->values->mode);
    fprintf(t->file, "%-20s  %-10s %9s %9s %9s %19s %8s %6s %6s%s\n", "collective", "library",
            "t_comm", "t_comp", "t_ovrl", "(min .. max)", "overlap", "of sum", "bound",
            t->has_peers ? "  to peer" : "");
    t->size = row->size;
    t->ranks = row->ranks;
}

/* Prints a result as a line of the table, below a heading for each size and number of ranks. */
static void print_row(const row_t *row, void *arg)
{
    table_t *t = arg;
    const nbc_result_t *r = row->result;
    char comm[32], comp[32], ovrl[32], least[32], most[32], range[80];

    if (t->ranks != row->ranks || t->size != row->size)
        print_heading(row, t);
    if (r->turns == 0) {
        fprintf(t->file, "%-20s  %-10s %9s\n", row->is_first ? xy_coll_name(row->collective) : "",
                row->library->name, "no result");
        return;
    }
    snprintf(range, sizeof(range), "%s .. %s", time_text(r->times[NBC_OVRL].min, least),
             time_text(r->times[NBC_OVRL].max, most));
    fprintf(t->file, "%-20s  %-10s %9s %9s %9s %19s %6.0f %% %6.2f",
            row->is_first ? xy_coll_name(row->collective) : "", row->library->name,
            time_text(nbc_median(r, NBC_COMM), comm), time_text(nbc_median(r, NBC_COMP), comp),
            time_text(nbc_median(r, NBC_OVRL), ovrl), range, nbc_overlap(r), ratio_of(r));
    if (!isnan(bound_of(row)))
        fprintf(t->file, " %4.0f %%", 100 * bound_of(row) / nbc_median(r, NBC_OVRL));
    else
        fprintf(t->file, " %6s", t->has_peers && row->library->peer == NULL ? "-" : "");
    if (!isnan(row->against))
        fprintf(t->file, "  %7.2f", row->against);
    fputs(r->is_right ? "\n" : "  WRONG RESULT\n", t->file);
}

void nbc_write_text(const void *arg, FILE *file)
{
    const nbc_study_t *study = arg;
    table_t table = {.file = file};

    for (size_t l = 0; l < study->libraries.count; l++)
        table.has_peers |= XY_VEC_AT(&study->libraries, nbc_library_t, l).peer != NULL;
    for_each_row(study, print_row, &table);
}

/* ---- For programs ---- */

static const char *const phases[NBC_PHASES] = {"t_comm", "t_comp", "t_ovrl"};

/* Writes a result as a line of CSV. */
static void csv_row(const row_t *row, void *arg)
{
    const nbc_result_t *r = row->result;
    const nbc_time_t *comm = &r->times[NBC_COMM], *comp = &r->times[NBC_COMP];
    const nbc_time_t *ovrl = &r->times[NBC_OVRL];

    if (r->turns == 0)
        return;
    xy_rows_add(arg,
                "collective %s bytes %lu ranks %d library %s kernels %ld t_comm %g t_comm_mean %g "
                "t_comm_min %g t_comm_max %g t_comp %g t_comp_mean %g t_comp_min %g t_comp_max %g "
                "t_ovrl %g t_ovrl_mean %g t_ovrl_min %g t_ovrl_max %g overlap %g ratio %g right %i",
                xy_coll_name(row->collective), row->size, row->ranks, row->library->name,
                r->kernels, nbc_median(r, NBC_COMM), comm->mean, comm->min, comm->max,
                nbc_median(r, NBC_COMP), comp->mean, comp->min, comp->max, nbc_median(r, NBC_OVRL),
                ovrl->mean, ovrl->min, ovrl->max, nbc_overlap(r), ratio_of(r), r->is_right);
}

xy_status_t nbc_write_csv(const void *arg, FILE *file)
{
    for_each_row(arg, csv_row, &(xy_rows_t){.csv = file});
    return XY_OK;
}

/* Writes a result as a JSON object. */
static void json_row(const row_t *row, void *arg)
{
    const nbc_result_t *r = row->result;
    xy_json_t *j = arg;

    if (r->turns == 0)
        return;
    xy_json_begin_object(j, NULL);
    xy_fields(j, "collective %s bytes %lu ranks %d library %s turns %d kernels %ld",
              xy_coll_name(row->collective), row->size, row->ranks, row->library->name, r->turns,
              r->kernels);
    for (int p = 0; p < NBC_PHASES; p++)
        xy_fields_object(j, phases[p], "median %g mean %g min %g max %g",
                         nbc_median(r, (nbc_phase_t)p), r->times[p].mean, r->times[p].min,
                         r->times[p].max);
    xy_fields(j, "overlap %g ratio %g", nbc_overlap(r), ratio_of(r));
    if (!isnan(bound_of(row)))
        xy_json_double(j, "bound", bound_of(row));
    if (!isnan(row->against))
        xy_json_double(j, "to_best_peer", row->against);
    xy_json_bool(j, "right", r->is_right);
    xy_json_end(j);
}

void nbc_write_json(const void *arg, FILE *file)
{
    const nbc_study_t *study = arg;
    xy_json_t j;

    xy_json_init(&j, file, true);
    xy_json_begin_object(&j, NULL);
    xy_fields(&j, "simulated %i mode %s kernel %s cores %d comm_cores %d", false,
              study->values->mode, study->values->kernel, study->cores, study->comm_cores);
    xy_json_begin_array(&j, "points");
    for_each_row(study, json_row, &j);
    xy_json_end(&j);
    xy_json_end(&j);
}

/* ---- Pictures: those of simulated sweeps, with libraries in the place of ways ---- */

/* Converts the results to points of a sweep, for the pictures of simulations. */
static xy_status_t make_points(const nbc_study_t *study, xy_vec_t *ways, xy_vec_t *points)
{
    size_t each = study->lists.ranks.count * study->libraries.count;

    if (each == 0)
        return XY_OK;

    for (size_t l = 0; l < study->libraries.count; l++) {
        xy_sim_way_t way = {.name = XY_VEC_AT(&study->libraries, nbc_library_t, l).name};

        if (xy_vec_append(ways, &way) != XY_OK)
            return XY_ENOMEM;
    }
    for (size_t i = 0; i < study->results.count; i++) {
        const nbc_result_t *r = &XY_VEC_AT(&study->results, nbc_result_t, i);
        xy_sim_point_t point = {
            .collective = XY_VEC_AT(&study->lists.collectives, xy_collective_t,
                                    i / (each * study->lists.sizes.count)),
            .size = XY_VEC_AT(&study->lists.sizes, uint64_t, i / each % study->lists.sizes.count),
            .ranks = XY_VEC_AT(&study->lists.ranks, int,
                               i / study->libraries.count % study->lists.ranks.count),
            .way = (int)(i % study->libraries.count),
            .comm_cores = study->comm_cores,
            .overlap = nbc_overlap(r),
            .times = {.t_comm = nbc_median(r, NBC_COMM),
                      .t_comp = nbc_median(r, NBC_COMP),
                      .t_ovrl = nbc_median(r, NBC_OVRL)},
        };

        if (xy_vec_append(points, &point) != XY_OK)
            return XY_ENOMEM;
    }
    return XY_OK;
}

/* Draws the results with a writer of sweeps. */
static xy_status_t draw(const nbc_study_t *study, FILE *file,
                        void (*write)(const xy_sim_sweep_t *, const xy_vec_t *, FILE *))
{
    xy_vec_t ways = XY_VEC_INIT(xy_sim_way_t), points = XY_VEC_INIT(xy_sim_point_t);
    xy_sim_sweep_t sweep = {
        .title = "this machine",
        .is_measured = true,
        .collectives = study->lists.collectives.data,
        .collective_count = (int)study->lists.collectives.count,
        .sizes = study->lists.sizes.data,
        .size_count = (int)study->lists.sizes.count,
        .ranks = study->lists.ranks.data,
        .rank_count = (int)study->lists.ranks.count,
        .mode = strcmp(study->values->mode, nbc_modes[0]) == 0 ? XY_SIM_CPU_EXPLOIT
                                                               : XY_SIM_EQUIVALENT_COMPUTE,
    };
    xy_status_t st;

    st = make_points(study, &ways, &points);
    if (st == XY_OK) {
        sweep.ways = ways.data;
        sweep.way_count = (int)ways.count;
        write(&sweep, &points, file);
    } else {
        xy_fail_memory("drawing");
    }
    xy_vec_cleanup(&ways);
    xy_vec_cleanup(&points);
    return st;
}

xy_status_t nbc_write_svg(const void *arg, FILE *file)
{
    return draw(arg, file, xy_sim_write_svg);
}

xy_status_t nbc_write_html(const void *arg, FILE *file)
{
    return draw(arg, file, xy_sim_write_html);
}
