/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements for statements, functions and variables. */
#include "program/scan_emit.h"
#include "program/scan_openmp.h"

#include <string.h>

static const scan_type_t integer = {.kind = SCAN_INT, .bytes = 4};

static void set(scan_emit_t *t, xy_node_t *node, const char *name, const char *value)
{
    xy_program_set(t->scan->program, node, name, value);
}

static void emit_stmts(scan_emit_t *t, scan_stmt_t *s);

static void emit_inside(scan_emit_t *t, xy_node_t *node, scan_stmt_t *s)
{
    xy_node_t *at = t->at;

    t->at = node;
    if (s != NULL && s->kind == SCAN_S_BLOCK && s->next == NULL)
        s = s->body;
    emit_stmts(t, s);
    t->at = at;
}

static const char *negated(xy_scan_t *scan, const scan_expr_t *e)
{
    const char *c = scan_print(scan, e);
    size_t length = strlen(c) + 4;
    char *text = scan_alloc(scan, length);

    snprintf(text, length, "!(%s)", c);
    return text;
}

/* Take away the element that was added last, if nothing is in it. */
static void drop_if_empty(xy_node_t *node)
{
    xy_node_t *n;

    if (node == NULL || node->child != NULL)
        return;
    n = node->parent->child;
    if (n == node) {
        node->parent->child = node->parent->last = NULL;
        return;
    }
    while (n->next != node)
        n = n->next;
    n->next = NULL;
    node->parent->last = n;
}

/* ---- Variables --------------------------------------------------------------------------- */

static bool is_plain_list(const scan_type_t *type)
{
    while (type->kind == SCAN_ARRAY)
        type = type->of;
    return type->kind != SCAN_STRUCT;
}

static scan_expr_t *made(xy_scan_t *scan, scan_expr_kind_t kind, scan_expr_t *a,
                         const scan_type_t *type)
{
    scan_expr_t *e = scan_alloc(scan, sizeof(*e));

    e->kind = kind;
    e->a = a;
    e->at = a->at;
    e->type = type;
    return e;
}

static scan_expr_t *name_expr(xy_scan_t *scan, scan_decl_t *d)
{
    scan_expr_t *e = made(scan, SCAN_E_NAME, d->init, d->type);

    e->a = NULL;
    e->decl = d;
    return e;
}

static const scan_field_t *find_field(const scan_record_t *record, const char *name)
{
    const scan_field_t *f = record->fields;

    while (f != NULL && strcmp(f->name, name) != 0)
        f = f->next;
    return f;
}

/* The text that an array of characters begins with; the rest of it is clear. */
static void emit_text(scan_emit_t *t, scan_expr_t *target, scan_expr_t *text)
{
    const char *to = scan_print(t->scan, target), *from = scan_print(t->scan, text);
    size_t length = strlen(to) + strlen(from) + 48;
    char *copy = scan_alloc(t->scan, length);

    if (strstr(from, "\\0") != NULL || strstr(from, "\\x") != NULL)
        scan_fail(t->scan, XY_EUNSUPPORTED, text->at,
                  "a text with bytes as numbers in a member: it is not followed");
    snprintf(copy, length, "strncpy(%s, %s, %ld)", to, from, target->type->count);
    set(t, scan_emit_add(t, XY_NODE_DO, text->at), "c", copy);
}

/* Members of a struct get their values one by one: those that nothing needs are not there. */
void scan_emit_members(scan_emit_t *t, scan_expr_t *target, scan_expr_t *value)
{
    const scan_field_t *f;
    scan_expr_t *e;
    long long i = 0;

    if (value->kind == SCAN_E_STRING && target->type->kind == SCAN_ARRAY) {
        emit_text(t, target, value);
        return;
    }
    if (value->kind != SCAN_E_LIST) {
        e = made(t->scan, SCAN_E_ASSIGN, target, target->type);
        e->b = value;
        scan_emit_before(t, value);
        set(t, scan_emit_add(t, XY_NODE_DO, value->at), "c", scan_print(t->scan, e));
        return;
    }
    f = target->type->kind == SCAN_STRUCT ? target->type->record->fields : NULL;
    for (scan_expr_t *v = value->args; v != NULL; v = v->next, i++) {
        i = v->has_place ? v->place : i;
        if (target->type->kind == SCAN_STRUCT) {
            if (v->field != NULL)
                f = find_field(target->type->record, v->field);
            if (f == NULL)
                return;
            e = made(t->scan, SCAN_E_MEMBER, target, f->type);
            e->text = f->name;
            if (f->is_named || target->type->record->is_whole)
                scan_emit_members(t, e, v);
            f = f->next;
        } else if (target->type->kind == SCAN_ARRAY) {
            e = made(t->scan, SCAN_E_INDEX, target, target->type->of);
            e->b = made(t->scan, SCAN_E_INT, target, target->type->of);
            e->b->a = NULL;
            e->b->type = &integer;
            e->b->value = i;
            scan_emit_members(t, e, v);
        }
    }
}

static void clear(scan_emit_t *t, const scan_decl_t *d)
{
    const char *name = d->emitted != NULL ? d->emitted : d->name;
    size_t length = 2 * strlen(name) + 32;
    char *text = scan_alloc(t->scan, length);

    snprintf(text, length, "memset(&%s, 0, sizeof(%s))", name, name);
    set(t, scan_emit_add(t, XY_NODE_DO, d->at), "c", text);
}

/* Emits a variable with its initial value, or as an unknown value if it cannot be computed. */
static void emit_variable(scan_emit_t *t, scan_decl_t *d, scan_place_t at, bool has_value)
{
    xy_node_t *node;

    if (has_value && d->init->is_unknown)
        scan_emit_effects(t, d->init);
    else if (has_value && is_plain_list(d->type))
        scan_emit_before(t, d->init);
    node = scan_emit_add(t, XY_NODE_VARIABLE, at);
    set(t, node, "name", d->emitted != NULL ? d->emitted : d->name);
    set(t, node, "type", scan_print_type(t->scan, d->type, d->dims));
    if (!has_value)
        return;
    if (d->init->is_unknown) {
        scan_emit_unknown(t, d->emitted != NULL ? d->emitted : d->name,
                          scan_reason(t->scan, d->init), d->init->at);
    } else if (scan_is_data_memory(d->type, d->init)) {
        set(t, node, "value", "malloc(1)");
    } else if (d->init->kind != SCAN_E_LIST || is_plain_list(d->type)) {
        set(t, node, "value", scan_print(t->scan, d->init));
    } else if (t->function != NULL) {
        clear(t, d); /* members without a value */
        scan_emit_members(t, name_expr(t->scan, d), d->init);
    }
}

/* Static variables of functions live outside of them, under a name of their own. */
static void note_static(scan_emit_t *t, scan_decl_t *d)
{
    scan_decl_t **end;
    char buffer[256];

    if (d->emitted != NULL)
        return;
    snprintf(buffer, sizeof(buffer), "%s_%s_%ld", t->function->name, d->name, d->id);
    d->emitted = scan_copy(t->scan, buffer);
    for (end = &t->scan->globals; *end != NULL;)
        end = &(*end)->next;
    *end = d; /* behind those that its value may name */
    d->next = NULL;
}

static void emit_decl(scan_emit_t *t, scan_stmt_t *s)
{
    scan_decl_t *d = s->decl;

    if (d->is_static)
        note_static(t, d);
    else if (d->is_named && !d->is_extern)
        emit_variable(t, d, s->at, s->is_kept && d->init != NULL);
    else if (d->init != NULL)
        scan_emit_effects(t, d->init);
}

/* ---- Control ----------------------------------------------------------------------------- */

/* Effects of what is assumed to be false: `a || b` has looked at both. */
static void emit_false(scan_emit_t *t, scan_expr_t *e)
{
    if (e->kind != SCAN_E_BINARY || e->op != SCAN_OP_OR) {
        scan_emit_effects(t, e);
        return;
    }
    emit_false(t, e->a);
    emit_false(t, e->b);
}

/* Emits an if statement; of a test for failure only the effects and the other branch remain. */
static void emit_if(scan_emit_t *t, scan_stmt_t *s)
{
    xy_node_t *node;

    if (s->is_failure) {
        emit_false(t, s->cond);
        if (s->other != NULL)
            emit_inside(t, t->at, s->other);
        return;
    }
    if (!s->is_kept) {
        scan_emit_effects(t, s->cond);
        return;
    }
    scan_emit_before(t, s->cond);
    node = scan_emit_add(t, XY_NODE_IF, s->at);
    set(t, node, "c", scan_print(t->scan, s->cond));
    emit_inside(t, node, s->body);
    if (s->other != NULL) {
        xy_node_t *at = t->at, *other;

        t->at = node;
        other = scan_emit_add(t, XY_NODE_ELSE, s->other->at);
        t->at = at;
        emit_inside(t, other, s->other);
        drop_if_empty(other);
    }
}

/* Unknown values that a dropped loop computes are set once. */
static void emit_loop_unknowns(scan_emit_t *t, scan_stmt_t *s);

/* Emits the kept assignments and calls inside an expression. */
static void expr_unknowns(scan_emit_t *t, scan_expr_t *e)
{
    if (e == NULL)
        return;
    if ((e->kind == SCAN_E_ASSIGN && e->is_kept) ||
        (e->kind == SCAN_E_CALL && e->is_kept && (e->decl == NULL || e->decl->body == NULL))) {
        scan_emit_effects(t, e);
        return;
    }
    expr_unknowns(t, e->a);
    expr_unknowns(t, e->b);
    expr_unknowns(t, e->c);
    for (scan_expr_t *a = e->args; a != NULL; a = a->next)
        expr_unknowns(t, a);
}

static void emit_loop_unknowns(scan_emit_t *t, scan_stmt_t *s)
{
    for (; s != NULL; s = s->next) {
        expr_unknowns(t, s->cond);
        expr_unknowns(t, s->step);
        emit_loop_unknowns(t, s->body);
        emit_loop_unknowns(t, s->other);
    }
}

static void emit_work(scan_emit_t *t, const scan_work_t *w)
{
    const char *path = scan_file_name(t->scan, w->loop->at.file);
    const char *name = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
    xy_node_t *node = scan_emit_add(t, XY_NODE_COMPUTE, w->loop->at);
    char buffer[320];

    snprintf(buffer, sizeof(buffer), "%s:%ld", name, w->loop->at.line);
    set(t, node, "name", buffer);
    set(t, node, "count", scan_print_product(t->scan, w->factors));
}

static bool has_continue(const scan_stmt_t *s)
{
    for (; s != NULL; s = s->next)
        if ((s->kind == SCAN_S_CONTINUE && s->is_kept) ||
            (s->kind != SCAN_S_FOR && s->kind != SCAN_S_WHILE && s->kind != SCAN_S_DO &&
             (has_continue(s->body) || has_continue(s->other))))
            return true;
    return false;
}

/* `if (!test) break;` where the test needs elements of its own. */
static void emit_leave(scan_emit_t *t, xy_node_t *loop, scan_expr_t *test)
{
    xy_node_t *at = t->at, *node;

    t->at = loop;
    scan_emit_before(t, test);
    node = scan_emit_add(t, XY_NODE_IF, test->at);
    set(t, node, "c", negated(t->scan, test));
    t->at = node;
    scan_emit_add(t, XY_NODE_BREAK, test->at);
    t->at = at;
}

/* The start of a for loop as text; what is no single expression comes before the loop. */
static const char *emit_start(scan_emit_t *t, scan_stmt_t *init)
{
    scan_decl_t *d;
    const char *type, *value;
    size_t length;
    char *text;

    if (init == NULL)
        return NULL;
    d = init->decl;
    if (init->kind == SCAN_S_EXPR && init->cond->kind == SCAN_E_ASSIGN && init->cond->is_kept &&
        !scan_has_before(t->scan, init->cond))
        return scan_print(t->scan, init->cond);
    if (init->kind != SCAN_S_DECL || init->next != NULL || d->type->kind != SCAN_INT ||
        !init->is_kept || d->init == NULL || scan_has_before(t->scan, d->init)) {
        emit_stmts(t, init);
        return NULL;
    }
    d->is_named = true;
    type = scan_print_type(t->scan, d->type, NULL);
    value = scan_print(t->scan, d->init);
    length = strlen(type) + strlen(d->name) + strlen(value) + 8;
    text = scan_alloc(t->scan, length);
    snprintf(text, length, "%s %s = %s", type, d->name, value);
    return text;
}

/* The kept ones of `i++, p++`. */
static const char *kept_step(scan_emit_t *t, scan_expr_t *e)
{
    const char *a, *b;
    size_t length;
    char *text;

    if (e->kind != SCAN_E_BINARY || e->op != SCAN_OP_COMMA) {
        if (scan_has_before(t->scan, e))
            scan_fail(t->scan, XY_EINVAL, e->at,
                      "the step of this loop calls MPI or is not known: move it into the body");
        return e->is_kept ? scan_print(t->scan, e) : NULL;
    }
    a = kept_step(t, e->a);
    b = kept_step(t, e->b);
    if (a == NULL || b == NULL)
        return a != NULL ? a : b;
    length = strlen(a) + strlen(b) + 3;
    text = scan_alloc(t->scan, length);
    snprintf(text, length, "%s, %s", a, b);
    return text;
}

/* An element of OpenMP inside of `node`: what a team begins or ends. */
static void emit_mark(scan_emit_t *t, xy_node_t *node, scan_place_t at, const char *name,
                      const char *sizes)
{
    xy_node_t *before = t->at, *mark;

    t->at = node;
    mark = scan_emit_add(t, XY_NODE_TEAM, at);
    set(t, mark, "name", name);
    set(t, mark, "sizes", sizes);
    t->at = before;
}

/* A declaration in front of the loop needs a block around both. */
static void emit_kept_loop(scan_emit_t *t, scan_stmt_t *s)
{
    static const xy_node_kind_t kinds[] = {
        [SCAN_S_FOR] = XY_NODE_FOR, [SCAN_S_WHILE] = XY_NODE_WHILE, [SCAN_S_DO] = XY_NODE_REPEAT};
    bool is_split = s->cond != NULL && scan_has_before(t->scan, s->cond);
    const char *test = s->cond == NULL || is_split ? "1" : scan_print(t->scan, s->cond);
    xy_node_t *at = t->at, *node;
    const char *start;

    if (s->init != NULL && s->init->kind == SCAN_S_DECL && s->init->next != NULL)
        t->at = scan_emit_add(t, XY_NODE_BLOCK, s->at);
    start = emit_start(t, s->init);
    node = scan_emit_add(t, kinds[s->kind], s->at);
    if (s->kind == SCAN_S_FOR) {
        set(t, node, "start", start);
        set(t, node, "test", strcmp(test, "1") != 0 ? test : NULL);
    } else {
        set(t, node, "c", test);
    }
    if (s->step != NULL)
        set(t, node, "step", kept_step(t, s->step));
    if (s == t->pass_loop)
        emit_mark(t, node, s->at, "pass", NULL);
    if (is_split && s->kind != SCAN_S_DO)
        emit_leave(t, node, s->cond);
    emit_inside(t, node, s->body);
    if (is_split && s->kind == SCAN_S_DO) {
        if (has_continue(s->body))
            scan_fail(t->scan, XY_EINVAL, s->at,
                      "'continue' in a loop whose last test calls MPI or is not known: write it "
                      "as a while loop");
        emit_leave(t, node, s->cond);
    }
    t->at = at;
}

static void emit_loop(scan_emit_t *t, scan_stmt_t *s)
{
    if (s->is_kept) {
        emit_kept_loop(t, s);
        return;
    }
    emit_stmts(t, s->init);
    for (const scan_work_t *w = s->work; w != NULL; w = w->next)
        emit_work(t, w);
    expr_unknowns(t, s->cond);
    emit_loop_unknowns(t, s->body);
}

static void emit_switch(scan_emit_t *t, scan_stmt_t *s)
{
    xy_node_t *node;

    if (!s->is_kept) {
        scan_emit_effects(t, s->cond);
        return;
    }
    scan_emit_before(t, s->cond);
    node = scan_emit_add(t, XY_NODE_SWITCH, s->at);
    set(t, node, "c", scan_print(t->scan, s->cond));
    emit_inside(t, node, s->body);
}

/* Emits a return statement, with its value if the result of the function is needed. */
static void emit_return(scan_emit_t *t, scan_stmt_t *s)
{
    bool has_value = s->cond != NULL && t->function->flow->needs_result;
    xy_node_t *node;

    if (!s->is_kept) {
        if (s->cond != NULL)
            scan_emit_effects(t, s->cond);
        return;
    }
    if (has_value)
        scan_emit_before(t, s->cond);
    else if (s->cond != NULL)
        scan_emit_effects(t, s->cond);
    node = scan_emit_add(t, XY_NODE_RETURN, s->at);
    if (has_value)
        set(t, node, "c", scan_print(t->scan, s->cond));
}

static void emit_jump(scan_emit_t *t, scan_stmt_t *s)
{
    if (s->is_kept)
        scan_emit_add(t, s->kind == SCAN_S_BREAK ? XY_NODE_BREAK : XY_NODE_CONTINUE, s->at);
}

static void emit_goto(scan_emit_t *t, scan_stmt_t *s)
{
    if (s->is_kept)
        set(t, scan_emit_add(t, s->is_label ? XY_NODE_LABEL : XY_NODE_GOTO, s->at),
            s->is_label ? "name" : "label", s->label);
}

static const char *joined(xy_scan_t *scan, const char *a, const char *between, const char *b)
{
    size_t length = strlen(a) + strlen(between) + strlen(b) + 1;
    char *text = scan_alloc(scan, length);

    snprintf(text, length, "%s%s%s", a, between, b);
    return text;
}

/* The threads of a team, or the passes of a loop that they share and the chunk of it. */
static const char *team_sizes(scan_emit_t *t, const scan_team_t *team)
{
    const char *threads;

    if (!team->is_loop)
        return "0, 1";
    for (scan_expr_t *e = team->passes; e != NULL; e = e->next)
        scan_emit_before(t, e);
    if (team->chunk != NULL)
        scan_emit_before(t, team->chunk);
    threads = scan_print_product(t->scan, team->passes);
    return joined(t->scan, threads, ", ",
                  team->chunk != NULL ? scan_print(t->scan, team->chunk) : "0");
}

/* Emits the begin of a team with its number of threads. */
static void emit_parallel(scan_emit_t *t, xy_node_t *node, scan_place_t at, const scan_team_t *team)
{
    const char *threads;

    scan_emit_before(t, team->threads);
    threads = scan_print(t->scan, team->threads);
    if (team->condition != NULL) {
        scan_emit_before(t, team->condition);
        threads =
            joined(t->scan, joined(t->scan, scan_print(t->scan, team->condition), " ? ", threads),
                   " : ", "1");
    }
    emit_mark(t, node, at, "parallel", threads);
}

/* Emits a block with a team: where the team and its loop begin and end. */
static void emit_team(scan_emit_t *t, scan_stmt_t *s)
{
    const scan_team_t *team = s->team;
    const scan_stmt_t *outer = t->pass_loop;
    xy_node_t *at = t->at, *node = scan_emit_add(t, XY_NODE_BLOCK, s->at);
    bool is_loop = team->is_loop || team->is_sections;

    t->at = node;
    for (const scan_expr_t *e = team->privates; e != NULL; e = e->next)
        if (e->is_kept && e->decl->is_named) /* another variable inside */
            emit_variable(t, e->decl, s->at, false);
    if (team->is_parallel)
        emit_parallel(t, node, s->at, team);
    if (is_loop)
        emit_mark(t, node, s->at, team->is_dynamic || team->is_sections ? "dynamic" : "static",
                  team_sizes(t, team));
    if (team->is_sections || team->is_section)
        emit_mark(t, node, s->at, "pass", NULL);
    if (team->is_loop)
        t->pass_loop = scan_openmp_inner(team->loop, team->collapse);
    emit_stmts(t, s->body);
    t->pass_loop = outer;
    if (is_loop)
        emit_mark(t, node, s->at, "end", NULL);
    if (team->is_barrier ||
        (!team->is_parallel && (is_loop || team->is_single) && !team->is_nowait))
        emit_mark(t, node, s->at, "barrier", NULL);
    if (team->is_parallel)
        emit_mark(t, node, s->at, "end", NULL);
    t->at = at;
    drop_if_empty(node);
}

/* Emits one statement. */
static void emit_stmt(scan_emit_t *t, scan_stmt_t *s)
{
    xy_node_t *node;

    switch (s->kind) {
    case SCAN_S_GOTO:
        emit_goto(t, s);
        break;
    case SCAN_S_EXPR:
        scan_emit_effects(t, s->cond);
        break;
    case SCAN_S_DECL:
        emit_decl(t, s);
        break;
    case SCAN_S_BLOCK:
        if (s->team != NULL) {
            emit_team(t, s);
            break;
        }
        node = scan_emit_add(t, XY_NODE_BLOCK, s->at);
        emit_inside(t, node, s->body);
        drop_if_empty(node);
        break;
    case SCAN_S_IF:
        emit_if(t, s);
        break;
    case SCAN_S_FOR:
    case SCAN_S_WHILE:
    case SCAN_S_DO:
        emit_loop(t, s);
        break;
    case SCAN_S_SWITCH:
        emit_switch(t, s);
        break;
    case SCAN_S_CASE:
        set(t, scan_emit_add(t, XY_NODE_CASE, s->at), "value", scan_print(t->scan, s->cond));
        break;
    case SCAN_S_DEFAULT:
        scan_emit_add(t, XY_NODE_DEFAULT, s->at);
        break;
    case SCAN_S_BREAK:
    case SCAN_S_CONTINUE:
        emit_jump(t, s);
        break;
    case SCAN_S_RETURN:
        emit_return(t, s);
        break;
    default:
        break;
    }
}

static void emit_stmts(scan_emit_t *t, scan_stmt_t *s)
{
    for (; s != NULL; s = s->next)
        emit_stmt(t, s);
}

/* ---- Functions --------------------------------------------------------------------------- */

/* Structs outside of functions get their values where the program starts. */
static void emit_global_members(scan_emit_t *t)
{
    for (scan_decl_t *d = t->scan->globals; d != NULL; d = d->next)
        if (d->is_named && d->init != NULL && d->init->kind == SCAN_E_LIST &&
            !is_plain_list(d->type))
            scan_emit_members(t, name_expr(t->scan, d), d->init);
}

/* A pointer to arrays is written as an array of them: "int[][3]". */
static const char *parameter_type(scan_emit_t *t, const scan_type_t *type)
{
    scan_type_t array = {.kind = SCAN_ARRAY, .count = -1, .of = type->of};

    if (type->kind != SCAN_POINTER || type->of->kind != SCAN_ARRAY)
        array = *type;
    return scan_print_type(t->scan, &array, NULL);
}

/* Emits a function with its kept parameters; parameters that are only set become variables. */
static void emit_function(scan_emit_t *t, scan_decl_t *f)
{
    xy_node_t *node = scan_emit_add(t, XY_NODE_FUNCTION, f->at), *p;
    bool has_args = false;

    set(t, node, "name", f->emitted != NULL ? f->emitted : f->name);
    if (f->flow->needs_result)
        set(t, node, "type", scan_print_type(t->scan, f->result, NULL));
    for (scan_decl_t *d = f->params; d != NULL; d = d->next)
        has_args |= f == t->scan->main && (d->is_named || d->is_kept);
    t->function = f;
    t->at = node;
    for (scan_decl_t *d = f->params; d != NULL; d = d->next)
        if (d->is_kept || has_args) {
            p = scan_emit_add(t, XY_NODE_PARAMETER, d->at);
            set(t, p, "name", d->name);
            set(t, p, "type", parameter_type(t, d->type));
        } else if (d->is_named) { /* it is only set */
            p = scan_emit_add(t, XY_NODE_VARIABLE, d->at);
            set(t, p, "name", d->name);
            set(t, p, "type", scan_print_type(t->scan, d->type, NULL));
        }
    if (f == t->scan->main)
        emit_global_members(t);
    emit_stmts(t, f->body->body);
    t->at = NULL;
    t->function = NULL;
}

static void emit_record(scan_emit_t *t, scan_record_t *record);

static void emit_record_of(scan_emit_t *t, const scan_type_t *type)
{
    while (type->kind == SCAN_ARRAY)
        type = type->of;
    if (type->kind == SCAN_STRUCT)
        emit_record(t, (scan_record_t *)(uintptr_t)type->record);
}

/* A struct inside of one whose layout matters. */
static void note_whole(const scan_type_t *type, bool is_whole)
{
    while (type->kind == SCAN_ARRAY)
        type = type->of;
    if (type->kind == SCAN_STRUCT && is_whole)
        ((scan_record_t *)(uintptr_t)type->record)->is_whole = true;
}

/* Values that are not followed take their room. */
static const char *field_type(scan_emit_t *t, const scan_type_t *type)
{
    const scan_type_t *of = type;
    int align = of->align == 2 || of->align == 4 ? of->align : of->align > 4 ? 8 : 1;
    char buffer[48];

    while (of->kind == SCAN_ARRAY)
        of = of->of;
    if (of->kind != SCAN_OTHER)
        return scan_print_type(t->scan, type, NULL);
    snprintf(buffer, sizeof(buffer), "%s[%ld]",
             align == 8   ? "long"
             : align == 4 ? "int"
             : align == 2 ? "short"
                          : "char",
             type->bytes > align ? type->bytes / align : 1);
    return scan_copy(t->scan, buffer);
}

/* Emits a struct with its named fields, after the structs it contains. */
static void emit_record(scan_emit_t *t, scan_record_t *record)
{
    xy_node_t *node, *field;
    bool has_fields = false, is_whole;

    if (record->is_emitted || strcmp(record->name, "MPI_Status") == 0)
        return;
    record->is_emitted = true;
    if (record->is_cast && record->has_shared)
        scan_leave(t->scan, xy_fail(XY_EUNSUPPORTED,
                                    "struct '%s' has unions or bit-fields, and pointers of other "
                                    "types point into it: its values are not followed",
                                    record->name));
    is_whole = record->is_whole && !record->has_shared;
    for (scan_field_t *f = record->fields; f != NULL; f = f->next)
        if (f->is_named || is_whole) {
            note_whole(f->type, is_whole);
            emit_record_of(t, f->type);
        }
    node = scan_emit_add(t, XY_NODE_STRUCT, (scan_place_t){.file = -1});
    set(t, node, "name", record->name);
    t->at = node;
    for (scan_field_t *f = record->fields; f != NULL; f = f->next)
        if (f->is_named || is_whole) {
            field = scan_emit_add(t, XY_NODE_FIELD, (scan_place_t){.file = -1});
            set(t, field, "name", f->name);
            set(t, field, "type", field_type(t, f->type));
            has_fields = true;
        }
    if (!has_fields) { /* it is passed on, and nothing in it matters */
        field = scan_emit_add(t, XY_NODE_FIELD, (scan_place_t){.file = -1});
        set(t, field, "name", "unused");
        set(t, field, "type", "int");
    }
    t->at = NULL;
}

/* Emits all structs that the program names. */
static void emit_records(scan_emit_t *t)
{
    const xy_hash_t *records = &t->scan->records;

    for (size_t i = 0; i < records->capacity; i++)
        if (records->slots[i].value != NULL)
            ((scan_record_t *)records->slots[i].value)->is_emitted = false;
    for (size_t i = 0; i < records->capacity; i++) {
        scan_record_t *record = records->slots[i].value;

        if (record != NULL && record->is_named)
            emit_record(t, record);
    }
}

/* Emits the whole description; an earlier one in the scan is destroyed. */
static void emit_program(scan_emit_t *t, const char *name)
{
    xy_scan_t *scan = t->scan;

    xy_program_destroy(scan->program);
    scan->program = NULL;
    if (xy_program_create(name, &scan->program) != XY_OK)
        scan_leave(scan, XY_ENOMEM);
    scan->unknowns.count = 0;
    emit_records(t);
    for (scan_decl_t *d = scan->globals; d != NULL; d = d->next)
        if (d->is_named)
            emit_variable(t, d, d->at, d->init != NULL);
    for (scan_decl_t *f = scan->functions; f != NULL; f = f->next)
        if (f->flow->is_reached && !scan_is_kernel(scan, f) &&
            (f == scan->main || f->flow->has_effects || f->flow->needs_result))
            emit_function(t, f);
}

/* Returns the number of names marked so far, to detect a fixed point. */
static size_t count_named(const xy_scan_t *scan)
{
    size_t count = 0;

    for (size_t i = 0; i < scan->decls.capacity; i++)
        if (scan->decls.slots[i].value != NULL)
            count += ((scan_decl_t *)scan->decls.slots[i].value)->is_named;
    for (size_t i = 0; i < scan->records.capacity; i++) {
        const scan_record_t *record = scan->records.slots[i].value;

        if (record == NULL)
            continue;
        count += (size_t)record->is_named + record->is_whole;
        for (const scan_field_t *f = record->fields; f != NULL; f = f->next)
            count += f->is_named;
    }
    return count;
}

/* Variables, members and structs are declared when an element names them. Elements come behind
 * their declarations, so it takes rounds until no new name appears. */
void scan_emit(xy_scan_t *scan)
{
    const char *path = scan_file_name(scan, scan->main->at.file);
    const char *name = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
    scan_emit_t t = {.scan = scan};
    size_t before;

    do {
        before = count_named(scan);
        emit_program(&t, name);
    } while (count_named(scan) != before);
    emit_program(&t, name);
    if (xy_program_failed(scan->program))
        scan_leave(scan, xy_fail_memory("describing the program"));
}
