/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/scan_openmp.h"

#include <string.h>

struct scan_free_set {
    struct scan_free_set *next;
};

static scan_set_t new_set(scan_walk_t *w)
{
    scan_set_t set = (scan_set_t)w->free_sets;

    if (set == NULL)
        return scan_alloc(w->scan, w->words * sizeof(uint64_t));
    w->free_sets = w->free_sets->next;
    memset(set, 0, w->words * sizeof(uint64_t));
    return set;
}

static scan_set_t copy_set(scan_walk_t *w, const uint64_t *other)
{
    scan_set_t set = new_set(w);

    memcpy(set, other, w->words * sizeof(uint64_t));
    return set;
}

static void free_set(scan_walk_t *w, scan_set_t set)
{
    struct scan_free_set *f = (struct scan_free_set *)set;

    f->next = w->free_sets;
    w->free_sets = f;
}

static bool has_bit(const uint64_t *set, int bit)
{
    return (set[bit / 64] >> bit % 64 & 1) != 0;
}

bool scan_set_has_any(const scan_walk_t *w, scan_set_t set, const scan_access_t *access)
{
    (void)w;
    for (int i = 0; i < access->count; i++)
        if (has_bit(set, SCAN_BITS + access->ids[i]))
            return true;
    return false;
}

void scan_set_add(scan_walk_t *w, scan_set_t set, const scan_access_t *access, long line)
{
    for (int i = 0; i < access->count; i++) {
        scan_location_t *l = &XY_VEC_AT(&w->scan->locations, scan_location_t, access->ids[i]);
        int bit = SCAN_BITS + access->ids[i];

        set[bit / 64] |= (uint64_t)1 << bit % 64;
        if (l->wanted == 0)
            l->wanted = line;
    }
}

void scan_set_remove(scan_set_t set, const scan_access_t *access)
{
    for (int i = 0; i < access->count; i++) {
        int bit = SCAN_BITS + access->ids[i];

        set[bit / 64] &= ~((uint64_t)1 << bit % 64);
    }
}

bool scan_set_join(const scan_walk_t *w, scan_set_t set, const uint64_t *other)
{
    bool has_grown = false;

    for (size_t i = 0; i < w->words; i++) {
        has_grown |= (other[i] & ~set[i]) != 0;
        set[i] |= other[i];
    }
    return has_grown;
}

void scan_walk_keep(scan_walk_t *w, bool *is_kept, scan_set_t live)
{
    w->has_changed |= !*is_kept;
    *is_kept = true;
    live[0] |= (uint64_t)1 << SCAN_LATER_IN_FUNCTION | (uint64_t)1 << SCAN_LATER;
}

void scan_walk_keep_effect(scan_walk_t *w, bool *is_kept, scan_set_t live)
{
    scan_flow_t *flow = w->function->flow;

    w->has_changed |= !flow->has_effects;
    flow->has_effects = true;
    scan_walk_keep(w, is_kept, live);
}

bool scan_walk_need(scan_walk_t *w, scan_expr_t *e, scan_set_t live)
{
    if (!scan_is_unknowable(w->scan, e))
        return scan_walk_expr(w, e, live, true);
    w->has_changed |= !e->is_unknown;
    e->is_unknown = true;
    return scan_walk_expr(w, e, live, false);
}

/* In a loop that is dropped an unknown value is set once, behind it: it does not keep the loop. */
static bool keeps(const scan_walk_t *w, const scan_expr_t *target, bool is_unknown)
{
    return !is_unknown || w->loop == NULL || w->loop->is_kept ||
           (target != NULL && target->kind != SCAN_E_NAME);
}

/* Walk the inside of an lvalue: indices, and pointers that are followed. */
static bool walk_inside(scan_walk_t *w, scan_expr_t *e, scan_set_t live, bool is_needed)
{
    switch (e->kind) {
    case SCAN_E_INDEX: {
        bool is_kept =
            is_needed ? scan_walk_need(w, e->b, live) : scan_walk_expr(w, e->b, live, false);

        if (e->a->type->kind == SCAN_ARRAY)
            return walk_inside(w, e->a, live, is_needed) | is_kept;
        return scan_walk_expr(w, e->a, live, is_needed) | is_kept;
    }
    case SCAN_E_MEMBER:
        if (e->a->type->kind == SCAN_POINTER)
            return scan_walk_expr(w, e->a, live, is_needed);
        return walk_inside(w, e->a, live, is_needed);
    case SCAN_E_UNARY:
        return e->op == SCAN_OP_DEREF && scan_walk_expr(w, e->a, live, is_needed);
    case SCAN_E_CAST:
        return walk_inside(w, e->a, live, is_needed);
    case SCAN_E_CALL:
        return scan_walk_call(w, e, live, is_needed);
    default:
        return false;
    }
}

/* Is it (a part of) a variable that ends with the function? */
static bool is_local(const scan_expr_t *e)
{
    while (e->kind == SCAN_E_CAST ||
           (e->kind == SCAN_E_MEMBER && e->a->type->kind == SCAN_STRUCT) ||
           (e->kind == SCAN_E_INDEX && e->a->type->kind == SCAN_ARRAY))
        e = e->a;
    return e->kind == SCAN_E_NAME && !e->decl->is_global && !e->decl->is_static &&
           !e->decl->is_extern && !e->decl->is_system;
}

/* Walks an assignment against the flow and keeps it if its target is live; returns whether an
 * enclosing statement must be kept. */
static bool walk_assign(scan_walk_t *w, scan_expr_t *e, scan_set_t live, bool is_needed)
{
    scan_access_t access = scan_access(w->scan, e->a);
    bool is_kept;

    if (!is_needed && (scan_is_data(w->scan, &access) || !scan_set_has_any(w, live, &access))) {
        is_kept = e->b != NULL && scan_walk_expr(w, e->b, live, false);
        return walk_inside(w, e->a, live, false) | is_kept;
    }
    if (e->b != NULL &&
        (scan_is_unknowable(w->scan, e->b) || (e->op != 0 && scan_is_unknowable(w->scan, e->a)))) {
        w->has_changed |= !e->b->is_unknown;
        e->b->is_unknown = true;
    }
    if (access.is_strong)
        scan_set_remove(live, &access);
    is_kept = keeps(w, e->a, e->b != NULL && e->b->is_unknown);
    if (is_local(e->a))
        scan_walk_keep(w, &e->is_kept, live);
    else
        scan_walk_keep_effect(w, &e->is_kept, live);
    if (e->b != NULL && e->b->is_unknown) {
        scan_walk_expr(w, e->b, live, false);
    } else {
        if (e->op != 0)
            scan_set_add(w, live, &access, e->at.line);
        if (e->b != NULL)
            scan_walk_expr(w, e->b, live, !(e->op == 0 && scan_is_data_memory(e->a->type, e->b)));
    }
    walk_inside(w, e->a, live, true);
    return is_kept;
}

/* Walks ?:, && or || against the flow; the condition is needed if either branch is. */
static bool walk_choice(scan_walk_t *w, scan_expr_t *e, scan_set_t live, bool is_needed)
{
    scan_set_t other = copy_set(w, live);
    bool is_kept = scan_walk_expr(w, e->b, other, is_needed);

    if (e->kind == SCAN_E_CHOICE)
        is_kept |= scan_walk_expr(w, e->c, live, is_needed);
    scan_set_join(w, live, other);
    free_set(w, other);
    /* The condition of an effect is needed with it. */
    if (is_kept || is_needed)
        return scan_walk_need(w, e->a, live) | is_kept;
    return scan_walk_expr(w, e->a, live, false);
}

static bool walk_lvalue(scan_walk_t *w, scan_expr_t *e, scan_set_t live, bool is_needed)
{
    scan_access_t access;

    if (is_needed && !(e->kind == SCAN_E_NAME && e->decl->is_function)) {
        access = scan_access(w->scan, e);
        /* The address of an array is no value that was computed. */
        if (e->type->kind != SCAN_ARRAY && !scan_is_data(w->scan, &access))
            scan_set_add(w, live, &access, e->at.line);
    }
    return walk_inside(w, e, live, is_needed);
}

bool scan_walk_expr(scan_walk_t *w, scan_expr_t *e, scan_set_t live, bool is_needed)
{
    bool is_kept = false;

    switch (e->kind) {
    case SCAN_E_ASSIGN:
    case SCAN_E_STEP:
        return walk_assign(w, e, live, is_needed);
    case SCAN_E_CALL:
        return scan_walk_call(w, e, live, is_needed);
    case SCAN_E_CHOICE:
        return walk_choice(w, e, live, is_needed);
    case SCAN_E_BINARY:
        if (e->op == SCAN_OP_AND || e->op == SCAN_OP_OR)
            return walk_choice(w, e, live, is_needed);
        is_kept = scan_walk_expr(w, e->b, live, is_needed);
        return scan_walk_expr(w, e->a, live, is_needed && e->op != SCAN_OP_COMMA) | is_kept;
    case SCAN_E_NAME:
    case SCAN_E_INDEX:
    case SCAN_E_MEMBER:
        return walk_lvalue(w, e, live, is_needed);
    case SCAN_E_UNARY:
        if (e->op == SCAN_OP_DEREF)
            return walk_lvalue(w, e, live, is_needed);
        if (e->op == SCAN_OP_ADDRESS)
            return walk_inside(w, e->a, live, is_needed);
        return scan_walk_expr(w, e->a, live, is_needed);
    case SCAN_E_CAST:
        return scan_walk_expr(w, e->a, live, is_needed);
    case SCAN_E_LIST:
        for (scan_expr_t *a = e->args; a != NULL; a = a->next)
            is_kept |= scan_walk_expr(w, a, live, is_needed);
        return is_kept;
    case SCAN_E_OTHER:
        for (scan_expr_t *a = e->args; a != NULL; a = a->next)
            if (scan_walk_expr(w, a, live, false))
                scan_fail(w->scan, XY_EINVAL, a->at,
                          "this communicates, computes or steers inside of %s: write it as "
                          "plain statements",
                          e->text);
        return false;
    default:
        return false;
    }
}

static bool walk_stmt(scan_walk_t *w, scan_stmt_t *s, scan_set_t live);

/* A list of statements, last first. */
static bool walk_block(scan_walk_t *w, scan_stmt_t *first, scan_set_t live)
{
    scan_stmt_t *s = first;
    bool is_kept = false;

    while (s != NULL && s->next != NULL)
        s = s->next;
    for (; s != NULL; s = s->prev)
        is_kept |= walk_stmt(w, s, live);
    return is_kept;
}

/* Walks a local declaration against the flow and keeps it if the variable is live. */
static bool walk_decl(scan_walk_t *w, scan_stmt_t *s, scan_set_t live)
{
    scan_decl_t *d = s->decl;
    scan_access_t access = scan_access_decl(w->scan, d);
    bool is_live = scan_set_has_any(w, live, &access) && !scan_is_data(w->scan, &access);
    bool is_kept;

    if (d->is_static)
        return false; /* initialised before the program starts */
    if (!is_live)
        return d->init != NULL && scan_walk_expr(w, d->init, live, false);
    if (access.is_strong)
        scan_set_remove(live, &access);
    is_kept = d->init == NULL || keeps(w, NULL, scan_is_unknowable(w->scan, d->init));
    scan_walk_keep(w, &s->is_kept, live);
    for (scan_expr_t *e = d->dims; e != NULL; e = e->next)
        if (d->type->count < 0)
            scan_walk_need(w, e, live);
    if (d->init != NULL && !scan_is_data_memory(d->type, d->init))
        scan_walk_need(w, d->init, live);
    return is_kept && d->init != NULL;
}

/* Walk an expression that is assumed to be false to its end: `a || b` has evaluated both. */
static bool walk_false(scan_walk_t *w, scan_expr_t *e, scan_set_t live)
{
    bool is_kept;

    if (e->kind != SCAN_E_BINARY || e->op != SCAN_OP_OR)
        return scan_walk_expr(w, e, live, false);
    is_kept = walk_false(w, e->b, live);
    return walk_false(w, e->a, live) | is_kept;
}

/* Walks both branches of an if statement and joins their live sets; a branch for failures is
 * skipped. */
static bool walk_if(scan_walk_t *w, scan_stmt_t *s, scan_set_t live)
{
    scan_set_t other = copy_set(w, live);
    bool is_kept = s->other != NULL && walk_block(w, s->other, other);

    if (!s->is_failure) {
        is_kept |= walk_block(w, s->body, live);
        scan_set_join(w, live, other);
    } else {
        memcpy(live, other, w->words * sizeof(uint64_t));
    }
    free_set(w, other);
    if (s->is_failure)
        return walk_false(w, s->cond, live) | is_kept;
    if (!is_kept)
        return scan_walk_expr(w, s->cond, live, false);
    scan_walk_keep(w, &s->is_kept, live);
    scan_walk_need(w, s->cond, live);
    return true;
}

/* Joins what is needed at a label of a switch. Inside of another statement it keeps that. */
static bool walk_case(scan_walk_t *w, const scan_stmt_t *s, scan_set_t live)
{
    const scan_stmt_t *outer = w->switch_around;

    scan_set_join(w, w->case_set, live);
    for (const scan_stmt_t *c = outer->body->body; c != NULL; c = c->next)
        if (c == s)
            return false;
    return true;
}

/* Walks a switch backwards, joining the live set at every label. */
static bool walk_switch(scan_walk_t *w, scan_stmt_t *s, scan_set_t live)
{
    scan_walk_t saved = *w;
    scan_set_t after = copy_set(w, live), entry = copy_set(w, live); /* perhaps no default */
    bool is_kept;

    w->break_set = after;
    w->break_target = w->switch_around = s;
    w->case_set = entry;
    is_kept = walk_block(w, s->body, live);
    memcpy(live, entry, w->words * sizeof(uint64_t));
    w->break_set = saved.break_set;
    w->break_target = saved.break_target;
    w->switch_around = saved.switch_around;
    w->case_set = saved.case_set;
    free_set(w, after);
    free_set(w, entry);
    if (!is_kept)
        return scan_walk_expr(w, s->cond, live, false);
    scan_walk_keep(w, &s->is_kept, live);
    scan_walk_need(w, s->cond, live);
    return true;
}

/* One round of a loop: from what is needed before the test to what is needed before the test. */
static bool walk_round(scan_walk_t *w, scan_stmt_t *s, scan_set_t test, scan_set_t after)
{
    scan_set_t live = copy_set(w, s->kind == SCAN_S_DO ? after : test), next;
    bool is_kept = false;

    if (s->kind == SCAN_S_DO) {
        scan_set_join(w, live, test);
        is_kept |=
            s->is_kept ? scan_walk_need(w, s->cond, live) : scan_walk_expr(w, s->cond, live, false);
    }
    if (s->step != NULL)
        is_kept |= scan_walk_expr(w, s->step, live, false);
    next = copy_set(w, live);
    w->continue_set = next;
    w->break_set = after;
    is_kept |= walk_block(w, s->body, live);
    scan_set_join(w, test, live);
    if (s->kind != SCAN_S_DO) {
        scan_set_join(w, test, after);
        if (s->cond != NULL)
            is_kept |= s->is_kept ? scan_walk_need(w, s->cond, test)
                                  : scan_walk_expr(w, s->cond, test, false);
    }
    free_set(w, live);
    free_set(w, next);
    return is_kept;
}

static bool walk_work(scan_walk_t *w, scan_stmt_t *s, scan_set_t live)
{
    bool is_kept = true;

    scan_walk_keep_effect(w, &is_kept, live);
    for (scan_work_t *k = s->work; k != NULL; k = k->next)
        for (scan_expr_t *e = k->factors; e != NULL; e = e->next)
            scan_walk_expr(w, e, live, true);
    return s->work != NULL;
}

/* Walks a loop until its live set stops growing; a loop that is not kept may become work. */
static bool walk_loop(scan_walk_t *w, scan_stmt_t *s, scan_set_t live)
{
    scan_walk_t saved = *w;
    scan_set_t after = copy_set(w, live), test = copy_set(w, live), before;
    bool is_kept = s->is_forced, has_grown = true;

    w->loop = w->break_target = w->continue_target = s;
    while (has_grown) {
        before = copy_set(w, test);
        is_kept |= walk_round(w, s, test, after);
        if (is_kept && !s->is_kept)
            w->has_changed = s->is_kept = true;
        has_grown = scan_set_join(w, before, test);
        free_set(w, before);
    }
    w->loop = saved.loop;
    w->break_target = saved.break_target;
    w->continue_target = saved.continue_target;
    w->break_set = saved.break_set;
    w->continue_set = saved.continue_set;
    memcpy(live, test, w->words * sizeof(uint64_t));
    free_set(w, after);
    free_set(w, test);
    if (s->is_kept) {
        scan_walk_keep(w, &s->is_kept, live);
        s->work = NULL;
    }
    is_kept = s->work != NULL ? walk_work(w, s, live) : s->is_kept;
    return (s->init != NULL && walk_block(w, s->init, live)) | is_kept;
}

static bool walk_return(scan_walk_t *w, scan_stmt_t *s, scan_set_t live)
{
    bool is_needed = w->function->flow->needs_result && s->cond != NULL;
    bool is_jump = is_needed || has_bit(live, SCAN_LATER_IN_FUNCTION);

    memcpy(live, w->return_set, w->words * sizeof(uint64_t));
    if (is_jump)
        scan_walk_keep(w, &s->is_kept, live);
    if (is_needed)
        return scan_walk_need(w, s->cond, live) | is_jump;
    return (s->cond != NULL && scan_walk_expr(w, s->cond, live, false)) | is_jump;
}

static bool walk_jump(scan_walk_t *w, scan_stmt_t *s, const scan_stmt_t *target, scan_set_t to,
                      scan_set_t live)
{
    if (target == NULL)
        return false;
    memcpy(live, to, w->words * sizeof(uint64_t));
    if (target->is_kept)
        scan_walk_keep(w, &s->is_kept, live);
    return target->is_kept;
}

static scan_stmt_t *find_label(scan_stmt_t *s, const char *name)
{
    scan_stmt_t *found = NULL;

    for (; s != NULL && found == NULL; s = s->next) {
        if (s->kind == SCAN_S_GOTO && s->is_label && strcmp(s->label, name) == 0)
            return s;
        found = find_label(s->body, name);
        if (found == NULL)
            found = find_label(s->other, name);
    }
    return found;
}

static bool has_kept_expr(const scan_expr_t *e)
{
    if (e == NULL)
        return false;
    for (const scan_expr_t *a = e->args; a != NULL; a = a->next)
        if (has_kept_expr(a))
            return true;
    return e->is_kept || has_kept_expr(e->a) || has_kept_expr(e->b) || has_kept_expr(e->c);
}

/* Is something kept that begins between two places of a function? */
static bool is_kept_between(const scan_stmt_t *s, int first, int last)
{
    for (; s != NULL; s = s->next) {
        bool is_inside = s->order > first && s->order < last && !s->is_label;

        if (is_inside &&
            (s->is_kept || s->work != NULL || has_kept_expr(s->cond) || has_kept_expr(s->step) ||
             (s->decl != NULL && has_kept_expr(s->decl->init))))
            return true;
        if (is_kept_between(s->init, first, last) || is_kept_between(s->body, first, last) ||
            is_kept_between(s->other, first, last))
            return true;
    }
    return false;
}

static bool is_in(const scan_stmt_t *outer, const scan_stmt_t *s)
{
    return s->order > outer->order && s->order < outer->end;
}

/* Is there a loop that is kept around one of two places, but not around the other? */
static bool is_loop_crossed(const scan_stmt_t *s, const scan_stmt_t *from, const scan_stmt_t *to)
{
    for (; s != NULL; s = s->next) {
        bool is_loop = s->kind == SCAN_S_FOR || s->kind == SCAN_S_WHILE || s->kind == SCAN_S_DO;

        if (is_loop && s->is_kept && is_in(s, from) != is_in(s, to))
            return true;
        if (is_loop_crossed(s->body, from, to) || is_loop_crossed(s->other, from, to))
            return true;
    }
    return false;
}

/* A jump matters when it goes past something that is kept, back to it, or out of a loop or into one
 * whose passes matter. */
static bool walk_goto(scan_walk_t *w, scan_stmt_t *s, scan_set_t live)
{
    bool is_back;

    if (s->is_label) {
        if (s->live == NULL)
            s->live = new_set(w);
        w->has_changed |= scan_set_join(w, s->live, live);
        return s->is_kept;
    }
    if (s->label != NULL && s->target == NULL)
        s->target = find_label(w->function->body, s->label);
    if (s->target == NULL)
        return false; /* refused where it matters */
    if (s->target->live != NULL)
        memcpy(live, s->target->live, w->words * sizeof(uint64_t));
    is_back = s->target->order < s->order;
    if (!is_kept_between(w->function->body, is_back ? s->target->order : s->order,
                         is_back ? s->order : s->target->order) &&
        !is_loop_crossed(w->function->body, s, s->target))
        return false;
    scan_walk_keep(w, &s->target->is_kept, live);
    scan_walk_keep(w, &s->is_kept, live);
    return true;
}

/* Walks one statement against the flow; returns whether any part is kept for its effect. */
static bool walk_stmt(scan_walk_t *w, scan_stmt_t *s, scan_set_t live)
{
    switch (s->kind) {
    case SCAN_S_GOTO:
        return walk_goto(w, s, live);
    case SCAN_S_EXPR:
        return scan_walk_expr(w, s->cond, live, false);
    case SCAN_S_DECL:
        return walk_decl(w, s, live);
    case SCAN_S_BLOCK:
        return s->team != NULL ? scan_walk_team(w, s, live, walk_block)
                               : walk_block(w, s->body, live);
    case SCAN_S_IF:
        return walk_if(w, s, live);
    case SCAN_S_FOR:
    case SCAN_S_WHILE:
    case SCAN_S_DO:
        return walk_loop(w, s, live);
    case SCAN_S_SWITCH:
        return walk_switch(w, s, live);
    case SCAN_S_RETURN:
        return walk_return(w, s, live);
    case SCAN_S_BREAK:
        return walk_jump(w, s, w->break_target, w->break_set, live);
    case SCAN_S_CONTINUE:
        return walk_jump(w, s, w->continue_target, w->continue_set, live);
    case SCAN_S_CASE:
    case SCAN_S_DEFAULT:
        return walk_case(w, s, live);
    default:
        return false;
    }
}

/* Walks the body of a function from its exit set and updates its entry set and kept parameters. */
static void walk_function(scan_walk_t *w, scan_decl_t *f)
{
    scan_set_t live = copy_set(w, f->flow->exit);
    bool is_kept;

    w->function = f;
    w->loop = w->break_target = w->continue_target = NULL;
    w->return_set = f->flow->exit;
    is_kept = walk_block(w, f->body, live);
    w->has_changed |= scan_set_join(w, f->flow->entry, live);
    w->has_changed |= is_kept && !f->flow->has_kept;
    f->flow->has_kept |= is_kept;
    for (scan_decl_t *p = f->params; p != NULL; p = p->next) {
        scan_access_t access = scan_access_decl(w->scan, p);

        if (!p->is_kept && scan_set_has_any(w, f->flow->entry, &access))
            w->has_changed = p->is_kept = true;
    }
    free_set(w, live);
}

/* Give all locations their numbers, so that sets have a size. */
static void number_expr(xy_scan_t *scan, const scan_expr_t *e)
{
    if (e == NULL)
        return;
    number_expr(scan, e->a);
    number_expr(scan, e->b);
    number_expr(scan, e->c);
    for (scan_expr_t *a = e->args; a != NULL; a = a->next)
        number_expr(scan, a);
    if (e->kind == SCAN_E_NAME || e->kind == SCAN_E_INDEX || e->kind == SCAN_E_MEMBER ||
        e->kind == SCAN_E_UNARY || e->kind == SCAN_E_CAST)
        scan_access(scan, e);
    scan_access_target(scan, e);
    scan_access_reachable(scan, e);
    if (e->kind == SCAN_E_CALL)
        scan_access_given(scan, e);
}

/* Links statements backwards, numbers them and assigns locations to all their expressions. */
static void number_stmts(xy_scan_t *scan, scan_stmt_t *first)
{
    scan_stmt_t *prev = NULL;

    for (scan_stmt_t *s = first; s != NULL; prev = s, s = s->next) {
        s->prev = prev;
        s->order = ++scan->stmt_count;
        number_expr(scan, s->cond);
        number_expr(scan, s->step);
        if (s->decl != NULL) {
            scan_access_decl(scan, s->decl);
            number_expr(scan, s->decl->init);
            for (scan_expr_t *e = s->decl->dims; e != NULL; e = e->next)
                number_expr(scan, e);
        }
        for (scan_expr_t *e = s->team != NULL ? s->team->privates : NULL; e != NULL; e = e->next)
            number_expr(scan, e);
        if (s->team != NULL) {
            number_expr(scan, s->team->threads);
            number_expr(scan, s->team->chunk);
            number_expr(scan, s->team->condition);
        }
        number_stmts(scan, s->init);
        number_stmts(scan, s->body);
        number_stmts(scan, s->other);
        s->end = ++scan->stmt_count;
    }
}

static void number_function(xy_scan_t *scan, scan_decl_t *f)
{
    for (scan_decl_t *p = f->params; p != NULL; p = p->next)
        scan_access_decl(scan, p);
    number_stmts(scan, f->body);
}

static void walk_until_stable(scan_walk_t *w)
{
    do {
        w->has_changed = false;
        for (scan_decl_t *f = w->scan->functions; f != NULL; f = f->next)
            if (f->flow->is_reached)
                walk_function(w, f);
    } while (w->has_changed);
}

void scan_slice(xy_scan_t *scan)
{
    scan_walk_t w = {.scan = scan};
    size_t before;

    /* A pointer that is met may show more of what another reaches. */
    do {
        before = scan->locations.count;
        for (scan_decl_t *f = scan->functions; f != NULL; f = f->next)
            number_function(scan, f);
        for (scan_decl_t *g = scan->globals; g != NULL; g = g->next)
            scan_access_decl(scan, g);
    } while (scan->locations.count != before);
    w.words = (scan->locations.count + SCAN_BITS + 63) / 64;
    for (scan_decl_t *f = scan->functions; f != NULL; f = f->next) {
        f->flow = scan_alloc(scan, sizeof(*f->flow));
        f->flow->entry = new_set(&w);
        f->flow->exit = new_set(&w);
        scan_failure_find(scan, f, f->body);
    }
    scan->main->flow->is_reached = true;
    do
        walk_until_stable(&w);
    while (scan_work_find(scan));
}
