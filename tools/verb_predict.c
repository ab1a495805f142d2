/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem predict: how long a program will take, before it runs. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "choose.h"
#include "predict.h"
#include "report/report.h"
#include "site_line.h"
#include "verbs.h"
#include "watch.h"

#define AT(field) offsetof(predict_values_t, field)

extern const xy_command_t verb_predict;

static const char *const progress[] = {"none", "threads", "tasks", NULL};
static const char *const libraries[] = {"xylem", "openmpi", "mpich", NULL};

static const xy_option_t options[] = {
    {"np", 'n', XY_OPT_LONG, "P", AT(procs), .preset = "1", .min = 1, .max = 1e7,
     XY_COMMON("program"), .help = "set the number of processes"},
    {"arg", 'a', XY_OPT_LIST, "TEXT", AT(arg), .may_be_empty = true, XY_COMMON("program"),
     .help = "add an argument of the program; may be repeated"},
    {"env", 0, XY_OPT_LIST, "NAME=VALUE", AT(env), XY_COMMON("program"),
     .help = "set a variable of the program's environment; may be repeated. Others are not set"},
    {"assume", 0, XY_OPT_LIST, "NAME=VALUE", AT(assume), XY_COMMON("program"),
     .help =
         "give a value that the description lacks; a C expression of what is known at that line"},
    {"from-trace", 0, XY_OPT_STRING, "FILE", AT(from_trace), .complete = "file",
     XY_COMMON("program"),
     .help = "take unknown values from a recorded run; of the program with the same arguments and "
             "any number of processes, recorded with 'mpiexec --trace'"},
    {"include", 'I', XY_OPT_LIST, "DIR", AT(includes), .complete = "directory",
     XY_COMMON("program"), .help = "look for headers of C sources there, too"},
    {"define", 'D', XY_OPT_LIST, "NAME[=VALUE]", AT(defines), XY_COMMON("program"),
     .help = "define a macro for C sources"},
    {"kernel", 0, XY_OPT_LIST, "NAME", AT(kernels), XY_COMMON("program"),
     .help = "name a compute kernel of C sources; as for 'xylem scan'"},
    {"threads-per-rank", 0, XY_OPT_LONG, "T", AT(threads), .preset = "-1", .min = -1,
     .max = 1 << 20, XY_COMMON("program"),
     .help = "leave T cores to each process; teams of OpenMP in C sources have T threads, unless "
             "the program says otherwise. 0: C sources are compiled without OpenMP; -1: not known"},
    {"sweep", 0, XY_OPT_LIST, "NAME=VALUES", AT(sweep), XY_COMMON("program"),
     .help = "predict for several values; as in n=1000,2000,4000 or P=1..64*2 or n=100..500+100; P "
             "is the number of processes, {NAME} in --arg and --assume is replaced"},
    {"limit", 0, XY_OPT_LONG, "N", AT(limit), .preset = "100000000", .min = 1, .max = 1e18,
     XY_ADVANCED("program"),
     .help = "stop after N passes of loops in one process: the program is assumed to be endless"},
    {"machine", 'm', XY_OPT_STRING, "MACHINE", AT(machine), .env = "XYLEM_MACHINE",
     .complete = "machine file", XY_COMMON("machine"),
     .help = "predict for this machine, real or not; any source of 'xylem machine' (default: this "
             "machine)"},
    {"place", 0, XY_OPT_STRING, "STRATEGY|FILE", AT(place), .table = XY_TABLE(xy_strategies),
     .complete = "file", XY_COMMON("machine"),
     .help = "place processes by a strategy or by a file; a strategy of 'xylem place' or a file of "
             "lines 'RANK CORE' (default: scatter_numa). One that needs a matrix gets that of the "
             "program, and the gain in time is printed"},
    {"hosts", 0, XY_OPT_STRING, "FILE", AT(hosts), .complete = "file", XY_ADVANCED("machine"),
     .help = "read names of nodes of the machine from FILE, one per line: process i is on line i, "
             "and from the "
             "beginning again"},
    {"oversubscribe", 0, XY_OPT_FLAG, .offset = AT(oversubscribe), XY_ADVANCED("machine"),
     .help = "let processes share cores"},
    {"progress", 0, XY_OPT_CHOICE, "HOW", AT(progress), .preset = "tasks", .choices = progress,
     XY_COMMON("machine"),
     .help = "choose who moves messages during computation; communication cores (tasks), a thread "
             "on the core of the process (threads), only the process itself when it waits (none)"},
    {"comm-cores", 0, XY_OPT_STRING, "K|LIST", AT(comm_cores), XY_COMMON("machine"),
     .help = "reserve cores for communication; the last K of each node, or a list of cores"},
    {"split", 0, XY_OPT_STRING, "S", AT(split), .preset = "off", XY_ADVANCED("machine"),
     .help = "let processes do S levels of a split tree in nonblocking bcast, reduce, gather, "
             "scatter and allreduce; a number, auto, adaptive or off"},
    {"progress-place", 0, XY_OPT_STRING, "PLACE", AT(progress_place), .preset = "auto",
     .needs = "progress=threads", .table = XY_TABLE(xy_threads_all), XY_ADVANCED("machine"),
     .help = "choose where progress threads run, with --progress threads"},
    {"progress-order", 0, XY_OPT_STRING, "ORDER", AT(progress_order), .preset = "auto",
     .needs = "progress=threads", .table = XY_TABLE(xy_order_all), XY_EXPERIMENTAL("machine"),
     .help = "choose the order of progress threads that share a core"},
    {"library", 'l', XY_OPT_CHOICE, "NAME", AT(library), .choices = libraries, XY_COMMON("machine"),
     .help = "simulate the collectives of this library (default: xylem)"},
    {"costs", 'c', XY_OPT_STRING, "FILE", AT(costs), .complete = "file", XY_COMMON("model"),
     .help = "read models of kernels and messages from FILE; 'xylem calibrate' writes it (default: "
             "those in the file of --machine, if 'xylem calibrate --hosts' made it)"},
    {"what-if", 0, XY_OPT_STRING, "CHANGE", AT(what_if), XY_COMMON("model"),
     .help = "compare with other links or faster cores; bandwidth*2, latency/10, speed*1.5, "
             "NAME=VALUE for any figure of --verbose, or several with commas"},
    {"cost", 0, XY_OPT_LIST, "NAME=TIME", AT(cost), XY_ADVANCED("model"),
     .help = "set the time of one pass of a loop outside of kernels, as in main.c:88=2ns"},
    {"loop-cost", 0, XY_OPT_SECONDS, "TIME", AT(cost_all), XY_ADVANCED("model"),
     .help = "set the time of one pass for all loops without --cost and without a model"},
    {"free-kernels", 0, XY_OPT_FLAG, .offset = AT(free_kernels), XY_ADVANCED("model"),
     .help = "let kernels without a model take no time; otherwise they are an error"},
    {"algorithm", 0, XY_OPT_STRING, "NAME", AT(algorithm), .complete = "algorithm name",
     XY_ADVANCED("model"), .help = "use this algorithm for all collectives that have it"},
    {"eager", 0, XY_OPT_SIZE, "SIZE", AT(eager), XY_ADVANCED("model"),
     .help = "let messages above this size wait for their receiver"},
    {"verbose", 'v', XY_OPT_FLAG, .offset = AT(verbose), XY_COMMON("output"),
     .help = "print every figure of the model, too"},
    {"json", 0, XY_OPT_FLAG, .offset = AT(json), XY_COMMON("output"),
     .help = "print the prediction as JSON; time, messages, bytes, kernel_calls and each process"},
    {"html", 'o', XY_OPT_STRING, "FILE", AT(html), .complete = "file", XY_COMMON("output"),
     .help = "write a page that shows the run over time"},
    {"trace", 0, XY_OPT_STRING, "FILE", AT(trace), .complete = "file", XY_COMMON("output"),
     .help = "write the run as a trace for 'xylem view'"},
    {"matrix", 0, XY_OPT_STRING, "FILE", AT(matrix), .complete = "file", XY_COMMON("output"),
     .help = "write the communication matrix for 'xylem place'; who sends how much to whom, in the "
             "format of the name"},
    {"csv", 0, XY_OPT_STRING, "FILE", AT(csv), .complete = "file", .needs = "sweep",
     XY_COMMON("output"), .help = "with --sweep: write the times as CSV"},
    {"svg", 0, XY_OPT_STRING, "FILE", AT(svg), .complete = "file", .needs = "sweep",
     XY_COMMON("output"), .help = "with --sweep: draw the times"},
    {"lines", 0, XY_OPT_LONG, "N", AT(lines), .preset = "10", .min = 0, .max = 1e6,
     XY_ADVANCED("output"), .help = "print at most N lines of the critical path"},
    {0}};

/* ---- Pages ---- */

static xy_status_t write_page(const void *log, FILE *file)
{
    return xy_report_view(log, site_line_find, file);
}

/* A trace that is only needed for the page goes into a file of its own, and away. */
static xy_status_t make_page(const char *trace, const char *html)
{
    xy_trace_log_t *log;
    xy_status_t st = xy_trace_read(trace, &log);

    if (st != XY_OK)
        return st;
    st = xy_out_write(html, write_page, log);
    xy_trace_log_free(log);
    return st;
}

/* ---- One prediction ---- */

static xy_status_t write_matrix(const void *arg, FILE *file)
{
    const void *const *parts = arg;
    const predict_values_t *v = parts[0];

    return xy_matrix_write(parts[1], xy_matrix_guess(v->matrix, ""), file);
}

/* Writes the matrix of --matrix, if it was asked for. */
static xy_status_t save_matrix(const predict_t *p, const xy_prediction_t *r)
{
    xy_matrix_t *matrix;
    xy_status_t st;

    if (p->v->matrix == NULL)
        return XY_OK;
    st = predict_matrix(r, &matrix);
    if (st != XY_OK)
        return st;
    st = xy_out_write(p->v->matrix, write_matrix, (const void *[]){p->v, matrix});
    xy_matrix_destroy(matrix);
    return st;
}

static void print_gain(const char *what, double before, double after)
{
    char a[32], b[32];

    printf("\n%s: %s instead of %s, %.3g times as fast\n", what, xy_format_seconds(after, a),
           xy_format_seconds(before, b), after > 0 ? before / after : 1.0);
}

/* Placed by what it sends: predict once more there. */
static xy_status_t place_and_run(const predict_t *p, predict_case_t *k, int32_t **core_of_p,
                                 xy_prediction_t **r_p, double *before_p)
{
    int32_t *core_of;
    xy_prediction_t *r;
    xy_status_t st = predict_place_again(p, *r_p, &core_of);

    if (st != XY_OK)
        return st;
    xy_free(*core_of_p);
    *core_of_p = core_of;
    k->core_of = core_of;
    st = predict_run(p, k, &r);
    if (st != XY_OK)
        return st;
    *before_p = (*r_p)->seconds;
    xy_prediction_destroy(*r_p);
    *r_p = r;
    return XY_OK;
}

/* Predicts the run again with the changes of --what-if and prints the gain. */
static xy_status_t compare(predict_t *p, const predict_case_t *k, const xy_prediction_t *r)
{
    predict_case_t changed = *k;
    xy_prediction_t *other;
    xy_status_t st = predict_change(p, p->v->what_if, false);

    changed.trace = NULL;
    changed.has_path = changed.has_matrix = false;
    if (st == XY_OK)
        st = predict_run(p, &changed, &other);
    if (st != XY_OK)
        return st;
    print_gain(p->v->what_if, r->seconds, other->seconds);
    xy_prediction_destroy(other);
    return XY_OK;
}

/* Prints a prediction, with the gains of --place and --what-if. */
static xy_status_t print(predict_t *p, const predict_case_t *k, const xy_prediction_t *r,
                         double before)
{
    char what[128];

    if (p->v->json) {
        predict_print_json(p, r, before, stdout);
        return XY_OK;
    }
    predict_print_text(p, r, stdout);
    snprintf(what, sizeof(what), "placed by %s", p->v->place != NULL ? p->v->place : "");
    if (before > 0)
        print_gain(what, before, r->seconds);
    return p->v->what_if != NULL ? compare(p, k, r) : XY_OK;
}

/* The prediction, placed by what it sends where the strategy needs that; the caller frees
 * *core_of_p and destroys *r_p in all cases. */
static xy_status_t find_time(const predict_t *p, predict_case_t *k, const char *trace,
                             int32_t **core_of_p, xy_prediction_t **r_p, double *before_p)
{
    bool needs_matrix = false;
    xy_status_t st = predict_place(p, k->procs, core_of_p, &needs_matrix);

    k->core_of = *core_of_p;
    k->has_matrix = needs_matrix || p->v->matrix != NULL;
    k->trace = needs_matrix ? NULL : trace;
    if (st == XY_OK)
        st = predict_run(p, k, r_p);
    if (st == XY_OK && needs_matrix) {
        k->trace = trace;
        st = place_and_run(p, k, core_of_p, r_p, before_p);
    }
    return st;
}

/* Predicts one case, with a progress display, and prints it. */
static xy_status_t run_case(predict_t *p, predict_case_t *k, const char *trace)
{
    int32_t *core_of = NULL;
    xy_prediction_t *r = NULL;
    double before = 0;
    watch_t watch;
    xy_status_t st;

    k->has_path = true;
    watch_start(&watch, "predicting");
    st = find_time(p, k, trace, &core_of, &r, &before);
    watch_stop(&watch);
    if (st == XY_OK)
        st = save_matrix(p, r);
    if (st == XY_OK)
        st = print(p, k, r, before);
    xy_prediction_destroy(r);
    xy_free(core_of);
    return st;
}

/* Predicts the program of the options once and writes its files. */
static xy_status_t run_one(predict_t *p)
{
    const predict_values_t *v = p->v;
    predict_case_t k = {.procs = (int32_t)v->procs,
                        .argv = v->arg.data,
                        .argc = (int)v->arg.count,
                        .assumed_count = v->assume.count};
    xy_predict_given_t *assumed = NULL;
    char scratch[] = "/tmp/xylem-predict-XXXXXX";
    const char *trace = v->trace;
    int file = -1;
    xy_status_t st = predict_given(&v->assume, "--assume", &assumed);

    k.assumed = assumed;
    if (st == XY_OK && v->what_if != NULL)
        st = predict_change(p, v->what_if, true);
    if (st == XY_OK && v->html != NULL && trace == NULL) {
        file = mkstemp(scratch);
        if (file < 0)
            st = xy_fail(XY_EIO, "no temporary file in /tmp");
        trace = scratch;
    }
    if (st == XY_OK)
        st = run_case(p, &k, trace);
    if (st == XY_OK && v->html != NULL)
        st = make_page(trace, v->html);
    if (file >= 0) {
        close(file);
        unlink(scratch);
    }
    predict_given_free(assumed, v->assume.count);
    return st;
}

/* The name without directory and ending. */
static char *program_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path, *dot = strrchr(name, '.');

    return xy_strndup(name, dot != NULL && dot > name ? (size_t)(dot - name) : strlen(name));
}

static xy_status_t load(predict_t *p, int argc, char **argv)
{
    xy_status_t st = predict_read(p, argc, argv);

    if (st == XY_OK)
        st = predict_load(p);
    if (st == XY_OK && p->v->from_trace != NULL)
        st = predict_learn(p);
    return st;
}

/* Entry point of 'xylem predict'. */
static xy_status_t run(const xy_command_t *command, const void *values, int argc, char **argv)
{
    const predict_values_t *v = values;
    predict_t p = {.v = v, .speed = 1};
    char *name = program_name(argv[0]);
    xy_status_t st = name != NULL ? XY_OK : xy_fail_memory("predicting");

    (void)command;
    p.name = name;
    if (st == XY_OK && v->sweep.count == 0 && (v->csv != NULL || v->svg != NULL))
        st = xy_fail(XY_EUSAGE, "%s is for --sweep", v->csv != NULL ? "--csv" : "--svg");
    if (st == XY_OK)
        st = load(&p, argc, argv);
    if (st == XY_OK)
        st = v->sweep.count > 0 ? predict_sweep(&p) : run_one(&p);
    predict_cleanup(&p);
    xy_free(name);
    return st == XY_OK ? xy_stdout_check() : st;
}

/* ---- For xylem choose ---- */

/* "61 % computing, 39 % communicating and waiting", of all processes together. */
static void tell_where(const xy_prediction_t *r, char *where, size_t size)
{
    double computed = 0;

    for (int32_t i = 0; i < r->procs; i++)
        computed += r->proc[i].compute;
    computed /= r->seconds * r->procs;
    snprintf(where, size, "%.0f %% computing, %.0f %% communicating and waiting", 100 * computed,
             100 - 100 * computed);
}

/* Predicts a program for 'xylem choose', without printing. */
static xy_status_t answer(const predict_values_t *v, int argc, char **argv, xy_simulated_t *s)
{
    predict_t p = {.v = v, .speed = 1, .name = argv[0]};
    predict_case_t k = {.procs = (int32_t)v->procs,
                        .argv = v->arg.data,
                        .argc = (int)v->arg.count,
                        .assumed_count = v->assume.count};
    xy_predict_given_t *assumed = NULL;
    xy_prediction_t *r = NULL;
    int32_t *core_of = NULL;
    double before;
    xy_status_t st = predict_given(&v->assume, "--assume", &assumed);

    k.assumed = assumed;
    if (st == XY_OK)
        st = load(&p, argc, argv);
    if (st == XY_OK)
        st = find_time(&p, &k, NULL, &core_of, &r, &before);
    if (st == XY_OK) {
        s->seconds = r->seconds;
        s->error = r->error;
        tell_where(r, s->where, sizeof(s->where));
    }
    xy_prediction_destroy(r);
    xy_free(core_of);
    predict_given_free(assumed, v->assume.count);
    predict_cleanup(&p);
    return st;
}

xy_status_t predict_simulate(int argc, char **argv, xy_simulated_t *simulated_p)
{
    predict_values_t v;
    int count;
    xy_help_t help;
    xy_status_t st = xy_options_parse(&verb_predict, argc, argv, &v, &count, &help);

    if (st == XY_OK && (count == 0 || help != XY_HELP_NONE || v.sweep.count > 0 || v.html != NULL ||
                        v.trace != NULL || v.what_if != NULL))
        st = xy_fail(XY_EUSAGE, "an alternative is one prediction of a program, without files of "
                                "results");
    if (st == XY_OK)
        st = answer(&v, count, argv, simulated_p);
    xy_options_cleanup(&verb_predict, &v);
    return st;
}

static const char description[] =
    "Predicts the run time of a program on a machine from its description: readable XML with one "
    "element per C statement that determines messages and kernels. C sources are described first, "
    "as by 'xylem scan'. Every process follows the description with its rank and the program's "
    "arguments. The machine and the cost models give the times of messages, collectives and "
    "kernels. Nothing is run, and equal input gives exactly equal times.\n"
    "\n"
    "Prints the time and its uncertainty, messages and bytes, the lines of the critical path, and "
    "how processes spend their time.";

static const char examples[] =
    "xylem predict fox.xml -n 64 -m haswell8x32 --arg 4096 --costs site.xml\n"
    "    64 processes on eight nodes, by models that were calibrated there\n"
    "xylem predict halo.xml -n 64 -m fattree1024 --place multisection\n"
    "    place ranks by the messages of the program, and print the gain\n"
    "xylem predict halo.xml -m fattree1024 --sweep P=4..1024*4 --arg '{P}' --svg scaling.svg\n"
    "    a curve over the number of processes\n"
    "xylem predict halo.xml -n 256 -m fattree1024 --what-if bandwidth*2\n"
    "    compare with a faster network";

const xy_command_t verb_predict = {
    .name = "predict",
    .summary = "predict how long a program will take, before it runs",
    .synopsis = "DESCRIPTION.xml|FILE.c...",
    .description = description,
    .examples = examples,
    .options = options,
    .values_size = sizeof(predict_values_t),
    .positional_min = 1,
    .positional_max = -1,
    .complete = "file",
    .run = run,
};
