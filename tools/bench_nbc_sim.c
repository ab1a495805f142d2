/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem bench nbc --simulate: nonblocking collectives on a simulated machine. */
#include <string.h>

#include "bench_nbc.h"

/* The options, with the memory of their lists. */
typedef struct {
    xy_sim_sweep_t sweep;
    xy_machine_t *machine;
    nbc_lists_t lists;
    xy_vec_t ways;
} job_t;

static xy_status_t read_split(const nbc_values_t *v, int *split_p)
{
    long s = 0;

    if (strcmp(v->split, "auto") == 0)
        s = XY_SIM_SPLIT_AUTO;
    else if (strcmp(v->split, "off") != 0 && (!xy_parse_long(v->split, &s) || s < 0 || s > 64))
        return xy_fail(XY_EUSAGE, "--split %s: give a number of levels, auto or off", v->split);
    *split_p = (int)s;
    return XY_OK;
}

/* Adds a progress mode to the sweep. */
static xy_status_t add_way(const nbc_values_t *v, job_t *job, const char *name, int split)
{
    const char *nearest = xy_nearest_word(name, nbc_ways);
    xy_sim_way_t way = {name,
                        {.progress = XY_SIM_THREADS,
                         .comm_cores = (int)v->comm_cores,
                         .threads = v->threads,
                         .order = strcmp(v->order, "auto") == 0 ? "semaphore" : v->order,
                         .priority = (int)v->priority,
                         .split = split}};

    if (strcmp(name, "none") == 0) /* the library's default: waiting ranks do the work */
        way.node = (xy_sim_node_t){.progress = XY_SIM_TASKS};
    else if (strcmp(name, "split-tree") == 0)
        way.node.split = XY_SIM_SPLIT_BEST;
    else if (strcmp(name, "tasks") == 0)
        way.node.progress = XY_SIM_TASKS;
    else if (strcmp(name, "threads") != 0)
        return xy_fail(XY_EUSAGE, "no progress mode is called '%s'; %s%s", name,
                       nearest != NULL ? "did you mean " : "there are none, threads, ",
                       nearest != NULL ? nearest : "split-tree, tasks");
    return xy_vec_append(&job->ways, &way) == XY_OK
               ? XY_OK
               : xy_fail_memory("reading the list of progress modes");
}

static xy_status_t read_ways(const nbc_values_t *v, job_t *job)
{
    static const char *const usual[] = {"none", "split-tree", "tasks"};
    int split = 0;
    xy_status_t st = read_split(v, &split);

    for (size_t i = 0; i < v->progress.count && st == XY_OK; i++)
        st = add_way(v, job, XY_VEC_AT(&v->progress, const char *, i), split);
    for (size_t i = 0; v->progress.count == 0 && i < 3 && st == XY_OK; i++)
        st = add_way(v, job, usual[i], split);
    return st;
}

/* Reads machine, lists and progress modes of a simulated sweep. */
static xy_status_t read_job(const nbc_values_t *v, job_t *job)
{
    static const char *const usual[] = {"reduce", "bcast", "gather", "scatter", "allreduce", NULL};
    xy_vjob_costs_t costs;
    xy_status_t st;
    int cores;

    job->ways = XY_VEC_INIT(xy_sim_way_t);
    if (xy_options_given("compute") && !(v->compute > 0))
        return xy_fail(XY_EUSAGE, "--compute must be above 0; without it ranks compute as long as "
                                  "the collective takes");
    st = xy_machine_load(v->simulate, &job->machine);
    if (st != XY_OK)
        return st;
    cores = (int)xy_machine_count(job->machine, XY_OBJ_CORE);
    st = nbc_lists_read(v, usual, cores > 1 ? cores / 2 : 1, &job->lists);
    if (st == XY_OK)
        st = read_ways(v, job);
    job->sweep = (xy_sim_sweep_t){
        .machine = job->machine,
        .title = job->machine->name,
        .collectives = job->lists.collectives.data,
        .collective_count = (int)job->lists.collectives.count,
        .sizes = job->lists.sizes.data,
        .size_count = (int)job->lists.sizes.count,
        .ranks = job->lists.ranks.data,
        .rank_count = (int)job->lists.ranks.count,
        .ways = job->ways.data,
        .way_count = (int)job->ways.count,
        .mode = v->mode != NULL && strcmp(v->mode, nbc_modes[0]) == 0 ? XY_SIM_CPU_EXPLOIT
                                                                      : XY_SIM_EQUIVALENT_COMPUTE,
        .compute = v->compute,
        .algorithm = v->algorithm,
    };
    xy_vjob_costs_default(&costs);
    xy_vjob_costs_of_node(&costs, &job->sweep.costs);
    return st;
}

static void clean_job(job_t *job)
{
    xy_machine_destroy(job->machine);
    nbc_lists_cleanup(&job->lists);
    xy_vec_cleanup(&job->ways);
}

typedef struct {
    const job_t *job;
    const xy_vec_t *points;
    void (*write)(const xy_sim_sweep_t *, const xy_vec_t *, FILE *);
} writing_t;

static xy_status_t write_one(const void *arg, FILE *file)
{
    const writing_t *w = arg;

    w->write(&w->job->sweep, w->points, file);
    return XY_OK;
}

static xy_status_t write_file(const job_t *job, const xy_vec_t *points, const char *path,
                              void (*write)(const xy_sim_sweep_t *, const xy_vec_t *, FILE *))
{
    return xy_out_write(path, write_one, &(writing_t){job, points, write});
}

/* The last point once more, recorded. */
static xy_status_t write_trace(const job_t *job, const xy_vec_t *points, const char *path)
{
    const xy_sim_point_t *p = &XY_VEC_AT(points, xy_sim_point_t, points->count - 1);
    char *title = xy_sprintf("%s, %d ranks, %s (simulated)", xy_coll_name(p->collective), p->ranks,
                             job->sweep.ways[p->way].name);
    xy_trace_options_t how = {.title = title, .clock = XY_TRACE_VIRTUAL};
    xy_trace_t *trace;
    xy_status_t st = xy_trace_create(path, &how, &trace);

    if (st == XY_OK) {
        st = xy_sim_sweep_trace(&job->sweep, p, trace);
        if (xy_trace_close(trace) != XY_OK && st == XY_OK)
            st = XY_EIO;
    }
    xy_free(title);
    return st;
}

/* Writes files and table of a simulated sweep. */
static xy_status_t write_all(const nbc_values_t *v, const job_t *job, const xy_vec_t *points)
{
    xy_status_t st = write_file(job, points, v->csv, xy_sim_write_csv);

    if (st == XY_OK)
        st = write_file(job, points, v->html, xy_sim_write_html);
    if (st == XY_OK)
        st = write_file(job, points, v->svg, xy_sim_write_svg);
    if (st == XY_OK && v->trace != NULL)
        st = write_trace(job, points, v->trace);
    if (st != XY_OK)
        return st;
    if (v->json)
        xy_sim_write_json(&job->sweep, points, stdout);
    else if (v->csv == NULL && v->html == NULL && v->svg == NULL)
        xy_sim_write_text(&job->sweep, points, stdout);
    return xy_stdout_check();
}

xy_status_t nbc_simulate(const nbc_values_t *v)
{
    job_t job = {0};
    xy_vec_t points = XY_VEC_INIT(xy_sim_point_t);
    xy_progress_t bar;
    xy_status_t st = read_job(v, &job);

    if (st == XY_OK) {
        xy_progress_start(&bar, "simulating", (uint64_t)xy_sim_sweep_points(&job.sweep));
        job.sweep.progress = &bar;
        st = xy_sim_sweep(&job.sweep, &points);
        xy_progress_stop(&bar);
    }
    if (st == XY_OK)
        st = write_all(v, &job, &points);
    xy_vec_cleanup(&points);
    clean_job(&job);
    return st;
}
