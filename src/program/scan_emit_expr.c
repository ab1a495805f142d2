/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements for the effects of expressions: calls of MPI and kernels, assignments, unknown values.
 */
#include <string.h>

#include "cost/cost.h"
#include "program/scan_emit.h"

xy_node_t *scan_emit_add(scan_emit_t *t, xy_node_kind_t kind, scan_place_t at)
{
    return xy_program_add(t->scan->program, t->at, kind, scan_file_name(t->scan, at.file), at.line);
}

static void set(scan_emit_t *t, xy_node_t *node, const char *name, const char *value)
{
    xy_program_set(t->scan->program, node, name, value);
}

static void emit_do(scan_emit_t *t, const char *text, scan_place_t at)
{
    set(t, scan_emit_add(t, XY_NODE_DO, at), "c", text);
}

/* ---- Unknown values ---------------------------------------------------------------------- */

static const char *data_reason(xy_scan_t *scan, const scan_expr_t *e)
{
    scan_access_t access = scan_access(scan, e);
    char buffer[160];

    snprintf(buffer, sizeof(buffer),
             e->type->kind == SCAN_OTHER && e->kind == SCAN_E_MEMBER ? "in a union (%s)"
                                                                     : "computed from data (%s)",
             access.count > 0 ? XY_VEC_AT(&scan->locations, scan_location_t, access.ids[0]).name
                              : "not followed");
    return scan_copy(scan, buffer);
}

const char *scan_reason(xy_scan_t *scan, const scan_expr_t *e)
{
    char buffer[160];

    if (!scan_is_unknowable(scan, e))
        return NULL;
    if (e->kind == SCAN_E_CALL) {
        for (const scan_expr_t *a = e->args; a != NULL && e->decl != NULL; a = a->next)
            if (scan_is_library(e->decl->name) && scan_is_unknowable(scan, a))
                return scan_reason(scan, a);
        snprintf(buffer, sizeof(buffer), "result of %s%s",
                 e->decl != NULL ? e->decl->name : "a function that a pointer names",
                 e->decl != NULL ? "()" : "");
        return scan_copy(scan, buffer);
    }
    for (const scan_expr_t *a = e->args; a != NULL; a = a->next)
        if (scan_is_unknowable(scan, a))
            return scan_reason(scan, a);
    if (e->kind != SCAN_E_INDEX && e->kind != SCAN_E_MEMBER && e->kind != SCAN_E_NAME) {
        if (e->a != NULL && scan_is_unknowable(scan, e->a))
            return scan_reason(scan, e->a);
        if (e->b != NULL && scan_is_unknowable(scan, e->b))
            return scan_reason(scan, e->b);
        if (e->c != NULL && scan_is_unknowable(scan, e->c))
            return scan_reason(scan, e->c);
    }
    return e->kind == SCAN_E_OTHER ? e->text : data_reason(scan, e);
}

/* The value of a name by --assume, or NULL. */
static const char *assumed(const xy_scan_t *scan, const char *name)
{
    size_t length = strlen(name);

    for (const char *const *a = scan->options->assumed; a != NULL && *a != NULL; a++)
        if (strncmp(*a, name, length) == 0 && (*a)[length] == '=')
            return *a + length + 1;
    return NULL;
}

static const char *join(xy_scan_t *scan, const char *a, const char *b, const char *c)
{
    size_t length = strlen(a) + strlen(b) + strlen(c) + 1;
    char *text = scan_alloc(scan, length);

    snprintf(text, length, "%s%s%s", a, b, c);
    return text;
}

static void note_unknown(scan_emit_t *t, const char *name, const char *reason, scan_place_t at)
{
    scan_unknown_t *u = xy_vec_push(&t->scan->unknowns);

    if (u == NULL)
        scan_leave(t->scan, xy_fail_memory("describing the program"));
    *u = (scan_unknown_t){name, reason, at};
}

/* The name of an unknown value, without what cannot be written in front of '='. */
void scan_emit_unknown(scan_emit_t *t, const char *target, const char *reason, scan_place_t at)
{
    const char *value = assumed(t->scan, target);
    xy_node_t *node;

    if (value != NULL) {
        emit_do(t, join(t->scan, target, " = ", value), at);
        note_unknown(t, NULL, target, at); /* used */
        return;
    }
    node = scan_emit_add(t, XY_NODE_UNKNOWN, at);
    set(t, node, "name", target);
    set(t, node, "reason", reason);
    set(t, node, "target", target);
    note_unknown(t, target, reason, at);
}

/* So many bytes from the target on are not known; --assume gives elements or members. */
static void emit_unknown_memory(scan_emit_t *t, const char *name, const char *target,
                                const char *bytes, const char *reason, scan_place_t at)
{
    size_t length = strlen(name);
    xy_node_t *node = scan_emit_add(t, XY_NODE_UNKNOWN, at);
    bool is_assumed = false;

    set(t, node, "name", name);
    set(t, node, "reason", reason);
    set(t, node, "target", target);
    set(t, node, "bytes", bytes);
    for (const char *const *a = t->scan->options->assumed; a != NULL && *a != NULL; a++)
        if (strncmp(*a, name, length) == 0 && ((*a)[length] == '[' || (*a)[length] == '.')) {
            size_t end = strcspn(*a, "=");
            char *part = scan_alloc(t->scan, end + 1);

            memcpy(part, *a, end);
            emit_do(t, join(t->scan, part, " = ", *a + end + ((*a)[end] == '=')), at);
            note_unknown(t, NULL, part, at); /* used */
            is_assumed = true;
        }
    if (!is_assumed)
        note_unknown(t, target, reason, at);
}

/* A variable for the unknown part of an expression: unknown_42, unknown_42b. */
static void emit_stand_in(scan_emit_t *t, scan_expr_t *e)
{
    xy_node_t *node;
    char buffer[64];

    if (e->stand_in == NULL) {
        snprintf(buffer, sizeof(buffer), "unknown_%ld_%d", e->at.line, ++t->scan->stand_ins);
        e->stand_in = scan_copy(t->scan, buffer);
    }
    node = scan_emit_add(t, XY_NODE_VARIABLE, e->at);
    set(t, node, "name", e->stand_in);
    set(t, node, "type", e->type->kind == SCAN_REAL ? "double" : "long");
    scan_emit_unknown(t, e->stand_in, scan_reason(t->scan, e), e->at);
}

/* ---- Calls ------------------------------------------------------------------------------- */

static bool is_in_place(const scan_expr_t *e)
{
    e = scan_strip(e);
    return e->kind == SCAN_E_INT && e->value == 1;
}

/* A buffer of data that is in place on some processes; or one of variables that are kept. */
static const char *print_buffer(scan_emit_t *t, const scan_expr_t *e)
{
    if (e->kind != SCAN_E_CHOICE || !(is_in_place(e->b) || is_in_place(e->c)))
        return scan_print(t->scan, e);
    return join(t->scan, scan_print(t->scan, e->a), " ? ",
                is_in_place(e->b) ? "MPI_IN_PLACE : NULL" : "NULL : MPI_IN_PLACE");
}

/* Note that a struct is sent by its bytes, or from one of its members on. */
static void note_layout(const scan_expr_t *buffer)
{
    const scan_expr_t *e = scan_strip(buffer);
    const scan_type_t *t = e->type;

    for (e = e->op == SCAN_OP_ADDRESS ? e->a : e; e != NULL; e = e->a)
        if (e->kind == SCAN_E_MEMBER)
            note_layout(e->a);
    while (t != NULL && (t->kind == SCAN_POINTER || t->kind == SCAN_ARRAY))
        t = t->of;
    if (t != NULL && t->kind == SCAN_STRUCT)
        ((scan_record_t *)(uintptr_t)t->record)->is_whole = true;
}

/* Returns the text of the i-th argument of an MPI call; NULL for an argument that is left out. */
static const char *mpi_argument(scan_emit_t *t, const xy_mpi_call_t *call, int i,
                                const scan_expr_t *e)
{
    bool is_null = e->kind == SCAN_E_INT && e->value == 0;

    switch (call->kinds[i]) {
    case XY_ARG_BUFFER:
        if (is_in_place(e))
            return "MPI_IN_PLACE";
        if (!e->is_kept)
            return NULL;
        note_layout(e);
        return print_buffer(t, scan_strip(e));
    case XY_ARG_POINTER:
        if (strcmp(call->args[i], "status") == 0 && (is_null || !e->is_kept) &&
            strncmp(call->name, "MPI_Get_", 8) != 0)
            return "MPI_STATUS_IGNORE";
        if (strcmp(call->args[i], "array_of_statuses") == 0 && (is_null || !e->is_kept))
            return "MPI_STATUSES_IGNORE";
        return scan_print(t->scan, scan_strip(e));
    case XY_ARG_VALUE:
        return scan_print(t->scan, e);
    default:
        return NULL;
    }
}

/* Is the argument there with its effects? */
static bool is_printed(const char *text)
{
    return text != NULL && strcmp(text, "MPI_STATUS_IGNORE") != 0 &&
           strcmp(text, "MPI_STATUSES_IGNORE") != 0 && strcmp(text, "MPI_IN_PLACE") != 0;
}

static void emit_written(scan_emit_t *t, const scan_expr_t *p, bool is_whole, const char *reason,
                         scan_place_t at);

/* Emits an MPI call after the effects and unknown values of its arguments. Some of its
 * results are not known after it. */
static void emit_mpi(scan_emit_t *t, scan_expr_t *e)
{
    const char *name = e->decl->name + (e->decl->name[0] == 'P');
    const xy_mpi_call_t *call = xy_mpi_call_find(name);
    const char *texts[XY_MPI_ARGS_MAX] = {NULL};
    int count = 0;

    for (scan_expr_t *a = e->args; a != NULL && count < XY_MPI_ARGS_MAX; a = a->next, count++) {
        texts[count] = mpi_argument(t, call, count, a);
        if (is_printed(texts[count]) && !scan_is_unknown_result(call, call->args[count]))
            scan_emit_before(t, a);
        else
            scan_emit_effects(t, a);
        texts[count] = mpi_argument(t, call, count, a); /* with what stands in for the unknown */
    }
    xy_program_add_mpi(t->scan->program, t->at, scan_file_name(t->scan, e->at.file), e->at.line,
                       call->name, count, texts);
    count = 0;
    for (scan_expr_t *a = e->args; a != NULL; a = a->next, count++)
        if (a->is_kept && a->is_unknown && scan_is_unknown_result(call, call->args[count]))
            emit_written(t, scan_strip(a), true, join(t->scan, "set by ", name, "()"), e->at);
}

/* Emits a kernel call with the sizes that its arguments state. */
static void emit_kernel(scan_emit_t *t, scan_expr_t *e)
{
    xy_node_t *node;
    const char *sizes;
    int i = 0;

    for (scan_expr_t *a = e->args; a != NULL; a = a->next, i++)
        if (scan_kernel_takes(e, i, a))
            scan_emit_before(t, a);
        else
            scan_emit_effects(t, a);
    node = scan_emit_add(t, XY_NODE_KERNEL, e->at);
    set(t, node, "name", xy_kernel_base_name(e->decl->name));
    sizes = scan_kernel_sizes(t->scan, e);
    if (*sizes != '\0')
        set(t, node, "sizes", sizes);
    for (scan_expr_t *a = e->args; a != NULL; a = a->next)
        if (a->is_kept && a->is_unknown)
            emit_written(t, scan_strip(a), true, join(t->scan, "set by ", e->decl->name, "()"),
                         e->at);
}

/* sscanf(text, "%d", &n) is n = atoi(text). */
static bool emit_sscanf(scan_emit_t *t, scan_expr_t *e)
{
    static const struct {
        const char *format, *function;
    } simple[] = {{"\"%d\"", "atoi"},  {"\"%i\"", "atoi"},  {"\"%u\"", "atoi"},
                  {"\"%ld\"", "atol"}, {"\"%lf\"", "atof"}, {"\"%f\"", "atof"}};
    scan_expr_t *text = e->args, *format = text != NULL ? text->next : NULL;
    scan_expr_t *target = format != NULL ? format->next : NULL;

    if (target == NULL || target->next != NULL || strcmp(e->decl->name, "sscanf") != 0 ||
        scan_strip(format)->kind != SCAN_E_STRING || scan_strip(target)->op != SCAN_OP_ADDRESS)
        return false;
    for (size_t i = 0; i < sizeof(simple) / sizeof(simple[0]); i++)
        if (strcmp(scan_strip(format)->text, simple[i].format) == 0) {
            const char *a = scan_print(t->scan, scan_strip(target)->a);
            const char *b = scan_print(t->scan, text);

            emit_do(t,
                    join(t->scan, join(t->scan, a, " = ", simple[i].function), "(",
                         join(t->scan, b, ")", "")),
                    e->at);
            return true;
        }
    return false;
}

/* The target of a pointer of such a call is not known afterwards: a number, or with `is_whole` all
 * of an array. */
static void emit_written(scan_emit_t *t, const scan_expr_t *p, bool is_whole, const char *reason,
                         scan_place_t at)
{
    bool is_address = p->kind == SCAN_E_UNARY && p->op == SCAN_OP_ADDRESS;
    const char *name, *bytes;
    char most[48];

    if (is_address)
        p = p->a;
    if (is_address && is_whole && p->kind == SCAN_E_INDEX) {
        p = scan_strip(p->a); /* the first element of a part of an array */
        is_address = false;
    }
    name = scan_print(t->scan, p);
    bytes = !is_address && p->type->kind == SCAN_POINTER ? "malloc_usable_size(" : "sizeof(";
    bytes = join(t->scan, bytes, name, ")");
    if (!is_address && p->type->kind == SCAN_POINTER && scan_target_bytes(t->scan, p) > 0) {
        snprintf(most, sizeof(most), " : %ld", scan_target_bytes(t->scan, p));
        bytes = join(t->scan, join(t->scan, bytes, " > 0 ? ", bytes), most, "");
    }
    if (p->type->kind == SCAN_STRUCT)
        emit_unknown_memory(t, name, name, bytes, reason, at);
    else if (is_address && p->type->kind != SCAN_ARRAY)
        scan_emit_unknown(t, name, reason, at);
    else if (is_whole)
        emit_unknown_memory(t, name, join(t->scan, name, "[0]", ""), bytes, reason, at);
    else
        scan_emit_unknown(t, join(t->scan, name, "[0]", ""), reason, at);
}

/* Emits the effects of a call outside the program; locations it sets become unknown values. */
static void emit_foreign(scan_emit_t *t, scan_expr_t *e)
{
    const char *reason;
    bool is_reader;

    for (scan_expr_t *a = e->args; a != NULL; a = a->next)
        scan_emit_effects(t, a);
    if (!e->is_kept || emit_sscanf(t, e))
        return;
    is_reader = e->decl != NULL && strstr(e->decl->name, "scanf") != NULL;
    reason = join(t->scan, "set by ", e->decl != NULL ? e->decl->name : "a function",
                  e->decl != NULL ? "()" : "");
    for (scan_expr_t *a = e->args; a != NULL; a = a->next)
        if (a->is_kept && a->is_unknown)
            emit_written(t, scan_strip(a), !is_reader, reason, e->at);
}

/* Is it a function that `xylem predict` calls itself: the clock, memset and memcpy? */
static bool is_plain(const scan_expr_t *e)
{
    return e->decl != NULL && e->is_kept && e->decl->body == NULL && !scan_is_exit(e->decl->name) &&
           (scan_is_clock(e->decl) || scan_is_library(e->decl->name));
}

/* Is it a call of MPI that `xylem predict` knows? */
static bool is_predicted(const scan_expr_t *e)
{
    return xy_mpi_call_find(e->decl->name + (e->decl->name[0] == 'P')) != NULL;
}

static void emit_exit(scan_emit_t *t, const scan_expr_t *e)
{
    bool is_success = strcmp(e->decl->name, "abort") != 0 && e->args != NULL &&
                      e->args->kind == SCAN_E_INT && e->args->value == 0;

    emit_do(t, is_success ? "exit(0)" : "exit(1)", e->at);
}

/* Emits a call, in the form of its kind: library, MPI, kernel, own function, exit or foreign. */
static void emit_call(scan_emit_t *t, scan_expr_t *e)
{
    const scan_decl_t *p = e->decl != NULL ? e->decl->params : NULL;

    if (is_plain(e) || (e->is_kept && scan_is_parsed(t->scan, e))) {
        for (scan_expr_t *a = e->args; a != NULL; a = a->next)
            scan_emit_before(t, a);
        emit_do(t, scan_print(t->scan, e), e->at);
    } else if (scan_is_mpi(e->decl) && e->is_kept && is_predicted(e)) {
        emit_mpi(t, e);
    } else if (scan_is_kernel(t->scan, e->decl)) {
        emit_kernel(t, e);
    } else if (e->decl != NULL && e->decl->body != NULL && e->is_kept) {
        for (scan_expr_t *a = e->args; a != NULL; a = a->next, p = p != NULL ? p->next : NULL)
            if (p != NULL && p->is_kept)
                scan_emit_before(t, a);
            else
                scan_emit_effects(t, a);
        emit_do(t, scan_print(t->scan, e), e->at);
    } else if (e->is_kept && e->decl != NULL && scan_is_exit(e->decl->name)) {
        emit_exit(t, e);
    } else {
        emit_foreign(t, e);
    }
}

/* ---- Effects ----------------------------------------------------------------------------- */

static bool has_kept(const scan_expr_t *e)
{
    if (e == NULL)
        return false;
    if (e->is_kept)
        return true;
    for (const scan_expr_t *a = e->args; a != NULL; a = a->next)
        if (has_kept(a))
            return true;
    return has_kept(e->a) || has_kept(e->b) || has_kept(e->c);
}

/* `test && f()` and `test ? f() : g()` as statements. */
static void emit_choice(scan_emit_t *t, scan_expr_t *e)
{
    xy_node_t *at = t->at, *node;
    scan_expr_t *then = e->b, *other = e->kind == SCAN_E_CHOICE ? e->c : NULL;

    if (!has_kept(then) && !has_kept(other)) {
        scan_emit_effects(t, e->a);
        return;
    }
    scan_emit_before(t, e->a);
    node = scan_emit_add(t, XY_NODE_IF, e->at);
    set(t, node, "c",
        e->op == SCAN_OP_OR ? join(t->scan, "!(", scan_print(t->scan, e->a), ")")
                            : scan_print(t->scan, e->a));
    t->at = node;
    scan_emit_effects(t, then);
    if (has_kept(other)) {
        t->at = scan_emit_add(t, XY_NODE_ELSE, other->at);
        scan_emit_effects(t, other);
    }
    t->at = at;
}

/* Emits an assignment, as an unknown value if its right side cannot be computed; of a dropped one
 * only the effects. */
static void emit_assign(scan_emit_t *t, scan_expr_t *e)
{
    if (!e->is_kept) {
        scan_emit_effects(t, e->a);
        if (e->b != NULL)
            scan_emit_effects(t, e->b);
    } else if (e->b != NULL && e->b->is_unknown) {
        scan_emit_effects(t, e->b);
        scan_emit_unknown(t, scan_print(t->scan, e->a),
                          scan_reason(t->scan, e->b) != NULL ? scan_reason(t->scan, e->b)
                                                             : scan_reason(t->scan, e->a),
                          e->at);
    } else if (e->b != NULL && e->b->kind == SCAN_E_LIST) {
        scan_emit_members(t, e->a, e->b);
    } else {
        scan_emit_before(t, e);
        emit_do(t, scan_print(t->scan, e), e->at);
    }
}

void scan_emit_effects(scan_emit_t *t, scan_expr_t *e)
{
    if (e == NULL || !has_kept(e))
        return;
    if (e->kind == SCAN_E_ASSIGN || e->kind == SCAN_E_STEP)
        emit_assign(t, e);
    else if (e->kind == SCAN_E_CALL)
        emit_call(t, e);
    else if (e->kind == SCAN_E_CHOICE ||
             (e->kind == SCAN_E_BINARY && (e->op == SCAN_OP_AND || e->op == SCAN_OP_OR)))
        emit_choice(t, e);
    else {
        scan_emit_effects(t, e->a);
        scan_emit_effects(t, e->b);
        scan_emit_effects(t, e->c);
        for (scan_expr_t *a = e->args; a != NULL; a = a->next)
            scan_emit_effects(t, a);
    }
}

static bool is_hoisted(const xy_scan_t *scan, const scan_expr_t *e)
{
    return e->kind == SCAN_E_CALL && e->is_kept && !scan_is_clock(e->decl) &&
           (scan_is_mpi(e->decl) || scan_is_kernel(scan, e->decl));
}

bool scan_has_before(const xy_scan_t *scan, const scan_expr_t *e)
{
    if (e == NULL)
        return false;
    if (e->is_unknown || is_hoisted(scan, e))
        return true;
    for (const scan_expr_t *a = e->args; a != NULL; a = a->next)
        if (scan_has_before(scan, a))
            return true;
    return scan_has_before(scan, e->a) || scan_has_before(scan, e->b) ||
           scan_has_before(scan, e->c);
}

void scan_emit_before(scan_emit_t *t, scan_expr_t *e)
{
    if (e == NULL || !scan_has_before(t->scan, e))
        return;
    if (e->is_unknown) {
        scan_emit_effects(t, e);
        emit_stand_in(t, e);
        return;
    }
    if (is_hoisted(t->scan, e)) {
        emit_call(t, e);
        return;
    }
    if (e->kind == SCAN_E_CHOICE || e->op == SCAN_OP_AND || e->op == SCAN_OP_OR) {
        if (scan_has_before(t->scan, e->b) || scan_has_before(t->scan, e->c))
            scan_fail(t->scan, XY_EINVAL, e->at,
                      "a call of MPI or of a kernel, or a value that is not known, depends on "
                      "another part of its expression: write it as a statement of its own");
    }
    scan_emit_before(t, e->a);
    scan_emit_before(t, e->b);
    scan_emit_before(t, e->c);
    for (scan_expr_t *a = e->args; a != NULL; a = a->next)
        scan_emit_before(t, a);
}
