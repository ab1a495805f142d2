/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops that the slice drops do the work of the program: each gets the number of passes through it,
 * and a name under which they are costed.
 *
 *   for (i = 0; i < rows; i++)        passes: rows * n * n, named after the innermost loop
 *       for (k = 0; k < n; k++)
 *           for (j = 0; j < n; j++)
 *               c[i * n + j] += a[i * n + k] * b[k * n + j];
 *
 * Where the bounds of an inner loop change in the outer one, the outer one is kept as a loop.
 */
#include <string.h>

#include "program/scan_openmp.h"

static bool is_loop(const scan_stmt_t *s)
{
    return s->kind == SCAN_S_FOR || s->kind == SCAN_S_WHILE || s->kind == SCAN_S_DO;
}

/* ---- Counted loops ----------------------------------------------------------------------- */

typedef struct {
    const scan_decl_t *variable;
    scan_expr_t *from, *to;
    int op;            /* of `variable op to` */
    long long step;    /* 0: not a counted loop */
    scan_expr_t *by;   /* the step when it is no constant: positive */
    scan_expr_t *also; /* `variable op to && also`, or NULL */
} counted_t;

static const scan_decl_t *name_of(const scan_expr_t *e)
{
    e = scan_strip(e);
    return e->kind == SCAN_E_NAME && e->type->kind == SCAN_INT ? e->decl : NULL;
}

/* Returns whether evaluating an expression changes anything but its value. */
static bool has_effect(const scan_expr_t *e)
{
    if (e == NULL)
        return false;
    if (e->kind == SCAN_E_CALL &&
        (e->decl == NULL || (e->decl->body == NULL && !scan_is_library(e->decl->name)) ||
         (e->decl->body != NULL && e->decl->flow->has_effects)))
        return true;
    for (const scan_expr_t *a = e->args; a != NULL; a = a->next)
        if (has_effect(a))
            return true;
    return e->kind == SCAN_E_ASSIGN || e->kind == SCAN_E_STEP || has_effect(e->a) ||
           has_effect(e->b) || has_effect(e->c);
}

/* Returns the comparison with its sides exchanged. */
static int turned(int op)
{
    switch (op) {
    case '<':
        return '>';
    case '>':
        return '<';
    case SCAN_OP_LE:
        return SCAN_OP_GE;
    case SCAN_OP_GE:
        return SCAN_OP_LE;
    default:
        return op;
    }
}

/* Returns the constant step of a loop variable, or 1 with *by_p set for a variable step; 0 if it is
 * not a counting step. */
static long long step_of(const scan_expr_t *e, const scan_decl_t **variable_p, scan_expr_t **by_p)
{
    scan_expr_t *by;

    if (e == NULL || (e->kind != SCAN_E_STEP && e->kind != SCAN_E_ASSIGN))
        return 0;
    *variable_p = name_of(e->a);
    if (e->kind == SCAN_E_STEP)
        return e->op == '+' ? 1 : -1;
    by = (scan_expr_t *)(uintptr_t)scan_strip(e->b);
    if (e->op == 0 && by->kind == SCAN_E_BINARY && (by->op == '+' || by->op == '-') &&
        name_of(by->a) == *variable_p && scan_strip(by->b)->kind == SCAN_E_INT)
        return by->op == '+' ? scan_strip(by->b)->value : -scan_strip(by->b)->value;
    if ((e->op == '+' || e->op == '-') && by->kind == SCAN_E_INT)
        return e->op == '+' ? by->value : -by->value;
    if (e->op == '+' && by->type->kind == SCAN_INT && !has_effect(by)) {
        *by_p = by;
        return 1;
    }
    return 0;
}

/* Returns the initial value of a loop variable, or NULL. */
static scan_expr_t *start_of(const scan_stmt_t *s, const scan_decl_t *variable)
{
    for (const scan_stmt_t *i = s->init; i != NULL; i = i->next) {
        if (i->kind == SCAN_S_DECL && i->decl == variable)
            return i->decl->init;
        for (scan_expr_t *e = i->cond; e != NULL;) {
            scan_expr_t *last = e->kind == SCAN_E_BINARY && e->op == SCAN_OP_COMMA ? e->b : e;

            if (last->kind == SCAN_E_ASSIGN && last->op == 0 && name_of(last->a) == variable)
                return last->b;
            e = last != e ? e->a : NULL;
        }
    }
    return NULL;
}

static bool fits(const counted_t *c, long long step)
{
    return ((c->op == '<' || c->op == SCAN_OP_LE) && step > 0) ||
           ((c->op == '>' || c->op == SCAN_OP_GE) && step < 0) ||
           (c->op == SCAN_OP_NE && (step == 1 || step == -1) && c->by == NULL);
}

/* Can it be evaluated before the loop, once? */
static bool is_steady(xy_scan_t *scan, const scan_expr_t *e, bool is_asked)
{
    return !has_effect(e) && (is_asked || !scan_is_unknowable(scan, e));
}

/* Returns the bounds of a counting for loop; the step is 0 for other loops. Bounds that are not
 * known count with `is_asked`. */
static counted_t counted(xy_scan_t *scan, const scan_stmt_t *s, bool is_asked)
{
    counted_t c = {.step = 0};
    const scan_expr_t *test = s->cond != NULL ? scan_strip(s->cond) : NULL;
    long long step = step_of(s->step, &c.variable, &c.by);
    bool is_left;

    if (s->kind != SCAN_S_FOR || test == NULL || c.variable == NULL)
        return c;
    if (test->kind == SCAN_E_BINARY && test->op == SCAN_OP_AND) {
        c.also = test->b;
        test = scan_strip(test->a);
    }
    if (test->kind != SCAN_E_BINARY)
        return c;
    is_left = name_of(test->a) == c.variable;
    if (!is_left && name_of(test->b) != c.variable)
        return c;
    c.op = is_left ? test->op : turned(test->op);
    c.to = is_left ? test->b : test->a;
    c.from = start_of(s, c.variable);
    if (c.from != NULL && is_steady(scan, c.from, is_asked) && is_steady(scan, c.to, is_asked) &&
        (c.by == NULL || is_steady(scan, c.by, is_asked)) && fits(&c, step))
        c.step = step;
    if (c.also != NULL && !is_steady(scan, c.also, is_asked))
        c.also = NULL; /* at most so many passes */
    return c;
}

static scan_expr_t *make(xy_scan_t *scan, scan_expr_kind_t kind, int op, scan_expr_t *a,
                         scan_expr_t *b)
{
    static const scan_type_t integer = {.kind = SCAN_INT, .bytes = 8};
    scan_expr_t *e = scan_alloc(scan, sizeof(*e));

    e->kind = kind;
    e->op = op;
    e->a = a;
    e->b = b;
    e->type = &integer;
    e->at = a != NULL ? a->at : (scan_place_t){.file = -1};
    return e;
}

static scan_expr_t *number(xy_scan_t *scan, long long value)
{
    static const scan_type_t integer = {.kind = SCAN_INT, .bytes = 4};
    scan_expr_t *e = make(scan, SCAN_E_INT, 0, NULL, NULL);

    e->value = value;
    if (value == (int32_t)value)
        e->type = &integer;
    return e;
}

static scan_expr_t *copy(xy_scan_t *scan, const scan_expr_t *e)
{
    scan_expr_t *c = scan_alloc(scan, sizeof(*c));

    *c = *e;
    c->next = NULL;
    return c;
}

/* high - low + extra, as short as it can be written. */
static scan_expr_t *difference(xy_scan_t *scan, scan_expr_t *high, scan_expr_t *low,
                               long long extra)
{
    if (high->kind == SCAN_E_INT && low->kind == SCAN_E_INT)
        return number(scan, high->value - low->value + extra);
    if (low->kind == SCAN_E_INT) {
        extra -= low->value;
        if (extra == 0)
            return copy(scan, high);
        return make(scan, SCAN_E_BINARY, extra > 0 ? '+' : '-', high,
                    number(scan, extra > 0 ? extra : -extra));
    }
    high = make(scan, SCAN_E_BINARY, '-', high, low);
    return extra == 0 ? high
                      : make(scan, SCAN_E_BINARY, extra > 0 ? '+' : '-', high,
                             number(scan, extra > 0 ? extra : -extra));
}

static bool has_minus(const scan_expr_t *e)
{
    return e != NULL && (((e->kind == SCAN_E_BINARY || e->kind == SCAN_E_UNARY) && e->op == '-') ||
                         has_minus(e->a) || has_minus(e->b) || has_minus(e->c));
}

/* The number of passes, not below 0. */
static scan_expr_t *passes(xy_scan_t *scan, const counted_t *c)
{
    bool is_up = c->step > 0;
    scan_expr_t *from = c->from, *to = c->to, *span, *e;
    long long step = is_up ? c->step : -c->step;
    long long extra = (c->op == SCAN_OP_LE || c->op == SCAN_OP_GE) + step - 1;

    span = is_up ? difference(scan, to, from, extra) : difference(scan, from, to, extra);
    e = step == 1 ? span : make(scan, SCAN_E_BINARY, '/', span, number(scan, step));
    if (c->by != NULL)
        e = make(scan, SCAN_E_BINARY, '/',
                 make(scan, SCAN_E_BINARY, '-', make(scan, SCAN_E_BINARY, '+', span, c->by),
                      number(scan, 1)),
                 c->by);
    if (!has_minus(span))
        return e; /* a size: not below 0 in a program that works */
    e = make(scan, SCAN_E_CHOICE, 0, make(scan, SCAN_E_BINARY, '>', span, number(scan, 0)), e);
    e->c = number(scan, 0);
    return e;
}

scan_expr_t *scan_work_passes(xy_scan_t *scan, const scan_stmt_t *loop, int loops)
{
    scan_expr_t *list = NULL, **end = &list;

    for (int i = 1; i <= loops; i++) {
        const scan_stmt_t *s = scan_openmp_inner(loop, i);
        counted_t c = s != NULL ? counted(scan, s, true) : (counted_t){.step = 0};

        if (c.step == 0)
            return NULL;
        *end = copy(scan, passes(scan, &c));
        end = &(*end)->next;
    }
    return list;
}

/* ---- What changes in a loop -------------------------------------------------------------- */

typedef struct {
    xy_scan_t *scan;
    const scan_access_t *access;
    int depth;
} change_t;

static bool expr_changes(const change_t *c, const scan_expr_t *e);

static bool stmt_changes(const change_t *c, const scan_stmt_t *s)
{
    for (; s != NULL; s = s->next)
        if ((s->cond != NULL && expr_changes(c, s->cond)) ||
            (s->step != NULL && expr_changes(c, s->step)) || stmt_changes(c, s->init) ||
            stmt_changes(c, s->body) || stmt_changes(c, s->other) ||
            (s->decl != NULL && s->decl->init != NULL && expr_changes(c, s->decl->init)))
            return true;
    return false;
}

static bool has_common(const scan_access_t *a, const scan_access_t *b)
{
    for (int i = 0; i < a->count; i++)
        for (int j = 0; j < b->count; j++)
            if (a->ids[i] == b->ids[j])
                return true;
    return false;
}

/* Returns whether an expression may change the locations in question; calls more than 8 deep count
 * as changes. */
static bool expr_changes(const change_t *c, const scan_expr_t *e)
{
    if (e->kind == SCAN_E_ASSIGN || e->kind == SCAN_E_STEP) {
        scan_access_t access = scan_access(c->scan, e->a);

        if (has_common(&access, c->access))
            return true;
    }
    if (e->kind == SCAN_E_CALL && e->decl != NULL && e->decl->body != NULL) {
        change_t deeper = {c->scan, c->access, c->depth + 1};

        if (c->depth > 8 || stmt_changes(&deeper, e->decl->body))
            return true;
    }
    for (const scan_expr_t *a = e->args; a != NULL; a = a->next)
        if (expr_changes(c, a))
            return true;
    return (e->a != NULL && expr_changes(c, e->a)) || (e->b != NULL && expr_changes(c, e->b)) ||
           (e->c != NULL && expr_changes(c, e->c));
}

/* Does the loop change what the expression reads, or declare it? */
static bool is_changed_in(xy_scan_t *scan, const scan_expr_t *e, const scan_stmt_t *loop);

static bool declares(const scan_stmt_t *s, const scan_decl_t *d)
{
    for (; s != NULL; s = s->next)
        if (s->decl == d || declares(s->init, d) || declares(s->body, d) || declares(s->other, d))
            return true;
    return false;
}

/* Returns whether a loop changes a value that expression `e` reads. */
static bool is_changed_in(xy_scan_t *scan, const scan_expr_t *e, const scan_stmt_t *loop)
{
    if (e == NULL)
        return false;
    if (e->kind == SCAN_E_NAME || e->kind == SCAN_E_INDEX || e->kind == SCAN_E_MEMBER ||
        (e->kind == SCAN_E_UNARY && e->op == SCAN_OP_DEREF)) {
        scan_access_t access = scan_access(scan, e);
        change_t c = {scan, &access, 0};

        if (e->kind == SCAN_E_NAME &&
            (declares(loop->body, e->decl) || declares(loop->init, e->decl)))
            return true;
        if ((loop->step != NULL && expr_changes(&c, loop->step)) ||
            (loop->cond != NULL && expr_changes(&c, loop->cond)) || stmt_changes(&c, loop->body))
            return true;
    }
    for (const scan_expr_t *a = e->args; a != NULL; a = a->next)
        if (is_changed_in(scan, a, loop))
            return true;
    return is_changed_in(scan, e->a, loop) || is_changed_in(scan, e->b, loop) ||
           is_changed_in(scan, e->c, loop);
}

/* ---- Nests ------------------------------------------------------------------------------- */

typedef struct {
    xy_scan_t *scan;
    scan_stmt_t *outer;
    const scan_stmt_t *around[16]; /* loops around, outermost first */
    scan_expr_t *factors[16];
    int depth;
    bool is_uneven; /* an inner loop whose bounds change */
    bool has_inner;
} nest_t;

static void nest_loop(nest_t *n, const scan_stmt_t *s);

static void nest_inside(nest_t *n, const scan_stmt_t *s)
{
    for (; s != NULL; s = s->next)
        if (is_loop(s)) {
            n->has_inner = true;
            nest_loop(n, s);
        } else {
            nest_inside(n, s->body);
            nest_inside(n, s->other);
        }
}

/* Appends the loop to the work of the outermost one, with copies of the pass counts around it. */
static void add_work(nest_t *n, const scan_stmt_t *loop)
{
    scan_work_t *w = scan_alloc(n->scan, sizeof(*w)), **end = &n->outer->work;
    scan_expr_t **factor = &w->factors;

    w->loop = loop;
    for (int i = 0; i < n->depth; i++)
        if (n->factors[i] != NULL) {
            *factor = copy(n->scan, n->factors[i]);
            factor = &(*factor)->next;
        }
    while (*end != NULL)
        end = &(*end)->next;
    *end = w;
}

/* Adds a loop and those inside it to the nest; marks the nest uneven if its bounds change in outer
 * loops. */
static void nest_loop(nest_t *n, const scan_stmt_t *s)
{
    counted_t c = counted(n->scan, s, false);
    bool had_inner = n->has_inner;

    if (n->depth == 16) {
        n->is_uneven = true;
        return;
    }
    for (int i = 0; i < n->depth && c.step != 0; i++)
        n->is_uneven |= is_changed_in(n->scan, c.from, n->around[i]) ||
                        is_changed_in(n->scan, c.to, n->around[i]) ||
                        is_changed_in(n->scan, c.by, n->around[i]) ||
                        is_changed_in(n->scan, c.also, n->around[i]);
    /* A bound that the loop itself changes is not one. */
    if (c.step != 0 && (is_changed_in(n->scan, c.to, s) || is_changed_in(n->scan, c.by, s)))
        c.step = 0;
    if (c.also != NULL && is_changed_in(n->scan, c.also, s))
        c.also = NULL;
    n->around[n->depth] = s;
    n->factors[n->depth] = c.step != 0 ? passes(n->scan, &c) : NULL;
    if (c.step != 0 && c.also != NULL) {
        scan_expr_t *e = make(n->scan, SCAN_E_CHOICE, 0, c.also, n->factors[n->depth]);

        e->c = number(n->scan, 0);
        n->factors[n->depth] = e;
    }
    n->depth++;
    n->has_inner = false;
    if (c.step != 0)
        nest_inside(n, s->body);
    if (!n->has_inner)
        add_work(n, s);
    n->has_inner |= had_inner;
    n->depth--;
}

/* Loops that were not kept, outermost first. */
static bool find_in(xy_scan_t *scan, scan_stmt_t *s)
{
    bool has_changed = false;

    for (; s != NULL; s = s->next) {
        nest_t n = {.scan = scan, .outer = s};

        if (s->is_failure) {
            has_changed |= find_in(scan, s->other);
            continue;
        }
        if (!is_loop(s) || s->is_kept) {
            has_changed |= find_in(scan, s->body);
            has_changed |= find_in(scan, s->other);
            continue;
        }
        if (s->work != NULL)
            continue;
        nest_loop(&n, s);
        if (n.is_uneven) {
            s->work = NULL;
            s->is_forced = true;
        }
        has_changed = true;
    }
    return has_changed;
}

bool scan_work_find(xy_scan_t *scan)
{
    bool has_changed = false;

    for (scan_decl_t *f = scan->functions; f != NULL; f = f->next)
        if (f->flow->is_reached && !scan_is_kernel(scan, f))
            has_changed |= find_in(scan, f->body);
    return has_changed;
}
