/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks with a team of threads in the slice. A value is followed as one thread sets it, so these
 * are refused where the slice needs them:
 *
 *   - what every thread of a team changes, and calls of MPI by every thread;
 *   - what the passes of a loop that threads share change in the order in which they come;
 *   - variables that are private to the threads and have another value behind the block.
 */
#include <string.h>

#include "program/scan_openmp.h"

enum { CALLS_DEEP = 16 };

/* ---- The slice ------------------------------------------------------------------------------- */

/* Threads of a team where the directive gives no number: a constant, or what
 * omp_set_num_threads() has set. */
static scan_expr_t *default_threads(xy_scan_t *scan, scan_place_t at)
{
    static const scan_type_t integer = {.kind = SCAN_INT, .bytes = 4, .align = 4};
    scan_decl_t *most = xy_hash_get(&scan->decls, XY_HASH_KEY("c:@F@omp_get_max_threads"));
    scan_expr_t *e = scan_alloc(scan, sizeof(*e));
    bool is_set = xy_hash_get(&scan->decls, XY_HASH_KEY("c:@F@omp_set_num_threads")) != NULL &&
                  most != NULL && most->body != NULL;

    *e = (scan_expr_t){.kind = is_set ? SCAN_E_CALL : SCAN_E_INT,
                       .type = &integer,
                       .at = at,
                       .decl = is_set ? most : NULL,
                       .value = is_set ? 0 : scan->options->threads};
    return e;
}

static void need(scan_walk_t *w, scan_expr_t *e, scan_set_t live)
{
    if (e != NULL)
        scan_walk_need(w, e, live);
}

/* Private variables of the team before its body is walked. One without a value from outside is
 * another variable inside: what is needed of it behind the block is joined to `outside`. Of the
 * others it is noted. */
static void leave_privates(scan_walk_t *w, scan_team_t *t, scan_set_t live, scan_set_t outside)
{
    int bit = 0;

    for (scan_expr_t *e = t->privates; e != NULL; e = e->next, bit++) {
        scan_access_t access = scan_access(w->scan, e);

        e->is_kept = bit < t->own_count && access.is_strong;
        if (!scan_set_has_any(w, live, &access))
            continue;
        if (!e->is_kept) {
            t->live |= (uint64_t)1 << (bit < 63 ? bit : 63);
            continue;
        }
        scan_set_remove(live, &access);
        scan_set_add(w, outside, &access, e->at.line);
    }
}

/* ... and after it. */
static void enter_privates(scan_walk_t *w, const scan_team_t *t, scan_set_t live,
                           const uint64_t *outside)
{
    for (const scan_expr_t *e = t->privates; e != NULL; e = e->next)
        if (e->is_kept) {
            scan_access_t access = scan_access(w->scan, e);

            scan_set_remove(live, &access);
        }
    scan_set_join(w, live, outside);
}

bool scan_walk_team(scan_walk_t *w, scan_stmt_t *s, scan_set_t live,
                    bool (*walk_body)(scan_walk_t *w, scan_stmt_t *first, scan_set_t live))
{
    scan_team_t *t = s->team;
    scan_set_t outside;
    bool is_kept = t->is_parallel || t->is_loop || t->is_sections || t->is_barrier ||
                   (t->is_single && !t->is_nowait);

    if (t->is_parallel && t->threads == NULL)
        t->threads = default_threads(w->scan, s->at);
    if (t->is_loop && t->passes == NULL)
        t->passes = scan_work_passes(w->scan, t->loop, t->collapse);
    if (t->is_loop && t->passes == NULL)
        scan_fail(w->scan, XY_EINVAL, s->at,
                  "OpenMP: the passes of this loop cannot be counted before it starts");
    outside = scan_alloc(w->scan, w->words * sizeof(*outside));
    leave_privates(w, t, live, outside);
    is_kept |= walk_body(w, s->body, live);
    enter_privates(w, t, live, outside);
    if (is_kept)
        scan_walk_keep_effect(w, &s->is_kept, live);
    need(w, t->threads, live);
    need(w, t->chunk, live);
    need(w, t->condition, live);
    for (scan_expr_t *e = t->passes; e != NULL; e = e->next)
        scan_walk_need(w, e, live);
    return is_kept;
}

/* ---- What a team makes differently ----------------------------------------------------------- */

/* The threads that run the statements in question. */
typedef struct {
    xy_scan_t *scan;
    scan_place_t region;      /* of the team, or the function that it calls */
    const scan_stmt_t *block; /* the team's */
    bool is_every;            /* each thread runs all of them */
    bool is_shared;           /* each thread runs some */
    bool is_guarded;          /* one after the other, in any order */
    int depth;                /* of calls */
} around_t;

static void check_stmts(around_t *a, const scan_stmt_t *s);

static noreturn void refuse(const around_t *a, scan_place_t at, const char *what, const char *why)
{
    scan_fail(a->scan, XY_EUNSUPPORTED, at,
              "OpenMP: '%s' %s: this is not followed; run the program with 'mpiexec --virtual'",
              what, why);
}

static bool is_inside(scan_place_t at, scan_place_t region)
{
    return at.file == region.file && at.first >= region.first && at.last <= region.last;
}

/* The variable that an lvalue is part of; NULL: memory behind a pointer. */
static const scan_decl_t *variable_of(const scan_expr_t *e)
{
    e = scan_strip(e);
    while ((e->kind == SCAN_E_MEMBER && e->a->type->kind == SCAN_STRUCT) ||
           (e->kind == SCAN_E_INDEX && e->a->type->kind == SCAN_ARRAY))
        e = scan_strip(e->a);
    return e->kind == SCAN_E_NAME ? e->decl : NULL;
}

static bool is_private(const around_t *a, const scan_decl_t *d)
{
    if (d == NULL)
        return false;
    if (!d->is_static && !d->is_global && is_inside(d->at, a->region))
        return true;
    for (const scan_expr_t *e = a->block->team->privates; e != NULL; e = e->next)
        if (e->kind == SCAN_E_NAME && e->decl == d)
            return true;
    return false;
}

/* Does the expression read the variable, or memory that may be the same? */
static bool reads(const around_t *a, const scan_expr_t *e, const scan_access_t *target)
{
    scan_access_t access;

    if (e == NULL)
        return false;
    if (e->kind == SCAN_E_NAME || e->kind == SCAN_E_INDEX || e->kind == SCAN_E_MEMBER ||
        (e->kind == SCAN_E_UNARY && e->op == SCAN_OP_DEREF)) {
        access = scan_access(a->scan, e);
        for (int i = 0; i < access.count; i++)
            for (int k = 0; k < target->count; k++)
                if (access.ids[i] == target->ids[k])
                    return true;
    }
    for (const scan_expr_t *x = e->args; x != NULL; x = x->next)
        if (reads(a, x, target))
            return true;
    return reads(a, e->a, target) || reads(a, e->b, target) || reads(a, e->c, target);
}

static bool is_commutative(const scan_expr_t *e)
{
    return e->kind == SCAN_E_STEP || e->op == '+' || e->op == '-' || e->op == '*' || e->op == '&' ||
           e->op == '|' || e->op == '^';
}

/* An assignment or a step of the slice. */
static void check_effect(const around_t *a, const scan_expr_t *e)
{
    const scan_decl_t *d = variable_of(e->a);
    const char *name = d != NULL ? d->name : "memory behind a pointer";
    scan_access_t target = scan_access(a->scan, e->a);

    if (is_private(a, d) || e->type->kind == SCAN_REAL)
        return;
    if (a->is_every && (e->kind == SCAN_E_STEP || e->op != 0 || reads(a, e->b, &target)))
        refuse(a, e->at, name, "is changed by every thread of the team");
    if (a->is_shared && a->is_guarded && !is_commutative(e))
        refuse(a, e->at, name, "depends on the order in which the threads come here");
}

/* A call by several threads: none of MPI, and the body of others is checked, too. */
static void check_call(const around_t *a, const scan_expr_t *e)
{
    around_t inside = *a;
    const scan_stmt_t *body = e->decl != NULL ? e->decl->body : NULL;

    if (scan_is_mpi(e->decl) && e->is_kept && !scan_is_clock(e->decl))
        refuse(a, e->at, e->decl->name, "is called by several threads");
    if (body == NULL || !e->is_kept)
        return;
    inside.region = body->at;
    if (++inside.depth > CALLS_DEEP)
        refuse(a, e->at, e->decl->name, "calls itself, or others, so often");
    check_stmts(&inside, body);
}

/* A lock that is set guards the rest of the block. */
static bool is_lock(const scan_expr_t *e)
{
    return e->kind == SCAN_E_CALL && e->decl != NULL && e->decl->body == NULL &&
           strncmp(e->decl->name, "omp_", 4) == 0 && strstr(e->decl->name, "_lock") != NULL;
}

/* Checks the effects and calls of the slice in an expression. */
static void check_expr(around_t *a, const scan_expr_t *e)
{
    if (e == NULL)
        return;
    check_expr(a, e->a);
    check_expr(a, e->b);
    check_expr(a, e->c);
    for (const scan_expr_t *x = e->args; x != NULL; x = x->next)
        check_expr(a, x);
    a->is_guarded |= is_lock(e);
    if (!a->is_every && !a->is_shared)
        return;
    if (e->kind == SCAN_E_CALL)
        check_call(a, e);
    else if ((e->kind == SCAN_E_ASSIGN || e->kind == SCAN_E_STEP) && e->is_kept)
        check_effect(a, e);
}

/* A private variable that the block changes, and that is needed behind it, keeps its old value. */
static void check_private_effects(const around_t *a, const scan_expr_t *e, const scan_decl_t *d)
{
    if (e == NULL)
        return;
    if ((e->kind == SCAN_E_ASSIGN || e->kind == SCAN_E_STEP) && e->is_kept &&
        variable_of(e->a) == d)
        refuse(a, e->at, d->name, "is private to each thread, and needed behind the block");
    for (const scan_expr_t *x = e->args; x != NULL; x = x->next)
        check_private_effects(a, x, d);
    check_private_effects(a, e->a, d);
    check_private_effects(a, e->b, d);
    check_private_effects(a, e->c, d);
}

static void check_private(const around_t *a, const scan_stmt_t *s, const scan_decl_t *d)
{
    for (; s != NULL; s = s->next) {
        check_private_effects(a, s->cond, d);
        check_private_effects(a, s->step, d);
        if (s->decl != NULL)
            check_private_effects(a, s->decl->init, d);
        check_private(a, s->init, d);
        check_private(a, s->body, d);
        check_private(a, s->other, d);
    }
}

static void check_privates(const around_t *a, const scan_stmt_t *s)
{
    int bit = 0;

    for (const scan_expr_t *e = s->team->privates; e != NULL; e = e->next, bit++)
        if (e->kind == SCAN_E_NAME && (s->team->live >> (bit < 63 ? bit : 63) & 1) != 0)
            check_private(a, s->body, e->decl);
}

/* A block with a team: who runs it, as seen from outside. */
static void check_team(const around_t *outer, const scan_stmt_t *s)
{
    const scan_team_t *t = s->team;
    around_t a = *outer;

    check_privates(outer, s);
    if (t->is_parallel && (a.is_every || a.is_shared))
        refuse(outer, s->at, "parallel", "is inside of another team");
    if (t->is_parallel) {
        a.region = s->at;
        a.block = s;
        a.is_every = true;
        a.is_guarded = false;
    }
    if (a.is_every && (t->is_loop || t->is_sections)) {
        a.is_every = false;
        a.is_shared = true;
        a.block = t->is_parallel ? s : a.block;
    }
    if (a.is_every && (t->is_single || t->is_master))
        a.is_every = false;
    if (t->is_critical)
        a.is_guarded = true;
    if (t->is_ordered)
        a.is_guarded = false;
    check_stmts(&a, s->body);
}

/* Checks a list of statements; branches for failures are not there. */
static void check_stmts(around_t *a, const scan_stmt_t *s)
{
    for (; s != NULL; s = s->next) {
        if (s->team != NULL) {
            check_team(a, s);
            continue;
        }
        if (s->is_failure) {
            check_stmts(a, s->other);
            continue;
        }
        check_expr(a, s->cond);
        check_stmts(a, s->init);
        check_expr(a, s->step);
        if (s->decl != NULL)
            check_expr(a, s->decl->init);
        check_stmts(a, s->body);
        check_stmts(a, s->other);
    }
}

void scan_team_check(xy_scan_t *scan)
{
    if (scan->teams.count == 0)
        return;
    for (const scan_decl_t *f = scan->functions; f != NULL; f = f->next) {
        around_t a = {.scan = scan};

        if (f->flow->is_reached)
            check_stmts(&a, f->body);
    }
}
