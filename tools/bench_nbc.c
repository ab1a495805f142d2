/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem bench nbc: nonblocking collectives, on a simulated machine. */
#include <stddef.h>
#include <string.h>

#include "coll/coll.h"
#include "sim/sim.h"
#include "verbs.h"

typedef struct {
    const char *simulate, *mode, *ranks, *threads, *order, *split, *algorithm;
    const char *csv, *html, *svg, *trace;
    xy_vec_t collectives, sizes, progress;
    double compute;
    long comm_cores, priority;
    bool json;
} values_t;

static const char *const modes[] = {"cpu-exploit", "equivalent-compute", NULL};

static const xy_option_t options[] = {
    {"simulate", 0, XY_OPT_STRING, "MACHINE", offsetof(values_t, simulate),
     .help = "the machine: a name, a file or a string, as for 'xylem machine'", .complete = "file"},
    {"collective", 'c', XY_OPT_LIST, "NAME", offsetof(values_t, collectives),
     .help = "bcast, reduce, ...; may be repeated (default: reduce, bcast, gather, scatter, "
             "allreduce); 'all' for all 17"},
    {"algorithm", 'a', XY_OPT_STRING, "NAME", offsetof(values_t, algorithm),
     .help = "of the collective (default: trees and chains, otherwise the cheapest)"},
    {"size", 's', XY_OPT_LIST, "BYTES", offsetof(values_t, sizes),
     .help = "of the vector, or of the block of a rank or pair; may be repeated (default: 2M)"},
    {"ranks", 'n', XY_OPT_STRING, "LIST", offsetof(values_t, ranks),
     .help = "how many: 8,16,32 or 2..64 or 2..64:2 (default: half of the cores)"},
    {"mode", 'm', XY_OPT_CHOICE, "MODE", offsetof(values_t, mode),
     .help = "cpu-exploit: compute as long as the collective takes; equivalent-compute: a fixed "
             "global work, shared by the ranks",
     .preset = "equivalent-compute", .choices = modes},
    {"compute", 0, XY_OPT_SECONDS, "TIME", offsetof(values_t, compute),
     .help = "equivalent-compute: of a rank when there is one on every core (default: what the "
             "collective takes there)"},
    {"progress", 'p', XY_OPT_LIST, "WAY", offsetof(values_t, progress),
     .help =
         "none, threads, split-tree (threads with the best S), tasks; may be repeated (default: "
         "none, split-tree, tasks)"},
    {"comm-cores", 0, XY_OPT_LONG, "K", offsetof(values_t, comm_cores), .min = -1, .max = 1000000,
     .help = "at most so many of the free cores communicate; -1: all", .preset = "-1"},
    {"threads", 0, XY_OPT_STRING, "PLACE", offsetof(values_t, threads),
     .help = "of progress threads: numa, odd-even, bind, dedicated, smt", .preset = "numa"},
    {"order", 0, XY_OPT_STRING, "ORDER", offsetof(values_t, order),
     .help = "on a shared core: round-robin, suspend, semaphore, suspend-semaphore, priority",
     .preset = "semaphore"},
    {"priority", 0, XY_OPT_LONG, "N", offsetof(values_t, priority), .min = 0, .max = 20,
     .help = "of progress threads, with --order priority", .preset = "10"},
    {"split", 0, XY_OPT_STRING, "S", offsetof(values_t, split),
     .help =
         "levels of a tree that the ranks do themselves, for threads and tasks: a number, auto, "
         "off",
     .preset = "off"},
    {"json", 0, XY_OPT_FLAG, .offset = offsetof(values_t, json), .help = "print JSON"},
    {"csv", 0, XY_OPT_STRING, "FILE", offsetof(values_t, csv),
     .help = "write comma-separated values", .complete = "file"},
    {"html", 0, XY_OPT_STRING, "FILE", offsetof(values_t, html),
     .help = "write a page with curves, heat maps and the table", .complete = "file"},
    {"svg", 0, XY_OPT_STRING, "FILE", offsetof(values_t, svg), .help = "write the curves",
     .complete = "file"},
    {"trace", 0, XY_OPT_STRING, "FILE", offsetof(values_t, trace),
     .help = "write the trace of the last point, for 'xylem view'", .complete = "file"},
    {0}};

/* What the options say, with the memory of its lists. */
typedef struct {
    xy_sim_sweep_t sweep;
    xy_machine_t *machine;
    xy_vec_t collectives, sizes, ranks, ways;
} job_t;

static xy_status_t add_collective(job_t *job, const char *name)
{
    xy_collective_t c;
    const char *nearest;

    if (strcmp(name, "all") == 0) {
        for (c = 0; c < XY_COLL_COUNT; c++)
            if (xy_vec_append(&job->collectives, &c) != XY_OK)
                return xy_fail_memory("the list of collectives");
        return XY_OK;
    }
    if (xy_coll_parse(name, &c))
        return xy_vec_append(&job->collectives, &c) == XY_OK
                   ? XY_OK
                   : xy_fail_memory("the list of collectives");
    nearest = xy_nearest_word(name, xy_coll_names());
    return xy_fail(XY_EUSAGE, "no collective is called '%s'; %s%s", name,
                   nearest != NULL ? "did you mean " : "there are bcast, reduce, allreduce, ",
                   nearest != NULL ? nearest : "and more");
}

static xy_status_t read_collectives(const values_t *v, job_t *job)
{
    static const char *const usual[] = {"reduce", "bcast", "gather", "scatter", "allreduce"};
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < v->collectives.count && st == XY_OK; i++)
        st = add_collective(job, XY_VEC_AT(&v->collectives, const char *, i));
    for (size_t i = 0; v->collectives.count == 0 && i < 5 && st == XY_OK; i++)
        st = add_collective(job, usual[i]);
    return st;
}

static xy_status_t read_sizes(const values_t *v, job_t *job)
{
    for (size_t i = 0; i < v->sizes.count || (i == 0 && v->sizes.count == 0); i++) {
        const char *text = v->sizes.count > 0 ? XY_VEC_AT(&v->sizes, const char *, i) : "2M";
        uint64_t size;

        if (!xy_parse_size(text, &size) || size > UINT64_C(1) << 40)
            return xy_fail(XY_EUSAGE,
                           "--size %s is no size; give bytes up to 1T, such as 64K or 2M", text);
        if (xy_vec_append(&job->sizes, &size) != XY_OK)
            return xy_fail_memory("the list of sizes");
    }
    return XY_OK;
}

/* One part of the list: N, A..B or A..B:STEP. */
static bool parse_range(char *part, long *first, long *last, long *step)
{
    char *dots = strstr(part, ".."), *colon = strchr(part, ':');

    *step = 1;
    if (colon != NULL) {
        *colon = '\0';
        if (dots == NULL || !xy_parse_long(colon + 1, step))
            return false;
    }
    if (dots != NULL)
        *dots = '\0';
    if (!xy_parse_long(part, first))
        return false;
    *last = *first;
    return (dots == NULL || xy_parse_long(dots + 2, last)) && *step > 0 && *first > 0 &&
           *first <= *last && *last <= 1000000;
}

static xy_status_t add_ranks(job_t *job, long first, long last, long step)
{
    for (long n = first; n <= last; n += step) {
        int ranks = (int)n;

        if (job->ranks.count > 0 && XY_VEC_AT(&job->ranks, int, job->ranks.count - 1) >= ranks)
            return xy_fail(XY_EUSAGE, "--ranks must grow: %d comes again or too late", ranks);
        if (xy_vec_append(&job->ranks, &ranks) != XY_OK)
            return xy_fail_memory("the list of ranks");
    }
    return XY_OK;
}

static xy_status_t read_ranks(const values_t *v, job_t *job)
{
    char *list = xy_strdup(v->ranks != NULL ? v->ranks : ""), *rest = list, *part;
    long cores = (long)xy_machine_count(job->machine, XY_OBJ_CORE), first, last, step;
    xy_status_t st = XY_OK;

    if (list == NULL)
        return xy_fail_memory("the list of ranks");
    if (v->ranks == NULL)
        st = add_ranks(job, cores > 1 ? cores / 2 : 1, cores > 1 ? cores / 2 : 1, 1);
    while (v->ranks != NULL && st == XY_OK && (part = strsep(&rest, ",")) != NULL)
        st = parse_range(part, &first, &last, &step)
                 ? add_ranks(job, first, last, step)
                 : xy_fail(XY_EUSAGE,
                           "--ranks %s is no list of numbers; give 8,16 or 2..64 or 2..64:2",
                           v->ranks);
    xy_free(list);
    return st;
}

static xy_status_t read_split(const values_t *v, int *split_p)
{
    long s = 0;

    if (strcmp(v->split, "auto") == 0)
        s = XY_SIM_SPLIT_AUTO;
    else if (strcmp(v->split, "off") != 0 && (!xy_parse_long(v->split, &s) || s < 0 || s > 64))
        return xy_fail(XY_EUSAGE, "--split %s: give a number of levels, auto or off", v->split);
    *split_p = (int)s;
    return XY_OK;
}

static xy_status_t add_way(const values_t *v, job_t *job, const char *name, int split)
{
    static const char *const names[] = {"none", "threads", "split-tree", "tasks", NULL};
    const char *nearest = xy_nearest_word(name, names);
    xy_sim_way_t way = {name,
                        {.progress = XY_SIM_THREADS,
                         .comm_cores = (int)v->comm_cores,
                         .threads = v->threads,
                         .order = v->order,
                         .priority = (int)v->priority,
                         .split = split}};

    if (strcmp(name, "none") == 0)
        way.node = (xy_sim_node_t){.progress = XY_SIM_NONE};
    else if (strcmp(name, "split-tree") == 0)
        way.node.split = XY_SIM_SPLIT_BEST;
    else if (strcmp(name, "tasks") == 0)
        way.node.progress = XY_SIM_TASKS;
    else if (strcmp(name, "threads") != 0)
        return xy_fail(XY_EUSAGE, "no way of progress is called '%s'; %s%s", name,
                       nearest != NULL ? "did you mean " : "there are none, threads, ",
                       nearest != NULL ? nearest : "split-tree, tasks");
    return xy_vec_append(&job->ways, &way) == XY_OK ? XY_OK
                                                    : xy_fail_memory("the ways of progress");
}

static xy_status_t read_ways(const values_t *v, job_t *job)
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

static xy_status_t read_job(const values_t *v, job_t *job)
{
    xy_status_t st;

    job->collectives = XY_VEC_INIT(xy_collective_t);
    job->sizes = XY_VEC_INIT(uint64_t);
    job->ranks = XY_VEC_INIT(int);
    job->ways = XY_VEC_INIT(xy_sim_way_t);
    if (v->simulate == NULL)
        return xy_fail(XY_EUSAGE, "which machine? Give --simulate MACHINE, such as knl64");
    st = xy_machine_load(v->simulate, &job->machine);
    if (st == XY_OK)
        st = read_collectives(v, job);
    if (st == XY_OK)
        st = read_sizes(v, job);
    if (st == XY_OK)
        st = read_ranks(v, job);
    if (st == XY_OK)
        st = read_ways(v, job);
    job->sweep = (xy_sim_sweep_t){
        .machine = job->machine,
        .collectives = job->collectives.data,
        .collective_count = (int)job->collectives.count,
        .sizes = job->sizes.data,
        .size_count = (int)job->sizes.count,
        .ranks = job->ranks.data,
        .rank_count = (int)job->ranks.count,
        .ways = job->ways.data,
        .way_count = (int)job->ways.count,
        .mode = strcmp(v->mode, modes[0]) == 0 ? XY_SIM_CPU_EXPLOIT : XY_SIM_EQUIVALENT_COMPUTE,
        .compute = v->compute,
        .algorithm = v->algorithm,
    };
    xy_sim_costs_default(&job->sweep.costs);
    return st;
}

static void clean_job(job_t *job)
{
    xy_machine_destroy(job->machine);
    xy_vec_cleanup(&job->collectives);
    xy_vec_cleanup(&job->sizes);
    xy_vec_cleanup(&job->ranks);
    xy_vec_cleanup(&job->ways);
}

typedef void (*write_fn)(const xy_sim_sweep_t *, const xy_vec_t *, FILE *);

static xy_status_t write_file(const job_t *job, const xy_vec_t *points, const char *path,
                              write_fn write)
{
    xy_out_t *out;
    xy_status_t st;

    if (path == NULL)
        return XY_OK;
    st = xy_out_open(path, &out);
    if (st != XY_OK)
        return st;
    write(&job->sweep, points, xy_out_file(out));
    return xy_out_commit(out);
}

/* The last point once more, recorded. */
static xy_status_t write_trace(const job_t *job, const xy_vec_t *points, const char *path)
{
    const xy_sim_point_t *p = &XY_VEC_AT(points, xy_sim_point_t, points->count - 1);
    xy_sim_node_t node = job->sweep.ways[p->way].node;
    char *title = xy_sprintf("%s, %d ranks, %s (simulated)", xy_coll_name(p->collective), p->ranks,
                             job->sweep.ways[p->way].name);
    xy_trace_options_t how = {.title = title, .clock = XY_TRACE_VIRTUAL};
    xy_sim_t *sim = NULL;
    xy_graph_t *graph = NULL;
    xy_trace_t *trace;
    xy_sim_result_t result;
    xy_status_t st;

    node.machine = job->machine;
    node.costs = job->sweep.costs;
    node.ranks = p->ranks;
    node.split = p->times.split;
    st = xy_sim_graph(p->collective, job->sweep.algorithm, p->ranks, p->size, &graph);
    if (st == XY_OK)
        st = xy_sim_create(&node, &sim);
    if (st == XY_OK)
        st = xy_trace_create(path, &how, &trace);
    if (st == XY_OK) {
        st = xy_sim_run(sim, graph, p->times.t_comp, NULL, trace, &result);
        if (xy_trace_close(trace) != XY_OK && st == XY_OK)
            st = XY_EIO;
    }
    xy_sim_destroy(sim);
    xy_graph_destroy(graph);
    xy_free(title);
    return st;
}

static xy_status_t write_all(const values_t *v, const job_t *job, const xy_vec_t *points)
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

static xy_status_t run(const xy_command_t *command, const void *values, int argc, char **argv)
{
    const values_t *v = values;
    job_t job = {0};
    xy_vec_t points = XY_VEC_INIT(xy_sim_point_t);
    xy_progress_t bar;
    xy_status_t st = read_job(v, &job);

    (void)command;
    (void)argc;
    (void)argv;
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

const xy_command_t bench_nbc = {
    .name = "nbc",
    .prefix = "xylem bench",
    .summary = "how well nonblocking collectives overlap with computation",
    .description =
        "Simulates start, computation and wait of nonblocking collectives on a machine and prints "
        "t_comm (start and wait), t_comp (the computation alone) and t_ovrl (all three) of the "
        "slowest rank, the overlap, and how near t_ovrl is to the work bound: the computation, or "
        "all work on all cores.",
    .examples =
        "xylem bench nbc --simulate knl64 -c reduce --ranks 32..63 --html reduce.html\n"
        "    a page with the curves of one collective\n"
        "xylem bench nbc --simulate knl64 -c scan -n 62 -s 1M -p threads --order round-robin "
        "--threads odd-even\n    one placement of progress threads\n",
    .options = options,
    .values_size = sizeof(values_t),
    .run = run,
};
