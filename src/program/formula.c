/* SPDX-License-Identifier: BSD-3-Clause */
/* Formulas: the trees of expr.h, walked with real numbers. */
#include "program/formula.h"

#include <math.h>
#include <string.h>

#include "program/expr.h"

struct xy_formula {
    xy_arena_t *arena;
    types_t types;
    const char *text;
    place_t place;
    expr_t *root;
};

enum { NAME_MAX_LENGTH = 128 };

/* ---- What a formula may have ---- */

static xy_status_t fail(const xy_formula_t *f, const char *what, const expr_t *e)
{
    return xy_fail_at(XY_EPARSE, f->place.file, f->place.line, "%s%s%.*s%s in the formula '%s'",
                      what, e->text != NULL ? " '" : "",
                      e->text != NULL && e->length < NAME_MAX_LENGTH ? (int)e->length : 0,
                      e->text != NULL ? e->text : "", e->text != NULL ? "'" : "", f->text);
}

/* Returns whether formulas have this kind of expression. */
static bool is_known(const expr_t *e)
{
    switch (e->kind) {
    case EXPR_INTEGER:
    case EXPR_REAL:
    case EXPR_NAME:
    case EXPR_CALL:
    case EXPR_MINUS:
    case EXPR_PLUS:
    case EXPR_NOT:
    case EXPR_AND:
    case EXPR_OR:
    case EXPR_CHOOSE:
        return true;
    case EXPR_BINARY:
        return e->op <= OPERATOR_SUBTRACT ||
               (e->op >= OPERATOR_LESS && e->op <= OPERATOR_NOT_EQUAL);
    default:
        return false;
    }
}

/* Checks a formula recursively: known operations, short names, few arguments. */
static xy_status_t check(const xy_formula_t *f, const expr_t *e)
{
    const expr_t *parts[] = {e->a, e->kind == EXPR_CALL ? NULL : e->b, e->c};
    xy_status_t st = XY_OK;
    int count = 0;

    if (!is_known(e))
        return fail(f, "an operation that formulas do not have", e);
    if ((e->kind == EXPR_NAME || e->kind == EXPR_CALL) && e->length >= NAME_MAX_LENGTH)
        return fail(f, "a name that is too long", e);
    if (e->kind == EXPR_CALL) {
        for (const expr_t *arg = e->a; st == XY_OK && arg != NULL; arg = arg->next, count++)
            st = count < XY_FORMULA_ARGS_MAX ? check(f, arg) : fail(f, "too many arguments of", e);
        return st;
    }
    for (int i = 0; st == XY_OK && i < 3; i++)
        if (parts[i] != NULL)
            st = check(f, parts[i]);
    return st;
}

xy_status_t xy_formula_parse(const char *text, const char *file, long line,
                             xy_formula_t **formula_p)
{
    xy_formula_t *f = xy_calloc(1, sizeof(*f));
    xy_status_t st = f != NULL ? xy_arena_create(&f->arena) : XY_ENOMEM;

    if (st == XY_OK)
        st = types_init(&f->types, f->arena);
    if (st == XY_OK) {
        f->text = xy_arena_strndup(f->arena, text, strlen(text));
        f->place.file = xy_arena_strndup(f->arena, file, strlen(file));
        f->place.line = line;
        st = f->text != NULL && f->place.file != NULL ? XY_OK : XY_ENOMEM;
    }
    if (st != XY_OK) {
        xy_formula_destroy(f);
        return xy_fail_memory("reading a formula");
    }
    st = expr_parse(&f->types, f->text, f->place, &f->root);
    if (st == XY_OK)
        st = check(f, f->root);
    if (st == XY_OK)
        *formula_p = f;
    else
        xy_formula_destroy(f);
    return st;
}

void xy_formula_destroy(xy_formula_t *f)
{
    if (f == NULL)
        return;
    if (f->types.arena != NULL)
        types_cleanup(&f->types);
    xy_arena_destroy(f->arena);
    xy_free(f);
}

const char *xy_formula_text(const xy_formula_t *f)
{
    return f->text;
}

/* ---- Values ---- */

typedef struct {
    const xy_formula_t *formula;
    const xy_formula_names_t *names;
    xy_status_t status; /* the first failure, which has been said */
} walk_t;

static double value(walk_t *w, const expr_t *e);

static double fail_value(walk_t *w, const char *what, const expr_t *e)
{
    if (w->status == XY_OK) {
        fail(w->formula, what, e);
        w->status = XY_EINVAL;
    }
    return 0;
}

static double value_name(walk_t *w, const expr_t *e)
{
    char name[NAME_MAX_LENGTH];
    double v = 0;

    snprintf(name, sizeof(name), "%.*s", (int)e->length, e->text);
    if (w->names->name(w->names->arg, name, &v, &w->status))
        return v;
    return strcmp(name, "infinity") == 0 ? INFINITY : fail_value(w, "there is no", e);
}

/* ---- Functions ---- */

static double do_min(const double *x)
{
    return fmin(x[0], x[1]);
}
static double do_max(const double *x)
{
    return fmax(x[0], x[1]);
}
static double do_pow(const double *x)
{
    return pow(x[0], x[1]);
}
static double do_floor(const double *x)
{
    return floor(x[0]);
}
static double do_ceil(const double *x)
{
    return ceil(x[0]);
}
static double do_round(const double *x)
{
    return round(x[0]);
}
static double do_abs(const double *x)
{
    return fabs(x[0]);
}
static double do_sqrt(const double *x)
{
    return sqrt(x[0]);
}
static double do_cbrt(const double *x)
{
    return cbrt(x[0]);
}
static double do_log(const double *x)
{
    return log(x[0]);
}
static double do_log2(const double *x)
{
    return log2(x[0]);
}
static double do_exp(const double *x)
{
    return exp(x[0]);
}

static const struct {
    const char *name;
    size_t count;
    double (*of)(const double *x);
} functions[] = {
    {"min", 2, do_min},   {"max", 2, do_max},     {"pow", 2, do_pow},   {"floor", 1, do_floor},
    {"ceil", 1, do_ceil}, {"round", 1, do_round}, {"abs", 1, do_abs},   {"sqrt", 1, do_sqrt},
    {"cbrt", 1, do_cbrt}, {"log", 1, do_log},     {"log2", 1, do_log2}, {"exp", 1, do_exp},
};

/* sum(x), most(x), least(x): over all that `each` has. */
static bool value_over(walk_t *w, const expr_t *e, const char *name, double *value_p)
{
    const xy_formula_names_t *n = w->names;
    bool is_sum = strcmp(name, "sum") == 0, is_most = strcmp(name, "most") == 0;
    double result = is_sum ? 0 : is_most ? -INFINITY : INFINITY;
    const void *before;

    if (n->each == NULL || (!is_sum && !is_most && strcmp(name, "least") != 0))
        return false;
    if (e->a == NULL || e->a->next != NULL) {
        fail_value(w, "one argument is expected by", e);
        return true;
    }
    before = n->each_start(n->arg);
    for (size_t i = 0; w->status == XY_OK && n->each(n->arg, i); i++) {
        double v = value(w, e->a);

        result = is_sum ? result + v : is_most ? fmax(result, v) : fmin(result, v);
    }
    n->each_end(n->arg, before);
    *value_p = result;
    return true;
}

/* Returns the value of a call: sum, most or least over all items, a function of the table, or one
 * of the caller. */
static double value_call(walk_t *w, const expr_t *e)
{
    char name[NAME_MAX_LENGTH];
    double x[XY_FORMULA_ARGS_MAX], v = 0;
    size_t count = 0;

    snprintf(name, sizeof(name), "%.*s", (int)e->length, e->text);
    if (value_over(w, e, name, &v))
        return v;
    for (const expr_t *arg = e->a; arg != NULL && w->status == XY_OK; arg = arg->next)
        x[count++] = value(w, arg);
    if (w->status != XY_OK)
        return 0;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (strcmp(functions[i].name, name) == 0)
            return functions[i].count == count ? functions[i].of(x)
                                               : fail_value(w, "a wrong number of arguments of", e);
    return w->names->call(w->names->arg, name, x, count, &v, &w->status)
               ? v
               : fail_value(w, "there is no function", e);
}

/* ---- Operators ---- */

/* Returns the value of an operator applied to two numbers. */
static double value_binary(operator_t op, double a, double b)
{
    switch (op) {
    case OPERATOR_MULTIPLY:
        return a * b;
    case OPERATOR_DIVIDE:
        return a / b;
    case OPERATOR_MODULO:
        return fmod(a, b);
    case OPERATOR_ADD:
        return a + b;
    case OPERATOR_SUBTRACT:
        return a - b;
    case OPERATOR_LESS:
        return a < b;
    case OPERATOR_LESS_EQUAL:
        return a <= b;
    case OPERATOR_GREATER:
        return a > b;
    case OPERATOR_GREATER_EQUAL:
        return a >= b;
    case OPERATOR_EQUAL:
        return a == b;
    default:
        return a != b;
    }
}

/* Returns the value of an expression, 0 after a failure in `w->status`. */
static double value(walk_t *w, const expr_t *e)
{
    if (w->status != XY_OK)
        return 0;
    switch (e->kind) {
    case EXPR_INTEGER:
        return (double)e->integer;
    case EXPR_REAL:
        return e->real;
    case EXPR_NAME:
        return value_name(w, e);
    case EXPR_CALL:
        return value_call(w, e);
    case EXPR_MINUS:
        return -value(w, e->a);
    case EXPR_PLUS:
        return value(w, e->a);
    case EXPR_NOT:
        return value(w, e->a) == 0;
    case EXPR_AND:
        return value(w, e->a) != 0 && value(w, e->b) != 0;
    case EXPR_OR:
        return value(w, e->a) != 0 || value(w, e->b) != 0;
    case EXPR_CHOOSE:
        return value(w, value(w, e->a) != 0 ? e->b : e->c);
    default:
        return value_binary(e->op, value(w, e->a), value(w, e->b));
    }
}

xy_status_t xy_formula_value(const xy_formula_t *f, const xy_formula_names_t *names,
                             double *value_p)
{
    walk_t w = {.formula = f, .names = names};
    double v = value(&w, f->root);

    if (w.status == XY_OK && isnan(v))
        w.status = xy_fail_at(XY_EINVAL, f->place.file, f->place.line,
                              "the value of the formula '%s' is not a number", f->text);
    if (w.status == XY_OK)
        *value_p = v;
    return w.status;
}
