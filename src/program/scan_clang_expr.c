/* SPDX-License-Identifier: BSD-3-Clause */
/* Expressions of clang's tree. */
#include "program/scan_clang.h"

#include <string.h>

static scan_expr_t *new_expr(xy_scan_t *scan, CXCursor cursor, scan_expr_kind_t kind)
{
    scan_expr_t *e = scan_alloc(scan, sizeof(*e));

    e->kind = kind;
    e->at = scan_place(scan, cursor);
    e->type = scan_read_type(scan, clang.getCursorType(cursor));
    if (kind == SCAN_E_BINARY || kind == SCAN_E_ASSIGN || kind == SCAN_E_STEP ||
        kind == SCAN_E_CHOICE || kind == SCAN_E_CALL || kind == SCAN_E_CAST)
        e->type = scan_decayed(scan, e->type);
    return e;
}

/* Operands that are expressions: type names beside them are not. */
static int operands(xy_scan_t *scan, CXCursor cursor, scan_expr_t *list[3])
{
    int count = 0;

    for (scan_child_t *c = scan_children(scan, cursor); c != NULL && count < 3; c = c->next)
        if (scan_is_expression(c->cursor))
            list[count++] = scan_read_expr(scan, c->cursor);
    return count;
}

/* Returns whether a cursor is a call, an assignment, an increment or a decrement. */
static bool is_effect(CXCursor cursor)
{
    enum CXCursorKind kind = clang.getCursorKind(cursor);
    enum CXUnaryOperatorKind op;

    if (kind == CXCursor_CallExpr || kind == CXCursor_CompoundAssignOperator)
        return true;
    if (kind == CXCursor_BinaryOperator)
        return clang.getCursorBinaryOperatorKind(cursor) == CXBinaryOperator_Assign;
    if (kind != CXCursor_UnaryOperator)
        return false;
    op = clang.getCursorUnaryOperatorKind(cursor);
    return op == CXUnaryOperator_PostInc || op == CXUnaryOperator_PreInc ||
           op == CXUnaryOperator_PostDec || op == CXUnaryOperator_PreDec;
}

static scan_expr_t **append_inner(xy_scan_t *scan, CXCursor cursor, scan_expr_t **end)
{
    for (scan_child_t *c = scan_children(scan, cursor); c != NULL; c = c->next) {
        if (is_effect(c->cursor)) {
            *end = scan_read_expr(scan, c->cursor);
            end = &(*end)->next;
        } else {
            end = append_inner(scan, c->cursor, end);
        }
    }
    return end;
}

scan_expr_t *scan_read_inner(xy_scan_t *scan, CXCursor cursor)
{
    scan_expr_t *list = NULL;

    append_inner(scan, cursor, &list);
    return list;
}

/* sizeof and offsetof tell that the layout of a struct matters. */
static void note_layout(xy_scan_t *scan, CXCursor cursor)
{
    for (scan_child_t *c = scan_children(scan, cursor); c != NULL; c = c->next) {
        const scan_type_t *t = scan_read_type(scan, clang.getCursorType(c->cursor));

        while (t->kind == SCAN_ARRAY)
            t = t->of;
        if (t->kind == SCAN_STRUCT)
            ((scan_record_t *)(uintptr_t)t->record)->is_whole = true;
    }
}

/* A struct whose memory is looked at through a pointer to another type has all its members. */
static void note_whole(const scan_type_t *t, bool is_cast)
{
    scan_record_t *record;

    while (t->kind == SCAN_ARRAY || t->kind == SCAN_POINTER)
        t = t->of;
    if (t->kind != SCAN_STRUCT)
        return;
    record = (scan_record_t *)(uintptr_t)t->record;
    record->is_whole = true;
    record->is_cast |= is_cast;
}

/* The same for the structs in which what a pointer points to is. */
static void note_memory(const scan_expr_t *pointer, bool is_cast)
{
    for (const scan_expr_t *e = pointer; e != NULL;
         e = e->kind == SCAN_E_CAST || e->kind == SCAN_E_BINARY || e->kind == SCAN_E_UNARY ||
                     e->kind == SCAN_E_MEMBER || e->kind == SCAN_E_INDEX
                 ? e->a
                 : NULL)
        note_whole(e->type, is_cast);
}

/* Do the arguments of a call that are pointers to structs arrive as pointers to anything? */
static void note_arguments(const scan_expr_t *call)
{
    static const char *const freeing[] = {"free", "realloc"};
    const scan_decl_t *p = call->decl != NULL ? call->decl->params : NULL;

    for (size_t i = 0; i < sizeof(freeing) / sizeof(freeing[0]); i++)
        if (call->decl == NULL || strcmp(call->decl->name, freeing[i]) == 0)
            return;
    if (strncmp(call->decl->name, "MPI_", 4) == 0 || strncmp(call->decl->name, "PMPI_", 5) == 0)
        return; /* scan_emit_expr.c */
    for (const scan_expr_t *a = call->args; a != NULL && p != NULL; a = a->next, p = p->next)
        if (p->type->kind == SCAN_POINTER && p->type->of->kind == SCAN_VOID)
            note_memory(a, false);
}

/* A constant that clang evaluates: literals and sizeof, never names of variables, whose initial
 * value it gives. */
static scan_expr_t *read_constant(xy_scan_t *scan, CXCursor cursor)
{
    scan_expr_t *e = new_expr(scan, cursor, SCAN_E_OTHER);
    CXEvalResult result = clang.Cursor_Evaluate(cursor);

    e->text = "an expression that is not evaluated";
    if (result == NULL || clang.getCursorKind(cursor) == CXCursor_StmtExpr) {
        e->args = scan_read_inner(scan, cursor);
        if (result != NULL)
            clang.EvalResult_dispose(result);
        return e;
    }
    note_layout(scan, cursor);
    switch (clang.EvalResult_getKind(result)) {
    case CXEval_Int:
        e->kind = SCAN_E_INT;
        e->value = clang.EvalResult_getAsLongLong(result);
        break;
    case CXEval_Float:
        e->kind = SCAN_E_REAL;
        e->real = clang.EvalResult_getAsDouble(result);
        break;
    default:
        break;
    }
    clang.EvalResult_dispose(result);
    return e;
}

static scan_expr_t *read_string(xy_scan_t *scan, CXCursor cursor)
{
    scan_expr_t *e = new_expr(scan, cursor, SCAN_E_STRING);

    e->text = scan_string(scan, clang.getCursorSpelling(cursor));
    return e;
}

/* Reads a name: an enum constant, a variable or a function. */
static scan_expr_t *read_name(xy_scan_t *scan, CXCursor cursor)
{
    CXCursor referenced = clang.getCursorReferenced(cursor);
    scan_expr_t *e = new_expr(scan, cursor, SCAN_E_NAME);

    if (clang.getCursorKind(referenced) == CXCursor_EnumConstantDecl) {
        e->kind = SCAN_E_INT;
        e->value = clang.getEnumConstantDeclValue(referenced);
        e->text = scan_string(scan, clang.getCursorSpelling(referenced));
    } else if (clang.Cursor_isNull(referenced)) {
        e->kind = SCAN_E_OTHER;
        e->text = "a name that is not declared";
    } else {
        e->decl = scan_read_decl(scan, referenced);
        if (e->decl->is_parameter)
            e->type = e->decl->type;
        if (clang.getCursorKind(referenced) == CXCursor_FunctionDecl) {
            if (e->decl->result == NULL)
                scan_read_function(scan, e->decl, referenced);
            scan_take_function(scan, e);
        }
    }
    return e;
}

/* A variable for something without a name; it is declared before the current statement. */
static scan_expr_t *name_literal(xy_scan_t *scan, scan_expr_t *value, const scan_type_t *type)
{
    scan_decl_t *d = scan_alloc(scan, sizeof(*d));
    scan_stmt_t *s = scan_alloc(scan, sizeof(*s));
    scan_expr_t *e = scan_alloc(scan, sizeof(*e));
    char buffer[64];

    snprintf(buffer, sizeof(buffer), "literal_%ld_%d", value->at.line, ++scan->literal_count);
    d->name = scan_copy(scan, buffer);
    d->type = type;
    d->at = value->at;
    d->init = value;
    d->id = (long)scan->decls.count;
    if (xy_hash_set(&scan->decls, XY_HASH_KEY(d->name), d) != XY_OK)
        scan_leave(scan, xy_fail_memory("reading C"));
    s->kind = SCAN_S_DECL;
    s->at = value->at;
    s->decl = d;
    s->next = scan->literals;
    scan->literals = s;
    e->kind = SCAN_E_NAME;
    e->at = value->at;
    e->type = type;
    e->decl = d;
    return e;
}

scan_expr_t *scan_named(xy_scan_t *scan, scan_expr_t *e)
{
    return e->kind == SCAN_E_LIST ? name_literal(scan, e, e->type) : e;
}

/* Is what is called the result of another call, as in `find("name")(n)`? libclang names the
 * function of that one. */
static bool calls_result(xy_scan_t *scan, CXCursor call)
{
    scan_child_t *c = scan_children(scan, call);
    enum CXCursorKind kind = CXCursor_UnexposedExpr;

    while (c != NULL && (kind == CXCursor_UnexposedExpr || kind == CXCursor_ParenExpr)) {
        kind = clang.getCursorKind(c->cursor);
        c = scan_children(scan, c->cursor);
    }
    return kind == CXCursor_CallExpr;
}

/* MPI_Aint_add() and MPI_Aint_diff() are + and -. */
static scan_expr_t *read_addresses(scan_expr_t *call)
{
    bool is_sum = strcmp(call->decl->name, "MPI_Aint_add") == 0;

    if (is_sum || strcmp(call->decl->name, "MPI_Aint_diff") == 0) {
        call->kind = SCAN_E_BINARY;
        call->op = is_sum ? '+' : '-';
        call->a = call->args;
        call->b = call->args->next;
        call->a->next = call->args = NULL;
        call->decl = NULL;
    }
    return call;
}

/* Reads a call; `decl` is NULL for calls through pointers. */
static scan_expr_t *read_call(xy_scan_t *scan, CXCursor cursor)
{
    CXCursor callee = clang.getCursorReferenced(cursor);
    scan_expr_t *e = new_expr(scan, cursor, SCAN_E_CALL);
    int count = clang.Cursor_getNumArguments(cursor);
    scan_expr_t **end = &e->args;

    if (!clang.Cursor_isNull(callee) && clang.getCursorKind(callee) == CXCursor_FunctionDecl &&
        !calls_result(scan, cursor)) {
        e->decl = scan_read_decl(scan, callee);
        if (e->decl->result == NULL)
            scan_read_function(scan, e->decl, callee);
    } else {
        e->a = scan_read_expr(scan, scan_children(scan, cursor)->cursor);
    }
    for (int i = 0; i < count; i++) {
        *end =
            scan_named(scan, scan_read_expr(scan, clang.Cursor_getArgument(cursor, (unsigned)i)));
        end = &(*end)->next;
    }
    note_arguments(e);
    return count == 2 && e->decl != NULL ? read_addresses(e) : e;
}

static const scan_field_t *member_of(const scan_expr_t *e)
{
    const scan_type_t *t = e->kind == SCAN_E_MEMBER ? e->a->type : NULL;

    t = t != NULL && (t->kind == SCAN_POINTER || t->kind == SCAN_ARRAY) ? t->of : t;
    if (t == NULL || t->kind != SCAN_STRUCT)
        return NULL;
    for (const scan_field_t *f = t->record->fields; f != NULL; f = f->next)
        if (strcmp(f->name, e->text) == 0)
            return f;
    return NULL;
}

static scan_expr_t *made(xy_scan_t *scan, const scan_expr_t *like, int op, scan_expr_t *a,
                         scan_expr_t *b)
{
    scan_expr_t *e = scan_alloc(scan, sizeof(*e));

    e->kind = SCAN_E_BINARY;
    e->at = like->at;
    e->type = like->type;
    e->op = op;
    e->a = a;
    e->b = b;
    return e;
}

static scan_expr_t *number(xy_scan_t *scan, const scan_expr_t *like, long long value)
{
    scan_expr_t *e = made(scan, like, 0, NULL, NULL);

    e->kind = SCAN_E_INT;
    e->value = value;
    return e;
}

/* The value that a bit-field has after it was set to `value`. */
static scan_expr_t *cut(xy_scan_t *scan, const scan_field_t *f, scan_expr_t *value)
{
    static const scan_type_t word = {.kind = SCAN_INT, .bytes = 8, .align = 8};
    scan_expr_t *cast;

    if (f->type->is_bool)
        return made(scan, value, SCAN_OP_NE, value, number(scan, value, 0));
    if (f->type->is_unsigned)
        return made(scan, value, '&', value, number(scan, value, (1LL << f->bits) - 1));
    cast = made(scan, value, 0, value, NULL);
    cast->kind = SCAN_E_CAST;
    cast->type = &word;
    value = made(scan, cast, SCAN_OP_SHL, cast, number(scan, cast, 64 - f->bits));
    return made(scan, cast, SCAN_OP_SHR, value, number(scan, cast, 64 - f->bits));
}

/* The new value of a flag of one bit does not tell the old one: `s.a++` becomes
 * `s.a ? (s.a = 1, 1) : (s.a = 1, 0)`. */
static scan_expr_t *step_flag(xy_scan_t *scan, const scan_expr_t *e)
{
    scan_expr_t *choice = made(scan, e, 0, e->a, NULL), *of[2];

    for (int old = 0; old < 2; old++) {
        of[old] = made(scan, e, 0, e->a, number(scan, e, old == 0 || e->op == '+'));
        of[old]->kind = SCAN_E_ASSIGN;
        of[old] = made(scan, e, SCAN_OP_COMMA, of[old], number(scan, e, old));
    }
    choice->kind = SCAN_E_CHOICE;
    choice->b = of[1];
    choice->c = of[0];
    return choice;
}

/* A bit-field keeps as many bits as it has: `s.a += 4` becomes `s.a = s.a + 4 & 7`, and `s.a++`
 * that value, stepped back. */
static scan_expr_t *cut_bits(xy_scan_t *scan, scan_expr_t *e)
{
    const scan_field_t *f = member_of(e->a);
    bool is_post = e->kind == SCAN_E_STEP && e->is_post;
    int op = e->op;

    if (f == NULL || f->bits < 0 || f->bits >= 8 * f->type->bytes)
        return e;
    if ((op != 0 || e->kind == SCAN_E_STEP) && scan_has_effect(e->a))
        scan_fail(scan, XY_EUNSUPPORTED, e->at,
                  "a bit-field that changes behind an expression with an effect: it is not "
                  "followed");
    if (is_post && f->type->is_bool)
        return step_flag(scan, e);
    if (e->kind == SCAN_E_STEP)
        e->b = number(scan, e, 1);
    if (op != 0)
        e->b = made(scan, e, op, e->a, e->b);
    e->b = cut(scan, f, e->b);
    e->kind = SCAN_E_ASSIGN;
    e->op = 0;
    if (is_post)
        return cut(scan, f, made(scan, e, op == '+' ? '-' : '+', e, number(scan, e, 1)));
    return e;
}

static const int binary_ops[] = {
    [CXBinaryOperator_Mul] = '*',
    [CXBinaryOperator_Div] = '/',
    [CXBinaryOperator_Rem] = '%',
    [CXBinaryOperator_Add] = '+',
    [CXBinaryOperator_Sub] = '-',
    [CXBinaryOperator_Shl] = SCAN_OP_SHL,
    [CXBinaryOperator_Shr] = SCAN_OP_SHR,
    [CXBinaryOperator_LT] = '<',
    [CXBinaryOperator_GT] = '>',
    [CXBinaryOperator_LE] = SCAN_OP_LE,
    [CXBinaryOperator_GE] = SCAN_OP_GE,
    [CXBinaryOperator_EQ] = SCAN_OP_EQ,
    [CXBinaryOperator_NE] = SCAN_OP_NE,
    [CXBinaryOperator_And] = '&',
    [CXBinaryOperator_Xor] = '^',
    [CXBinaryOperator_Or] = '|',
    [CXBinaryOperator_LAnd] = SCAN_OP_AND,
    [CXBinaryOperator_LOr] = SCAN_OP_OR,
    [CXBinaryOperator_Assign] = 0,
    [CXBinaryOperator_MulAssign] = '*',
    [CXBinaryOperator_DivAssign] = '/',
    [CXBinaryOperator_RemAssign] = '%',
    [CXBinaryOperator_AddAssign] = '+',
    [CXBinaryOperator_SubAssign] = '-',
    [CXBinaryOperator_ShlAssign] = SCAN_OP_SHL,
    [CXBinaryOperator_ShrAssign] = SCAN_OP_SHR,
    [CXBinaryOperator_AndAssign] = '&',
    [CXBinaryOperator_XorAssign] = '^',
    [CXBinaryOperator_OrAssign] = '|',
    [CXBinaryOperator_Comma] = SCAN_OP_COMMA,
};

/* Reads a binary operation or an assignment. */
static scan_expr_t *read_binary(xy_scan_t *scan, CXCursor cursor)
{
    enum CXBinaryOperatorKind op = clang.getCursorBinaryOperatorKind(cursor);
    scan_expr_t *e = new_expr(scan, cursor, SCAN_E_BINARY), *list[3] = {0};

    if (operands(scan, cursor, list) != 2 || (size_t)op >= sizeof(binary_ops) / sizeof(int))
        return read_constant(scan, cursor);
    if (op >= CXBinaryOperator_Assign && op <= CXBinaryOperator_OrAssign)
        e->kind = SCAN_E_ASSIGN;
    e->op = binary_ops[op];
    e->a = list[0];
    e->b = scan_named(scan, list[1]);
    return e->kind == SCAN_E_ASSIGN ? cut_bits(scan, e) : e;
}

/* Reads a unary operation; `&f` and `*f` of functions are `f`. */
static scan_expr_t *read_unary(xy_scan_t *scan, CXCursor cursor)
{
    scan_expr_t *e = new_expr(scan, cursor, SCAN_E_UNARY), *list[3] = {0};

    if (operands(scan, cursor, list) != 1)
        return read_constant(scan, cursor);
    e->a = list[0];
    if (e->a->type->is_code && (clang.getCursorUnaryOperatorKind(cursor) == CXUnaryOperator_Deref ||
                                e->a->kind == SCAN_E_INT))
        return e->a; /* &f and *f are f */
    switch (clang.getCursorUnaryOperatorKind(cursor)) {
    case CXUnaryOperator_PostInc:
    case CXUnaryOperator_PreInc:
        e->kind = SCAN_E_STEP;
        e->op = '+';
        break;
    case CXUnaryOperator_PostDec:
    case CXUnaryOperator_PreDec:
        e->kind = SCAN_E_STEP;
        e->op = '-';
        break;
    case CXUnaryOperator_AddrOf:
        e->op = SCAN_OP_ADDRESS;
        if (e->a->kind == SCAN_E_LIST)
            e->a = name_literal(scan, e->a, e->a->type);
        break;
    case CXUnaryOperator_Deref:
        e->op = SCAN_OP_DEREF;
        break;
    case CXUnaryOperator_Minus:
        e->op = '-';
        break;
    case CXUnaryOperator_Not:
        e->op = '~';
        break;
    case CXUnaryOperator_LNot:
        e->op = '!';
        break;
    default:
        return e->a; /* + and __extension__ */
    }
    e->is_post = clang.getCursorUnaryOperatorKind(cursor) == CXUnaryOperator_PostInc ||
                 clang.getCursorUnaryOperatorKind(cursor) == CXUnaryOperator_PostDec;
    return e->kind == SCAN_E_STEP ? cut_bits(scan, e) : e;
}

/* A conversion matters where it changes the kind of number or loses bits. */
static bool is_conversion(const scan_type_t *to, const scan_type_t *from)
{
    if (to->kind == SCAN_INT && from->kind == SCAN_INT)
        return to->bytes < from->bytes || (to->is_unsigned != from->is_unsigned && to->bytes >= 4);
    return (to->kind == SCAN_INT && from->kind == SCAN_REAL) ||
           (to->kind == SCAN_REAL && from->kind == SCAN_INT);
}

static bool is_other_number(const scan_type_t *a, const scan_type_t *b)
{
    return (a->kind == SCAN_INT || a->kind == SCAN_REAL) &&
           (a->kind != b->kind || a->bytes != b->bytes || a->is_unsigned != b->is_unsigned);
}

/* Does what the pointers point to differ for who reads through them, or counts in its size? */
static bool is_other_target(const scan_type_t *a, const scan_type_t *b)
{
    if (a->kind != b->kind || a->bytes != b->bytes || a->is_unsigned != b->is_unsigned ||
        a->record != b->record)
        return true;
    return (a->kind == SCAN_POINTER || a->kind == SCAN_ARRAY) && is_other_target(a->of, b->of);
}

/* Is it a pointer to memory of the program as another type, as in `(char *)counts + 4`, or one made
 * of a number? What a function of the C library returns gets its type where it is stored. */
static bool is_other_pointer(const scan_type_t *to, const scan_expr_t *from)
{
    bool is_library = from->kind == SCAN_E_CALL && (from->decl == NULL || from->decl->body == NULL);

    if (to->kind == SCAN_POINTER && from->type->kind == SCAN_INT && from->kind != SCAN_E_INT)
        return true;
    return to->kind == SCAN_POINTER && !is_library &&
           (from->type->kind == SCAN_POINTER || from->type->kind == SCAN_ARRAY) &&
           is_other_target(to->of, from->type->of);
}

/* Is it the list of variable arguments? What is taken from it is shown as a conversion of it. */
static bool is_argument_list(const scan_type_t *t)
{
    while (t->kind == SCAN_ARRAY || t->kind == SCAN_POINTER)
        t = t->of;
    return t->kind == SCAN_STRUCT && strncmp(t->record->name, "__va_list", 9) == 0;
}

/* Reads a cast, and drops it where it changes nothing. */
static scan_expr_t *read_cast(xy_scan_t *scan, CXCursor cursor, bool is_written)
{
    scan_expr_t *e, *list[3] = {0};
    int count = operands(scan, cursor, list);
    const scan_type_t *type;

    if (count != 1)
        return read_constant(scan, cursor);
    type = scan_read_type(scan, clang.getCursorType(cursor));
    if (is_argument_list(list[0]->type) && !is_argument_list(type)) {
        e = new_expr(scan, cursor, SCAN_E_OTHER);
        e->text = "an argument by va_arg()";
        return e;
    }
    if (list[0]->kind == SCAN_E_INT && (type->kind == SCAN_HANDLE || type->kind == SCAN_POINTER)) {
        list[0]->type = type;
        list[0]->at = scan_place(scan, cursor);
        return list[0];
    }
    if (list[0]->kind == SCAN_E_INT && type->kind == SCAN_INT && type->bytes >= 4) {
        list[0]->type = type;
        return list[0];
    }
    if (!is_conversion(type, list[0]->type) &&
        !(is_written && (is_other_number(type, list[0]->type) || is_other_pointer(type, list[0]))))
        return list[0];
    e = new_expr(scan, cursor, SCAN_E_CAST);
    if (type->kind == SCAN_POINTER) {
        note_memory(list[0], type->of->kind != SCAN_VOID);
        note_whole(type, list[0]->kind == SCAN_E_BINARY);
    }
    e->a = list[0];
    e->is_post = !is_written; /* by itself: the language converts where it is emitted, too */
    return e;
}

/* `[2] = value` in a list: an unexposed expression of two. */
static scan_expr_t *read_placed(xy_scan_t *scan, CXCursor cursor)
{
    scan_expr_t *list[3] = {0};

    if (clang.getCursorKind(cursor) != CXCursor_UnexposedExpr ||
        operands(scan, cursor, list) != 2 || list[0]->kind != SCAN_E_INT)
        return NULL;
    list[1]->has_place = true;
    list[1]->place = list[0]->value;
    return list[1];
}

/* A struct or union without a name has none of its own. */
static bool is_member_name(xy_scan_t *scan, CXCursor cursor)
{
    return clang.getCursorKind(cursor) == CXCursor_MemberRef &&
           *scan_string(scan, clang.getCursorSpelling(cursor)) != '\0' &&
           !clang.Cursor_isAnonymousRecordDecl(clang.getTypeDeclaration(
               clang.getCanonicalType(clang.getCursorType(clang.getCursorReferenced(cursor)))));
}

/* One entry of a list in braces; `.member = value` is an unexposed expression with its name. */
static scan_expr_t *read_entry(xy_scan_t *scan, CXCursor cursor)
{
    scan_child_t *children = scan_children(scan, cursor);
    scan_expr_t *e = NULL;
    const char *field = NULL;
    int parts = 0;

    for (scan_child_t *c = children; c != NULL; c = c->next)
        if (is_member_name(scan, c->cursor))
            field = scan_string(scan, clang.getCursorSpelling(c->cursor));
    if (field == NULL) {
        e = read_placed(scan, cursor);
        return e != NULL ? e : scan_read_expr(scan, cursor);
    }
    for (scan_child_t *c = children; c != NULL; c = c->next)
        parts += scan_is_expression(c->cursor) || is_member_name(scan, c->cursor);
    if (parts != 2)
        scan_fail(scan, XY_EINVAL, scan_place(scan, cursor),
                  "an initial value of a part of a part (.a.b = or [i].a =) is not understood: "
                  "write it in braces of its own");
    for (scan_child_t *c = children; c != NULL; c = c->next)
        if (scan_is_expression(c->cursor))
            e = scan_read_expr(scan, c->cursor);
    if (e != NULL)
        e->field = field;
    return e != NULL ? e : read_constant(scan, cursor);
}

static scan_expr_t *read_list(xy_scan_t *scan, CXCursor cursor)
{
    scan_expr_t *e = new_expr(scan, cursor, SCAN_E_LIST);
    scan_expr_t **end = &e->args;

    for (scan_child_t *c = scan_children(scan, cursor); c != NULL; c = c->next)
        if (scan_is_expression(c->cursor)) {
            *end = read_entry(scan, c->cursor);
            end = &(*end)->next;
        }
    return e;
}

/* Reads an expression of `count` operands, as a constant if clang shows another number of them. */
static scan_expr_t *read_operands(xy_scan_t *scan, CXCursor cursor, scan_expr_kind_t kind,
                                  int count)
{
    scan_expr_t *e = new_expr(scan, cursor, kind), *list[3] = {0};

    if (operands(scan, cursor, list) != count)
        return read_constant(scan, cursor);
    e->a = list[0];
    e->b = list[1];
    e->c = list[2];
    if (kind == SCAN_E_INDEX && e->a->type->kind == SCAN_INT) { /* 2[a] */
        e->a = list[1];
        e->b = list[0];
    }
    if (kind == SCAN_E_CHOICE) {
        e->b = scan_named(scan, e->b);
        e->c = scan_named(scan, e->c);
    }
    if (kind == SCAN_E_MEMBER) {
        e->text = scan_string(scan, clang.getCursorSpelling(cursor));
        if (member_of(e) != NULL && member_of(e)->type->kind == SCAN_OTHER)
            e->type = member_of(e)->type; /* of a union: not followed */
    }
    return e;
}

/* `(point_t){1, 2}` is a list; `(int[]){1, 2}` becomes a variable, and `(int){1}` too. */
static scan_expr_t *read_literal(xy_scan_t *scan, CXCursor cursor)
{
    const scan_type_t *type = scan_read_type(scan, clang.getCursorType(cursor));
    scan_expr_t *e, *value = NULL;

    for (scan_child_t *c = scan_children(scan, cursor); c != NULL; c = c->next)
        if (clang.getCursorKind(c->cursor) ==
            CXCursor_InitListExpr) /* behind [sizes] of its type */
            value = read_list(scan, c->cursor);
    if (value != NULL && type->kind == SCAN_STRUCT)
        return value;
    if (value != NULL && type->kind == SCAN_ARRAY && type->count >= 0)
        return name_literal(scan, value, type);
    if (value != NULL && type->kind != SCAN_ARRAY && type->kind != SCAN_OTHER &&
        value->args != NULL)
        return name_literal(scan, value->args, type);
    e = new_expr(scan, cursor, SCAN_E_OTHER);
    e->text = "a value without a name";
    e->args = scan_read_inner(scan, cursor);
    return e;
}

scan_expr_t *scan_read_expr(xy_scan_t *scan, CXCursor cursor)
{
    scan_expr_t *list[3] = {0};

    switch (clang.getCursorKind(cursor)) {
    case CXCursor_DeclRefExpr:
        return read_name(scan, cursor);
    case CXCursor_CallExpr:
        return read_call(scan, cursor);
    case CXCursor_BinaryOperator:
    case CXCursor_CompoundAssignOperator:
        return read_binary(scan, cursor);
    case CXCursor_UnaryOperator:
        return read_unary(scan, cursor);
    case CXCursor_ConditionalOperator:
        return read_operands(scan, cursor, SCAN_E_CHOICE, 3);
    case CXCursor_ArraySubscriptExpr:
        return read_operands(scan, cursor, SCAN_E_INDEX, 2);
    case CXCursor_MemberRefExpr:
        return read_operands(scan, cursor, SCAN_E_MEMBER, 1);
    case CXCursor_ParenExpr:
        return operands(scan, cursor, list) == 1 ? list[0] : read_constant(scan, cursor);
    case CXCursor_CStyleCastExpr:
        return read_cast(scan, cursor, true);
    case CXCursor_UnexposedExpr:
        return read_cast(scan, cursor, false);
    case CXCursor_StringLiteral:
        return read_string(scan, cursor);
    case CXCursor_InitListExpr:
        return read_list(scan, cursor);
    case CXCursor_CompoundLiteralExpr:
        return read_literal(scan, cursor);
    default:
        return read_constant(scan, cursor);
    }
}
