/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * xylem bench nbc, measured: runs the program with each library in turn and gathers what it says.
 *
 * One run does all collectives and sizes for one number of ranks. In the mode cpu-exploit the first
 * run of the first library sizes the computations; all other runs get the same ones.
 */
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "bench_nbc.h"

/* One run of the program. */
typedef struct {
    nbc_study_t *study;
    size_t ranks, library; /* indices */
} run_t;

/* The number behind "key": in a line of JSON; not a number when it is not there. */
static double number_of(const char *line, const char *key)
{
    char quoted[64];
    const char *at;

    snprintf(quoted, sizeof(quoted), "\"%s\": ", key);
    at = strstr(line, quoted);
    return at != NULL ? strtod(at + strlen(quoted), NULL) : NAN;
}

static bool collective_of(const char *line, xy_collective_t *c)
{
    static const char key[] = "{\"collective\": \"";
    char name[64];

    return strncmp(line, key, sizeof(key) - 1) == 0 &&
           sscanf(line + sizeof(key) - 1, "%63[a-z_]", name) == 1 && xy_coll_parse(name, c);
}

/* Returns the result that a line of output belongs to, or NULL. */
static nbc_result_t *result_of(const run_t *run, const char *line)
{
    const nbc_lists_t *lists = &run->study->lists;
    uint64_t bytes = (uint64_t)fmax(0, number_of(line, "bytes"));
    xy_collective_t c;

    if (!collective_of(line, &c))
        return NULL;
    for (size_t i = 0; i < lists->collectives.count; i++)
        for (size_t s = 0; s < lists->sizes.count; s++)
            if (XY_VEC_AT(&lists->collectives, xy_collective_t, i) == c &&
                XY_VEC_AT(&lists->sizes, uint64_t, s) / 8 * 8 == bytes)
                return nbc_result_at(run->study, i, s, run->ranks, run->library);
    return NULL;
}

/* One more into a growing list of `n`. */
static void insert(double *list, int n, double value)
{
    for (; n > 0 && list[n - 1] > value; n--)
        list[n] = list[n - 1];
    list[n] = value;
}

/* Adds the times of one phase in a line to the result. */
static void add_time(nbc_time_t *t, int turn, const char *line, const char *name)
{
    char key[32];
    double least, most;

    insert(t->medians, turn, number_of(line, name));
    snprintf(key, sizeof(key), "%s_mean", name);
    t->mean = (t->mean * turn + number_of(line, key)) / (turn + 1);
    snprintf(key, sizeof(key), "%s_min", name);
    least = number_of(line, key);
    snprintf(key, sizeof(key), "%s_max", name);
    most = number_of(line, key);
    t->min = turn == 0 || least < t->min ? least : t->min;
    t->max = turn == 0 || most > t->max ? most : t->max;
}

/* Adds a line of the benchmark's output to the results; other lines are ignored. */
static void take_line(void *arg, const char *line)
{
    static const char *const names[NBC_PHASES] = {"t_comm", "t_comp", "t_ovrl"};
    run_t *run = arg;
    nbc_result_t *r = result_of(run, line);

    if (r == NULL || r->turns == NBC_TURNS_MAX)
        return;
    for (int p = 0; p < NBC_PHASES; p++)
        add_time(&r->times[p], r->turns, line, names[p]);
    insert(r->overlaps, r->turns, number_of(line, "overlap"));
    r->is_right = (r->turns == 0 || r->is_right) && strstr(line, "\"right\": true") != NULL;
    r->kernels = (long)number_of(line, "kernels");
    r->turns++;
    xy_progress_step(&run->study->bar, 1);
}

/* The median of a growing list. */
static double middle(const double *list, int n)
{
    return n == 0 ? NAN : (list[(n - 1) / 2] + list[n / 2]) / 2;
}

double nbc_median(const nbc_result_t *r, nbc_phase_t phase)
{
    return middle(r->times[phase].medians, r->turns);
}

double nbc_overlap(const nbc_result_t *r)
{
    return middle(r->overlaps, r->turns);
}

nbc_result_t *nbc_result_at(const nbc_study_t *study, size_t collective, size_t size, size_t ranks,
                            size_t library)
{
    size_t at = (collective * study->lists.sizes.count + size) * study->lists.ranks.count + ranks;

    return &XY_VEC_AT(&study->results, nbc_result_t, at * study->libraries.count + library);
}

/* ---- The arguments of a run ---- */

typedef struct {
    xy_text_t collectives, sizes, kernels;
    char repetitions[24], factor[32], work[24], limit[32];
    char *list[24];
} arguments_t;

/* The program goes through its own list of collectives; the kernels must come in that order. */
static const xy_collective_t program_order[] = {XY_COLL_BARRIER,
                                                XY_COLL_BCAST,
                                                XY_COLL_GATHER,
                                                XY_COLL_GATHERV,
                                                XY_COLL_SCATTER,
                                                XY_COLL_SCATTERV,
                                                XY_COLL_ALLGATHER,
                                                XY_COLL_ALLGATHERV,
                                                XY_COLL_ALLTOALL,
                                                XY_COLL_ALLTOALLV,
                                                XY_COLL_ALLTOALLW,
                                                XY_COLL_REDUCE,
                                                XY_COLL_ALLREDUCE,
                                                XY_COLL_REDUCE_SCATTER,
                                                XY_COLL_SCAN,
                                                XY_COLL_EXSCAN,
                                                XY_COLL_REDUCE_SCATTER_BLOCK};

static void add_kernels(const nbc_study_t *study, size_t ranks, xy_collective_t c, xy_text_t *text)
{
    for (size_t i = 0; i < study->lists.collectives.count; i++)
        for (size_t s = 0; XY_VEC_AT(&study->lists.collectives, xy_collective_t, i) == c &&
                           s < study->lists.sizes.count;
             s++) {
            const nbc_result_t *r = nbc_result_at(study, i, s, ranks, 0);

            xy_text_addf(text, "%s%ld", text->length > 0 ? "," : "", r->turns > 0 ? r->kernels : 1);
        }
}

/* Makes the arguments of the benchmark; its texts are the caller's to clean up, also on failure. */
static xy_status_t make_arguments(const nbc_study_t *study, size_t ranks, bool is_sized,
                                  arguments_t *a)
{
    const nbc_values_t *v = study->values;
    size_t n = 0;

    for (size_t i = 0; i < study->lists.collectives.count; i++)
        xy_text_addf(&a->collectives, "%s%s", i > 0 ? "," : "",
                     xy_coll_name(XY_VEC_AT(&study->lists.collectives, xy_collective_t, i)));
    for (size_t s = 0; s < study->lists.sizes.count; s++)
        xy_text_addf(&a->sizes, "%s%llu", s > 0 ? "," : "",
                     (unsigned long long)XY_VEC_AT(&study->lists.sizes, uint64_t, s));
    for (size_t i = 0; is_sized && i < XY_COLL_COUNT; i++)
        add_kernels(study, ranks, program_order[i], &a->kernels);
    if (a->collectives.failed || a->sizes.failed || a->kernels.failed)
        return xy_fail_memory("running the benchmark");
    snprintf(a->repetitions, sizeof(a->repetitions), "%ld", v->repetitions);
    snprintf(a->factor, sizeof(a->factor), "%g", v->factor);
    snprintf(a->limit, sizeof(a->limit), "%g", v->limit);
    snprintf(a->work, sizeof(a->work), "%ld", v->work);
    for (const char *const *p =
             (const char *const[]){"--json", "--collective", a->collectives.s, "--size", a->sizes.s,
                                   "--mode", v->mode, "--kernel", v->kernel, "--work", a->work,
                                   "--factor", a->factor, "--repetitions", a->repetitions,
                                   "--limit", a->limit, NULL};
         *p != NULL; p++)
        a->list[n++] = (char *)(uintptr_t)*p;
    if (is_sized) {
        a->list[n++] = (char *)(uintptr_t) "--kernels";
        a->list[n++] = a->kernels.s;
    }
    return XY_OK;
}

/* Runs the benchmark once with a library; only a failure of the first library ends the study. */
static xy_status_t run_once(nbc_study_t *study, size_t ranks, size_t library, bool is_sized)
{
    const nbc_library_t *lib = &XY_VEC_AT(&study->libraries, nbc_library_t, library);
    int count = XY_VEC_AT(&study->lists.ranks, int, ranks);
    arguments_t arguments = {0};
    run_t run = {study, ranks, library};
    bool is_good = true;
    xy_status_t st = make_arguments(study, ranks, is_sized, &arguments);

    if (st == XY_OK)
        st = nbc_library_run(study, lib, count, arguments.list, take_line, &run, &is_good);
    if (st == XY_OK && !is_good) {
        if (library == 0)
            st = xy_fail(XY_EIO, "the benchmark failed with %d ranks; its messages are above",
                         count);
        else
            xy_warn("%s failed with %d ranks; what it measured before is used", lib->name, count);
    }
    xy_text_cleanup(&arguments.collectives);
    xy_text_cleanup(&arguments.sizes);
    xy_text_cleanup(&arguments.kernels);
    return st;
}

static xy_status_t run_all(nbc_study_t *study)
{
    bool is_fixed = strcmp(study->values->mode, nbc_modes[0]) == 0;
    xy_status_t st = XY_OK;

    for (size_t r = 0; r < study->lists.ranks.count; r++)
        for (long turn = 0; turn < study->values->turns; turn++)
            for (size_t l = 0; l < study->libraries.count && st == XY_OK; l++)
                st = run_once(study, r, l, is_fixed && (turn > 0 || l > 0));
    return st;
}

/* Above other sessions' work where we may; busy machines are reported. */
static void be_quiet(const nbc_study_t *study)
{
    FILE *file = fopen("/proc/self/autogroup", "w");
    double load[1];

    if (file != NULL) {
        fputs("-20", file);
        fclose(file);
    }
    if (getloadavg(load, 1) == 1 && load[0] > 0.5 * study->cores)
        xy_warn("the machine is busy (load average %.1f on %d cores): the times are not reliable",
                load[0], study->cores);
}

static xy_status_t make_results(nbc_study_t *study)
{
    size_t count = study->lists.collectives.count * study->lists.sizes.count *
                   study->lists.ranks.count * study->libraries.count;
    nbc_result_t none = {0};

    for (size_t i = 0; i < count; i++)
        if (xy_vec_append(&study->results, &none) != XY_OK)
            return xy_fail_memory("storing the results");
    xy_progress_start(&study->bar, "measuring", count * (uint64_t)study->values->turns);
    return XY_OK;
}

/* Writes files and table of a study; fails if a collective had a wrong result. */
static xy_status_t write_all(const nbc_study_t *study)
{
    const nbc_values_t *v = study->values;
    xy_status_t st = xy_out_write(v->csv, nbc_write_csv, study);

    if (st == XY_OK)
        st = xy_out_write(v->html, nbc_write_html, study);
    if (st == XY_OK)
        st = xy_out_write(v->svg, nbc_write_svg, study);
    if (st != XY_OK)
        return st;
    if (v->json)
        nbc_write_json(study, stdout);
    else
        nbc_write_text(study, stdout);
    for (size_t i = 0; i < study->results.count && st == XY_OK; i++) {
        const nbc_result_t *r = &XY_VEC_AT(&study->results, nbc_result_t, i);

        if (r->turns > 0 && !r->is_right)
            st = xy_fail(XY_EIO, "the result of a nonblocking collective differs from that of the "
                                 "blocking one; the table marks it");
    }
    return st == XY_OK ? xy_stdout_check() : st;
}

/* One name for all chosen collectives, or what mpiexec understands itself. */
static xy_status_t name_algorithms(nbc_study_t *study)
{
    const char *name = study->values->algorithm;
    xy_text_t text = XY_TEXT_INIT;

    for (size_t i = 0; name != NULL && i < study->lists.collectives.count; i++)
        if (strchr(name, '=') == NULL)
            xy_text_addf(&text, "%s%s=%s", i > 0 ? "," : "",
                         xy_coll_name(XY_VEC_AT(&study->lists.collectives, xy_collective_t, i)),
                         name);
    if (name != NULL && strchr(name, '=') != NULL)
        xy_text_add(&text, name);
    study->algorithms = text.s;
    return text.failed ? xy_fail_memory("running the benchmark") : XY_OK;
}

static int count_cores(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

xy_status_t nbc_measure(const nbc_values_t *v)
{
    static const char *const usual[] = {"all", NULL};
    nbc_values_t values = *v;
    nbc_study_t study = {.values = &values,
                         .libraries = XY_VEC_INIT(nbc_library_t),
                         .results = XY_VEC_INIT(nbc_result_t),
                         .cores = count_cores()};
    xy_status_t st = nbc_lists_read(v, usual, 8, &study.lists);

    if (v->trace != NULL && st == XY_OK)
        st = xy_fail(XY_EUSAGE, "--trace is for simulations; 'xylem run --trace FILE' records a "
                                "program that runs here");
    if (values.mode == NULL)
        values.mode = nbc_modes[study.lists.ranks.count > 1];
    study.comm_cores = v->comm_cores >= 0 ? (int)v->comm_cores : study.cores > 1;
    if (st == XY_OK)
        st = name_algorithms(&study);
    if (st == XY_OK)
        st = nbc_libraries_make(&study);
    if (st == XY_OK)
        st = make_results(&study);
    if (st == XY_OK) {
        be_quiet(&study);
        st = run_all(&study);
        xy_progress_stop(&study.bar);
    }
    if (st == XY_OK)
        st = write_all(&study);
    nbc_libraries_cleanup(&study);
    xy_free(study.algorithms);
    nbc_lists_cleanup(&study.lists);
    xy_vec_cleanup(&study.results);
    return st;
}
