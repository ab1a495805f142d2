/* SPDX-License-Identifier: BSD-3-Clause */
/* Prediction: compile, find the models, walk, gather the results. */
#include "program/predict.h"

#include <stdlib.h>
#include <string.h>

#include "program/walk_driver.h"
#include "program/walk_oracle.h"

/* ---- Models ---- */

static const char *given(const xy_predict_given_t *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            return list[i].text;
    return NULL;
}

static bool has_model(const xy_predict_config_t *c, const char *name)
{
    if (c->costs == NULL)
        return false;
    return xy_costs_kernel(c->costs, name, NULL, 1) != NULL ||
           xy_costs_kernel(c->costs, xy_kernel_base_name(name), NULL, 1) != NULL;
}

/* Sets the cost model of a call site, shared by sites of one name: a kernel model, a time per pass,
 * or none. */
static xy_status_t find_model(walk_t *walk, code_site_t *site, const char *name, bool is_kernel)
{
    const xy_predict_config_t *c = walk->config;
    const char *text = given(c->loop_costs, c->loop_cost_count, name);
    walk_model_t *m;

    for (size_t i = 0; i < walk->models.count; i++)
        if (strcmp(XY_VEC_AT(&walk->models, walk_model_t, i).name, name) == 0) {
            site->model = (int32_t)i;
            return XY_OK;
        }
    m = xy_vec_push(&walk->models);
    if (m == NULL)
        return xy_fail_memory("predicting");
    site->model = (int32_t)walk->models.count - 1;
    m->name = name;
    m->is_kernel = is_kernel;
    if (text != NULL) {
        if (!xy_parse_seconds(text, &m->per_pass) || m->per_pass < 0)
            return xy_fail(XY_EUSAGE, "'%s' is not a time for a pass of %s", text, name);
        m->is_given = true;
    } else if (site->node->kind == XY_NODE_TEAM) {
        m->is_missing = c->costs == NULL || xy_costs_constant(c->costs, name) == NULL;
    } else if (is_kernel) {
        m->is_missing = !has_model(c, name);
    } else if (!has_model(c, name)) {
        m->per_pass = c->cost_all;
        m->is_missing = c->cost_all == 0;
    }
    return XY_OK;
}

/* Kernels without a model: one message has the remedy for all of them. */
static xy_status_t check_models(const walk_t *walk)
{
    xy_text_t names = XY_TEXT_INIT;
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < walk->models.count; i++) {
        const walk_model_t *m = &XY_VEC_AT(&walk->models, walk_model_t, i);

        if (m->is_kernel && m->is_missing)
            xy_text_addf(&names, "%s%s", names.length > 0 ? ", " : "", m->name);
    }
    if (names.length > 0 && !walk->config->allow_missing)
        st =
            xy_fail(XY_ENOENT,
                    "no model of %s; measure with 'xylem calibrate' (--kernels NAME), give --costs "
                    "FILE, or let them be free with --free-kernels",
                    names.s);
    xy_text_cleanup(&names);
    return st;
}

static bool is_used(const walk_t *walk, const char *name)
{
    for (size_t i = 0; i < walk->models.count; i++)
        if (strcmp(XY_VEC_AT(&walk->models, walk_model_t, i).name, name) == 0)
            return true;
    return false;
}

/* Is the call local? Then it is computation, as it is where a run is recorded. */
static bool is_local(const char *call)
{
    return strncmp(call, "MPI_Type_", 9) == 0 || strncmp(call, "MPI_Get_", 8) == 0 ||
           strcmp(call, "MPI_Initialized") == 0 || strcmp(call, "MPI_Finalized") == 0;
}

/* Register the name and the line of a call in the trace. */
static void label_site(walk_t *walk, const code_site_t *site, size_t i)
{
    xy_trace_t *trace = walk->config->job.trace;
    const char *slash = strrchr(site->node->file, '/');
    char place[320];

    snprintf(place, sizeof(place), "%s:%ld", slash != NULL ? slash + 1 : site->node->file,
             site->node->line);
    walk->labels[i] = xy_trace_label(trace, site->call->name);
    if (!is_local(site->call->name))
        walk->places[i] = xy_trace_site(trace, place);
}

/* The kind of an element of OpenMP, and the model of what it takes. */
static xy_status_t prepare_team(walk_t *walk, code_site_t *site)
{
    const char *model = NULL;
    xy_status_t st = walk_team_prepare(site, &model);

    return st == XY_OK && model != NULL ? find_model(walk, site, model, true) : st;
}

/* Sets model, handler and trace label of every site; fails for times of unknown loops. */
static xy_status_t prepare_sites(walk_t *walk)
{
    const xy_predict_config_t *c = walk->config;
    xy_trace_t *trace = c->job.trace;
    xy_status_t st = XY_OK;

    if (trace != NULL) {
        walk->labels = xy_calloc(walk->code->sites.count + 1, sizeof(*walk->labels));
        walk->places = xy_calloc(walk->code->sites.count + 1, sizeof(*walk->places));
        if (walk->labels == NULL || walk->places == NULL)
            return xy_fail_memory("predicting");
    }
    for (size_t i = 0; i < walk->code->sites.count && st == XY_OK; i++) {
        code_site_t *site = &XY_VEC_AT(&walk->code->sites, code_site_t, i);
        const walk_call_t *call = site->call != NULL ? walk_call_find(site->call->name) : NULL;

        site->index = (int32_t)i;
        if (site->node->kind == XY_NODE_TEAM) {
            st = prepare_team(walk, site);
        } else if (call == NULL) {
            st = find_model(walk, site, site->name, site->node->kind == XY_NODE_KERNEL);
        } else {
            site->run = (void (*)(void))call->run;
            site->extra = call->extra;
            if (trace != NULL)
                label_site(walk, site, i);
        }
    }
    for (size_t i = 0; i < c->loop_cost_count && st == XY_OK; i++)
        if (!is_used(walk, c->loop_costs[i].name))
            st = xy_fail(XY_EUSAGE, "the description has no loop '%s'", c->loop_costs[i].name);
    return st == XY_OK ? check_models(walk) : st;
}

/* ---- Results ---- */

static int by_seconds(const void *a, const void *b)
{
    const xy_predict_line_t *x = a, *y = b;

    return x->seconds > y->seconds ? -1 : x->seconds < y->seconds;
}

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Parts of one statement are one line. */
static xy_status_t add_line(xy_prediction_t *p, const code_place_t *place,
                            const xy_vjob_path_part_t *part)
{
    xy_predict_line_t line = {place->file, place->line, place->what, part->kind, part->seconds};

    for (size_t i = 0; i < p->lines.count; i++) {
        xy_predict_line_t *l = &XY_VEC_AT(&p->lines, xy_predict_line_t, i);

        if (l->line == line.line && is_same_text(l->file, line.file) &&
            is_same_text(l->what, line.what)) {
            l->seconds += line.seconds;
            return XY_OK;
        }
    }
    return xy_vec_append(&p->lines, &line);
}

/* Copies the critical path into the prediction, by source line, most seconds first. */
static xy_status_t take_path(const walk_t *walk, xy_prediction_t *p)
{
    xy_vec_t parts = XY_VEC_INIT(xy_vjob_path_part_t);
    xy_status_t st = xy_vjob_path(walk->job, &parts);

    for (size_t i = 0; i < parts.count && st == XY_OK; i++) {
        const xy_vjob_path_part_t *part = &XY_VEC_AT(&parts, xy_vjob_path_part_t, i);

        if (part->line < walk->code->places.count)
            st = add_line(p, &XY_VEC_AT(&walk->code->places, code_place_t, part->line), part);
    }
    if (p->lines.count > 0)
        qsort(p->lines.data, p->lines.count, sizeof(xy_predict_line_t), by_seconds);
    xy_vec_cleanup(&parts);
    return st;
}

/* Copies calls, seconds and mean model error of every kernel and loop into the prediction. */
static xy_status_t take_kernels(const walk_t *walk, xy_prediction_t *p)
{
    for (size_t i = 0; i < walk->models.count; i++) {
        const walk_model_t *m = &XY_VEC_AT(&walk->models, walk_model_t, i);
        xy_predict_kernel_t k = {.name = m->name,
                                 .is_kernel = m->is_kernel,
                                 .is_missing = m->is_missing,
                                 .is_extrapolated = m->is_extrapolated,
                                 .calls = m->calls,
                                 .seconds = m->seconds};

        k.error = m->seconds > 0 ? m->weighted_error / m->seconds : 0;
        if (xy_vec_append(&p->kernels, &k) != XY_OK)
            return XY_ENOMEM;
    }
    return XY_OK;
}

/* The mean of the models' errors, each with its share of all time that is modelled: computing by
 * its kernels, the rest by the models of messages. */
static double mean_error(const xy_prediction_t *p, double message_error)
{
    double computing = 0, off = 0, rest = 0, total;

    for (size_t i = 0; i < p->kernels.count; i++) {
        const xy_predict_kernel_t *k = &XY_VEC_AT(&p->kernels, xy_predict_kernel_t, i);

        computing += k->seconds;
        off += k->seconds * k->error;
    }
    for (int32_t r = 0; r < p->procs; r++)
        rest += p->proc[r].communication + p->proc[r].idle;
    total = computing + rest;
    if (!(total > 0))
        return 0;
    if (rest > 0 && message_error < 0)
        return -1;
    return (off + rest * (message_error > 0 ? message_error : 0)) / total;
}

/* Fills the prediction from the finished job: times, totals, and path and matrix if they were
 * recorded. */
static xy_status_t take_results(const walk_t *walk, xy_prediction_t *p)
{
    xy_status_t st = XY_OK;

    p->seconds = xy_vjob_end(walk->job);
    p->procs = walk->procs;
    p->kernel_calls = walk->kernel_calls;
    xy_vjob_totals(walk->job, &p->totals);
    p->proc = xy_calloc((size_t)walk->procs, sizeof(*p->proc));
    if (p->proc == NULL)
        return xy_fail_memory("predicting");
    for (int32_t r = 0; r < walk->procs; r++)
        xy_vjob_proc(walk->job, r, &p->proc[r]);
    if (walk->config->job.has_path)
        st = take_path(walk, p);
    if (st == XY_OK && walk->config->job.has_matrix)
        st = xy_vjob_matrix(walk->job, &p->pairs);
    if (st == XY_OK)
        st = take_kernels(walk, p);
    p->error = mean_error(p, walk->config->message_error);
    return st;
}

/* Creates the prediction; the caller owns it, and on failure *prediction_p is untouched. */
static xy_status_t finish(const walk_t *walk, xy_prediction_t **prediction_p)
{
    xy_prediction_t *p = xy_calloc(1, sizeof(*p));
    xy_status_t st;

    if (p == NULL)
        return xy_fail_memory("predicting");
    p->lines = XY_VEC_INIT(xy_predict_line_t);
    p->kernels = XY_VEC_INIT(xy_predict_kernel_t);
    p->pairs = XY_VEC_INIT(xy_vjob_pair_t);
    st = take_results(walk, p);
    if (st == XY_OK)
        *prediction_p = p;
    else
        xy_prediction_destroy(p);
    return st;
}

void xy_prediction_destroy(xy_prediction_t *prediction)
{
    if (prediction == NULL)
        return;
    xy_free(prediction->proc);
    xy_vec_cleanup(&prediction->lines);
    xy_vec_cleanup(&prediction->kernels);
    xy_vec_cleanup(&prediction->pairs);
    xy_free(prediction);
}

static xy_status_t prepare(walk_t *walk, const xy_program_t *program)
{
    const xy_predict_config_t *c = walk->config;
    xy_status_t st = code_compile(program, c->assumed, c->assumed_count, &walk->code);

    if (st == XY_OK && xy_arena_create(&walk->arena) != XY_OK)
        st = xy_fail_memory("predicting");
    if (st == XY_OK)
        code_fuse(walk->code);
    return st == XY_OK ? prepare_sites(walk) : st;
}

xy_status_t xy_predict(const xy_program_t *program, const xy_predict_config_t *config,
                       xy_prediction_t **prediction_p)
{
    walk_t walk = {.config = config, .models = XY_VEC_INIT(walk_model_t)};
    xy_status_t st = prepare(&walk, program);

    if (st == XY_OK)
        st = walk_run(&walk);
    if (st == XY_OK)
        st = finish(&walk, prediction_p);
    walk_cleanup(&walk);
    return st;
}

xy_status_t xy_predict_learn(const xy_program_t *program, const xy_predict_config_t *config,
                             const xy_recorded_t *recorded, xy_learned_t **learned_p)
{
    walk_t walk = {.config = config, .models = XY_VEC_INIT(walk_model_t)};
    xy_status_t st = prepare(&walk, program);

    if (st == XY_OK) {
        walk.oracle = walk_oracle_new(recorded, walk.code);
        st = walk.oracle != NULL ? walk_run(&walk) : xy_fail_memory("following a recorded run");
    }
    if (st == XY_OK)
        *learned_p = walk_oracle_take(walk.oracle);
    walk_cleanup(&walk);
    return st;
}
