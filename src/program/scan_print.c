/* SPDX-License-Identifier: BSD-3-Clause */
/* Expressions and types as C text. */
#include <string.h>

#include "program/scan_emit.h"

enum { PLACED_MAX = 4096 }; /* elements of a list with [index] = */

typedef struct {
    xy_scan_t *scan;
    xy_text_t text;
} print_t;

/* Precedence as in C: 1 comma, 2 assignment, 3 ?:, 4 || ... 13 * / %, 14 unary, 15 postfix. */
/* Is the cast not printed? The language converts numbers by itself, and pointers where they are
 * stored. */
static bool is_silent(const scan_expr_t *e)
{
    return e->is_post || e->type->kind == SCAN_POINTER;
}

/* How tightly an expression holds together: 1 to 16. */
static int precedence(const scan_expr_t *e)
{
    switch (e->kind) {
    case SCAN_E_ASSIGN:
        return 2;
    case SCAN_E_CHOICE:
        return 3;
    case SCAN_E_STEP:
        return e->is_post ? 15 : 14;
    case SCAN_E_UNARY:
        return 14;
    case SCAN_E_CAST:
        return is_silent(e) ? precedence(e->a) : 14;
    case SCAN_E_INT:
        return e->value < 0 ? 14 : 16;
    case SCAN_E_REAL:
        return e->real < 0 ? 14 : 16;
    case SCAN_E_BINARY:
        break;
    default:
        return 16;
    }
    switch (e->op) {
    case SCAN_OP_COMMA:
        return 1;
    case SCAN_OP_OR:
        return 4;
    case SCAN_OP_AND:
        return 5;
    case '|':
        return 6;
    case '^':
        return 7;
    case '&':
        return 8;
    case SCAN_OP_EQ:
    case SCAN_OP_NE:
        return 9;
    case '<':
    case '>':
    case SCAN_OP_LE:
    case SCAN_OP_GE:
        return 10;
    case SCAN_OP_SHL:
    case SCAN_OP_SHR:
        return 11;
    case '+':
    case '-':
        return 12;
    default:
        return 13;
    }
}

static const char *operator_text(int op, char buffer[4])
{
    static const char *const texts[] = {"==", "!=", "<=", ">=", "&&", "||",
                                        "<<", ">>", "*",  "&",  ","};

    if (op >= SCAN_OP_EQ)
        return texts[op - SCAN_OP_EQ];
    buffer[0] = (char)op;
    buffer[1] = '\0';
    return buffer;
}

static void print(print_t *p, const scan_expr_t *e, int least);

/* Prints an operand whose type matters although it is a pointer. */
static void print_operand(print_t *p, const scan_expr_t *e, int least)
{
    if (e->kind != SCAN_E_CAST || e->type->kind != SCAN_POINTER || e->is_post) {
        print(p, e, least);
        return;
    }
    xy_text_add(&p->text, least > 14 ? "((" : "(");
    xy_text_add(&p->text, scan_print_type(p->scan, e->type, NULL));
    xy_text_add(&p->text, ")");
    print(p, e->a, 14);
    xy_text_add(&p->text, least > 14 ? ")" : "");
}

/* Prints an integer constant with its suffix, or the name of an MPI constant. */
static void print_int(print_t *p, const scan_expr_t *e)
{
    const char *name = NULL;

    if (e->type->kind == SCAN_HANDLE)
        name = scan_handle_name(e->type->handle, e->value);
    else if (e->text != NULL && strncmp(e->text, "MPI_", 4) == 0)
        name = e->text;
    else if (e->type->kind == SCAN_POINTER && e->value == 1)
        name = "MPI_IN_PLACE";
    if (name != NULL) {
        xy_text_add(&p->text, name);
        return;
    }
    if (e->type->is_unsigned)
        xy_text_addf(&p->text, "%llu", (unsigned long long)e->value);
    else
        xy_text_addf(&p->text, "%lld", e->value);
    if (e->type->kind == SCAN_INT && e->type->is_unsigned && e->type->bytes >= 4)
        xy_text_add(&p->text, "u");
    if (e->type->kind == SCAN_INT && e->type->bytes == 8 && !e->type->is_code)
        xy_text_add(&p->text, "l"); /* 1 << 40 would be an int */
}

static void print_real(print_t *p, const scan_expr_t *e)
{
    char buffer[32];

    xy_text_add(&p->text, xy_format_double(e->real, buffer));
    if (strpbrk(buffer, ".en") == NULL)
        xy_text_add(&p->text, ".0");
    if (e->type->kind == SCAN_REAL && e->type->bytes == 4)
        xy_text_add(&p->text, "f");
}

static void name_field(const scan_expr_t *e)
{
    const scan_type_t *t = e->a->type;

    while (t != NULL && (t->kind == SCAN_POINTER || t->kind == SCAN_ARRAY))
        t = t->of;
    if (t == NULL || t->kind != SCAN_STRUCT)
        return;
    for (scan_field_t *f = t->record->fields; f != NULL; f = f->next)
        if (strcmp(f->name, e->text) == 0)
            f->is_named = true;
}

/* Prints a call with its kept arguments; an MPI call, emitted before, prints as its result 0. */
static void print_call(print_t *p, const scan_expr_t *e)
{
    const scan_decl_t *param = e->decl != NULL ? e->decl->params : NULL;
    bool is_own = e->decl != NULL && e->decl->body != NULL;
    bool is_first = true;

    if (scan_is_clock(e->decl)) {
        xy_text_add(&p->text, "MPI_Wtime()");
        return;
    }
    if (scan_is_mpi(e->decl)) {
        xy_text_add(&p->text, "0"); /* MPI_SUCCESS: the call stands in front */
        return;
    }
    xy_text_addf(&p->text, "%s(", e->decl->emitted != NULL ? e->decl->emitted : e->decl->name);
    for (const scan_expr_t *a = e->args; a != NULL; a = a->next) {
        if (!is_own || (param != NULL && param->is_kept)) {
            xy_text_add(&p->text, is_first ? "" : ", ");
            print(p, a, 2);
            is_first = false;
        }
        param = param != NULL ? param->next : NULL;
    }
    xy_text_add(&p->text, ")");
}

/* The entry at a place; the last one counts. */
static const scan_expr_t *entry_at(const scan_expr_t *list, long long place)
{
    const scan_expr_t *found = NULL;
    long long i = 0;

    for (const scan_expr_t *a = list->args; a != NULL; a = a->next, i++) {
        i = a->has_place ? a->place : i;
        if (i == place)
            found = a;
    }
    return found;
}

/* {[2] = 5} is {0, 0, 5}. */
static void print_placed(print_t *p, const scan_expr_t *e, long long count)
{
    const scan_type_t *of = e->type->kind == SCAN_ARRAY ? e->type->of : NULL;

    if (count > PLACED_MAX)
        scan_fail(p->scan, XY_EINVAL, e->at, "a list with more than %d places is not understood",
                  PLACED_MAX);
    for (long long i = 0; i < count; i++) {
        const scan_expr_t *a = entry_at(e, i);

        xy_text_add(&p->text, i > 0 ? ", " : "");
        if (a != NULL)
            print(p, a, 2);
        else
            xy_text_add(&p->text, of != NULL && of->kind == SCAN_ARRAY ? "{0}" : "0");
    }
}

/* Prints a list in braces, in order of the elements if it has designators. */
static void print_list(print_t *p, const scan_expr_t *e)
{
    long long count = 0, i = 0;
    bool has_places = false;

    for (const scan_expr_t *a = e->args; a != NULL; a = a->next) {
        i = a->has_place ? a->place + 1 : i + 1;
        count = i > count ? i : count;
        has_places |= a->has_place;
    }
    xy_text_add(&p->text, "{");
    if (has_places)
        print_placed(p, e, count);
    for (const scan_expr_t *a = e->args; a != NULL && !has_places; a = a->next) {
        print(p, a, 2);
        xy_text_add(&p->text, a->next != NULL ? ", " : "");
    }
    xy_text_add(&p->text, "}");
}

/* Prints an assignment or binary operation; memory for data becomes malloc(1). */
static void print_binary(print_t *p, const scan_expr_t *e)
{
    int level = precedence(e);
    char buffer[4];

    if (e->kind == SCAN_E_ASSIGN) {
        print(p, e->a, 14);
        xy_text_addf(&p->text, " %s= ", e->op != 0 ? operator_text(e->op, buffer) : "");
        if (e->op == 0 && scan_is_data_memory(e->a->type, e->b))
            xy_text_add(&p->text, "malloc(1)");
        else
            print(p, e->b, 2);
        return;
    }
    print_operand(p, e->a, level);
    xy_text_addf(&p->text, e->op == SCAN_OP_COMMA ? "%s " : " %s ", operator_text(e->op, buffer));
    print_operand(p, e->b, level + 1);
}

/* Prints a unary operation, an increment or a decrement. */
static void print_unary(print_t *p, const scan_expr_t *e)
{
    char buffer[4];

    if (e->kind == SCAN_E_STEP) {
        if (!e->is_post)
            xy_text_add(&p->text, e->op == '+' ? "++" : "--");
        print(p, e->a, e->is_post ? 15 : 14);
        if (e->is_post)
            xy_text_add(&p->text, e->op == '+' ? "++" : "--");
        return;
    }
    xy_text_add(&p->text, operator_text(e->op, buffer));
    print_operand(p, e->a, e->op == '-' ? 15 : 14); /* - -1 is not --1 */
}

/* Prints an expression without parentheses and marks its names as used. */
static void print_bare(print_t *p, const scan_expr_t *e)
{
    switch (e->kind) {
    case SCAN_E_INT:
        print_int(p, e);
        break;
    case SCAN_E_REAL:
        print_real(p, e);
        break;
    case SCAN_E_STRING:
        xy_text_add(&p->text, e->text);
        break;
    case SCAN_E_NAME:
        e->decl->is_named = true;
        xy_text_add(&p->text, e->decl->emitted != NULL ? e->decl->emitted : e->decl->name);
        break;
    case SCAN_E_STEP:
    case SCAN_E_UNARY:
        print_unary(p, e);
        break;
    case SCAN_E_BINARY:
    case SCAN_E_ASSIGN:
        print_binary(p, e);
        break;
    case SCAN_E_CHOICE:
        print(p, e->a, 4);
        xy_text_add(&p->text, " ? ");
        print_operand(p, e->b, 3);
        xy_text_add(&p->text, " : ");
        print_operand(p, e->c, 3);
        break;
    case SCAN_E_CALL:
        print_call(p, e);
        break;
    case SCAN_E_INDEX:
        print_operand(p, e->a, 15);
        xy_text_add(&p->text, "[");
        print(p, e->b, 1);
        xy_text_add(&p->text, "]");
        break;
    case SCAN_E_MEMBER:
        name_field(e);
        print_operand(p, e->a, 15);
        xy_text_addf(&p->text, "%s%s",
                     e->a->type->kind == SCAN_POINTER || e->a->type->kind == SCAN_ARRAY ? "->"
                                                                                        : ".",
                     e->text);
        break;
    case SCAN_E_CAST:
        if (!is_silent(e))
            xy_text_addf(&p->text, "(%s)", scan_print_type(p->scan, e->type, NULL));
        print(p, e->a, is_silent(e) ? precedence(e->a) : 14);
        break;
    case SCAN_E_LIST:
        print_list(p, e);
        break;
    default:
        xy_text_add(&p->text, "0");
        break;
    }
}

static void print(print_t *p, const scan_expr_t *e, int least)
{
    if (e->is_unknown && e->stand_in != NULL) {
        xy_text_add(&p->text, e->stand_in);
        return;
    }
    if (precedence(e) < least)
        xy_text_add(&p->text, "(");
    print_bare(p, e);
    if (precedence(e) < least)
        xy_text_add(&p->text, ")");
}

/* The text moves into the arena. */
static const char *finish(print_t *p)
{
    char *copy =
        p->text.failed
            ? NULL
            : xy_arena_strndup(p->scan->arena, p->text.s != NULL ? p->text.s : "", p->text.length);

    xy_text_cleanup(&p->text);
    if (copy == NULL)
        scan_leave(p->scan, xy_fail_memory("writing expressions"));
    return copy;
}

const char *scan_print(xy_scan_t *scan, const scan_expr_t *e)
{
    print_t p = {.scan = scan};

    print(&p, e, 1);
    return finish(&p);
}

const char *scan_print_product(xy_scan_t *scan, const scan_expr_t *factors)
{
    print_t p = {.scan = scan};

    for (const scan_expr_t *e = factors; e != NULL; e = e->next) {
        /* (a / b) * c: integers are divided first. */
        int least = e->kind == SCAN_E_BINARY && e->op == '*' ? 13 : 14;

        print(&p, e, e->next != NULL || e != factors ? least : 1);
        xy_text_add(&p.text, e->next != NULL ? " * " : "");
    }
    if (factors == NULL)
        xy_text_add(&p.text, "1");
    return finish(&p);
}

/* ---- Types ------------------------------------------------------------------------------- */

/* Returns the C name of an arithmetic type. */
static const char *number_name(const scan_type_t *t)
{
    if (t->kind == SCAN_REAL)
        return t->bytes == 4 ? "float" : "double";
    switch (t->bytes) {
    case 1:
        if (t->is_bool)
            return "_Bool";
        return t->is_unsigned ? "unsigned char" : "char"; /* plain char: as the target has it */
    case 2:
        return t->is_unsigned ? "unsigned short" : "short";
    case 4:
        return t->is_unsigned ? "unsigned int" : "int";
    default:
        return t->is_unsigned ? "unsigned long" : "long";
    }
}

/* Prints a type; `dims` are its variable dimensions. */
static void print_type(print_t *p, const scan_type_t *t, const scan_expr_t *dims)
{
    const scan_type_t *base = t;

    while (base->kind == SCAN_ARRAY)
        base = base->of;
    if (base->kind == SCAN_HANDLE)
        xy_text_add(&p->text, base->handle);
    else if (base->kind == SCAN_INT || base->kind == SCAN_REAL)
        xy_text_add(&p->text, number_name(base));
    else if (base->kind == SCAN_STRUCT && strcmp(base->record->name, "MPI_Status") == 0)
        xy_text_add(&p->text, "MPI_Status");
    else if (base->kind == SCAN_STRUCT) {
        ((scan_record_t *)(uintptr_t)base->record)->is_named = true;
        xy_text_addf(&p->text, "struct %s", base->record->name);
    } else if (base->kind == SCAN_POINTER && base->of->kind == SCAN_ARRAY) {
        const scan_type_t *of = base->of;

        while (of->kind == SCAN_ARRAY)
            of = of->of;
        print_type(p, of, NULL);
        xy_text_add(&p->text, " (*)");
        for (of = base->of; of->kind == SCAN_ARRAY; of = of->of)
            xy_text_addf(&p->text, "[%ld]", of->count);
    } else if (base->kind == SCAN_POINTER) {
        print_type(p, base->of, NULL);
        xy_text_add(&p->text, base->of->kind == SCAN_POINTER ? "*" : " *");
    } else {
        xy_text_add(&p->text, "void");
    }
    for (; t->kind == SCAN_ARRAY; t = t->of) {
        xy_text_add(&p->text, "[");
        if (t->count >= 0)
            xy_text_addf(&p->text, "%ld", t->count);
        else if (dims != NULL)
            print(p, dims, 2);
        xy_text_add(&p->text, "]");
        dims = dims != NULL ? dims->next : NULL;
    }
}

const char *scan_print_type(xy_scan_t *scan, const scan_type_t *type, const scan_expr_t *dims)
{
    print_t p = {.scan = scan};

    print_type(&p, type, dims);
    return finish(&p);
}
