/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failures: branches that end the program because memory ran out, a file is missing or an MPI call
 * failed. Whether they happen is not in the source; they are assumed not to happen.
 *
 *   if (buffer == NULL || MPI_Init(&argc, &argv) != MPI_SUCCESS)
 *       MPI_Abort(MPI_COMM_WORLD, 1);
 *
 * A test of numbers that the slice can follow, such as the number of processes, is no such branch.
 */
#include <string.h>

#include "program/scan_slice.h"

static const scan_stmt_t *last_of(const scan_stmt_t *s)
{
    while (s != NULL && (s->next != NULL || s->kind == SCAN_S_BLOCK))
        s = s->next != NULL ? s->next : s->body;
    return s;
}

/* Returns whether a branch ends in an exit, a goto or a failing return. */
static bool does_end(const xy_scan_t *scan, const scan_decl_t *function, const scan_stmt_t *s)
{
    const scan_expr_t *e;

    s = last_of(s);
    if (s == NULL)
        return false;
    if (s->kind == SCAN_S_GOTO)
        return true; /* to where it cleans up */
    if (s->kind == SCAN_S_RETURN)
        return function != scan->main ||
               (s->cond != NULL && !(s->cond->kind == SCAN_E_INT && s->cond->value == 0));
    e = s->kind == SCAN_S_EXPR ? scan_strip(s->cond) : NULL;
    return e != NULL && e->kind == SCAN_E_CALL && e->decl != NULL && scan_is_exit(e->decl->name);
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
    return e != NULL && ((e->kind == SCAN_E_CALL && scan_is_mpi(e->decl)) || has_mpi(e->a) ||
                         has_mpi(e->b) || has_mpi(e->c));
}

static bool is_about_pointers(const scan_expr_t *e)
{
    const scan_type_t *t = scan_strip(e)->type;

    return t->kind == SCAN_POINTER && !(t->of != NULL && t->of->is_char);
}

/* Does it depend on what is not followed? */
static bool is_foreign(xy_scan_t *scan, const scan_expr_t *e)
{
    if (e->kind == SCAN_E_BINARY || (e->kind == SCAN_E_UNARY && e->op == '!'))
        return is_foreign(scan, e->a) || (e->b != NULL && is_foreign(scan, e->b));
    return is_about_pointers(e) || has_mpi(e) || scan_is_unknowable(scan, e);
}

void scan_failure_find(xy_scan_t *scan, const scan_decl_t *function, scan_stmt_t *s)
{
    for (; s != NULL; s = s->next) {
        if (s->kind == SCAN_S_IF && s->cond != NULL)
            s->is_failure = does_end(scan, function, s->body) && has_only_words(scan, s->body) &&
                            is_foreign(scan, s->cond);
        scan_failure_find(scan, function, s->body);
        scan_failure_find(scan, function, s->other);
    }
}
