/* SPDX-License-Identifier: BSD-3-Clause */
/* One prediction, from the options. */
#include <stdlib.h>
#include <string.h>

#include "predict.h"

/* ---- NAME=TEXT ---- */

void predict_given_free(xy_predict_given_t *given, size_t count)
{
    for (size_t i = 0; given != NULL && i < count; i++)
        xy_free((void *)(uintptr_t)given[i].name);
    xy_free(given);
}

xy_status_t predict_given(const xy_vec_t *list, const char *option, xy_predict_given_t **given_p)
{
    xy_predict_given_t *given = xy_calloc(list->count + 1, sizeof(*given));

    if (given == NULL)
        return xy_fail_memory("reading the options");
    for (size_t i = 0; i < list->count; i++) {
        const char *text = XY_VEC_AT(list, const char *, i), *equal = strchr(text, '=');
        char *copy = xy_strdup(text);

        given[i].name = copy;
        if (copy == NULL || equal == NULL || equal == text) {
            predict_given_free(given, list->count);
            return copy == NULL ? xy_fail_memory("reading the options")
                                : xy_fail(XY_EUSAGE, "%s '%s': write NAME=VALUE", option, text);
        }
        copy[equal - text] = '\0';
        given[i].text = copy + (equal - text) + 1;
    }
    *given_p = given;
    return XY_OK;
}

/* ---- What if ---- */

/* Applies one change of --what-if, such as "bandwidth*2" or "send=200ns", or only checks it. */
static xy_status_t change_one(predict_t *p, char *text, bool is_check)
{
    char *sign = strpbrk(text, "*/="), how;
    double factor = 0;
    bool is_global;

    if (sign == NULL || sign[1] == '\0' || sign == text ||
        (*sign != '=' && (!xy_parse_double(sign + 1, &factor) || !(factor > 0))))
        return xy_fail(XY_EUSAGE,
                       "--what-if '%s': write bandwidth*2, latency/10, speed*1.5 or NAME=VALUE, "
                       "with commas between several",
                       text);
    how = *sign;
    *sign = '\0';
    is_global = how != '=' && (strcmp(text, "bandwidth") == 0 || strcmp(text, "latency") == 0 ||
                               strcmp(text, "speed") == 0);
    if (!is_global)
        return predict_figures_change(p, text, how, sign + 1, is_check);
    if (is_check)
        return XY_OK;
    if (how == '/')
        factor = 1 / factor;
    if (text[0] == 's') {
        p->speed *= factor;
    } else {
        double latency = text[0] == 'l' ? factor : 1, bandwidth = text[0] == 'b' ? factor : 1;

        xy_machine_scale(p->machine, latency, bandwidth);
        for (size_t i = 0; p->costs != NULL && i < p->costs->messages.count; i++)
            xy_message_scale(&XY_VEC_AT(&p->costs->messages, xy_message_cost_t, i).model, latency,
                             bandwidth);
    }
    return XY_OK;
}

xy_status_t predict_change(predict_t *p, const char *text, bool is_check)
{
    char *copy = xy_strdup(text), *rest = copy, *item;
    xy_status_t st = copy != NULL ? XY_OK : xy_fail_memory("reading the options");

    while (st == XY_OK && (item = strsep(&rest, ",")) != NULL)
        st = change_one(p, item, is_check);
    xy_free(copy);
    return st;
}

/* ---- Running ---- */

static const char *const progress_names[] = {
    [XY_SIM_NONE] = "none", [XY_SIM_THREADS] = "threads", [XY_SIM_TASKS] = "tasks"};

/* The mean error of the models of messages; < 0: there are none. */
static double message_error(const xy_costs_t *costs)
{
    double sum = 0;
    int count = 0;

    for (size_t i = 0; costs != NULL && i < costs->messages.count; i++) {
        const xy_message_lines_t *l =
            &XY_VEC_AT(&costs->messages, xy_message_cost_t, i).model.kind[XY_MESSAGE_BLOCKING];

        if (l->time.count > 0) {
            sum += l->error_mean;
            count++;
        }
    }
    return count > 0 ? sum / count : -1;
}

typedef struct {
    const char **cluster_of, **argv;
    int32_t *node_of;
    xy_predict_given_t *loop_costs;
    xy_trace_t *trace;
} parts_t;

static void parts_cleanup(const predict_t *p, parts_t *parts)
{
    predict_given_free(parts->loop_costs, p->v->cost.count);
    xy_free(parts->cluster_of);
    xy_free(parts->node_of);
    xy_free(parts->argv);
}

/* The cores of a node for each of its processes, where these are fewest. */
static xy_status_t find_team_most(const predict_t *p, xy_predict_config_t *c)
{
    int32_t *cores = xy_calloc((size_t)p->machine->count + 1, sizeof(*cores));
    int32_t *procs = xy_calloc((size_t)p->machine->count + 1, sizeof(*procs));
    bool is_full = cores == NULL || procs == NULL;

    for (int i = 0; i < p->cores.count && !is_full; i++) {
        xy_obj_t node = xy_machine_above(p->machine, p->leaf_of[i], XY_OBJ_NODE);

        cores[node != XY_OBJ_NONE ? node : 0]++;
    }
    for (int32_t r = 0; r < c->job.procs && !is_full; r++)
        procs[c->node_of[r]]++;
    c->team_most = INT32_MAX;
    for (int32_t r = 0; r < c->job.procs && !is_full; r++) {
        int32_t share = cores[c->node_of[r]] / procs[c->node_of[r]];

        c->team_most = share < c->team_most ? share : c->team_most;
    }
    c->team_most = c->team_most > 0 ? c->team_most : 1;
    xy_free(cores);
    xy_free(procs);
    return is_full ? xy_fail_memory("predicting") : XY_OK;
}

/* Sets the cluster and node of each process; `parts` owns the arrays. */
static xy_status_t fill_places(const predict_t *p, xy_predict_config_t *c, parts_t *parts)
{
    int32_t procs = c->job.procs;

    parts->cluster_of = xy_calloc((size_t)procs, sizeof(*parts->cluster_of));
    parts->node_of = xy_calloc((size_t)procs, sizeof(*parts->node_of));
    if (parts->cluster_of == NULL || parts->node_of == NULL)
        return xy_fail_memory("predicting");
    for (int32_t r = 0; r < procs; r++) {
        xy_obj_t leaf = p->leaf_of[c->job.core_of[r]];
        xy_obj_t cluster = xy_machine_above(p->machine, leaf, XY_OBJ_CLUSTER);
        xy_obj_t node = xy_machine_above(p->machine, leaf, XY_OBJ_NODE);

        if (cluster != XY_OBJ_NONE && *xy_machine_object_name(p->machine, cluster) != '\0')
            parts->cluster_of[r] = xy_machine_object_name(p->machine, cluster);
        parts->node_of[r] = node != XY_OBJ_NONE ? (int32_t)node : 0;
    }
    c->cluster_of = parts->cluster_of;
    c->node_of = parts->node_of;
    return p->v->oversubscribe ? XY_OK : find_team_most(p, c);
}

/* Sets arguments, environment and loop costs of a prediction; `parts` owns the arrays. */
static xy_status_t fill_arguments(const predict_t *p, const predict_case_t *k,
                                  xy_predict_config_t *c, parts_t *parts)
{
    parts->argv = xy_calloc((size_t)k->argc + 1, sizeof(*parts->argv));
    if (parts->argv == NULL)
        return xy_fail_memory("predicting");
    parts->argv[0] = p->name;
    for (int i = 0; i < k->argc; i++)
        parts->argv[i + 1] = k->argv[i];
    c->argc = k->argc + 1;
    c->argv = parts->argv;
    c->env = p->v->env.data;
    c->env_count = p->v->env.count;
    return predict_given(&p->v->cost, "--cost", &parts->loop_costs);
}

/* Sets the simulated job of a prediction and opens its trace. */
static xy_status_t fill_job(const predict_t *p, const predict_case_t *k, xy_predict_config_t *c,
                            parts_t *parts)
{
    char title[256];
    xy_trace_options_t options = {.title = title, .clock = XY_TRACE_VIRTUAL};
    xy_status_t st = XY_OK;

    snprintf(title, sizeof(title), "%.100s, %d rank%s, predicted on %.100s", p->name, (int)k->procs,
             k->procs == 1 ? "" : "s", p->machine->name);
    c->job.machine = p->machine;
    c->job.procs = k->procs;
    c->job.core_of = k->core_of;
    for (int i = 0; i < 3; i++)
        if (strcmp(progress_names[i], p->v->progress) == 0)
            c->job.progress = (xy_sim_progress_t)i;
    xy_vjob_costs_default(&c->job.costs);
    st = xy_vjob_costs_set(&c->job.costs, p->costs);
    c->job.costs.keeps_eager = p->v->eager > 0;
    if (p->v->eager > 0)
        c->job.costs.eager = c->job.costs.eager_net = (double)p->v->eager;
    c->job.store = p->costs;
    c->job.library = p->v->library;
    c->job.algorithm = p->v->algorithm;
    c->job.has_matrix = k->has_matrix;
    c->job.has_path = k->has_path;
    c->job.comm_cores = p->comm;
    c->job.comm_core_count = p->comm_count;
    c->job.places = p->places;
    c->job.orders = p->orders;
    c->job.priority = 10;
    c->job.split = p->split;
    if (st == XY_OK && k->trace != NULL)
        st = xy_trace_create(k->trace, &options, &parts->trace);
    c->job.trace = parts->trace;
    return st;
}

/* For the processes of the recorded run, wherever they find room. */
static xy_status_t learn(predict_t *p, const xy_recorded_t *recorded, const int32_t *core_of,
                         const xy_predict_given_t *assumed)
{
    predict_case_t k = {.procs = xy_recorded_procs(recorded),
                        .argv = p->v->arg.data,
                        .argc = (int)p->v->arg.count,
                        .core_of = core_of};
    xy_predict_config_t c = {.costs = p->costs,
                             .assumed = assumed,
                             .assumed_count = p->v->assume.count,
                             .cost_all = p->v->cost_all,
                             .limit = p->v->limit,
                             .allow_missing = true};
    parts_t parts = {0};
    xy_status_t st = fill_job(p, &k, &c, &parts);

    if (st == XY_OK)
        st = fill_places(p, &c, &parts);
    if (st == XY_OK)
        st = fill_arguments(p, &k, &c, &parts);
    if (st == XY_OK)
        st = xy_predict_learn(p->program, &c, recorded, &p->learned);
    parts_cleanup(p, &parts);
    return st;
}

xy_status_t predict_learn(predict_t *p)
{
    xy_recorded_t *recorded;
    xy_predict_given_t *assumed = NULL;
    int32_t *core_of, procs;
    xy_status_t st = xy_recorded_read(p->v->from_trace, &recorded);

    if (st != XY_OK)
        return st;
    procs = xy_recorded_procs(recorded);
    core_of = xy_calloc((size_t)procs, sizeof(*core_of));
    st = core_of != NULL ? predict_given(&p->v->assume, "--assume", &assumed)
                         : xy_fail_memory("following a recorded run");
    for (int32_t r = 0; st == XY_OK && r < procs; r++)
        core_of[r] = p->ranks.cpu[r % p->ranks.count];
    if (st == XY_OK)
        st = learn(p, recorded, core_of, assumed);
    predict_given_free(assumed, p->v->assume.count);
    xy_free(core_of);
    xy_recorded_destroy(recorded);
    return st;
}

xy_status_t predict_run(const predict_t *p, const predict_case_t *k, xy_prediction_t **prediction_p)
{
    xy_predict_config_t c = {.costs = p->costs,
                             .speed = p->speed,
                             .assumed = k->assumed,
                             .assumed_count = k->assumed_count,
                             .loop_cost_count = p->v->cost.count,
                             .cost_all = p->v->cost_all,
                             .limit = p->v->limit,
                             .allow_missing = p->v->free_kernels,
                             .learned = p->learned};
    parts_t parts = {0};
    xy_status_t st, closed;

    c.message_error = message_error(p->costs);
    st = fill_job(p, k, &c, &parts);
    if (st == XY_OK)
        st = fill_places(p, &c, &parts);
    if (st == XY_OK)
        st = fill_arguments(p, k, &c, &parts);
    c.loop_costs = parts.loop_costs;
    if (st == XY_OK)
        st = xy_predict(p->program, &c, prediction_p);
    if (parts.trace != NULL) {
        closed = xy_trace_close(parts.trace);
        st = st == XY_OK ? closed : st;
    }
    parts_cleanup(p, &parts);
    return st;
}
