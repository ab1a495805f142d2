/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem calibrate: measure this machine, or hosts, and learn what things cost. */
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "calibrate.h"
#include "draw/draw.h"
#include "fiber/fiber.h"
#include "gpu/gpu.h"
#include "measure/measure.h"
#include "place/place.h"
#include "verbs.h"

typedef struct {
    const char *output, *kernels, *blas, *criterion, *threads;
    const char *svg, *html, *show;
    const char *hosts, *launcher, *compiler, *agent, *sizes, *held_out;
    xy_vec_t plugins, extra, tables;
    uint64_t largest;
    long rounds;
    double time_max, seconds, interval, tolerance, rho, rho_site;
    bool check, watch, list, memory, messages, compute, gpu, quiet, fresh, json, every_host,
        only_between;
} values_t;

static const char *const criteria[] = {"relative", "adjusted", "r2", NULL};

static const char *const launchers[] = {"mpirun", "mpiexec", "srun", NULL};

static const xy_option_t options[] = {
    {"kernels", 'k', XY_OPT_STRING, "NAME[,...]", offsetof(values_t, kernels),
     .preset = "dgemm,dtrtri", .complete = "kernel", .may_be_empty = true, XY_COMMON("measure"),
     .help = "measure these routines of BLAS and LAPACK; separated by commas; 'all'; '' for none"},
    {"plugin", 'p', XY_OPT_LIST, "NAME=FILE", offsetof(values_t, plugins), XY_COMMON("measure"),
     .help = "also measure a function of a shared object; int kernel(size_t n) (NAME=FILE:FUNCTION "
             "if it has another name); may be repeated"},
    {"threads", 't', XY_OPT_STRING, "LIST", offsetof(values_t, threads), .preset = "1",
     XY_COMMON("measure"),
     .help = "run kernels with these numbers of threads; separated by commas, one model for each "
             "number"},
    {"memory", 'm', XY_OPT_FLAG, .offset = offsetof(values_t, memory), XY_COMMON("measure"),
     .help = "measure only memory, cache lines and fibers; copies, sums and the hand-over of cache "
             "lines"},
    {"compute", 0, XY_OPT_FLAG, .offset = offsetof(values_t, compute), XY_COMMON("measure"),
     .help = "measure only kernels"},
    {"messages", 0, XY_OPT_FLAG, .offset = offsetof(values_t, messages), XY_COMMON("measure"),
     .help = "measure only messages; with --launcher, of that MPI instead of Xylem's own"},
    {"gpu", 'g', XY_OPT_FLAG, .offset = offsetof(values_t, gpu), XY_COMMON("measure"),
     .help = "measure only GPUs; their links in both directions, launches and kernels"},
    {"seconds", 0, XY_OPT_SECONDS, "TIME", offsetof(values_t, seconds), .preset = "100s",
     XY_COMMON("measure"), .help = "limit the time of all measurements together"},
    {"blas", 0, XY_OPT_STRING, "LIBRARY", offsetof(values_t, blas), XY_ADVANCED("measure"),
     .help = "take the routines from this shared library"},
    {"max-time", 0, XY_OPT_SECONDS, "TIME", offsetof(values_t, time_max), .preset = "500ms",
     XY_ADVANCED("measure"), .help = "let sizes grow until one run takes this long"},
    {"largest", 0, XY_OPT_SIZE, "SIZE", offsetof(values_t, largest), .preset = "4M",
     XY_ADVANCED("measure"), .help = "set the size of the largest message"},
    {"sizes", 0, XY_OPT_STRING, "LIST", offsetof(values_t, sizes), XY_ADVANCED("measure"),
     .help = "measure messages of these sizes, separated by commas, instead of powers of two and "
             "sizes between"},
    {"hold-out", 0, XY_OPT_STRING, "LIST", offsetof(values_t, held_out), XY_ADVANCED("measure"),
     .help =
         "also measure messages of these sizes on this machine, twice, without using them for the "
         "model, and print both times beside its prediction"},
    {"fresh", 0, XY_OPT_FLAG, .offset = offsetof(values_t, fresh), XY_ADVANCED("measure"),
     .help = "discard earlier measurements instead of updating them"},
    {"criterion", 0, XY_OPT_CHOICE, "WORD", offsetof(values_t, criterion), .choices = criteria,
     .preset = "relative", XY_ADVANCED("measure"),
     .help = "choose the criterion for the best polynomial"},
    {"fit", 0, XY_OPT_LIST, "[NAME=]FILE", offsetof(values_t, tables), .complete = "file",
     XY_COMMON("measure"),
     .help = "measure nothing; fit models to the sizes and seconds of a table in CSV "
             "([NAME[@CLUSTER[-CLUSTER]]=]FILE[:COLUMN[,COLUMN]]); --output stores them; may be "
             "repeated"},
    {"check", 'c', XY_OPT_FLAG, .offset = offsetof(values_t, check), XY_COMMON("check"),
     .help = "report which models are still valid; measures a sample of kernels, messages, copies "
             "and sums again; exit code 1 if one is not"},
    {"tolerance", 0, XY_OPT_DOUBLE, "X", offsetof(values_t, tolerance), .preset = "0.1", .min = 0,
     .max = 100, .needs = "check watch", XY_ADVANCED("check"),
     .help = "with --check or --watch: allow a valid model this error beyond its own"},
    {"watch", 'w', XY_OPT_FLAG, .offset = offsetof(values_t, watch), XY_COMMON("check"),
     .help =
         "check again and again, by the wall clock alone, and report when a model becomes stale "
         "or valid again; exit code 1 if one is stale at the end"},
    {"interval", 0, XY_OPT_SECONDS, "TIME", offsetof(values_t, interval), .preset = "60s",
     .needs = "watch", XY_COMMON("check"), .help = "with --watch: wait so long between two rounds"},
    {"rounds", 0, XY_OPT_LONG, "N", offsetof(values_t, rounds), .preset = "0", .min = 0, .max = 1e9,
     .needs = "watch", XY_ADVANCED("check"), .help = "with --watch: end after N rounds; 0: never"},
    {"hosts", 0, XY_OPT_STRING, "FILE", offsetof(values_t, hosts), XY_COMMON("hosts"),
     .help = "measure the hosts in FILE; it has one host per line. Clusters, sites, messages "
             "between them and kernels are measured; the result is a machine, too",
     .complete = "file"},
    {"launcher", 0, XY_OPT_STRING, "COMMAND", offsetof(values_t, launcher),
     .needs = "hosts messages", .choices = launchers, XY_COMMON("hosts"),
     .help = "with --hosts or --messages: use this launcher; mpirun, mpiexec or srun"},
    {"compiler", 0, XY_OPT_STRING, "COMMAND", offsetof(values_t, compiler),
     .needs = "hosts messages", XY_COMMON("hosts"),
     .help = "with --hosts or --messages: use this mpicc; it belongs to the launcher"},
    {"agent", 0, XY_OPT_STRING, "COMMAND", offsetof(values_t, agent), .needs = "hosts",
     XY_COMMON("hosts"),
     .help = "with --hosts: run commands on hosts with this one; it is called with the host's name "
             "and the command; ssh by default"},
    {"every-host", 0, XY_OPT_FLAG, .offset = offsetof(values_t, every_host), .needs = "hosts",
     XY_ADVANCED("hosts"),
     .help = "with --hosts: measure kernels on all hosts, not on one of each cluster"},
    {"only-between", 0, XY_OPT_FLAG, .offset = offsetof(values_t, only_between), .needs = "hosts",
     XY_ADVANCED("hosts"),
     .help = "with --hosts: measure no messages between processes of one host"},
    {"rho", 0, XY_OPT_DOUBLE, "X", offsetof(values_t, rho), .min = 1, .max = 1e6, .preset = "1.2",
     .needs = "hosts", XY_ADVANCED("hosts"),
     .help = "with --hosts: set the limit for clusters, as in xylem-machine(1)"},
    {"rho-site", 0, XY_OPT_DOUBLE, "X", offsetof(values_t, rho_site), .min = 1, .max = 1e6,
     .preset = "10", .needs = "hosts", XY_ADVANCED("hosts"),
     .help = "with --hosts: set the limit for sites, as in xylem-machine(1)"},
    {"extra", 0, XY_OPT_LIST, "WORD", offsetof(values_t, extra), .needs = "hosts messages",
     XY_ADVANCED("hosts"),
     .help = "with --hosts or --messages: pass one more argument to the launcher; may be repeated"},
    {"output", 'o', XY_OPT_STRING, "FILE", offsetof(values_t, output), XY_COMMON("output"),
     .help = "store the costs in FILE instead of the user's cache", .complete = "file"},
    {"svg", 0, XY_OPT_STRING, "FILE", offsetof(values_t, svg), XY_COMMON("output"),
     .help = "draw samples, models and their errors into FILE; '-' is standard output",
     .complete = "file"},
    {"html", 0, XY_OPT_STRING, "FILE", offsetof(values_t, html), XY_COMMON("output"),
     .help = "write the same as a page for a browser", .complete = "file"},
    {"show", 0, XY_OPT_STRING, "FILE", offsetof(values_t, show), XY_COMMON("output"),
     .help = "draw the costs in FILE instead of measuring (with --svg or --html)",
     .complete = "file"},
    {"json", 0, XY_OPT_FLAG, .offset = offsetof(values_t, json), XY_COMMON("output"),
     .help = "print the models as JSON; with --check, which are valid"},
    {"list", 'l', XY_OPT_FLAG, .offset = offsetof(values_t, list), XY_COMMON("output"),
     .help = "print the kernels that can be measured"},
    {"quiet", 'q', XY_OPT_FLAG, .offset = offsetof(values_t, quiet), XY_COMMON("output"),
     .help = "print nothing but errors"},
    {"first", 0, XY_OPT_IGNORED, "N", .leaving = "sizes double from 100 on"},
    {"patience", 0, XY_OPT_IGNORED, "TIME", .leaving = "a host has 30 seconds to answer"},
    {0}};

enum { THREADS_MAX = 32, SIZES_MAX = 200 };

static const uint64_t largest_message = 1 << 30;

/* Reads the list of --threads. */
static xy_status_t parse_threads(const char *text, long threads[THREADS_MAX], size_t *count_p)
{
    char *copy = xy_strdup(text), *save = NULL;
    size_t n = 0;
    xy_status_t st = copy != NULL ? XY_OK : xy_fail_memory("reading options");

    for (char *word = st == XY_OK ? strtok_r(copy, ",", &save) : NULL; word != NULL;
         word = strtok_r(NULL, ",", &save)) {
        long k;

        if (!xy_parse_long(word, &k) || k < 1 || k > 4096 || n == THREADS_MAX) {
            st = xy_fail(XY_EUSAGE, "--threads '%s' is not a list such as 1,2,4", text);
            break;
        }
        threads[n++] = k;
    }
    if (st == XY_OK && n == 0)
        st = xy_fail(XY_EUSAGE, "--threads is empty; write a list such as 1,2,4");
    xy_free(copy);
    *count_p = n;
    return st;
}

/* Reads a list of message sizes; NULL is an empty one. */
static xy_status_t parse_sizes(const char *option, const char *text, xy_vec_t *sizes)
{
    char *copy = text != NULL ? xy_strdup(text) : NULL, *save = NULL;
    xy_status_t st = text == NULL || copy != NULL ? XY_OK : xy_fail_memory("reading options");

    for (char *word = copy != NULL ? strtok_r(copy, ",", &save) : NULL; word != NULL && st == XY_OK;
         word = strtok_r(NULL, ",", &save)) {
        uint64_t bytes;

        if (!xy_parse_size(word, &bytes) || bytes < 1 || bytes > largest_message)
            st = xy_fail(XY_EUSAGE, "%s: '%s' is not a size from 1 byte to 1 GiB", option, word);
        else if (sizes->count == SIZES_MAX)
            st = xy_fail(XY_EUSAGE, "%s: at most %d", option, SIZES_MAX);
        else if (xy_vec_append(sizes, &bytes) != XY_OK)
            st = xy_fail_memory("reading options");
    }
    xy_free(copy);
    return st;
}

/* Lists the kernels that can be calibrated. */
static xy_status_t list_kernels(bool as_json)
{
    const char *name, *text;
    xy_json_t j;

    if (as_json) {
        xy_json_init(&j, stdout, true);
        xy_json_begin_array(&j, NULL);
        for (size_t i = 0; xy_calibrate_kernel_name(i, &name, &text); i++)
            xy_fields_object(&j, NULL, "name %s describe %s", name, text);
        xy_json_end(&j);
        return xy_stdout_check();
    }
    for (size_t i = 0; xy_calibrate_kernel_name(i, &name, &text); i++)
        printf("%-8s %s\n", name, text);
    return xy_stdout_check();
}

static xy_status_t write_svg(const void *costs, FILE *file)
{
    return xy_costs_print_svg(costs, file);
}

static xy_status_t write_html(const void *costs, FILE *file)
{
    return xy_costs_print_html(costs, file);
}

static xy_status_t draw(const values_t *v, const xy_costs_t *costs)
{
    xy_status_t st = xy_out_write(v->svg, write_svg, costs);

    return st == XY_OK ? xy_out_write(v->html, write_html, costs) : st;
}

/* Draws or prints a stored file of costs. */
static xy_status_t show(const values_t *v)
{
    xy_costs_t *costs;
    xy_status_t st;

    if (v->svg == NULL && v->html == NULL && !v->json)
        return xy_fail(XY_EUSAGE,
                       "--show needs --svg FILE or --html FILE, where to draw, or --json");
    st = xy_costs_load(v->show, &costs);
    if (st != XY_OK)
        return st;
    st = draw(v, costs);
    if (st == XY_OK && v->json)
        xy_costs_print_json(costs, stdout);
    xy_costs_destroy(costs);
    return st;
}

/* Open the existing file to update it, if it is of this machine and can be read; on success the
 * caller owns *costs_p. */
static xy_status_t open_costs(const values_t *v, const xy_machine_t *live, const char *path,
                              xy_costs_t **costs_p)
{
    char *machine, *hardware;
    xy_costs_t *costs = NULL;
    xy_status_t st;

    if (!v->fresh && access(path, F_OK) == 0) {
        st = xy_costs_load(path, &costs);
        if (st != XY_OK)
            return st;
        if (xy_costs_check(costs, live, path)) {
            *costs_p = costs;
            return XY_OK;
        }
        xy_costs_destroy(costs);
        if (v->output != NULL)
            return xy_fail(XY_EINVAL, "%s is from another machine; --fresh replaces it", path);
    }
    st = xy_costs_describe(live, &machine, &hardware);
    if (st != XY_OK)
        return st;
    st = xy_costs_create(machine, hardware, costs_p);
    xy_free(machine);
    xy_free(hardware);
    return st;
}

/* Messages by Xylem's own MPI, or by the one that was named. */
static xy_status_t measure_messages(const values_t *v, const xy_calibration_t *c, double seconds,
                                    const xy_machine_t *live, xy_costs_t *costs, int *failed_p)
{
    xy_vec_t sizes = XY_VEC_INIT(uint64_t), held_out = XY_VEC_INIT(uint64_t);
    const xy_messages_calibration_t m = {.launcher = v->launcher,
                                         .compiler = v->compiler,
                                         .extra = &v->extra,
                                         .largest = (double)v->largest,
                                         .sizes = &sizes,
                                         .held_out = &held_out,
                                         .seconds = fmin(seconds / 75, 0.16),
                                         .budget = seconds};
    xy_status_t st = parse_sizes("--sizes", v->sizes, &sizes);

    if (st == XY_OK)
        st = parse_sizes("--hold-out", v->held_out, &held_out);
    if (st == XY_OK)
        st = v->launcher != NULL ? xy_calibrate_messages(c, &m, costs)
                                 : calibrate_own_messages(c, &m, seconds, live, costs, failed_p);
    /* Too noisy: it was reported, and what is there already is kept. */
    if (st == XY_EINVAL) {
        ++*failed_p;
        st = XY_OK;
    }
    xy_vec_cleanup(&sizes);
    xy_vec_cleanup(&held_out);
    return st;
}

/* Each result is stored at once: an interrupted run loses only the current measurement. */
static xy_status_t keep(const void *arg, xy_costs_t *costs)
{
    const values_t *v = arg;
    bool is_stream = v->output != NULL && strcmp(v->output, "-") == 0;

    return is_stream ? XY_OK : xy_costs_save(costs, v->output);
}

/* A machine without GPUs is complete without them, unless they were asked for. */
static xy_status_t measure_gpus(const values_t *v, const xy_calibration_t *c, xy_costs_t *costs)
{
    const char *name, *why;
    int count = 0;
    xy_status_t st = xy_calibrate_gpus(c, costs, &count);

    if (st != XY_OK || count > 0 || !v->gpu)
        return st;
    for (size_t i = 0; xy_gpu_driver_state(i, &name, &why); i++)
        if (why[0] != '\0')
            xy_warn("%s: %s", name, why);
    return xy_fail(XY_ENOENT,
                   "there is no GPU to measure; an OpenCL device that is made of cores is "
                   "one only if XYLEM_GPU_DRIVER=opencl");
}

/* Teams of OpenMP up to one thread for each core. */
static xy_status_t measure_teams(const xy_calibration_t *c, const xy_machine_t *live,
                                 xy_costs_t *costs)
{
    xy_cores_t cores;
    xy_status_t st = xy_cores_init(&cores, live);

    if (st != XY_OK)
        return st;
    st = xy_calibrate_teams(c, cores.count, costs);
    xy_cores_cleanup(&cores);
    return st;
}

/* Measures the parts selected by options, all by default, and stores costs after each. */
static xy_status_t measure(const values_t *v, xy_calibration_t *c, const xy_machine_t *live,
                           xy_costs_t *costs, int *failed_p)
{
    const bool is_all = !v->memory && !v->messages && !v->compute && !v->gpu;
    const int parts =
        v->memory + v->messages + v->compute > 0 ? v->memory + v->messages + v->compute : 1;
    xy_progress_t bar;
    const double begin = xy_now();
    double memory = is_all ? fmin(v->seconds / 4, 20) : v->seconds / parts;
    double messages = is_all ? fmin(v->seconds / 5, 20) : v->seconds / parts;
    xy_status_t st = XY_OK;

    xy_progress_start(&bar, "calibrating", (uint64_t)(v->seconds * 1000));
    c->bar = &bar;
    c->seconds = memory;
    if (is_all || v->memory)
        st = xy_calibrate_memory(c, live, costs, failed_p);
    if (st == XY_OK && (is_all || v->memory))
        st = calibrate_fibers(c, live, costs);
    if (st == XY_OK && (is_all || v->memory))
        st = measure_teams(c, live, costs);
    if (st == XY_OK && (is_all || v->gpu))
        st = measure_gpus(v, c, costs);
    if (st == XY_OK)
        st = keep(v, costs);
    if (st == XY_OK && (is_all || v->messages))
        st = measure_messages(v, c, messages, live, costs, failed_p);
    if (st == XY_OK)
        st = keep(v, costs);
    /* The rest of the time; and enough for a model, however long the others took. */
    c->seconds = fmax(v->seconds - (xy_now() - begin), v->seconds / 4);
    if (st == XY_OK && (is_all || v->compute))
        st = xy_calibrate_kernels(c, costs, failed_p);
    xy_progress_stop(&bar);
    return st;
}

/* Writes the results of --check as JSON. */
static void print_checks(const xy_vec_t *results)
{
    xy_json_t j;

    xy_json_init(&j, stdout, true);
    xy_json_begin_array(&j, NULL);
    for (size_t i = 0; i < results->count; i++) {
        const xy_check_result_t *r = &XY_VEC_AT(results, xy_check_result_t, i);

        xy_json_begin_object(&j, NULL);
        xy_fields(&j, "name %s detail %s threads %ld holds %i", r->name, r->detail, r->threads,
                  r->holds);
        if (r->is_measured)
            xy_fields(&j, "middle %g least %g greatest %g", r->middle, r->least, r->greatest);
        xy_json_end(&j);
    }
    xy_json_end(&j);
}

/* Messages are measured into a store of their own, in silence, and compared. */
static xy_status_t check_messages(const values_t *v, const xy_calibration_t *c,
                                  const xy_machine_t *live, const xy_costs_t *costs,
                                  xy_vec_t *results)
{
    xy_vec_t sizes = XY_VEC_INIT(uint64_t);
    const xy_messages_calibration_t m = {
        .launcher = v->launcher, .compiler = v->compiler, .extra = &v->extra, .sizes = &sizes};
    xy_calibration_t silent = *c;
    xy_costs_t *now;
    int failed = 0;
    xy_status_t st = xy_calibrate_check_sizes(costs, &sizes);

    silent.report = NULL;
    if (st == XY_OK)
        st = xy_costs_create(costs->machine, costs->hardware, &now);
    if (st == XY_OK) {
        st = v->launcher != NULL ? xy_calibrate_messages(&silent, &m, now)
                                 : calibrate_own_messages(&silent, &m, 20, live, now, &failed);
        if (st == XY_OK)
            st = xy_calibrate_check_messages(c, now, costs, v->tolerance, results);
        xy_costs_destroy(now);
    }
    xy_vec_cleanup(&sizes);
    return st;
}

static xy_status_t check_parts(const values_t *v, const xy_calibration_t *c,
                               const xy_machine_t *live, const xy_costs_t *costs, xy_vec_t *results)
{
    const bool is_all = !v->memory && !v->messages && !v->compute;
    xy_status_t st = XY_OK;

    if (is_all || v->memory)
        st = xy_calibrate_check(c, live, costs, "B", v->tolerance, results);
    if (st == XY_OK && (v->messages || (is_all && costs->messages.count > 0)))
        st = check_messages(v, c, live, costs, results);
    if (st == XY_OK && (is_all || v->compute))
        st = xy_calibrate_check(c, live, costs, "n", v->tolerance, results);
    return st;
}

/* Measures stored models again and fails if they no longer hold. */
static xy_status_t check(const values_t *v, xy_calibration_t *c, const xy_machine_t *live,
                         const char *path)
{
    xy_vec_t results = XY_VEC_INIT(xy_check_result_t);
    xy_costs_t *costs;
    xy_progress_t bar;
    xy_status_t st = xy_costs_load(v->output, &costs);

    if (st != XY_OK)
        return st;
    xy_costs_check(costs, live, path);
    xy_progress_start(&bar, "checking", (costs->kernels.count + costs->messages.count) * 2000);
    c->bar = &bar;
    st = check_parts(v, c, live, costs, &results);
    xy_progress_stop(&bar);
    if (st == XY_OK && v->json)
        print_checks(&results);
    if (st == XY_OK)
        st = xy_calibrate_conclude(&results);
    xy_vec_cleanup(&results);
    xy_costs_destroy(costs);
    return st;
}

/* One round of --watch; the results themselves are not reported. */
static xy_status_t watch_round(const values_t *v, const xy_calibration_t *c,
                               const xy_machine_t *live, const xy_costs_t *costs, xy_vec_t *watched)
{
    xy_vec_t results = XY_VEC_INIT(xy_check_result_t);
    xy_calibration_t silent = *c;
    size_t changed;
    xy_status_t st;

    silent.report = NULL;
    silent.is_raw = true;
    st = check_parts(v, &silent, live, costs, &results);
    if (st == XY_OK && results.count == 0)
        st = xy_calibrate_conclude(&results);
    if (st == XY_OK)
        st = xy_calibrate_watch(c, &results, watched, &changed);
    xy_vec_cleanup(&results);
    return st;
}

/* XY_EINVAL, said: some of these are stale. */
static xy_status_t conclude_watch(const xy_vec_t *watched)
{
    size_t stale = 0;

    for (size_t i = 0; i < watched->count; i++)
        stale += XY_VEC_AT(watched, xy_watched_t, i).is_stale;
    return stale == 0 ? XY_OK
                      : xy_fail(XY_EINVAL, "%zu of %zu models are stale; run 'xylem calibrate'",
                                stale, watched->count);
}

/* Checks the stored models round after round. */
static xy_status_t watch(const values_t *v, const xy_calibration_t *c, const xy_machine_t *live,
                         const char *path)
{
    xy_vec_t watched = XY_VEC_INIT(xy_watched_t);
    xy_costs_t *costs;
    xy_status_t st = xy_costs_load(v->output, &costs);

    if (st != XY_OK)
        return st;
    xy_costs_check(costs, live, path);
    for (long i = 0; st == XY_OK && (v->rounds == 0 || i < v->rounds); i++) {
        if (i > 0)
            nanosleep(&(struct timespec){.tv_sec = (time_t)v->interval,
                                         .tv_nsec = (long)(1e9 * fmod(v->interval, 1))},
                      NULL);
        st = watch_round(v, c, live, costs, &watched);
        if (i == 0 && st == XY_OK && c->report != NULL)
            fprintf(c->report, "watching %zu models\n", watched.count);
    }
    if (st == XY_OK)
        st = conclude_watch(&watched);
    xy_vec_cleanup(&watched);
    xy_costs_destroy(costs);
    return st;
}

/* Keep what was measured, draw it, and say so. */
static xy_status_t finish(const values_t *v, xy_costs_t *costs, const char *path)
{
    xy_status_t st = xy_costs_save(costs, v->output);

    if (st == XY_OK)
        st = draw(v, costs);
    if (st == XY_OK && v->json)
        xy_costs_print_json(costs, stdout);
    else if (st == XY_OK && !v->quiet)
        printf("costs are in %s\n", path);
    return st;
}

static xy_status_t say_failed(int failed)
{
    if (failed == 0)
        return XY_OK;
    return xy_fail(XY_EINVAL, "%d model%s not stored; the others were, and earlier ones are kept",
                   failed, failed == 1 ? " was" : "s were");
}

/* The command that measures kernels on a host: this one, with the same options. */
static xy_status_t list_kernel_words(const values_t *v, char self[PATH_MAX], char limit[32],
                                     xy_vec_t *words)
{
    const char *const list[] = {self,         "calibrate",  "--quiet",  "--kernels",
                                v->kernels,   "--threads",  v->threads, "--criterion",
                                v->criterion, "--max-time", limit};
    const bool is_all = !v->memory && !v->compute;
    ssize_t n = readlink("/proc/self/exe", self, PATH_MAX - 1);
    bool is_full = true;

    self[n > 0 ? n : 0] = '\0';
    snprintf(limit, 32, "%.0fus", 1e6 * v->time_max);
    if (v->messages || (*v->kernels == '\0' && v->plugins.count == 0 && !v->memory))
        return XY_OK;
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
        is_full = is_full && xy_vec_append(words, &list[i]) == XY_OK;
    if (is_all || v->compute)
        is_full = is_full && xy_vec_append(words, &(const char *){"--compute"}) == XY_OK;
    if (is_all || v->memory)
        is_full = is_full && xy_vec_append(words, &(const char *){"--memory"}) == XY_OK;
    if (v->blas != NULL)
        is_full = is_full && xy_vec_append(words, &(const char *){"--blas"}) == XY_OK &&
                  xy_vec_append(words, &v->blas) == XY_OK;
    for (size_t i = 0; i < v->plugins.count; i++)
        is_full = is_full && xy_vec_append(words, &(const char *){"--plugin"}) == XY_OK &&
                  xy_vec_append(words, &XY_VEC_AT(&v->plugins, const char *, i)) == XY_OK;
    return is_full ? XY_OK : xy_fail_memory("reading options");
}

/* Several hosts: the store is about them, not about the one we run on. */
static xy_status_t calibrate_hosts(const values_t *v)
{
    char self[PATH_MAX], limit[32];
    xy_vec_t kernels = XY_VEC_INIT(const char *);
    xy_vec_t sizes = XY_VEC_INIT(uint64_t);
    xy_hosts_calibration_t c = {.hosts = v->hosts,
                                .launcher = v->launcher,
                                .compiler = v->compiler,
                                .agent = v->agent,
                                .extra = &v->extra,
                                .largest = (double)v->largest,
                                .sizes = &sizes,
                                .rho = v->rho,
                                .rho_site = v->rho_site,
                                .has_inside = !v->only_between,
                                .kernels = &kernels,
                                .on_every_host = v->every_host,
                                .report = v->quiet || v->json ? NULL : stdout};
    xy_progress_t bar;
    xy_costs_t *costs;
    int failed = 0;
    xy_status_t st;

    if (v->output == NULL)
        return xy_fail(XY_EUSAGE,
                       "--hosts needs --output FILE: the user's cache describes one machine");
    st = parse_sizes("--sizes", v->sizes, &sizes);
    if (st == XY_OK)
        st = list_kernel_words(v, self, limit, &kernels);
    c.kernel_seconds = kernels.count > 0 ? v->seconds / 2 : 0;
    c.budget = v->seconds - c.kernel_seconds;
    if (st == XY_OK)
        st = xy_costs_create(v->hosts, "hosts", &costs);
    if (st == XY_OK) {
        xy_progress_start(&bar, "calibrating", 1000);
        c.bar = &bar;
        st = xy_calibrate_hosts(&c, costs, &failed);
        xy_progress_stop(&bar);
        if (st == XY_OK)
            st = finish(v, costs, v->output);
        if (st == XY_OK)
            st = say_failed(failed);
        xy_costs_destroy(costs);
    }
    xy_vec_cleanup(&sizes);
    xy_vec_cleanup(&kernels);
    return st;
}

/* ---- Tables ---- */

static xy_status_t fit_table(const values_t *v, const char *text, xy_costs_t *costs)
{
    xy_tabulated_t table;
    xy_status_t st = xy_tabulated_read(text, &table);

    if (st != XY_OK)
        return st;
    st = xy_costs_fit_table(costs, &table, v->criterion, v->quiet || v->json ? NULL : stdout);
    xy_tabulated_cleanup(&table);
    return st;
}

/* Fits models to tables; without --output they are only printed and drawn. A file that is there
 * gets them beside its own. */
static xy_status_t fit_tables(const values_t *v)
{
    bool is_there = v->output != NULL && !v->fresh && access(v->output, F_OK) == 0;
    xy_costs_t *costs;
    xy_status_t st = is_there ? xy_costs_load(v->output, &costs)
                              : xy_costs_create("tables", "tables of measured times", &costs);

    if (st != XY_OK)
        return st;
    for (size_t i = 0; st == XY_OK && i < v->tables.count; i++)
        st = fit_table(v, XY_VEC_AT(&v->tables, const char *, i), costs);
    if (st == XY_OK && v->output != NULL)
        st = xy_costs_save(costs, v->output);
    if (st == XY_OK)
        st = draw(v, costs);
    if (st == XY_OK && v->json)
        xy_costs_print_json(costs, stdout);
    xy_costs_destroy(costs);
    return st == XY_OK ? xy_stdout_check() : st;
}

/* Measures and stores the costs of this machine; fails if a kernel had no result. */
static xy_status_t calibrate(const values_t *v, xy_calibration_t *c, const xy_machine_t *live,
                             const char *path)
{
    xy_costs_t *costs;
    int failed = 0;
    xy_status_t st = xy_calibrate_validate(c);

    if (st == XY_OK)
        st = open_costs(v, live, path, &costs);
    if (st != XY_OK)
        return st;
    st = measure(v, c, live, costs, &failed);
    if (st == XY_OK)
        st = finish(v, costs, path);
    xy_costs_destroy(costs);
    if (st == XY_OK)
        st = say_failed(failed);
    return st;
}

/* Can it be written? Nothing is left there. */
static xy_status_t check_output(const char *path)
{
    struct stat info;
    xy_out_t *out;
    xy_status_t st;

    if (path == NULL || (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) ||
        strcmp(path, "-") == 0)
        return XY_OK;
    st = xy_out_open(path, &out);
    if (st == XY_OK)
        xy_out_cancel(out);
    return st;
}

/* Report errors before minutes of measuring are lost. */
static xy_status_t check_values(const values_t *v)
{
    xy_vec_t sizes = XY_VEC_INIT(uint64_t), held_out = XY_VEC_INIT(uint64_t);
    xy_status_t st = XY_OK;

    if (v->largest < 1 || v->largest > largest_message)
        return xy_fail(XY_EUSAGE, "--largest must be between 1 byte and 1 GiB");
    if (!(v->seconds > 0) || !(v->time_max > 0))
        return xy_fail(XY_EUSAGE, "%s must be more than 0",
                       v->seconds > 0 ? "--max-time" : "--seconds");
    st = parse_sizes("--sizes", v->sizes, &sizes);
    if (st == XY_OK)
        st = parse_sizes("--hold-out", v->held_out, &held_out);
    xy_vec_cleanup(&sizes);
    xy_vec_cleanup(&held_out);
    if (st == XY_OK && !v->check && !v->watch)
        st = check_output(v->output);
    if (st == XY_OK)
        st = check_output(v->svg);
    return st == XY_OK ? check_output(v->html) : st;
}

/* Entry point of 'xylem calibrate'. */
static xy_status_t run(const xy_command_t *command, const void *values, int argc, char **argv)
{
    const values_t *v = values;
    const bool is_silent = v->quiet || v->json;
    long threads[THREADS_MAX];
    xy_calibration_t c = {.kernels = v->kernels,
                          .plugins = &v->plugins,
                          .blas = v->blas,
                          .criterion = v->criterion,
                          .time_max = v->time_max,
                          .threads = threads,
                          .report = is_silent ? NULL : stdout,
                          .keep = keep,
                          .arg = v};
    xy_machine_t *live;
    char *path = NULL;
    xy_status_t st;

    (void)command, (void)argc, (void)argv;
    if (v->list)
        return list_kernels(v->json);
    if (v->show != NULL)
        return show(v);
    st = check_values(v);
    if (st != XY_OK)
        return st;
    if (v->tables.count > 0)
        return v->check || v->watch || v->hosts != NULL || v->gpu
                   ? xy_fail(XY_EUSAGE, "--fit measures nothing: it does not go with --check, "
                                        "--watch, --hosts or --gpu")
                   : fit_tables(v);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (v->watch && (v->check || v->json || v->gpu || v->hosts != NULL))
        return xy_fail(XY_EUSAGE,
                       "--watch prints lines about stored models of this machine: it does "
                       "not go with --check, --json, --gpu or --hosts");
    if (v->gpu && (v->check || v->hosts != NULL))
        return xy_fail(XY_EUSAGE, "--gpu measures GPUs of this machine anew: it does not go with "
                                  "--check or --hosts");
    if (v->hosts != NULL)
        return calibrate_hosts(v);
    st = parse_threads(v->threads, threads, &c.threads_count);
    if (st == XY_OK)
        st = xy_machine_live(&live);
    if (st != XY_OK)
        return st;
    if (v->output != NULL)
        path = xy_strdup(v->output);
    else
        st = xy_costs_path(&path);
    if (st == XY_OK && path == NULL)
        st = xy_fail_memory("naming the file of costs");
    if (st == XY_OK && v->output == NULL && !v->check && !v->watch)
        st = xy_make_directories(path); /* an error before the measurements, not after them */
    if (st == XY_OK)
        st = v->check   ? check(v, &c, live, path)
             : v->watch ? watch(v, &c, live, path)
                        : calibrate(v, &c, live, path);
    xy_free(path);
    xy_machine_destroy(live);
    return st == XY_OK ? xy_stdout_check() : st;
}

static const xy_section_t sections[] = {
    {"HOW IT IS MEASURED",
     "Each kernel runs in a separate process. A kernel of one thread runs on the core with the "
     "least "
     "other load, chosen before each visit. Sizes double from 100 until a run takes "
     "--max-time; then about fifty sizes in between are added, more of them small ones, and later "
     "some more where the error of the model is above 2 % or the time jumps. All sizes are visited "
     "in rounds, in random order, for a few runs each. Before, after and (kernels of the table, "
     "one thread) every half millisecond during a run the pace of the core is measured: its "
     "frequency, and how much of it other threads use. The time of a run is scaled to what it "
     "would have taken alone at the pace of the first calibration. The result is the median of the "
     "undisturbed runs of all visits, or of the less disturbed half. A size is visited at least "
     "three times, and up to twelve times while half of its 95 % confidence interval is over 1 %, "
     "or its runs were disturbed, or the model is far from it. The time that a thread waited for a "
     "processor does not count (except for kernels with several threads), and neither do the first "
     "two runs of a visit when they are short. A size whose runs differ by more than 10 % is left "
     "out.\n\n"
     "Sizes of copies, sums and messages that contradict their neighbours are measured again, and "
     "left out of the model if they still do. A model gets one more interval only if that reduces "
     "the sum of the squared relative errors by more than ln n times the squared noise (at least 1 "
     "%) for "
     "each "
     "coefficient that it adds and for its border. Every model is compared with sizes that were "
     "not used to fit it; their mean error is printed as 'held out'.\n\n"
     "A model is too noisy when more than a fifth of its sizes contradict their neighbours, when "
     "runs of more than a quarter of them differ by more than 10 %, or when it misses its samples "
     "or "
     "the sizes that were held out by more than a fifth in the mean. This is reported, the "
     "model is not stored, an earlier one is kept, and the exit code is 1 once all others are "
     "stored. The same holds for a kernel that returns a value other than 0, crashes, or does not "
     "end."},
    {"HOSTS",
     "With --hosts, a small program is compiled with the installed mpicc and started on all hosts "
     "that answer, one process on each; its file is in the home directory, which the hosts must "
     "share. Latencies of all pairs are measured in rounds, with each host in at most one pair at "
     "a time; Lowekamp's ECO algorithm finds the clusters and sites (see xylem-machine(1)); then "
     "blocking and nonblocking messages of growing size are measured between two hosts of each "
     "cluster, between the first hosts of each two clusters, and inside the first host of each "
     "cluster. Streams between several pairs of hosts at once show which links they share. Kernels "
     "are measured on the first host of each cluster by the same program, which must be installed "
     "there; with --every-host on all, where the host in the middle stands for its cluster and "
     "those that differ by more than 10 % are reported. The file is a machine as well: xylem "
     "predict and mpiexec --virtual take it with all its models."},
    {"ENVIRONMENT",
     "- XYLEM_COSTS: the file of costs, instead of one in XDG_CACHE_HOME or ~/.cache.\n\n"
     "- XYLEM_LAPACKE: the shared library with LAPACKE that fits the models."},
    {0}};

const xy_command_t verb_calibrate = {
    .name = "calibrate",
    .summary = "measure this machine and fit cost models",
    .synopsis = "",
    .description =
        "Measures copies and sums in memory, by one core and by several at once, transfers of "
        "cache "
        "lines between cores, switches of fibers, messages of Xylem's MPI, and compute kernels. "
        "Fits cost models and stores them with the measurements in a file that other verbs read. "
        "It takes less than two minutes. Run it while the machine is otherwise idle.\n\n"
        "Earlier measurements are kept and updated.",
    .examples =
        "xylem calibrate\n    this machine, into the user's cache\n"
        "xylem calibrate --check\n    check whether the models are still valid\n"
        "xylem calibrate --watch --interval 10m\n    report when a model becomes stale\n"
        "xylem calibrate -k all -t 1,4 -o costs.xml\n    all kernels, with one thread and "
        "with four\n"
        "xylem calibrate -k '' -p sort=./sort.so\n    your own kernel\n"
        "xylem calibrate --fit dgemm=times.csv --svg fit.svg -o costs.xml\n    a model of times "
        "that "
        "you have measured\n"
        "xylem calibrate --hosts hosts.txt -o cluster.xml\n    clusters and messages of several "
        "hosts\n",
    .options = options,
    .sections = sections,
    .values_size = sizeof(values_t),
    .run = run,
};
