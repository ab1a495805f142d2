/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A policy that is a choice among others: each is tried in virtual time, and the one that ends
 * first runs, or one that is almost as fast and moves less. A trial stops as soon as it can be
 * neither (sim_bound.c), so that many can be tried for little more than the first few. How many is
 * counted in accesses of tasks to data and not in seconds, so that the same graph and platform
 * always give the same result.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tasks/sim/task_sim_internal.h"

/* Trials of longer graphs end when the work of so many tasks is done; on graphs longer than that
 * policies that win seldom are not tried; no trial begins when the tasks of earlier ones have
 * accessed so many data, which takes a few seconds; what ends this near to the bound is not worth
 * another trial. */
enum { TRIAL_TASKS = 100000, SHORT_TASKS = 4000, ACCESSES_OF_TRIALS = 3000000 };
/* Where GPUs are driven as real ones are, such policies win on longer graphs, too. */
enum { AHEAD_TASKS = 50000 };
/* Where a trial is a part of the run, what comes before it counts as this part of all tasks. */
enum { PREPARATION = 8 };
static const double near_enough = 1.02;
/* Two trials that end so near to each other count as equal, and the one that moves less is the
 * better: its links have more to spare for costs that no model knows. */
static const double as_fast = 1.01;

typedef struct {
    const xy_graph_t *graph, *whole; /* of the trials, and of the run */
    const xy_task_platform_t *platform;
    const xy_task_sim_t *how;
    uint64_t largest_task; /* bytes of its data */
    uint64_t accesses;     /* of all tasks */
    bool is_at_home;       /* all data live in the main memory */
    bool is_named;         /* one policy was asked for: only its look-ahead is a choice */
    bool is_open;          /* how many data are loaded early is to be chosen */
    /* The best so far. */
    xy_task_trial_t best;      /* without a policy: none yet */
    double best_time, fastest; /* fastest: of all; the best is as fast, and moves less */
    xy_task_result_t result;
    bool is_whole; /* the result is that of the whole graph */
    /* The sums over all trials. */
    double spent; /* seconds in policies */
    double took;  /* of processors */
    uint64_t tasks;
    int32_t count;
} choice_t;

/* When it was done, with all or with its share; a trial that was cut off has no time. */
static double time_of(const xy_task_result_t *r, const sim_trial_t *trial)
{
    if (trial->is_whole)
        return r->makespan;
    return trial->is_done ? r->tasks_end : INFINITY;
}

/* Sets facts of the graph that decide which trials make sense. */
static void look_at_graph(choice_t *c)
{
    const xy_access_t *a;

    c->is_at_home = true;
    for (int32_t d = 0; d < xy_graph_data_count(c->graph); d++)
        c->is_at_home = c->is_at_home && xy_graph_data_at(c->graph, d)->home == 0;
    for (xy_op_id_t i = 0; i < xy_graph_ops(c->graph); i++) {
        uint64_t bytes = 0;
        int32_t n = xy_graph_accesses(c->graph, i, &a);

        c->accesses += (uint64_t)n;
        for (int32_t k = 0; k < n; k++)
            bytes += xy_graph_data_at(c->graph, a[k].data)->bytes;
        c->largest_task = bytes > c->largest_task ? bytes : c->largest_task;
    }
}

/* How many memories beside the main one a trial uses. */
static int32_t memories_of(const choice_t *c, const xy_task_trial_t *t)
{
    int32_t all = c->platform->memories - 1;

    return t->fewer == XY_TASK_ONE_LESS ? all - 1
           : t->fewer == XY_TASK_HALF   ? all / 2
           : t->fewer == XY_TASK_ONE    ? 1
                                        : all;
}

/* Returns whether a trial applies to this graph and platform. */
static bool is_worth_trying(const choice_t *c, const xy_task_trial_t *t)
{
    int32_t all = c->platform->memories - 1, used = memories_of(c, t);

    if (t->is_for_short &&
        xy_graph_ops(c->graph) > (c->how->ahead != NULL ? AHEAD_TASKS : SHORT_TASKS))
        return false;
    if (t->is_for_several && all < 2)
        return false;
    if (t->look_ahead > 0 && !c->is_open)
        return false;
    if (t->eviction != NULL && c->how->eviction != NULL)
        return false; /* it was asked for one */
    if (t->fewer != XY_TASK_ALL &&
        (!c->is_at_home || used < 1 || used >= all || (t->fewer == XY_TASK_HALF && all < 4) ||
         (t->fewer == XY_TASK_ONE && all < 3)))
        return false;
    if (t->memory > 0)
        for (int32_t m = 1; m <= all; m++)
            if (!c->is_at_home || c->platform->capacity[m] == 0 ||
                t->memory * (double)c->platform->capacity[m] < (double)c->largest_task)
                return false;
    return true;
}

const double xy_task_trial_access = 0.5e-6;

static double processor_clock(void)
{
    return xy_clock_seconds(CLOCK_THREAD_CPUTIME_ID);
}

/* Run a trial, or what it stands for: without `trial`, on the whole graph. */
static xy_status_t run_trial(const choice_t *c, const xy_task_trial_t *t,
                             const xy_task_observer_t *observer, sim_trial_t *trial,
                             xy_task_result_t *result_p)
{
    const xy_task_policy_t *policy;
    xy_task_platform_t *part = NULL;
    xy_task_sim_t how = *c->how;
    double begin = processor_clock();
    xy_status_t st = xy_task_policy_find(t->policy, &policy);

    if (st != XY_OK)
        return st;
    if (t->eviction != NULL)
        how.eviction = t->eviction;
    if (t->extra_rounds > 0)
        how.params.extra_rounds = t->extra_rounds;
    if (how.params.look_ahead == XY_TASK_CHOOSE)
        how.params.look_ahead = t->look_ahead;
    how.params.is_trial = t->may_refuse;
    if (t->fewer != XY_TASK_ALL || t->memory > 0)
        st =
            sim_platform_part(c->platform, memories_of(c, t), t->memory > 0 ? t->memory : 1, &part);
    if (st == XY_OK)
        st = sim_task_run(trial != NULL ? c->graph : c->whole, part != NULL ? part : c->platform,
                          &how, policy, observer, trial, result_p);
    if (st == XY_OK && t->memory > 0 && part != NULL)
        result_p->memory = part->capacity[1];
    if (st == XY_OK)
        result_p->look_ahead = how.ahead != NULL ? how.params.look_ahead : 0;
    xy_task_platform_destroy(part);
    result_p->trial_seconds = trial != NULL ? processor_clock() - begin : 0;
    return st;
}

static uint64_t volume_of(const xy_task_result_t *r)
{
    return r->bytes_loaded + r->bytes_stored;
}

/* Does a trial that took so long replace the best one? */
static bool is_better(choice_t *c, double found, const xy_task_result_t *result)
{
    bool is_first = c->best.policy == NULL;

    if (is_first || found < c->fastest)
        c->fastest = found;
    if (is_first || c->best_time > as_fast * c->fastest)
        return is_first || found < c->best_time;
    return found <= as_fast * c->fastest && volume_of(result) < volume_of(&c->result);
}

/* Count a trial that has ended, and keep its result if it is the best. */
static void keep(choice_t *c, const xy_task_trial_t *t, const sim_trial_t *trial,
                 xy_task_result_t *result)
{
    double found = time_of(result, trial);

    c->count++;
    c->tasks +=
        result->tasks + (trial->share > 0 ? (uint64_t)xy_graph_ops(c->graph) / PREPARATION : 0);
    c->spent += result->scheduling_seconds;
    c->took += result->trial_seconds;
    if (!is_better(c, found, result))
        return;
    c->best = *t;
    c->best_time = found;
    /* Bounds are those of all workers and memories, which only the first is sure to use. */
    if (c->count > 1) {
        result->compute_bound = c->result.compute_bound;
        result->bound = c->result.bound;
    }
    c->result = *result;
    c->is_whole = trial->is_whole;
}

/* Have earlier trials accessed so many data that no other begins? */
static bool is_limit_reached(const choice_t *c, uint64_t tasks)
{
    return (double)tasks * (double)c->accesses >=
           (double)ACCESSES_OF_TRIALS * xy_graph_ops(c->graph);
}

/* Trials one after the other: each ends where it can no longer be the best. */
static xy_status_t try_in_turn(choice_t *c, const xy_task_trial_t *trials)
{
    int32_t ops = xy_graph_ops(c->graph);
    double share = ops > TRIAL_TASKS ? (double)TRIAL_TASKS / ops : 0;
    bool is_enough = false;

    for (int i = 0; trials[i].policy != NULL && !is_enough; i++) {
        sim_trial_t trial = {.share = share,
                             .seconds = c->best.policy != NULL ? as_fast * c->fastest : 0};
        xy_task_result_t result;
        xy_status_t st;

        if (!is_worth_trying(c, &trials[i]))
            continue;
        st = run_trial(c, &trials[i], NULL, &trial, &result);
        if (st == XY_EINVAL && trials[i].may_refuse)
            continue;
        if (st != XY_OK)
            return st;
        keep(c, &trials[i], &trial, &result);
        is_enough = (c->is_whole && c->fastest <= near_enough * c->result.bound) ||
                    is_limit_reached(c, c->tasks);
    }
    return XY_OK;
}

/* ---- Trials side by side ---- */

enum { TRIALS_MOST = 64, THREADS_MOST = 16 };

typedef struct {
    const choice_t *choice;
    const xy_task_trial_t *trials[TRIALS_MOST];
    sim_trial_t ended[TRIALS_MOST];
    xy_task_result_t results[TRIALS_MOST];
    xy_status_t status[TRIALS_MOST];
    int count;
    _Atomic int next;
    /* A trial that takes longer is not chosen. It gets less while trials run only where their
     * results may depend on time. */
    _Atomic double beyond;
} crew_t;

/* A trial took so long. */
static void note_time(crew_t *crew, double time)
{
    double limit = as_fast * time, before = atomic_load(&crew->beyond);

    while (crew->choice->how->enough != NULL && limit < before &&
           !atomic_compare_exchange_weak(&crew->beyond, &before, limit))
        continue;
}

/* Makes the next trial until none is left; the body of a thread. */
static void *work(void *arg)
{
    crew_t *crew = arg;
    int i;

    while ((i = atomic_fetch_add(&crew->next, 1)) < crew->count) {
        const atomic_bool *enough = crew->choice->how->enough;

        crew->status[i] = XY_EINTERRUPTED;
        if (enough != NULL && atomic_load(enough))
            continue;
        crew->ended[i] = (sim_trial_t){.enough = enough, .beyond = &crew->beyond};
        crew->status[i] =
            run_trial(crew->choice, crew->trials[i], NULL, &crew->ended[i], &crew->results[i]);
        if (crew->status[i] == XY_OK)
            note_time(crew, time_of(&crew->results[i], &crew->ended[i]));
    }
    return NULL;
}

/* Run all trials of the crew on all processors. */
static void run_crew(crew_t *crew)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t threads[THREADS_MOST];
    int started = 0;

    while (started < THREADS_MOST && started < processors - 1 && started < crew->count - 1 &&
           pthread_create(&threads[started], NULL, work, crew) == 0)
        started++;
    work(crew);
    while (started > 0)
        pthread_join(threads[--started], NULL);
}

/* Run those of the trials that are worth it and within the limits, and keep the best. */
static xy_status_t try_crew(choice_t *c, crew_t *crew, const xy_task_trial_t *trials)
{
    uint64_t ops = (uint64_t)xy_graph_ops(c->graph), before = (uint64_t)c->count;
    xy_status_t st = XY_OK;

    *crew = (crew_t){.choice = c};
    atomic_init(&crew->beyond, c->best.policy != NULL ? as_fast * c->fastest : INFINITY);
    for (int i = 0; trials[i].policy != NULL && crew->count < TRIALS_MOST &&
                    (before + (uint64_t)crew->count == 0 ||
                     !is_limit_reached(c, ops * (before + (uint64_t)crew->count)));
         i++)
        if (is_worth_trying(c, &trials[i]))
            crew->trials[crew->count++] = &trials[i];
    run_crew(crew);
    for (int i = 0; i < crew->count && st == XY_OK; i++) {
        c->took += crew->status[i] != XY_OK ? crew->results[i].trial_seconds : 0;
        if (crew->status[i] == XY_OK)
            keep(c, crew->trials[i], &crew->ended[i], &crew->results[i]);
        else if (crew->status[i] != XY_EINTERRUPTED &&
                 (crew->status[i] != XY_EINVAL || !crew->trials[i]->may_refuse))
            st = crew->status[i];
    }
    return st;
}

/* Shares of each memory with which the best policies are tried once more: a plan that needs less
 * memory is one for more, and no rule finds a better one for every size. */
static const double smaller[] = {0.93, 0.87, 0.8, 0.7, 0.6};
enum { SMALLER = sizeof(smaller) / sizeof(smaller[0]), ANY = 2, BEST = 4 };

/* Not one of the list; and not of their policies either, if another policy is wanted. */
static bool is_beside(const xy_task_trial_t *t, const xy_task_trial_t *const *list, int n,
                      bool is_other_policy)
{
    for (int i = 0; i < n; i++)
        if (list[i] == t || (is_other_policy && strcmp(list[i]->policy, t->policy) == 0))
            return false;
    return true;
}

/* The trial that ended first beside those of the list; NULL: none did. */
static const xy_task_trial_t *first_beside(const crew_t *crew, const xy_task_trial_t *const *list,
                                           int n)
{
    const xy_task_trial_t *found = NULL;
    double least = INFINITY;

    for (int i = 0; i < crew->count; i++) {
        double time =
            crew->status[i] == XY_OK ? time_of(&crew->results[i], &crew->ended[i]) : INFINITY;

        if (time < least && is_beside(crew->trials[i], list, n, n >= ANY)) {
            least = time;
            found = crew->trials[i];
        }
    }
    return found;
}

/* The two best, and the best of two other policies. */
static xy_status_t try_smaller(choice_t *c, crew_t *crew)
{
    const xy_task_trial_t *best[BEST] = {NULL};
    xy_task_trial_t again[BEST * SMALLER + 1] = {{0}};
    int count = 0, n = 0;

    while (count < BEST && (best[count] = first_beside(crew, best, count)) != NULL)
        count++;
    for (int i = 0; i < SMALLER; i++)
        for (int k = 0; k < count; k++) {
            again[n] = *best[k];
            again[n++].memory = smaller[i];
        }
    return try_crew(c, crew, again);
}

static int by_first(const void *a, const void *b)
{
    const xy_task_trial_t *x = a, *y = b;

    return (x->first > y->first) - (x->first < y->first);
}

/* Sort the trials: those that have a place in front, in its order, then the others. */
static void sort_trials(const xy_task_trial_t *trials, xy_task_trial_t sorted[TRIALS_MOST + 1])
{
    int count = 0, n = 0;

    for (int i = 0; trials[i].policy != NULL && n < TRIALS_MOST; i++)
        if (trials[i].first > 0)
            sorted[n++] = trials[i];
    count = n;
    for (int i = 0; trials[i].policy != NULL && n < TRIALS_MOST; i++)
        if (trials[i].first == 0)
            sorted[n++] = trials[i];
    qsort(sorted, (size_t)count, sizeof(*sorted), by_first);
    sorted[n] = (xy_task_trial_t){0};
}

/* Runs that are driven as real ones go to their end: there is nothing to learn from those before.
 */
static xy_status_t try_side_by_side(choice_t *c, const xy_task_trial_t *trials)
{
    crew_t *crew = xy_malloc(sizeof(*crew));
    xy_task_trial_t sorted[TRIALS_MOST + 1];
    xy_status_t st;

    if (crew == NULL)
        return xy_fail_memory("choosing a policy");
    sort_trials(trials, sorted);
    st = try_crew(c, crew, c->how->enough != NULL ? sorted : trials);
    if (st == XY_OK && !c->is_named)
        st = try_smaller(c, crew);
    xy_free(crew);
    return st;
}

static const xy_task_trial_t *first_of(const xy_task_trial_t *trials)
{
    for (const xy_task_trial_t *t = trials; t->policy != NULL; t++)
        if (t->first == 1)
            return t;
    return trials;
}

/* Find the trial that ends first. */
static xy_status_t choose(choice_t *c, const xy_task_trial_t *trials)
{
    look_at_graph(c);
    return c->how->ahead != NULL ? try_side_by_side(c, trials) : try_in_turn(c, trials);
}

/* Repeats the best trial with its trace and observer. */
static xy_status_t run_recorded(const choice_t *c, const xy_task_trial_t *t,
                                xy_task_result_t *result_p)
{
    const xy_task_platform_t *p = c->platform;
    const xy_task_observer_t *observer = c->how->observer;
    xy_task_view_t view = {.graph = c->whole,
                           .workers = p->workers,
                           .memories = p->memories,
                           .memory_of = p->memory_of,
                           .transfer_rate = p->rate};
    xy_task_trace_t *trace = NULL;
    xy_status_t closed, st = XY_OK;

    if (c->how->trace != NULL)
        st = xy_task_trace_open(c->how->trace, &view, XY_TASK_GPUS, t->policy, observer, &trace);
    if (st != XY_OK)
        return st;
    if (trace != NULL)
        observer = xy_task_trace_observer(trace);
    st = run_trial(c, t, observer, NULL, result_p);
    closed = xy_task_trace_close(trace);
    return st == XY_OK ? closed : st;
}

/* There is an observer, or no trial ran to the end: the chosen one runs once more. */
static xy_status_t run_chosen(choice_t *c)
{
    xy_task_result_t again;
    xy_status_t st = run_recorded(c, &c->best, &again);

    if (st != XY_OK)
        return st;
    /* A whole trial and its repetition are the same decisions: they count once. */
    c->spent += c->is_whole && c->graph == c->whole ? 0 : again.scheduling_seconds;
    if (c->graph == c->whole && c->count > 0) {
        again.compute_bound = c->result.compute_bound;
        again.bound = c->result.bound;
    }
    c->result = again;
    return XY_OK;
}

/* The policy itself, with each number of data to load early. */
static xy_status_t choose_look_ahead(choice_t *c, const char *policy)
{
    static const int32_t early[] = {0, 2, 8, 4, 1, 16}, first[] = {5, 1, 2, 4, 3, 6};
    enum { COUNT = sizeof(early) / sizeof(early[0]) };
    xy_task_trial_t trials[COUNT + 1] = {{0}};

    for (int i = 0; i < COUNT; i++)
        trials[i] = (xy_task_trial_t){.policy = policy, .look_ahead = early[i], .first = first[i]};
    return choose(c, trials);
}

const xy_task_trial_t *xy_task_trial_first(const char *policy)
{
    const xy_task_policy_t *found = xy_task_policies[0];

    if (policy != NULL)
        found = xy_table_find(XY_TABLE(xy_task_policies), policy);
    return first_of(found != NULL && found->trials != NULL ? found->trials
                                                           : xy_task_policies[0]->trials);
}

xy_status_t xy_task_simulate(const xy_graph_t *graph, const xy_task_platform_t *platform,
                             const xy_task_sim_t *how, xy_task_result_t *result_p)
{
    const char *name = how->policy != NULL ? how->policy : xy_task_policies[0]->name;
    choice_t c = {.graph = how->trials_on != NULL ? how->trials_on : graph,
                  .whole = graph,
                  .platform = platform,
                  .how = how,
                  .is_open = how->ahead != NULL && how->params.look_ahead == XY_TASK_CHOOSE};
    const xy_task_policy_t *policy;
    xy_status_t st = xy_task_policy_find(name, &policy);

    if (st == XY_OK && policy->trials == NULL && !c.is_open)
        return run_recorded(&c, &(xy_task_trial_t){.policy = name}, result_p);
    c.is_named = st == XY_OK && policy->trials == NULL;
    if (st == XY_OK)
        st = policy->trials != NULL ? choose(&c, policy->trials) : choose_look_ahead(&c, name);
    if (st == XY_OK && c.best.policy == NULL && how->enough != NULL)
        return XY_EINTERRUPTED;
    if (st == XY_OK && c.best.policy != NULL &&
        (!c.is_whole || c.graph != graph || how->trace != NULL || how->observer != NULL))
        st = run_chosen(&c);
    if (st != XY_OK)
        return st;
    c.result.scheduling_seconds = c.spent;
    c.result.trials = c.count;
    c.result.trial_seconds = c.took;
    *result_p = c.result;
    return XY_OK;
}
