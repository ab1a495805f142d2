/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem choose: which of several algorithms, before it runs. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <xylem.h>

#include "choose.h"
#include "verbs.h"

#define AT(field) offsetof(choose_values_t, field)

static const xy_option_t options[] = {
    {"set", 's', XY_OPT_LIST, "NAME=NUMBER", AT(set), XY_COMMON("choose"),
     .help = "set a parameter of the problem"},
    {"explain", 'e', XY_OPT_FLAG, .offset = AT(explain), XY_COMMON("choose"),
     .help = "print all alternatives and why one is chosen; their expected times, where the time "
             "goes and how sure the choice is"},
    {"run", 0, XY_OPT_FLAG, .offset = AT(run), XY_COMMON("choose"),
     .help = "run the chosen alternative by its 'run' line, and store its time"},
    {"costs", 'c', XY_OPT_STRING, "FILE", AT(costs), .complete = "file", XY_COMMON("choose"),
     .help = "read models of kernels and messages from FILE; for formulas (default: what 'xylem "
             "calibrate' stored)"},
    {"map", 0, XY_OPT_LIST, "NAME=VALUES", AT(map), XY_COMMON("choose"),
     .help = "choose for many values of one or two parameters; as in n=500..6000+500 or p=4..256*2 "
             "or n=1,2,5; prints the choice for each value"},
    {"no-cache", 0, XY_OPT_FLAG, .offset = AT(no_cache), XY_ADVANCED("choose"),
     .help = "repeat simulations instead of using stored results"},
    {"loss", 0, XY_OPT_DOUBLE, "PERCENT", AT(loss), .preset = "0", .min = 0, .max = 100,
     XY_EXPERIMENTAL("choose"),
     .help =
         "sometimes try an alternative that may be better; all trials together lose at most this "
         "share of the stored time"},
    {"reference", 0, XY_OPT_STRING, "NAME", AT(reference), XY_EXPERIMENTAL("choose"),
     .help =
         "name the alternative that would run without a choice; --loss limits how much slower all "
         "choices together may be"},
    {"ran", 'r', XY_OPT_STRING, "NAME=TIME", AT(ran), XY_COMMON("history"),
     .help = "store the measured time of an alternative, as in fox=1.31s; it is kept beside the "
             "prediction, and nothing is chosen"},
    {"history", 0, XY_OPT_CHOICE, "ACTION", AT(history), .choices = choose_history_actions,
     XY_COMMON("history"),
     .help = "show, export, import or clear stored times; of the given problem, or of all; import "
             "reads a file"},
    {"host", 0, XY_OPT_STRING, "NAME", AT(host), XY_ADVANCED("history"),
     .help = "use the stored times of this host (default: this host; with --history: all)"},
    {"no-history", 0, XY_OPT_FLAG, .offset = AT(no_history), XY_ADVANCED("history"),
     .help = "choose by predictions alone"},
    {"svg", 0, XY_OPT_STRING, "FILE", AT(svg), .complete = "file", .needs = "map",
     XY_COMMON("output"), .help = "with --map of two parameters: draw the regions"},
    {"json", 0, XY_OPT_FLAG, .offset = AT(json), XY_COMMON("output"), .help = "print as JSON"},
    {0}};

/* ---- What is given ---- */

/* Reads the parameters of --set. */
static xy_status_t read_given(choose_t *c)
{
    for (size_t i = 0; i < c->v->set.count; i++) {
        const char *text = XY_VEC_AT(&c->v->set, const char *, i), *equal = strchr(text, '=');
        xy_parameter_t p = {0};
        uint64_t size;

        if (equal == NULL || equal == text)
            return xy_fail(XY_EUSAGE, "--set '%s': write NAME=NUMBER", text);
        if (xy_parse_size(equal + 1, &size))
            p.value = (double)size;
        else if (!xy_parse_double(equal + 1, &p.value))
            return xy_fail(XY_EUSAGE, "--set '%s': '%s' is not a number", text, equal + 1);
        p.name = xy_strndup(text, (size_t)(equal - text));
        if (p.name == NULL || xy_vec_append(&c->given, &p) != XY_OK) {
            xy_free((void *)(uintptr_t)p.name);
            return xy_fail_memory("reading the options");
        }
    }
    return XY_OK;
}

/* Load the calibration, if there is one: a problem may do without. */
static xy_status_t load_costs(choose_t *c)
{
    char *path;
    FILE *file;
    xy_status_t st;

    if (c->v->costs != NULL)
        return xy_costs_load(c->v->costs, &c->costs);
    path = xy_costs_where();
    if (path == NULL)
        return XY_OK;
    file = fopen(path, "re");
    st = file != NULL ? xy_costs_load(path, &c->costs) : XY_OK;
    if (file != NULL)
        fclose(file);
    xy_free(path);
    return st;
}

/* Sets the name under which runs are stored: --host or that of this machine. */
static xy_status_t name_host(choose_t *c)
{
    struct utsname name;

    if (c->v->host != NULL)
        c->host = xy_strdup(c->v->host);
    else if (uname(&name) == 0)
        c->host = xy_strdup(name.nodename);
    if (c->host == NULL)
        return xy_fail_memory("naming the host");
    if (!xy_choose_is_word(c->host))
        return xy_fail(XY_EUSAGE, "--host '%s': a name is one word without ',' and '='", c->host);
    return XY_OK;
}

/* Simulations of the machine that we run on are of its own. */
static xy_status_t name_files(choose_t *c)
{
    const char *machine = getenv("XYLEM_MACHINE");
    int error;

    c->path = xy_cache_path("XYLEM_HISTORY", "history");
    c->salt = xy_sprintf("%s %s %s", XYLEM_VERSION, c->host, machine != NULL ? machine : "");
    if (!c->v->no_cache && c->path != NULL)
        c->cache = xy_sprintf("%s.simulated", c->path);
    if (c->salt == NULL)
        return xy_fail_memory("naming the history");
    error = c->cache != NULL ? xy_try_directories(c->cache) : 0;
    if (error != 0) {
        xy_warn("simulations are not stored in '%s': %s", c->cache, strerror(error));
        xy_free(c->cache);
        c->cache = NULL;
    }
    return XY_OK;
}

/* Reads the problem, the options, the costs and the history. */
static xy_status_t load(choose_t *c, const char *path)
{
    xy_status_t st = xy_adapt_read(path, &c->problem);

    if (st == XY_OK)
        st = name_host(c);
    if (st == XY_OK)
        st = name_files(c);
    if (st == XY_OK)
        st = read_given(c);
    if (st == XY_OK)
        st = load_costs(c);
    if (st == XY_OK && !c->v->no_history && c->path != NULL)
        st = xy_history_load(c->path, xy_adapt_name(c->problem), c->host, &c->history);
    return st;
}

static void cleanup(choose_t *c)
{
    for (size_t i = 0; i < c->given.count; i++)
        xy_free((void *)(uintptr_t)XY_VEC_AT(&c->given, xy_parameter_t, i).name);
    xy_vec_cleanup(&c->given);
    xy_history_destroy(c->history);
    xy_costs_destroy(c->costs);
    xy_adapt_destroy(c->problem);
    xy_free(c->host);
    xy_free(c->path);
    xy_free(c->cache);
    xy_free(c->salt);
}

/* ---- Choosing ---- */

static xy_status_t simulate(void *arg, const char *verb, int argc, char **argv, xy_simulated_t *s)
{
    (void)arg;
    return strcmp(verb, "predict") == 0   ? predict_simulate(argc, argv, s)
           : strcmp(verb, "stencil") == 0 ? stencil_simulate(argc, argv, s)
                                          : choose_ask(verb, argc, argv, s);
}

static xy_status_t find_reference(const choose_t *c, const xy_adapt_times_t *t, const char *name,
                                  size_t *i_p)
{
    *i_p = XY_CHOOSE_NONE;
    for (size_t i = 0; name != NULL && i < t->count; i++)
        if (strcmp(t->candidates[i].name, name) == 0)
            *i_p = i;
    return name == NULL || *i_p != XY_CHOOSE_NONE
               ? XY_OK
               : xy_fail(XY_EUSAGE, "the problem %s has no alternative '%s'",
                         xy_adapt_name(c->problem), name);
}

xy_status_t choose_answer(const choose_t *c, const xy_parameter_t *given, size_t count,
                          choose_answer_t *a)
{
    xy_adapt_given_t g = {.parameters = given,
                          .count = count,
                          .costs = c->costs,
                          .simulate = simulate,
                          .cache = c->cache,
                          .salt = c->salt};
    xy_choose_t q = {.history = c->history, .loss = c->v->loss / 100};
    xy_status_t st;

    *a = (choose_answer_t){0};
    st = xy_adapt_evaluate(c->problem, &g, &a->times);
    if (st != XY_OK)
        return st;
    a->instance = (xy_instance_t){xy_adapt_name(c->problem), c->host, a->times->parameters,
                                  a->times->parameter_count};
    a->of = xy_calloc(a->times->count, sizeof(*a->of));
    st = a->of != NULL ? find_reference(c, a->times, c->v->reference, &q.reference)
                       : xy_fail_memory("choosing");
    q.instance = a->instance;
    q.candidates = a->times->candidates;
    q.count = a->times->count;
    if (st == XY_OK)
        st = xy_choose(&q, a->of, &a->choice);
    if (st != XY_OK)
        choose_answer_cleanup(a);
    return st;
}

void choose_answer_cleanup(choose_answer_t *a)
{
    xy_free(a->of);
    xy_adapt_times_destroy(a->times);
    *a = (choose_answer_t){0};
}

/* ---- Storing ---- */

/* A time of another alternative than the one that would be chosen is a trial. */
static xy_status_t store(const choose_t *c, const choose_answer_t *a, size_t i, double seconds)
{
    xy_run_t run = {.instance = a->instance,
                    .time = (int64_t)time(NULL),
                    .alternative = a->times->candidates[i].name,
                    .predicted = a->times->candidates[i].predicted,
                    .measured = seconds,
                    .instead =
                        i == a->choice.chosen ? a->choice.instead : a->of[a->choice.best].seconds};

    if (isinf(run.predicted))
        return xy_fail(XY_EINVAL,
                       "%s is not for these parameters, and has no prediction to be "
                       "stored beside",
                       run.alternative);
    if (c->path == NULL)
        return xy_fail(XY_ENOENT, "cannot store the history: neither HOME nor XDG_CACHE_HOME is "
                                  "set; set XYLEM_HISTORY to a path");
    return xy_history_append(c->path, &run, 1);
}

/* Stores the measured time of --ran in the history. */
static xy_status_t run_stored(const choose_t *c, const choose_answer_t *a)
{
    const char *equal = strchr(c->v->ran, '=');
    char *name = equal != NULL ? xy_strndup(c->v->ran, (size_t)(equal - c->v->ran)) : NULL;
    double seconds = 0;
    size_t i;
    xy_status_t st = XY_OK;

    if (equal == NULL || !xy_parse_seconds(equal + 1, &seconds) || !(seconds > 0))
        st = xy_fail(XY_EUSAGE, "--ran '%s': write NAME=TIME, as in fox=1.31s", c->v->ran);
    else if (name == NULL)
        st = xy_fail_memory("storing a time");
    if (st == XY_OK)
        st = find_reference(c, a->times, name, &i);
    if (st == XY_OK)
        st = store(c, a, i, seconds);
    xy_free(name);
    return st;
}

/* Runs the chosen alternative and stores its time; the command is printed on standard error. */
static xy_status_t run_chosen(const choose_t *c, const choose_answer_t *a)
{
    const xy_adapt_given_t g = {
        .parameters = c->given.data, .count = c->given.count, .costs = c->costs};
    size_t i = a->choice.chosen;
    double start = xy_clock_seconds(CLOCK_MONOTONIC), seconds;
    char took[32];
    xy_status_t st;

    if (c->v->explain)
        choose_print_text(c, a, stderr);
    st = xy_adapt_run(c->problem, &g, i, choose_run, NULL);
    seconds = fmax(xy_clock_seconds(CLOCK_MONOTONIC) - start, 1e-9);
    if (st != XY_OK)
        return st;
    fprintf(stderr, "%s ran in %s\n", a->times->candidates[i].name,
            xy_format_seconds(seconds, took));
    return c->v->no_history ? XY_OK : store(c, a, i, seconds);
}

/* Chooses for one set of parameters, and prints the choice or stores a time. */
static xy_status_t run_one(const choose_t *c)
{
    choose_answer_t a;
    xy_status_t st = choose_answer(c, c->given.data, c->given.count, &a);

    if (st != XY_OK)
        return st;
    if (c->v->ran != NULL)
        st = run_stored(c, &a);
    else if (c->v->run)
        st = run_chosen(c, &a);
    else if (c->v->json)
        choose_print_json(c, &a, stdout);
    else
        choose_print_text(c, &a, stdout);
    choose_answer_cleanup(&a);
    return st == XY_OK ? xy_stdout_check() : st;
}

/* Entry point of 'xylem choose'. */
static xy_status_t run(const xy_command_t *command, const void *values, int argc, char **argv)
{
    choose_t c = {.v = values, .given = XY_VEC_INIT(xy_parameter_t)};
    xy_status_t st;

    (void)command;
    if (c.v->history != NULL)
        return choose_history(c.v, argc, argv);
    if (argc == 0)
        return xy_fail(XY_EUSAGE, "missing argument PROBLEM; see 'xylem choose --help'");
    if (c.v->svg != NULL && c.v->map.count == 0)
        return xy_fail(XY_EUSAGE, "--svg is for --map");
    if (c.v->run && (c.v->ran != NULL || c.v->json || c.v->map.count > 0))
        return xy_fail(XY_EUSAGE,
                       "--run runs one alternative: it does not go with --ran, --json or "
                       "--map");
    st = load(&c, argv[0]);
    if (st == XY_OK)
        st = c.v->map.count > 0 ? choose_map(&c) : run_one(&c);
    cleanup(&c);
    return st;
}

static const char description[] =
    "A problem is a file that names alternatives: algorithms with the same result. The time of "
    "each "
    "is predicted by a formula over the problem's parameters and the models of 'xylem "
    "calibrate', by a table of measured times, by a simulation (a command line of 'xylem "
    "predict' or 'xylem stencil'), or by a program or a shared object of the user. The alternative "
    "with the shortest parallel time is printed; "
    "where "
    "nodes differ, the slowest node counts.\n\n"
    "With --ran, times of real runs are stored beside the predictions. Later choices correct "
    "predictions by the stored times of similar instances on the same host. The times are kept in "
    "one file per user, "
    "$XYLEM_HISTORY or ~/.cache/xylem/history, which several jobs may write at once; answers of "
    "simulations are kept beside it.";

static const char examples[] =
    "xylem choose matmul.problem --set n=4096 --set p=16\n"
    "    print the name of the best alternative\n"
    "xylem choose matmul.problem --set n=4096 --set p=16 --explain\n"
    "    print the reasons\n"
    "xylem choose sort.problem --set n=4096 --run\n"
    "    run the best alternative and store its time\n"
    "xylem choose matmul.problem --set n=4096 --set p=16 --ran fox=1.31s\n"
    "    store the time of a real run\n"
    "xylem choose matmul.problem --map n=500..6000+500 --map p=4..16+1 --svg regions.svg\n"
    "    draw the best alternative for each pair of values\n"
    "xylem choose --history export >times.txt\n"
    "    for another user's 'xylem choose --history import times.txt'";

const xy_command_t verb_choose = {
    .name = "choose",
    .summary = "choose the fastest of several algorithms, before it runs",
    .synopsis = "PROBLEM | --history ACTION [PROBLEM|FILE]",
    .description = description,
    .examples = examples,
    .options = options,
    .values_size = sizeof(choose_values_t),
    .positional_min = 0,
    .positional_max = 1,
    .complete = "file",
    .run = run,
};
