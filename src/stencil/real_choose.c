/* SPDX-License-Identifier: BSD-3-Clause */
/* Choices in virtual time with the resources of the real run: which policy, if that is a choice,
 * and whether cores are worth having beside GPUs, and how many data are loaded early. */
#include <math.h>
#include <string.h>
#include <sys/resource.h>

#include "stencil/choices.h"

/* A simulated memory holds at least what one task needs; a cache spills instead. */
static uint64_t largest_task(const xy_graph_t *graph)
{
    uint64_t largest = 0;

    for (xy_op_id_t i = 0; i < xy_graph_ops(graph); i++) {
        const xy_access_t *a;
        uint64_t bytes = 0;

        for (int32_t k = xy_graph_accesses(graph, i, &a) - 1; k >= 0; k--)
            bytes += xy_graph_data_at(graph, a[k].data)->bytes;
        largest = bytes > largest ? bytes : largest;
    }
    return largest;
}

static uint64_t capacity_of(const stencil_real_t *r)
{
    uint64_t least = largest_task(r->graph), bytes = r->run->memory;

    if (bytes == XY_TASK_NO_LIMIT || (bytes == 0 && r->run->file != NULL && r->gpu == NULL))
        return 0;
    if (bytes == 0)
        bytes = xy_task_cache_bytes();
    return bytes > least ? bytes : least;
}

/* Ways to the main memory and back; between others only where there are no GPUs. */
static void set_ways(xy_task_platform_t *p, xy_link_t in, xy_link_t out, bool has_others)
{
    size_t n = (size_t)p->memories;

    for (size_t i = 0; i < n * n; i++) {
        bool is_in = i < n, is_out = i % n == 0;

        p->shared[i] = -1;
        if (i % (n + 1) == 0 || (!has_others && !is_in && !is_out))
            continue;
        p->rate[i] = is_out ? out.bandwidth : in.bandwidth;
        p->latency[i] = is_out ? out.latency : in.latency;
    }
}

/* Cores alone, each with its cache or all with one memory. */
static xy_task_platform_t *platform_of_cores(const stencil_real_t *r, int32_t workers)
{
    bool is_in_core = r->run->file == NULL;
    xy_link_t way = {0, is_in_core ? 10e9 : 1e9};
    xy_task_platform_t *p = xy_task_platform_new(workers, is_in_core ? workers + 1 : 2, 0);

    if (p == NULL)
        return NULL;
    set_ways(p, way, way, true);
    for (int32_t w = 0; w < workers; w++) {
        p->memory_of[w] = is_in_core ? w + 1 : 1;
        p->speed[w] = 1;
    }
    for (int32_t m = 1; m < p->memories; m++)
        p->capacity[m] = capacity_of(r);
    return p;
}

/* GPUs, and cores in the main memory. */
static xy_task_platform_t *platform_of_gpus(const stencil_real_t *r, int32_t gpus, int32_t cores)
{
    xy_task_platform_t *p = xy_task_platform_new(gpus + cores, gpus + 1, gpus);
    const xy_stencil_costs_t *costs = stencil_gpu_costs(r);
    uint64_t memory;
    xy_link_t in, out;

    if (p == NULL)
        return NULL;
    stencil_gpu_platform(r, &in, &out, &memory);
    set_ways(p, in, out, false);
    for (int32_t g = 0; g < gpus && costs->both > 0; g++) {
        p->shared[g + 1] = p->shared[(g + 1) * (gpus + 1)] = g;
        p->shared_rate[g] = 2 * costs->both;
    }
    for (int32_t w = 0; w < gpus + cores; w++) {
        p->memory_of[w] = w < gpus ? w + 1 : 0;
        p->speed[w] = w < gpus ? stencil_gpu_speed(r, w, &memory) : r->core_speed;
        if (w < gpus)
            p->capacity[w + 1] = r->run->memory == 0 ? memory : capacity_of(r);
    }
    return p;
}

/* How the run is simulated on `platform`. */
static xy_task_sim_t options_of(const stencil_real_t *r, const char *policy,
                                const xy_task_platform_t *platform)
{
    xy_task_sim_t how = r->run->how;

    how.policy = policy;
    how.trace = NULL;
    how.observer = NULL;
    if (r->gpu != NULL && platform->workers == platform->memories - 1)
        how.ahead = &stencil_gpu_costs(r)->ahead;
    return how;
}

/* Simulates a policy on `platform`, which it destroys. */
static xy_status_t simulate(const stencil_real_t *r, const xy_graph_t *graph, const char *policy,
                            xy_task_platform_t *platform, xy_task_result_t *result_p)
{
    xy_task_sim_t how;
    xy_status_t st;

    if (platform == NULL)
        return xy_fail_memory("choosing a policy");
    how = options_of(r, policy, platform);
    st = xy_task_simulate(graph, platform, &how, result_p);
    xy_task_platform_destroy(platform);
    return st;
}

/* ---- Are cores worth having? ---- */

/* Trials are of a shorter run of the same grid. */
enum { TRIAL_TASKS = 20000 };
/* A gain must exceed the error of the virtual clock. */
static const double GAIN = 0.97;
/* Shorter tasks are not worth giving to a core: one thread deals them out, which takes some 5 us
 * for each, and the virtual clock does not know of it. Measured: tasks of 10 us on 15 cores beside
 * an H200 took 3.3 times as long as on the GPU alone. */
static const double LEAST_SECONDS = 100e-6;

static xy_status_t shorter(const stencil_real_t *r, xy_graph_t **graph_p)
{
    xy_stencil_t s = r->grid;
    int most = (int)(TRIAL_TASKS / stencil_cells(&s)) + 1;

    s.iterations = s.iterations < most ? s.iterations : most;
    s.check_every = 0;
    return xy_stencil_build(&s, graph_p);
}

/* GPUs alone, GPUs and cores, cores alone: the first that none of the others clearly beats. */
static xy_status_t choose_workers(stencil_real_t *r, stencil_choice_t *choice)
{
    const int32_t gpus = stencil_gpu_count(r), cores = r->workers - gpus;
    const int32_t tries[3][2] = {{gpus, 0}, {gpus, cores}, {0, cores}};
    const char *policy = choice->policy != NULL ? choice->policy : "closure";
    double best = INFINITY;
    xy_graph_t *graph;
    xy_status_t st = shorter(r, &graph);

    if (st != XY_OK)
        return st;
    for (int i = 0; i < 3 && st == XY_OK; i++) {
        xy_task_result_t result;

        st = simulate(r, graph, policy, platform_of_gpus(r, tries[i][0], tries[i][1]), &result);
        if (st != XY_OK)
            break;
        choice->spent += result.scheduling_seconds;
        r->chooser.is_tried = true;
        if (result.makespan > GAIN * best)
            continue;
        best = result.makespan;
        choice->gpus = tries[i][0];
        choice->cores = tries[i][1];
    }
    xy_graph_destroy(graph);
    return st;
}

/* ---- Which policy? ---- */

/* So much of the run may be spent to wait for the choice. */
static const double WORTH = 0.02;

static void take(stencil_chooser_t *c, const xy_task_result_t *result)
{
    stencil_choice_t *choice = &c->choice;

    c->is_tried = true;
    choice->policy = result->policy;
    choice->eviction = result->eviction;
    choice->extra_rounds = result->extra_rounds;
    choice->memory = result->memory > 0 ? result->memory : choice->memory;
    choice->spent += result->scheduling_seconds;
}

/* Let policies race on the GPUs; those and how many data are loaded early are a choice unless they
 * are given. */
static xy_status_t begin_race(stencil_real_t *r)
{
    stencil_chooser_t *c = &r->chooser;
    xy_task_sim_t how;
    xy_status_t st = XY_ENOMEM;

    c->platform = platform_of_gpus(r, c->choice.gpus, 0);
    if (c->platform == NULL)
        return xy_fail_memory("choosing a policy");
    how = options_of(r, c->choice.policy, c->platform);
    c->worth = WORTH * stencil_expected_seconds(&r->grid, c->platform, how.ahead);
    st = stencil_build_trial(&r->grid, c->platform, &c->graph);
    if (st == XY_OK)
        st = xy_task_race_create(c->graph != NULL ? c->graph : r->graph, c->platform, &how,
                                 &c->race);
    return st;
}

/* The policy of a run, if that is a choice; of one on GPUs alone it is known later. */
static xy_status_t choose_policy(stencil_real_t *r, stencil_choice_t *choice)
{
    const bool is_gpus = choice->gpus > 0 && choice->cores == 0;
    const bool is_open = is_gpus && r->run->how.params.look_ahead == XY_TASK_CHOOSE;
    const xy_task_policy_t *policy = NULL;
    xy_task_result_t result;
    xy_status_t st = XY_OK;

    if (choice->policy != NULL)
        st = xy_task_policy_find(choice->policy, &policy);
    if (st != XY_OK || !(policy != NULL ? policy->trials != NULL || is_open : is_gpus))
        return st;
    if (is_gpus)
        return begin_race(r);
    st = simulate(r, r->graph, choice->policy,
                  choice->gpus > 0 ? platform_of_gpus(r, choice->gpus, choice->cores)
                                   : platform_of_cores(r, choice->cores),
                  &result);
    if (st == XY_OK)
        take(&r->chooser, &result);
    return st;
}

/* Where the race has only begun, what is good most often. */
static void choose_untried(stencil_choice_t *choice, bool is_open)
{
    const xy_task_trial_t t = xy_task_trial_first(choice->policy);

    if (is_open)
        choice->look_ahead = t.look_ahead;
    choice->policy = t.policy;
}

/* Waits for the race, a little, and fills in the choice. */
static xy_status_t end_race(stencil_real_t *r)
{
    stencil_chooser_t *c = &r->chooser;
    xy_task_result_t result;
    xy_status_t st = xy_task_race_result(c->race, c->worth, &result);

    if (st == XY_EINTERRUPTED) {
        choose_untried(&c->choice, r->run->how.params.look_ahead == XY_TASK_CHOOSE);
        return XY_OK;
    }
    if (st != XY_OK)
        return st;
    take(c, &result);
    c->choice.gpus = result.workers;
    c->choice.look_ahead = result.look_ahead;
    return XY_OK;
}

xy_status_t stencil_real_predict(const stencil_real_t *r, const stencil_choice_t *choice,
                                 double *seconds_p)
{
    xy_task_platform_t *p = platform_of_gpus(r, choice->gpus, choice->cores);
    xy_task_result_t result;
    xy_task_sim_t how;
    xy_status_t st;

    if (p == NULL)
        return xy_fail_memory("predicting a run");
    how = options_of(r, choice->policy, p);
    how.eviction = choice->eviction;
    how.params.extra_rounds = choice->extra_rounds;
    how.params.look_ahead = choice->look_ahead;
    for (int32_t m = 1; m < p->memories && choice->memory > 0; m++)
        p->capacity[m] = choice->memory;
    st = xy_task_simulate(r->graph, p, &how, &result);
    xy_task_platform_destroy(p);
    if (st == XY_OK)
        *seconds_p = result.makespan;
    return st;
}

/* By trials, in virtual time. */
static xy_status_t choose_anew(stencil_real_t *r, stencil_choice_t *choice)
{
    xy_status_t st = XY_OK;

    if (choice->gpus > 0 && choice->cores > 0 && !r->run->is_using_all) {
        if (r->core_seconds < LEAST_SECONDS)
            choice->cores = 0;
        else
            st = choose_workers(r, choice);
    }
    return st == XY_OK ? choose_policy(r, choice) : st;
}

/* The stored choice of an earlier run like this one, if there is one. */
static xy_status_t find_choice(stencil_real_t *r, bool *is_found_p)
{
    stencil_chooser_t *c = &r->chooser;
    xy_status_t st;

    *is_found_p = false;
    if (r->run->choices != NULL)
        c->key = stencil_choices_key(r);
    if (c->key == NULL)
        return XY_OK;
    c->known = xy_calloc(1, sizeof(*c->known));
    if (c->known == NULL)
        return xy_fail_memory("choosing a policy");
    st = stencil_choices_read(r->run->choices, c->known);
    *is_found_p = st == XY_OK && stencil_choices_find(c->known, c->key, &c->choice);
    return st;
}

/* Fill in r->chooser.choice, and begin the race if there is one. */
static xy_status_t choose(stencil_real_t *r)
{
    int32_t gpus = r->gpu != NULL ? stencil_gpu_count(r) : 0;
    bool is_open = r->run->how.params.look_ahead == XY_TASK_CHOOSE, is_found;
    stencil_choice_t *choice = &r->chooser.choice;
    xy_status_t st;

    *choice = (stencil_choice_t){.policy = r->run->how.policy,
                                 .eviction = r->run->how.eviction,
                                 .extra_rounds = r->run->how.params.extra_rounds,
                                 .memory = r->run->memory,
                                 .gpus = gpus,
                                 .cores = r->workers - gpus,
                                 .look_ahead = is_open ? 0 : r->run->how.params.look_ahead};
    if (r->share != NULL) /* all ranks the same, without a trial */
        return XY_OK;
    st = find_choice(r, &is_found);
    return st == XY_OK && !is_found ? choose_anew(r, choice) : st;
}

enum { BESIDE_NICE = 10 };

/* The body of the thread. It and the threads that it starts leave the cores to those that make the
 * memory ready: to Linux `0` is the calling thread. */
static void *choose_beside(void *arg)
{
    stencil_real_t *r = arg;

    (void)setpriority(PRIO_PROCESS, 0, BESIDE_NICE);
    r->chooser.status = choose(r);
    return NULL;
}

void stencil_real_choose_begin(stencil_real_t *r)
{
    stencil_chooser_t *c = &r->chooser;

    c->is_started = pthread_create(&c->thread, NULL, choose_beside, r) == 0;
    c->is_begun = c->is_started;
}

/* Joins the thread, if there still is one. */
static void join(stencil_chooser_t *c)
{
    if (c->is_started)
        pthread_join(c->thread, NULL);
    c->is_started = false;
}

xy_status_t stencil_real_choose_end(stencil_real_t *r, stencil_choice_t *choice_p)
{
    stencil_chooser_t *c = &r->chooser;

    join(c);
    if (!c->is_begun) /* several ranks, or there is no thread */
        c->status = choose(r);
    c->is_begun = true;
    if (c->status == XY_OK && c->race != NULL)
        c->status = end_race(r);
    *choice_p = c->choice;
    return c->status;
}

void stencil_real_choose_cleanup(stencil_real_t *r, bool is_kept)
{
    stencil_chooser_t *c = &r->chooser;

    join(c);
    xy_task_race_destroy(c->race);
    xy_graph_destroy(c->graph);
    xy_task_platform_destroy(c->platform);
    if (is_kept && c->is_tried && c->known != NULL)
        stencil_choices_keep(c->known, r->run->choices, c->key, &c->choice);
    if (c->known != NULL)
        stencil_choices_cleanup(c->known);
    xy_free(c->known);
    xy_free(c->key);
    *c = (stencil_chooser_t){0};
}
