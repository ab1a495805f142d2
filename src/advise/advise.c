/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advise/advise_internal.h"

enum { FIT_STEPS = 14 };
#define FIT_LEAST 0.1
#define FIT_MOST  10.0
#define FIT_CLOSE 0.003
/* When other programs had so much of the computation, they also had the cores during calls: then
 * the run is longer than its replay for another reason than slow messages. */
#define FIT_STOLEN 0.02
/* A gain depends on more than the costs of messages: computation is not the same in every run. */
#define KNOWN_ERROR 0.1
/* In real time, too: two runs differ, by this part of the run time on an idle machine, */
#define REAL_ERROR 0.02
/* and changes whose gain lies in the details of the runtime, not in the waits of the trace, gain by
 * so much more or less. */
#define DETAIL_ERROR 0.5
/* The known error of message costs: a third. */
static const double factors[ADVISE_RANGE] = {1, 0.75, 1.33};

/* ---- Replaying ---- */

/* The place in the profile of each place in the trace is found by its text, as when it was made. */
uint32_t advise_site(const advise_t *a, const xy_script_op_t *op)
{
    return op->mark < a->log->step_count ? a->profile->insight->site_of[op->mark] : 0;
}

static const char *function_of(const advise_t *a, const xy_script_op_t *op)
{
    return op->mark < a->log->step_count ? a->log->labels[a->log->steps[op->mark].label] : "";
}

/* Computation up to MPI_Init is not part of the run that was counted. */
static void leave_out_start(const advise_t *a, xy_script_proc_t *p)
{
    for (size_t i = 0; i < p->ops.count; i++) {
        xy_script_op_t *op = &XY_VEC_AT(&p->ops, xy_script_op_t, i);

        if (op->kind != XY_SCRIPT_COMPUTE)
            continue;
        if (strncmp(function_of(a, op), "MPI_Init", 8) == 0)
            op->seconds = 0;
        break;
    }
}

xy_status_t advise_replay(const advise_t *a, xy_replay_t **replay_p)
{
    xy_status_t st = xy_replay_from_trace(a->log, replay_p);

    for (int32_t r = 0; st == XY_OK && r < a->ranks; r++) {
        if (a->leaves_stolen)
            advise_leave_out_stolen(a, &xy_replay_script(*replay_p)->proc[r]);
        leave_out_start(a, &xy_replay_script(*replay_p)->proc[r]);
    }
    return st;
}

static void scale_costs(xy_vjob_costs_t *c, double by)
{
    double *times[] = {&c->send, &c->receive, &c->latency, &c->test,
                       &c->swap, &c->task,    &c->notice};
    double *rates[] = {&c->copy, &c->reduce, &c->numa};

    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        *times[i] *= by;
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
        *rates[i] /= by;
}

/* Seconds of a case where messages cost `by` times as much as fitted. */
static xy_status_t seconds_of(const advise_t *a, const advise_case_t *c, double by,
                              double *seconds_p)
{
    xy_vjob_config_t job = {.machine = a->machine,
                            .procs = a->ranks,
                            .core_of = c->core_of != NULL ? c->core_of : a->core_of,
                            .progress = XY_SIM_TASKS,
                            .comm_cores = c->comm_cores,
                            .comm_core_count = c->comm_core_count,
                            .costs = a->costs,
                            .store = a->options->store,
                            .picks = c->picks};
    xy_replay_t *replay = c->replay;
    xy_replay_result_t result;
    xy_status_t st = XY_OK;

    scale_costs(&job.costs, by);
    if (c->eager != 0) {
        job.costs.eager = job.costs.eager_net = (double)c->eager;
        job.costs.keeps_eager = true;
    }
    if (replay == NULL)
        st = advise_replay(a, &replay);
    if (st == XY_OK)
        st = xy_replay_run(replay, &job, 1, &result);
    if (st == XY_OK) {
        *seconds_p = result.seconds;
        xy_replay_result_cleanup(&result);
    }
    if (c->replay == NULL)
        xy_replay_destroy(replay);
    return st;
}

/* ---- Fitting ---- */

/* The factor by which the replay takes as long as the run: the time grows with it. */
static xy_status_t fit(advise_t *a)
{
    double low = FIT_LEAST, high = a->out->stolen > FIT_STOLEN ? 1 : FIT_MOST, at = 1, seconds = 0;
    xy_replay_t *replay;
    xy_status_t st = advise_replay(a, &replay);
    advise_case_t c;

    if (st != XY_OK)
        return st;
    c = (advise_case_t){.replay = replay};
    for (int i = 0; i < FIT_STEPS && st == XY_OK; i++) {
        st = seconds_of(a, &c, at, &seconds);
        if (fabs(seconds - a->out->run) <= FIT_CLOSE * a->out->run || a->options->store != NULL ||
            (seconds < a->out->run && at >= high))
            break;
        if (seconds < a->out->run)
            low = at;
        else
            high = at;
        at = sqrt(low * high);
    }
    a->out->scale = at;
    a->out->replayed = seconds;
    scale_costs(&a->costs, at);
    a->rest = a->out->run > 0 ? fabs(seconds - a->out->run) / a->out->run : 0;
    xy_replay_destroy(replay);
    a->leaves_stolen = true;
    c.replay = NULL;
    for (int i = 0; i < ADVISE_RANGE && st == XY_OK; i++)
        st = seconds_of(a, &c, factors[i], &a->base[i]);
    return st;
}

/* ---- Remedies ---- */

/* Adds a remedy; of several options of one kind only the best is kept. */
static xy_status_t keep(advise_t *a, const xy_remedy_t *remedy)
{
    xy_vec_t *all = &a->out->remedies;

    for (size_t i = 0; i < all->count && remedy->option[0] != '\0'; i++) {
        xy_remedy_t *other = &XY_VEC_AT(all, xy_remedy_t, i);

        if (strcmp(other->kind, remedy->kind) == 0 && other->option[0] != '\0') {
            /* Nearly the same gain: the one that was tried first. */
            if (remedy->gain > other->gain + 0.1 * XY_ADVISE_LEAST)
                *other = *remedy;
            return XY_OK;
        }
    }
    return xy_vec_append(all, remedy) == XY_OK ? XY_OK : xy_fail_memory("advising");
}

/* The part of a gain that a replay may be wrong by. */
static double error_of(const advise_t *a, const xy_remedy_t *r)
{
    static const char *const details[] = {"comm-cores", "eager", "algorithm", "workers"};
    double error = a->rest + KNOWN_ERROR;

    for (size_t i = 0; i < sizeof(details) / sizeof(details[0]) && !a->profile->is_virtual; i++)
        if (strcmp(details[i], r->kind) == 0)
            error += DETAIL_ERROR;
    return error;
}

xy_status_t advise_try(advise_t *a, const advise_case_t *c, const xy_remedy_t *remedy)
{
    xy_remedy_t r = *remedy;
    xy_status_t st = XY_OK;

    for (int i = 0; i < ADVISE_RANGE && st == XY_OK; i++) {
        double seconds = 0, gain;

        st = seconds_of(a, c, factors[i], &seconds);
        gain = a->base[i] > 0 ? 1 - seconds / a->base[i] : 0;
        if (i == 0 && gain < XY_ADVISE_LEAST)
            return st;
        r.gain = i == 0 ? gain : r.gain;
        r.low = i == 0 ? gain : fmin(r.low, gain);
        r.high = i == 0 ? gain : fmax(r.high, gain);
    }
    r.low -= error_of(a, &r) * r.gain + (a->profile->is_virtual ? 0 : REAL_ERROR);
    r.high += error_of(a, &r) * r.gain + (a->profile->is_virtual ? 0 : REAL_ERROR);
    r.high = fmin(r.high, 1);
    r.measured = r.noise = NAN;
    if (st == XY_OK && r.low < 0) {
        a->out->unsure++;
        return XY_OK;
    }
    return st == XY_OK ? keep(a, &r) : st;
}

/* ---- Measuring ---- */

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return a < b ? -1 : a > b;
}

static double median(double *values, size_t n)
{
    qsort(values, n, sizeof(*values), by_value);
    return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

void xy_remedy_measure(xy_remedy_t *r, const double *without, double *with, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        with[i] = without[i] > 0 ? 1 - with[i] / without[i] : NAN;
        if (isnan(with[i])) {
            r->measured = r->noise = NAN;
            return;
        }
    }
    r->measured = median(with, count);
    for (size_t i = 0; i < count; i++)
        with[i] = fabs(with[i] - r->measured);
    /* of normal errors: 1.4826 median deviations are one standard deviation, and the median of n
     * has 1.2533 / sqrt(n) of it */
    r->noise = count > 1 ? 1.96 * 1.2533 * 1.4826 * median(with, count) / sqrt((double)count) : NAN;
}

bool xy_remedy_is_noise(const xy_remedy_t *r)
{
    return !isnan(r->measured) && !isnan(r->noise) && r->noise > fabs(r->measured);
}

static int by_gain(const void *left, const void *right)
{
    const xy_remedy_t *a = left, *b = right;

    if (a->gain != b->gain)
        return a->gain > b->gain ? -1 : 1;
    return strcmp(a->change, b->change);
}

/* ---- Where it ran ---- */

/* The machine of the run: as many cores as it used, or as there are here. */
static xy_status_t find_cores(advise_t *a)
{
    size_t rows = 0;
    xy_cores_t live;
    char text[32];

    for (int32_t r = 0; r < a->ranks; r++) {
        uint32_t row = XY_VEC_AT(&a->profile->ranks, xy_profile_rank_t, r).core;

        a->core_of[r] = (int32_t)row;
        rows = row + 1 > rows ? row + 1 : rows;
    }
    a->used = (int32_t)rows;
    if (!a->profile->is_virtual && xy_cores_live(&live) == XY_OK) {
        rows = (size_t)live.count > rows ? (size_t)live.count : rows;
        xy_cores_cleanup(&live);
    }
    a->cores = (int32_t)rows;
    snprintf(text, sizeof(text), "core:%zu", rows);
    return xy_machine_load(text, &a->machine);
}

/* On a machine of the user's choice ranks are where the launcher puts them. */
static xy_status_t take_machine(advise_t *a)
{
    xy_cores_t cores;
    xy_status_t st = xy_machine_load(a->options->machine, &a->machine);

    if (st == XY_OK)
        st = xy_cores_init(&cores, a->machine);
    if (st != XY_OK)
        return st;
    st = xy_place_ranks("scatter_numa", &cores, a->ranks, a->core_of);
    a->cores = cores.count;
    for (int32_t r = 0; r < a->ranks; r++)
        if (a->core_of[r] >= a->used)
            a->used = a->core_of[r] + 1;
    xy_cores_cleanup(&cores);
    return st;
}

/* Tries all remedies on the replay and sorts them by gain, largest first. */
static xy_status_t advise(advise_t *a)
{
    xy_status_t st = a->options->machine != NULL ? take_machine(a) : find_cores(a);

    if (st == XY_OK)
        st = xy_analyse(a->profile, 0, &a->analysis);
    a->out->cores = a->used;
    a->out->run = 1e-9 * (double)a->profile->insight->path_ns;
    xy_vjob_costs_default(&a->costs);
    if (st == XY_OK)
        st = xy_vjob_costs_set(&a->costs, a->options->store);
    if (a->options->eager != 0)
        a->costs.eager = a->costs.eager_net = (double)a->options->eager;
    if (st == XY_OK)
        st = advise_find_stolen(a);
    if (st == XY_OK)
        st = fit(a);
    if (st == XY_OK)
        st = advise_settings(a);
    if (st == XY_OK)
        st = advise_changes(a);
    if (st == XY_OK && a->out->remedies.count > 0)
        qsort(a->out->remedies.data, a->out->remedies.count, sizeof(xy_remedy_t), by_gain);
    return st;
}

xy_status_t xy_advise(const xy_trace_log_t *log, const xy_profile_t *profile,
                      const xy_advise_options_t *options, xy_advice_t **advice_p)
{
    advise_t a = {.log = log,
                  .profile = profile,
                  .options = options,
                  .ranks = (int32_t)profile->ranks.count,
                  .core_of = xy_calloc(profile->ranks.count + 1, sizeof(*a.core_of)),
                  .out = xy_calloc(1, sizeof(*a.out))};
    xy_status_t st = a.core_of != NULL && a.out != NULL ? XY_OK : xy_fail_memory("advising");

    if (st == XY_OK) {
        *a.out = (xy_advice_t){
            .program = profile->program, .ranks = a.ranks, .remedies = XY_VEC_INIT(xy_remedy_t)};
        st = advise(&a);
    }
    xy_analysis_destroy(a.analysis);
    xy_machine_destroy(a.machine);
    xy_free(a.core_of);
    xy_free(a.stolen);
    if (st != XY_OK) {
        xy_advice_destroy(a.out);
        return st;
    }
    *advice_p = a.out;
    return XY_OK;
}

void xy_advice_destroy(xy_advice_t *advice)
{
    if (advice == NULL)
        return;
    xy_vec_cleanup(&advice->remedies);
    xy_free(advice);
}
