/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem report: why a run takes as long as it does. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine.h"
#include "program/program.h"
#include "report/report.h"
#include "site_line.h"
#include "verbs.h"

typedef struct {
    const char *output;
    bool json, csv, compare;
} values_t;

static const xy_option_t options[] = {
    {"output", 'o', XY_OPT_STRING, "FILE", offsetof(values_t, output), XY_COMMON("output"),
     .help = "write one self-contained page for a browser", .complete = "file"},
    {"json", 0, XY_OPT_FLAG, .offset = offsetof(values_t, json), XY_COMMON("output"),
     .help = "print everything as JSON"},
    {"csv", 0, XY_OPT_FLAG, .offset = offsetof(values_t, csv), .excludes = "json",
     XY_COMMON("output"),
     .help = "print the call sites of all ranks as CSV; the first line names the columns"},
    {"compare", 0, XY_OPT_FLAG, .offset = offsetof(values_t, compare), .excludes = "csv",
     XY_COMMON("output"), .help = "compare two runs: print what got slower, by line"},
    {0}};

/* ---- Reading ---- */

/* The same run where messages and collectives take no time, but wait for each other; 0: it cannot
 * be replayed. Ranks share cores as they did. */
static double replay_ideal(const xy_trace_log_t *log, const xy_profile_t *p)
{
    xy_vjob_config_t job = {.progress = XY_SIM_TASKS};
    size_t n = p->ranks.count, cores = 1;
    int32_t *core_of = xy_calloc(n, sizeof(*core_of));
    xy_replay_t *replay = NULL;
    xy_machine_t *machine = NULL;
    xy_replay_result_t result;
    double seconds = 0;
    char text[32];
    xy_status_t st = core_of != NULL ? xy_replay_from_trace(log, &replay) : XY_ENOMEM;

    for (size_t r = 0; r < n && st == XY_OK; r++) {
        core_of[r] = (int32_t)XY_VEC_AT(&p->ranks, xy_profile_rank_t, r).core;
        if ((size_t)core_of[r] + 1 > cores)
            cores = (size_t)core_of[r] + 1;
    }
    snprintf(text, sizeof(text), "core:%zu", cores);
    if (st == XY_OK)
        st = xy_machine_load(text, &machine);
    xy_vjob_costs_default(&job.costs);
    job.costs = (xy_vjob_costs_t){.eager = job.costs.eager,
                                  .eager_net = job.costs.eager_net,
                                  .packet = job.costs.packet,
                                  .socket = job.costs.socket,
                                  .test = job.costs.test};
    job.machine = machine;
    job.core_of = core_of;
    job.procs = (int32_t)n;
    if (st == XY_OK && xy_replay_run(replay, &job, 1, &result) == XY_OK) {
        seconds = result.seconds;
        xy_replay_result_cleanup(&result);
    }
    xy_machine_destroy(machine);
    xy_replay_destroy(replay);
    xy_free(core_of);
    return seconds;
}

typedef struct {
    xy_profile_t *profile;
    xy_analysis_t *analysis;
} run_t;

/* Makes profile and analysis of a trace, with the run time on an ideal network. */
static xy_status_t read_trace(const char *path, run_t *run)
{
    xy_trace_log_t *log;
    double ideal = 0;
    xy_status_t st = xy_trace_read(path, &log);

    if (st != XY_OK)
        return st;
    st = xy_profile_from_trace(log, site_line_find, &run->profile);
    if (st == XY_OK)
        ideal = replay_ideal(log, run->profile);
    xy_trace_log_free(log);
    return st == XY_OK ? xy_analyse(run->profile, ideal, &run->analysis) : st;
}

static xy_status_t read_run(const char *path, run_t *run)
{
    xy_status_t st;

    if (xy_trace_is_trace(path))
        return read_trace(path, run);
    st = xy_profile_read(path, &run->profile);
    return st == XY_OK ? xy_analyse(run->profile, 0, &run->analysis) : st;
}

/* ---- Printing ---- */

/* The reports to print: a run, several, or two that are compared. */
typedef struct {
    const xy_analysis_t *one;
    xy_comparison_t *two;
    xy_scaling_t *several;
} subject_t;

static xy_status_t write_page(const void *subject_p, FILE *file)
{
    const subject_t *s = subject_p;

    if (s->two != NULL)
        xy_comparison_html(s->two, file);
    else if (s->several != NULL)
        xy_scaling_html(s->several, file);
    else
        return xy_report_html(s->one, file);
    return XY_OK;
}

static void write_json(const subject_t *s)
{
    if (s->two != NULL)
        xy_comparison_json(s->two, stdout);
    else if (s->several != NULL)
        xy_scaling_json(s->several, stdout);
    else
        xy_report_json(s->one, stdout);
}

static void write_text(const subject_t *s)
{
    if (s->two != NULL)
        xy_comparison_text(s->two, stdout);
    else if (s->several != NULL)
        xy_scaling_text(s->several, stdout);
    else
        xy_report_text(s->one, stdout);
}

/* Compare the runs, if there are several. */
static xy_status_t prepare(const values_t *v, const run_t *runs, size_t count, subject_t *s)
{
    const xy_analysis_t **list;
    xy_status_t st;

    s->one = runs[0].analysis;
    if (v->compare)
        return xy_comparison_create(runs[0].analysis, runs[1].analysis, &s->two);
    if (count == 1)
        return XY_OK;
    list = xy_calloc(count, sizeof(*list));
    if (list == NULL)
        return xy_fail_memory("printing a report");
    for (size_t i = 0; i < count; i++)
        list[i] = runs[i].analysis;
    st = xy_scaling_create(list, count, &s->several);
    xy_free((void *)list);
    return st;
}

/* Write the page, and what goes to standard output. */
static xy_status_t print(const values_t *v, const run_t *runs, size_t count)
{
    subject_t s = {NULL, NULL, NULL};
    xy_status_t st = prepare(v, runs, count, &s);

    if (st == XY_OK && v->output != NULL)
        st = xy_out_write(v->output, write_page, &s);
    if (st == XY_OK && v->json)
        write_json(&s);
    else if (st == XY_OK && v->csv)
        xy_report_csv(runs[0].profile, stdout);
    else if (st == XY_OK && v->output == NULL)
        write_text(&s);
    xy_comparison_destroy(s.two);
    xy_scaling_destroy(s.several);
    return st;
}

/* Entry point of 'xylem report'. */
static xy_status_t run(const xy_command_t *command, const void *values_p, int argc, char **argv)
{
    const values_t *v = values_p;
    run_t *runs;
    xy_status_t st = XY_OK;

    (void)command;
    if (v->compare && argc != 2)
        return xy_fail(XY_EUSAGE, "--compare needs two files: one before and one after");
    if (argc > 1 && v->csv)
        return xy_fail(XY_EUSAGE, "--csv is for one file; give one, or use --json");
    runs = xy_calloc((size_t)argc, sizeof(*runs));
    if (runs == NULL)
        return xy_fail_memory("printing a report");
    for (int i = 0; i < argc && st == XY_OK; i++)
        st = read_run(argv[i], &runs[i]);
    if (st == XY_OK)
        st = print(v, runs, (size_t)argc);
    for (int i = 0; i < argc; i++) {
        xy_analysis_destroy(runs[i].analysis);
        xy_profile_destroy(runs[i].profile);
    }
    xy_free(runs);
    return st;
}

const xy_command_t verb_report = {
    .name = "report",
    .summary = "print where the time of a run went, and why",
    .synopsis = "FILE...",
    .description =
        "Reads what 'mpiexec --report=FILE' or 'mpiexec --trace FILE' recorded and prints the main "
        "finding, the efficiencies, the calls that took longest, what they waited for, the ranks, "
        "and the sizes of messages.\n\n"
        "Load balance, communication and parallel efficiency come from either file. Serialization "
        "and transfer, and the root causes of waits, need a trace: the run is replayed on a "
        "network without latency, and each wait is followed to the rank that did not wait "
        "itself.\n\n"
        "Several files are runs of one problem with different numbers of ranks: the speed-up is "
        "printed as it was measured, as it would be ideally, and as it is predicted, with the "
        "efficiencies between runs. Runs in virtual time, as 'xylem predict --trace FILE' and "
        "'mpiexec --virtual' record them, are the prediction of real ones; without them, the "
        "efficiencies are extrapolated.",
    .examples = "xylem report run.xyp\n    print everything about a run\n"
                "xylem report run.xyp -o run.html\n    write one page for any browser\n"
                "xylem report --compare before.xyp after.xyp\n    print what got slower\n"
                "xylem report 1.xyp 2.xyp 4.xyp\n    show how a program scales\n",
    .options = options,
    .values_size = sizeof(values_t),
    .positional_min = 1,
    .positional_max = 1000,
    .run = run,
};
