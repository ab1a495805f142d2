/* SPDX-License-Identifier: BSD-3-Clause */
/* Assignments, increments and the first values of variables. */
#include <string.h>

#include "program/c_library.h"
#include "program/compile.h"

static void store_direct(compiler_t *c, const direct_t *d)
{
    type_kind_t kind = d->type->kind;

    if (d->is_global)
        emit(c, OP_SET_GLOBAL, kind, 0, d->offset);
    else if (kind == TYPE_I32)
        emit(c, OP_SET_LOCAL_I32, 0, 0, d->offset);
    else if (d->type->size == 8)
        emit(c, OP_SET_LOCAL_64, 0, 0, d->offset);
    else
        emit(c, OP_SET_LOCAL, kind, 0, d->offset);
}

/* The old value is on the stack: put the new one in its place. The result has type `type`. */
static bool change(compiler_t *c, operator_t op, const type_t *type, const expr_t *by)
{
    const type_t *other, *common;
    int32_t below;

    if (type->kind == TYPE_POINTER) {
        code_dim_t dim = {.size = type->of->size, .count = -1};

        other = compile_value(c, by);
        if (other == NULL || !type_is_integer(other) ||
            (op != OPERATOR_ADD && op != OPERATOR_SUBTRACT)) {
            compile_fail(c, "a pointer combined with a non-integer");
            return false;
        }
        if (op == OPERATOR_SUBTRACT)
            emit(c, OP_NEGATE_I64, 0, 0, 0);
        emit(c, OP_INDEX, 0, 0, (int64_t)c->code->dims.count);
        if (xy_vec_append(&c->code->dims, &dim) != XY_OK)
            compile_fail_memory(c);
        return c->status == XY_OK;
    }
    other = compile_value(c, by);
    if (other == NULL)
        return false;
    if (!type_is_arithmetic(type) || !type_is_arithmetic(other)) {
        compile_fail(c, "an operator applied to a non-number");
        return false;
    }
    common = op == OPERATOR_LEFT || op == OPERATOR_RIGHT ? compile_promote(type)
                                                         : compile_common(type, other);
    if (!emit_convert(c, other, common))
        return false;
    emit(c, OP_SWAP, 0, 0, 0);
    below = emit_here(c);
    emit_convert(c, type, common);
    if (emit_here(c) > below)
        emit(c, OP_SWAP, 0, 0, 0);
    else
        emit_undo(c); /* nothing is converted */
    common = compile_operator(c, op, common);
    return common != NULL && emit_convert(c, common, type);
}

/* Emits the copy of a struct to the address on the stack. */
static const type_t *copy_struct(compiler_t *c, const expr_t *e, const type_t *to)
{
    const type_t *from = compile_value(c, e->b);

    if (from == NULL)
        return NULL;
    if (from != to)
        return compile_fail(c, "structs of different types");
    emit(c, OP_COPY, 0, 0, (int64_t)to->size);
    return to;
}

/* Emits an assignment through an address; returns the type of the left side, or NULL on failure. */
static const type_t *assign_far(compiler_t *c, const expr_t *e)
{
    const type_t *type = compile_address(c, e->a, false);

    if (type == NULL)
        return NULL;
    if (!type_is_scalar(type))
        return type->kind == TYPE_STRUCT && e->op == OPERATOR_NONE
                   ? copy_struct(c, e, type)
                   : compile_fail(c, "the left side cannot be assigned to");
    if (e->op == OPERATOR_NONE) {
        if (!compile_value_as(c, e->b, type))
            return NULL;
    } else {
        emit(c, OP_DUP, 0, 0, 0);
        emit_load(c, type);
        if (!change(c, e->op, type, e->b))
            return NULL;
    }
    emit(c, OP_STORE, type->kind, 0, 0);
    return type;
}

const type_t *compile_assign(compiler_t *c, const expr_t *e)
{
    direct_t d;

    if (!compile_direct(c, e->a, &d) || !type_is_scalar(d.type))
        return assign_far(c, e);
    if (e->op == OPERATOR_NONE) {
        if (!compile_value_as(c, e->b, d.type))
            return NULL;
    } else if (compile_value(c, e->a) == NULL || !change(c, e->op, d.type, e->b)) {
        return NULL;
    }
    store_direct(c, &d);
    return d.type;
}

/* Emits a step behind an address, which is evaluated once; the old value is kept in the frame. */
static const type_t *step_far(compiler_t *c, const expr_t *step)
{
    direct_t old = {.type = compile_address(c, step->a, false)};

    if (old.type == NULL)
        return NULL;
    if (!type_is_scalar(old.type))
        return compile_fail(c, "the left side cannot be assigned to");
    old.offset = compile_reserve(c, 8, 8, false);
    emit(c, OP_DUP, 0, 0, 0);
    emit_load(c, old.type);
    store_direct(c, &old);
    if (!change(c, step->op, old.type, step->b))
        return NULL;
    emit(c, OP_STORE, old.type->kind, 0, 0);
    emit(c, OP_POP, 0, 0, 0);
    emit_direct(c, &old);
    return old.type;
}

const type_t *compile_increment(compiler_t *c, const expr_t *e)
{
    expr_t one = {.kind = EXPR_INTEGER, .integer = 1, .type = type_basic(TYPE_I32)};
    expr_t add = {.kind = EXPR_ASSIGN,
                  .op = e->integer > 0 ? OPERATOR_ADD : OPERATOR_SUBTRACT,
                  .a = e->a,
                  .b = &one};
    const type_t *type;
    direct_t d;

    if (e->is_prefix)
        return compile_assign(c, &add);
    if (!compile_direct(c, e->a, &d))
        return step_far(c, &add);
    type = compile_value(c, e->a);
    if (type == NULL || compile_assign(c, &add) == NULL)
        return NULL;
    emit(c, OP_POP, 0, 0, 0);
    return type;
}

/* Is it a byte in memory? */
static bool is_stored_byte(compiler_t *c, const expr_t *e)
{
    const type_t *type = e->kind == EXPR_NAME || e->kind == EXPR_INDEX || e->kind == EXPR_MEMBER ||
                                 e->kind == EXPR_FOLLOW
                             ? compile_type_of(c, e)
                             : NULL;

    return type != NULL && (type->kind == TYPE_I8 || type->kind == TYPE_U8);
}

bool compile_byte_copy(compiler_t *c, const expr_t *e)
{
    if (e->kind != EXPR_ASSIGN || e->op != OPERATOR_NONE || !is_stored_byte(c, e->a) ||
        !is_stored_byte(c, e->b))
        return false;
    if (compile_address(c, e->a, false) != NULL && compile_address(c, e->b, false) != NULL)
        emit(c, OP_COPY, 0, 0, 1);
    return true;
}

/* ---- Variables ---- */

static void set_value(compiler_t *c, direct_t d, const expr_t *value);

/* Emits the stores of a braced list to the elements of an array, the fields of a struct, or a
 * scalar. */
static void set_list(compiler_t *c, direct_t d, const expr_t *list)
{
    const type_field_t *field = d.type->kind == TYPE_STRUCT ? d.type->fields : NULL;
    direct_t part = d;
    uint64_t i = 0;

    for (const expr_t *e = list; e != NULL; e = e->next, i++) {
        if (d.type->kind == TYPE_ARRAY && i < d.type->count) {
            part.type = d.type->of;
            part.offset = d.offset + (int32_t)(i * part.type->size);
        } else if (field != NULL) {
            part.type = field->type;
            part.offset = d.offset + (int32_t)field->offset;
            field = field->next;
        } else if (type_is_scalar(d.type) && i == 0) {
            part = d;
        } else {
            compile_fail(c, "more values than the variable has");
            return;
        }
        set_value(c, part, e);
    }
}

static void set_string(compiler_t *c, direct_t d, const expr_t *value)
{
    expr_t letter = {.kind = EXPR_INTEGER, .type = type_basic(TYPE_I32)};

    if (value->length > d.type->count) {
        compile_fail(c, "a string that is longer than its array");
        return;
    }
    for (size_t i = 0; i < value->length; i++) {
        letter.integer = (unsigned char)value->text[i];
        set_value(c, (direct_t){d.is_global, d.offset + (int32_t)i, d.type->of}, &letter);
    }
}

/* Emits the initialization of a variable or of a part of it. */
static void set_value(compiler_t *c, direct_t d, const expr_t *value)
{
    if (c->status != XY_OK)
        return;
    if (value->kind == EXPR_LIST) {
        set_list(c, d, value->a);
        return;
    }
    if (value->kind == EXPR_STRING && d.type->kind == TYPE_ARRAY && d.type->of->size == 1) {
        set_string(c, d, value);
        return;
    }
    if (d.type->kind == TYPE_STRUCT) {
        emit(c, d.is_global ? OP_ADDRESS_GLOBAL : OP_ADDRESS_LOCAL, 0, 0, d.offset);
        if (compile_value_as(c, value, d.type))
            emit(c, OP_COPY, 0, 0, (int64_t)d.type->size);
    } else if ((d.type->kind == TYPE_I8 || d.type->kind == TYPE_U8) && is_stored_byte(c, value)) {
        emit(c, d.is_global ? OP_ADDRESS_GLOBAL : OP_ADDRESS_LOCAL, 0, 0, d.offset);
        if (compile_address(c, value, false) != NULL)
            emit(c, OP_COPY, 0, 0, 1);
    } else if (!type_is_scalar(d.type)) {
        compile_fail(c, "an array needs a list in braces");
    } else if (compile_value_as(c, value, d.type)) {
        store_direct(c, &d);
    }
    emit(c, OP_POP, 0, 0, 0);
}

/* An array whose length is known when it is declared: a block, and a pointer to it. */
static const type_t *make_array(compiler_t *c, const type_t *type, int32_t offset)
{
    const type_t *i64 = type_basic(TYPE_I64), *pointer = type_pointer(&c->code->types, type->of);

    if (pointer == NULL)
        return compile_fail_memory(c);
    if (!compile_value_as(c, type->length, i64))
        return NULL;
    emit_integer(c, (int64_t)type->of->size);
    compile_operator(c, OPERATOR_MULTIPLY, i64);
    emit(c, OP_NEW, 0, 0, offset);
    return pointer;
}

int32_t compile_reserve(compiler_t *c, uint64_t size, uint64_t align, bool is_global)
{
    uint64_t at = is_global ? c->code->globals : (uint64_t)c->frame;

    at = (at + align - 1) / align * align;
    if (size > TYPE_SIZE_MAX || at + size > TYPE_SIZE_MAX) {
        compile_fail(c, "more than 1 GiB of variables");
        return 0;
    }
    if (is_global) {
        c->code->globals = at + size;
    } else {
        c->frame = (int32_t)(at + size);
        if (c->frame > c->function->frame)
            c->function->frame = c->frame;
    }
    return (int32_t)at;
}

/* The size of "int a[] = {1, 2}" comes from its values. */
static const type_t *complete(compiler_t *c, const type_t *type, const expr_t *value)
{
    uint64_t count = 0;

    if (type->kind != TYPE_ARRAY || type->count > 0 || type->length != NULL || value == NULL)
        return type;
    if (value->kind == EXPR_STRING)
        count = value->length + 1;
    for (const expr_t *e = value->kind == EXPR_LIST ? value->a : NULL; e != NULL; e = e->next)
        count++;
    type = type_array(&c->code->types, type->of, count, NULL);
    return type != NULL ? type : compile_fail_memory(c);
}

/* Clear the object; the initialiser sets the rest. */
static void clear(compiler_t *c, direct_t d)
{
    emit(c, OP_ADDRESS_LOCAL, 0, 0, d.offset);
    emit_integer(c, 0);
    emit_integer(c, (int64_t)d.type->size);
    emit(c, OP_LIBRARY, 3, 0, library_find("memset", 6));
    c->depth -= 2;
    emit(c, OP_POP, 0, 0, 0);
}

void compile_variable(compiler_t *c, const char *name, size_t length, const type_t *type,
                      const expr_t *value)
{
    bool is_global = c->is_top;
    bool is_made = type->kind == TYPE_ARRAY && type->length != NULL;
    variable_t *v = xy_arena_alloc(c->code->arena, sizeof(*v));

    type = v != NULL ? complete(c, type, value) : compile_fail_memory(c);
    if (type == NULL)
        return;
    if (type->kind == TYPE_VOID || type->size == 0) {
        if (!is_made) {
            compile_fail(c, "'%.*s' has a type of no size", (int)length, name);
            return;
        }
    }
    *v = (variable_t){.name = name, .length = length, .type = type, .outer = c->scope};
    v->is_global = is_global;
    v->offset = compile_reserve(c, is_made ? 8 : type->size, is_made ? 8 : type->align, is_global);
    if (is_made && is_global)
        compile_fail(c, "the length of '%.*s' is not a constant", (int)length, name);
    if (is_made) {
        v->type = make_array(c, type, v->offset);
        if (v->type == NULL)
            return;
    }
    c->scope = v;
    if (value != NULL) {
        direct_t d = {is_global, v->offset, v->type};

        if (!is_global && !is_made && (value->kind == EXPR_LIST || type->kind == TYPE_ARRAY))
            clear(c, d);
        set_value(c, d, value);
    }
}
