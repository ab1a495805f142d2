/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of a formula: parameters, lets, values of the node, models of costs. */
#include <math.h>
#include <string.h>

#include "adapt/adapt_internal.h"

enum { DEPTH_MAX = 50 };

/* ---- Names ---- */

static bool find_parameter(const adapt_scope_t *s, const char *name, double *value_p)
{
    for (size_t i = 0; i < s->problem->parameters.count; i++)
        if (strcmp(XY_VEC_AT(&s->problem->parameters, adapt_parameter_t, i).name, name) == 0) {
            *value_p = s->values[i];
            return true;
        }
    return false;
}

static const xy_formula_t *find_named(const xy_vec_t *list, size_t count, const char *name,
                                      size_t *index_p)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(XY_VEC_AT(list, adapt_named_t, i).name, name) == 0) {
            *index_p = i;
            return XY_VEC_AT(list, adapt_named_t, i).formula;
        }
    return NULL;
}

/* A let sees the lets before it and the node; a value of a node sees the parameters and all lets
 * that do not need it (a circle ends at the depth). */
static bool name_value(void *arg, const char *name, double *value_p, xy_status_t *status_p)
{
    adapt_scope_t *s = arg, inner = *s;
    size_t index = 0;
    const xy_formula_t *f = NULL;

    if (find_parameter(s, name, value_p))
        return true;
    if (s->node != NULL)
        f = find_named(&s->node->values, s->node->values.count, name, &index);
    if (f == NULL) {
        f = find_named(&s->problem->lets, s->lets, name, &index);
        inner.lets = index;
    }
    if (f == NULL || ++inner.depth > DEPTH_MAX)
        return false;
    *status_p = adapt_value(&inner, f, value_p);
    s->error = fmax(s->error, inner.error);
    return true;
}

static const void *start_nodes(void *arg)
{
    return ((const adapt_scope_t *)arg)->node;
}

static bool next_node(void *arg, size_t i)
{
    adapt_scope_t *s = arg;

    if (i >= s->problem->nodes.count)
        return false;
    s->node = &XY_VEC_AT(&s->problem->nodes, adapt_node_t, i);
    return true;
}

static void end_nodes(void *arg, const void *before)
{
    ((adapt_scope_t *)arg)->node = before;
}

/* ---- Models ---- */

/* Evaluates message(BYTES); returns false for another number of arguments, failures go to
 * *status_p. */
static bool message_value(adapt_scope_t *s, const double *args, size_t count, double *value_p,
                          xy_status_t *status_p)
{
    const char *cluster = s->node != NULL ? s->node->cluster : NULL;
    const xy_message_cost_t *m = NULL;
    xy_estimate_t e;

    if (count != 1)
        return false;
    if (s->costs != NULL && cluster != NULL)
        m = xy_costs_message(s->costs, cluster, cluster);
    for (size_t i = 0; s->costs != NULL && m == NULL && i < s->costs->messages.count; i++)
        m = &XY_VEC_AT(&s->costs->messages, xy_message_cost_t, i);
    if (m == NULL || !xy_message_has(&m->model, NULL, XY_MESSAGE_BLOCKING)) {
        *status_p = xy_fail(XY_ENOENT,
                            "%s: no model of messages; run 'xylem calibrate --messages' "
                            "or give --costs FILE",
                            s->problem->path);
        return true;
    }
    e = xy_message_value(&m->model, NULL, XY_MESSAGE_BLOCKING, fmax(args[0], 0));
    s->error = fmax(s->error, m->model.kind[XY_MESSAGE_BLOCKING].error_mean);
    *value_p = e.seconds;
    return true;
}

/* Evaluates a call in a formula by the models of messages and kernels; failures go to *status_p. */
static bool call_value(void *arg, const char *name, const double *args, size_t count,
                       double *value_p, xy_status_t *status_p)
{
    adapt_scope_t *s = arg;
    xy_estimate_t e;
    xy_status_t st;

    if (strcmp(name, "message") == 0)
        return message_value(s, args, count, value_p, status_p);
    st = s->costs != NULL
             ? xy_cost_kernel_value(s->costs, name, s->node != NULL ? s->node->cluster : NULL, args,
                                    count, &e)
             : XY_ENOENT;
    if (st == XY_OK) {
        s->error = fmax(s->error, e.error);
        *value_p = e.seconds;
        return true;
    }
    *status_p =
        xy_fail(st,
                st == XY_ENOENT ? "%s: %s() is not a function of formulas, and no kernel of this "
                                  "name has a model; run 'xylem calibrate' or give --costs FILE"
                                : "%s: %s(): the kernel takes another number of sizes, or one is "
                                  "negative",
                s->problem->path, name);
    return true;
}

xy_status_t adapt_value(adapt_scope_t *s, const xy_formula_t *formula, double *value_p)
{
    xy_formula_names_t names = {.arg = s,
                                .name = name_value,
                                .call = call_value,
                                .each_start = start_nodes,
                                .each = s->problem->nodes.count > 0 ? next_node : NULL,
                                .each_end = end_nodes};

    return xy_formula_value(formula, &names, value_p);
}

/* ---- Words with formulas in braces ---- */

/* Appends the value of a formula in a word of an alternative. */
static xy_status_t expand_one(adapt_scope_t *s, const char *text, size_t length, long line,
                              xy_text_t *out)
{
    char *copy = xy_strndup(text, length), number[32];
    xy_formula_t *f = NULL;
    double v = 0;
    xy_status_t st = copy != NULL ? xy_formula_parse(copy, s->problem->path, line, &f)
                                  : xy_fail_memory("reading a problem");

    if (st == XY_OK)
        st = adapt_value(s, f, &v);
    if (st == XY_OK)
        xy_text_add(out, xy_format_double(v, number));
    xy_formula_destroy(f);
    xy_free(copy);
    return st;
}

xy_status_t adapt_expand(adapt_scope_t *s, const char *text, long line, xy_arena_t *arena,
                         char **text_p)
{
    xy_text_t out = XY_TEXT_INIT;
    xy_status_t st = XY_OK;

    while (st == XY_OK && *text != '\0') {
        size_t plain = strcspn(text, "{"), inside;

        xy_text_add_bytes(&out, text, plain);
        text += plain;
        if (*text == '\0')
            break;
        inside = strcspn(text + 1, "}");
        if (text[1 + inside] == '\0')
            st = xy_fail_at(XY_EPARSE, s->problem->path, line, "missing '}'");
        else
            st = expand_one(s, text + 1, inside, line, &out);
        text += inside + 2;
    }
    if (st == XY_OK) {
        *text_p = xy_arena_strndup(arena, out.s != NULL ? out.s : "", out.length);
        if (*text_p == NULL || out.failed)
            st = xy_fail_memory("reading a problem");
    }
    xy_text_cleanup(&out);
    return st;
}
