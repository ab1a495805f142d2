/* SPDX-License-Identifier: BSD-3-Clause */
/* Choosing for programs: the functions of xylem.h over those of this component. */
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/utsname.h>
#include <xylem.h>

#include "choose/choose.h"

typedef struct {
    xy_choose_t request;
    xy_candidate_t *candidates;
    xy_parameter_t *parameters;
    xy_estimate_of_t *of;
    xy_history_t *history;
    char host[sizeof(((struct utsname *)0)->nodename)];
} asked_t;

/* Checks a problem of the C interface. */
static xy_status_t check(const xylem_problem *p)
{
    if (p->name == NULL || !xy_choose_is_word(p->name))
        return xy_fail(XY_EINVAL, "xylem_choose: a problem needs a name of one word, without ',' "
                                  "and '='");
    if (p->alternative_count < 1 || p->parameter_count < 0 ||
        p->parameter_count > XY_CHOOSE_PARAMETERS_MAX || p->reference < 0 ||
        p->reference > p->alternative_count || !(p->loss >= 0))
        return xy_fail(XY_EINVAL,
                       "xylem_choose: %s: %d alternatives, %d parameters, reference %d, loss %g; "
                       "one alternative at least, %d parameters at most, and a reference among "
                       "the alternatives are possible",
                       p->name, p->alternative_count, p->parameter_count, p->reference, p->loss,
                       XY_CHOOSE_PARAMETERS_MAX);
    for (int i = 0; i < p->alternative_count; i++)
        if (p->alternatives[i].name == NULL || !xy_choose_is_word(p->alternatives[i].name) ||
            p->alternatives[i].seconds == NULL)
            return xy_fail(XY_EINVAL,
                           "xylem_choose: %s: alternative %d needs a name of one word and a "
                           "function that predicts its time",
                           p->name, i);
    return XY_OK;
}

static const char *find_host(const xylem_problem *p, asked_t *a)
{
    struct utsname name;

    if (p->host != NULL)
        return p->host;
    if (uname(&name) != 0 || !xy_choose_is_word(name.nodename))
        return "here";
    memcpy(a->host, name.nodename, sizeof(a->host));
    return a->host;
}

static xy_candidate_t predict(const xylem_problem *p, int i)
{
    const xylem_alternative *a = &p->alternatives[i];
    double seconds = a->seconds(p->arg);

    return (xy_candidate_t){.name = a->name,
                            .predicted = seconds > 0 ? seconds : INFINITY,
                            .error = a->error > 0 ? a->error : -1};
}

static xy_status_t load_history(const xylem_problem *p, asked_t *a)
{
    char *path = p->ignores_history ? NULL : xy_cache_path("XYLEM_HISTORY", "history");
    xy_status_t st = XY_OK;

    if (path != NULL)
        st = xy_history_load(path, p->name, a->request.instance.host, &a->history);
    a->request.history = a->history;
    xy_free(path);
    return st;
}

static void cleanup(asked_t *a)
{
    xy_history_destroy(a->history);
    xy_free(a->candidates);
    xy_free(a->parameters);
    xy_free(a->of);
}

/* Predicts all alternatives, loads the history and chooses; the caller frees `a`, also on
 * failure. */
static xy_status_t ask(const xylem_problem *p, asked_t *a, xy_choice_t *choice_p)
{
    size_t count = (size_t)p->alternative_count, parameters = (size_t)p->parameter_count;
    xy_status_t st;

    a->candidates = xy_calloc(count, sizeof(*a->candidates));
    a->of = xy_calloc(count, sizeof(*a->of));
    a->parameters = xy_calloc(parameters + 1, sizeof(*a->parameters));
    if (a->candidates == NULL || a->of == NULL || a->parameters == NULL)
        return xy_fail_memory("choosing");
    for (size_t i = 0; i < parameters; i++)
        a->parameters[i] = (xy_parameter_t){p->parameters[i].name, p->parameters[i].value};
    for (size_t i = 0; i < count; i++)
        a->candidates[i] = predict(p, (int)i);
    a->request = (xy_choose_t){
        .instance = {p->name, find_host(p, a), a->parameters, parameters},
        .candidates = a->candidates,
        .count = count,
        .reference = p->reference > 0 ? (size_t)p->reference - 1 : XY_CHOOSE_NONE,
        .loss = p->loss,
    };
    st = load_history(p, a);
    return st == XY_OK ? xy_choose(&a->request, a->of, choice_p) : st;
}

int xylem_choose(const xylem_problem *p, xylem_choice *choice)
{
    asked_t a = {0};
    xy_choice_t c;
    xy_status_t st = check(p);

    if (st != XY_OK)
        return (int)st;
    st = ask(p, &a, &c);
    if (st == XY_OK)
        *choice = (xylem_choice){.chosen = (int)c.chosen,
                                 .predicted = a.candidates[c.chosen].predicted,
                                 .expected = a.of[c.chosen].seconds,
                                 .sure = c.sure,
                                 .is_trial = c.is_trial,
                                 .instead = c.instead};
    cleanup(&a);
    return (int)st;
}

int xylem_chosen(const xylem_problem *p, const xylem_choice *choice, double seconds)
{
    asked_t a = {0};
    xy_parameter_t parameters[XY_CHOOSE_PARAMETERS_MAX];
    char *path = NULL;
    xy_run_t run = {.time = (int64_t)time(NULL), .measured = seconds};
    xy_status_t st = check(p);

    if (st == XY_OK && (choice->chosen < 0 || choice->chosen >= p->alternative_count))
        st = xy_fail(XY_EINVAL, "xylem_chosen: %s has no alternative %d", p->name, choice->chosen);
    if (st != XY_OK)
        return (int)st;
    for (int i = 0; i < p->parameter_count; i++)
        parameters[i] = (xy_parameter_t){p->parameters[i].name, p->parameters[i].value};
    run.instance =
        (xy_instance_t){p->name, find_host(p, &a), parameters, (size_t)p->parameter_count};
    run.alternative = p->alternatives[choice->chosen].name;
    run.predicted = choice->predicted;
    run.instead = choice->instead;
    st = xy_history_path(&path);
    if (st == XY_OK)
        st = xy_history_append(path, &run, 1);
    xy_free(path);
    return (int)st;
}

int xylem_choose_run(const xylem_problem *p, xylem_choice *choice)
{
    xylem_choice c;
    int st = xylem_choose(p, &c);
    double start;

    if (st != 0)
        return st;
    if (p->alternatives[c.chosen].run == NULL)
        return (int)xy_fail(XY_EINVAL, "xylem_choose_run: %s has no function to run",
                            p->alternatives[c.chosen].name);
    start = xy_clock_seconds(CLOCK_MONOTONIC);
    st = p->alternatives[c.chosen].run(p->arg);
    c.measured = xy_clock_seconds(CLOCK_MONOTONIC) - start;
    if (st == 0 && !p->ignores_history && c.measured > 0)
        (void)xylem_chosen(p, &c, c.measured); /* reported, and no error of the run */
    if (choice != NULL)
        *choice = c;
    return st;
}
