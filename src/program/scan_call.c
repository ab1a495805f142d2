/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls in the slice: of kernels, functions of the program and of the C library. */
#include <string.h>

#include "cost/cost.h"
#include "program/c_library.h"
#include "program/scan_slice.h"

bool scan_is_listed(const char *const *names, const char *name)
{
    for (; names != NULL && *names != NULL; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

bool scan_is_mpi(const scan_decl_t *function)
{
    return function != NULL && function->body == NULL &&
           (strncmp(function->name, "MPI_", 4) == 0 || strncmp(function->name, "PMPI_", 5) == 0);
}

bool scan_is_clock(const scan_decl_t *function)
{
    return function != NULL &&
           (strcmp(function->name, "MPI_Wtime") == 0 || strcmp(function->name, "PMPI_Wtime") == 0);
}

bool scan_is_kernel(const xy_scan_t *scan, const scan_decl_t *function)
{
    for (size_t i = 0; function != NULL && i < scan->cuda_kernels.count; i++)
        if (strcmp(XY_VEC_AT(&scan->cuda_kernels, char *, i), function->name) == 0)
            return true;
    return function != NULL && (xy_kernel_base_name(function->name) != function->name ||
                                scan_is_listed(scan->options->kernels, function->name));
}

bool scan_is_exit(const char *name)
{
    static const char *const names[] = {"exit",  "_exit",     "_Exit", "quick_exit",
                                        "abort", "MPI_Abort", NULL};

    return scan_is_listed(names, name);
}

bool scan_is_library(const char *name)
{
    return strcmp(name, "sscanf") != 0 && library_find(name, strlen(name)) >= 0;
}

/* The function of the C library that writes where its first argument points to. */
typedef struct {
    const char *name;
    bool is_reading; /* it reads the old contents, too */
    int format;      /* the argument that is a format of printf(); 0: none */
} writer_t;

static const writer_t *find_writer(const scan_expr_t *e)
{
    static const writer_t writers[] = {
        {"memset", false, 0}, {"memcpy", false, 0},  {"memmove", false, 0},
        {"strcpy", false, 0}, {"strncpy", false, 0}, {"strcat", true, 0},
        {"strncat", true, 0}, {"sprintf", false, 1}, {"snprintf", false, 2}};

    for (size_t i = 0; e->decl != NULL && i < sizeof(writers) / sizeof(writers[0]); i++)
        if (strcmp(writers[i].name, e->decl->name) == 0)
            return &writers[i];
    return NULL;
}

/* Is the format one that is known before the program runs, with as many arguments as there can be?
 */
static bool is_printed(const scan_expr_t *e, const writer_t *writer)
{
    const scan_expr_t *format = e->args;
    int count = 0;

    for (const scan_expr_t *a = e->args; a != NULL; a = a->next, count++)
        if (count == writer->format)
            format = scan_strip(a);
    return writer->format == 0 || (format != NULL && format->kind == SCAN_E_STRING &&
                                   library_can_print(format->text) && count <= LIBRARY_SCANNED);
}

/* Then text in memory is not known, and the numbers in it are asked for. */
static bool reads_files(const xy_scan_t *scan)
{
    static const char *const names[] = {"c:@F@fgets", "c:@F@fread",    "c:@F@getline",
                                        "c:@F@read",  "c:@F@getdelim", "c:@F@gets"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (xy_hash_get(&scan->decls, XY_HASH_KEY(names[i])) != NULL)
            return true;
    return false;
}

bool scan_is_parsed(xy_scan_t *scan, const scan_expr_t *e)
{
    const scan_expr_t *text = e->args, *format = text != NULL ? text->next : NULL;
    int count = 0;

    if (e->kind != SCAN_E_CALL || e->decl == NULL || strcmp(e->decl->name, "sscanf") != 0 ||
        format == NULL || scan_strip(format)->kind != SCAN_E_STRING)
        return false;
    for (const scan_expr_t *a = text; a != NULL; a = a->next, count++)
        if (scan_is_unknowable(scan, a))
            return false;
    return count <= LIBRARY_SCANNED && library_can_scan(scan_strip(format)->text) &&
           (!scan_is_own_memory(scan, text) || !reads_files(scan));
}

bool scan_walk_effects(scan_walk_t *w, scan_expr_t *args, scan_set_t live)
{
    bool is_kept = false;

    for (scan_expr_t *a = args; a != NULL; a = a->next)
        is_kept |= scan_walk_expr(w, a, live, false);
    return is_kept;
}

/* Walks a call of a function of the program: live locations flow to its exit, those of its entry
 * flow back. */
static bool walk_own(scan_walk_t *w, scan_expr_t *e, scan_set_t live, bool is_needed)
{
    scan_flow_t *flow = e->decl->flow;
    uint64_t later = live[0] & (uint64_t)1 << SCAN_LATER_IN_FUNCTION;
    scan_decl_t *p = e->decl->params;

    w->has_changed |= !flow->is_reached || (is_needed && !flow->needs_result);
    flow->is_reached = true;
    flow->needs_result |= is_needed;
    live[0] &= ~((uint64_t)1 << SCAN_LATER_IN_FUNCTION);
    w->has_changed |= scan_set_join(w, flow->exit, live);
    live[0] |= later;
    if (!is_needed && !flow->has_effects)
        return scan_walk_effects(w, e->args, live);
    if (flow->has_effects)
        scan_walk_keep_effect(w, &e->is_kept, live);
    else
        scan_walk_keep(w, &e->is_kept, live);
    scan_set_join(w, live, flow->entry);
    for (scan_expr_t *a = e->args; a != NULL; a = a->next, p = p != NULL ? p->next : NULL)
        if (p != NULL && p->is_kept)
            scan_walk_need(w, a, live);
        else
            scan_walk_expr(w, a, live, false);
    return true;
}

/* The target of an argument is read. */
static void need_target(scan_walk_t *w, const scan_expr_t *a, long line, scan_set_t live)
{
    scan_access_t access = scan_access_target(w->scan, a);

    if (access.count > 0 && !scan_is_data(w->scan, &access))
        scan_set_add(w, live, &access, line);
}

/* Memory that is part of the slice is copied, cleared and written there, too. */
static bool walk_writer(scan_walk_t *w, scan_expr_t *e, const writer_t *writer, scan_set_t live,
                        bool is_needed)
{
    scan_access_t to;
    int i = 0;

    if (e->args == NULL)
        return false;
    to = scan_access_target(w->scan, e->args);
    if (!is_needed && (scan_is_data(w->scan, &to) || !scan_set_has_any(w, live, &to)))
        return scan_walk_effects(w, e->args, live);
    if (!is_needed && scan_is_unknowable(w->scan, e))
        return scan_walk_foreign(w, e, live);
    scan_walk_keep_effect(w, &e->is_kept, live);
    for (scan_expr_t *a = e->args; a != NULL; a = a->next, i++) {
        if (i > 0 || writer->is_reading)
            need_target(w, a, e->at.line, live);
        scan_walk_need(w, a, live);
    }
    return true;
}

/* sscanf() of an argument of the program. What it does not find stays as it was. */
static bool walk_parse(scan_walk_t *w, scan_expr_t *e, scan_set_t live, bool is_needed)
{
    bool is_kept = is_needed;

    for (scan_expr_t *a = e->args->next; a != NULL; a = a->next) {
        scan_access_t access = scan_access_target(w->scan, a);

        is_kept |= access.count > 0 && !scan_is_data(w->scan, &access) &&
                   scan_set_has_any(w, live, &access);
    }
    if (!is_kept)
        return scan_walk_effects(w, e->args, live);
    scan_walk_keep_effect(w, &e->is_kept, live);
    need_target(w, e->args, e->at.line, live);
    for (scan_expr_t *a = e->args; a != NULL; a = a->next)
        scan_walk_need(w, a, live);
    return true;
}

/* The names of options are read where they are. */
static void need_options(scan_walk_t *w, const scan_expr_t *e, scan_set_t live)
{
    const scan_expr_t *a = e->args;
    const scan_type_t *t;
    scan_access_t access;

    for (int i = 0; i < 3 && a != NULL; i++)
        a = a->next;
    if (a == NULL)
        return;
    access = scan_access_target(w->scan, a);
    scan_set_add(w, live, &access, e->at.line);
    t = scan_strip(a)->type;
    if (t->of != NULL && t->of->kind == SCAN_STRUCT)
        ((scan_record_t *)(uintptr_t)t->of->record)->is_whole = true;
}

/* It may follow the pointers that it finds there: nobody could say what to assume. */
static void check_reachable(scan_walk_t *w, const scan_expr_t *call, const scan_expr_t *a,
                            scan_set_t live)
{
    scan_access_t access = scan_access_reachable(w->scan, a);

    for (int i = 0; i < access.count; i++) {
        const scan_location_t *l = &XY_VEC_AT(&w->scan->locations, scan_location_t, access.ids[i]);
        scan_access_t one = {.ids = {access.ids[i]}, .count = 1};

        if (!l->is_data && scan_set_has_any(w, live, &one))
            scan_fail(w->scan, XY_EINVAL, call->at,
                      "%s%s may change '%s', which its argument points to and line %ld needs: its "
                      "value is not known; also give the source of the function",
                      call->decl != NULL ? call->decl->name : "the function",
                      call->decl != NULL ? "()" : "", l->name, l->wanted);
    }
}

/* The address of a global variable, as an argument that stands behind those of the program. */
static void add_global(xy_scan_t *scan, scan_expr_t *call, scan_decl_t *global)
{
    scan_expr_t *address = scan_alloc(scan, sizeof(*address)), **last = &call->args;
    scan_expr_t *name = scan_alloc(scan, sizeof(*name));
    scan_type_t *pointer = scan_alloc(scan, sizeof(*pointer));

    *pointer = (scan_type_t){.kind = SCAN_POINTER, .bytes = sizeof(void *), .of = global->type};
    *name =
        (scan_expr_t){.kind = SCAN_E_NAME, .type = global->type, .at = call->at, .decl = global};
    *address = (scan_expr_t){
        .kind = SCAN_E_UNARY, .op = SCAN_OP_ADDRESS, .type = pointer, .at = call->at, .a = name};
    while (*last != NULL)
        last = &(*last)->next;
    *last = address;
}

/* A function of another source may set the global variables that it can name: those are arguments
 * of its calls, too. */
static void add_globals(scan_walk_t *w, scan_expr_t *e, scan_set_t live)
{
    for (scan_decl_t *g = w->scan->globals; g != NULL; g = g->next) {
        scan_access_t access = scan_access_decl(w->scan, g);
        bool is_there = g->is_static || g->type->is_const || scan_is_data(w->scan, &access) ||
                        !scan_set_has_any(w, live, &access);

        for (const scan_expr_t *a = e->args; a != NULL && !is_there; a = a->next)
            is_there = a->kind == SCAN_E_UNARY && a->a->decl == g;
        if (!is_there)
            add_global(w->scan, e, g);
    }
}

/* Walk a call of a function without a body: needed data that it writes through its pointers is
 * unknown. */
bool scan_walk_foreign(scan_walk_t *w, scan_expr_t *e, scan_set_t live)
{
    bool is_free = e->decl != NULL &&
                   (strcmp(e->decl->name, "free") == 0 || strcmp(e->decl->name, "realloc") == 0);
    const scan_decl_t *p = e->decl != NULL ? e->decl->params : NULL;
    bool is_reader = e->decl != NULL && strstr(e->decl->name, "scanf") != NULL;
    bool is_kernel = scan_is_kernel(w->scan, e->decl);
    bool is_system = e->decl != NULL && (e->decl->is_system || scan_is_mpi(e->decl) ||
                                         (e->decl->body != NULL && !is_kernel) ||
                                         (is_kernel && xy_kernel_form(e->decl->name) != NULL));
    bool is_kept = false;

    if (!is_system)
        add_globals(w, e, live);
    for (scan_expr_t *a = e->args; a != NULL; a = a->next, p = p != NULL ? p->next : NULL) {
        scan_access_t access = scan_access_target(w->scan, a);
        bool is_written = p != NULL ? p->type->kind == SCAN_POINTER && !p->type->of->is_const
                                    : is_reader || !is_system;

        if (is_written && !is_free && access.count > 0 && !scan_is_data(w->scan, &access) &&
            scan_set_has_any(w, live, &access)) {
            if (access.is_strong)
                scan_set_remove(live, &access);
            scan_walk_keep_effect(w, &e->is_kept, live);
            w->has_changed |= !a->is_unknown;
            a->is_unknown = a->is_kept = true;
            is_kept = w->loop == NULL || w->loop->is_kept;
        }
        if (!is_system)
            check_reachable(w, e, a, live);
        is_kept |= scan_walk_expr(w, a, live, a->is_unknown);
    }
    return is_kept;
}

/* Walks a call of a kernel: its sizes are needed, and what it writes is not known. */
static bool walk_kernel(scan_walk_t *w, scan_expr_t *e, scan_set_t live)
{
    int i = 0;

    scan_walk_foreign(w, e, live);
    scan_walk_keep_effect(w, &e->is_kept, live);
    for (scan_expr_t *a = e->args; a != NULL; a = a->next, i++)
        if (scan_kernel_takes(e, i, a))
            scan_walk_need(w, a, live);
    return true;
}

static bool walk_exit(scan_walk_t *w, scan_expr_t *e, scan_set_t live)
{
    if ((live[0] >> SCAN_LATER & 1) == 0)
        return false;
    memset(live, 0, w->words * sizeof(uint64_t));
    scan_walk_keep_effect(w, &e->is_kept, live);
    return true;
}

bool scan_walk_call(scan_walk_t *w, scan_expr_t *e, scan_set_t live, bool is_needed)
{
    const writer_t *writer = find_writer(e);
    bool is_kept = false;

    if (scan_is_mpi(e->decl))
        return scan_walk_mpi(w, e, live);
    if (scan_is_kernel(w->scan, e->decl))
        return walk_kernel(w, e, live);
    if (e->decl != NULL && e->decl->body != NULL)
        return walk_own(w, e, live, is_needed);
    if (e->decl != NULL && scan_is_exit(e->decl->name))
        return walk_exit(w, e, live);
    if (writer != NULL && (is_needed || !scan_is_unknowable(w->scan, e)))
        return walk_writer(w, e, writer, live, is_needed);
    if (scan_is_parsed(w->scan, e))
        return walk_parse(w, e, live, is_needed);
    if (!is_needed || e->decl == NULL || !scan_is_library(e->decl->name))
        return scan_walk_foreign(w, e, live);
    if (strcmp(e->decl->name, "getopt_long") == 0)
        need_options(w, e, live);
    for (scan_expr_t *a = e->args; a != NULL; a = a->next) {
        if (strcmp(e->decl->name, "free") != 0)
            need_target(w, a, e->at.line, live);
        is_kept |= scan_walk_expr(w, a, live, true);
    }
    return is_kept;
}

bool scan_is_data_memory(const scan_type_t *pointer, const scan_expr_t *value)
{
    const scan_expr_t *e = scan_strip(value);

    return pointer->kind == SCAN_POINTER && pointer->of->kind == SCAN_REAL &&
           e->kind == SCAN_E_CALL && e->decl != NULL &&
           (strcmp(e->decl->name, "malloc") == 0 || strcmp(e->decl->name, "calloc") == 0);
}

/* Returns whether the result of a call cannot be computed from the description. */
static bool is_unknowable_call(xy_scan_t *scan, const scan_expr_t *e)
{
    if (e->decl == NULL || scan_is_kernel(scan, e->decl))
        return true;
    if (scan_is_mpi(e->decl) || e->decl->body != NULL)
        return false;
    if (scan_is_parsed(scan, e))
        return false;
    if (!scan_is_library(e->decl->name))
        return true;
    if (find_writer(e) != NULL && !is_printed(e, find_writer(e)))
        return true;
    for (const scan_expr_t *a = e->args; a != NULL; a = a->next)
        if (scan_is_unknowable(scan, a))
            return true;
    return false;
}

/* Returns whether a location holds data, or is addressed by a value that cannot be computed. */
static bool is_unknowable_lvalue(xy_scan_t *scan, const scan_expr_t *e, bool is_read)
{
    scan_access_t access = scan_access(scan, e);

    if (is_read && e->type->kind != SCAN_ARRAY &&
        (scan_is_data(scan, &access) || e->type->kind == SCAN_OTHER))
        return !(e->kind == SCAN_E_NAME && e->decl->is_function);
    switch (e->kind) {
    case SCAN_E_INDEX:
        return scan_is_unknowable(scan, e->a) || scan_is_unknowable(scan, e->b);
    case SCAN_E_MEMBER:
    case SCAN_E_UNARY:
        return scan_is_unknowable(scan, e->a);
    default:
        return false;
    }
}

bool scan_is_unknowable(xy_scan_t *scan, const scan_expr_t *e)
{
    if (e->type != NULL && e->type->is_wide)
        return true;
    switch (e->kind) {
    case SCAN_E_OTHER:
        return true;
    case SCAN_E_CALL:
        return is_unknowable_call(scan, e);
    case SCAN_E_NAME:
    case SCAN_E_INDEX:
    case SCAN_E_MEMBER:
        return is_unknowable_lvalue(scan, e, true);
    case SCAN_E_UNARY:
        if (e->op == SCAN_OP_ADDRESS)
            return is_unknowable_lvalue(scan, e->a, false);
        if (e->op == SCAN_OP_DEREF)
            return is_unknowable_lvalue(scan, e, true);
        return scan_is_unknowable(scan, e->a);
    case SCAN_E_LIST:
        for (const scan_expr_t *a = e->args; a != NULL; a = a->next)
            if (scan_is_unknowable(scan, a))
                return true;
        return false;
    default:
        return (e->a != NULL && scan_is_unknowable(scan, e->a)) ||
               (e->b != NULL && scan_is_unknowable(scan, e->b)) ||
               (e->c != NULL && scan_is_unknowable(scan, e->c));
    }
}
