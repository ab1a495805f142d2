/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem stencil: schedule a stencil on memories too small for it. */
#include <stddef.h>
#include <string.h>
#include <xylem.h>

#include "choose.h"
#include "stencil/stencil.h"
#include "stencil_ranks.h"
#include "verbs.h"
#include "watch.h"

extern const xy_command_t verb_stencil;

typedef struct {
    const char *blocks, *graph, *machine, *policy, *eviction, *load, *memory, *trace, *pictures,
        *svg;
    const char *study, *csv, *page, *over, *cells, *precision, *file, *gpus, *task_time, *choices;
    const char *kernel;
    long rounds, look_ahead, dim, points, iterations, cpus, threads, every;
    double alpha, beta, cpu_speed, until;
    uint64_t block;
    bool json, proportional, list, real, no_check, use_all, as_real;
} values_t;

static const char *const graphs[] = {"red-black", "natural", "jacobi", NULL};
static const char *const loads[] = {"even", "static", "dynamic", NULL};
static const char *const precisions[] = {"single", "double", NULL};

static const xy_option_t options[] = {
    {"blocks", 'b', XY_OPT_STRING, "N[xN[xN]]", offsetof(values_t, blocks), .preset = "366",
     XY_COMMON("problem"),
     .help = "set the blocks of the grid; those at its ends are never written; 1, after the first "
             "dimension, for blocks that span the whole dimension"},
    {"iterations", 't', XY_OPT_LONG, "N", offsetof(values_t, iterations), .min = 1, .max = 1 << 20,
     .preset = "100", XY_COMMON("problem"), .help = "set the number of updates of each block"},
    {"graph", 'g', XY_OPT_CHOICE, "ORDER", offsetof(values_t, graph), .choices = graphs,
     .preset = "red-black", XY_COMMON("problem"),
     .help =
         "choose the order of updates; in place (red-black or natural order) or double-buffered"},
    {"dim", 'd', XY_OPT_LONG, "N", offsetof(values_t, dim), .min = 1, .max = 3,
     XY_ADVANCED("problem"),
     .help = "set the dimensions of the grid, when --blocks is one number (default: those of "
             "--blocks)"},
    {"points", 0, XY_OPT_LONG, "N", offsetof(values_t, points), .min = 3, .max = 9,
     XY_ADVANCED("problem"),
     .help = "set the points of the stencil: 3 in 1D, 5 or 9 in 2D, 7 in 3D"},
    {"block", 0, XY_OPT_SIZE, "SIZE", offsetof(values_t, block), .preset = "3MiB",
     XY_COMMON("problem"), .help = "set the size of a block"},
    {"load", 0, XY_OPT_STRING, "LOAD", offsetof(values_t, load), .preset = "even", .choices = loads,
     .complete = "file", XY_ADVANCED("problem"),
     .help = "choose the load: even, static (half the time in the first half), dynamic (twice the "
             "time in a quarter "
             "that moves), or a file of factors"},
    {"cells", 0, XY_OPT_STRING, "N[xN[xN]]", offsetof(values_t, cells), XY_ADVANCED("problem"),
     .help =
         "set the cells of a block, of 8 bytes each or 4 (see --precision), instead of --block"},
    {"precision", 0, XY_OPT_CHOICE, "P", offsetof(values_t, precision), .choices = precisions,
     .preset = "double", XY_ADVANCED("problem"),
     .help = "choose the precision of cells, 4 bytes or 8; the plain loop has the same"},
    {"until", 'u', XY_OPT_DOUBLE, "X", offsetof(values_t, until), .min = 1e-300, .max = 1e300,
     XY_ADVANCED("problem"),
     .help = "end before --iterations when no cell changes by more than X in an iteration"},
    {"every", 0, XY_OPT_LONG, "N", offsetof(values_t, every), .min = 1, .max = 1 << 20,
     .preset = "10", .needs = "until study", XY_ADVANCED("problem"),
     .help = "with --until: check every N-th iteration"},
    {"machine", 'm', XY_OPT_STRING, "SOURCE", offsetof(values_t, machine), .preset = "attila",
     .env = "XYLEM_MACHINE", .complete = "machine file", XY_COMMON("machine"),
     .help = "run on this machine; one with GPUs, as for 'xylem machine'; real runs use the cores "
             "of this machine"},
    {"gpus", 0, XY_OPT_STRING, "N", offsetof(values_t, gpus), XY_COMMON("machine"),
     .help = "set the number of GPUs (default: 1); more than the machine has are copies of its "
             "last one; 0: all of them. Real runs use GPUs of this machine only if this is given, "
             "and then cores only with --cpus"},
    {"cpus", 0, XY_OPT_LONG, "N", offsetof(values_t, cpus), .min = 0, .max = 256,
     XY_COMMON("machine"),
     .help = "compute on N cores beside the GPUs; in real runs without --gpus: on N cores "
             "(default: all usable cores)"},
    {"memory", 0, XY_OPT_STRING, "SIZE", offsetof(values_t, memory), XY_COMMON("machine"),
     .help = "set the memory of each GPU; 'none' for no limit (default: that of the machine). In "
             "real runs on cores: the cache of each core that policies may fill (default: its L2), "
             "with --file the memory to use (default: a quarter of main memory)"},
    {"task-time", 0, XY_OPT_STRING, "TIME", offsetof(values_t, task_time), XY_ADVANCED("machine"),
     .help = "set the time of a task on a GPU, in virtual time (default: by the kernel of the "
             "machine's "
             "GPU, or 267us)"},
    {"cpu-speed", 0, XY_OPT_DOUBLE, "X", offsetof(values_t, cpu_speed), .min = 1e-6, .max = 1e6,
     .preset = "0.1", XY_ADVANCED("machine"), .help = "set the speed of a core, relative to a GPU"},
    {"policy", 'p', XY_OPT_STRING, "NAME", offsetof(values_t, policy),
     .table = XY_TABLE(xy_task_policies), XY_COMMON("schedule"),
     .help =
         "choose the scheduling policy (see --list; default: foresight, on real cores closure), or "
         "a plug-in by its path (docs/plugins.md)"},
    {"eviction", 0, XY_OPT_STRING, "NAME", offsetof(values_t, eviction), .complete = "eviction",
     XY_COMMON("schedule"),
     .help = "choose what a full memory evicts; lru, clean-first, belady-plan (default: the choice "
             "of the policy)"},
    {"list", 'l', XY_OPT_FLAG, .offset = offsetof(values_t, list), XY_COMMON("schedule"),
     .help = "print the policies and evictions"},
    {"alpha", 0, XY_OPT_DOUBLE, "X", offsetof(values_t, alpha), .min = 1e-9, .max = 1e9,
     .preset = "1", XY_EXPERIMENTAL("schedule"),
     .help = "set the weight of computation in completion times"},
    {"beta", 0, XY_OPT_DOUBLE, "X", offsetof(values_t, beta), .min = 1e-9, .max = 1e9,
     .preset = "1", XY_EXPERIMENTAL("schedule"),
     .help = "set the weight of transfers in completion times"},
    {"rounds", 0, XY_OPT_LONG, "N", offsetof(values_t, rounds), .min = 0, .max = 64,
     XY_EXPERIMENTAL("schedule"),
     .help = "relay: add turns of each memory beyond the fewest that its size allows"},
    {"look-ahead", 0, XY_OPT_LONG, "N", offsetof(values_t, look_ahead), .min = -1, .max = 64,
     .preset = "-1", XY_EXPERIMENTAL("schedule"),
     .help = "on GPUs in real runs, and with --as-real: load up to N data before a task asks for "
             "them, so that several tasks can share a launch (-1: the number that ends first in "
             "virtual time)"},
    {"proportional", 0, XY_OPT_FLAG, .offset = offsetof(values_t, proportional),
     XY_EXPERIMENTAL("schedule"),
     .help = "cache-oblivious: cut the domain in proportion to the load"},
    {"use-all", 0, XY_OPT_FLAG, .offset = offsetof(values_t, use_all), XY_ADVANCED("schedule"),
     .help =
         "in real runs with --gpus and --cpus: use all of them, even where some alone would end "
         "sooner"},
    {"choices", 0, XY_OPT_STRING, "FILE", offsetof(values_t, choices), .env = "XYLEM_CHOICES",
     XY_ADVANCED("schedule"),
     .help = "in real runs: store choices made by trials in this file, and use them in later runs "
             "that are alike; 'none' to try each time (default: ~/.cache/xylem/choices)",
     .complete = "file"},
    {"real", 'r', XY_OPT_FLAG, .offset = offsetof(values_t, real), XY_COMMON("run"),
     .help = "compute on the cores of this machine; in real time, with --gpus on its GPUs; the "
             "result is compared bit for bit with a plain loop"},
    {"file", 'f', XY_OPT_STRING, "FILE", offsetof(values_t, file), XY_ADVANCED("run"),
     .help = "in real runs: keep the domain in this file; it is created if it does not exist, and "
             "replaced at the end of the run",
     .complete = "file"},
    {"kernel-source", 0, XY_OPT_STRING, "FILE", offsetof(values_t, kernel), XY_ADVANCED("run"),
     .help = "in real runs: compute the stencil of this file instead of the mean; one text for "
             "cores and GPUs that ends in .c, or in .cu or .cl for GPUs of one kind "
             "(docs/stencil.md)",
     .complete = "file"},
    {"no-check", 0, XY_OPT_FLAG, .offset = offsetof(values_t, no_check), XY_ADVANCED("run"),
     .help = "in real runs: do not compare with the plain loop"},
    {"as-real", 0, XY_OPT_FLAG, .offset = offsetof(values_t, as_real), XY_EXPERIMENTAL("run"),
     .help = "in virtual time: drive the GPUs as real runs do, with decisions ahead of them, and "
             "do not store what is overwritten unread; predicts a real run"},
    {"study", 0, XY_OPT_STRING, "FILE", offsetof(values_t, study), XY_COMMON("study"),
     .help = "run all combinations of a table in FILE; of policies, sizes and machines",
     .complete = "file"},
    {"csv", 0, XY_OPT_STRING, "FILE", offsetof(values_t, csv), .needs = "study", XY_COMMON("study"),
     .help = "with --study: write the results as CSV ('-': standard output, the default)",
     .complete = "file"},
    {"page", 0, XY_OPT_STRING, "FILE", offsetof(values_t, page), .needs = "study",
     XY_COMMON("study"), .help = "with --study: write a page with the curves", .complete = "file"},
    {"over", 0, XY_OPT_STRING, "NAME", offsetof(values_t, over), .needs = "page",
     XY_ADVANCED("study"),
     .help =
         "with --page: draw the curves over this parameter of the study (default: the "
         "first of blocks, gpus, memory, iterations, block, cpus and others with several values)"},
    {"threads", 0, XY_OPT_LONG, "N", offsetof(values_t, threads), .min = 0, .max = 64,
     .needs = "study", XY_ADVANCED("study"),
     .help =
         "with --study: set the number of concurrent runs (default: one per core; real runs are "
         "sequential)"},
    {"trace", 0, XY_OPT_STRING, "FILE", offsetof(values_t, trace), XY_COMMON("output"),
     .help = "record a trace for 'xylem view'", .complete = "file"},
    {"pictures", 'o', XY_OPT_STRING, "FILE", offsetof(values_t, pictures), XY_COMMON("output"),
     .help = "write a page with pictures of the run; of the domain, the memories and the links",
     .complete = "file"},
    {"svg", 0, XY_OPT_STRING, "PREFIX", offsetof(values_t, svg), XY_COMMON("output"),
     .help = "write the same pictures as files; PREFIX-time.svg, PREFIX-iteration.svg, ..."},
    {"json", 0, XY_OPT_FLAG, .offset = offsetof(values_t, json), XY_COMMON("output"),
     .help = "print as JSON"},
    {"pipeline", 0, XY_OPT_IGNORED, "N",
     .leaving = "a worker holds as many tasks as its policy says"},
    {0}};

/* Sets the grid, the kernel's time and the load from the options. */
static xy_status_t set_grid(const values_t *v, xy_stencil_t *s)
{
    *s = XY_STENCIL_DEFAULT;
    if (!xy_stencil_blocks_parse(v->blocks, s))
        return xy_fail(XY_EUSAGE, "--blocks '%s' is not a grid; write 366, 20x20 or 10x10x10",
                       v->blocks);
    if (v->dim > 0 && v->dim != s->dims) {
        if (s->dims != 1)
            return xy_fail(XY_EUSAGE, "--dim %ld and --blocks %s disagree; leave one out", v->dim,
                           v->blocks);
        s->dims = (int)v->dim;
        s->points = s->dims == 2 ? 5 : 7;
        for (int d = 1; d < s->dims; d++)
            s->blocks[d] = s->blocks[0];
    }
    if (v->points > 0)
        s->points = (int)v->points;
    (void)xy_stencil_precision_parse(v->precision, s);
    if (v->cells != NULL && !xy_stencil_cells_parse(v->cells, s))
        return xy_fail(XY_EUSAGE, "--cells '%s' is not a block of %d dimensions; write %s",
                       v->cells, s->dims,
                       s->dims == 1   ? "8192"
                       : s->dims == 2 ? "4x2048"
                                      : "16x16x64");
    s->check_every = v->until > 0 ? (int)v->every : 0;
    s->iterations = (int)v->iterations;
    s->block_bytes = v->block;
    s->is_by_kernel = v->task_time == NULL;
    if (v->task_time != NULL &&
        (!xy_parse_seconds(v->task_time, &s->task_seconds) || s->task_seconds < 0))
        return xy_fail(XY_EUSAGE, "--task-time '%s' is not a time; write 267us", v->task_time);
    (void)xy_stencil_graph_parse(v->graph, &s->graph);
    if (strcmp(v->load, "static") == 0)
        s->load = XY_STENCIL_STATIC;
    else if (strcmp(v->load, "dynamic") == 0)
        s->load = XY_STENCIL_DYNAMIC;
    else if (strcmp(v->load, "even") != 0)
        return xy_stencil_read_load(v->load, s);
    return XY_OK;
}

/* Refuse options of one run in a study, and options of a study in one run. */
static xy_status_t check_files(const values_t *v)
{
    const char *of_one = v->trace != NULL      ? "--trace"
                         : v->pictures != NULL ? "--pictures"
                         : v->svg != NULL      ? "--svg"
                         : v->file != NULL     ? "--file"
                                               : NULL;
    const char *of_study = v->csv != NULL    ? "--csv"
                           : v->page != NULL ? "--page"
                           : v->over != NULL ? "--over"
                           : v->threads != 0 ? "--threads"
                                             : NULL;

    if (v->study != NULL && of_one != NULL)
        return xy_fail(XY_EUSAGE, "%s is for a single run; leave out either it or --study%s",
                       of_one, v->pictures != NULL ? " (--page draws a study)" : "");
    if (v->study == NULL && of_study != NULL)
        return xy_fail(XY_EUSAGE, "%s is for a study; add --study FILE%s", of_study,
                       v->page != NULL ? ", or write -o FILE for a page of one run" : "");
    if (v->over != NULL && v->page == NULL)
        return xy_fail(XY_EUSAGE, "--over is for the page of a study; add --page FILE");
    if (v->real && v->threads > 1)
        return xy_fail(XY_EUSAGE, "real runs of a study go one after the other, or they would "
                                  "measure each other; leave --threads out");
    return XY_OK;
}

static xy_status_t set_gpus(const char *text, xy_stencil_run_t *run)
{
    long n;

    if (!xy_parse_long(text, &n) || n < 0 || n > 64)
        return xy_fail(XY_EUSAGE, "--gpus '%s' is not a number from 0 to 64", text);
    run->gpus = (int)n;
    return XY_OK;
}

/* Sets a run from the options; fails for options that exclude each other. */
static xy_status_t set_run(const values_t *v, xy_stencil_run_t *run)
{
    xy_status_t st;

    *run = (xy_stencil_run_t){.machine = v->machine,
                              .gpus = 1,
                              .is_on_gpus = v->real && v->gpus != NULL,
                              .cpus = (int)v->cpus,
                              .cpu_speed = v->cpu_speed,
                              .until = v->until,
                              .is_real = v->real,
                              .is_unchecked = v->no_check,
                              .is_using_all = v->use_all,
                              .file = v->file,
                              .kernel_source = v->kernel};
    st = check_files(v);
    if (st == XY_OK && v->gpus != NULL)
        st = set_gpus(v->gpus, run);
    if (st != XY_OK)
        return st;
    if (!v->real && (v->file != NULL || v->no_check || v->kernel != NULL))
        return xy_fail(XY_EUSAGE, "--%s is for real runs; add --real",
                       v->file != NULL ? "file"
                       : v->no_check   ? "no-check"
                                       : "kernel-source");
    if (v->use_all && (!v->real || v->gpus == NULL || v->cpus == 0))
        return xy_fail(XY_EUSAGE,
                       "--use-all is for real runs on GPUs and cores; add --real, --gpus "
                       "and --cpus");
    if (v->as_real && (v->real || v->cpus > 0))
        return xy_fail(XY_EUSAGE, "--as-real is for virtual time on GPUs; leave out %s",
                       v->real ? "--real" : "--cpus");
    run->how = (xy_task_sim_t){.policy = v->policy,
                               .eviction = v->eviction,
                               .params = {.alpha = v->alpha,
                                          .beta = v->beta,
                                          .is_proportional = v->proportional,
                                          .extra_rounds = (int32_t)v->rounds,
                                          .look_ahead = (int32_t)v->look_ahead},
                               .trace = v->trace,
                               .ahead = v->as_real ? &xy_task_ahead_usual : NULL};
    if (v->memory != NULL && strcmp(v->memory, "none") == 0)
        run->memory = XY_TASK_NO_LIMIT;
    else if (v->memory != NULL && (!xy_parse_size(v->memory, &run->memory) || run->memory == 0))
        return xy_fail(XY_EUSAGE, "--memory '%s' is not a size; write 200MiB, or 'none'",
                       v->memory);
    return set_grid(v, &run->grid);
}

static xy_status_t list(void)
{
    for (int i = 0; xy_task_policies[i] != NULL; i++)
        printf("%-16s %s\n", xy_task_policies[i]->name, xy_task_policies[i]->describe);
    puts("\nevictions:");
    for (int i = 0; xy_task_evictions[i].name != NULL; i++)
        printf("%-16s %s\n", xy_task_evictions[i].name, xy_task_evictions[i].describe);
    return xy_stdout_check();
}

static xy_status_t write_csv(const void *study, FILE *file)
{
    xy_stencil_study_csv(study, file);
    return XY_OK;
}

static xy_status_t write_page(const void *study, FILE *file)
{
    xy_stencil_study_page(study, file);
    return XY_OK;
}

/* Did one of several ranks fail while the others need it? */
static bool has_lost(const xy_stencil_study_t *study)
{
    for (size_t i = 0; i < study->count; i++)
        if (study->results[i].is_lost)
            return true;
    return false;
}

/* Runs the combinations of a study and writes their results; only rank 0 of a job writes. */
static xy_status_t run_study(const values_t *v, const xy_stencil_run_t *base)
{
    xy_stencil_study_t study;
    xy_status_t ran, page, st = xy_stencil_study_read(v->study, base, &study);

    if (st != XY_OK)
        return st;
    if (v->over != NULL)
        st = xy_stencil_study_over(&study, v->over);
    if (st != XY_OK) {
        xy_stencil_study_cleanup(&study);
        return st;
    }
    ran = xy_stencil_study_run(&study, (int)v->threads);
    if (base->messages != NULL && base->messages->rank > 0) {
        st = has_lost(&study) ? ran : XY_OK; /* rank 0 writes, and says how it went */
        xy_stencil_study_cleanup(&study);
        return st;
    }
    if (v->json)
        xy_stencil_study_json(&study, stdout);
    st = xy_out_write(v->csv != NULL ? v->csv : v->json || v->page ? NULL : "-", write_csv, &study);
    page = xy_out_write(v->page, write_page, &study);
    xy_stencil_study_cleanup(&study);
    return st != XY_OK ? st : page != XY_OK ? page : ran;
}

typedef struct {
    const xy_picture_t *picture;
    const xy_stencil_run_t *run;
    const xy_stencil_result_t *result;
} picture_page_t;

static xy_status_t write_pictures(const void *arg, FILE *file)
{
    const picture_page_t *p = arg;

    return xy_stencil_picture_page(p->picture, p->run, p->result, file);
}

/* *has_run_p: there is a result, though a picture may lack. */
static xy_status_t run_pictures(const values_t *v, xy_stencil_run_t *run,
                                xy_stencil_result_t *result, bool *has_run_p)
{
    xy_picture_t *picture;
    xy_status_t st = xy_picture_create(&picture);

    if (st != XY_OK)
        return st;
    run->how.observer = xy_picture_observer(picture);
    st = xy_stencil_run(run, result);
    *has_run_p = st == XY_OK;
    if (st == XY_OK && !run->is_real)
        run->grid.iterations = result->iterations; /* the graph that ran */
    if (st == XY_OK && run->messages != NULL && run->messages->rank > 0) {
        xy_picture_destroy(picture); /* rank 0 has all of it */
        return XY_OK;
    }
    if (st == XY_OK)
        xy_picture_name_gpus(picture, run->is_real ? result->gpus : result->workers - run->cpus);
    if (st == XY_OK)
        st = xy_out_write(v->pictures, write_pictures, &(picture_page_t){picture, run, result});
    if (st == XY_OK && v->svg != NULL)
        st = xy_stencil_picture_files(picture, run, result, v->svg);
    xy_picture_destroy(picture);
    return st;
}

/* Runs one stencil and prints its result. */
static xy_status_t run_one(const values_t *v, xy_stencil_run_t *run)
{
    xy_stencil_result_t result;
    watch_t watch = {0};
    bool has_run = false;
    xy_status_t printed = XY_OK, st;

    if (run->messages == NULL)
        watch_start(&watch, run->is_real ? "computing" : "simulating");
    if (v->pictures != NULL || v->svg != NULL) {
        st = run_pictures(v, run, &result, &has_run);
    } else {
        st = xy_stencil_run(run, &result);
        has_run = st == XY_OK;
    }
    watch_stop(&watch);
    has_run = has_run && (run->messages == NULL || run->messages->rank == 0);
    if (has_run && v->json)
        xy_stencil_print_json(run, &result, stdout);
    else if (has_run)
        xy_stencil_print_text(run, &result, stdout);
    if (has_run)
        printed = xy_stdout_check();
    return st != XY_OK ? st : printed;
}

/* Each rank writes a trace of its own, FILE.RANK. */
static xy_status_t run_ranks(const values_t *v, xy_stencil_run_t *run)
{
    xylem_messages messages;
    char *trace = NULL;
    xy_status_t st = stencil_ranks_begin(&messages);

    if (st != XY_OK)
        return st;
    run->messages = &messages;
    if (v->trace != NULL) {
        trace = xy_sprintf("%s.%d", v->trace, messages.rank);
        st = trace != NULL ? XY_OK : xy_fail_memory("recording the tasks");
    }
    run->how.trace = trace;
    if (st == XY_OK)
        st = v->study != NULL ? run_study(v, run) : run_one(v, run);
    xy_free(trace);
    return stencil_ranks_end(&messages, st);
}

/* Where real runs keep their choices; NULL: nowhere. The caller frees it. */
static char *choices_path(const values_t *v)
{
    if (!v->real || (v->choices != NULL && strcmp(v->choices, "none") == 0))
        return NULL;
    return v->choices != NULL ? xy_strdup(v->choices) : xy_cache_path("XYLEM_CHOICES", "choices");
}

/* Entry point of 'xylem stencil'. */
static xy_status_t run(const xy_command_t *command, const void *values, int argc, char **argv)
{
    const values_t *v = values;
    xy_stencil_run_t run;
    char *choices;
    xy_status_t st;

    (void)command, (void)argc, (void)argv;
    if (v->list)
        return list();
    st = set_run(v, &run);
    if (st != XY_OK)
        return st;
    run.choices = choices = choices_path(v);
    if (v->real && stencil_ranks_are_several()) {
        st = run_ranks(v, &run);
    } else if (v->study != NULL) {
        st = run_study(v, &run);
    } else {
        st = run_one(v, &run);
    }
    xy_free(choices);
    if (run.grid.load == XY_STENCIL_FILE)
        xy_free((void *)(uintptr_t)run.grid.factors);
    return st;
}

/* ---- For xylem choose ---- */

/* Simulates a stencil for 'xylem choose', without printing. */
static xy_status_t answer(const values_t *v, xy_simulated_t *s)
{
    char size[32];
    xy_stencil_run_t run;
    xy_stencil_result_t r;
    xy_status_t st = set_run(v, &run);

    if (st != XY_OK)
        return st;
    st = xy_stencil_run(&run, &r);
    if (run.grid.load == XY_STENCIL_FILE)
        xy_free((void *)(uintptr_t)run.grid.factors);
    if (st != XY_OK)
        return st;
    s->seconds = r.sim.makespan;
    s->error = -1;
    snprintf(s->where, sizeof(s->where), "%.0f %% computing; %s moved",
             100 * r.sim.compute_bound / r.sim.makespan,
             xy_format_size(r.sim.bytes_loaded + r.sim.bytes_stored + r.sim.bytes_peer, size));
    return XY_OK;
}

xy_status_t stencil_simulate(int argc, char **argv, xy_simulated_t *simulated_p)
{
    values_t v;
    int count;
    xy_help_t help;
    xy_status_t st = xy_options_parse(&verb_stencil, argc, argv, &v, &count, &help);

    if (st == XY_OK && (count > 0 || help != XY_HELP_NONE || v.list || v.study != NULL || v.real ||
                        v.pictures != NULL || v.svg != NULL || v.trace != NULL))
        st = xy_fail(XY_EUSAGE, "an alternative is one stencil in virtual time, without files of "
                                "results");
    if (st == XY_OK)
        st = answer(&v, simulated_p);
    xy_options_cleanup(&verb_stencil, &v);
    return st;
}

const xy_command_t verb_stencil = {
    .name = "stencil",
    .summary = "schedule a stencil on GPUs and cores, simulated or computed",
    .description =
        "Builds the task graph of a stencil (one task per block and iteration), runs it in virtual "
        "time on the GPUs of a machine under a scheduling policy, and prints how long it takes and "
        "how much data moves.\n\n"
        "The makespan ends when the last block is back in main memory. The compute bound is the "
        "total work of all tasks divided by the workers; ratio is makespan divided by this "
        "bound.\n\n"
        "With --real the same tasks compute on the cores of this machine, under the same policies. "
        "Times are then measured, and the compute bound is the total time spent in tasks divided "
        "by the workers. Under mpiexec the ranks share the blocks, by rows of them, and send each "
        "other what their tasks read; each rank has one core, those of --cpus, or the GPUs of "
        "--gpus. Rank 0 reads and writes files.",
    .examples =
        "xylem stencil --blocks 366\n    the default policy on one GPU\n"
        "xylem stencil --blocks 366 --gpus 2 --policy dmdar --json\n    another policy on two "
        "GPUs\n"
        "xylem stencil --blocks 40 --iterations 20 --memory 24MiB -o film.html\n"
        "    write a page with pictures of a small run\n"
        "xylem stencil --study study.txt --csv study.csv --page study.html\n    compare many "
        "policies and sizes\n"
        "xylem stencil --real --graph jacobi --blocks 1024x1 --cells 4x2048 --iterations 20\n"
        "    compute on the cores, with blocks that fit in their caches\n"
        "mpiexec -n 4 xylem stencil --real --graph jacobi --blocks 64x64 --cells 64x64\n"
        "    four ranks share the blocks\n",
    .options = options,
    .values_size = sizeof(values_t),
    .run = run,
};
