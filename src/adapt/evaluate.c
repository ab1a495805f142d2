/* SPDX-License-Identifier: BSD-3-Clause */
/* The times of all alternatives of a problem for one instance. */
#include <math.h>
#include <string.h>

#include "adapt/adapt_internal.h"

#define TABLE_ERROR   0.05 /* of measured times, and of what is between them */
#define OUTSIDE_ERROR 0.5  /* of what is beyond them */
enum { WORDS_MAX = 256 };

typedef struct {
    const xy_adapt_t *problem;
    const xy_adapt_given_t *given;
    xy_adapt_times_t *times;
    double values[XY_CHOOSE_PARAMETERS_MAX];
} evaluation_t;

/* ---- Parameters ---- */

static bool find_given(const xy_adapt_given_t *g, const char *name, double *value_p)
{
    for (size_t i = 0; i < g->count; i++)
        if (strcmp(g->parameters[i].name, name) == 0) {
            *value_p = g->parameters[i].value;
            return true;
        }
    return false;
}

static bool is_parameter(const xy_adapt_t *p, const char *name)
{
    for (size_t i = 0; i < p->parameters.count; i++)
        if (strcmp(XY_VEC_AT(&p->parameters, adapt_parameter_t, i).name, name) == 0)
            return true;
    return false;
}

/* Sets the values of all parameters, given or default; XY_EUSAGE for unknown or missing ones. */
static xy_status_t set_parameters(evaluation_t *v)
{
    const xy_adapt_t *p = v->problem;

    for (size_t i = 0; i < v->given->count; i++)
        if (!is_parameter(p, v->given->parameters[i].name))
            return xy_fail(XY_EUSAGE, "the problem %s has no parameter '%s'", p->name,
                           v->given->parameters[i].name);
    for (size_t i = 0; i < p->parameters.count; i++) {
        const adapt_parameter_t *a = &XY_VEC_AT(&p->parameters, adapt_parameter_t, i);

        v->values[i] = a->value;
        if (!find_given(v->given, a->name, &v->values[i]) && !a->has_default)
            return xy_fail(XY_EUSAGE,
                           "the parameter '%s' of the problem %s has no value; give it "
                           "with --set %s=NUMBER",
                           a->name, p->name, a->name);
        v->times->parameters[i] = (xy_parameter_t){a->name, v->values[i]};
    }
    return XY_OK;
}

/* ---- Formulas ---- */

static xy_status_t fail_time(const evaluation_t *v, const adapt_alternative_t *a, double seconds)
{
    return xy_fail_at(XY_EINVAL, v->problem->path, a->line,
                      "the time of %s is %g s; it must be positive", a->name, seconds);
}

static adapt_scope_t scope(const evaluation_t *v, size_t node)
{
    return (adapt_scope_t){.problem = v->problem,
                           .costs = v->given->costs,
                           .values = v->values,
                           .lets = v->problem->lets.count,
                           .node = v->problem->nodes.count > 0
                                       ? &XY_VEC_AT(&v->problem->nodes, adapt_node_t, node)
                                       : NULL,
                           .error = -1};
}

/* The sum of the terms on a node, and each of them. */
static xy_status_t add_terms(evaluation_t *v, const adapt_alternative_t *a, size_t node,
                             double *term, double *seconds_p, double *error)
{
    adapt_scope_t s = scope(v, node);
    xy_status_t st = XY_OK;

    *seconds_p = 0;
    for (size_t i = 0; st == XY_OK && i < a->terms.count; i++) {
        st = adapt_value(&s, XY_VEC_AT(&a->terms, xy_formula_t *, i), &term[i]);
        *seconds_p += st == XY_OK ? term[i] : 0;
    }
    *error = fmax(*error, s.error);
    return st == XY_OK && !(*seconds_p > 0) ? fail_time(v, a, *seconds_p) : st;
}

/* "2*n/speed: 1.5 s; messages: 20 ms" of the node that takes longest. */
static xy_status_t tell_terms(evaluation_t *v, const adapt_alternative_t *a, size_t i,
                              const double *term)
{
    xy_text_t text = XY_TEXT_INIT;
    char number[32];
    bool has_all;

    for (size_t k = 0; k < a->terms.count && a->terms.count > 1; k++)
        xy_text_addf(&text, "%s%s: %s", k > 0 ? "; " : "",
                     xy_formula_text(XY_VEC_AT(&a->terms, xy_formula_t *, k)),
                     xy_format_seconds(term[k], number));
    v->times->where[i] =
        xy_arena_strndup(v->times->words, text.s != NULL ? text.s : "", text.length);
    has_all = v->times->where[i] != NULL && !text.failed;
    xy_text_cleanup(&text);
    return has_all ? XY_OK : xy_fail_memory("choosing");
}

/* Evaluates the formula of an alternative on every node; the slowest node counts. */
static xy_status_t evaluate_formula(evaluation_t *v, const adapt_alternative_t *a, size_t i)
{
    double term[ADAPT_LINE_MAX / 2], most = 0;
    xy_candidate_t *c = &v->times->candidates[i];
    size_t slowest = 0;
    xy_status_t st = XY_OK;

    for (size_t k = 0; st == XY_OK && k < v->times->nodes; k++) {
        double *seconds = &v->times->seconds[i * v->times->nodes + k];

        st = add_terms(v, a, k, term, seconds, &c->error);
        if (*seconds > most) {
            most = *seconds;
            slowest = k;
        }
    }
    if (st == XY_OK)
        st = add_terms(v, a, slowest, term, &c->predicted, &c->error);
    return st == XY_OK ? tell_terms(v, a, i, term) : st;
}

/* ---- Tables and simulations: one time for all nodes ---- */

static void set_time(evaluation_t *v, size_t i, double seconds, double error)
{
    v->times->candidates[i].predicted = seconds;
    v->times->candidates[i].error = error;
    for (size_t k = 0; k < v->times->nodes; k++)
        v->times->seconds[i * v->times->nodes + k] = seconds;
}

static void evaluate_table(evaluation_t *v, const adapt_alternative_t *a, size_t i)
{
    bool is_outside;
    double seconds = adapt_table_value(&a->table, v->values, &is_outside);

    set_time(v, i, seconds, is_outside ? OUTSIDE_ERROR : TABLE_ERROR);
    if (is_outside)
        v->times->where[i] = "beyond the rows of the table";
}

/* Simulates an alternative, or takes the result from the cache. */
static xy_status_t simulate(evaluation_t *v, const adapt_alternative_t *a, int argc, char **argv,
                            xy_simulated_t *s)
{
    const xy_adapt_given_t *g = v->given;
    uint64_t key = adapt_cache_key(g->salt != NULL ? g->salt : "", a->how, argc, argv);
    xy_status_t st;

    if (g->cache != NULL && adapt_cache_find(g->cache, key, s)) {
        v->times->cached++;
        return XY_OK;
    }
    /* The caller's options may be permuted: the key was made before. */
    st = g->simulate(g->arg, a->how, argc, argv, s);
    if (st == XY_OK && !(s->seconds > 0))
        return fail_time(v, a, s->seconds);
    if (st == XY_OK && g->cache != NULL)
        adapt_cache_add(g->cache, key, s);
    return st;
}

/* The next word, without its quotes: what is between two of them is one, blanks included. NULL:
 * there are no more. */
static char *next_word(char **rest_p)
{
    char *from = *rest_p + strspn(*rest_p, " \t"), *word = from, *to = from, quote = '\0';

    if (*from == '\0')
        return NULL;
    for (; *from != '\0' && (quote != '\0' || (*from != ' ' && *from != '\t')); from++)
        if (quote == '\0' && (*from == '"' || *from == '\''))
            quote = *from;
        else if (*from == quote)
            quote = '\0';
        else
            *to++ = *from;
    *rest_p = *from != '\0' ? from + 1 : from;
    *to = '\0';
    return word;
}

/* Expands the formulas of `text` and cuts it into words. */
static xy_status_t cut_words(evaluation_t *v, const char *name, const char *text, long line,
                             int *argc_p, char *argv[WORDS_MAX + 1])
{
    adapt_scope_t s = scope(v, 0);
    char *words, *rest, *word;
    int argc = 0;
    xy_status_t st = adapt_expand(&s, text, line, v->times->words, &words);

    if (st != XY_OK)
        return st;
    for (rest = words; argc < WORDS_MAX && (word = next_word(&rest)) != NULL;)
        argv[argc++] = word;
    argv[argc] = NULL;
    *argc_p = argc;
    if (rest[strspn(rest, " \t")] != '\0')
        return xy_fail_at(XY_ELIMIT, v->problem->path, line, "%s has more than %d words", name,
                          WORDS_MAX);
    return XY_OK;
}

/* Evaluates an alternative by a simulation with its words expanded. */
static xy_status_t evaluate_verb(evaluation_t *v, const adapt_alternative_t *a, size_t i)
{
    char *argv[WORDS_MAX + 1];
    xy_simulated_t answer = {0};
    int argc;
    xy_status_t st;

    if (v->given->simulate == NULL)
        return xy_fail_at(XY_EUNSUPPORTED, v->problem->path, a->line,
                          "%s needs a simulation, which is not possible here", a->name);
    st = cut_words(v, a->name, a->words, a->line, &argc, argv);
    if (st == XY_OK)
        st = simulate(v, a, argc, argv, &answer);
    if (st != XY_OK)
        return st;
    set_time(v, i, answer.seconds, answer.error);
    v->times->where[i] = xy_arena_strndup(v->times->words, answer.where, strlen(answer.where));
    return v->times->where[i] != NULL ? XY_OK : xy_fail_memory("choosing");
}

/* ---- All ---- */

/* Evaluates an alternative; one whose condition is false takes infinitely long. */
static xy_status_t evaluate_one(evaluation_t *v, size_t i)
{
    const adapt_alternative_t *a = &XY_VEC_AT(&v->problem->alternatives, adapt_alternative_t, i);
    adapt_scope_t s = scope(v, 0);
    double is_possible = 1;
    xy_status_t st = a->when != NULL ? adapt_value(&s, a->when, &is_possible) : XY_OK;

    v->times->candidates[i] = (xy_candidate_t){.name = a->name, .error = -1};
    v->times->where[i] = "";
    v->times->how[i] = a->how;
    if (st != XY_OK)
        return st;
    if (is_possible == 0) {
        set_time(v, i, INFINITY, -1);
        v->times->where[i] = xy_formula_text(a->when);
        return XY_OK;
    }
    if (a->how[0] == 'f')
        return evaluate_formula(v, a, i);
    if (a->how[0] != 't')
        return evaluate_verb(v, a, i);
    evaluate_table(v, a, i);
    return XY_OK;
}

/* Creates empty times; *times_p is the caller's to destroy, also on failure once it is set. */
static xy_status_t create(const xy_adapt_t *p, xy_adapt_times_t **times_p)
{
    xy_adapt_times_t *t = xy_calloc(1, sizeof(*t));
    size_t nodes = p->nodes.count > 0 ? p->nodes.count : 1, count = p->alternatives.count;

    if (t == NULL || xy_arena_create(&t->words) != XY_OK) {
        xy_free(t);
        return xy_fail_memory("choosing");
    }
    t->parameter_count = p->parameters.count;
    t->parameters = xy_arena_alloc(t->words, (p->parameters.count + 1) * sizeof(*t->parameters));
    t->count = count;
    t->nodes = nodes;
    t->is_independent = p->is_independent;
    t->candidates = xy_arena_alloc(t->words, count * sizeof(*t->candidates));
    t->seconds = xy_arena_alloc(t->words, count * nodes * sizeof(*t->seconds));
    t->node = xy_arena_alloc(t->words, nodes * sizeof(*t->node));
    t->where = xy_arena_alloc(t->words, count * sizeof(*t->where));
    t->how = xy_arena_alloc(t->words, count * sizeof(*t->how));
    *times_p = t;
    return t->parameters != NULL && t->candidates != NULL && t->seconds != NULL &&
                   t->node != NULL && t->where != NULL && t->how != NULL
               ? XY_OK
               : xy_fail_memory("choosing");
}

xy_status_t xy_adapt_evaluate(const xy_adapt_t *problem, const xy_adapt_given_t *given,
                              xy_adapt_times_t **times_p)
{
    evaluation_t v = {.problem = problem, .given = given};
    xy_status_t st = create(problem, &v.times);

    if (st == XY_OK)
        st = set_parameters(&v);
    for (size_t i = 0; st == XY_OK && i < problem->nodes.count; i++)
        v.times->node[i] = XY_VEC_AT(&problem->nodes, adapt_node_t, i).name;
    for (size_t i = 0; st == XY_OK && i < problem->alternatives.count; i++)
        st = evaluate_one(&v, i);
    if (st == XY_OK)
        *times_p = v.times;
    else
        xy_adapt_times_destroy(v.times);
    return st;
}

xy_status_t xy_adapt_run(const xy_adapt_t *problem, const xy_adapt_given_t *given, size_t i,
                         xy_run_fn run, void *arg)
{
    const adapt_alternative_t *a = &XY_VEC_AT(&problem->alternatives, adapt_alternative_t, i);
    evaluation_t v = {.problem = problem, .given = given};
    char *argv[WORDS_MAX + 1];
    int argc;
    xy_status_t st;

    if (a->run == NULL)
        return xy_fail(XY_EUSAGE, "%s: nothing says how to run %s; add 'run %s program WORD...'",
                       problem->path, a->name, a->name);
    st = create(problem, &v.times);
    if (st == XY_OK)
        st = set_parameters(&v);
    if (st == XY_OK)
        st = cut_words(&v, a->name, a->run, a->run_line, &argc, argv);
    if (st == XY_OK)
        st = run(arg, a->is_program ? "program" : "plugin", argc, argv);
    xy_adapt_times_destroy(v.times);
    return st;
}

void xy_adapt_times_destroy(xy_adapt_times_t *t)
{
    if (t == NULL)
        return;
    xy_arena_destroy(t->words);
    xy_free(t);
}
