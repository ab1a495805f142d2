/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "tasks/exec/exec.h"
#include "tasks/picture/picture.h"
#include "tasks/sim/sim.h"
#include "tasks/tasks.h"

static xy_status_t finalize(xylem_tasks *t)
{
    if (t->status == XY_OK && !t->is_final) {
        t->status = xy_graph_finalize(t->graph);
        t->is_final = true;
    }
    return t->status;
}

static xy_status_t make_platform(const xylem_run_options *o, xy_task_platform_t **platform_p)
{
    xy_task_platform_options_t options = {
        .gpus = o->gpus, .memory = o->memory, .cpus = o->cpus, .cpu_speed = o->cpu_speed};
    xy_machine_t *machine;
    xy_status_t st = xy_machine_load(o->machine != NULL ? o->machine : "attila", &machine);

    if (st != XY_OK)
        return st;
    st = xy_task_platform_from(machine, &options, platform_p);
    xy_machine_destroy(machine);
    return st;
}

/* Simulates the tasks on the machine of the options. */
static xy_status_t run_virtual(const xylem_tasks *t, const xylem_run_options *o,
                               const xy_task_observer_t *observer, xy_task_result_t *result_p)
{
    xy_task_sim_t how = {.policy = o->policy,
                         .eviction = o->eviction,
                         .params = {.alpha = o->alpha, .beta = o->beta},
                         .trace = o->trace,
                         .observer = observer};
    xy_task_platform_t *platform;
    xy_status_t st = make_platform(o, &platform);

    if (st != XY_OK)
        return st;
    st = xy_task_simulate(t->graph, platform, &how, result_p);
    xy_task_platform_destroy(platform);
    return st;
}

/* The conditions for running tasks on real data. */
static xy_status_t check_real(const xylem_tasks *t, const xylem_run_options *o, bool is_on_gpus)
{
    if (!(is_on_gpus ? t->has_all : t->has_code))
        return xy_fail(XY_EINVAL,
                       "some tasks have no function to run; give each one, or run them "
                       "in virtual time%s",
                       t->has_kernels && !is_on_gpus ? " or on a GPU" : "");
    for (int32_t d = 0; d < xy_graph_data_count(t->graph); d++)
        if (xy_graph_data_at(t->graph, d)->address == NULL &&
            (o->messages == NULL || XY_VEC_AT(&t->owners, int32_t, d) == o->messages->rank))
            return xy_fail(XY_EINVAL,
                           "datum %d has no address; give each one, or run the tasks in "
                           "virtual time",
                           d);
    return XY_OK;
}

/* Runs the tasks on cores, GPUs or, with messages, several ranks. */
static xy_status_t run_real(const xylem_tasks *t, const xylem_run_options *o,
                            const xy_task_observer_t *observer, xy_task_result_t *result_p)
{
    xy_task_exec_t how = {.params = {.alpha = o->alpha, .beta = o->beta},
                          .workers = o->cpus,
                          .trace = o->trace,
                          .observer = observer};
    bool is_on_gpus = o->gpus > 0 && t->has_kernels;
    tasks_choice_t choice;
    xy_status_t st = check_real(t, o, is_on_gpus);

    if (st == XY_OK && o->messages != NULL)
        return tasks_run_on_ranks(t, o, is_on_gpus, observer, result_p);
    if (st == XY_OK)
        st = tasks_choose(t, o, is_on_gpus ? o->gpus : 0, &choice);
    if (st != XY_OK)
        return st;
    how.policy = choice.policy;
    how.eviction = choice.eviction;
    how.params.extra_rounds = choice.extra_rounds;
    return is_on_gpus ? tasks_run_on_gpus(t, o, &choice, NULL, observer, result_p)
                      : xy_task_execute(t->graph, &how, result_p);
}

/* Copies the result into the structure of the C interface. */
static void copy_result(const xy_task_result_t *r, xylem_run_result *result)
{
    *result = (xylem_run_result){.makespan = r->makespan,
                                 .tasks_end = r->tasks_end,
                                 .compute_bound = r->compute_bound,
                                 .scheduling_seconds = r->scheduling_seconds,
                                 .tasks = r->tasks,
                                 .loads = r->loads,
                                 .stores = r->stores,
                                 .peers = r->peers,
                                 .bytes_loaded = r->bytes_loaded,
                                 .bytes_stored = r->bytes_stored,
                                 .bytes_peer = r->bytes_peer,
                                 .messages = r->messages,
                                 .bytes_received = r->bytes_received};
    snprintf(result->policy, sizeof(result->policy), "%s", r->policy);
}

/* ---- Pictures ---- */

typedef struct {
    const xylem_tasks *tasks;
    const xy_picture_t *picture;
    const xy_task_result_t *result;
} page_t;

/* Writes the page of pictures; the callback of xy_out_write(). */
static xy_status_t write_page(const void *arg, FILE *file)
{
    const page_t *p = arg;
    const xy_task_result_t *r = p->result;
    char title[80], text[200], a[32], b[32];

    snprintf(title, sizeof(title), "Tasks under %s", r->policy);
    snprintf(text, sizeof(text),
             "%llu tasks in %s, %.3f times the bound of %s\n%llu loads, %llu stores, %llu between "
             "other memories",
             (unsigned long long)r->tasks, xy_format_seconds(r->makespan, a),
             r->compute_bound > 0 ? r->makespan / r->compute_bound : 0,
             xy_format_seconds(r->compute_bound, b), (unsigned long long)r->loads,
             (unsigned long long)r->stores, (unsigned long long)r->peers);
    return xy_picture_page(p->picture, p->tasks->graph, &(xy_picture_text_t){title, text}, file);
}

static xy_status_t run_on(const xylem_tasks *t, const xylem_run_options *o,
                          const xy_task_observer_t *observer, xy_task_result_t *r)
{
    return o->clock == XYLEM_REAL ? run_real(t, o, observer, r) : run_virtual(t, o, observer, r);
}

/* Runs the tasks with an observer that collects pictures, and writes the page and the SVG files. */
static xy_status_t run_with_pictures(const xylem_tasks *t, const xylem_run_options *o,
                                     xy_task_result_t *r)
{
    xy_picture_t *picture;
    xy_status_t st = xy_picture_create(&picture);

    if (st != XY_OK)
        return st;
    st = run_on(t, o, xy_picture_observer(picture), r);
    if (st == XY_OK && o->clock != XYLEM_REAL)
        xy_picture_name_gpus(picture, r->workers - o->cpus);
    else if (st == XY_OK && o->gpus > 0 && t->has_kernels)
        xy_picture_name_gpus(picture, o->gpus);
    if (st == XY_OK)
        st = xy_out_write(o->page, write_page, &(page_t){t, picture, r});
    if (st == XY_OK && o->svg != NULL)
        st = xy_picture_files(picture, t->graph, o->svg);
    xy_picture_destroy(picture);
    return st;
}

int xylem_tasks_run(xylem_tasks *t, const xylem_run_options *options, xylem_run_result *result)
{
    static const xylem_run_options usual = {0};
    const xylem_run_options *o = options != NULL ? options : &usual;
    xy_task_result_t r = {0};
    xy_status_t st = finalize(t);

    if (st == XY_OK)
        st = o->page != NULL || o->svg != NULL ? run_with_pictures(t, o, &r)
                                               : run_on(t, o, NULL, &r);
    if (st == XY_OK && result != NULL)
        copy_result(&r, result);
    return (int)st;
}
