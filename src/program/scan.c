/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/scan.h"

#include <stdarg.h>
#include <string.h>

#include "program/scan_emit.h"
#include "program/scan_openmp.h"

/* Run `body`; scan_leave() ends it from any depth. */
static xy_status_t try(xy_scan_t *scan, void (*body)(xy_scan_t *scan))
{
    if (setjmp(scan->leave) == 0)
        body(scan);
    return scan->status;
}

void scan_leave(xy_scan_t *scan, xy_status_t status)
{
    scan->status = status;
    longjmp(scan->leave, 1);
}

void scan_fail(xy_scan_t *scan, xy_status_t status, scan_place_t at, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    scan_leave(scan, xy_fail_at(status, scan_file_name(scan, at.file), at.line, "%s", text));
}

void *scan_alloc(xy_scan_t *scan, size_t size)
{
    void *p = xy_arena_alloc(scan->arena, size);

    if (p == NULL)
        scan_leave(scan, xy_fail_memory("scanning a program"));
    return p;
}

char *scan_copy(xy_scan_t *scan, const char *s)
{
    char *copy = xy_arena_strndup(scan->arena, s, strlen(s));

    if (copy == NULL)
        scan_leave(scan, xy_fail_memory("scanning a program"));
    return copy;
}

const char *scan_file_name(const xy_scan_t *scan, int file)
{
    return file >= 0 ? XY_VEC_AT(&scan->files, scan_file_t, file).path : "";
}

/* ---- Programs that cannot be described --------------------------------------------------- */

static void reverse(scan_decl_t **list)
{
    scan_decl_t *reversed = NULL;

    while (*list != NULL) {
        scan_decl_t *next = (*list)->next;

        (*list)->next = reversed;
        reversed = *list;
        *list = next;
    }
    *list = reversed;
}

/* Functions and variables of different files may have the same name when they are static. */
static void rename_same(xy_scan_t *scan, scan_decl_t *list)
{
    xy_hash_t names;
    xy_status_t st = XY_OK;
    char buffer[256];

    xy_hash_init(&names, XY_HASH_STRING);
    for (scan_decl_t *d = list; d != NULL && st == XY_OK; d = d->next) {
        if (xy_hash_get(&names, XY_HASH_KEY(d->name)) == NULL) {
            st = xy_hash_set(&names, XY_HASH_KEY(d->name), d);
            continue;
        }
        snprintf(buffer, sizeof(buffer), "%s_%ld", d->name, d->id);
        d->emitted = xy_arena_strndup(scan->arena, buffer, strlen(buffer));
        st = d->emitted == NULL ? XY_ENOMEM : XY_OK;
    }
    xy_hash_cleanup(&names);
    if (st != XY_OK)
        scan_leave(scan, xy_fail_memory("scanning a program"));
}

typedef struct {
    xy_scan_t *scan;
    bool has_mpi;
} look_t;

static void look_function(look_t *l, scan_decl_t *f);

/* Visits an expression and the functions it calls, and notes calls of MPI. */
static void look_expr(look_t *l, const scan_expr_t *e)
{
    if (e == NULL)
        return;
    look_expr(l, e->a);
    look_expr(l, e->b);
    look_expr(l, e->c);
    for (const scan_expr_t *a = e->args; a != NULL; a = a->next)
        look_expr(l, a);
    if (e->kind != SCAN_E_CALL)
        return;
    l->has_mpi |= scan_is_mpi(e->decl);
    if (e->is_kept && e->decl != NULL && e->decl->body != NULL &&
        !scan_is_kernel(l->scan, e->decl)) {
        look_function(l, e->decl);
    }
}

/* Visits a list of statements; fails for a goto that the description cannot express. */
static void look_stmt(look_t *l, const scan_decl_t *f, const scan_stmt_t *s)
{
    for (; s != NULL; s = s->next) {
        if (s->is_failure) {
            look_expr(l, s->cond);
            look_stmt(l, f, s->other);
            continue;
        }
        if (s->kind == SCAN_S_GOTO && !s->is_label && s->target == NULL && f->flow->has_kept)
            scan_fail(l->scan, XY_EINVAL, s->at,
                      "a goto to a computed label is not understood in %s(), which communicates or "
                      "computes: write it with loops and conditions",
                      f->name);
        look_expr(l, s->cond);
        look_expr(l, s->step);
        if (s->decl != NULL)
            look_expr(l, s->decl->init);
        look_stmt(l, f, s->init);
        look_stmt(l, f, s->body);
        look_stmt(l, f, s->other);
    }
}

static void look_function(look_t *l, scan_decl_t *f)
{
    if (f->is_looked)
        return;
    f->is_looked = true;
    look_stmt(l, f, f->body);
}

/* A call through a pointer may reach any function whose address is taken. */
static void check_pointer_calls(xy_scan_t *scan, const scan_expr_t *e)
{
    if (e == NULL)
        return;
    if (e->kind == SCAN_E_CALL && e->decl == NULL)
        scan_fail(scan, XY_EINVAL, e->at,
                  "a call through a function pointer: the function it reaches is not known, and "
                  "some functions of this program communicate; call it by its name");
    check_pointer_calls(scan, e->a);
    check_pointer_calls(scan, e->b);
    check_pointer_calls(scan, e->c);
    for (const scan_expr_t *a = e->args; a != NULL; a = a->next)
        check_pointer_calls(scan, a);
}

static void check_pointers(xy_scan_t *scan, const scan_stmt_t *s)
{
    for (; s != NULL; s = s->next) {
        check_pointer_calls(scan, s->cond);
        check_pointer_calls(scan, s->step);
        if (s->decl != NULL)
            check_pointer_calls(scan, s->decl->init);
        check_pointers(scan, s->init);
        check_pointers(scan, s->body);
        check_pointers(scan, s->other);
    }
}

static bool calls_mpi_expr(const xy_scan_t *scan, const scan_expr_t *e)
{
    if (e == NULL)
        return false;
    if (e->kind == SCAN_E_CALL && (scan_is_mpi(e->decl) || scan_is_kernel(scan, e->decl)))
        return true;
    for (const scan_expr_t *a = e->args; a != NULL; a = a->next)
        if (calls_mpi_expr(scan, a))
            return true;
    return calls_mpi_expr(scan, e->a) || calls_mpi_expr(scan, e->b) || calls_mpi_expr(scan, e->c);
}

static bool calls_mpi(const xy_scan_t *scan, const scan_stmt_t *s)
{
    for (; s != NULL; s = s->next)
        if (calls_mpi_expr(scan, s->cond) || calls_mpi_expr(scan, s->step) ||
            (s->decl != NULL && calls_mpi_expr(scan, s->decl->init)) || calls_mpi(scan, s->init) ||
            calls_mpi(scan, s->body) || calls_mpi(scan, s->other))
            return true;
    return false;
}

/* Functions that nobody calls by name, and that communicate: only a pointer can reach them. */
static bool has_hidden(const xy_scan_t *scan)
{
    for (const scan_decl_t *f = scan->functions; f != NULL; f = f->next)
        if (!f->flow->is_reached && calls_mpi(scan, f->body))
            return true;
    return false;
}

/* Fails for programs without MPI calls and for constructs that the description cannot express. */
static void check(xy_scan_t *scan)
{
    look_t l = {.scan = scan};

    look_function(&l, scan->main);
    if (has_hidden(scan))
        for (scan_decl_t *f = scan->functions; f != NULL; f = f->next)
            if (f->flow->is_reached)
                check_pointers(scan, f->body);
    if (!l.has_mpi)
        scan_fail(scan, XY_EINVAL, scan->main->at,
                  "main() calls no MPI function: there is nothing "
                  "to describe");
}

/* ---- The whole --------------------------------------------------------------------------- */

/* Fails if an --assume option names no unknown value. */
static void check_assumed(xy_scan_t *scan)
{
    for (const char *const *a = scan->options->assumed; a != NULL && *a != NULL; a++) {
        size_t length = strcspn(*a, "=");
        bool is_used = false;

        for (size_t i = 0; i < scan->unknowns.count; i++) {
            const scan_unknown_t *u = &XY_VEC_AT(&scan->unknowns, scan_unknown_t, i);

            is_used |= u->name == NULL && strlen(u->reason) == length &&
                       strncmp(u->reason, *a, length) == 0;
        }
        if (!is_used)
            scan_leave(
                scan,
                xy_fail(XY_EUSAGE,
                        "--assume %s: no unknown value has that name; run without it to list them",
                        *a));
    }
}

/* Reads all files, slices the program and emits its description; errors leave by longjmp. */
static void scan_all(xy_scan_t *scan)
{
    for (int i = 0; i < scan->count; i++)
        scan_clang_parse(scan, scan->paths[i], NULL);
    scan_read_library(scan);
    scan_clang_close(scan);
    if (scan->main == NULL)
        scan_leave(scan, xy_fail_at(XY_EINVAL, scan->paths[scan->count - 1], 0,
                                    "no function main(): also give the file that has it"));
    reverse(&scan->functions);
    reverse(&scan->globals);
    rename_same(scan, scan->functions);
    rename_same(scan, scan->globals);
    scan_pointer_calls(scan);
    scan_alias_find(scan);
    scan_slice(scan);
    check(scan);
    scan_openmp_check_headers(scan);
    scan_team_check(scan);
    scan_emit(scan);
    check_assumed(scan);
}

xy_status_t xy_scan_run(const xy_scan_options_t *options, int count, const char *const *paths,
                        xy_scan_t **scan_p)
{
    xy_scan_t *scan;
    xy_status_t st = scan_clang_load();

    if (st != XY_OK)
        return st;
    scan = xy_calloc(1, sizeof(*scan));
    if (scan == NULL || xy_arena_create(&scan->arena) != XY_OK) {
        xy_free(scan);
        return xy_fail_memory("scanning a program");
    }
    scan->options = options;
    scan->paths = paths;
    scan->count = count;
    scan->files = XY_VEC_INIT(scan_file_t);
    scan->locations = XY_VEC_INIT(scan_location_t);
    scan->carried = XY_VEC_INIT(scan_carried_t);
    scan->persistent = XY_VEC_INIT(scan_expr_t *);
    scan->windows = XY_VEC_INIT(scan_expr_t *);
    scan->unknowns = XY_VEC_INIT(scan_unknown_t);
    scan->teams = XY_VEC_INIT(scan_team_t);
    scan->cuda_kernels = XY_VEC_INIT(char *);
    scan->taken = XY_VEC_INIT(scan_decl_t *);
    xy_hash_init(&scan->decls, XY_HASH_STRING);
    xy_hash_init(&scan->records, XY_HASH_STRING);
    st = try(scan, scan_all);
    if (st == XY_OK)
        *scan_p = scan;
    else
        xy_scan_free(scan);
    return st;
}

void xy_scan_free(xy_scan_t *scan)
{
    if (scan == NULL)
        return;
    scan_clang_close(scan);
    for (size_t i = 0; i < scan->files.count; i++)
        xy_free(XY_VEC_AT(&scan->files, scan_file_t, i).text);
    xy_vec_cleanup(&scan->files);
    xy_vec_cleanup(&scan->locations);
    xy_vec_cleanup(&scan->carried);
    xy_vec_cleanup(&scan->persistent);
    xy_vec_cleanup(&scan->windows);
    xy_vec_cleanup(&scan->unknowns);
    xy_vec_cleanup(&scan->teams);
    xy_vec_cleanup(&scan->cuda_kernels);
    xy_vec_cleanup(&scan->taken);
    xy_hash_cleanup(&scan->decls);
    xy_hash_cleanup(&scan->records);
    xy_program_destroy(scan->program);
    xy_arena_destroy(scan->arena);
    xy_free(scan);
}

const xy_program_t *xy_scan_program(const xy_scan_t *scan)
{
    return scan->program;
}
