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
const double sim_as_fast = 1.01;

typedef struct {
    const xy_graph_t *graph, *whole; /* of the trials, and of the run */
    const xy_task_platform_t *platform;
    const xy_task_sim_t *how;
    uint64_t largest_task; /* bytes of its data */
    uint64_t accesses;     /* of all tasks */
    bool is_at_home;       /* all data live in the main memory */
    bool is_named;         /* one policy was asked for: only its look-ahead is a choice */
    bool is_open;          /* how many data are loaded early is to be chosen */
    xy_task_race_t *race;  /* that its trials are of; or NULL */
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

static double processor_clock(void)
{
    return xy_clock_seconds(CLOCK_THREAD_CPUTIME_ID);
}

/* The options of a run with those of a trial. */
static xy_task_sim_t options_of(const choice_t *c, const xy_task_trial_t *t)
{
    xy_task_sim_t how = *c->how;

    if (t->eviction != NULL)
        how.eviction = t->eviction;
    if (t->extra_rounds > 0)
        how.params.extra_rounds = t->extra_rounds;
    if (how.params.look_ahead == XY_TASK_CHOOSE)
        how.params.look_ahead = t->look_ahead;
    how.params.is_trial = t->may_refuse;
    return how;
}

/* Run a trial, or what it stands for: without `trial`, on the whole graph. */
static xy_status_t run_trial(const choice_t *c, const xy_task_trial_t *t,
                             const xy_task_observer_t *observer, sim_trial_t *trial,
                             xy_task_result_t *result_p)
{
    const xy_task_policy_t *policy;
    xy_task_platform_t *part = NULL;
    xy_task_sim_t how = options_of(c, t);
    double begin = processor_clock();
    xy_status_t st = xy_task_policy_find(t->policy, &policy);

    if (st != XY_OK)
        return st;
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
    if (is_first || c->best_time > sim_as_fast * c->fastest)
        return is_first || found < c->best_time;
    return found <= sim_as_fast * c->fastest && volume_of(result) < volume_of(&c->result);
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
                             .seconds = c->best.policy != NULL ? sim_as_fast * c->fastest : 0};
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

/* Few trials race at a time: as soon as one has ended it is a choice, and those that have not
 * cannot be compared with it. Beside threads that make memory ready many would all come half as
 * far. */
enum { TRIALS_MOST = 64, THREADS_MOST = 16, RACERS = 4 };
/* Before so many steps a trial tells nothing. */
enum { STEPS_LEAST = SIM_STEPS / 16 };

typedef struct {
    const choice_t *choice;
    sim_field_t field;
    const xy_task_trial_t *trials[TRIALS_MOST];
    sim_trial_t ended[TRIALS_MOST];
    xy_task_result_t results[TRIALS_MOST];
    xy_status_t status[TRIALS_MOST];
    int count;
    _Atomic int next;
} crew_t;

/* A choice that is made while its caller does something else. */
struct xy_task_race {
    choice_t choice;
    xy_task_sim_t how;
    crew_t crew;
    pthread_t thread;
    bool is_started;
    pthread_mutex_t lock; /* of all below, and of what follows from trials that have ended */
    pthread_cond_t ended;
    bool is_running; /* trials of the crew */
    bool is_over;
    xy_status_t status;
};

/* Makes the next trial until none is left; the body of a thread. */
static void *work(void *arg)
{
    crew_t *crew = arg;
    int i;

    while ((i = atomic_fetch_add(&crew->next, 1)) < crew->count) {
        crew->status[i] = XY_EINTERRUPTED;
        crew->ended[i].field = &crew->field;
        if (atomic_load(&crew->field.enough))
            continue;
        crew->status[i] =
            run_trial(crew->choice, crew->trials[i], NULL, &crew->ended[i], &crew->results[i]);
    }
    return NULL;
}

/* Run all trials of the crew, on all processors or on some of them. */
static void run_crew(crew_t *crew)
{
    const int most = crew->choice->race != NULL ? RACERS - 1 : THREADS_MOST;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t threads[THREADS_MOST];
    int started = 0;

    while (started < most && started < processors - 1 && started < crew->count - 1 &&
           pthread_create(&threads[started], NULL, work, crew) == 0)
        started++;
    work(crew);
    while (started > 0)
        pthread_join(threads[--started], NULL);
}

/* The trials of the crew: those of the list that are worth it and within the limits. */
static void init_crew(const choice_t *c, crew_t *crew, const xy_task_trial_t *trials)
{
    uint64_t ops = (uint64_t)xy_graph_ops(c->graph), before = (uint64_t)c->count;
    bool is_enough = c->race != NULL && atomic_load(&crew->field.enough);

    *crew = (crew_t){.choice = c};
    atomic_init(&crew->field.enough, is_enough);
    atomic_init(&crew->field.least, c->best.policy != NULL ? c->fastest : INFINITY);
    for (int i = 0; trials[i].policy != NULL && crew->count < TRIALS_MOST &&
                    (before + (uint64_t)crew->count == 0 ||
                     !is_limit_reached(c, ops * (before + (uint64_t)crew->count)));
         i++)
        if (is_worth_trying(c, &trials[i]))
            crew->trials[crew->count++] = &trials[i];
}

/* Keeps the best of the trials that went to their end. */
static xy_status_t judge_crew(choice_t *c, const crew_t *crew)
{
    xy_status_t st = XY_OK;

    for (int i = 0; i < crew->count && st == XY_OK; i++) {
        xy_task_result_t result = crew->results[i];

        c->took += crew->status[i] != XY_OK ? result.trial_seconds : 0;
        if (crew->status[i] == XY_OK)
            keep(c, crew->trials[i], &crew->ended[i], &result);
        else if (crew->status[i] != XY_EINTERRUPTED &&
                 (crew->status[i] != XY_EINVAL || !crew->trials[i]->may_refuse))
            st = crew->status[i];
    }
    return st;
}

/* Makes trials and keeps the best. The caller of a race looks at the crew meanwhile. */
static xy_status_t try_crew(choice_t *c, crew_t *crew, const xy_task_trial_t *trials)
{
    init_crew(c, crew, trials);
    if (c->race != NULL) {
        c->race->is_running = true;
        pthread_mutex_unlock(&c->race->lock);
    }
    run_crew(crew);
    if (c->race != NULL) {
        pthread_mutex_lock(&c->race->lock);
        c->race->is_running = false;
    }
    return judge_crew(c, crew);
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
    crew_t *crew = c->race != NULL ? &c->race->crew : xy_malloc(sizeof(*crew));
    xy_task_trial_t sorted[TRIALS_MOST + 1];
    xy_status_t st;

    if (crew == NULL)
        return xy_fail_memory("choosing a policy");
    sort_trials(trials, sorted);
    st = try_crew(c, crew, c->race != NULL ? sorted : trials);
    if (st == XY_OK && !c->is_named && c->best.policy != NULL)
        st = try_smaller(c, crew);
    if (c->race == NULL)
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

static bool is_open(const xy_task_sim_t *how)
{
    return how->ahead != NULL && how->params.look_ahead == XY_TASK_CHOOSE;
}

static xy_status_t policy_of(const xy_task_sim_t *how, const xy_task_policy_t **policy_p)
{
    return xy_task_policy_find(how->policy != NULL ? how->policy : xy_task_policies[0]->name,
                               policy_p);
}

xy_task_trial_t xy_task_trial_first(const char *policy)
{
    const xy_task_policy_t *found = xy_task_policies[0];
    xy_task_trial_t first;

    if (policy != NULL)
        found = xy_table_find(XY_TABLE(xy_task_policies), policy);
    if (found != NULL && found->trials != NULL)
        return *first_of(found->trials);
    first = *first_of(xy_task_policies[0]->trials);
    first.policy = policy;
    return first;
}

/* Find the choice by trials; `policy` is a choice, or its look-ahead is. */
static xy_status_t find(choice_t *c, const xy_task_policy_t *policy)
{
    c->is_named = policy->trials == NULL;
    return c->is_named ? choose_look_ahead(c, policy->name) : choose(c, policy->trials);
}

xy_status_t xy_task_simulate(const xy_graph_t *graph, const xy_task_platform_t *platform,
                             const xy_task_sim_t *how, xy_task_result_t *result_p)
{
    choice_t c = {.graph = how->trials_on != NULL ? how->trials_on : graph,
                  .whole = graph,
                  .platform = platform,
                  .how = how,
                  .is_open = is_open(how)};
    const xy_task_policy_t *policy;
    xy_status_t st = policy_of(how, &policy);

    if (st == XY_OK && policy->trials == NULL && !c.is_open)
        return run_recorded(&c, &(xy_task_trial_t){.policy = policy->name}, result_p);
    if (st == XY_OK)
        st = find(&c, policy);
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

/* ---- A race ---- */

/* The coordinator; it has the lock but while trials run. */
static void *run_race(void *arg)
{
    xy_task_race_t *race = arg;
    const xy_task_policy_t *policy;

    pthread_mutex_lock(&race->lock);
    race->status = policy_of(&race->how, &policy);
    if (race->status == XY_OK)
        race->status = find(&race->choice, policy);
    race->is_over = true;
    pthread_cond_signal(&race->ended);
    pthread_mutex_unlock(&race->lock);
    return NULL;
}

xy_status_t xy_task_race_create(const xy_graph_t *graph, const xy_task_platform_t *platform,
                                const xy_task_sim_t *how, xy_task_race_t **race_p)
{
    xy_task_race_t *race = xy_calloc(1, sizeof(*race));
    pthread_condattr_t attributes;

    if (race == NULL)
        return xy_fail_memory("choosing a policy");
    race->how = *how;
    race->choice = (choice_t){.graph = graph,
                              .whole = graph,
                              .platform = platform,
                              .how = &race->how,
                              .is_open = is_open(how),
                              .race = race};
    pthread_mutex_init(&race->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&race->ended, &attributes);
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&race->thread, NULL, run_race, race) != 0)
        run_race(race);
    else
        race->is_started = true;
    *race_p = race;
    return XY_OK;
}

/* Is one trial ahead of another? One that has ended is, as only its end tells what the way home
 * takes; otherwise as far as both have come. By too little to tell: the one that is good more often
 * comes first in the list. */
static bool is_ahead(const sim_trial_t *a, const sim_trial_t *b)
{
    int32_t x = atomic_load_explicit(&a->steps, memory_order_acquire);
    int32_t y = atomic_load_explicit(&b->steps, memory_order_acquire), both = x < y ? x : y;

    if ((x == SIM_STEPS) != (y == SIM_STEPS))
        return x == SIM_STEPS;
    return sim_as_fast * a->at[both] < b->at[both];
}

int sim_leader(const sim_trial_t *trials, int count)
{
    int best = -1;

    for (int i = 0; i < count; i++)
        if (atomic_load_explicit(&trials[i].steps, memory_order_acquire) >= STEPS_LEAST &&
            (best < 0 || is_ahead(&trials[i], &trials[best])))
            best = i;
    return best;
}

/* The options of a trial, as a result has them. */
static xy_status_t describe(const choice_t *c, const xy_task_trial_t *t, xy_task_result_t *result_p)
{
    xy_task_sim_t how = options_of(c, t);
    const xy_task_policy_t *policy;
    xy_status_t st = xy_task_policy_find(t->policy, &policy);

    if (st == XY_OK)
        *result_p =
            (xy_task_result_t){.policy = policy->name,
                               .eviction = how.eviction != NULL ? how.eviction : policy->eviction,
                               .extra_rounds = how.params.extra_rounds,
                               .look_ahead = how.params.look_ahead,
                               .workers = memories_of(c, t),
                               .memory = (uint64_t)(t->memory * (double)c->platform->capacity[1])};
    return st;
}

/* The best trial of the race so far. */
static xy_status_t judge_race(const xy_task_race_t *race, xy_task_result_t *result_p)
{
    const choice_t *c = &race->choice;
    int leader = race->is_running ? sim_leader(race->crew.ended, race->crew.count) : -1;

    if (race->is_over && race->status != XY_OK)
        return race->status;
    if (c->best.policy == NULL)
        return leader >= 0 ? describe(c, race->crew.trials[leader], result_p) : XY_EINTERRUPTED;
    *result_p = c->result;
    return XY_OK;
}

xy_status_t xy_task_race_result(xy_task_race_t *race, double seconds, xy_task_result_t *result_p)
{
    double end = xy_clock_seconds(CLOCK_MONOTONIC) + seconds;
    struct timespec until = {(time_t)end, (long)(1e9 * (end - floor(end)))};
    bool is_late = false;
    xy_status_t st;

    pthread_mutex_lock(&race->lock);
    while (!race->is_over && !is_late)
        is_late = pthread_cond_timedwait(&race->ended, &race->lock, &until) != 0;
    atomic_store(&race->crew.field.enough, true);
    st = judge_race(race, result_p);
    pthread_mutex_unlock(&race->lock);
    return st;
}

void xy_task_race_destroy(xy_task_race_t *race)
{
    if (race == NULL)
        return;
    pthread_mutex_lock(&race->lock); /* no trials begin meanwhile */
    atomic_store(&race->crew.field.enough, true);
    pthread_mutex_unlock(&race->lock);
    if (race->is_started)
        pthread_join(race->thread, NULL);
    pthread_cond_destroy(&race->ended);
    pthread_mutex_destroy(&race->lock);
    xy_free(race);
}
