/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pointers to functions. A pointer is the number of a function whose address is taken somewhere,
 * and a call through it chooses among those that take such arguments:
 *
 *   phase[i](n, comm);     phase[i] == 1 ? f(n, comm) : phase[i] == 2 ? g(n, comm) : 0;
 *
 * A pointer with an effect is evaluated once, into a variable of the function around. So the slice
 * follows pointers like any other number that steers.
 */
#include "program/scan_slice.h"

static const scan_type_t code = {
    .kind = SCAN_INT, .bytes = 8, .align = 8, .is_code = true, .is_const = true};

void scan_take_function(xy_scan_t *scan, scan_expr_t *name)
{
    size_t i = 0;

    while (i < scan->taken.count && XY_VEC_AT(&scan->taken, scan_decl_t *, i) != name->decl)
        i++;
    if (i == scan->taken.count && xy_vec_append(&scan->taken, &name->decl) != XY_OK)
        scan_leave(scan, xy_fail_memory("reading C"));
    name->kind = SCAN_E_INT;
    name->type = &code;
    name->value = (long long)i + 1;
}

static bool is_same(const scan_type_t *a, const scan_type_t *b)
{
    return a->kind == b->kind && a->bytes == b->bytes && a->record == b->record;
}

/* May the function be called so? */
static bool takes(const scan_decl_t *f, const scan_expr_t *call)
{
    const scan_decl_t *p = f->params;
    const scan_expr_t *a = call->args;

    for (; p != NULL && a != NULL; p = p->next, a = a->next)
        if (p->type->kind == SCAN_STRUCT ? !is_same(p->type, a->type)
                                         : a->type->kind == SCAN_STRUCT)
            return false;
    return p == NULL && a == NULL && is_same(f->result, call->type);
}

bool scan_has_effect(const scan_expr_t *e)
{
    if (e == NULL)
        return false;
    return e->kind == SCAN_E_ASSIGN || e->kind == SCAN_E_STEP || e->kind == SCAN_E_CALL ||
           e->kind == SCAN_E_OTHER || scan_has_effect(e->a) || scan_has_effect(e->b) ||
           scan_has_effect(e->c);
}

static scan_expr_t *made(xy_scan_t *scan, const scan_expr_t *from, scan_expr_kind_t kind)
{
    scan_expr_t *e = scan_alloc(scan, sizeof(*e));

    e->kind = kind;
    e->at = from->at;
    e->type = from->type;
    return e;
}

/* `pointer == number ? f(args) : other`; f(args) where there is no other. */
static scan_expr_t *choice(xy_scan_t *scan, const scan_expr_t *call, size_t number,
                           scan_expr_t *other)
{
    static const scan_type_t truth = {.kind = SCAN_INT, .bytes = 4, .align = 4};
    scan_expr_t *e = made(scan, call, SCAN_E_CHOICE), *test = made(scan, call, SCAN_E_BINARY);

    test->type = &truth;
    test->op = SCAN_OP_EQ;
    test->a = call->a;
    test->b = made(scan, call->a, SCAN_E_INT);
    test->b->value = (long long)number + 1;
    e->a = test;
    e->b = made(scan, call, SCAN_E_CALL);
    e->b->decl = XY_VEC_AT(&scan->taken, scan_decl_t *, number);
    e->b->args = call->args;
    e->c = other;
    return other != NULL ? e : e->b;
}

/* A variable at the beginning of the function, which gets the pointer of the call. */
static scan_expr_t *stored(xy_scan_t *scan, scan_decl_t *function, scan_expr_t *call)
{
    scan_decl_t *d = scan_alloc(scan, sizeof(*d));
    scan_stmt_t *s = scan_alloc(scan, sizeof(*s));
    scan_expr_t *assign = made(scan, call->a, SCAN_E_ASSIGN);
    char name[64];

    snprintf(name, sizeof(name), "function_%ld_%d", call->at.line, ++scan->literal_count);
    *d = (scan_decl_t){.name = scan_copy(scan, name), .type = &code, .at = function->at};
    *s = (scan_stmt_t){
        .kind = SCAN_S_DECL, .decl = d, .at = function->at, .next = function->body->body};
    function->body->body = s;
    assign->a = made(scan, call->a, SCAN_E_NAME);
    assign->a->decl = d;
    assign->a->type = assign->type = d->type;
    assign->b = call->a;
    call->a = assign->a;
    return assign;
}

/* `first, second` */
static scan_expr_t *sequence(xy_scan_t *scan, scan_expr_t *first, scan_expr_t *second)
{
    scan_expr_t *e = made(scan, second, SCAN_E_BINARY);

    e->op = SCAN_OP_COMMA;
    e->a = first;
    e->b = second;
    return e;
}

/* Replaces a call through a pointer by a choice among the functions of its type; calls with no
 * candidate stay. */
static void resolve(xy_scan_t *scan, scan_decl_t *function, scan_expr_t *call)
{
    scan_expr_t *next = call->next, *chosen = NULL, *first = NULL;
    size_t found = 0, last = 0;

    for (size_t i = scan->taken.count; i-- > 0;)
        if (takes(XY_VEC_AT(&scan->taken, scan_decl_t *, i), call)) {
            found++;
            last = i;
        }
    if (found > 0 && scan_has_effect(call->a))
        first = stored(scan, function, call);
    if (found == 1 && first == NULL) {
        call->decl = XY_VEC_AT(&scan->taken, scan_decl_t *, last);
        call->a = NULL;
        return;
    }
    if (found == 0)
        return;                          /* refused where it matters */
    if (call->type->kind != SCAN_STRUCT) /* a struct has no value for a pointer to none */
        chosen = made(scan, call, SCAN_E_INT);
    for (size_t i = scan->taken.count; i-- > 0;)
        if (takes(XY_VEC_AT(&scan->taken, scan_decl_t *, i), call))
            chosen = choice(scan, call, i, chosen);
    *call = first != NULL ? *sequence(scan, first, chosen) : *chosen;
    call->next = next;
}

static void look_expr(xy_scan_t *scan, scan_decl_t *function, scan_expr_t *e)
{
    for (; e != NULL; e = e->next) {
        look_expr(scan, function, e->a);
        look_expr(scan, function, e->b);
        look_expr(scan, function, e->c);
        look_expr(scan, function, e->args);
        if (e->kind == SCAN_E_CALL && e->decl == NULL)
            resolve(scan, function, e);
    }
}

/* Resolves the calls through pointers in a list of statements. */
static void look_stmt(xy_scan_t *scan, scan_decl_t *function, scan_stmt_t *s)
{
    for (; s != NULL; s = s->next) {
        look_expr(scan, function, s->cond);
        look_expr(scan, function, s->step);
        if (s->decl != NULL) {
            look_expr(scan, function, s->decl->init);
            look_expr(scan, function, s->decl->dims);
        }
        look_stmt(scan, function, s->init);
        look_stmt(scan, function, s->body);
        look_stmt(scan, function, s->other);
    }
}

void scan_pointer_calls(xy_scan_t *scan)
{
    for (scan_decl_t *f = scan->functions; f != NULL; f = f->next)
        look_stmt(scan, f, f->body);
}
