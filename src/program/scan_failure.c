/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failures: branches that end the program because memory ran out, a file is missing or an MPI call
 * failed. Whether they happen is not in the source; they are assumed not to happen.
 *
 *   if (buffer == NULL || MPI_Init(&argc, &argv) != MPI_SUCCESS)
 *       MPI_Abort(MPI_COMM_WORLD, 1);
 *
 * A branch that ends the program with a code other than 0 is one where its test is not known. One
 * that leaves a function is one only where the test is for the failure itself: the NULL of a
 * library, or the code of an MPI call. Any other value that is not known is asked for.
 */
#include <string.h>

#include "program/scan_slice.h"

static const scan_stmt_t *last_of(const scan_stmt_t *s)
{
    while (s != NULL && (s->next != NULL || s->kind == SCAN_S_BLOCK))
        s = s->next != NULL ? s->next : s->body;
    return s;
}

/* Is it a code other than 0, in the text? */
static bool is_failing(const scan_expr_t *e)
{
    e = e != NULL ? scan_strip(e) : NULL;
    return e != NULL &&
           ((e->kind == SCAN_E_UNARY && e->op == '-') || (e->kind == SCAN_E_INT && e->value != 0));
}

/* Does a branch end the program with a failure: an exit, or a return of main()? */
static bool ends_program(const xy_scan_t *scan, const scan_decl_t *function, const scan_stmt_t *s)
{
    const scan_expr_t *e;

    s = last_of(s);
    if (s == NULL)
        return false;
    if (s->kind == SCAN_S_RETURN)
        return function == scan->main && is_failing(s->cond);
    e = s->kind == SCAN_S_EXPR ? scan_strip(s->cond) : NULL;
    return e != NULL && e->kind == SCAN_E_CALL && e->decl != NULL && scan_is_exit(e->decl->name) &&
           (strstr(e->decl->name, "xit") == NULL || is_failing(e->args));
}

/* Does a branch leave the function, or go to where it cleans up? */
static bool leaves(const xy_scan_t *scan, const scan_decl_t *function, const scan_stmt_t *s)
{
    s = last_of(s);
    return s != NULL &&
           (s->kind == SCAN_S_GOTO || (s->kind == SCAN_S_RETURN && function != scan->main));
}

static bool may_call(const char *name)
{
    return strcmp(name, "MPI_Abort") == 0 || strcmp(name, "MPI_Finalize") == 0 ||
           strcmp(name, "MPI_Error_string") == 0;
}

/* Nothing else happens there: no messages, no kernels, no functions of the program. */
static bool is_only_words(const xy_scan_t *scan, const scan_expr_t *e)
{
    if (e == NULL)
        return true;
    if (e->kind == SCAN_E_CALL &&
        (e->decl == NULL || e->decl->body != NULL || scan_is_kernel(scan, e->decl) ||
         (scan_is_mpi(e->decl) && !may_call(e->decl->name))))
        return false;
    for (const scan_expr_t *a = e->args; a != NULL; a = a->next)
        if (!is_only_words(scan, a))
            return false;
    return is_only_words(scan, e->a) && is_only_words(scan, e->b) && is_only_words(scan, e->c);
}

static bool has_only_words(const xy_scan_t *scan, const scan_stmt_t *s)
{
    for (; s != NULL; s = s->next)
        if (!is_only_words(scan, s->cond) || !has_only_words(scan, s->body) ||
            !has_only_words(scan, s->other) ||
            (s->decl != NULL && !is_only_words(scan, s->decl->init)))
            return false;
    return true;
}

static bool has_mpi(const scan_expr_t *e)
{
    return e != NULL &&
           ((e->kind == SCAN_E_CALL && scan_is_mpi(e->decl) && !scan_is_clock(e->decl)) ||
            has_mpi(e->a) || has_mpi(e->b) || has_mpi(e->c));
}

static bool is_about_pointers(const scan_expr_t *e)
{
    const scan_type_t *t = scan_strip(e)->type;

    return t->kind == SCAN_POINTER && !(t->of != NULL && t->of->is_char);
}

/* Do both name the same variable, or members of the same name? */
static bool is_same_place(const scan_expr_t *a, const scan_expr_t *b)
{
    while (a->kind == SCAN_E_CAST || a->kind == SCAN_E_INDEX || a->kind == SCAN_E_UNARY)
        a = a->a;
    while (b->kind == SCAN_E_CAST || b->kind == SCAN_E_INDEX || b->kind == SCAN_E_UNARY)
        b = b->a;
    return a->kind == b->kind && ((a->kind == SCAN_E_NAME && a->decl == b->decl) ||
                                  (a->kind == SCAN_E_MEMBER && strcmp(a->text, b->text) == 0));
}

static bool is_library_call(const scan_expr_t *e)
{
    e = scan_strip(e);
    return e->kind == SCAN_E_CALL && (e->decl == NULL || e->decl->body == NULL);
}

/* Does an expression set the pointer to what a function of a library returns? */
static bool sets_from_library(const scan_expr_t *e, const scan_expr_t *pointer)
{
    if (e == NULL)
        return false;
    if (e->kind == SCAN_E_ASSIGN && is_library_call(e->b) && is_same_place(e->a, pointer))
        return true;
    for (const scan_expr_t *a = e->args; a != NULL; a = a->next)
        if (sets_from_library(a, pointer))
            return true;
    return sets_from_library(e->a, pointer) || sets_from_library(e->b, pointer) ||
           sets_from_library(e->c, pointer);
}

/* The same for statements, but for the branch `except`. */
static bool is_set_from_library(const scan_stmt_t *s, const scan_expr_t *pointer,
                                const scan_stmt_t *except)
{
    for (; s != NULL && s != except; s = s->next)
        if ((s->decl != NULL && s->decl->init != NULL && pointer->kind == SCAN_E_NAME &&
             s->decl == pointer->decl && is_library_call(s->decl->init)) ||
            sets_from_library(s->cond, pointer) || is_set_from_library(s->init, pointer, except) ||
            is_set_from_library(s->body, pointer, except) ||
            is_set_from_library(s->other, pointer, except))
            return true;
    return false;
}

/* May the pointer be the NULL of a library that failed? */
static bool is_from_library(const scan_decl_t *function, const scan_stmt_t *test,
                            const scan_expr_t *e)
{
    e = scan_strip(e);
    if (e->kind == SCAN_E_ASSIGN)
        return is_library_call(e->b);
    return is_library_call(e) || is_set_from_library(function->body, e, test->body);
}

/* Does the condition of a test depend on what is not followed? */
static bool is_foreign(xy_scan_t *scan, const scan_expr_t *e)
{
    if (e->kind == SCAN_E_BINARY || (e->kind == SCAN_E_UNARY && e->op == '!'))
        return is_foreign(scan, e->a) || (e->b != NULL && is_foreign(scan, e->b));
    return is_about_pointers(e) || has_mpi(e) || scan_is_unknowable(scan, e);
}

static bool is_zero(const scan_expr_t *e)
{
    e = scan_strip(e);
    return e->kind == SCAN_E_INT && e->value == 0;
}

/* Is a condition true only where a library gave NULL, or an MPI call another code than 0? */
static bool is_failure(const scan_decl_t *function, const scan_stmt_t *test, const scan_expr_t *e)
{
    const scan_expr_t *of = NULL;

    e = scan_strip(e);
    if (e->kind == SCAN_E_UNARY && e->op == '!')
        of = e->a;
    if (e->kind == SCAN_E_BINARY && e->op == SCAN_OP_COMMA)
        return is_failure(function, test, e->b);
    if (e->kind == SCAN_E_BINARY && e->op == SCAN_OP_OR)
        return is_failure(function, test, e->a) && is_failure(function, test, e->b);
    if (e->kind == SCAN_E_BINARY && e->op == SCAN_OP_AND)
        return is_failure(function, test, e->a) || is_failure(function, test, e->b);
    if (e->kind == SCAN_E_BINARY && e->op == SCAN_OP_EQ && (is_zero(e->a) || is_zero(e->b)))
        of = is_zero(e->a) ? e->b : e->a;
    if (of != NULL)
        return is_about_pointers(of) && is_from_library(function, test, of);
    return has_mpi(e);
}

void scan_failure_find(xy_scan_t *scan, const scan_decl_t *function, scan_stmt_t *s)
{
    for (; s != NULL; s = s->next) {
        if (s->kind == SCAN_S_IF && s->cond != NULL && has_only_words(scan, s->body))
            s->is_failure = (ends_program(scan, function, s->body) && is_foreign(scan, s->cond)) ||
                            (leaves(scan, function, s->body) && is_failure(function, s, s->cond));
        scan_failure_find(scan, function, s->body);
        scan_failure_find(scan, function, s->other);
    }
}
